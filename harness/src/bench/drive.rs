//! Drives one candidate with the threads of a load: fill, stir, measure the throughput, and then, apart from that, the
//! time of each call.

use super::allocator::Allocator;
use super::book::{Book, Call, Unwatched, Watched};
use super::histogram::Histogram;
use super::load::Load;
use kvledger_core::model::Random;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a candidate is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slices {
    /// The throughput.
    pub throughput: Duration,
    /// Single calls; zero: they are not timed.
    pub calls: Duration,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Wall time of the throughput's slice.
    pub wall: Duration,
    /// Batches (or blocks, of what grows) taken in it by all threads, with what was given back for them.
    pub takes: u64,
    /// Takes that were refused, in both slices.
    pub failures: u64,
    /// How often the kernel took a core away from a thread in the throughput's slice, if it says so.
    pub interruptions: u64,
    /// Times of calls.
    pub take: Histogram,
    /// Times of calls.
    pub give: Histogram,
}

/// What the threads and who watches them share.
struct Stage<'a> {
    allocator: &'a dyn Allocator,
    load: &'a Load,
    slices: Slices,
    /// Between phases.
    gate: Barrier,
    throughput_over: AtomicBool,
    calls_over: AtomicBool,
    /// Threads fill one after the other: contention is for the slices.
    fill: Mutex<()>,
}

/// What came of one thread's part.
struct Part {
    takes: u64,
    failures: u64,
    interruptions: u64,
    take: Histogram,
    give: Histogram,
}

/// Most time for stirring: twice round, if that takes no longer.
pub const STIR_MAX: Duration = Duration::from_millis(20);

/// Turns between looks at the flag that ends a slice.
const TURNS: u32 = 8;

/// Runs the load on an allocator.
pub fn run(allocator: &dyn Allocator, load: &Load, slices: Slices) -> Outcome {
    let stage = Stage {
        allocator,
        load,
        slices,
        gate: Barrier::new(load.threads as usize + 1),
        throughput_over: AtomicBool::new(false),
        calls_over: AtomicBool::new(false),
        fill: Mutex::new(()),
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..load.threads as usize)
            .map(|index| {
                let stage = &stage;
                scope.spawn(move || work(stage, index))
            })
            .collect();
        stage.gate.wait();
        let start = Instant::now();
        thread::sleep(slices.throughput);
        stage.throughput_over.store(true, Ordering::Relaxed);
        let wall = start.elapsed();
        stage.gate.wait();
        thread::sleep(slices.calls);
        stage.calls_over.store(true, Ordering::Relaxed);
        let parts = workers.into_iter().map(|worker| worker.join().expect("a worker does not panic"));
        gather(wall, parts)
    })
}

fn gather(wall: Duration, parts: impl Iterator<Item = Part>) -> Outcome {
    let (take, give) = (Histogram::new(), Histogram::new());
    let mut outcome = Outcome { wall, takes: 0, failures: 0, interruptions: 0, take, give };
    for part in parts {
        outcome.takes += part.takes;
        outcome.failures += part.failures;
        outcome.interruptions += part.interruptions;
        outcome.take.merge(&part.take);
        outcome.give.merge(&part.give);
    }
    outcome
}

fn work(stage: &Stage<'_>, index: usize) -> Part {
    let mut worker = stage.allocator.worker(index, stage.load.threads as usize);
    let worker = &mut *worker;
    let mut random = Random::new(index as u64);
    let mut book = Book::new(stage.load);
    {
        let _turn = stage.fill.lock().unwrap_or_else(PoisonError::into_inner);
        book.fill(worker, &mut random);
    }
    stir(&mut book, worker, &mut random);
    stage.gate.wait();
    let before = interruptions();
    let mut part = Part { takes: 0, failures: 0, interruptions: 0, take: Histogram::new(), give: Histogram::new() };
    while !stage.throughput_over.load(Ordering::Relaxed) {
        for _ in 0..TURNS {
            let found = book.turn(worker, &mut random, &mut Unwatched);
            part.takes += u64::from(found);
            part.failures += u64::from(!found);
        }
    }
    part.interruptions = interruptions().saturating_sub(before);
    stage.gate.wait();
    if !stage.slices.calls.is_zero() {
        let Part { take, give, failures, .. } = &mut part;
        let mut watched = Watched(|call, took| match call {
            Call::Take => take.add(took),
            Call::Give => give.add(took),
        });
        while !stage.calls_over.load(Ordering::Relaxed) {
            *failures += u64::from(!book.turn(worker, &mut random, &mut watched));
        }
    }
    part
}

/// Replaces everything about twice, so that batches lie as they come to lie.
fn stir(book: &mut Book, worker: &mut dyn super::allocator::Worker, random: &mut Random) {
    let start = Instant::now();
    for turn in 0..2 * book.batches() {
        if turn % 64 == 0 && start.elapsed() > STIR_MAX {
            break;
        }
        book.turn(worker, random, &mut Unwatched);
    }
}

/// How often the kernel has taken the core away from this thread; 0 where it does not say.
fn interruptions() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"));
    line.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::allocator::{CANDIDATES, Side};
    use super::super::load::{Batches, Occupancy};
    use super::*;

    const SLICES: Slices = Slices { throughput: Duration::from_millis(2), calls: Duration::from_millis(1) };

    fn outcome_of(candidate: &super::super::allocator::Candidate, load: &Load) -> Outcome {
        let mut outcome = None;
        (candidate.lend)(load.shape(), &mut |allocator| outcome = Some(run(allocator, load, SLICES)));
        outcome.expect("the allocator was lent")
    }

    /// All candidates under all loads; ours never refuse what there is room for, nobody does alone.
    #[test]
    fn no_candidate_fails_below_its_quota() {
        for candidate in CANDIDATES.iter().filter(|candidate| candidate.side != Side::Nobody) {
            for (threads, batches) in [
                (1, Batches::Fixed(17)),
                (2, Batches::Fixed(3)),
                (1, Batches::Mixed),
                (1, Batches::Growing),
                (2, Batches::Growing),
            ] {
                let load = Load { blocks: 2000, batches, threads, occupancy: Occupancy(950) };
                // On a busy machine a slice may be over before a thread had its turn.
                let measured = (0..200).map(|_| outcome_of(candidate, &load)).any(|outcome| {
                    if threads == 1 || candidate.side == Side::Ours {
                        assert_eq!(outcome.failures, 0, "{}, {load:?}", candidate.name);
                    }
                    outcome.takes > 0 && outcome.take.quantiles().is_some()
                });
                assert!(measured, "{}, {load:?}", candidate.name);
            }
        }
    }
}
