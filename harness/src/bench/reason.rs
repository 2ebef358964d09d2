//! Why a goal was missed: a sum of parts that are known, in figures of the same run, so that the reader sees what the
//! machine makes everybody pay and what is left for us to answer for.
//!
//! How many locked instructions a call has was counted once ([`COUNTED_ON`] stands beside them), with one thread and every
//! atomic of the core wrapped in a counter. What one of them takes is measured in each run.

use super::allocator::FREE_BLOCKS;
use super::figure::{Cell, Figure};
use super::load::Batches;
use super::locked::WHERE_GOALS_WERE_SET_NS;
use super::step::StepFigures;
use super::trace::TraceFigures;

/// When `LOCKED_*` and `ROWS_A_FENCE` were counted: the code may have changed since.
const COUNTED_ON: &str = "2026-11-30";

/// Of a batch taken and given back, by its size: a read-modify-write for each word of the bit map that it touches, one
/// for the claim of each, and those of summaries.
const LOCKED_A_BATCH: [(u32, f64); 3] = [(1, 2.0), (17, 2.8), (145, 12.1)];

/// Of a block taken by `advance_many`: the ledger's word, the block's bit, and the block's own word.
const LOCKED_A_GROWTH: f64 = 3.0;

/// Rows that share one fence in `advance_many`.
const ROWS_A_FENCE: f64 = 64.0;

/// Of a block in a replay, from promise to release. Most blocks are taken many at a time.
const LOCKED_A_BLOCK: f64 = 1.46;

/// No processor takes so long for a line: one thread waited until the other was given a core.
const IN_TURN_NS: f64 = 2_000.0;

/// What the machine makes everybody pay.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// Nanoseconds of a locked instruction.
    pub locked_ns: f64,
    /// Nanoseconds of a line's way to the other core.
    pub transfer_ns: Option<f64>,
}

impl Costs {
    /// Locked instructions, and what they take.
    fn locked(&self, count: f64, unit: &str, units_per_ns: f64) -> String {
        let taken = count * self.locked_ns * units_per_ns;
        format!(
            "about {count:.0} locked instructions, as counted on {COUNTED_ON}, take {taken:.2} {unit} at {:.1} ns each",
            self.locked_ns
        )
    }

    /// Of a load of several threads in which `peer` was better. `alone` is the same load with one thread.
    pub fn of_cell(&self, cell: &Cell, peer: &Figure, alone: Option<&Cell>) -> String {
        if let Some(ns) = self.transfer_ns.filter(|&ns| cell.threads > 1 && ns > IN_TURN_NS) {
            return format!(
                "the threads ran in turn, not at the same time (a line took {:.0} µs from one to the other): a lock had nobody \
                 to wait for",
                ns / 1e3
            );
        }
        let mut parts = Vec::new();
        if let Some((_, count)) = LOCKED_A_BATCH.iter().find(|(batch, _)| cell.batches == Batches::Fixed(*batch)) {
            parts.push(self.locked(*count, "ns", 1.0));
        }
        let of = |name| alone.and_then(|cell| cell.of(name));
        if let (Some(ours), Some(peer)) = (of(FREE_BLOCKS), of(&peer.name)) {
            parts.push(format!(
                "with one thread it is {:.0} ns beside {:.0} ns of {}",
                ours.best_ns(),
                peer.best_ns(),
                peer.name
            ));
        }
        if let Some(ns) = self.transfer_ns.filter(|_| cell.threads > 1) {
            parts.push(format!("a line that both threads write takes {ns:.0} ns from core to core"));
        }
        parts.join("; ")
    }

    /// Of a step.
    pub fn of_step(&self, step: &StepFigures) -> String {
        let rows = f64::from(step.sequences);
        let count = step.blocks_mean * LOCKED_A_GROWTH + rows / ROWS_A_FENCE;
        let rest_ns = (step.advance_median_us * 1e3 - count * self.locked_ns) / rows;
        format!(
            "{} for the {:.0} rows that need a block; the rest is {rest_ns:.1} ns for each of all rows",
            self.locked(count, "µs", 1e-3),
            step.blocks_mean,
        )
    }

    /// Of a replay.
    pub fn of_replay(&self, replay: &TraceFigures) -> String {
        let count = replay.blocks_mean * LOCKED_A_BLOCK;
        format!(
            "a request is {:.0} blocks here, and {:.2} µs; {} ({:.2} µs at {WHERE_GOALS_WERE_SET_NS} ns)",
            replay.blocks_mean,
            1e6 / replay.best_per_second,
            self.locked(count, "µs", 1e-3),
            count * WHERE_GOALS_WERE_SET_NS * 1e-3
        )
    }
}
