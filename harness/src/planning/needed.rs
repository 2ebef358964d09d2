//! The other direction: what memory so many requests take.

use super::cache::Cache;
use super::demand::{Load, Policy, Request};
use super::fit::sum_of_first;
use super::pool::usual_safety;
use super::problem::Problem;
use kvledger_core::BLOCKS_MAX;

/// Memory for a number of requests under a policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Needed {
    /// The policy.
    pub policy: Policy,
    /// N of each pool.
    pub blocks: Vec<u32>,
    /// Bytes of all pools, null blocks and states included.
    pub pool_bytes: u64,
}

/// What `requests` of the load need. `safety` as given, else a 64th of each pool.
pub fn needed(
    cache: &Cache,
    load: &Load,
    policy: Policy,
    requests: u64,
    safety: Option<u32>,
    watermark: u32,
) -> Result<Needed, Problem> {
    let kept = if policy == Policy::Incremental { u128::from(watermark) } else { 0 };
    let mut bytes = u128::from(requests) * u128::from(cache.state_bytes);
    let mut blocks = Vec::new();
    for kind in &cache.kinds {
        let promise = |request: Request| u128::from(kind.blocks(policy.promised(request)));
        let promised = sum_of_first(load, requests, promise).saturating_add(kept);
        let count = with_safety(promised, safety).ok_or_else(|| {
            Problem::DoesNotFit(format!(
                "--requests {requests}: a pool of more than {BLOCKS_MAX} blocks would be needed; give fewer, or a larger \
                 --block-tokens"
            ))
        })?;
        bytes += (u128::from(count) + 1) * u128::from(kind.block_bytes);
        blocks.push(count);
    }
    let pool_bytes = u64::try_from(bytes).map_err(|_| Problem::overflow("the bytes of the pool"))?;
    Ok(Needed { policy, blocks, pool_bytes })
}

/// The smallest N with N − S ≥ `promised`.
fn with_safety(promised: u128, safety: Option<u32>) -> Option<u32> {
    let promised = promised.max(1);
    if promised > u128::from(BLOCKS_MAX) {
        return None;
    }
    if let Some(safety) = safety {
        return u32::try_from(promised + u128::from(safety)).ok().filter(|&blocks| blocks <= BLOCKS_MAX);
    }
    // N − ⌊N/64⌋ grows by 63 in every 64 steps: a first guess from below, and at most two steps.
    let mut blocks = u32::try_from(promised + (promised - 1) / 63).ok().filter(|&blocks| blocks <= BLOCKS_MAX)?;
    while blocks > 1 && u128::from(blocks - 1 - usual_safety(blocks - 1)) >= promised {
        blocks -= 1;
    }
    while u128::from(blocks - usual_safety(blocks)) < promised {
        blocks += 1;
    }
    (blocks <= BLOCKS_MAX).then_some(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn safety_is_added_and_no_more_than_it() {
        assert_eq!(with_safety(145, Some(4)), Some(149));
        assert_eq!(with_safety(u128::from(BLOCKS_MAX), Some(1)), None);
        for promised in (1..2_000u128).chain([1 << 20, (1 << 30) + 7]) {
            let blocks = with_safety(promised, None).expect("it fits");
            assert!(u128::from(blocks - usual_safety(blocks)) >= promised, "{promised}");
            let less = blocks - 1;
            assert!(
                less == 0 || u128::from(less - usual_safety(less)) < promised,
                "{promised}: {blocks} is not the least"
            );
        }
        assert_eq!(with_safety(1 << 31, None), None);
    }
}
