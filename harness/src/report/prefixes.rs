//! What prompts share, without a pool: identities counted (K), and the hits of a cache of so many blocks (L).

use crate::cache::{Accesses, Hits, Lru, hits};
use crate::census::Sharing;
use crate::prefix::{GroupRule, TooMany};
use crate::trace::Trace;
use serde::Serialize;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// Identified blocks of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Prefixes {
    /// All of them.
    pub identified_blocks: u64,
    /// Different ones.
    pub distinct_blocks: u64,
    /// Hits of a cache that never forgets: the difference.
    pub hits_unlimited: u64,
    /// Most of one request.
    pub longest: u32,
}

impl Prefixes {
    fn of(trace: &Trace, block_tokens: NonZeroU32, rule: GroupRule) -> Result<Prefixes, TooMany> {
        let Sharing { identified_blocks, distinct_blocks, hits_unlimited, longest, .. } =
            Sharing::of(trace, block_tokens, rule)?;
        Ok(Prefixes { identified_blocks, distinct_blocks, hits_unlimited, longest })
    }
}

/// Blocks as large as asked for, in each of the trust groups; and in one group twice and four times as large. Nothing if no
/// request has ids. Errors: there are too many different ones.
pub fn prefixes(
    trace: &Trace,
    block_tokens: NonZeroU32,
    rules: &[GroupRule],
) -> Result<BTreeMap<String, Prefixes>, TooMany> {
    let mut all = BTreeMap::new();
    if !has_ids(trace) {
        return Ok(all);
    }
    for &rule in rules.iter().chain(&[GroupRule::One]) {
        all.insert(rule.to_string(), Prefixes::of(trace, block_tokens, rule)?);
    }
    for larger in [2, 4].into_iter().filter_map(|times| block_tokens.checked_mul(NonZeroU32::new(times)?)) {
        all.insert(format!("one, block {larger}"), Prefixes::of(trace, larger, GroupRule::One)?);
    }
    Ok(all)
}

/// Capacities of a cache, in blocks; 0: it never forgets.
const CAPACITIES: [usize; 6] = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 0];

/// Hits of a least-recently-used cache, all requests in one group, by capacity. Nothing if no request has ids. Errors: as
/// [`prefixes`].
pub fn hits_by_capacity(trace: &Trace, block_tokens: NonZeroU32) -> Result<Vec<Hits>, TooMany> {
    if !has_ids(trace) {
        return Ok(Vec::new());
    }
    let accesses = Accesses::new(trace, block_tokens, GroupRule::One)?;
    Ok(CAPACITIES.iter().map(|&capacity| hits(&mut Lru::new(accesses.names()), &accesses, capacity)).collect())
}

fn has_ids(trace: &Trace) -> bool {
    trace.requests.iter().any(|request| !trace.ids(request).is_empty())
}
