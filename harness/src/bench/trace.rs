//! A trace through the pool on one core, as `kvledger replay` does it, timed.

use super::figure::tidy;
use super::{Subject, median};
use crate::replay::{Counters, Failure, Policy, PoolSize, Prepared, Settings, usual_context};
use crate::trace::Format;
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicU64;

/// What a replay took.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TraceFigures {
    /// The trace.
    pub trace: String,
    /// Its format.
    pub format: String,
    /// By how much its times were multiplied, `num/den`.
    pub time_scale: String,
    /// Whether it is what the goal was set for, as far as can be seen: an Azure trace, four times as fast.
    #[serde(skip)]
    pub is_judged: bool,
    /// Whether it is the sample.
    #[serde(skip)]
    pub is_sample: bool,
    /// Requests in it.
    pub requests: u64,
    /// N.
    pub pool_blocks: u32,
    /// S.
    pub safety: u32,
    /// The policy.
    pub policy: String,
    /// Preemptions: how tight the pool was.
    pub preemptions: u64,
    /// Blocks that a request took, on average.
    pub blocks_mean: f64,
    /// Requests a second in the best round.
    pub best_per_second: f64,
    /// Requests a second in the middle round.
    pub median_per_second: f64,
}

/// The time scale for which the goal was set.
const JUDGED_SCALE: (u32, u32) = (1, 4);

/// Replays `rounds` times: incremental, because it asks the ledger most, in a pool that is tight for a server's trace.
/// The simulation is timed, not the reading of the trace.
pub fn measure(subject: &Subject, rounds: u32) -> Result<TraceFigures, Failure> {
    let trace = &subject.trace;
    let settings = Settings::new(Policy::Incremental, PoolSize::Blocks(8192), 128, usual_context(trace));
    let mut prepared = Prepared::new(trace, &settings)?;
    let through = AtomicU64::new(0);
    let requests = trace.requests.len() as u64;
    let mut per_second = Vec::new();
    let mut counters = Counters::default();
    for _ in 0..rounds {
        let replayed = prepared.run(&through)?;
        counters = replayed.counters;
        per_second.push(requests as f64 / replayed.elapsed.as_secs_f64());
    }
    let scale = (subject.time_scale.num, subject.time_scale.den);
    Ok(TraceFigures {
        trace: subject.name.clone(),
        format: trace.format.name().to_string(),
        time_scale: subject.time_scale.to_string(),
        is_judged: trace.format == Format::Azure && scale == JUDGED_SCALE,
        is_sample: subject.is_sample,
        requests,
        pool_blocks: prepared.config().blocks,
        safety: settings.safety,
        policy: settings.policy.name().to_string(),
        preemptions: counters.preemptions,
        blocks_mean: tidy(counters.blocks_allocated as f64 / requests.max(1) as f64),
        best_per_second: per_second.iter().copied().fold(0.0, f64::max).floor(),
        median_per_second: median(&per_second).floor(),
    })
}
