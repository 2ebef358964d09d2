//! Measurements: what an allocation costs beside other allocators, what admission and a scheduler step cost, how fast a
//! trace replays. Everything in one process, sides in turn, best and middle of the rounds, and the goals beside the
//! figures, met or not. Measuring and showing are apart: the figures are a file, and everything that is shown is made from it.
//!
//! 1. `allocator` is what a candidate must do; `peers` and `ours` are the candidates.
//! 2. `load` says what is done to one, `book` what a thread of it holds, `drive` does it and keeps a `histogram` of single
//!    calls; `matrix` has every candidate under every load, round after round. What comes of it is a `figure`.
//! 3. `runs` counts neighbours, `stopped` stops a thread in the middle of a call by a `signal`.
//! 4. `admission` has threads promise and let go, `step` times a scheduler step, `trace` a replay, `workload` has requests
//!    share the blocks of their prefixes.
//! 5. `locked` and `transfer` measure what the processor makes everybody pay, `machine` says where it was.
//! 6. `goals` compares and gives a `reason`; `document` is the file; `show` makes text, Markdown and a picture of it.
//! 7. [`count`] is apart from all that: work of a fixed size whose instructions are counted.
//!
//! A figure here is of this machine in this minute. Only ratios inside one run mean something elsewhere.

mod admission;
mod allocator;
mod book;
pub mod count;
mod document;
mod drive;
mod figure;
mod goals;
mod histogram;
mod load;
mod locked;
mod machine;
mod matrix;
mod ours;
mod peers;
mod reason;
mod runs;
pub mod show;
#[cfg(unix)]
mod signal;
mod step;
mod stopped;
mod trace;
mod transfer;
pub mod workload;

pub use admission::Contention;
pub use allocator::{CANDIDATES, Candidate, Keeps, Side};
pub use document::{Described, Report};
pub use drive::Slices;
pub use figure::{Cell, Figure};
pub use goals::{Goal, Verdict};
pub use histogram::Quantiles;
pub use load::{Batches, Occupancy};
pub use machine::Machine;
pub use matrix::Selection;
pub use runs::{Neighbours, RunFigure};
pub use step::StepFigures;
pub use stopped::Stopped;
pub use trace::TraceFigures;

use crate::replay::Failure;
use crate::trace::{TimeScale, Trace};
use clap::ValueEnum;
use figure::tidy;
use std::time::Duration;

/// For how long things are measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Rounds: each measures every candidate once.
    pub rounds: u32,
    /// Measured time of a candidate in a round.
    pub slices: Slices,
    /// Scheduler steps.
    pub steps: u32,
    /// Times that a thread of each candidate is stopped.
    pub stops: u32,
}

/// What can be measured or left out, as `--only` has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Part {
    /// One batch taken and given back
    Allocators,
    /// Neighbouring blocks of sequences that grow
    Runs,
    /// A thread that is stopped in the middle of a call
    Stopped,
    /// Threads that promise and let go
    Admission,
    /// One token for each of 64 to 4,096 sequences
    Step,
    /// A trace, incremental, in 8,192 blocks with a safety margin of 128
    Replay,
    /// Workload W: requests share and keep the blocks of their prefixes, beside a registry under a lock
    Workload,
}

/// The trace that is replayed, and that workload W takes requests from.
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

/// Is told what is measured next, and about how long that takes.
pub type Follow<'a> = &'a dyn Fn(Duration, &str);

/// What is measured, and for how long.
#[derive(Clone, Debug)]
pub struct Plan {
    /// For how long.
    pub effort: Effort,
    /// Which parts.
    pub parts: Vec<Part>,
    /// Which loads and candidates.
    pub selection: Selection,
    /// The sizes of workload W.
    pub shape: workload::Shape,
    /// The threads of workload W.
    pub workload_threads: Vec<u32>,
}

impl Plan {
    /// Whether this part is measured.
    pub fn has(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    /// About how long everything takes that needs no trace: what [`Follow`] is told, in sum.
    pub fn takes(&self) -> Duration {
        let Plan { effort, selection, .. } = self;
        let round = |load: &load::Load| selection.round(load, effort.slices) * effort.rounds;
        let allocators = || selection.loads().iter().map(round).sum();
        let admission = || admission::takes(&selection.threads, effort.rounds, effort.slices.throughput);
        let take = |part: &Part| match part {
            Part::Allocators => allocators(),
            Part::Runs => runs::takes(selection),
            Part::Stopped => stopped::takes(selection, effort.stops),
            Part::Admission => admission(),
            Part::Step => step::takes(effort.steps),
            Part::Replay | Part::Workload => Duration::ZERO,
        };
        self.parts.iter().map(take).sum()
    }

    /// Measures. `subject` is the trace. Errors: those of the replay and of workload W.
    pub fn run(&self, subject: Option<&Subject>, follow: Follow<'_>) -> Result<Report, Failure> {
        let Plan { effort, selection, .. } = self;
        let mut report = Report::begin(self);
        let cores = report.machine.cores;
        if self.has(Part::Allocators) {
            let (allocators, transfers) = matrix::measure(selection, effort, cores, follow);
            report.transfer_ns = (!transfers.is_empty()).then(|| tidy(median(&transfers)));
            report.allocators = allocators;
        }
        if self.has(Part::Runs) {
            report.neighbours = runs::measure(selection, follow);
        }
        if self.has(Part::Stopped) {
            report.stopped = stopped::measure(selection, effort.stops, follow);
        }
        if self.has(Part::Admission) {
            let slice = effort.slices.throughput;
            report.admission = admission::measure(&selection.threads, effort.rounds, slice, cores, follow);
        }
        if self.has(Part::Step) {
            report.steps = step::measure(effort.steps, follow);
        }
        if let Some(subject) = subject.filter(|_| self.has(Part::Replay)) {
            follow(Duration::ZERO, "a replay");
            report.replay = Some(trace::measure(subject, effort.rounds)?);
        }
        if let Some(subject) = subject.filter(|_| self.has(Part::Workload)) {
            report.workload =
                Some(workload::measure(subject, &self.shape, &self.workload_threads, effort.rounds, follow)?);
        }
        report.goals = goals::compare(&report);
        Ok(report)
    }
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
