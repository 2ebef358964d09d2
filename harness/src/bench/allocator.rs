//! What a candidate must do: hand out batches of blocks, all or nothing, and take them back.

use super::{ours, peers};
use kvledger_core::BlockId;
use serde::Serialize;

/// Something that has N blocks.
pub trait Allocator: Sync {
    /// The part of it that one of `workers` threads uses.
    fn worker(&self, index: usize, workers: usize) -> Box<dyn Worker + '_>;
}

/// A thread's hands on an allocator.
pub trait Worker {
    /// Take `ids.len()` blocks for the batch in place `slot` of this worker's book.
    fn take(&mut self, slot: usize, ids: &mut [BlockId]) -> bool;

    /// Give them back.
    fn give(&mut self, slot: usize, ids: &[BlockId]);
}

/// What an allocator is made for: only what it needs to know in advance.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// N.
    pub blocks: u32,
    /// Blocks in a batch.
    pub batch: u32,
    /// Most batches that are out at once, over all workers.
    pub batches: u32,
}

/// Who borrows an allocator.
pub type User<'u> = &'u mut dyn FnMut(&dyn Allocator);

/// A candidate.
#[derive(Clone, Copy)]
pub struct Candidate {
    /// In figures.
    pub name: &'static str,
    /// Whose it is.
    pub side: Side,
    /// Lends a fresh one to whoever wants to use it.
    pub lend: fn(Shape, User<'_>),
}

/// Whose an allocator is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Nobody's: the load without an allocator, what to subtract.
    Nobody,
    /// Somebody else's.
    Peer,
    /// Ours.
    Ours,
}

/// All candidates, in the order in which they take turns.
pub const CANDIDATES: [Candidate; 6] = [
    Candidate { name: "loop alone", side: Side::Nobody, lend: peers::nothing },
    Candidate { name: MUTEX, side: Side::Peer, lend: peers::mutex_vec },
    Candidate { name: SPIN, side: Side::Peer, lend: peers::spin_vec },
    Candidate { name: QUEUE, side: Side::Peer, lend: peers::array_queue },
    Candidate { name: FREE_BLOCKS, side: Side::Ours, lend: ours::free_blocks },
    Candidate { name: POOL, side: Side::Ours, lend: ours::pool },
];

/// Names that goals refer to.
pub const MUTEX: &str = "Mutex<Vec>";
/// See [`MUTEX`].
pub const SPIN: &str = "spin lock, Vec";
/// See [`MUTEX`].
pub const QUEUE: &str = "ArrayQueue";
/// See [`MUTEX`].
pub const FREE_BLOCKS: &str = "free list";
/// See [`MUTEX`].
pub const POOL: &str = "ledger and pool";

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const SHAPE: Shape = Shape { blocks: 100, batch: 10, batches: 11 };

    /// Takes everything three times over, and then a batch too many.
    fn exhaust(name: &str, allocator: &dyn Allocator) {
        let mut worker = allocator.worker(0, 1);
        for _ in 0..3 {
            let mut batches = [[BlockId::NULL; 10]; 10];
            for (slot, batch) in batches.iter_mut().enumerate() {
                assert!(worker.take(slot, batch), "{name}: batch {slot}");
            }
            let ids: HashSet<u32> = batches.iter().flatten().map(|id| id.0).collect();
            // The pool's ids are in its table, not in the batch.
            assert_eq!(ids.len(), if name == POOL { 1 } else { 100 }, "{name}");
            assert!(!worker.take(10, &mut [BlockId::NULL; 10]), "{name}: more than there is");
            for (slot, batch) in batches.iter().enumerate() {
                worker.give(slot, batch);
            }
        }
    }

    /// A candidate that cheats would look good.
    #[test]
    fn every_candidate_hands_out_each_block_once() {
        for candidate in CANDIDATES.into_iter().filter(|candidate| candidate.side != Side::Nobody) {
            (candidate.lend)(SHAPE, &mut |allocator| exhaust(candidate.name, allocator));
        }
    }
}
