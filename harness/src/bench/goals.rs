//! What was hoped for, beside what came of it. Goals are stated before the run and are not adjusted to it; most are
//! ratios, because only these survive a change of machine.

use super::Report;
use super::allocator::{FREE_BLOCKS, QUEUE, Side};
use super::matrix::{Cell, Figure};
use super::reason::Costs;
use super::step::StepFigures;
use super::trace::TraceFigures;
use crate::report::grouped;
use serde::Serialize;

/// Where a free list of bits should beat a queue of ids: it works by words, not by ids.
const QUEUE_RATIO_MAX: f64 = 0.6;

/// A two-thousandth of a 20 ms step: bookkeeping that a server does not notice.
const STEP_US_MAX: f64 = 10.0;

/// For one trace only: the first 12,000 rows of Azure's conversation trace of 2023, four times as fast, in this pool.
/// The best peer's figure for the same rows and pool, on a quiet EPYC core, is about 185,000 (mistral.rs's manager, a
/// port of vLLM's to Rust). Goal and figure are from another machine.
const REPLAY_PER_SECOND_MIN: f64 = 1_000_000.0;

/// What came of a goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It was reached.
    Met,
    /// It was not.
    Missed,
    /// It was set for something else than what was measured.
    NotJudged,
}

/// A goal and what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Goal {
    /// What is compared.
    pub what: String,
    /// What was hoped for.
    pub hoped: String,
    /// What was measured.
    pub measured: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it was missed, as far as that is known, or why it is not judged.
    pub why: Option<String>,
}

impl Goal {
    fn new(what: String, hoped: String, measured: String, is_met: bool) -> Goal {
        let verdict = if is_met { Verdict::Met } else { Verdict::Missed };
        Goal { what, hoped, measured, verdict, why: None }
    }

    fn at_most(what: String, measured: f64, most: f64, unit: &str) -> Goal {
        let text = |figure: f64| format!("{figure:.2}{unit}");
        Goal::new(what, format!("≤ {}", text(most)), text(measured), measured <= most)
    }

    /// With a reason, if it was missed.
    fn because(self, why: impl FnOnce() -> String) -> Goal {
        if self.verdict == Verdict::Missed { Goal { why: Some(why()), ..self } } else { self }
    }
}

/// All goals for which there are figures.
pub fn compare(report: &Report) -> Vec<Goal> {
    let costs = Costs { locked_ns: report.locked_ns, transfer_ns: report.transfer_ns };
    let mut goals = of_cells(&report.allocators, costs);
    goals.extend(report.step.as_ref().map(|step| of_step(step, costs)));
    goals.extend(report.replay.as_ref().map(|replay| of_replay(replay, costs)));
    goals
}

fn of_cells(cells: &[Cell], costs: Costs) -> Vec<Goal> {
    let mut goals: Vec<Goal> = cells.iter().flat_map(|cell| of_cell(cell, cells, costs)).collect();
    if !cells.is_empty() {
        goals.push(no_failures(cells));
    }
    goals
}

/// Batches: well below the queue. Several threads: below everybody.
fn of_cell(cell: &Cell, cells: &[Cell], costs: Costs) -> Vec<Goal> {
    let alone = cells.iter().find(|other| other.threads == 1 && other.is_like(cell));
    let better_than = |peer: &Figure, most: f64, which: &str| {
        let ratio = compared(cell, cell.of(FREE_BLOCKS)?) / compared(cell, peer);
        let what = format!("{}: free list / {}{which}", load_of(cell), peer.name);
        Some(Goal::at_most(what, ratio, most, "").because(|| costs.of_cell(cell, peer, alone)))
    };
    let queue = cell.of(QUEUE).filter(|_| cell.batch > 1);
    let best = best_peer(cell).filter(|_| cell.threads > 1);
    [
        queue.and_then(|queue| better_than(queue, QUEUE_RATIO_MAX, "")),
        best.and_then(|peer| better_than(peer, 1.0, ", the best peer")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn load_of(cell: &Cell) -> String {
    let threads = if cell.threads == 1 { "one thread".to_string() } else { format!("{} threads", cell.threads) };
    format!("{threads}, {} a batch, {} % held", cell.batch, cell.occupancy_percent)
}

/// The goal is for the call; a turn has what a server does around it, and is shown beside it.
fn of_step(step: &StepFigures, costs: Costs) -> Goal {
    let what = format!("advance_many alone over {} sequences, median", grouped(step.sequences.into()));
    let goal = Goal::at_most(what, step.advance_median_us, STEP_US_MAX, " µs");
    let measured = format!("{} (a whole turn: {:.2} µs)", goal.measured, step.turn_median_us);
    Goal { measured, ..goal }.because(|| costs.of_step(step))
}

fn of_replay(replay: &TraceFigures, costs: Costs) -> Goal {
    let goal = Goal::new(
        format!("replay of {}, best round", replay.trace),
        format!("≥ {} requests/s", grouped(REPLAY_PER_SECOND_MIN as u64)),
        format!("{} requests/s", grouped(replay.best_per_second as u64)),
        replay.best_per_second >= REPLAY_PER_SECOND_MIN,
    );
    if replay.is_judged {
        return goal.because(|| costs.of_replay(replay));
    }
    let of_what = if replay.is_sample { "the sample" } else { "this trace and time scale" };
    let why =
        format!("not judged on {of_what}: the goal is for Azure's conversation trace (--trace) at --time-scale 1/4");
    Goal { verdict: Verdict::NotJudged, why: Some(why), ..goal }
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
    let what = "batches refused though there was room, ours, all loads".to_string();
    Goal::new(what, "0".to_string(), failures.to_string(), failures == 0)
}

#[cfg(test)]
mod tests {
    use super::super::allocator::{MUTEX, POOL};
    use super::*;

    const COSTS: Costs = Costs { locked_ns: 5.0, transfer_ns: Some(100.0) };

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
        assert!(of_cells(&[lucky], COSTS).iter().all(|goal| goal.verdict == Verdict::Met));
    }

    #[test]
    fn a_goal_that_is_missed_is_said_to_be_missed() {
        use Verdict::{Met, Missed};
        let met = cell(2, 17, [(MUTEX, 100.0, 0), (QUEUE, 200.0, 9), (FREE_BLOCKS, 90.0, 0), (POOL, 500.0, 0)]);
        let missed = cell(2, 17, [(MUTEX, 50.0, 0), (QUEUE, 100.0, 0), (FREE_BLOCKS, 70.0, 0), (POOL, 500.0, 1)]);
        let verdicts = |cell| of_cells(&[cell], COSTS).iter().map(|goal| goal.verdict).collect::<Vec<_>>();
        assert_eq!(verdicts(met), [Met, Met, Met]);
        assert_eq!(verdicts(missed), [Missed, Missed, Missed]);
        let alone = cell(1, 1, [(MUTEX, 10.0, 0), (QUEUE, 10.0, 0), (FREE_BLOCKS, 70.0, 0), (POOL, 500.0, 0)]);
        assert_eq!(verdicts(alone), [Met], "alone and one by one nothing is hoped for");
    }

    #[test]
    fn a_reason_has_the_figures_of_the_run() {
        let one = cell(1, 145, [(MUTEX, 65.0, 0), (QUEUE, 4000.0, 0), (FREE_BLOCKS, 216.0, 0), (POOL, 900.0, 0)]);
        let two = cell(2, 145, [(MUTEX, 200.0, 0), (QUEUE, 9000.0, 0), (FREE_BLOCKS, 300.0, 0), (POOL, 900.0, 0)]);
        let cells = [one, two];
        let goals = of_cells(&cells, COSTS);
        let why = goals.iter().find_map(|goal| goal.why.as_deref()).expect("one is missed");
        for part in [
            "12 locked instructions take 60.50 ns at 5.0 ns",
            "216 ns beside 65 ns of Mutex<Vec>",
            "100 ns from core to core",
        ] {
            assert!(why.contains(part), "{part} in {why}");
        }
        let in_turn = of_cells(&cells, Costs { transfer_ns: Some(90_000.0), ..COSTS });
        assert!(in_turn.iter().flat_map(|goal| &goal.why).all(|why| why.contains("in turn") && why.contains("90 µs")));
        assert!(goals.iter().all(|goal| goal.why.is_some() == (goal.verdict == Verdict::Missed)));
    }

    #[test]
    fn a_replay_is_judged_on_the_trace_of_its_goal_only() {
        let replay = |is_judged, is_sample, best_per_second| TraceFigures {
            is_judged,
            is_sample,
            best_per_second,
            blocks_mean: 100.0,
            ..TraceFigures::default()
        };
        let of = |figures| of_replay(&figures, COSTS);
        assert_eq!(of(replay(true, false, 1e6)).verdict, Verdict::Met);
        let missed = of(replay(true, false, 5e5));
        assert_eq!(missed.verdict, Verdict::Missed);
        assert!(missed.why.is_some_and(|why| why.contains("100 blocks here, and 2.00 µs") && why.contains("0.73 µs")));
        let sample = of(replay(false, true, 9e6));
        assert_eq!(sample.verdict, Verdict::NotJudged);
        assert!(sample.why.is_some_and(|why| why.contains("not judged on the sample")));
    }
}
