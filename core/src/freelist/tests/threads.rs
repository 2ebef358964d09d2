//! Several threads: nobody is given what another holds, a promise is always kept, and a thread that stands still
//! anywhere takes away at most what it was moving.

use super::support::{Rng, ids, list, taken};
use crate::freelist::{Cursor, FreeList, Hint};
use crate::sync::{AtomicU32, AtomicU64, freeze};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::boxed::Box;
use std::thread;
use std::vec::Vec;

/// Who holds each block, and how many blocks are promised to nobody.
struct Owners {
    list: FreeList<'static>,
    owner: Vec<AtomicU32>,
    headroom: AtomicU32,
}

impl Owners {
    fn new(blocks: u32) -> Owners {
        let owner = (0..=blocks).map(|_| AtomicU32::new(0)).collect();
        Owners { list: list(blocks), owner, headroom: AtomicU32::new(blocks) }
    }

    fn reserve(&self, count: u32) -> bool {
        self.headroom.fetch_update(AcqRel, Acquire, |headroom| headroom.checked_sub(count)).is_ok()
    }

    fn take(&self, me: u32, count: u32, hint: Hint, cursor: &Cursor, into: &mut Vec<u32>) {
        let mut got = 0;
        let mut tries = 0;
        while got < count {
            got += self.list.take(count - got, hint, cursor, &mut |run| into.extend(ids(run)));
            tries += 1;
            assert!(tries < 1_000_000, "promised, but not found");
        }
        for &id in &into[into.len() - count as usize..] {
            assert_eq!(self.owner[id as usize].swap(me, AcqRel), 0, "block {id} was somebody's");
        }
    }

    fn give(&self, me: u32, blocks: &[u32]) {
        let mut gather = self.list.gather();
        for &id in blocks {
            assert_eq!(self.owner[id as usize].swap(0, AcqRel), me, "block {id} is not mine");
            gather.push(id);
        }
        assert_eq!(gather.finish(), 0);
        // Blocks first, headroom afterwards: that is what makes the promise good.
        self.headroom.fetch_add(blocks.len() as u32, Release);
    }
}

fn work(owners: &Owners, me: u32, steps: u32) {
    let mut rng = Rng::new(u64::from(me));
    let cell = AtomicU64::new(rng.next());
    let cursor = Cursor::new(&cell);
    let mut mine: Vec<Vec<u32>> = Vec::new();
    for _ in 0..steps {
        let count = [1, 1, 3, 17, 70, 145][rng.below(6) as usize];
        if owners.reserve(count) {
            let near = mine.last().and_then(|batch| batch.last()).copied().unwrap_or(0);
            let hint = [Hint::Any, Hint::Opens, Hint::After(near)][rng.below(3) as usize];
            let mut batch = Vec::new();
            owners.take(me, count, hint, &cursor, &mut batch);
            mine.push(batch);
        } else if !mine.is_empty() {
            let batch = mine.swap_remove(rng.below(mine.len() as u32) as usize);
            cursor.aim(batch[0]);
            owners.give(me, &batch);
        }
    }
    mine.iter().for_each(|batch| owners.give(me, batch));
}

#[test]
fn no_block_has_two_owners_and_every_promise_is_kept() {
    for blocks in [200, 5000] {
        let owners = Owners::new(blocks);
        thread::scope(|scope| {
            for me in 1..=4 {
                let owners = &owners;
                scope.spawn(move || work(owners, me, 10_000));
            }
        });
        assert_eq!(owners.headroom.load(Relaxed), blocks);
        assert_eq!(owners.list.count(), u64::from(blocks));
        assert!(owners.list.map.is_shown_at_rest());
    }
}

/// Two threads give back the same blocks at the same time: of each block one is refused.
#[test]
fn of_two_returns_of_a_block_one_is_refused() {
    let list = list(4096);
    for _ in 0..200 {
        let held = taken(&list, 2000, Hint::Any);
        let refused: u64 = thread::scope(|scope| {
            let give = || {
                let mut gather = list.gather();
                held.iter().for_each(|&id| gather.push(id));
                gather.finish()
            };
            let threads = [scope.spawn(give), scope.spawn(give)];
            threads.into_iter().map(|thread| thread.join().expect("gives back")).sum()
        });
        assert_eq!(refused, 2000);
        assert_eq!(list.count(), 4096);
    }
}

/// A thread that stops: where, what is done before it starts, and how it gets there.
struct Stop {
    point: &'static str,
    before: fn(&FreeList),
    start: fn(&FreeList),
    /// Blocks that it keeps.
    kept: u64,
}

const STOPS: [Stop; 4] = [
    Stop { point: "bitmap: claimed", before: |_| (), start: |list| drop(taken(list, 64, Hint::Opens)), kept: 64 },
    Stop {
        point: "bitmap: put, not shown",
        before: |list| {
            assert_eq!(list.map.take(3, |bits| bits), u64::MAX);
            assert!(!list.map.tidy(3));
        },
        start: |list| assert_eq!(list.put_mask(3, u64::MAX), 0),
        kept: 0,
    },
    Stop {
        point: "bitmap: hidden, not looked at again",
        before: |_| (),
        start: |list| assert!(list.map.tidy(3)),
        kept: 0,
    },
    Stop {
        point: "summary: hidden, not looked at again",
        // All words of the second zone and the one before it are hidden; the zone is still shown.
        before: |list| (63..list.map.words()).for_each(|word| list.map.shown_for_test().hide(word)),
        start: |list| assert_eq!(list.map.next(63), Some(63)),
        kept: 0,
    },
];

/// A thread stops for ever at each point of the protocol. Everybody else gets all blocks but those it was moving.
#[test]
fn a_stopped_thread_takes_away_only_what_it_was_moving() {
    const BLOCKS: u32 = 5000;
    for stop in STOPS {
        let list: &'static FreeList = Box::leak(Box::new(list(BLOCKS)));
        (stop.before)(list);
        let stopped = thread::spawn(move || {
            freeze::stop_this_thread_at(stop.point);
            (stop.start)(list);
        });
        while !freeze::is_frozen(stopped.thread().id()) {
            thread::yield_now();
        }
        let got = taken(list, BLOCKS, Hint::Any);
        assert_eq!(got.len() as u64, u64::from(BLOCKS) - stop.kept, "stopped at {:?}", stop.point);
        assert_eq!(list.count(), 0);
    }
}
