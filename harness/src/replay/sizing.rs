//! How large a pool a replay needs: the blocks, the sequences that can be open at once, and the width of a table row.
//!
//! 1. The width is the largest promise that any request can come to.
//! 2. In a pool of N blocks, at most as many sequences run as their smallest holdings fit into N, and one more handle is
//!    open: that of the head of the queue. (A preempted sequence keeps its handle, but nobody overtakes it: no new handle is
//!    opened while one waits.)
//!    A sequence may hold nothing but blocks of others, so where blocks are shared those of its own count.
//! 3. Without a limit nobody waits for blocks, so when everybody runs is known without a pool: the largest sum of promises
//!    at one moment is the pool that this trace cannot exhaust; with all that may be kept beside it.

use super::failure::Failure;
use super::names::Names;
use super::promise::{Demand, Fate, Promises};
use super::settings::{PoolSize, Settings, Sharing};
use kvledger_core::PoolConfig;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Largest memory of one pool and its table: what a developer's machine has to spare.
const MEMORY_BYTES_MAX: usize = 4 << 30;

/// The pool for `demands` (those that are not rejected at arrival count).
pub fn config(demands: &[Demand], names: &Names, settings: &Settings) -> Result<PoolConfig, Failure> {
    let promises = Promises::new(settings);
    let queues = |(_, demand): &(u32, &Demand)| promises.fate(demand) == Fate::Queues;
    let served = || (0..).zip(demands).filter(queues);
    let width = served().map(|(_, demand)| promises.largest(demand)).max().unwrap_or(1);
    let (blocks, running) = match settings.pool {
        PoolSize::Blocks(blocks) => {
            let own = |(request, demand)| promises.smallest_held(demand).saturating_sub(names.count(request).into());
            (u64::from(blocks), most_running(served().map(own).collect(), blocks))
        }
        PoolSize::Unlimited => {
            let kept = if settings.sharing == Sharing::Retain { names.distinct() } else { 0 };
            let (blocks, running) = unlimited(served().map(|(_, demand)| demand), &promises, settings.max_running);
            (blocks + kept, running)
        }
    };
    let running = if settings.max_running > 0 { running.min(u64::from(settings.max_running)) } else { running };
    let (blocks_max, sequences) = (narrow(blocks.max(1))?, narrow(running + 1)?);
    let pool = PoolConfig::new(blocks_max, settings.block_tokens, sequences, narrow(width)?);
    let pool = if settings.shares() { pool.sharing() } else { pool };
    let config = PoolConfig { safety: ledger_safety(settings), groups: names.groups(), ..pool };
    check_memory(&config)?;
    check_sums(demands, blocks)?;
    Ok(config)
}

/// The ledger's S. Incremental admission keeps its margin as a watermark instead, because growth may use it.
pub fn ledger_safety(settings: &Settings) -> u32 {
    match (settings.limit(), settings.policy) {
        (None, _) | (_, super::Policy::Incremental) => 0,
        (Some((_, safety)), _) => safety,
    }
}

/// As many as can run in so many blocks, of requests that hold at least `held` blocks of their own each.
fn most_running(mut held: Vec<u64>, blocks: u32) -> u64 {
    held.sort_unstable();
    let mut sum = 0;
    held.iter()
        .take_while(|&&blocks_held| {
            sum += blocks_held;
            sum <= u64::from(blocks)
        })
        .count() as u64
}

/// Blocks and sequences that are never short: (largest sum of promises, most running) over time.
fn unlimited<'a>(served: impl Iterator<Item = &'a Demand>, promises: &Promises, max_running: u32) -> (u64, u64) {
    let cap = if max_running > 0 { max_running as usize } else { usize::MAX };
    // Last step and promise of who runs, the first to end on top.
    let mut running: BinaryHeap<Reverse<(u64, u64)>> = BinaryHeap::new();
    let (mut blocks, mut most_blocks, mut most_running) = (0, 0, 0);
    let mut now = 0;
    for demand in served {
        now = now.max(demand.arrival_step);
        while let Some(&Reverse((last_step, promise))) = running.peek() {
            if last_step >= now && running.len() < cap {
                break;
            }
            now = now.max(last_step + 1);
            blocks -= promise;
            running.pop();
        }
        let promise = promises.largest(demand);
        blocks += promise;
        running.push(Reverse((now + u64::from(demand.output) - 1, promise)));
        most_blocks = most_blocks.max(blocks);
        most_running = most_running.max(running.len() as u64);
    }
    (most_blocks, most_running)
}

fn narrow(count: u64) -> Result<u32, Failure> {
    u32::try_from(count).map_err(|_| too_large(&format!("{count} blocks or sequences")))
}

fn too_large(what: &str) -> Failure {
    Failure::Settings(format!(
        "the pool for this replay is too large ({what}): give --max-running, a smaller --pool or a larger --block-tokens"
    ))
}

fn check_memory(config: &PoolConfig) -> Result<(), Failure> {
    let bytes = config.bytes().and_then(|bytes| Ok(bytes.saturating_add(config.table_entries()?.saturating_mul(4))));
    match bytes {
        Ok(bytes) if bytes <= MEMORY_BYTES_MAX => Ok(()),
        Ok(bytes) => Err(too_large(&format!("{} MiB", bytes >> 20))),
        Err(refusal) => Err(too_large(&refusal.to_string())),
    }
}

/// Whether the largest sum fits in 64 bits, so that counters need no check as they grow: each output token is made in one
/// busy step, in which at most all tokens of its request and N blocks are counted for it.
fn check_sums(demands: &[Demand], blocks: u64) -> Result<(), Failure> {
    let sum: u128 = demands
        .iter()
        .map(|demand| {
            u128::from(demand.output) * (u128::from(demand.prompt) + u128::from(demand.output) + u128::from(blocks))
        })
        .sum();
    if sum < 1 << 63 {
        Ok(())
    } else {
        Err(Failure::Settings("the trace is too long to count: give --first".to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::Policy;
    use super::*;

    fn demand(arrival_step: u64, prompt: u32, output: u32) -> Demand {
        Demand { arrival_step, prompt, output }
    }

    fn config_of(policy: Policy, pool: PoolSize, max_running: u32, demands: &[Demand]) -> PoolConfig {
        let settings = Settings { block_tokens: 4, max_running, ..Settings::new(policy, pool, 2, 24) };
        config(demands, &Names::default(), &settings).expect("a pool")
    }

    #[test]
    fn an_unlimited_pool_has_what_runs_at_once() {
        let demands = [demand(0, 4, 4), demand(1, 8, 4), demand(3, 4, 4), demand(4, 4, 1)];
        let unlimited = |max_running| config_of(Policy::Full, PoolSize::Unlimited, max_running, &demands);
        // Steps 0-3, 1-4, 3-6, 4: three run in step 3 with 2 + 3 + 2 blocks, and in step 4 with 3 + 2 + 2.
        assert_eq!((unlimited(0).blocks, unlimited(0).sequences, unlimited(0).safety), (7, 4, 0));
        assert_eq!((unlimited(2).blocks, unlimited(2).sequences), (5, 3));
        assert_eq!((unlimited(1).blocks, unlimited(1).sequences), (3, 2));
        assert_eq!(unlimited(0).table_width, 3);
    }

    #[test]
    fn a_limited_pool_has_a_slot_for_each_that_could_hold_a_block() {
        let demands = [demand(0, 8, 1), demand(0, 4, 9), demand(0, 3, 1), demand(0, 20, 20)];
        let config = config_of(Policy::Incremental, PoolSize::Blocks(6), 0, &demands);
        assert_eq!((config.sequences, config.table_width, config.safety), (4, 4, 0), "the last is rejected");
        assert_eq!(config_of(Policy::Full, PoolSize::Blocks(6), 2, &demands).sequences, 3);
        assert_eq!(config_of(Policy::Full, PoolSize::Blocks(6), 0, &demands).safety, 2);
    }

    #[test]
    fn absurd_sizes_are_refused_with_the_flag_that_helps() {
        let endless = [demand(0, 1 << 30, 1 << 30), demand(0, 1 << 30, 1 << 30)];
        let settings = Settings { block_tokens: 1, ..Settings::new(Policy::Full, PoolSize::Unlimited, 0, 0) };
        let message = config(&endless, &Names::default(), &settings).expect_err("too large").to_string();
        assert!(message.contains("--max-running"), "{message}");
        let long = vec![demand(0, 1, 1 << 30); 8];
        let settings = Settings { block_tokens: 1 << 20, ..settings };
        let message = config(&long, &Names::default(), &settings).expect_err("too long").to_string();
        assert!(message.contains("--first"), "{message}");
    }
}
