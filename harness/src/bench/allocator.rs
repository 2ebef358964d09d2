//! What a candidate must do (hand out blocks in batches, all or nothing, and take them back), and who the candidates are.

use super::{ours, peers};
use kvledger_core::{BlockId, Hint};
use serde::{Deserialize, Serialize};

/// Something that has N blocks.
pub trait Allocator: Sync {
    /// The part of it that one of `workers` threads uses.
    fn worker(&self, index: usize, workers: usize) -> Box<dyn Worker + '_>;
}

/// A thread's hands on an allocator.
pub trait Worker {
    /// Take `ids.len()` blocks more for the batch in place `slot` of this worker's book: all or nothing. `hint` says
    /// whether the batch begins something that will grow, or continues it.
    fn take(&mut self, slot: usize, hint: Hint, ids: &mut [BlockId]) -> bool;

    /// Give back the whole batch.
    fn give(&mut self, slot: usize, ids: &[BlockId]);

    /// Writes the ids of a batch to `ids`, if [`Worker::take`] has not done so.
    fn show(&mut self, _slot: usize, _ids: &mut [BlockId]) {}
}

/// What an allocator is made for: only what it needs to know in advance.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// N.
    pub blocks: u32,
    /// Blocks of the longest batch.
    pub batch_max: u32,
    /// Most batches that are out at once, over all workers.
    pub batches: u32,
}

/// Who borrows an allocator.
pub type User<'u> = &'u mut dyn FnMut(&dyn Allocator);

/// A candidate.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// On the command line.
    pub key: &'static str,
    /// In figures.
    pub name: &'static str,
    /// Whose it is.
    pub side: Side,
    /// What it does beside handing out ids.
    pub keeps: Keeps,
    /// Lends a fresh one to whoever wants to use it.
    pub lend: fn(Shape, User<'_>),
}

/// Whose an allocator is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Nobody's: the load without an allocator, what to subtract.
    Nobody,
    /// Somebody else's, or a textbook's.
    Peer,
    /// Ours.
    Ours,
}

/// What a candidate keeps to, beside handing out each id once. The four things that the pool needs of its free list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Keeps {
    /// All N blocks can be out at once, whichever thread takes or returns them.
    pub exactly_n: bool,
    /// A block that is given back twice is noticed, or cannot be given back twice.
    pub sees_double_free: bool,
    /// A thread that is stopped in the middle of a call stops nobody else.
    pub stops_nobody: bool,
    /// A batch that grows is given blocks beside its last one where there are any.
    pub grows_in_place: bool,
}

impl Keeps {
    /// Whether it could stand in for the free list: N blocks and no silent double free.
    pub fn is_careful(self) -> bool {
        self.exactly_n && self.sees_double_free
    }

    /// What it gives up, in words; empty if nothing.
    pub fn gives_up(self) -> String {
        let parts = [
            (self.exactly_n, "keeps blocks out of others' reach"),
            (self.sees_double_free, "does not notice a double free"),
            (self.stops_nobody, "a stopped thread stops the others"),
            (self.grows_in_place, "scatters what grows"),
        ];
        parts.iter().filter(|(is_kept, _)| !is_kept).map(|(_, lacks)| *lacks).collect::<Vec<_>>().join("; ")
    }
}

/// A lock or a ring around ids, as it is.
const PLAIN: Keeps = Keeps { exactly_n: true, sees_double_free: false, stops_nobody: false, grows_in_place: false };
/// The same with a bit for each id.
const CHECKED: Keeps = Keeps { sees_double_free: true, ..PLAIN };
const LOCK_FREE: Keeps = Keeps { stops_nobody: true, ..PLAIN };
const LOCK_FREE_CHECKED: Keeps = Keeps { sees_double_free: true, ..LOCK_FREE };
const ALL: Keeps = Keeps { grows_in_place: true, ..LOCK_FREE_CHECKED };

const fn peer(key: &'static str, name: &'static str, keeps: Keeps, lend: fn(Shape, User<'_>)) -> Candidate {
    Candidate { key, name, side: Side::Peer, keeps, lend }
}

/// All candidates, in the order in which they take turns.
pub const CANDIDATES: [Candidate; 16] = [
    Candidate { key: "nothing", name: NOTHING, side: Side::Nobody, keeps: ALL, lend: peers::nothing },
    peer("mutex", "Mutex<Vec>", PLAIN, peers::mutex_list),
    peer("parking-lot", "parking_lot, Vec", PLAIN, peers::parking_lot_list),
    peer("spin", "spin lock, Vec", PLAIN, peers::spin_list),
    peer("parking-lot-bits", "parking_lot, Vec + bits", CHECKED, peers::parking_lot_checked),
    peer("spin-bits", "spin lock, Vec + bits", CHECKED, peers::spin_checked),
    peer("array-queue", QUEUE, PLAIN, peers::array_queue),
    peer("heapless-queue", "heapless queue", PLAIN, peers::heapless_queue),
    peer("heapless-pool", "heapless pool", LOCK_FREE_CHECKED, peers::heapless_pool),
    peer("treiber", "Treiber stack, chained", LOCK_FREE, peers::treiber),
    peer("bitmap", "bit map, flat", LOCK_FREE_CHECKED, peers::flat_bitmap),
    peer("bitmap-locked", "bit map, parking_lot", CHECKED, peers::locked_bitmap),
    peer("sbitmap", "bit map, as sbitmap", LOCK_FREE_CHECKED, peers::sbitmap),
    peer("bitmap-counted", "bit map, counted", LOCK_FREE_CHECKED, peers::counted_bitmap),
    Candidate { key: "free-list", name: FREE_BLOCKS, side: Side::Ours, keeps: ALL, lend: ours::free_blocks },
    Candidate { key: "pool", name: POOL, side: Side::Ours, keeps: ALL, lend: ours::pool },
];

/// Names that goals and tables refer to.
pub const NOTHING: &str = "loop alone";
/// See [`NOTHING`].
pub const QUEUE: &str = "ArrayQueue";
/// See [`NOTHING`].
pub const FREE_BLOCKS: &str = "free list";
/// See [`NOTHING`].
pub const POOL: &str = "ledger and pool";

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const SHAPE: Shape = Shape { blocks: 1024, batch_max: 100, batches: 120 };

    fn real() -> impl Iterator<Item = Candidate> {
        CANDIDATES.into_iter().filter(|candidate| candidate.side != Side::Nobody)
    }

    /// Takes everything three times over, in batches that begin with 50 and grow, and then a batch too many.
    fn exhaust(name: &str, allocator: &dyn Allocator) {
        let mut worker = allocator.worker(0, 1);
        for _ in 0..3 {
            let mut batches = [[BlockId::NULL; 64]; 16];
            for (slot, batch) in batches.iter_mut().enumerate() {
                assert!(worker.take(slot, Hint::Opens, &mut batch[..50]), "{name}: batch {slot}");
                for length in 50..64 {
                    let hint = Hint::After(batch[length - 1].0);
                    assert!(worker.take(slot, hint, &mut batch[length..=length]), "{name}: batch {slot} grows");
                }
                worker.show(slot, batch);
            }
            let ids: HashSet<u32> = batches.iter().flatten().map(|id| id.0).collect();
            assert_eq!(ids.len(), 1024, "{name}");
            assert!(!worker.take(16, Hint::Any, &mut [BlockId::NULL; 10]), "{name}: more than there is");
            for (slot, batch) in batches.iter().enumerate() {
                worker.give(slot, batch);
            }
        }
    }

    /// A candidate that cheats would look good.
    #[test]
    fn every_candidate_hands_out_each_block_once() {
        for candidate in real() {
            (candidate.lend)(SHAPE, &mut |allocator| exhaust(candidate.name, allocator));
        }
    }

    /// A batch that is refused leaves everything as it was.
    #[test]
    fn a_refused_batch_leaves_nothing_behind() {
        for candidate in real() {
            (candidate.lend)(SHAPE, &mut |allocator| {
                let mut worker = allocator.worker(0, 1);
                let mut batches = [[BlockId::NULL; 100]; 11];
                for (slot, batch) in batches.iter_mut().enumerate().take(10) {
                    assert!(worker.take(slot, Hint::Any, batch), "{}", candidate.name);
                }
                assert!(!worker.take(10, Hint::Any, &mut batches[10]), "{}: 24 are left", candidate.name);
                assert!(worker.take(10, Hint::Any, &mut batches[10][..24]), "{}: they are still there", candidate.name);
            });
        }
    }

    /// What is said to see a double free panics at one; what is said not to does not. The pool and heapless's pool hold
    /// handles, which cannot be given back twice.
    #[test]
    fn double_frees_are_seen_as_said() {
        for candidate in real().filter(|candidate| candidate.name != POOL && candidate.key != "heapless-pool") {
            let seen = std::panic::catch_unwind(|| {
                (candidate.lend)(SHAPE, &mut |allocator| {
                    let mut worker = allocator.worker(0, 1);
                    let mut batches = [[BlockId::NULL; 8]; 2];
                    for (slot, batch) in batches.iter_mut().enumerate() {
                        assert!(worker.take(slot, Hint::Any, batch));
                    }
                    worker.give(0, &batches[0]);
                    // A ring of exactly N places is full by now if it was not noticed.
                    assert!(worker.take(0, Hint::Any, &mut [BlockId::NULL; 8]) || candidate.keeps.is_careful());
                    worker.give(1, &batches[1]);
                    worker.give(1, &batches[1]);
                });
            });
            assert_eq!(seen.is_err(), candidate.keeps.sees_double_free, "{}", candidate.name);
        }
    }

    #[test]
    fn names_and_keys_are_unique() {
        let names: HashSet<_> = CANDIDATES.iter().map(|candidate| candidate.name).collect();
        let keys: HashSet<_> = CANDIDATES.iter().map(|candidate| candidate.key).collect();
        assert_eq!((names.len(), keys.len()), (CANDIDATES.len(), CANDIDATES.len()));
    }

    #[test]
    fn what_is_given_up_is_said() {
        assert_eq!(ALL.gives_up(), "");
        assert_eq!(LOCK_FREE.gives_up(), "does not notice a double free; scatters what grows");
        assert!(CHECKED.is_careful() && !LOCK_FREE.is_careful());
    }
}
