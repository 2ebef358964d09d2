//! What prompts share inside trust groups, with a cache that never forgets: identities (K), counted.

use super::spread::Spread;
use crate::prefix::{GroupRule, Identities, TooMany};
use crate::replay::Ranked;
use crate::trace::Trace;
use serde::Serialize;
use std::num::NonZeroU32;

/// What prompts share, in blocks unless something else is said.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Sharing {
    /// Blocks with an identity, over all requests.
    pub identified_blocks: u64,
    /// Different ones: distinct prefixes that end at a block.
    pub distinct_blocks: u64,
    /// The difference: hits of a cache that never forgets.
    pub hits_unlimited: u64,
    /// Most identified blocks of one request.
    pub longest: u32,
    /// Requests that begin with at least one block that was there before.
    pub requests_with_hits: u64,
    /// How many blocks requests find, those that find none included.
    pub hits_per_request: Spread,
    /// Hits by how far from the beginning of the prompt they are.
    pub by_depth: Vec<Depth>,
}

/// The blocks of prompts from one depth to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Depth {
    /// The first block, counted from 0.
    pub from: u32,
    /// The last.
    pub to: u32,
    /// Blocks with an identity there, over all requests.
    pub identified_blocks: u64,
    /// Of these, hits.
    pub hits: u64,
}

impl Sharing {
    /// Names the blocks of `trace`, in order of arrival. Errors: there are more different ones than can be counted.
    pub fn of(trace: &Trace, block_tokens: NonZeroU32, rule: GroupRule) -> Result<Sharing, TooMany> {
        let id_tokens = NonZeroU32::new(trace.id_tokens).unwrap_or(NonZeroU32::MIN);
        let mut identities = Identities::new(block_tokens, id_tokens);
        let (mut hits, mut lengths) = (Vec::new(), Vec::new());
        for (index, request) in trace.requests.iter().enumerate() {
            let group = rule.group(trace, index);
            let named = identities.count(group, request.prompt, trace.ids(request))?;
            hits.push(named.known);
            lengths.push(named.blocks);
        }
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let total = |counts: &[u32]| counts.iter().map(|&count| u64::from(count)).sum();
        Ok(Sharing {
            identified_blocks: total(&lengths),
            distinct_blocks: identities.distinct(),
            hits_unlimited: total(&hits),
            longest,
            requests_with_hits: hits.iter().filter(|&&known| known > 0).count() as u64,
            by_depth: by_depth(&lengths, &hits, longest),
            hits_per_request: Spread::of(&Ranked::new(hits)),
        })
    }
}

/// Depths 0, 1, 2 to 3, 4 to 7, ... up to `longest`.
fn by_depth(lengths: &[u32], hits: &[u32], longest: u32) -> Vec<Depth> {
    let mut depths = Vec::new();
    let mut from = 0u32;
    while from < longest {
        // The last below the next power of two.
        let to = from.saturating_mul(2).saturating_sub(1).max(from);
        let between = |counts: &[u32]| {
            counts.iter().map(|&count| u64::from(count.min(to.saturating_add(1)).saturating_sub(from))).sum()
        };
        depths.push(Depth { from, to, identified_blocks: between(lengths), hits: between(hits) });
        let Some(next) = to.checked_add(1) else { break };
        from = next;
    }
    depths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_powers_of_two_and_add_up() {
        let (lengths, hits) = ([9, 3, 0, 1], [4, 3, 0, 0]);
        let depths = by_depth(&lengths, &hits, 9);
        let bounds: Vec<_> = depths.iter().map(|depth| (depth.from, depth.to)).collect();
        assert_eq!(bounds, [(0, 0), (1, 1), (2, 3), (4, 7), (8, 15)]);
        let counts: Vec<_> = depths.iter().map(|depth| (depth.identified_blocks, depth.hits)).collect();
        assert_eq!(counts, [(3, 2), (2, 2), (3, 3), (4, 0), (1, 0)]);
        assert!(by_depth(&[], &[], 0).is_empty());
        let deepest = by_depth(&[u32::MAX], &[1], u32::MAX);
        assert_eq!(deepest.iter().map(|depth| depth.identified_blocks).sum::<u64>(), u64::from(u32::MAX));
    }
}
