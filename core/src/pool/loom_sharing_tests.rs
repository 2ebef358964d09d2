//! The races of what is shared, each named, each with a mistake that must be noticed.

use crate::answer::Refusal;
use crate::arena::Line;
use crate::calls::{Admission, Prefix};
use crate::config::PoolConfig;
use crate::identity::Identity;
use crate::ids::{Group, Sequence, Stream, StreamSet};
use crate::pool::{Pool, entries, lines};
use crate::race::holds_and_notices;
use crate::sync::{Acquire, AtomicU64, Plant, Release};
use crate::transfers::Access;
use loom::thread;
use std::boxed::Box;
use std::sync::Arc;
use std::vec;

const STREAM: Stream = Stream(0);
const FIRST: [Identity; 1] = [Identity { low: 1, high: 1 }];
const SECOND: [Identity; 1] = [Identity { low: 2, high: 1 }];

fn pool(blocks: u32) -> Pool<'static> {
    let config = PoolConfig {
        epochs: 2,
        streams: 2,
        transfers: 1,
        events: 2,
        ..PoolConfig::new(blocks, 1, 4, blocks).sharing()
    };
    let memory = Box::leak(vec![Line::ZERO; lines(&config)].into_boxed_slice());
    let table = Box::leak(vec![0; entries(&config)].into_boxed_slice());
    Pool::init(memory, table, &config).expect("a good configuration")
}

/// A sequence of one block, published under the first name, written by work that is over.
fn publisher(pool: &Pool<'_>) -> Sequence {
    let sequence = holding(pool, 1);
    let epoch = pool.submit(STREAM).expect("room");
    pool.publish(sequence, 0, &Prefix::of(&FIRST), epoch, true, &mut []).expect("a full block");
    pool.complete(STREAM, epoch, false).expect("outstanding");
    sequence
}

fn holding(pool: &Pool<'_>, blocks: u32) -> Sequence {
    let sequence = pool.open().expect("a slot");
    pool.admit(sequence, &Admission::full(blocks, 0)).expect("it fits");
    pool.advance(sequence, blocks).expect("promised");
    sequence
}

/// A hit on the first name, if there is one: how many blocks, and which.
fn hit(pool: &Pool<'_>, sequence: Sequence) -> (u32, u32) {
    let admitted = pool.admit_prefix(sequence, &Admission::full(1, 0), &Prefix::of(&FIRST)).expect("it fits");
    let mut row = [0; 8];
    let held = pool.export_row(sequence, &mut row).expect("its driver asks");
    assert_eq!(held, admitted.hits);
    (admitted.hits, row[0])
}

fn at_rest(pool: &Pool<'_>) {
    pool.validate().expect("the audit");
    assert_eq!(pool.snapshot().quarantined, 0, "nothing was lost on the way");
}

/// I7: an idle block is hit while it is evicted: one of them has it.
#[test]
fn i7_hit_against_evict() {
    holds_and_notices(Some(2), &[Plant::EvictByStore], || {
        let pool = pool(2);
        let (first, mine) = (publisher(&pool), pool.open().expect("a slot"));
        pool.end(first).expect("open");
        let other = thread::spawn(move || pool.evict(1));
        let (hits, _) = hit(&pool, mine);
        let evicted = other.join().expect("no panic").expect("there is headroom");
        assert_eq!(hits + evicted, 1, "I7");
        at_rest(&pool);
    });
}

/// I5: a block is hit while its last holder leaves it with work in flight.
#[test]
fn i5_hit_against_retire() {
    holds_and_notices(Some(2), &[Plant::LastByStore], || {
        let pool = pool(2);
        let (first, mine) = (publisher(&pool), pool.open().expect("a slot"));
        let epoch = pool.submit(STREAM).expect("room");
        let other = thread::spawn(move || pool.end(first).map(drop));
        let (hits, _) = hit(&pool, mine);
        assert_eq!((hits, other.join().expect("no panic")), (1, Ok(())));
        at_rest(&pool);
        pool.complete(STREAM, epoch, false).expect("outstanding");
        at_rest(&pool);
    });
}

/// I7: a retiring block is hit while it is reclaimed: it is idle first, and then hit, or hit first, and not reclaimed, or a miss.
#[test]
fn i7_hit_against_reclaim() {
    holds_and_notices(Some(2), &[Plant::ClaimByStore], || {
        let pool = pool(2);
        let (first, mine) = (publisher(&pool), pool.open().expect("a slot"));
        let epoch = pool.submit(STREAM).expect("room");
        pool.end(first).expect("open");
        let other = thread::spawn(move || pool.complete(STREAM, epoch, false).map(drop));
        hit(&pool, mine);
        assert_eq!(other.join().expect("no panic"), Ok(()));
        at_rest(&pool);
    });
}

/// I6: a block that was named, evicted and named anew is not hit under its old name.
#[test]
fn i6_publish_against_lookup() {
    holds_and_notices(Some(1), &[Plant::JoinAnyWord], || {
        let pool = pool(2);
        let (first, _filler) = (publisher(&pool), holding(&pool, 1));
        let [mine, other] = [pool.open(), pool.open()].map(|slot| slot.expect("a slot"));
        let publisher = thread::spawn(move || {
            pool.end(first)?;
            // The one block that is not held any more, if it is not.
            pool.admit(mine, &Admission::full(1, 0))?;
            pool.advance(mine, 1)?;
            let epoch = pool.submit(STREAM)?;
            pool.publish(mine, 0, &Prefix::of(&SECOND), epoch, true, &mut []).map(drop)
        });
        let hits = pool.admit_prefix(other, &Admission::full(1, 0), &Prefix::of(&FIRST)).map_or(0, |got| got.hits);
        let _ = publisher.join().expect("no panic");
        let found = pool.lookup(Group(0), &Prefix::of(&FIRST), 0).expect("a good question");
        assert!(found.blocks >= hits, "I6: what was hit under the first name still has it");
        at_rest(&pool);
    });
}

/// I7: two evictions meet at the same block.
#[test]
fn i7_evict_against_evict() {
    holds_and_notices(Some(2), &[Plant::EvictByStore], || {
        let pool = pool(3);
        let first = publisher(&pool);
        pool.end(first).expect("open");
        let other = thread::spawn(move || pool.evict(1));
        let mine = pool.evict(1).expect("there is headroom");
        assert_eq!(mine + other.join().expect("no panic").expect("there is headroom"), 1);
        at_rest(&pool);
        assert_eq!(pool.counts().headroom, 3);
    });
}

/// I4: a block gets another holder by a fork while one of two leaves it.
#[test]
fn i4_fork_against_drop() {
    holds_and_notices(Some(2), &[Plant::LeaveByStore], || {
        let pool = pool(3);
        let parent = publisher(&pool);
        let sharer = pool.open().expect("a slot");
        assert_eq!(hit(&pool, sharer).0, 1);
        let child = pool.open().expect("a slot");
        let other = thread::spawn(move || pool.end(sharer).map(drop));
        let forked = pool.fork(parent, &[child], 0, 0).expect("it fits");
        assert_eq!((forked.shared, other.join().expect("no panic")), (1, Ok(())));
        at_rest(&pool);
    });
}

/// I4: the last holder leaves a block, which goes to the idle cache, while it is hit.
#[test]
fn i4_last_drop_against_hit() {
    holds_and_notices(Some(2), &[Plant::LastByStore], || {
        let pool = pool(2);
        let (first, mine) = (publisher(&pool), pool.open().expect("a slot"));
        let other = thread::spawn(move || pool.end(first).map(drop));
        let (hits, _) = hit(&pool, mine);
        assert_eq!((hits, other.join().expect("no panic")), (1, Ok(())));
        at_rest(&pool);
        assert_eq!(pool.counts().committed, 1, "I4");
    });
}

/// I8: one of two sharers of a tail writes while the other leaves: the promise that stood behind it moves once.
#[test]
fn i8_copy_against_drop() {
    holds_and_notices(Some(2), &[Plant::LeaveByStore], || {
        let pool = {
            let config = PoolConfig { epochs: 2, ..PoolConfig::new(4, 2, 3, 4) };
            let memory = Box::leak(vec![Line::ZERO; lines(&config)].into_boxed_slice());
            let table = Box::leak(vec![0; entries(&config)].into_boxed_slice());
            Pool::init(memory, table, &config).expect("a good configuration")
        };
        let parent = pool.open().expect("a slot");
        pool.admit(parent, &Admission::full(1, 1)).expect("it fits");
        pool.advance(parent, 1).expect("promised");
        let child = pool.open().expect("a slot");
        pool.fork(parent, &[child], 1, 0).expect("it fits");
        let other = thread::spawn(move || pool.end(parent).map(drop));
        let advanced = pool.advance(child, 1).expect("I3: promised");
        assert_eq!(other.join().expect("no panic"), Ok(()));
        at_rest(&pool);
        assert_eq!(pool.copy_order(child).expect("driven").is_some(), advanced.copies == 1);
        pool.end(child).expect("open");
        at_rest(&pool);
        assert_eq!(pool.counts().headroom, 4);
    });
}

/// I12: a transfer is completed and revoked at once: one of the two calls ends it.
#[test]
fn i12_complete_against_revoke() {
    holds_and_notices(Some(2), &[Plant::FinishInTwoSteps], || {
        let pool = pool(2);
        let sequence = holding(&pool, 1);
        let transfer = pool.hold(sequence, 0, 1, Access::Write).expect("room");
        pool.end(sequence).expect("open");
        let other = thread::spawn(move || pool.complete_transfer(transfer).is_ok());
        let mine = pool.revoke(transfer).is_ok();
        assert!(mine ^ other.join().expect("no panic"), "I12");
        at_rest(&pool);
        assert_eq!(pool.counts().headroom, 2);
    });
}

/// I7: who looks after a reset finds nothing of before.
#[test]
fn i7_reset_against_lookup() {
    holds_and_notices(Some(2), &[Plant::OldNames], || {
        let pool = pool(2);
        let (first, mine) = (publisher(&pool), pool.open().expect("a slot"));
        pool.end(first).expect("open");
        let done = Arc::new(AtomicU64::new(0));
        let told = done.clone();
        let other = thread::spawn(move || {
            pool.reset(Group(0)).expect("a good group");
            told.store(1, Release);
        });
        let after = done.load(Acquire) == 1;
        let (hits, _) = hit(&pool, mine);
        assert!(!(after && hits > 0), "I7: a reset succeeds at once");
        other.join().expect("no panic");
        at_rest(&pool);
    });
}

/// I3: an eviction on purpose does not take a block from under a promise, not even for a moment.
#[test]
fn i3_evict_against_a_promise() {
    holds_and_notices(Some(2), &[Plant::EvictUncharged], || {
        let pool = pool(1);
        let (first, mine) = (publisher(&pool), pool.open().expect("a slot"));
        pool.end(first).expect("open");
        pool.admit(mine, &Admission::full(1, 0)).expect("it fits");
        let other = thread::spawn(move || pool.evict(1));
        assert_eq!(pool.advance(mine, 1).map(|advanced| advanced.taken), Ok(1), "I3");
        assert!(matches!(other.join().expect("no panic"), Ok(0) | Err(Refusal::WouldBlock { .. })));
        at_rest(&pool);
    });
}

/// I5: two holders with work on different streams leave: the block waits for both.
#[test]
fn i5_two_holders_leave() {
    holds_and_notices(Some(2), &[Plant::OnlyTheLastTag], || {
        let pool = pool(2);
        let (first, mine) = (publisher(&pool), pool.open().expect("a slot"));
        let on = |stream| Admission { streams: StreamSet::one(stream), ..Admission::full(1, 0) };
        pool.admit_prefix(mine, &on(Stream(1)), &Prefix::of(&FIRST)).expect("it fits");
        let epoch = pool.submit(Stream(1)).expect("room");
        let other = thread::spawn(move || pool.end(first).map(drop));
        pool.end(mine).expect("open");
        assert_eq!(other.join().expect("no panic"), Ok(()));
        at_rest(&pool);
        assert_eq!(pool.counts().committed, 1, "I5: stream 1 may still touch it");
        pool.complete(Stream(1), epoch, false).expect("outstanding");
        at_rest(&pool);
        assert_eq!(pool.counts().committed, 0);
    });
}

/// I9: a charge that the group grants and the pool refuses is undone while another sequence asks the group.
#[test]
fn i9_group_undo_against_admit() {
    holds_and_notices(Some(3), &[Plant::UndoUntold], || {
        let config = PoolConfig { groups: 2, ..PoolConfig::new(2, 1, 3, 2) };
        let memory = Box::leak(vec![Line::ZERO; lines(&config)].into_boxed_slice());
        let table = Box::leak(vec![0; entries(&config)].into_boxed_slice());
        let pool = Pool::init(memory, table, &config).expect("a good configuration");
        pool.set_quota(Group(0), 2).expect("a good group");
        let [large, small, foreign] = [pool.open(), pool.open(), pool.open()].map(|slot| slot.expect("a slot"));
        let other = thread::spawn(move || pool.admit(large, &Admission::full(2, 0)).is_ok());
        let _ = pool.admit(foreign, &Admission { group: Group(1), ..Admission::full(1, 0) });
        let before = pool.release_number();
        let mine = pool.admit(small, &Admission::full(1, 0)).is_ok();
        let others = other.join().expect("no panic");
        assert!(mine || others || pool.release_number() != before, "I9: who was refused for the other's sake is told");
        at_rest(&pool);
    });
}
