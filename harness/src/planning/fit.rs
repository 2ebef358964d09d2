//! How many of the requests fit under a policy, and what happens when all of them become as long as they may.
//!
//! The requests are admitted in their order, again from the first when the last is in, until one does not fit: nobody
//! overtakes. Rounds that fit as a whole are counted by division.

use super::demand::{Load, Policy, Request};
use super::pool::Pools;
use kvledger_core::plan::{Binomial, TRIALS_MAX};

/// What admission may use of the pools.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Room {
    /// Blocks of each pool: N − S, less the watermark where the policy has one.
    pub blocks: Vec<u64>,
    /// States.
    pub sequences: Option<u64>,
}

impl Room {
    /// The room that a policy has. The watermark is for policies that grow beyond their promise.
    pub fn new(pools: &Pools, policy: Policy, watermark: u32) -> Room {
        let kept = if policy == Policy::Incremental { watermark } else { 0 };
        let limit = |pool: &super::pool::Pool| u64::from(pool.blocks.saturating_sub(pool.safety).saturating_sub(kept));
        Room { blocks: pools.pools.iter().map(limit).collect(), sequences: pools.sequences }
    }
}

/// What stopped the admission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The pool of this place.
    Pool(usize),
    /// States.
    Sequences,
}

/// What fits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fit {
    /// The policy.
    pub policy: Policy,
    /// Requests.
    pub requests: u64,
    /// What stopped the next one.
    pub limit: Limit,
    /// Blocks that they are promised, of each pool.
    pub promised: Vec<u128>,
    /// Blocks that they hold when all are at their longest, of each pool.
    pub longest: Vec<u128>,
}

impl Fit {
    /// Blocks of pool `place` that are missing when all are at their longest. S may be used then.
    pub fn short_by(&self, pools: &Pools, place: usize) -> u128 {
        let blocks = pools.pools.get(place).map_or(0, |pool| u128::from(pool.blocks));
        self.longest.get(place).map_or(0, |&longest| longest.saturating_sub(blocks))
    }
}

/// Admits the requests of `load` into `pools`.
pub fn fit(load: &Load, pools: &Pools, policy: Policy, watermark: u32) -> Fit {
    let room = Room::new(pools, policy, watermark);
    let promise = |place: usize, request: Request| blocks(pools, place, policy.promised(request));
    let round: Vec<u128> = (0..room.blocks.len())
        .map(|place| load.requests.iter().map(|&request| promise(place, request)).sum())
        .collect();
    let (requests, limit) = count(load, &room, &round, promise);
    let sums = |of: &dyn Fn(usize, Request) -> u128| -> Vec<u128> {
        (0..room.blocks.len()).map(|place| sum_of_first(load, requests, |request| of(place, request))).collect()
    };
    let longest = |place, request: Request| blocks(pools, place, u64::from(request.longest()));
    Fit { policy, requests, limit, promised: sums(&promise), longest: sums(&longest) }
}

fn blocks(pools: &Pools, place: usize, tokens: u64) -> u128 {
    pools.pools.get(place).map_or(0, |pool| u128::from(pool.kind.blocks(tokens)))
}

fn count(load: &Load, room: &Room, round: &[u128], promise: impl Fn(usize, Request) -> u128) -> (u64, Limit) {
    let all = load.requests.len() as u128;
    let mut rounds = room.sequences.map_or(u128::MAX, |sequences| u128::from(sequences) / all);
    for (&blocks, &round) in room.blocks.iter().zip(round) {
        rounds = rounds.min(u128::from(blocks).checked_div(round).unwrap_or(u128::MAX));
    }
    let mut left: Vec<u128> =
        room.blocks.iter().zip(round).map(|(&blocks, &round)| u128::from(blocks) - rounds * round).collect();
    let mut sequences = room.sequences.map(|sequences| u128::from(sequences) - rounds * all);
    let mut requests = rounds * all;
    for &request in load.requests.iter().cycle() {
        if sequences == Some(0) {
            return (requests as u64, Limit::Sequences);
        }
        if let Some(place) = (0..left.len()).find(|&place| promise(place, request) > left[place]) {
            return (requests as u64, Limit::Pool(place));
        }
        for (place, left) in left.iter_mut().enumerate() {
            *left -= promise(place, request);
        }
        sequences = sequences.map(|sequences| sequences - 1);
        requests += 1;
    }
    (requests as u64, Limit::Sequences)
}

/// The sum of `of` over the first `count` requests, taken over and over.
pub fn sum_of_first(load: &Load, count: u64, of: impl Fn(Request) -> u128) -> u128 {
    let all = load.requests.len() as u64;
    let (rounds, rest) = (count / all, (count % all) as usize);
    let round: u128 = load.requests.iter().map(|&request| of(request)).sum();
    let more: u128 = load.requests.iter().take(rest).map(|&request| of(request)).sum();
    // A round is at most 2^32 requests of 2^32 blocks; a count is below 2^64.
    round.saturating_mul(u128::from(rounds)).saturating_add(more)
}

/// The chance that at least one of `requests` exceeds a promise that `exceeding` of the load's requests exceed, if they
/// are independent, which they may not be. `None` beyond what can be summed.
pub fn exceeded(load: &Load, requests: u64, exceeding: usize) -> Option<f64> {
    let trials = u32::try_from(requests).ok().filter(|&trials| trials <= TRIALS_MAX)?;
    let probability = exceeding as f64 / load.requests.len() as f64;
    Binomial::new(trials, probability).map(|binomial| if trials == 0 { 0.0 } else { binomial.tail(1) })
}
