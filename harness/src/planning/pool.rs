//! The KV pool's bytes, divided: a pool for each kind of layer, and a state for each sequence.
//!
//! With one kind there is nothing to divide. With several, each has a share in proportion to what the given requests hold
//! of it at their longest, so that under full-output reservation no pool is left with room that another lacks.

use super::cache::{Cache, Kind};
use super::demand::Load;
use super::problem::Problem;
use super::size::Bytes;
use kvledger_core::BLOCKS_MAX;

/// A pool for the layers of one kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pool {
    /// Its layers.
    pub kind: Kind,
    /// N: usable blocks. The device memory has one more, the null block.
    pub blocks: u32,
    /// S.
    pub safety: u32,
}

impl Pool {
    /// Device bytes, the null block included.
    pub fn bytes(&self) -> u128 {
        (u128::from(self.blocks) + 1) * u128::from(self.kind.block_bytes)
    }
}

/// All pools, and what else is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pools {
    /// In the order of the cache's kinds.
    pub pools: Vec<Pool>,
    /// States that there is room for; `None` if sequences have none.
    pub sequences: Option<u64>,
    /// Bytes of the region that neither takes.
    pub unused_bytes: u64,
}

/// S where it was not given: a 64th, as the replay has it.
pub const fn usual_safety(blocks: u32) -> u32 {
    blocks / 64
}

impl Pools {
    /// Divides `bytes`. `safety`: S of each pool, if it was given.
    pub fn new(cache: &Cache, bytes: u64, load: &Load, safety: Option<u32>) -> Result<Pools, Problem> {
        let nulls: u128 = cache.kinds.iter().map(|kind| u128::from(kind.block_bytes)).sum();
        let Some(usable) = u128::from(bytes).checked_sub(nulls) else { return Err(too_small(cache, bytes)) };
        let needs: Vec<u128> = cache.kinds.iter().map(|kind| need(kind, load)).collect();
        let state_need = load.requests.len() as u128 * u128::from(cache.state_bytes);
        let all = needs.iter().sum::<u128>() + state_need;
        let mut pools = Vec::new();
        for (kind, &need) in cache.kinds.iter().zip(&needs) {
            let blocks = share(usable, need, all) / u128::from(kind.block_bytes);
            let blocks = blocks.min(u128::from(BLOCKS_MAX)) as u32;
            if blocks == 0 {
                return Err(too_small(cache, bytes));
            }
            let safety = safety.unwrap_or(usual_safety(blocks));
            if safety >= blocks {
                return Err(Problem::usage(format!(
                    "--safety {safety}: the pool of {} layers has {blocks} blocks; give fewer",
                    kind.name()
                )));
            }
            pools.push(Pool { kind: kind.clone(), blocks, safety });
        }
        let sequences = match cache.state_bytes {
            0 => None,
            state => Some((share(usable, state_need, all) / u128::from(state)) as u64),
        };
        if sequences == Some(0) {
            return Err(too_small(cache, bytes));
        }
        let states = u128::from(sequences.unwrap_or(0)) * u128::from(cache.state_bytes);
        let used = pools.iter().map(Pool::bytes).sum::<u128>() + states;
        Ok(Pools { pools, sequences, unused_bytes: u128::from(bytes).saturating_sub(used) as u64 })
    }
}

/// Bytes of a kind that all requests hold at their longest.
fn need(kind: &Kind, load: &Load) -> u128 {
    let blocks = |longest: u32| u128::from(kind.blocks(u64::from(longest)));
    load.requests.iter().map(|request| blocks(request.longest())).sum::<u128>() * u128::from(kind.block_bytes)
}

/// `part` of `all` of the bytes, rounded down. Where the product would not fit, the quotient is taken first.
fn share(bytes: u128, part: u128, all: u128) -> u128 {
    match (all, bytes.checked_mul(part)) {
        (0, _) => 0,
        (all, Some(product)) => product / all,
        (all, None) => bytes / all.div_ceil(part.max(1)),
    }
}

fn too_small(cache: &Cache, bytes: u64) -> Problem {
    let least: u128 = cache.kinds.iter().map(|kind| 2 * u128::from(kind.block_bytes)).sum();
    let least = u64::try_from(least + u128::from(cache.state_bytes)).unwrap_or(u64::MAX);
    Problem::DoesNotFit(format!(
        "the KV pool has {}, and not even one block of each kind beside its null block fits in that (they take {}); shrink \
         another region, or give a larger --gpu-memory or a smaller --block-tokens",
        Bytes(bytes),
        Bytes(least)
    ))
}
