//! What was hoped for, beside what came of it. Most are ratios, because only these survive a change of machine. A goal
//! that was changed after figures had been seen says so ([`Goal::note`]), and stands beside what it was before.

use super::Report;
use super::allocator::{FREE_BLOCKS, QUEUE, Side};
use super::figure::{Cell, Figure};
use super::load::Batches;
use super::reason::Costs;
use super::step::{JUDGED_RUNNING, StepFigures};
use super::stopped::NOISE;
use super::trace::TraceFigures;
use crate::report::grouped;
use serde::{Deserialize, Serialize};

/// Where a free list of bits should beat a queue of ids: it works by words, not by ids.
const QUEUE_RATIO_MAX: f64 = 0.6;

/// A two-thousandth of a 20 ms step: bookkeeping that a server does not notice.
const STEP_US_MAX: f64 = 10.0;

/// For one trace only: the first 12,000 rows of Azure's conversation trace of 2023, four times as fast, in this pool.
/// The best peer's figure for the same rows and pool, on a quiet EPYC core, is about 185,000 (mistral.rs's manager, a
/// port of vLLM's to Rust). Goal and figure are from another machine.
const REPLAY_PER_SECOND_MIN: f64 = 1_000_000.0;

/// How the goal for several threads was changed.
const NARROWED: &str = "the goal was against all peers at first, which is the line above; after the first figures it was \
     narrowed to these, because the pool needs both of its free list, and who lacks one is spared its work";

/// What came of a goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// How the goal was changed after figures had been seen, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The loads in which it was missed, if it is for many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed_in: Vec<String>,
}

impl Goal {
    fn new(what: String, hoped: String, measured: String, is_met: bool) -> Goal {
        let verdict = if is_met { Verdict::Met } else { Verdict::Missed };
        Goal { what, hoped, measured, verdict, why: None, note: None, missed_in: Vec::new() }
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
    let mut goals = of_cells(report, costs);
    goals.extend(of_stopped(report));
    let step = report.steps.iter().find(|step| step.sequences == JUDGED_RUNNING);
    goals.extend(step.map(|step| of_step(step, costs)));
    goals.extend(report.replay.as_ref().map(|replay| of_replay(replay, costs)));
    goals
}

/// The free list beside a peer in one cell.
struct Pairing<'a> {
    cell: &'a Cell,
    peer: &'a Figure,
    ratio: f64,
}

/// Batches: well below the queue. Several threads: below everybody, and below everybody who keeps N blocks and sees
/// double frees.
fn of_cells(report: &Report, costs: Costs) -> Vec<Goal> {
    let cells = &report.allocators;
    let pairing = |cell, peer| pairing(cell, peer);
    let is_large = |cell: &&Cell| matches!(cell.batches, Batches::Fixed(2..));
    let queue: Vec<Pairing<'_>> =
        cells.iter().filter(is_large).filter_map(|cell| pairing(cell, cell.of(QUEUE)?)).collect();
    let best = |is_judged: &dyn Fn(&Figure) -> bool| -> Vec<Pairing<'_>> {
        let several = cells.iter().filter(|cell| cell.threads > 1);
        let of_best = several.filter_map(|cell| {
            let peers = cell.figures.iter().filter(|figure| is_judged(figure));
            peers.filter_map(|peer| pairing(cell, peer)).max_by(|one, other| one.ratio.total_cmp(&other.ratio))
        });
        of_best.collect()
    };
    let all = best(&|figure| report.described(&figure.name).is_some_and(|described| described.side == Side::Peer));
    let careful = best(&|figure| report.is_careful_peer(&figure.name));
    let mut goals = Vec::new();
    goals.extend(of_pairings(
        "free list / ArrayQueue, more than one block a batch",
        QUEUE_RATIO_MAX,
        &queue,
        cells,
        costs,
    ));
    goals.extend(of_pairings("free list / the best of all peers, 2 threads and more", 1.0, &all, cells, costs));
    let what = "free list / the best peer that keeps N blocks and sees double frees, 2 threads and more";
    let narrowed = |goal| Goal { note: Some(NARROWED.to_string()), ..goal };
    goals.extend(of_pairings(what, 1.0, &careful, cells, costs).map(narrowed));
    if !cells.is_empty() {
        goals.push(no_failures(report));
    }
    goals
}

fn pairing<'a>(cell: &'a Cell, peer: &'a Figure) -> Option<Pairing<'a>> {
    Some(Pairing { cell, peer, ratio: cell.of(FREE_BLOCKS)?.ratio_to(peer) })
}

/// One goal for many loads: the largest ratio decides.
fn of_pairings(what: &str, most: f64, pairings: &[Pairing<'_>], cells: &[Cell], costs: Costs) -> Option<Goal> {
    let largest = pairings.iter().max_by(|one, other| one.ratio.total_cmp(&other.ratio))?;
    let missed: Vec<&Pairing<'_>> = pairings.iter().filter(|pairing| pairing.ratio > most).collect();
    let measured = format!(
        "{} of {}; the largest is {:.2} ({}, {})",
        pairings.len() - missed.len(),
        pairings.len(),
        largest.ratio,
        largest.cell.load(),
        largest.peer.name
    );
    let alone = |cell: &Cell| cells.iter().find(|other| other.threads == 1 && other.is_like(cell));
    let in_words =
        |missed: &&Pairing<'_>| format!("{}: {:.2} of {}", missed.cell.load(), missed.ratio, missed.peer.name);
    let hoped = format!("≤ {most:.2} in each of {} loads", pairings.len());
    let mut goal = Goal::new(what.to_string(), hoped, measured, missed.is_empty())
        .because(|| costs.of_cell(largest.cell, largest.peer, alone(largest.cell)));
    goal.missed_in = missed.iter().map(in_words).collect();
    Some(goal)
}

fn no_failures(report: &Report) -> Goal {
    let ours = report.allocators.iter().flat_map(|cell| &cell.figures).filter(|figure| report.is_ours(&figure.name));
    let failures: u64 = ours.map(|figure| figure.failures).sum();
    let what = "batches refused though there was room, ours, all loads".to_string();
    Goal::new(what, "0".to_string(), failures.to_string(), failures == 0)
}

/// A thread that is stopped stops nobody.
fn of_stopped(report: &Report) -> Option<Goal> {
    let ours: Vec<_> = report.stopped.iter().filter(|stopped| report.is_ours(&stopped.name)).collect();
    let fewest = ours.iter().map(|stopped| stopped.fewest).min()?;
    let stops: u32 = ours.iter().map(|stopped| stopped.stops).sum();
    let what = "turns that another thread makes while one is stopped in the middle of a call, ours".to_string();
    let stood_still: u32 = ours.iter().map(|stopped| stopped.stood_still).sum();
    let is_noise = ours.iter().all(|stopped| !stopped.stops_others());
    let why = || match is_noise {
        true => {
            format!("it stood still {stood_still} times; below one stop in {NOISE} that may be a thread without a core")
        }
        false => format!("it stood still {stood_still} times"),
    };
    let goal = Goal::new(what, "some, each time".to_string(), format!("{fewest} or more, {stops} times"), fewest > 0);
    Some(goal.because(why))
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
    let what = if replay.is_sample { "the sample" } else { "another trace, or at another time scale," };
    let why = format!("{what} was replayed: the goal is for Azure's conversation trace (--trace) at --time-scale 1/4");
    Goal { verdict: Verdict::NotJudged, why: Some(why), ..goal }
}

#[cfg(test)]
mod tests {
    use super::super::allocator::POOL;
    use super::super::load::Occupancy;
    use super::super::stopped::Stopped;
    use super::*;

    const COSTS: Costs = Costs { locked_ns: 5.0, transfer_ns: Some(100.0) };
    const CAREFUL: &str = "bit map, counted";
    const CARELESS: &str = "Mutex<Vec>";

    fn cell(threads: u32, batch: u32, figures: [(&str, f64, u64); 5]) -> Cell {
        let figure = |(name, ns, failures): (&str, f64, u64)| Figure {
            rounds_ns: vec![ns, ns * 2.0, ns],
            failures,
            ..Figure::new(name)
        };
        Cell {
            blocks: 1024,
            batches: Batches::Fixed(batch),
            threads,
            occupancy: Occupancy(500),
            repeated: 0,
            figures: figures.map(figure).to_vec(),
        }
    }

    fn report(allocators: Vec<Cell>) -> Report {
        Report { allocators, ..Report::empty() }
    }

    fn verdicts(allocators: Vec<Cell>) -> Vec<Verdict> {
        of_cells(&report(allocators), COSTS).iter().map(|goal| goal.verdict).collect()
    }

    #[test]
    fn a_goal_that_is_missed_is_said_to_be_missed() {
        use Verdict::{Met, Missed};
        let figures = |careful, ours, failures| {
            [
                (CARELESS, careful + 1.0, 0),
                (QUEUE, 150.0, 9),
                (CAREFUL, careful, 0),
                (FREE_BLOCKS, ours, 0),
                (POOL, 500.0, failures),
            ]
        };
        assert_eq!(verdicts(vec![cell(2, 17, figures(100.0, 80.0, 0))]), [Met; 4]);
        assert_eq!(verdicts(vec![cell(2, 17, figures(70.0, 95.0, 1))]), [Missed; 4]);
        assert_eq!(
            verdicts(vec![cell(1, 1, figures(70.0, 95.0, 0))]),
            [Met],
            "alone and one by one nothing is hoped for"
        );
        let both = vec![cell(2, 17, figures(100.0, 80.0, 0)), cell(4, 17, figures(70.0, 80.0, 0))];
        let goals = of_cells(&report(both), COSTS);
        for goal in &goals[1..3] {
            assert_eq!(goal.verdict, Missed, "one load of many is enough");
            assert_eq!(goal.missed_in, ["17 a batch, 50 % of 1024 held, 4 threads: 1.14 of bit map, counted"]);
            assert!(goal.measured.starts_with("1 of 2"), "{goal:?}");
        }
    }

    /// Who keeps less than we do is in the first goal, and not in the one that was narrowed, which says that it was.
    #[test]
    fn peers_that_see_no_double_free_are_in_a_goal_of_their_own() {
        let figures =
            [(CARELESS, 1.0, 0), (QUEUE, 900.0, 0), (CAREFUL, 90.0, 0), (FREE_BLOCKS, 80.0, 0), (POOL, 500.0, 0)];
        let goals = of_cells(&report(vec![cell(2, 17, figures)]), COSTS);
        let missed: Vec<_> = goals.iter().filter(|goal| goal.verdict == Verdict::Missed).collect();
        assert!(missed.len() == 1 && missed[0].what.contains("all peers") && missed[0].measured.contains(CARELESS));
        let noted: Vec<_> = goals.iter().filter(|goal| goal.note.is_some()).collect();
        assert!(noted.len() == 1 && noted[0].what.contains("sees double frees"), "{noted:?}");
    }

    #[test]
    fn a_reason_has_the_figures_of_the_run() {
        let figures = |ours| {
            [(CARELESS, 9000.0, 0), (QUEUE, 4000.0, 0), (CAREFUL, 65.0, 0), (FREE_BLOCKS, ours, 0), (POOL, 900.0, 0)]
        };
        let cells = report(vec![cell(1, 145, figures(216.0)), cell(2, 145, figures(300.0))]);
        let goals = of_cells(&cells, COSTS);
        let why = goals.iter().find_map(|goal| goal.why.as_deref()).expect("one is missed");
        for part in [
            "12 locked instructions, as counted on 2026-11-30, take 60.50 ns at 5.0 ns",
            "216 ns beside 65 ns of bit map",
            "100 ns from core to core",
        ] {
            assert!(why.contains(part), "{part} in {why}");
        }
        let in_turn = of_cells(&cells, Costs { transfer_ns: Some(90_000.0), ..COSTS });
        assert!(in_turn.iter().flat_map(|goal| &goal.why).all(|why| why.contains("in turn") && why.contains("90 µs")));
        assert!(goals.iter().all(|goal| goal.why.is_some() == (goal.verdict == Verdict::Missed)));
    }

    #[test]
    fn a_thread_that_stood_still_is_a_goal_missed() {
        let stopped = |name: &str, fewest| Stopped { name: name.to_string(), stops: 5, stood_still: 0, fewest };
        let of = |fewest| {
            let stopped = vec![stopped(CARELESS, 0), stopped(FREE_BLOCKS, fewest)];
            of_stopped(&Report { stopped, ..Report::empty() }).expect("there are figures").verdict
        };
        assert_eq!((of(7), of(0)), (Verdict::Met, Verdict::Missed));
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
        assert!(sample.why.is_some_and(|why| why.starts_with("the sample was replayed")));
    }
}
