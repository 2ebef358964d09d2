//! What is shared, through the C ABI: NULL and numbers that name nothing, arrays of any length, and what has no like in
//! the core (a list of pools that is copied, events that are read in pieces, votes that come back from elsewhere).

mod common;

use common::{both, invalid, no, ok, ok_sized, refused, sized, the, to};
use kvledger_core::identity::Identity;
use kvledger_core::{
    Admitted, Advanced, Argument, BlockId, Counts, EventCursor, EventsRead, Line, PoolConfig, Published, Released,
    Sequence, Transfer,
};
use kvledger_ffi::*;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

const BLOCKS: u32 = 64;
const POINTER: u32 = Argument::Pointer as u32;

/// A pool of 64 blocks of 8 tokens that shares prefixes, its memory leaked: a view lives as long as the program.
fn pool(number: u32) -> KvlPool {
    let config = PoolConfig { number, transfers: 2, events: 64, ..PoolConfig::new(BLOCKS, 8, 20, 16).sharing() };
    let memory = vec![Line::ZERO; config.bytes().unwrap() / 64].leak();
    let table = vec![0; config.table_entries().unwrap()].leak();
    let (start, bytes) = (memory.as_mut_ptr().cast(), size_of_val(memory));
    let (rows, entries) = (table.as_mut_ptr(), table.len());
    // SAFETY: memory and table are as long as said, and given away.
    ok(|out| unsafe { kvl_init(start, bytes, rows, entries, the(&sized(config)), to(out), no()) })
}

fn counts(pool: &KvlPool) -> Counts {
    ok(|out| kvl_counts(the(pool), to(out), no()))
}

fn opened(pool: &KvlPool) -> Sequence {
    ok(|out| kvl_open(the(pool), to(out), no()))
}

fn full(prompt: u32, output: u32) -> KvlAdmission {
    ok_sized(|out| kvl_admission_full(prompt, output, to(out), no()))
}

/// An admitted sequence with its whole prompt in blocks.
fn running(pool: &KvlPool, prompt: u32, output: u32) -> Sequence {
    let sequence = opened(pool);
    let _: Admitted = ok(|out| kvl_admit(the(pool), sequence, the(&sized(full(prompt, output))), to(out), no()));
    let _: Advanced = ok(|out| kvl_advance(the(pool), sequence, prompt, to(out), no()));
    sequence
}

fn prefix(names: &[Identity]) -> WithSize<KvlPrefix> {
    sized(ok_sized(|out| kvl_prefix_of(names.as_ptr(), names.len(), to(out), no())))
}

fn names(first: u64, count: u64) -> Vec<Identity> {
    (first..first + count).map(|low| Identity { low, high: 7 }).collect()
}

/// Full blocks of a sequence get names that nobody waits for.
fn published(pool: &KvlPool, sequence: Sequence, names: &[Identity], found: &mut [BlockId]) -> Published {
    let epoch: kvledger_core::Epoch = ok(|out| kvl_submit(the(pool), 0, to(out), no()));
    let prefix = prefix(names);
    let (start, found_max) = (found.as_mut_ptr(), found.len());
    // SAFETY: the arrays are as long as said.
    let stored = ok(|out| unsafe {
        kvl_publish(the(pool), sequence, 0, the(&prefix), epoch.0, 1, start, found_max, to(out), no())
    });
    let _: kvledger_core::Epoch = ok(|out| kvl_complete(the(pool), 0, epoch.0, 0, to(out), no()));
    stored
}

/// Each of these calls has a NULL where there must be none: `INVALID(Pointer)`.
macro_rules! refuse_null {
    ($($call:ident($($argument:expr),*)),* $(,)?) => { $({
        // SAFETY: every array is as long as said, or NULL.
        #[allow(unused_unsafe, reason = "calls without arrays are safe")]
        let why = refused(|why| unsafe { $call($($argument,)* to(why)) });
        assert_eq!(invalid(why), POINTER, "{}", stringify!($call($($argument),*)));
    })* };
}

#[test]
fn a_null_output_is_refused_before_anything_happens() {
    let (pool, host) = (pool(1), pool(2));
    let (fresh, child) = (opened(&pool), opened(&pool));
    let sequence = running(&pool, 17, 8);
    let before = counts(&pool);
    let (all, names) = (the(&pool), names(1, 2));
    let (prefix, admission) = (prefix(&names), sized(full(17, 8)));
    let (prefix, admission) = (the(&prefix), the(&admission));
    let transfer = Transfer::default();
    let mut cursor = EventCursor::START;
    refuse_null!(
        kvl_admit_prefix(all, fresh, admission, prefix, no()),
        kvl_lookup(all, 0, prefix, 0, no()),
        kvl_publish(all, sequence, 0, prefix, 1, 1, null_mut(), 0, no()),
        kvl_withdraw(all, sequence, 0, 1, no()),
        kvl_pin(all, fresh, 0, u64::MAX, prefix, 0, no()),
        kvl_unpin(all, fresh, no()),
        kvl_evict(all, 1, no()),
        kvl_fork(all, sequence, &child, 1, 8, 0, no()),
        kvl_copy_order(all, sequence, no()),
        kvl_speculate(all, sequence, 1, no()),
        kvl_accept(all, sequence, 0, 1, no()),
        kvl_release_blocks(all, sequence, null(), 0, no()),
        kvl_release_tokens(all, sequence, 0, 8, no()),
        kvl_trim(all, sequence, 8, no()),
        kvl_hold(all, sequence, 0, 1, 0, no()),
        kvl_hold_blocks(all, null(), 0, 0, no()),
        kvl_complete_transfer(all, transfer, no()),
        kvl_revoke(all, transfer, no()),
        kvl_offload(all, sequence, the(&host), fresh, admission, null_mut(), 0, no()),
        kvl_events(all, both(&mut cursor), null_mut(), 0, no()),
        kvl_events_now(all, no()),
        kvl_prefix_of(null(), 0, no()),
    );
    assert_eq!(counts(&pool), before);
    assert_eq!(counts(&host).committed, 0);
}

#[test]
fn a_null_input_is_refused() {
    let (pool, host) = (pool(1), pool(2));
    let (fresh, sequence) = (opened(&pool), running(&pool, 17, 8));
    let before = counts(&pool);
    let (prefix, admission) = (prefix(&[]), sized(full(17, 8)));
    let none = &mut MaybeUninit::uninit();
    let got = &mut MaybeUninit::uninit();
    refuse_null!(
        kvl_admit_prefix(no(), fresh, the(&admission), the(&prefix), to(got)),
        kvl_admit_prefix(the(&pool), fresh, no(), the(&prefix), to(got)),
        kvl_admit_prefix(the(&pool), fresh, the(&admission), no(), to(got)),
        kvl_pin(the(&pool), fresh, 0, u64::MAX, no(), 0, to(got)),
        kvl_reset(no(), 0),
        kvl_reset_all(no()),
        kvl_copy_submitted(no(), sequence, 1),
        kvl_quarantine(no(), Transfer::default()),
        kvl_fork(the(&pool), sequence, null(), 1, 8, 0, to(&mut MaybeUninit::uninit())),
        kvl_release_blocks(the(&pool), sequence, null(), 1, to(&mut MaybeUninit::uninit())),
        kvl_hold_blocks(the(&pool), null(), 1, 0, to(&mut MaybeUninit::uninit())),
        kvl_events(the(&pool), no(), null_mut(), 0, to(&mut MaybeUninit::uninit())),
        kvl_offload(the(&pool), sequence, no(), fresh, the(&admission), null_mut(), 0, to(none)),
        kvl_offload(the(&pool), sequence, the(&host), fresh, no(), null_mut(), 0, to(none)),
        kvl_offload(the(&pool), sequence, the(&host), fresh, the(&admission), null_mut(), 3, to(none)),
    );
    assert_eq!(counts(&pool), before);
}

/// A prefix is read when it is used: arrays that are none are refused then, whichever of the two it is.
#[test]
fn a_prefix_with_an_array_that_is_none_is_refused() {
    let pool = pool(1);
    let list = names(1, 2);
    let tokens = [0u32; 16];
    let whole = KvlPrefix { tokens: tokens.as_ptr(), token_count: 16, ..prefix(&list).fields };
    let lookup = |&prefix: &KvlPrefix, out: &mut MaybeUninit<_>, why: &mut MaybeUninit<_>| {
        // SAFETY: an array that is not as long as said is refused before it is read.
        unsafe { kvl_lookup(the(&pool), 0, the(&sized(prefix)), 0, to(out), to(why)) }
    };
    let mut out = MaybeUninit::uninit();
    assert_eq!(lookup(&whole, &mut out, &mut MaybeUninit::uninit()), 0);
    let misaligned = list.as_ptr().cast::<u8>().wrapping_add(1).cast();
    for (wrong, argument) in [
        (KvlPrefix { identities: null(), ..whole }, POINTER),
        (KvlPrefix { identities: misaligned, ..whole }, POINTER),
        (KvlPrefix { count: usize::MAX, ..whole }, POINTER),
        (KvlPrefix { tokens: null(), ..whole }, POINTER),
        (KvlPrefix { token_count: usize::MAX / 2, ..whole }, POINTER),
        (KvlPrefix { token_count: 15, ..whole }, Argument::Tokens as u32),
    ] {
        assert_eq!(invalid(refused(|why| lookup(&wrong, &mut out, why))), argument, "{wrong:?}");
    }
}

#[test]
fn numbers_that_name_nothing_are_refused() {
    let pool = pool(1);
    let sequence = running(&pool, 16, 0);
    let grip = &mut MaybeUninit::uninit();
    for access in [2, 3, u32::MAX] {
        let why = refused(|why| kvl_hold(the(&pool), sequence, 0, 1, access, to(grip), to(why)));
        assert_eq!(invalid(why), Argument::Access as u32);
    }
    let id = BlockId(1);
    // SAFETY: the array has one entry.
    let why = refused(|why| unsafe { kvl_hold_blocks(the(&pool), &id, 1, 9, to(grip), to(why)) });
    assert_eq!(invalid(why), Argument::Access as u32);
    for (config, argument) in [
        (PoolConfig { cache: 4, ..PoolConfig::new(1, 1, 1, 1) }, Argument::Cache),
        (PoolConfig { token_check: 2, ..PoolConfig::new(1, 1, 1, 1) }, Argument::TokenCheck),
        (PoolConfig { transfers: 1025, ..PoolConfig::new(1, 1, 1, 1) }, Argument::Transfers),
        (PoolConfig { events: 3, ..PoolConfig::new(1, 1, 1, 1) }, Argument::Events),
    ] {
        assert_eq!(invalid(refused(|why| kvl_config_check(the(&sized(config)), to(why)))), argument as u32);
    }
}

/// Flags are 0 or not: every number is one of them.
#[test]
fn any_number_but_0_says_yes() {
    let pool = pool(1);
    let sequence = opened(&pool);
    let admission = KvlAdmission { speculative_tokens: 16, ..full(8, 0) };
    let _: Admitted = ok(|out| kvl_admit(the(&pool), sequence, the(&sized(admission)), to(out), no()));
    let _: Advanced = ok(|out| kvl_advance(the(&pool), sequence, 8, to(out), no()));
    for (give_back, free) in [(0, 0), (u32::MAX, 2)] {
        let _: Advanced = ok(|out| kvl_speculate(the(&pool), sequence, 16, to(out), no()));
        let released: Released = ok(|out| kvl_accept(the(&pool), sequence, 0, give_back, to(out), no()));
        assert_eq!(released.free, free);
    }
}

/// `found` has room for all names or for none, and says which block is found.
#[test]
fn who_publishes_is_told_what_is_found() {
    let pool = pool(1);
    let list = names(1, 2);
    let (first, second) = (running(&pool, 16, 0), running(&pool, 16, 0));
    let mut ids = [BlockId::NULL; 2];
    assert_eq!(published(&pool, first, &list, &mut ids), Published { stored: 2, known: 0 });
    let mut again = [BlockId::NULL; 2];
    assert_eq!(published(&pool, second, &list, &mut again), Published { stored: 2, known: 2 });
    assert_eq!(ids, again, "those of the first");
    let prefix = prefix(&list);
    let out = &mut MaybeUninit::uninit();
    // SAFETY: the array is longer than said.
    let why = refused(|why| unsafe {
        kvl_publish(the(&pool), first, 0, the(&prefix), 1, 1, ids.as_mut_ptr(), 1, to(out), to(why))
    });
    assert_eq!(invalid(why), Argument::Output as u32);
}

/// More events than are read at a time come in one call, in order, and no more than there is room for.
#[test]
fn events_come_in_one_piece() {
    let pool = pool(1);
    let list = names(1, 16);
    let mut cursor = EventCursor::START;
    for round in 0..3u64 {
        let sequence = running(&pool, 128, 0);
        let list = names(1 + 100 * round, 16);
        assert_eq!(published(&pool, sequence, &list, &mut []).stored, 16);
        let _: Released = ok(|out| kvl_end(the(&pool), sequence, to(out), no()));
    }
    let read = |cursor: &mut EventCursor, room: usize| {
        let mut events: Vec<MaybeUninit<KvlEvent>> = vec![MaybeUninit::uninit(); room];
        // SAFETY: the array is as long as said; what is in it does not matter.
        let read: EventsRead =
            ok(|out| unsafe { kvl_events(the(&pool), both(cursor), events.as_mut_ptr().cast(), room, to(out), no()) });
        events.truncate(read.count as usize);
        // SAFETY: so many were written.
        let events: Vec<KvlEvent> = events.into_iter().map(|event| unsafe { event.assume_init() }).collect();
        (read, events)
    };
    let (got, events) = read(&mut cursor, 33);
    assert_eq!((got.count, got.dropped, cursor.next), (33, 0, 34));
    assert!(events.iter().zip(1..).all(|(event, number)| event.number == number && event.kind == 1));
    assert_eq!((events[0].identity, events[16].identity.low), (list[0], 101));
    let (got, events) = read(&mut cursor, 33);
    assert_eq!((got.count, events[0].number, cursor.next), (15, 34, 49));
    let (got, _) = read(&mut cursor, 33);
    assert_eq!((got, cursor.next), (EventsRead::default(), 49));

    // A ring of 64: who comes later is told what he missed, with room for nothing too.
    for _ in 0..40 {
        assert_eq!(kvl_reset(the(&pool), 0, no()), 0);
    }
    let mut late = EventCursor { next: 0 };
    let (got, _) = read(&mut late, 0);
    assert_eq!((got.count, got.dropped), (0, 48 + 40 - 64));
    let (got, events) = read(&mut late, 100);
    assert_eq!((got.count, got.dropped, events.last().map(|event| (event.kind, event.number))), (64, 0, Some((3, 88))));
    let (got, _) = read(&mut EventCursor { next: u64::MAX }, 5);
    assert_eq!(got, EventsRead::default());
}

/// Blocks in the middle of a row were released before: those that are left are all offloaded, and all gripped.
#[test]
fn an_offload_grips_what_is_left_of_a_row() {
    let (pool, host) = (pool(1), pool(2));
    let (sequence, copy) = (running(&pool, 24, 0), opened(&host));
    let _: Released = ok(|out| kvl_release_tokens(the(&pool), sequence, 8, 16, to(out), no()));
    let mut pairs = [KvlBlockPair::default(); 2];
    let offloaded: kvledger_core::Offloaded = ok(|out| {
        // SAFETY: the array is as long as said.
        unsafe {
            let (pairs, admission) = (pairs.as_mut_ptr(), full(1, 0));
            kvl_offload(the(&pool), sequence, the(&host), copy, the(&sized(admission)), pairs, 2, to(out), no())
        }
    });
    assert_eq!((offloaded.blocks, counts(&pool).committed, counts(&host).committed), (2, 2, 2));
    assert_ne!(pairs[0].source, pairs[1].source);
    let gripped: u32 = ok(|out| kvl_complete_transfer(the(&pool), offloaded.transfer, to(out), no()));
    assert_eq!((gripped, counts(&pool).committed), (2, 0));
}

/// As many pools as there is room for, and one more.
#[test]
fn a_list_of_pools_has_an_end() {
    let pools: Vec<KvlPool> = (1..=JOINTS_MAX as u32 + 1).map(pool).collect();
    let (asked, no_promise) = (sized(full(8, 8)), sized(KvlAdmission { promise: 5, ..full(8, 8) }));
    let (admission, no_names) = (the(&asked), prefix(&[]));
    let joints: Vec<KvlJoint<'_>> = pools
        .iter()
        .map(|pool| KvlJoint { pool: the(pool), sequence: opened(pool), admission, prefix: the(&no_names) })
        .collect();
    let mut admitted = vec![Admitted::default(); joints.len()];
    let mut together = |joints: &[KvlJoint<'_>], at: &mut MaybeUninit<usize>, why: &mut MaybeUninit<_>| {
        // SAFETY: the arrays are as long as said, or longer.
        unsafe { kvl_admit_together(joints.as_ptr(), joints.len(), admitted.as_mut_ptr(), to(at), to(why)) }
    };
    let (mut at, why) = (MaybeUninit::new(77), &mut MaybeUninit::uninit());
    let nothing = |pools: &[KvlPool]| pools.iter().all(|pool| counts(pool).headroom == BLOCKS);
    assert_eq!(invalid(refused(|why| together(&joints, &mut at, why))), Argument::Count as u32);
    assert_eq!(invalid(refused(|why| together(&[], &mut at, why))), Argument::Count as u32);
    assert!(nothing(&pools));

    // Which one, when it is not the first.
    let mut wrong = joints.clone();
    wrong[4].prefix = no(); // nothing is looked for
    wrong[3].pool = no();
    assert_eq!(invalid(refused(|why| together(&wrong[..5], &mut at, why))), POINTER);
    // SAFETY: written on refusal, and before.
    assert_eq!(unsafe { at.assume_init() }, 3);
    wrong[2].admission = the(&no_promise);
    assert_eq!(invalid(refused(|why| together(&wrong[..5], &mut at, why))), Argument::Promise as u32);
    // SAFETY: as above.
    assert_eq!(unsafe { at.assume_init() }, 2);
    wrong[1].pool = wrong[0].pool;
    assert_eq!(invalid(refused(|why| together(&wrong[..2], &mut at, why))), Argument::Number as u32);
    assert!(nothing(&pools));

    let mut untouched = MaybeUninit::new(77);
    assert_eq!(together(&joints[..JOINTS_MAX], &mut untouched, why), 0);
    // SAFETY: it was initialized above.
    assert_eq!(unsafe { untouched.assume_init() }, 77, "written on refusal only");
    assert!(pools[..JOINTS_MAX].iter().all(|pool| counts(pool).headroom == BLOCKS - 2));
    assert!(admitted[..JOINTS_MAX].iter().all(|got| got.promised == 2));
}
