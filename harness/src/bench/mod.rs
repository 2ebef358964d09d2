//! Measurements: what an allocation costs beside other allocators, what a scheduler step costs, how fast a trace
//! replays. Everything in one process, sides in turn, best and median of the rounds, and the goals beside the figures,
//! met or not.
//!
//! 1. `allocator` is what a candidate must do; `peers` and `ours` are the candidates.
//! 2. `load` drives one candidate with some threads; `matrix` does that for every candidate, size, occupancy and
//!    thread count, round after round.
//! 3. `step` times a scheduler step, `trace` a replay.
//! 4. `locked` and `transfer` measure what the processor makes everybody pay, `machine` says where it was.
//! 5. `goals` compares and gives a `reason`; `table` and [`Report`] show.
//!
//! A figure here is of this machine in this minute. Only ratios inside one run mean something elsewhere.

mod allocator;
mod goals;
mod load;
mod locked;
mod machine;
mod matrix;
mod ours;
mod peers;
mod reason;
mod step;
mod table;
mod trace;
mod transfer;

pub use allocator::Side;
pub use goals::{Goal, Verdict};
pub use machine::Machine;
pub use matrix::{Cell, Figure};
pub use step::StepFigures;
pub use table::render;
pub use trace::TraceFigures;

use crate::replay::Failure;
use crate::trace::{TimeScale, Trace};
use serde::Serialize;
use std::time::Duration;

/// What is measured and for how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Rounds: each measures every candidate once.
    pub rounds: u32,
    /// Measured time of a candidate in a round.
    pub slice: Duration,
    /// Scheduler steps.
    pub steps: u32,
}

/// The parts, each of which can be left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parts {
    /// The allocators.
    pub allocators: bool,
    /// The scheduler step.
    pub step: bool,
    /// The replay.
    pub replay: bool,
}

/// What is replayed.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What the figures call it.
    pub name: String,
    /// The trace, scaled already.
    pub trace: Trace,
    /// Whether it is the sample that comes with kvledger.
    pub is_sample: bool,
    /// By how much its times were multiplied.
    pub time_scale: TimeScale,
}

/// All figures of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Where and when.
    pub machine: Machine,
    /// Rounds of which best and median are given.
    pub rounds: u32,
    /// Milliseconds that a candidate was measured in a round.
    pub slice_ms: f64,
    /// Nanoseconds of a load and a compare-exchange on this core, with nobody else at the line.
    pub locked_ns: f64,
    /// Nanoseconds that a cache line takes from core to core, in the middle round; measured before each round of two
    /// threads.
    pub transfer_ns: Option<f64>,
    /// Nanoseconds of one allocation and its release.
    pub allocators: Vec<Cell>,
    /// A scheduler step.
    pub step: Option<StepFigures>,
    /// A replay.
    pub replay: Option<TraceFigures>,
    /// What was hoped for.
    pub goals: Vec<Goal>,
}

impl Effort {
    /// How long the allocators are measured in all, preparations not counted.
    pub fn allocators_take(&self) -> Duration {
        self.slice * self.rounds * matrix::MEASUREMENTS
    }
}

/// Measures. `subject` is what to replay. Errors: the replay's.
pub fn run(effort: &Effort, parts: Parts, subject: Option<&Subject>) -> Result<Report, Failure> {
    let machine = Machine::here();
    let locked_ns = locked::measure();
    let (allocators, transfers) =
        if parts.allocators { matrix::measure(effort, machine.cores) } else { Default::default() };
    let transfer_ns = (!transfers.is_empty()).then(|| median(&transfers));
    let step = parts.step.then(|| step::measure(effort.steps));
    let replay = match subject {
        Some(subject) if parts.replay => Some(trace::measure(subject, effort.rounds)?),
        _ => None,
    };
    let slice_ms = effort.slice.as_secs_f64() * 1e3;
    let rounds = effort.rounds;
    let mut report =
        Report { machine, rounds, slice_ms, locked_ns, transfer_ns, allocators, step, replay, goals: Vec::new() };
    report.goals = goals::compare(&report);
    Ok(report)
}

/// The middle of some figures, the lower one of two; 0 of none.
fn median(figures: &[f64]) -> f64 {
    quantile(figures, 0.5)
}

/// The smallest figure that at least this part of the figures does not exceed.
fn quantile(figures: &[f64], part: f64) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() as f64 * part).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_figures_that_occurred() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.0);
        assert_eq!(quantile(&[4.0, 1.0, 2.0, 3.0], 0.99), 4.0);
        assert_eq!((median(&[]), median(&[7.0])), (0.0, 7.0));
    }
}
