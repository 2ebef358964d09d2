//! What random operations against the obvious model have found about sharing, each made as short as it gets.

mod common;
use common::{STREAM, ids, pool, run, small};
use kvledger_core::identity::Identity;
use kvledger_core::{
    Access, Admission, Argument, BlockId, Epoch, Event, EventCursor, EventKind, Group, Pool, PoolConfig, Prefix,
    Refusal, Released, Sequence, Window,
};

const NAME: Identity = Identity { low: 1, high: 1 };
const OTHER: Identity = Identity { low: 2, high: 1 };

const fn invalid(argument: Argument) -> Refusal {
    Refusal::Invalid { argument }
}

/// Blocks of one token.
fn ones(blocks: u32) -> Pool<'static> {
    pool(&PoolConfig { transfers: 2, events: 16, ..small(blocks, 1) }.sharing())
}

/// Publish the first block of a sequence, written by work that is over; the block that is found.
fn publish(pool: &Pool<'_>, sequence: Sequence, name: Identity) -> BlockId {
    let (epoch, mut found) = (pool.submit(STREAM).expect("room"), [BlockId::NULL]);
    pool.complete(STREAM, epoch, false).expect("outstanding");
    pool.publish(sequence, 0, &Prefix::of(&[name]), epoch, true, &mut found).expect("a full block");
    found[0]
}

fn admit(pool: &Pool<'_>, admission: &Admission, names: &[Identity]) -> (Sequence, u32) {
    let (sequence, prefix) = (pool.open().expect("a slot"), Prefix { unfinished: true, ..Prefix::of(names) });
    let hits = pool.admit_prefix(sequence, admission, &prefix).expect("it fits").hits;
    pool.validate().expect("the audit");
    (sequence, hits)
}

/// A sequence with this admission, its prompt, and a name for its first block; it has ended: the block.
fn leave_behind(pool: &Pool<'_>, admission: &Admission, name: Identity) -> BlockId {
    let (sequence, _) = admit(pool, admission, &[]);
    pool.advance(sequence, admission.prompt_tokens).expect("promised");
    let block = publish(pool, sequence, name);
    pool.end(sequence).expect("open");
    block
}

fn windowed(tokens: u32) -> Admission {
    let window = Window { tokens, steps_in_flight: 0, chunk_tokens: 1 };
    Admission { window, ..Admission::full(1, 8) }
}

#[test]
fn i8_an_account_is_paid_once_for_a_block_that_is_idle_and_then_gripped() {
    let pool = ones(4);
    let account = pool.open_account(Group(0), 2, 0).expect("room");
    let block = leave_behind(&pool, &Admission { account, ..Admission::full(1, 0) }, NAME);
    let transfer = pool.hold_blocks(&[block], Access::Read).expect("cached");
    pool.validate().expect("the audit");
    pool.complete_transfer(transfer).expect("running");
    pool.validate().expect("the audit");
    assert_eq!(pool.account_snapshot(account).expect("open").balance, 2);
}

#[test]
fn i3_blocks_that_were_not_accepted_come_back_after_a_transfer_had_them() {
    let pool = ones(4);
    let (sequence, _) = admit(&pool, &Admission { speculative_tokens: 1, ..Admission::full(1, 0) }, &[]);
    pool.advance(sequence, 1).expect("promised");
    for _ in 0..3 {
        pool.speculate(sequence, 1).expect("promised, and it has come back");
        let transfer = pool.hold(sequence, 1, 1, Access::Read).expect("room");
        pool.complete_transfer(transfer).expect("running");
        pool.accept(sequence, 0, true).expect("proposed");
        pool.validate().expect("the audit");
    }
}

#[test]
fn what_comes_back_later_is_something_to_wait_for() {
    let pool = ones(4);
    let (sequence, _) = admit(&pool, &Admission { speculative_tokens: 1, ..Admission::full(1, 0) }, &[]);
    pool.advance(sequence, 1).expect("promised");
    pool.speculate(sequence, 1).expect("promised");
    let after = pool.submit(STREAM).expect("room");
    let back = pool.accept(sequence, 0, true).expect("proposed");
    assert_eq!(back, Released { promised: 0, free: 0, retiring: 1, after });
    assert_eq!(pool.advance(sequence, 1), Err(Refusal::RetryAfter { after, reclaimable: 1 }));
    assert_eq!(pool.advance(sequence, 2), Err(Refusal::OverPromise { short_by: 1 }));
}

#[test]
fn the_copy_that_is_said_to_be_found_is_found() {
    let pool = ones(4);
    let [low, first, second] = [(); 3].map(|()| run(&pool, 1, 0));
    let block = |sequence| BlockId(ids(&pool, sequence)[0]);
    assert!(block(low) < block(first) && block(first) < block(second));
    assert_eq!(publish(&pool, first, NAME), block(first));
    assert_eq!(publish(&pool, second, NAME), block(first));
    // Again: it has its name already.
    assert_eq!(publish(&pool, first, NAME), block(first));
    let expected = block(second);
    pool.end(first).expect("open");
    assert_eq!(publish(&pool, low, NAME), expected);
    let (hit, hits) = admit(&pool, &Admission::full(2, 0), &[NAME]);
    assert_eq!((hits, block(hit)), (1, expected));
}

#[test]
fn a_newer_copy_in_the_place_of_an_older_one_is_no_event_and_numbers_have_no_gaps() {
    let pool = ones(4);
    leave_behind(&pool, &Admission::full(1, 0), NAME);
    let [second, third] = [(); 2].map(|()| run(&pool, 1, 0));
    publish(&pool, second, NAME);
    publish(&pool, third, NAME);
    pool.withdraw(second, 0, 1).expect("its own");
    pool.withdraw(third, 0, 1).expect("its own");
    let mut events = [(); 4].map(|()| Event {
        number: 0,
        kind: EventKind::Cleared,
        block: BlockId::NULL,
        group: Group(0),
        identity: NAME,
    });
    let read = pool.events(&mut EventCursor::START.clone(), &mut events);
    assert_eq!((read.count, read.dropped), (2, 0), "{events:?}");
    let told = [events[0], events[1]].map(|event| (event.number, event.kind));
    assert_eq!(told, [(1, EventKind::Stored), (2, EventKind::Removed)]);
}

#[test]
fn i6_a_block_that_is_published_without_tokens_has_not_those_of_before() {
    let pool = pool(&PoolConfig { token_check: 1, ..small(1, 1) }.sharing());
    let by_tokens = Prefix { tokens: &[7], ..Prefix::of(&[NAME]) };
    let found = |prefix| pool.lookup(Group(0), prefix, 0).expect("a good question").blocks;
    let (first, epoch) = (run(&pool, 1, 0), pool.submit(STREAM).expect("room"));
    pool.complete(STREAM, epoch, false).expect("outstanding");
    pool.publish(first, 0, &by_tokens, epoch, false, &mut []).expect("a full block");
    assert_eq!(found(&by_tokens), 1);
    pool.end(first).expect("open");
    publish(&pool, run(&pool, 1, 0), NAME);
    assert_eq!((found(&by_tokens), found(&Prefix::of(&[NAME]))), (0, 1));
}

#[test]
fn an_eviction_is_of_blocks_with_a_live_name_and_a_dead_block_is_no_block_with_contents() {
    let pool = ones(4);
    let of_group = |group| Admission { group, ..Admission::full(1, 0) };
    let dead = leave_behind(&pool, &of_group(Group(0)), NAME);
    leave_behind(&pool, &of_group(Group(1)), NAME);
    pool.reset(Group(0)).expect("a group");
    assert_eq!(pool.hold_blocks(&[dead], Access::Read), Err(invalid(Argument::Block)));
    assert_eq!((pool.snapshot().idle, pool.evict(1), pool.snapshot().idle), (1, Ok(1), 0));
    assert_eq!(pool.evict(1), Ok(0));
}

#[test]
fn i8_a_revived_block_that_was_everybodys_stays_so() {
    let pool = ones(4);
    let account = pool.open_account(Group(0), 2, 0).expect("room");
    let first = run(&pool, 1, 0);
    publish(&pool, first, NAME);
    let epoch = pool.submit(STREAM).expect("room");
    assert_eq!(pool.end(first).expect("open").retiring, 1);
    let (second, hits) = admit(&pool, &Admission { account, ..Admission::full(2, 0) }, &[NAME]);
    assert_eq!(hits, 1);
    pool.complete(STREAM, epoch, false).expect("outstanding");
    assert_eq!(pool.end(second).expect("open").free, 1);
    pool.validate().expect("the audit");
    assert_eq!((pool.account_snapshot(account).expect("open").balance, pool.counts().headroom), (2, 2));
}

#[test]
fn i8_who_draws_on_an_account_takes_no_place_on_a_block_that_comes_back() {
    let pool = ones(16);
    let account = pool.open_account(Group(0), 2, 0).expect("room");
    let (first, _) = admit(&pool, &windowed(4), &[]);
    pool.advance(first, 1).expect("promised");
    publish(&pool, first, NAME);
    let (_, hits) = admit(&pool, &Admission { account, ..Admission::full(2, 0) }, &[NAME]);
    assert_eq!(hits, 0);
    assert_eq!(admit(&pool, &Admission::full(2, 0), &[NAME]).1, 1, "his own account has room for it");
}

#[test]
fn a_block_of_another_account_that_leaves_a_is_counted() {
    let pool = ones(4);
    let account = pool.open_account(Group(0), 2, 0).expect("room");
    let (first, _) = admit(&pool, &Admission { account, ..Admission::full(1, 0) }, &[]);
    pool.advance(first, 1).expect("promised");
    publish(&pool, first, NAME);
    let (second, _) = admit(&pool, &Admission::full(2, 0), &[NAME]);
    assert_eq!(pool.end(first).expect("open").free, 0);
    assert_eq!(pool.end(second).expect("open").free, 1);
}

#[test]
fn a_windowed_hit_on_a_block_that_a_transfer_grips_is_one() {
    let pool = ones(16);
    let block = leave_behind(&pool, &Admission::full(1, 0), NAME);
    let transfer = pool.hold_blocks(&[block], Access::Read).expect("cached");
    let (hit, hits) = admit(&pool, &Admission { prompt_tokens: 2, ..windowed(4) }, &[NAME]);
    assert_eq!(hits, 1);
    pool.complete_transfer(transfer).expect("running");
    pool.validate().expect("the audit");
    pool.end(hit).expect("open");
    assert_eq!(pool.counts().headroom, 16);
}

/// The last token of a prompt that is found whole is computed again, and stands in a block that must be there.
#[test]
fn a_prompt_that_nobody_has_written_is_not_found_whole() {
    let pool = ones(16);
    assert_eq!(admit(&pool, &Admission { prompt_tokens: 2, ..windowed(1) }, &[NAME, OTHER]).1, 0);
    let (sequence, _) = admit(&pool, &Admission { prompt_tokens: 1, ..windowed(1) }, &[NAME]);
    assert_eq!(pool.row(sequence).expect("admitted").entries, 0);
}

#[test]
fn never_fits_is_of_blocks_and_not_of_entries() {
    let pool = pool(&PoolConfig { table_width: 20, ..small(8, 1) }.sharing());
    let (sequence, _) = admit(&pool, &windowed(1), &[]);
    for _ in 0..9 {
        pool.advance(sequence, 1).expect("what is out of the window comes back");
    }
    pool.extend(sequence, 1, 0).expect("it holds one block, whatever its row has had");
}

#[test]
fn a_fork_with_wrong_children_is_refused_before_it_is_looked_whether_there_is_room() {
    let pool = ones(2);
    let (parent, child) = (run(&pool, 1, 0), pool.open().expect("a slot"));
    let before = pool.release_number();
    for children in [[child, child], [parent, child]] {
        assert_eq!(pool.fork(parent, &children, 0, 0), Err(invalid(Argument::Sequence)));
        assert_eq!(pool.fork(parent, &children, 1, 9), Err(invalid(Argument::Sequence)));
    }
    assert_eq!(pool.release_number(), before, "nothing was given back: nothing was charged");
}

#[test]
fn a_prompt_that_was_found_whole_has_no_writable_tail() {
    let pool = pool(&small(4, 2).sharing());
    leave_behind(&pool, &Admission::full(2, 0), NAME);
    for withdrawn in [false, true] {
        let (other, _) = admit(&pool, &Admission::full(2, 0), &[NAME]);
        let (parent, hits) = admit(&pool, &Admission::full(2, 0), &[NAME]);
        let child = pool.open().expect("a slot");
        if withdrawn {
            pool.withdraw(parent, 0, 1).expect("its own");
        }
        let forked = pool.fork(parent, &[child], 0, 0).expect("it fits");
        assert_eq!((hits, forked.shared, forked.promised), (1, 1, 0));
        pool.validate().expect("the audit");
        for sequence in [other, parent, child] {
            pool.end(sequence).expect("open");
        }
    }
}

#[test]
fn a_child_waits_for_who_still_writes_what_its_parent_has_found() {
    let pool = ones(4);
    let (writer, epoch) = (run(&pool, 1, 0), pool.submit(kvledger_core::Stream(1)).expect("room"));
    pool.publish(writer, 0, &Prefix::of(&[NAME]), epoch, true, &mut []).expect("a full block");
    let streams = kvledger_core::StreamSet::one(STREAM);
    let (parent, hits) = admit(&pool, &Admission { streams, ..Admission::full(2, 0) }, &[NAME]);
    let children = [(); 2].map(|()| pool.open().expect("a slot"));
    let forked = pool.fork(parent, &children[..1], 0, 0).expect("it fits");
    assert_eq!((hits, forked.after), (1, epoch));
    pool.complete(kvledger_core::Stream(1), epoch, false).expect("outstanding");
    assert_eq!(pool.fork(parent, &children[1..], 0, 0).expect("it fits").after, Epoch::NONE);
}

#[test]
fn i2_a_row_with_a_null_block_in_its_middle_is_emptied_whole() {
    let pool = pool(&PoolConfig { rows: 2, ..small(4, 1) }.sharing());
    let sequence = run(&pool, 3, 0);
    pool.release(sequence, &[BlockId(ids(&pool, sequence)[0])]).expect("its own");
    let epoch = pool.submit(STREAM).expect("room");
    pool.launch_row(sequence, epoch).expect("submitted");
    pool.preempt(sequence).expect("admitted");
    pool.complete(STREAM, epoch, false).expect("outstanding");
    pool.admit(sequence, &Admission::full(1, 0)).expect("it fits");
    pool.advance(sequence, 1).expect("promised");
    pool.validate().expect("no block of then behind the one of now");
}

#[test]
fn padding_is_what_held_blocks_have_too_many() {
    let pool = pool(&small(4, 4).sharing());
    let sequence = run(&pool, 5, 0);
    assert_eq!(pool.snapshot().padding_tokens, 3);
    pool.release_tokens(sequence, 0, 4).expect("a full block");
    assert_eq!(pool.snapshot().padding_tokens, 3);
}

#[test]
fn what_only_a_transfer_grips_waits_for_no_epoch() {
    let pool = ones(4);
    let (sequence, epoch) = (run(&pool, 1, 0), pool.submit(STREAM).expect("room"));
    pool.publish(sequence, 0, &Prefix::of(&[NAME]), epoch, true, &mut []).expect("a full block");
    let (other, _) = admit(&pool, &Admission::full(2, 0), &[NAME]);
    pool.end(sequence).expect("open");
    pool.complete(STREAM, epoch, false).expect("outstanding");
    pool.hold(other, 0, 1, Access::Read).expect("room");
    let released = pool.end(other).expect("open");
    assert_eq!((released.retiring, released.after), (1, Epoch::NONE));
}
