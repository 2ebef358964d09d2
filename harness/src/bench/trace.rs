//! A trace through the pool on one core, as `kvledger replay` does it, timed.

use super::median;
use crate::replay::{Failure, Policy, PoolSize, Prepared, Settings};
use crate::trace::Trace;
use serde::Serialize;
use std::sync::atomic::AtomicU64;

/// What a replay took.
#[derive(Clone, Debug, Serialize)]
pub struct TraceFigures {
    /// The trace.
    pub trace: String,
    /// Requests in it.
    pub requests: u64,
    /// N.
    pub pool_blocks: u32,
    /// S.
    pub safety: u32,
    /// The policy.
    pub policy: &'static str,
    /// Preemptions: how tight the pool was.
    pub preemptions: u64,
    /// Requests a second in the best round.
    pub best_per_second: f64,
    /// Requests a second in the middle round.
    pub median_per_second: f64,
}

/// The case that is timed: incremental, because it asks the ledger most, in a pool that is tight for a server's trace.
/// `longest` is the most tokens of a request of the trace.
fn settings(longest: u32) -> Settings {
    let max_context = longest.checked_next_power_of_two().unwrap_or(u32::MAX);
    Settings::new(Policy::Incremental, PoolSize::Blocks(8192), 128, max_context)
}

/// Replays `rounds` times. The simulation is timed, not the reading of the trace.
pub fn measure(name: &str, trace: &Trace, rounds: u32) -> Result<TraceFigures, Failure> {
    let longest = trace.requests.iter().map(|request| request.prompt.saturating_add(request.output)).max().unwrap_or(1);
    let settings = settings(longest);
    let mut prepared = Prepared::new(trace, &settings)?;
    let through = AtomicU64::new(0);
    let requests = trace.requests.len() as u64;
    let mut per_second = Vec::new();
    let mut preemptions = 0;
    for _ in 0..rounds {
        let replayed = prepared.run(&through)?;
        preemptions = replayed.counters.preemptions;
        per_second.push(requests as f64 / replayed.elapsed.as_secs_f64());
    }
    Ok(TraceFigures {
        trace: name.to_string(),
        requests,
        pool_blocks: prepared.config().blocks,
        safety: settings.safety,
        policy: settings.policy.name(),
        preemptions,
        best_per_second: per_second.iter().copied().fold(0.0, f64::max),
        median_per_second: median(&per_second),
    })
}
