//! Workload W: a trace without its clock. How fast blocks are attached to requests, and how many of them need not be
//! computed, by whoever manages blocks.
//!
//! Requests are taken in order. While K are live, or the blocks of all live ones and of the new one are more than N, the
//! oldest is freed. A request has ⌈(P + O)/B⌉ blocks: the longest known prefix of its prompt, and for the rest new ones, of
//! which those that hold named tokens only are published. Freed blocks that are published are kept, the last of a request
//! first, and the least recently freed of them makes room when no block is free. In the end the rest is freed, the oldest
//! first.
//!
//! 1. `jobs` prepares a trace: what is made before the clock starts.
//! 2. `obvious` says what must come out, by counting names only.
//! 3. `ours` and `registry` are the managers, `drive` runs one.
//!
//! With several threads on one manager each takes every so-manieth request and a part of K and N. What is hit then depends
//! on who comes first, and is reported, not judged.

mod drive;
mod jobs;
mod obvious;
mod ours;
mod registry;

use super::figure::tidy;
use super::{Follow, Subject, median};
use crate::replay::Failure;
use drive::Counted;
use jobs::Jobs;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use std::time::Duration;

/// The sizes of the workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// K: most requests that are live at once.
    pub live: u32,
    /// N: blocks.
    pub blocks: u32,
    /// B: tokens of a block.
    pub block_tokens: NonZeroU32,
}

impl Default for Shape {
    /// For the conversation trace of Mooncake.
    fn default() -> Shape {
        Shape { live: 64, blocks: 1 << 17, block_tokens: BLOCK_TOKENS }
    }
}

const BLOCK_TOKENS: NonZeroU32 = NonZeroU32::new(16).expect("not 0");

/// Threads on one manager, unless other ones are asked for.
pub const THREADS: [u32; 2] = [1, 2];

/// What came of a trace.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WorkloadFigures {
    /// The trace.
    pub trace: String,
    /// Its format.
    pub format: String,
    /// Requests that were taken.
    pub requests: u64,
    /// Requests that were left out: with more blocks than a thread's part of N.
    pub left_out: u64,
    /// K.
    pub live: u32,
    /// N.
    pub pool_blocks: u32,
    /// B.
    pub block_tokens: u32,
    /// Blocks attached in a run, hits and new ones, each once.
    pub blocks: u64,
    /// Of these, blocks with names.
    pub identified_blocks: u64,
    /// Hits of one thread, which every manager must have.
    pub hits: u64,
    /// One a number of threads.
    pub runs: Vec<WorkloadRun>,
}

/// All managers with one number of threads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WorkloadRun {
    /// Threads on one manager.
    pub threads: u32,
    /// One a manager, ours first.
    pub figures: Vec<ManagerFigure>,
}

/// What a manager did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ManagerFigure {
    /// The manager.
    pub name: String,
    /// Blocks attached a second, by round.
    pub rounds_per_second: Vec<f64>,
    /// Hits, by round.
    pub rounds_hits: Vec<u64>,
}

impl ManagerFigure {
    /// In the best round.
    pub fn best_per_second(&self) -> f64 {
        self.rounds_per_second.iter().copied().fold(0.0, f64::max)
    }

    /// In the middle round.
    pub fn median_per_second(&self) -> f64 {
        median(&self.rounds_per_second)
    }

    /// How many times as many blocks a second as `other`: the middle of the ratios of each round.
    pub fn ratio_to(&self, other: &ManagerFigure) -> f64 {
        let rounds = self.rounds_per_second.iter().zip(&other.rounds_per_second);
        median(&rounds.map(|(mine, theirs)| mine / theirs).collect::<Vec<_>>())
    }

    /// Fewest and most hits of a round.
    pub fn hits(&self) -> (u64, u64) {
        let hits = || self.rounds_hits.iter().copied();
        (hits().min().unwrap_or(0), hits().max().unwrap_or(0))
    }
}

/// A manager under the workload: with so many threads, what it counted and how long it took.
type Run = fn(&Jobs, &Shape, u32) -> Result<(Counted, Duration), Failure>;

/// A manager, as it is called.
struct Candidate {
    name: &'static str,
    run: Run,
}

/// What our manager is called.
pub const OURS: &str = "ledger and pool";

const CANDIDATES: [Candidate; 3] = [
    Candidate { name: OURS, run: ours::run },
    Candidate { name: "Mutex, HashMap, LRU list", run: registry::run_with_given_hashes },
    Candidate { name: "the same, hashed by SipHash", run: registry::run_with_its_own_hashes },
];

/// Every manager with each number of threads, round after round, one directly after the other. Errors: a manager did not do
/// what the workload says; the trace has too many blocks.
pub fn measure(
    subject: &Subject,
    shape: &Shape,
    threads: &[u32],
    rounds: u32,
    follow: Follow<'_>,
) -> Result<WorkloadFigures, Failure> {
    let threads_max = threads.iter().copied().max().unwrap_or(1);
    let jobs = Jobs::of(&subject.trace, shape, threads_max)?;
    let expected = obvious::count(&jobs, shape);
    let mut figures = WorkloadFigures {
        trace: subject.name.clone(),
        format: subject.trace.format.name().to_string(),
        requests: jobs.len() as u64,
        left_out: jobs.left_out(),
        live: shape.live,
        pool_blocks: shape.blocks,
        block_tokens: shape.block_tokens.get(),
        blocks: expected.blocks,
        identified_blocks: jobs.identified(),
        hits: expected.hits,
        runs: Vec::new(),
    };
    for &threads in threads {
        let mut run = WorkloadRun { threads, figures: CANDIDATES.iter().map(begin).collect() };
        for _ in 0..rounds {
            for (candidate, figure) in CANDIDATES.iter().zip(&mut run.figures) {
                follow(Duration::ZERO, &format!("workload W, {threads} threads"));
                let (counted, wall) = (candidate.run)(&jobs, shape, threads)?;
                check(candidate.name, counted, expected, threads)?;
                figure.rounds_per_second.push(tidy(counted.blocks as f64 / wall.as_secs_f64()));
                figure.rounds_hits.push(counted.hits);
            }
        }
        figures.runs.push(run);
    }
    Ok(figures)
}

fn begin(candidate: &Candidate) -> ManagerFigure {
    ManagerFigure { name: candidate.name.to_string(), rounds_per_second: Vec::new(), rounds_hits: Vec::new() }
}

/// All blocks are attached; with one thread the hits are those of the rule.
fn check(name: &str, counted: Counted, expected: Counted, threads: u32) -> Result<(), Failure> {
    let is_right = if threads == 1 { counted == expected } else { counted.blocks == expected.blocks };
    let Counted { blocks, hits } = counted;
    let what = format!("{name}: {blocks} blocks and {hits} hits with {threads} threads instead of {expected:?}");
    if is_right { Ok(()) } else { Err(Failure::Workload(what)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use crate::trace::{Normalise, load_text};

    fn made(requests: usize) -> Subject {
        let text = sample::make(7, requests);
        let trace = load_text("made", &text, Some(sample::ID_TOKENS), Normalise::default()).expect("a trace");
        Subject { name: "made".to_string(), trace, is_sample: true, time_scale: Normalise::default().time_scale }
    }

    /// Counts only: what the rounds took is not looked at. `measure` itself compares with the obvious count.
    #[test]
    fn every_manager_has_the_hits_of_the_rule() {
        let subject = made(400);
        let (mut least, mut most) = (u64::MAX, 0);
        for (live, blocks) in [(1, 1500), (3, 1500), (16, 1600), (64, 1 << 14)] {
            let shape = Shape { live, blocks, ..Shape::default() };
            let figures =
                measure(&subject, &shape, &THREADS, 2, &|_, _| ()).expect("the managers do what the workload says");
            assert_eq!((figures.requests, figures.left_out), (400, 0), "K {live}, N {blocks}");
            let totals = subject.trace.requests.iter().map(|one| u64::from(one.prompt + one.output).div_ceil(16));
            assert_eq!(figures.blocks, totals.sum::<u64>());
            assert!(figures.runs.iter().all(|run| run.figures.iter().all(|one| one.rounds_hits.len() == 2)));
            (least, most) = (least.min(figures.hits), most.max(figures.hits));
        }
        assert!(0 < least && least < most, "room for more makes more hits: {least}, {most}");
    }

    #[test]
    fn who_has_more_blocks_than_a_thread_may_have_is_left_out() {
        let subject = made(60);
        let shape = Shape { blocks: 200, ..Shape::default() };
        let figures = measure(&subject, &shape, &THREADS, 1, &|_, _| ()).expect("counts");
        assert!(figures.left_out > 0 && figures.requests + figures.left_out == 60, "{figures:?}");
    }

    /// The net catches.
    #[test]
    fn a_wrong_count_is_said() {
        let expected = Counted { blocks: 10, hits: 3 };
        assert_eq!(check("a", expected, expected, 1), Ok(()));
        assert_eq!(check("a", Counted { hits: 2, ..expected }, expected, 2), Ok(()), "two threads may hit less");
        let said = check("a", Counted { hits: 2, ..expected }, expected, 1).expect_err("wrong").to_string();
        assert!(said.contains("a: 10 blocks and 2 hits with 1 threads"), "{said}");
        assert!(check("a", Counted { blocks: 9, ..expected }, expected, 2).is_err());
    }
}
