//! The KV pool's bytes, divided: a pool for each kind of layer, and a state for each sequence.
//!
//! With one kind there is nothing to divide. With several, each has what the most requests need of it that fit at their
//! longest, with S; and of what is left then, a share in proportion to what the requests hold of it. So no pool is left
//! with room that another lacks under full-output reservation, and the memory that [`needed()`](super::needed()) says
//! is enough.

use super::cache::{Cache, Kind};
use super::demand::{Load, Policy};
use super::needed::{Needed, needed};
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
        let base = most(cache, load, bytes, safety);
        let nulls: u128 = cache.kinds.iter().map(|kind| u128::from(kind.block_bytes)).sum();
        let taken = base.as_ref().map_or(nulls, |(_, needed)| u128::from(needed.pool_bytes));
        let Some(left) = u128::from(bytes).checked_sub(taken) else { return Err(too_small(cache, bytes)) };
        let needs: Vec<u128> = cache.kinds.iter().map(|kind| need(kind, load)).collect();
        let state_need = load.requests.len() as u128 * u128::from(cache.state_bytes);
        let all = needs.iter().sum::<u128>() + state_need;
        let mut pools = Vec::new();
        for (place, (kind, &need)) in cache.kinds.iter().zip(&needs).enumerate() {
            let first = base.as_ref().and_then(|(_, needed)| needed.blocks.get(place)).copied().unwrap_or(0);
            let blocks = u128::from(first) + share(left, need, all) / u128::from(kind.block_bytes);
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
            state => {
                let first = base.as_ref().map_or(0, |&(requests, _)| requests);
                Some(first.saturating_add((share(left, state_need, all) / u128::from(state)) as u64))
            }
        };
        if sequences == Some(0) {
            return Err(too_small(cache, bytes));
        }
        let states = u128::from(sequences.unwrap_or(0)) * u128::from(cache.state_bytes);
        let used = pools.iter().map(Pool::bytes).sum::<u128>() + states;
        Ok(Pools { pools, sequences, unused_bytes: u128::from(bytes).saturating_sub(used) as u64 })
    }
}

/// The most requests that fit at their longest, and what they need; `None` if the pools would not even have S.
fn most(cache: &Cache, load: &Load, bytes: u64, safety: Option<u32>) -> Option<(u64, Needed)> {
    let fits = |requests| {
        let needed = needed(cache, load, Policy::Full, requests, safety, 0).ok()?;
        (needed.pool_bytes <= bytes).then_some(needed)
    };
    // A request takes a block of each kind at least, and a state.
    let least = cache.kinds.iter().map(|kind| kind.block_bytes).fold(cache.state_bytes, u64::saturating_add).max(1);
    let (mut best, mut too_many) = ((0, fits(0)?), (bytes / least).saturating_add(1));
    while too_many - best.0 > 1 {
        let requests = best.0 + (too_many - best.0) / 2;
        match fits(requests) {
            Some(needed) => best = (requests, needed),
            None => too_many = requests,
        }
    }
    Some(best)
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
