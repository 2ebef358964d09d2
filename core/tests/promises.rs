//! Promises: quotas, watermark, margin, shared accounts, and what a refusal says and leaves behind.

mod common;
use common::{STREAM, ars, pool, run, small};
use kvledger_core::{Account, Admission, Epoch, Group, PoolConfig, Promise, Refusal, Scope, Stream, StreamSet};

const POOL: Scope = Scope::Pool;
const GROUP: Scope = Scope::Group;

fn would_block<T>(short_by: u32, scope: Scope) -> Result<T, Refusal> {
    Err(Refusal::WouldBlock { short_by, scope })
}

#[test]
fn i1_a_margin_is_an_admission_and_lowering_it_a_return() {
    let pool = pool(&small(10, 1));
    run(&pool, 4, 2);
    assert_eq!(pool.set_safety(5), would_block(1, POOL));
    assert_eq!(ars(&pool), (4, 2, 0));
    pool.set_safety(4).expect("it fits");
    assert_eq!(ars(&pool), (4, 2, 4));
    let before = pool.release_number();
    pool.set_safety(1).expect("lowering always works");
    assert_eq!(ars(&pool), (4, 2, 1));
    assert_ne!(pool.release_number(), before);
}

#[test]
fn i1_no_group_is_ever_above_its_quota() {
    let pool = pool(&small(16, 1));
    pool.set_quota(Group(1), 4).expect("a group");
    let of_group = |prompt, output| Admission { group: Group(1), ..Admission::full(prompt, output) };
    let first = pool.open().expect("a slot");
    pool.admit(first, &of_group(2, 1)).expect("three of four");
    let second = pool.open().expect("a slot");
    assert_eq!(pool.admit(second, &of_group(2, 0)).map(drop), would_block(1, GROUP));
    let refused = pool.admit(second, &of_group(5, 0)).map(drop);
    assert_eq!(refused, Err(Refusal::NeverFits { needed: 5, ceiling: 4 }));
    assert_eq!(pool.extend(first, 2, 0), Err(Refusal::NeverFits { needed: 5, ceiling: 4 }));
    // A quota below use admits nothing until use has fallen, and takes nothing away.
    pool.set_quota(Group(1), 1).expect("a group");
    pool.advance(first, 2).expect("I3: promised before");
    assert_eq!(pool.group_snapshot(Group(1)).map(|group| (group.used, group.quota)), Ok((3, 1)));
    assert_eq!(pool.admit(second, &of_group(1, 0)).map(drop), would_block(3, GROUP));
    pool.end(first).expect("it runs");
    pool.admit(second, &of_group(1, 0)).expect("use has fallen");
    ars(&pool);
}

#[test]
fn the_watermark_is_read_in_the_same_decision() {
    let pool = pool(&PoolConfig { safety: 1, ..small(10, 1) });
    let sequence = pool.open().expect("a slot");
    let above = |watermark| Admission { watermark, ..Admission::full(4, 2) };
    assert_eq!(pool.admit(sequence, &above(4)).map(drop), Err(Refusal::NeverFits { needed: 6, ceiling: 5 }));
    run(&pool, 1, 0);
    assert_eq!(pool.admit(sequence, &above(3)).map(drop), would_block(1, POOL));
    pool.admit(sequence, &above(2)).expect("1 + 6 + 1 + 2 = 10");
    assert_eq!(pool.extend(sequence, 1, 2), would_block(1, POOL));
    pool.extend(sequence, 1, 1).expect("1 + 7 + 1 + 1 = 10");
    assert_eq!(pool.advance_growing(sequence, 8, 1), would_block(1, POOL), "one more than promised");
    assert_eq!(pool.advance_growing(sequence, 8, 0).map(|advanced| advanced.taken), Ok(8));
    assert_eq!(ars(&pool), (9, 0, 1));
}

#[test]
fn a_draw_on_the_margin_leaves_the_sum_as_it_is() {
    let pool = pool(&PoolConfig { safety: 3, ..small(10, 1) });
    let _other = run(&pool, 3, 0);
    let sequence = run(&pool, 4, 0);
    assert_eq!(pool.advance(sequence, 1), Err(Refusal::OverPromise { short_by: 1 }));
    assert_eq!(pool.advance_growing(sequence, 1, 0), would_block(1, POOL));
    pool.draw_safety(sequence, 2).expect("three are there");
    assert_eq!(ars(&pool), (7, 2, 1));
    pool.advance(sequence, 2).expect("drawn");
    assert_eq!(ars(&pool), (9, 0, 1));
    assert_eq!(pool.draw_safety(sequence, 2), would_block(1, POOL));
    assert_eq!(pool.draw_safety(sequence, 5), Err(Refusal::NeverFits { needed: 11, ceiling: 10 }));
    assert_eq!(pool.draw_safety(sequence, u32::MAX), Err(Refusal::NeverFits { needed: u32::MAX, ceiling: 10 }));
    pool.set_quota(Group(0), 9).expect("a group");
    assert_eq!(pool.draw_safety(sequence, 1), would_block(1, GROUP), "draws need the quota too");
    assert_eq!(ars(&pool), (9, 0, 1));
}

/// What can never come true is not "later".
#[test]
fn an_impossible_watermark_never_fits() {
    let pool = pool(&PoolConfig { safety: 1, ..small(10, 1) });
    let sequence = run(&pool, 1, 0);
    let never = |needed, ceiling| Err(Refusal::NeverFits { needed, ceiling });
    assert_eq!(pool.extend(sequence, 1, u32::MAX), never(1, 0));
    assert_eq!(pool.extend(sequence, 2, 8), never(2, 1));
    assert_eq!(pool.advance_growing(sequence, 1, u32::MAX).map(drop), never(1, 0));
    assert_eq!(pool.open_account(Group(0), 3, 7).map(drop), never(3, 2));
    let other = pool.open().expect("a slot");
    let admission = Admission { watermark: u32::MAX, ..Admission::full(1, 0) };
    assert_eq!(pool.admit(other, &admission).map(drop), never(1, 0));
}

/// A refused call leaves counts and the release number as they were; a return changes the number.
#[test]
fn i9_a_refusal_leaves_everything_as_it_was() {
    let pool = pool(&small(8, 1));
    let runs = run(&pool, 4, 2);
    let waits = pool.open().expect("a slot");
    let before = pool.snapshot();
    assert!(pool.admit(waits, &Admission::full(3, 0)).is_err());
    assert!(pool.admit(waits, &Admission::full(9, 0)).is_err());
    assert!(pool.extend(runs, 3, 0).is_err());
    assert!(pool.advance(runs, 3).is_err());
    assert!(pool.advance_growing(runs, 5, 0).is_err());
    assert!(pool.materialize(runs, 7).is_err());
    assert!(pool.open_account(Group(0), 3, 0).is_err());
    assert!(pool.set_safety(3).is_err());
    assert_eq!(pool.snapshot(), before);
    for returned in [pool.shrink(runs, 1).map(drop), pool.cancel(runs), pool.end(runs).map(drop)] {
        returned.expect("it runs");
    }
    assert_eq!(pool.release_number(), before.release_number + 3);
}

/// The first epoch that is enough, not the newest; only what the one who was refused would get.
#[test]
fn retry_after_names_the_first_epoch_that_is_enough() {
    let pool = pool(&small(8, 1));
    let on = |stream, group| Admission { streams: StreamSet::one(stream), group, ..Admission::full(2, 0) };
    let mut ended = Vec::new();
    for (stream, group) in [(Stream(0), Group(0)), (Stream(1), Group(1)), (Stream(2), Group(0))] {
        let sequence = pool.open().expect("a slot");
        pool.admit(sequence, &on(stream, group)).expect("it fits");
        pool.advance(sequence, 2).expect("promised");
        ended.push(pool.submit(stream).expect("an epoch"));
        pool.end(sequence).expect("it runs");
    }
    let asks = pool.open().expect("a slot");
    let wanted = |blocks| pool.admit(asks, &Admission::full(blocks, 0)).map(drop);
    let after = |index: usize, reclaimable| Err(Refusal::RetryAfter { after: ended[index], reclaimable });
    assert_eq!(wanted(3), after(0, 2));
    assert_eq!(wanted(5), after(1, 4));
    assert_eq!(wanted(7), after(2, 6));
    // The quota of group 1 gets nothing from group 0's blocks.
    pool.set_quota(Group(1), 3).expect("a group");
    let of_group = pool.admit(pool.open().expect("a slot"), &Admission { group: Group(1), ..Admission::full(3, 0) });
    assert_eq!(of_group.map(drop), after(1, 2));
    // The frontier has to pass the oldest; the blocks of a stream that is done are there before.
    assert_eq!(pool.complete(Stream(1), ended[1], false), Ok(Epoch(0)));
    assert_eq!(wanted(5), after(0, 2));
    wanted(4).expect("two were free and two are back");
    assert_eq!(ars(&pool), (4, 4, 0));
}

/// One promise for many sequences: blocks that leave A return to it; only its total gives them to others.
#[test]
fn i8_a_shared_account_gets_its_blocks_back() {
    let pool = pool(&small(10, 1));
    let account = pool.open_account(Group(1), 6, 0).expect("it fits");
    assert_eq!(ars(&pool), (0, 6, 0));
    let draws = Admission { group: Group(1), account, promise: Promise::Blocks(1), ..Admission::full(1, 3) };
    let [first, second] = [(); 2].map(|()| {
        let sequence = pool.open().expect("a slot");
        assert_eq!(pool.admit(sequence, &draws).expect("promised already").promised, 0);
        sequence
    });
    pool.advance(first, 3).expect("promised");
    pool.advance(second, 2).expect("promised");
    assert_eq!(ars(&pool), (5, 1, 0));
    assert_eq!(pool.advance(second, 2), Err(Refusal::OverPromise { short_by: 1 }));
    assert_eq!(pool.extend(first, 1, 0), Err(Refusal::Invalid { argument: kvledger_core::Argument::Account }));
    assert_eq!(pool.close_account(account), Err(Refusal::Busy));

    // What the first one had is pending until its step is over, and only for this account.
    let step = pool.submit(STREAM).expect("an epoch");
    pool.end(first).expect("it runs");
    assert_eq!(ars(&pool), (5, 1, 0));
    assert_eq!(pool.advance(second, 2), Err(Refusal::RetryAfter { after: step, reclaimable: 3 }));
    assert_eq!(pool.advance(second, 8), Err(Refusal::OverPromise { short_by: 4 }));
    let stranger = pool.open().expect("a slot");
    assert_eq!(pool.admit(stranger, &Admission::full(5, 0)).map(drop), would_block(1, POOL));
    pool.complete(STREAM, step, false).expect("outstanding");
    assert_eq!(ars(&pool), (2, 4, 0));
    pool.advance(second, 2).expect("the credit is there");
    assert_eq!(ars(&pool), (4, 2, 0));

    assert_eq!(pool.set_account_total(account, 3), Err(Refusal::OverPromise { short_by: 1 }));
    pool.set_account_total(account, 4).expect("two of the balance");
    assert_eq!(ars(&pool), (4, 0, 0));
    assert_eq!(pool.set_account_total(account, 11), Err(Refusal::NeverFits { needed: 11, ceiling: 10 }));
    pool.set_account_total(account, 10).expect("an admission of six");
    assert_eq!(pool.group_snapshot(Group(1)).map(|group| group.used), Ok(10));
    pool.end(second).expect("it runs");
    assert_eq!(ars(&pool), (0, 10, 0));
    pool.close_account(account).expect("nobody draws on it");
    assert_eq!(ars(&pool), (0, 0, 0));
}

/// Credits for a closed account only lower A.
#[test]
fn i8_a_credit_that_comes_too_late_goes_to_everybody() {
    let pool = pool(&small(4, 1));
    let account = pool.open_account(Group(0), 4, 0).expect("it fits");
    let sequence = pool.open().expect("a slot");
    pool.admit(sequence, &Admission { account, ..Admission::full(3, 0) }).expect("promised");
    pool.advance(sequence, 3).expect("promised");
    let step = pool.submit(STREAM).expect("an epoch");
    pool.end(sequence).expect("it runs");
    pool.close_account(account).expect("nobody draws on it");
    assert_eq!(ars(&pool), (3, 0, 0));
    let waits = pool.open().expect("a slot");
    let refused = pool.admit(waits, &Admission::full(4, 0)).map(drop);
    assert_eq!(refused, Err(Refusal::RetryAfter { after: step, reclaimable: 3 }));
    let again = pool.open_account(Group(0), 1, 0).expect("one is free");
    assert_ne!(again, account, "a new generation: the old credits are not its own");
    pool.complete(STREAM, step, false).expect("outstanding");
    assert_eq!(ars(&pool), (0, 1, 0));
    assert_eq!(pool.account_snapshot(again).map(|account| account.balance), Ok(1));
}

/// Cancelled in every state; the second time is as good as the first; then only `end`.
#[test]
fn i8_cancel_in_every_state() {
    let pool = pool(&small(8, 1));
    let account = pool.open_account(Group(0), 2, 0).expect("it fits");
    let opened = pool.open().expect("a slot");
    let admitted = pool.open().expect("a slot");
    pool.admit(admitted, &Admission::full(1, 1)).expect("it fits");
    let running = run(&pool, 1, 1);
    let drawing = pool.open().expect("a slot");
    pool.admit(drawing, &Admission { account, ..Admission::full(1, 0) }).expect("promised");
    for sequence in [opened, admitted, running, drawing] {
        pool.cancel(sequence).expect("open");
        pool.cancel(sequence).expect("twice is OK");
        for answer in [
            pool.admit(sequence, &Admission::full(1, 0)).map(drop),
            pool.advance(sequence, 1).map(drop),
            pool.preempt(sequence).map(drop),
            pool.row(sequence).map(drop),
            pool.shrink(sequence, 1).map(drop),
        ] {
            assert_eq!(answer, Err(Refusal::Cancelled));
        }
    }
    assert_eq!(pool.snapshot().cancelled, 4);
    assert_eq!(ars(&pool), (1, 2, 0), "one block held, the account as it was");
    for sequence in [opened, admitted, running, drawing] {
        pool.end(sequence).expect("a cancelled sequence is ended");
        assert_eq!(pool.cancel(sequence), Err(Refusal::Stale));
    }
    assert_eq!((pool.snapshot().cancelled, pool.snapshot().sequences), (0, 0));
    pool.close_account(account).expect("nobody draws on it");
    assert_eq!(ars(&pool), (0, 0, 0));
}

/// Slots, accounts and their generations are reused; full is an answer.
#[test]
fn slots_are_given_out_again() {
    let pool = pool(&PoolConfig { accounts: 1, ..PoolConfig::new(4, 1, 2, 4) });
    let all = [pool.open().expect("a slot"), pool.open().expect("a slot")];
    assert_eq!(pool.open(), Err(Refusal::Full));
    pool.end(all[0]).expect("open");
    let again = pool.open().expect("a slot");
    assert_eq!((again.slot, again.generation), (all[0].slot, all[0].generation + 1));
    let account = pool.open_account(Group(0), 0, 0).expect("an empty one");
    assert_eq!(pool.open_account(Group(0), 0, 0), Err(Refusal::Full));
    assert_ne!(account, Account::NONE);
}

/// Whoever holds a promise finishes, whatever waits beside him; who waits holds nothing.
#[test]
fn i13_a_promise_is_always_enough_to_finish() {
    let pool = pool(&small(32, 1));
    let running: Vec<_> = (0..4).map(|_| run(&pool, 2, 6)).collect();
    let waiting = pool.open().expect("a slot");
    assert_eq!(pool.admit(waiting, &Admission::full(1, 0)).map(drop), would_block(1, POOL));
    assert_eq!(pool.sequence_snapshot(waiting).map(|sequence| sequence.held + sequence.promised), Ok(0));
    for _ in 0..6 {
        for &sequence in &running {
            pool.advance(sequence, 1).expect("I3");
        }
    }
    assert_eq!(ars(&pool), (32, 0, 0));
}
