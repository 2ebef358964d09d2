//! What was hoped for, beside what came of it. Goals are stated before the run and are not adjusted to it; most are
//! ratios, because only these survive a change of machine.

use super::allocator::{FREE_BLOCKS, QUEUE, Side};
use super::matrix::{Cell, Figure};
use super::step::StepFigures;
use super::trace::TraceFigures;
use serde::Serialize;

/// Where a free list of bits should beat a queue of ids: it works by words, not by ids.
const QUEUE_RATIO_MAX: f64 = 0.6;

/// A two-thousandth of a 20 ms step: bookkeeping that a server does not notice.
const STEP_US_MAX: f64 = 10.0;

/// Five times what the best peer makes of the same trace and settings (mistral.rs's manager, a port of vLLM's to Rust:
/// about 185,000 on a quiet EPYC core). Across machines this is a rough goal, and for other traces it is none.
const REPLAY_PER_SECOND_MIN: f64 = 1_000_000.0;

/// A goal and whether it was met.
#[derive(Clone, Debug, Serialize)]
pub struct Goal {
    /// What is compared.
    pub what: String,
    /// What was hoped for.
    pub hoped: String,
    /// What was measured.
    pub measured: String,
    /// The verdict.
    pub is_met: bool,
}

impl Goal {
    fn at_most(what: String, measured: f64, most: f64, unit: &str) -> Goal {
        let text = |figure: f64| format!("{figure:.2}{unit}");
        Goal { what, hoped: format!("≤ {}", text(most)), measured: text(measured), is_met: measured <= most }
    }
}

/// All goals for which there are figures.
pub fn compare(cells: &[Cell], step: Option<&StepFigures>, replay: Option<&TraceFigures>) -> Vec<Goal> {
    let mut goals: Vec<Goal> = cells.iter().flat_map(of_cell).collect();
    if !cells.is_empty() {
        goals.push(no_failures(cells));
    }
    goals.extend(step.map(|step| {
        let what = format!("advance_many over {} sequences, median", step.sequences);
        Goal::at_most(what, step.advance_median_us, STEP_US_MAX, " µs")
    }));
    goals.extend(replay.map(|replay| Goal {
        what: format!("replay of {}, best round", replay.trace),
        hoped: format!("≥ {REPLAY_PER_SECOND_MIN:.0} requests/s"),
        measured: format!("{:.0} requests/s", replay.best_per_second),
        is_met: replay.best_per_second >= REPLAY_PER_SECOND_MIN,
    }));
    goals
}

fn load_of(cell: &Cell) -> String {
    let threads = if cell.threads == 1 { "one thread".to_string() } else { format!("{} threads", cell.threads) };
    format!("{threads}, {} a batch, {} % held", cell.batch, cell.occupancy_percent)
}

/// Batches: well below the queue. Several threads: below everybody.
fn of_cell(cell: &Cell) -> Vec<Goal> {
    let mut goals = Vec::new();
    let Some(ours) = cell.of(FREE_BLOCKS) else {
        return goals;
    };
    if let Some(queue) = cell.of(QUEUE).filter(|_| cell.batch > 1) {
        let what = format!("{}: free list / {QUEUE}", load_of(cell));
        goals.push(Goal::at_most(what, compared(cell, ours) / compared(cell, queue), QUEUE_RATIO_MAX, ""));
    }
    if cell.threads > 1
        && let Some(peer) = best_peer(cell)
    {
        let what = format!("{}: free list / {}, the best peer", load_of(cell), peer.name);
        goals.push(Goal::at_most(what, compared(cell, ours) / compared(cell, peer), 1.0, ""));
    }
    goals
}

/// One thread: the best round, because everything else that a machine does makes it slower. Several: the middle one; in
/// the best round other work may have kept them from running at the same time, which is what they are measured for.
fn compared(cell: &Cell, figure: &Figure) -> f64 {
    if cell.threads == 1 { figure.best_ns } else { figure.median_ns }
}

fn best_peer(cell: &Cell) -> Option<&Figure> {
    let peers = cell.figures.iter().filter(|figure| figure.side == Side::Peer);
    peers.min_by(|one, other| compared(cell, one).total_cmp(&compared(cell, other)))
}

fn no_failures(cells: &[Cell]) -> Goal {
    let ours = cells.iter().flat_map(|cell| &cell.figures).filter(|figure| figure.side == Side::Ours);
    let failures: u64 = ours.map(|figure| figure.failures).sum();
    Goal {
        what: "batches refused though there was room, ours, all loads".to_string(),
        hoped: "0".to_string(),
        measured: failures.to_string(),
        is_met: failures == 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::allocator::{MUTEX, POOL};
    use super::*;

    fn cell(threads: u32, batch: u32, figures: [(&'static str, f64, u64); 4]) -> Cell {
        let figure = |(name, best_ns, failures): (&'static str, f64, u64)| {
            let side = if name == FREE_BLOCKS || name == POOL { Side::Ours } else { Side::Peer };
            Figure { name, side, best_ns, median_ns: best_ns, failures }
        };
        Cell { threads, batch, occupancy_percent: 50, figures: figures.map(figure).to_vec() }
    }

    /// A lock looks best in a round in which nobody wanted it.
    #[test]
    fn several_threads_are_compared_by_their_middle_round() {
        let mut lucky = cell(2, 17, [(MUTEX, 700.0, 0), (QUEUE, 900.0, 0), (FREE_BLOCKS, 90.0, 0), (POOL, 500.0, 0)]);
        lucky.figures[0].best_ns = 50.0;
        assert!(compare(&[lucky], None, None).iter().all(|goal| goal.is_met));
    }

    #[test]
    fn a_goal_that_is_missed_is_said_to_be_missed() {
        let met = cell(2, 17, [(MUTEX, 100.0, 0), (QUEUE, 200.0, 9), (FREE_BLOCKS, 90.0, 0), (POOL, 500.0, 0)]);
        let missed = cell(2, 17, [(MUTEX, 50.0, 0), (QUEUE, 100.0, 0), (FREE_BLOCKS, 70.0, 0), (POOL, 500.0, 1)]);
        let verdicts = |cell| compare(&[cell], None, None).iter().map(|goal| goal.is_met).collect::<Vec<_>>();
        assert_eq!(verdicts(met), [true, true, true]);
        assert_eq!(verdicts(missed), [false, false, false]);
        let alone = cell(1, 1, [(MUTEX, 10.0, 0), (QUEUE, 10.0, 0), (FREE_BLOCKS, 70.0, 0), (POOL, 500.0, 0)]);
        assert_eq!(verdicts(alone), [true], "alone and one by one nothing is hoped for");
    }
}
