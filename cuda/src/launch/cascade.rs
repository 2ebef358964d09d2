//! Attention in two parts, a shared prefix and what each sequence has of its own, and their join.
//!
//! Both parts are attention with the same queries: the plan of the prefix ends where that of the suffix begins
//! (`SplitBatch::ends` and `begins`). A prefix that many sequences share is read once if its queries are one sequence of a
//! prefill plan.

use super::check::{Checked, refuse};
use super::refusal::Wrong;
use super::{Attend, Launch, MergeTwo};
use crate::error::Error;
use crate::stream::Stream;

/// The launches of a cascade.
#[derive(Clone, Copy, Debug)]
pub struct Cascade {
    /// Over the keys that are shared.
    pub prefix: Attend,
    /// Over the rest.
    pub suffix: Attend,
    /// Of the results of the two.
    pub merge: MergeTwo,
}

impl Cascade {
    /// Whether the parts fit together: the same queries, each part with a result and an LSE of its own, which are what is
    /// joined; sinks in one of them only.
    pub fn check(&self) -> Checked {
        let (prefix, suffix, merge) = (&self.prefix.params, &self.suffix.params, &self.merge.params);
        self.prefix.check()?;
        self.suffix.check()?;
        self.merge.check()?;
        points("suffix.queries", suffix.queries, prefix.queries)?;
        points("merge.output_a", merge.output_a, prefix.output.cast_const())?;
        points("merge.lse_a", merge.lse_a, prefix.lse.cast_const())?;
        points("merge.output_b", merge.output_b, suffix.output.cast_const())?;
        points("merge.lse_b", merge.lse_b, suffix.lse.cast_const())?;
        if prefix.output == suffix.output {
            return refuse("suffix.output", Wrong::Shared("prefix.output"));
        }
        if prefix.lse == suffix.lse {
            return refuse("suffix.lse", Wrong::Shared("prefix.lse"));
        }
        if !prefix.sinks.is_null() && !suffix.sinks.is_null() {
            // A sink is added to the sum once.
            return refuse("suffix.sinks", Wrong::NotNull);
        }
        self.check_shapes()
    }

    fn check_shapes(&self) -> Checked {
        let merge = &self.merge.params;
        for part in [&self.prefix, &self.suffix] {
            let p = &part.params;
            let pairs = [
                ("merge.tokens", u64::from(merge.tokens), u64::from(part.query_tokens)),
                ("merge.heads", merge.heads.into(), p.query_heads.into()),
                ("merge.head_dim", merge.head_dim.into(), p.cache.head_dim.into()),
                ("merge.type", merge.type_.into(), p.type_.into()),
                ("merge.token_stride", merge.token_stride as u64, p.output_token_stride as u64),
                ("merge.head_stride", merge.head_stride as u64, p.output_head_stride as u64),
                ("merge.lse_token_stride", merge.lse_token_stride as u64, p.lse_token_stride as u64),
            ];
            for (field, value, must) in pairs {
                if value != must {
                    return refuse(field, Wrong::Not { value, must });
                }
            }
        }
        Ok(())
    }

    /// The launches, in order.
    pub fn launches(&self) -> [Launch; 5] {
        let (prefix, suffix) = (self.prefix, self.suffix);
        [
            Launch::Attend(prefix),
            Launch::Merge(prefix),
            Launch::Attend(suffix),
            Launch::Merge(suffix),
            Launch::MergeTwo(self.merge),
        ]
    }

    /// Checks and enqueues all of them. Errors: `Refused` before anything is enqueued; as [`Stream::launch`].
    ///
    /// # Safety
    /// As [`Device::launch`](crate::Device::launch), for each of them.
    pub unsafe fn enqueue(&self, stream: &Stream) -> Result<(), Error> {
        self.check().map_err(|refusal| Error::new("cascade", refusal.into()))?;
        for launch in &self.launches() {
            // SAFETY: the caller's promise is the same.
            unsafe { stream.launch(launch) }?;
        }
        Ok(())
    }
}

fn points<T>(field: &'static str, pointer: *const T, must: *const T) -> Checked {
    let address = |pointer: *const T| pointer as usize as u64;
    if pointer == must {
        return Ok(());
    }
    refuse(field, Wrong::Not { value: address(pointer), must: address(must) })
}
