//! A thread that is stopped in the middle of what it does, as a scheduler or a debugger would: what becomes of the other
//! one? A signal stops one of two threads at a random moment; the other one should go on.
//!
//! Stopped until the other one has made `ENOUGH` turns: so many that a ring comes round to the place that the stopped one
//! has claimed. If it has made none for [`PATIENCE`], it stands still.

use super::Follow;
use super::allocator::{Allocator, Candidate, Shape, Side};
use super::matrix::Selection;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What came of stopping a thread again and again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stopped {
    /// The candidate.
    pub name: String,
    /// Times that a thread was stopped.
    pub stops: u32,
    /// Times that the other one stood still.
    pub stood_still: u32,
    /// Fewest turns that the other one made while one was stopped; the one under way not counted, and no more counted
    /// than `ENOUGH`.
    pub fewest: u64,
}

/// From one stop in so many on a stand counts: once in a while a thread that nobody stops gets no core for [`PATIENCE`].
pub const NOISE: u32 = 20;

impl Stopped {
    /// Whether a stopped thread stops the others: the other one stood still in at least one stop of `NOISE`.
    pub fn stops_others(&self) -> bool {
        self.stood_still > 0 && self.stood_still.saturating_mul(NOISE) >= self.stops
    }

    /// Whether the other one stood still, but so seldom that it says nothing.
    pub fn is_noise(&self) -> bool {
        self.stood_still > 0 && !self.stops_others()
    }
}

/// Turns after which the other one has shown that it goes on.
pub const ENOUGH: u64 = 1_000;

/// How long one of them may take.
pub const PATIENCE: Duration = Duration::from_millis(20);

const BLOCKS: u32 = 2_048;
const BATCH: u32 = 17;
/// Batches of each of the two threads.
const BATCHES: u32 = 50;

/// Stops a thread of each candidate so many times; nothing where there are no signals.
pub fn measure(selection: &Selection, stops: u32, follow: Follow<'_>) -> Vec<Stopped> {
    let mut all = Vec::new();
    for candidate in selection.candidates.iter().filter(|candidate| candidate.side != Side::Nobody) {
        follow(takes_one(stops), &format!("a stopped thread, {}", candidate.name));
        all.extend(of(candidate, stops));
    }
    all
}

/// About how long it takes.
pub fn takes(selection: &Selection, stops: u32) -> Duration {
    takes_one(stops) * selection.candidates.len() as u32
}

fn takes_one(stops: u32) -> Duration {
    PATIENCE * stops / 5
}

fn of(candidate: &Candidate, stops: u32) -> Option<Stopped> {
    let shape = Shape { blocks: BLOCKS, batch_max: BATCH, batches: 2 * (BATCHES + 1) };
    let mut stopped = None;
    (candidate.lend)(shape, &mut |allocator| stopped = two::run(candidate.name, allocator, stops));
    stopped
}

#[cfg(not(unix))]
mod two {
    use super::*;

    pub fn run(_: &str, _: &dyn Allocator, _: u32) -> Option<Stopped> {
        None
    }
}

#[cfg(unix)]
mod two {
    use super::*;
    use crate::bench::signal::{Aim, Target};
    use kvledger_core::model::Random;
    use kvledger_core::{BlockId, Hint};
    use std::sync::OnceLock;
    use std::sync::atomic::{
        AtomicBool, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    };
    use std::thread;
    use std::time::Instant;

    struct Pair<'a> {
        allocator: &'a dyn Allocator,
        target: OnceLock<Target>,
        /// Turns of the thread that is not stopped.
        turns: AtomicU64,
        is_over: AtomicBool,
    }

    pub fn run(name: &str, allocator: &dyn Allocator, stops: u32) -> Option<Stopped> {
        let mut aim = Aim::take();
        let (turns, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
        let pair = Pair { allocator, target: OnceLock::new(), turns, is_over };
        thread::scope(|scope| {
            scope.spawn(|| pair.work(0));
            scope.spawn(|| pair.work(1));
            let target = pair.target.wait();
            while pair.turns.load(Acquire) < ENOUGH {
                thread::yield_now();
            }
            let mut stopped = Stopped { name: name.to_string(), stops, stood_still: 0, fewest: ENOUGH };
            let mut random = Random::new(5);
            for _ in 0..stops {
                thread::sleep(Duration::from_micros(100 + u64::from(random.below(200))));
                let made = aim.stop(target, || pair.wait());
                stopped.stood_still += u32::from(made < ENOUGH);
                stopped.fewest = stopped.fewest.min(made);
            }
            pair.is_over.store(true, Release);
            Some(stopped)
        })
    }

    impl Pair<'_> {
        /// Turns that the other one makes while this one is stopped.
        fn wait(&self) -> u64 {
            let before = self.turns.load(Acquire);
            let (mut last, mut since) = (before, Instant::now());
            loop {
                let now = self.turns.load(Acquire);
                if now != last {
                    (last, since) = (now, Instant::now());
                }
                let made = (now - before).saturating_sub(1);
                if made >= ENOUGH || since.elapsed() > PATIENCE {
                    return made.min(ENOUGH);
                }
                thread::sleep(Duration::from_micros(20));
            }
        }

        fn work(&self, index: usize) {
            let mut worker = self.allocator.worker(index, 2);
            let mut random = Random::new(index as u64);
            let mut batches = vec![[BlockId::NULL; BATCH as usize]; BATCHES as usize];
            let mut is_held = vec![true; batches.len()];
            for (slot, batch) in batches.iter_mut().enumerate() {
                is_held[slot] = worker.take(slot, Hint::Any, batch);
            }
            if index == 0 {
                let _ = self.target.set(Target::here());
            }
            while !self.is_over.load(Acquire) {
                let slot = random.below(BATCHES) as usize;
                if is_held[slot] {
                    worker.give(slot, &batches[slot]);
                }
                is_held[slot] = worker.take(slot, Hint::Any, &mut batches[slot]);
                if index == 1 && is_held[slot] {
                    self.turns.fetch_add(1, Relaxed);
                }
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::allocator::CANDIDATES;
    use super::*;

    #[test]
    fn a_stand_counts_from_one_in_twenty_on() {
        let of = |stood_still| Stopped { name: String::new(), stops: 200, stood_still, fewest: 0 };
        let said = [0, 1, 9, 10, 200].map(|stood_still| (of(stood_still).is_noise(), of(stood_still).stops_others()));
        assert_eq!(said, [(false, false), (true, false), (true, false), (false, true), (false, true)]);
    }

    /// No time is compared: a lock-free candidate goes on however long it takes, and a spin lock held by nobody who runs
    /// is not released. (That a stop hits the lock is chance; so many stops do not all miss.)
    #[test]
    fn ours_goes_on_and_a_lock_stands_still() {
        let find = |key| CANDIDATES.iter().find(|candidate| candidate.key == key).expect("a candidate");
        let ours = of(find("free-list"), 50).expect("there are signals");
        assert!(ours.fewest > 0, "{ours:?}");
        let lock = of(find("spin-bits"), 200).expect("there are signals");
        assert!(lock.stood_still > 0 && lock.fewest == 0, "{lock:?}");
    }
}
