//! The races of the pool, each named, each with a mistake that must be noticed. What loom cannot see: orders weaker than
//! load buffering allows, and `SeqCst` (it takes it for `AcqRel`; see `sync::store_load_fence`).

use crate::answer::Refusal;
use crate::arena::Line;
use crate::calls::{Admission, Promise, Step};
use crate::config::PoolConfig;
use crate::ids::{Group, Sequence, Stream};
use crate::pool::{Pool, entries, lines};
use crate::race::holds_and_notices;
use crate::sync::{Acquire, AtomicU64, Plant, Release, Stop, stops};
use loom::thread;
use std::boxed::Box;
use std::sync::Arc;
use std::vec;

const STREAM: Stream = Stream(0);

fn config(blocks: u32) -> PoolConfig {
    PoolConfig { epochs: 2, ..PoolConfig::new(blocks, 1, 2, blocks) }
}

fn pool(config: &PoolConfig) -> Pool<'static> {
    let memory = Box::leak(vec![Line::ZERO; lines(config)].into_boxed_slice());
    let table = Box::leak(vec![0; entries(config)].into_boxed_slice());
    Pool::init(memory, table, config).expect("a good configuration")
}

/// Opened, and promised `blocks`.
fn promised(pool: &Pool<'_>, blocks: u32) -> Sequence {
    let sequence = pool.open().expect("a slot");
    pool.admit(sequence, &Admission::full(blocks, 0)).expect("it fits");
    sequence
}

/// Opened, promised `blocks`, and holding them.
fn holding(pool: &Pool<'_>, blocks: u32) -> Sequence {
    let sequence = promised(pool, blocks);
    pool.advance(sequence, blocks).expect("promised");
    sequence
}

fn at_rest(pool: &Pool<'_>) {
    pool.validate().expect("the audit");
    assert_eq!(pool.snapshot().quarantined, 0, "nothing was lost on the way");
}

/// I1: two admissions meet at the last block.
#[test]
fn i1_admit_against_admit_on_the_last_block() {
    holds_and_notices(Some(3), &[Plant::AdmitInTwoSteps], || {
        let pool = pool(&config(1));
        let [first, second] = [pool.open(), pool.open()].map(|sequence| sequence.expect("a slot"));
        let other = thread::spawn(move || pool.admit(first, &Admission::full(1, 0)).is_ok());
        let mine = pool.admit(second, &Admission::full(1, 0)).is_ok();
        assert!(mine ^ other.join().expect("no panic"), "I1: one of them, not both, not none");
        at_rest(&pool);
    });
}

/// I3: a promise is materialized while another sequence's blocks go back, and a third asks for exactly those.
#[test]
fn i3_materialize_against_release() {
    holds_and_notices(Some(2), &[Plant::WordBeforeBits], || {
        let pool = pool(&config(2));
        let leaver = holding(&pool, 1);
        let taker = promised(&pool, 1);
        let other = thread::spawn(move || pool.end(leaver).map(drop));
        assert_eq!(pool.advance(taker, 1).map(|advanced| advanced.taken), Ok(1), "I3");
        // What the leaver has given back in the word is there in the free list, for whoever is admitted now.
        let grown = pool.advance_growing(taker, 1, 0);
        assert!(matches!(grown, Ok(_) | Err(Refusal::WouldBlock { short_by: 1, .. })));
        assert_eq!(other.join().expect("no panic"), Ok(()));
        at_rest(&pool);
    });
}

/// I2: a sequence that grows without a promise is charged before it takes; another is admitted meanwhile.
#[test]
fn i2_growth_against_admit() {
    holds_and_notices(Some(2), &[Plant::TakeBeforeWord], || {
        let pool = pool(&config(2));
        let grower = holding(&pool, 1);
        let asker = pool.open().expect("a slot");
        let other = thread::spawn(move || {
            pool.admit(asker, &Admission::full(1, 0))?;
            pool.advance(asker, 1).map(drop)
        });
        let mine = pool.advance_growing(grower, 1, 0).is_ok();
        assert!(mine ^ other.join().expect("no panic").is_ok(), "one of them gets the last block");
        at_rest(&pool);
    });
}

/// I8: a sequence is cancelled while its driver takes from the promise.
#[test]
fn i8_cancel_against_advance() {
    holds_and_notices(Some(3), &[Plant::CancelInTwoSteps], || {
        let pool = pool(&config(2));
        let sequence = promised(&pool, 2);
        let other = thread::spawn(move || pool.cancel(sequence));
        let advanced = pool.advance(sequence, 1).map(|advanced| advanced.taken);
        assert!(matches!(advanced, Ok(1) | Err(Refusal::Cancelled)));
        assert_eq!(other.join().expect("no panic"), Ok(()));
        let counts = pool.counts();
        assert_eq!((counts.committed, counts.promised_and_safety), (advanced.map_or(0, |taken| taken), 0));
        at_rest(&pool);
    });
}

/// I8: a sequence is cancelled while its driver ends it.
#[test]
fn i8_cancel_against_end() {
    holds_and_notices(Some(3), &[Plant::CancelInTwoSteps], || {
        let pool = pool(&config(1));
        let sequence = promised(&pool, 1);
        let other = thread::spawn(move || pool.cancel(sequence));
        pool.end(sequence).expect("it is open");
        assert!(matches!(other.join().expect("no panic"), Ok(()) | Err(Refusal::Stale)));
        assert_eq!(pool.counts().headroom, 1);
        at_rest(&pool);
    });
}

/// I5: the last holder leaves while the step that reads the block completes: not free before it is over.
#[test]
fn i5_retire_against_complete() {
    holds_and_notices(Some(2), &[Plant::IgnoreTag], || {
        let pool = pool(&config(1));
        let sequence = holding(&pool, 1);
        let step = pool.submit(STREAM).expect("an epoch");
        let device_is_done = Arc::new(AtomicU64::new(0));
        let seen = device_is_done.clone();
        let device = thread::spawn(move || {
            device_is_done.store(1, Release);
            pool.complete(STREAM, step, false).map(drop)
        });
        pool.end(sequence).expect("it is open");
        pool.reclaim(1);
        if pool.counts().committed == 0 {
            assert_eq!(seen.load(Acquire), 1, "I5: free while the step still runs");
        }
        assert_eq!(device.join().expect("no panic"), Ok(()));
        at_rest(&pool);
    });
}

/// I5: the bit arrives in a bucket that the completion has drained already; who pushed it looks again.
#[test]
fn i5_late_push_into_a_drained_bucket() {
    holds_and_notices(Some(3), &[Plant::NoSecondLook, Plant::NoFullFence], || {
        let pool = pool(&config(1));
        let sequence = holding(&pool, 1);
        let step = pool.submit(STREAM).expect("an epoch");
        let device = thread::spawn(move || pool.complete(STREAM, step, false).map(drop));
        pool.end(sequence).expect("it is open");
        assert_eq!(device.join().expect("no panic"), Ok(()));
        assert_eq!(pool.counts().committed, 0, "the block waits for an epoch that is over");
        at_rest(&pool);
    });
}

/// I8: a block has one last holder; who comes second is told.
#[test]
fn i8_revive_less_retire_twice() {
    holds_and_notices(Some(3), &[Plant::RetireTwice], || {
        let pool = pool(&config(1));
        let sequence = holding(&pool, 1);
        let step = pool.submit(STREAM).expect("an epoch");
        let tag = crate::blocks::Tag {
            epoch: step,
            streams: crate::ids::StreamSet::ALL,
            group: Group(0),
            credit: crate::accounts::Credit::NONE,
        };
        let mut row = [0];
        pool.export_row(sequence, &mut row).expect("its driver asks");
        let [id] = row;
        let other = thread::spawn(move || pool.blocks.retire(id, &tag));
        let mine = pool.blocks.retire(id, &tag);
        assert!(mine ^ other.join().expect("no panic"), "one of them retires it");
    });
}

/// I5: a block goes from a bucket to the free list while another sequence takes it from there.
#[test]
fn i5_reclaim_against_allocate() {
    holds_and_notices(Some(2), &[Plant::BitBeforeState], || {
        let pool = pool(&config(2));
        let leaver = holding(&pool, 1);
        let step = pool.submit(STREAM).expect("an epoch");
        pool.end(leaver).expect("it is open");
        pool.streams.complete(STREAM, step).expect("outstanding");
        let asker = promised(&pool, 1);
        let reclaimer = thread::spawn(move || pool.reclaim(1));
        assert_eq!(pool.advance(asker, 1).map(|advanced| advanced.taken), Ok(1), "I3");
        assert_eq!(reclaimer.join().expect("no panic"), 1);
        at_rest(&pool);
    });
}

/// I5: a block whose time is over is reclaimed by the admission that needs it, or by another reclaimer.
#[test]
fn i5_reclaim_against_admit() {
    holds_and_notices(Some(2), &[], || {
        let pool = pool(&config(1));
        let leaver = holding(&pool, 1);
        let step = pool.submit(STREAM).expect("an epoch");
        pool.end(leaver).expect("it is open");
        pool.streams.complete(STREAM, step).expect("outstanding");
        let asker = pool.open().expect("a slot");
        let reclaimer = thread::spawn(move || pool.reclaim(1));
        if pool.admit(asker, &Admission::full(1, 0)).is_ok() {
            assert_eq!(pool.advance(asker, 1).map(|advanced| advanced.taken), Ok(1), "I3");
        }
        reclaimer.join().expect("no panic");
        at_rest(&pool);
    });
}

/// I5: the frontier is computed while an epoch is being opened: it does not pass it, and never goes back.
#[test]
fn i5_frontier_against_submit() {
    holds_and_notices(Some(3), &[Plant::NoAnnouncement], || {
        let pool = pool(&PoolConfig { streams: 2, ..config(1) });
        let submitter = thread::spawn(move || pool.submit(Stream(1)).expect("an epoch"));
        let seen = pool.frontier();
        let opened = submitter.join().expect("no panic");
        assert!(seen < opened, "the frontier has passed an epoch that is outstanding");
        assert!(pool.frontier() >= seen);
        assert_eq!(pool.complete(Stream(1), opened, false), Ok(opened));
    });
}

/// I8: an account is closed while one of its blocks comes back.
#[test]
fn i8_close_account_against_credit() {
    holds_and_notices(Some(2), &[Plant::CancelInTwoSteps], || {
        let pool = pool(&PoolConfig { accounts: 1, ..config(2) });
        let account = pool.open_account(Group(0), 2, 0).expect("it fits");
        let sequence = pool.open().expect("a slot");
        pool.admit(sequence, &Admission { account, ..Admission::full(1, 0) }).expect("the account has promised");
        pool.advance(sequence, 1).expect("promised");
        let step = pool.submit(STREAM).expect("an epoch");
        pool.end(sequence).expect("it is open");
        let device = thread::spawn(move || pool.complete(STREAM, step, false).map(drop));
        pool.close_account(account).expect("nobody draws on it");
        assert_eq!(device.join().expect("no panic"), Ok(()));
        assert_eq!(pool.counts().headroom, 2, "balance and credit have both gone to everybody, once");
        at_rest(&pool);
    });
}

/// I8: an account is closed while a sequence comes to draw on it.
#[test]
fn i8_close_account_against_admit() {
    holds_and_notices(Some(3), &[], || {
        let pool = pool(&PoolConfig { accounts: 1, ..config(1) });
        let account = pool.open_account(Group(0), 1, 0).expect("it fits");
        let sequence = pool.open().expect("a slot");
        let closer = thread::spawn(move || pool.close_account(account));
        let admitted = pool.admit(sequence, &Admission { account, ..Admission::full(1, 0) }).map(drop);
        let closed = closer.join().expect("no panic");
        assert!(matches!((admitted, closed), (Ok(()), Err(Refusal::Busy)) | (Err(Refusal::Stale), Ok(()))));
        at_rest(&pool);
    });
}

/// A batch and a single driver meet at one sequence: one of them gets it, or neither; never both.
#[test]
fn i12_batch_against_driver() {
    holds_and_notices(Some(3), &[Plant::NoBatchFence], || {
        let pool = pool(&config(2));
        let sequence = promised(&pool, 2);
        let other = thread::spawn(move || match pool.advance(sequence, 1) {
            Ok(_) => 1,
            Err(refusal) => {
                assert_eq!(refusal, Refusal::Busy);
                0
            }
        });
        let (mut answers, mut changed) = ([9], [9]);
        let batch = pool.advance_many(&[Step { sequence, tokens: 1 }], &mut answers, &mut changed);
        let mine = batch.expect("the arrays are long enough").advanced;
        assert!(mine == 1 || answers == [Refusal::Busy.code()]);
        let tokens = mine + other.join().expect("no panic");
        let now = pool.sequence_snapshot(sequence).expect("open");
        assert_eq!((now.tokens, now.held, now.promised), (tokens, tokens, 2 - tokens));
        at_rest(&pool);
    });
}

/// I12: while a batch has marked a sequence its driver ends it, and the slot gets a new owner.
#[test]
fn i12_batch_against_end_and_open() {
    holds_and_notices(Some(3), &[Plant::LateMark], || {
        let pool = pool(&PoolConfig { sequences: 1, block_tokens: 2, ..config(2) });
        let old = promised(&pool, 2);
        let owner = thread::spawn(move || {
            if pool.end(old).is_ok() {
                // A slot is left in its block, so that a token more would need no promise.
                let next = promised(&pool, 2);
                pool.advance(next, 1).expect("promised");
                let now = pool.sequence_snapshot(next).expect("open");
                assert_eq!((now.tokens, now.held), (1, 1), "nobody else has its handle");
            }
        });
        let (mut answers, mut changed) = ([9], [9]);
        pool.advance_many(&[Step { sequence: old, tokens: 1 }], &mut answers, &mut changed).expect("long enough");
        owner.join().expect("no panic");
        let left = pool.snapshot();
        assert!(left.tokens <= 1, "{left:?}");
        at_rest(&pool);
    });
}

/// Two batches meet at one sequence: the second goes row by row.
#[test]
fn i12_batch_against_batch() {
    holds_and_notices(Some(2), &[], || {
        let pool = pool(&config(2));
        let sequence = promised(&pool, 2);
        let advance = move || {
            let (mut answers, mut changed) = ([9], [9]);
            let batch = pool.advance_many(&[Step { sequence, tokens: 1 }], &mut answers, &mut changed);
            batch.expect("the arrays are long enough").advanced
        };
        let other = thread::spawn(advance);
        let tokens = advance() + other.join().expect("no panic");
        let now = pool.sequence_snapshot(sequence).expect("open");
        assert_eq!((now.tokens, now.held), (tokens, tokens));
        at_rest(&pool);
    });
}

/// I5: two reclaimers share a word.
#[test]
fn i5_reclaim_against_reclaim() {
    holds_and_notices(Some(2), &[], || {
        let pool = pool(&config(2));
        let leaver = holding(&pool, 2);
        let step = pool.submit(STREAM).expect("an epoch");
        pool.end(leaver).expect("it is open");
        pool.streams.complete(STREAM, step).expect("outstanding");
        let other = thread::spawn(move || pool.reclaim(2));
        let mine = pool.reclaim(2);
        assert_eq!(mine + other.join().expect("no panic"), 2, "each block goes home once");
        at_rest(&pool);
    });
}

/// I1: the margin is raised while a request is admitted.
#[test]
fn i1_safety_change_against_admit() {
    holds_and_notices(Some(3), &[Plant::SafetyInTwoSteps], || {
        let pool = pool(&config(2));
        let sequence = pool.open().expect("a slot");
        let other = thread::spawn(move || pool.set_safety(1));
        let admitted = pool.admit(sequence, &Admission::full(2, 0));
        let raised = other.join().expect("no panic");
        assert!(admitted.is_ok() ^ raised.is_ok(), "I1: both do not fit");
        let snapshot = pool.snapshot();
        assert_eq!(snapshot.safety, u32::from(raised.is_ok()), "R + S is what was promised");
        at_rest(&pool);
    });
}

/// I1: two requests of one group meet at its quota; the pool has room for both.
#[test]
fn i1_quota_against_pool() {
    holds_and_notices(Some(3), &[Plant::QuotaInTwoSteps], || {
        let pool = pool(&config(2));
        pool.set_quota(Group(0), 1).expect("a group");
        let [first, second] = [pool.open(), pool.open()].map(|sequence| sequence.expect("a slot"));
        let other = thread::spawn(move || pool.admit(first, &Admission::full(1, 0)).is_ok());
        let mine = pool.admit(second, &Admission::full(1, 0)).is_ok();
        assert!(mine ^ other.join().expect("no panic"), "one of them");
        let group = pool.group_snapshot(Group(0)).expect("a group");
        assert_eq!((group.used, pool.counts().promised_and_safety), (1, 1), "no group is above its quota");
        at_rest(&pool);
    });
}

/// A reclaimer stops with the blocks of a word in hand, for ever: what is in other words comes back all the same.
#[test]
fn i5_stopped_reclaimer() {
    holds_and_notices(Some(1), &[Plant::ReclaimerHoards], || {
        // Ids 1 to 63 are in the first word, 64 to 66 in the second.
        let pool = pool(&config(66));
        let leaver = holding(&pool, 66);
        let step = pool.submit(STREAM).expect("an epoch");
        pool.end(leaver).expect("it is open");
        pool.streams.complete(STREAM, step).expect("outstanding");
        let stopped = thread::spawn(move || {
            stops::stop_this_thread_at(Stop::ReclaimerHasClaimed);
            pool.reclaim(64);
        });
        let asker = pool.open().expect("a slot");
        let admission = Admission { promise: Promise::Blocks(2), ..Admission::full(2, 0) };
        assert_eq!(
            pool.admit(asker, &admission).map(|admitted| admitted.promised),
            Ok(2),
            "at most 64 are in its hands"
        );
        stopped.join().expect("no panic");
    });
}
