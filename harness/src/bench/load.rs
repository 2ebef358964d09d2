//! The load: random replacement. Each thread holds batches up to its quota; while there is no room for the next one it
//! gives back a random batch of its own; then it takes one. The quotas together are the occupancy, so an exact allocator
//! never fails, and every failure is counted.

use super::allocator::{Allocator, Shape, Worker};
use kvledger_core::BlockId;
use kvledger_core::model::Random;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What is done to an allocator.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Load {
    /// N.
    pub blocks: u32,
    /// Blocks in a batch.
    pub batch: u32,
    /// Threads.
    pub threads: u32,
    /// Part of N that is held, in per cent.
    pub occupancy: u32,
}

impl Load {
    /// Blocks that one thread may hold.
    fn quota(&self) -> usize {
        self.blocks as usize * self.occupancy as usize / 100 / self.threads as usize
    }

    fn batches_per_thread(&self) -> usize {
        self.quota() / self.batch as usize
    }

    /// What the allocator must be prepared for: one batch a thread is refused when all others are out.
    pub fn shape(&self) -> Shape {
        let batches = (self.batches_per_thread() + 1) * self.threads as usize;
        Shape { blocks: self.blocks, batch: self.batch, batches: u32::try_from(batches).unwrap_or(u32::MAX) }
    }
}

/// What came of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outcome {
    /// Wall time of the measured part.
    pub wall: Duration,
    /// Batches taken and given back in it, by all threads.
    pub pairs: u64,
    /// Batches refused.
    pub failures: u64,
}

/// The batches of one thread.
struct Book {
    ids: Vec<BlockId>,
    batch: usize,
    /// Places that hold a batch.
    live: Vec<usize>,
    spare: Vec<usize>,
}

impl Book {
    fn new(batches: usize, batch: usize) -> Book {
        Book {
            ids: vec![BlockId::NULL; batches * batch],
            batch,
            live: Vec::with_capacity(batches),
            spare: (0..batches).rev().collect(),
        }
    }

    fn batch(&mut self, slot: usize) -> &mut [BlockId] {
        &mut self.ids[slot * self.batch..][..self.batch]
    }

    /// One turn of the load. Whether the batch was there.
    #[inline]
    fn turn(&mut self, worker: &mut dyn Worker, random: &mut Random) -> bool {
        if self.spare.is_empty() {
            let slot = self.live.swap_remove(random.below(self.live.len() as u32) as usize);
            worker.give(slot, self.batch(slot));
            self.spare.push(slot);
        }
        let Some(slot) = self.spare.pop() else {
            return false;
        };
        let found = worker.take(slot, self.batch(slot));
        if found {
            self.live.push(slot)
        } else {
            self.spare.push(slot)
        }
        found
    }
}

/// Runs the load on an allocator: fills it, goes twice round, then measures for `slice`.
pub fn run(allocator: &dyn Allocator, load: &Load, slice: Duration) -> Outcome {
    let (started, stopped) = (Barrier::new(load.threads as usize + 1), AtomicBool::new(false));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..load.threads as usize)
            .map(|index| {
                let (started, stopped) = (&started, &stopped);
                scope.spawn(move || work(allocator, load, index, started, stopped))
            })
            .collect();
        started.wait();
        let start = Instant::now();
        thread::sleep(slice);
        stopped.store(true, Ordering::Relaxed);
        let wall = start.elapsed();
        let mut outcome = Outcome { wall, pairs: 0, failures: 0 };
        for worker in workers {
            let (pairs, failures) = worker.join().expect("a worker does not panic");
            outcome.pairs += pairs;
            outcome.failures += failures;
        }
        outcome
    })
}

/// Turns between looks at the clock's flag.
const TURNS: u32 = 8;

fn work(allocator: &dyn Allocator, load: &Load, index: usize, started: &Barrier, stopped: &AtomicBool) -> (u64, u64) {
    let mut worker = allocator.worker(index, load.threads as usize);
    let mut random = Random::new(index as u64);
    let batches = load.batches_per_thread();
    let mut book = Book::new(batches, load.batch as usize);
    for _ in 0..3 * batches {
        book.turn(&mut *worker, &mut random);
    }
    started.wait();
    let (mut pairs, mut failures) = (0, 0);
    while !stopped.load(Ordering::Relaxed) {
        for _ in 0..TURNS {
            if book.turn(&mut *worker, &mut random) { pairs += 1 } else { failures += 1 }
        }
    }
    (pairs, failures)
}

#[cfg(test)]
mod tests {
    use super::super::allocator::{CANDIDATES, Side};
    use super::*;

    #[test]
    fn no_candidate_fails_below_its_quota() {
        for candidate in CANDIDATES.iter().filter(|candidate| candidate.side != Side::Nobody) {
            for (threads, batch) in [(1, 17), (2, 3)] {
                let load = Load { blocks: 1000, batch, threads, occupancy: 95 };
                let mut outcome = None;
                (candidate.lend)(load.shape(), &mut |allocator| {
                    outcome = Some(run(allocator, &load, Duration::from_millis(2)));
                });
                let outcome = outcome.expect("the allocator was lent");
                assert_eq!(outcome.failures, 0, "{}, {load:?}", candidate.name);
                assert!(outcome.pairs > 0, "{}, {load:?}", candidate.name);
            }
        }
    }
}
