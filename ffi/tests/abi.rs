//! What the C ABI adds to the core: NULL is checked before anything happens, outputs are written on success only,
//! refusals keep their details, and numbers that name nothing are refused.

mod common;

use common::{INVALID, both, invalid, no, ok, ok_sized, refused, sized, the, to};
use kvledger_core::plan::{Budget, Ratio};
use kvledger_core::recorder::{Dump, RingState};
use kvledger_core::{
    Account, Admitted, Advanced, Argument, Batch, Counts, Epoch, Line, PoolConfig, Released, Sequence, Snapshot, Step,
};
use kvledger_ffi::*;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

const BLOCKS: u32 = 40;

/// A pool of 40 blocks of 8 tokens, its memory leaked: a view lives as long as the program.
fn pool() -> KvlPool {
    let config = PoolConfig { accounts: 2, ..PoolConfig::new(BLOCKS, 8, 4, 40) };
    let memory = vec![Line::ZERO; config.bytes().unwrap() / 64].leak();
    let table = vec![0; config.table_entries().unwrap()].leak();
    let mut handle = MaybeUninit::uninit();
    // SAFETY: memory and table are ours, as long as said, and given away.
    let status = unsafe {
        kvl_init(
            memory.as_mut_ptr().cast(),
            size_of_val(memory),
            table.as_mut_ptr(),
            table.len(),
            the(&sized(config)),
            to(&mut handle),
            no(),
        )
    };
    assert_eq!(status, 0);
    // SAFETY: written on success.
    unsafe { handle.assume_init() }
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

fn admitted(pool: &KvlPool, sequence: Sequence, admission: &KvlAdmission) -> Admitted {
    ok(|out| kvl_admit(the(pool), sequence, the(&sized(*admission)), to(out), no()))
}

#[test]
fn a_request_through_the_abi() {
    let pool = pool();
    let sequence = opened(&pool);
    assert_eq!(admitted(&pool, sequence, &full(17, 10)).promised, 4);
    let advanced: Advanced = ok(|out| kvl_advance(the(&pool), sequence, 17, to(out), no()));
    assert_eq!((advanced.taken, advanced.entries), (3, 3));
    assert_eq!((counts(&pool).committed, counts(&pool).promised_and_safety), (3, 1));
    let released: Released = ok(|out| kvl_end(the(&pool), sequence, to(out), no()));
    assert_eq!((released.promised, released.free, released.retiring), (1, 3, 0));
    let fault: KvlFault = ok(|out| kvl_validate(the(&pool), to(out), no()));
    assert_eq!((fault.invariant, fault.what[0]), (0, 0));
}

#[test]
fn null_is_refused_before_anything_happens() {
    let pool = pool();
    let sequence = opened(&pool);
    let pointer = Argument::Pointer as u32;
    // The output would be lost: no blocks may be taken for it.
    assert_eq!(
        invalid(refused(|why| kvl_admit(the(&pool), sequence, the(&sized(full(17, 10))), no(), to(why)))),
        pointer
    );
    assert_eq!(counts(&pool).headroom, BLOCKS);
    admitted(&pool, sequence, &full(17, 10));
    assert_eq!(invalid(refused(|why| kvl_advance(the(&pool), sequence, 17, no(), to(why)))), pointer);
    assert_eq!(counts(&pool).committed, 0);
    assert_eq!(invalid(refused(|why| kvl_end(the(&pool), sequence, no(), to(why)))), pointer);
    assert_eq!(kvl_cancel(the(&pool), sequence, no()), 0, "the handle still lives");

    assert_eq!(kvl_open(no(), to(&mut MaybeUninit::uninit()), no()), INVALID);
    let nothing = &mut MaybeUninit::uninit();
    assert_eq!(kvl_admit(the(&pool), sequence, no(), to(nothing), no()), INVALID);
    assert_eq!(kvl_config_check(no(), no()), INVALID);
    assert_eq!(kvl_budget_take(no(), 0, 1, no()), INVALID);
}

#[test]
fn a_zeroed_handle_is_no_pool() {
    // SAFETY: a handle is integers.
    let zeroed: KvlPool = unsafe { MaybeUninit::zeroed().assume_init() };
    assert_eq!(invalid(refused(|why| kvl_set_safety(the(&zeroed), 0, to(why)))), Argument::Pointer as u32);
}

#[test]
fn outputs_are_written_on_success_only_and_refusals_on_refusal_only() {
    let pool = pool();
    let before = Advanced { taken: 77, entries: 78, copies: 79 };
    let mut advanced = MaybeUninit::new(before);
    let status = kvl_advance(the(&pool), Sequence::default(), 1, to(&mut advanced), no());
    assert_eq!(status, 6, "STALE");
    // SAFETY: it was initialized above.
    assert_eq!(unsafe { advanced.assume_init() }, before);

    let before = KvlRefusal { code: 99, after: 99, ..KvlRefusal::default() };
    let mut details = MaybeUninit::new(before);
    let mut sequence = MaybeUninit::uninit();
    assert_eq!(kvl_open(the(&pool), to(&mut sequence), to(&mut details)), 0);
    // SAFETY: it was initialized above.
    assert_eq!(unsafe { details.assume_init() }, before);
}

#[test]
fn refusals_keep_their_details() {
    let pool = pool();
    let (first, second) = (opened(&pool), opened(&pool));
    admitted(&pool, first, &full(8 * 30, 0));
    let out = &mut MaybeUninit::uninit();
    let why = refused(|why| kvl_admit(the(&pool), second, the(&sized(full(8 * 13, 0))), to(out), to(why)));
    assert_eq!(why, KvlRefusal { code: 1, short_by: 3, ..KvlRefusal::default() });

    let why = refused(|why| kvl_admit(the(&pool), second, the(&sized(full(8 * 41, 0))), to(out), to(why)));
    assert_eq!(why, KvlRefusal { code: 3, needed: 41, ceiling: 40, ..KvlRefusal::default() });

    let advanced = &mut MaybeUninit::uninit();
    let why = refused(|why| kvl_advance(the(&pool), first, 8 * 32, to(advanced), to(why)));
    assert_eq!(why, KvlRefusal { code: 4, short_by: 2, ..KvlRefusal::default() });

    // Blocks that wait for an epoch.
    let _: Advanced = ok(|out| kvl_advance(the(&pool), first, 8 * 30, to(out), no()));
    let epoch: Epoch = ok(|out| kvl_submit(the(&pool), 0, to(out), no()));
    let _: Released = ok(|out| kvl_end(the(&pool), first, to(out), no()));
    let why = refused(|why| kvl_admit(the(&pool), second, the(&sized(full(8 * 13, 0))), to(out), to(why)));
    assert_eq!(why, KvlRefusal { code: 2, after: epoch.0, reclaimable: 30, ..KvlRefusal::default() });
}

#[test]
fn numbers_that_name_nothing_are_refused() {
    let pool = pool();
    let sequence = opened(&pool);
    let out = &mut MaybeUninit::uninit();
    let bad = KvlAdmission { promise: 2, ..full(8, 8) };
    let why = refused(|why| kvl_admit(the(&pool), sequence, the(&sized(bad)), to(out), to(why)));
    assert_eq!(invalid(why), Argument::Promise as u32);
    let contradiction = KvlAdmission { promise_blocks: 3, ..full(8, 8) };
    let why = refused(|why| kvl_admit(the(&pool), sequence, the(&sized(contradiction)), to(out), to(why)));
    assert_eq!(invalid(why), Argument::Promise as u32);

    let geometry: KvlGeometry = ok_sized(|out| kvl_geometry_new(32, 8, 128, 16, 2, to(out), no()));
    let bytes: u64 = ok(|out| kvl_geometry_block_bytes(the(&sized(geometry)), to(out), no()));
    assert_eq!(bytes, 2 << 20);
    for bad in [KvlGeometry { element: 7, ..geometry }, KvlGeometry { scale_grain: 7, ..geometry }] {
        assert_eq!(invalid(refused(|why| kvl_geometry_check(the(&sized(bad)), to(why)))), Argument::Geometry as u32);
    }
    let mut budget: Budget = ok(|out| kvl_budget_new(100, to(out), no()));
    let why = refused(|why| kvl_budget_set_bound(both(&mut budget), 7, 1, to(why)));
    assert_eq!(invalid(why), Argument::Region as u32);
    assert_eq!(kvl_budget_set_bound(both(&mut budget), 6, 100, no()), 0);
    let mass = &mut MaybeUninit::uninit();
    for (trials, probability, argument) in
        [(1, f64::NAN, Argument::Probability), (1, 1.5, Argument::Probability), (u32::MAX, 0.5, Argument::Trials)]
    {
        let why = refused(|why| kvl_binomial_pmf(trials, probability, 0, to(mass), to(why)));
        assert_eq!(invalid(why), argument as u32);
    }
}

/// A batch of two: its sum, the answers, and the changed slots.
fn batch_of(pool: &KvlPool, steps: [Step; 2]) -> (Batch, [u32; 2], [u32; 2]) {
    let (mut answers, mut changed) = ([99; 2], [99; 2]);
    let batch = ok(|out| {
        // SAFETY: the arrays are as long as said.
        unsafe {
            kvl_advance_many(
                the(pool),
                steps.as_ptr(),
                steps.len(),
                answers.as_mut_ptr(),
                changed.as_mut_ptr(),
                to(out),
                no(),
            )
        }
    });
    (batch, answers, changed)
}

#[test]
fn a_batch_answers_row_by_row() {
    let pool = pool();
    let sequences = [opened(&pool), opened(&pool)];
    admitted(&pool, sequences[0], &full(8, 8));
    admitted(&pool, sequences[1], &full(8, 0));
    let steps = sequences.map(|sequence| Step { sequence, tokens: 16 });
    let (batch, answers, changed) = batch_of(&pool, steps);
    assert_eq!((batch.advanced, batch.refused, batch.taken), (1, 1, 2));
    assert_eq!(answers, [0, 4], "the second goes beyond its promise");
    assert_eq!(changed, [sequences[0].slot, 99]);
    assert_eq!(batch.retry_after, Epoch::NONE, "waiting would not help");
}

/// The account's blocks are on their way back to it: the batch says when its refused rows may try again.
#[test]
fn a_batch_says_what_its_rows_wait_for() {
    let pool = pool();
    let account: Account = ok(|out| kvl_open_account(the(&pool), 0, 2, 0, to(out), no()));
    let sequences = [opened(&pool), opened(&pool)];
    for sequence in sequences {
        admitted(&pool, sequence, &KvlAdmission { account, ..full(8, 8) });
    }
    let _: Advanced = ok(|out| kvl_advance(the(&pool), sequences[0], 16, to(out), no()));
    let epoch: Epoch = ok(|out| kvl_submit(the(&pool), 0, to(out), no()));
    let _: Released = ok(|out| kvl_preempt(the(&pool), sequences[0], to(out), no()));
    let steps = sequences.map(|sequence| Step { sequence, tokens: 8 });
    let (batch, answers, _) = batch_of(&pool, steps);
    assert_eq!((batch.refused, answers), (2, [7, 2]), "not admitted any more; and RETRY_AFTER");
    assert_eq!(batch.retry_after, epoch);
    let _: Epoch = ok(|out| kvl_complete(the(&pool), 0, epoch.0, 0, to(out), no()));
    assert_eq!(batch_of(&pool, steps).1, [7, 0]);
}

#[test]
fn arrays_may_be_null_only_when_they_are_empty() {
    let slots = &mut MaybeUninit::uninit();
    // SAFETY: NULL is checked.
    assert_eq!(unsafe { kvl_used_slots(null(), 0, 100, to(slots), no()) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { kvl_used_slots(null(), 1, 100, to(slots), no()) }, INVALID);
    let lengths = [20u32, 35, 10];
    let misaligned = lengths.as_ptr().cast::<u8>().wrapping_add(1).cast();
    // SAFETY: the pointer is refused before it is read.
    assert_eq!(unsafe { kvl_used_slots(misaligned, 1, 100, to(slots), no()) }, INVALID);
    // SAFETY: longer than the address space, so refused before it is read.
    assert_eq!(unsafe { kvl_used_slots(lengths.as_ptr(), usize::MAX, 100, to(slots), no()) }, INVALID);
    // SAFETY: the array is as long as said.
    let waste: Ratio = ok(|out| unsafe { kvl_waste_fraction(lengths.as_ptr(), 3, 100, to(out), no()) });
    assert_eq!((waste.numerator, waste.denominator), (235, 300));
}

#[test]
fn memory_that_is_no_memory_is_refused() {
    let config = PoolConfig::new(BLOCKS, 8, 4, 40);
    let mut memory = vec![Line::ZERO; config.bytes().unwrap() / 64];
    let mut table = vec![0; config.table_entries().unwrap()];
    let (start, bytes, entries) = (memory.as_mut_ptr(), size_of_val(&*memory), table.len());
    let mut init = |memory: *mut Line, bytes, entries| {
        let pool = &mut MaybeUninit::uninit();
        // SAFETY: every call here is refused, or has memory as long as said that outlives the view.
        invalid(refused(|why| unsafe {
            kvl_init(memory.cast(), bytes, table.as_mut_ptr(), entries, the(&sized(config)), to(pool), to(why))
        }))
    };
    assert_eq!(init(null_mut(), bytes, entries), Argument::Pointer as u32);
    assert_eq!(init(start.cast::<u8>().wrapping_add(8).cast(), bytes - 64, entries), Argument::Memory as u32);
    assert_eq!(init(start, bytes - 1, entries), Argument::Memory as u32);
    assert_eq!(init(start, bytes, entries - 1), Argument::Table as u32);
    let pool = &mut MaybeUninit::uninit();
    // SAFETY: the memory is as long as said; there is no pool in it.
    let why = refused(|why| unsafe { kvl_attach(start.cast(), bytes, table.as_mut_ptr(), entries, to(pool), to(why)) });
    assert_eq!(invalid(why), Argument::Header as u32);
}

#[test]
fn a_second_view_sees_the_same_pool() {
    let config = PoolConfig { number: 5, ..PoolConfig::new(BLOCKS, 8, 4, 40) };
    let memory = vec![Line::ZERO; config.bytes().unwrap() / 64].leak();
    let table = vec![0; config.table_entries().unwrap()].leak();
    let (start, bytes) = (memory.as_mut_ptr().cast(), size_of_val(memory));
    let (rows, entries) = (table.as_mut_ptr(), table.len());
    // SAFETY: memory and table are as long as said, and given away.
    let first: KvlPool = ok(|out| unsafe { kvl_init(start, bytes, rows, entries, the(&sized(config)), to(out), no()) });
    // SAFETY: there is a pool there.
    let second: KvlPool = ok(|out| unsafe { kvl_attach(start, bytes, rows, entries, to(out), no()) });
    let stated: PoolConfig = ok_sized(|out| kvl_config(the(&second), to(out), no()));
    assert_eq!(stated, config);
    let sequence = opened(&first);
    admitted(&second, sequence, &full(80, 0));
    assert_eq!(counts(&first), counts(&second));
    assert_eq!(counts(&first).headroom, BLOCKS - 10);
}

#[test]
fn an_account_is_drawn_on_through_the_abi() {
    let pool = pool();
    let account: Account = ok(|out| kvl_open_account(the(&pool), 0, 10, 0, to(out), no()));
    let sequence = opened(&pool);
    let from_account = KvlAdmission { account, ..full(8, 8) };
    assert_eq!(admitted(&pool, sequence, &from_account).promised, 0);
    let _: Advanced = ok(|out| kvl_advance(the(&pool), sequence, 8, to(out), no()));
    let state: kvledger_core::AccountSnapshot =
        ok_sized(|out| kvl_account_snapshot(the(&pool), account, to(out), no()));
    assert_eq!((state.total, state.balance, state.sequences), (10, 9, 1));
    assert_eq!(kvl_close_account(the(&pool), account, no()), 9, "BUSY while drawn on");
}

#[test]
fn a_snapshot_says_whether_its_sums_are_right() {
    let pool = pool();
    let snapshot: Snapshot = ok_sized(|out| kvl_snapshot(the(&pool), to(out), no()));
    let holds = |snapshot: &Snapshot| -> u32 { ok(|out| kvl_snapshot_holds(the(&sized(*snapshot)), to(out), no())) };
    assert_eq!((snapshot.exact, holds(&snapshot)), (1, 1));
    assert_eq!(holds(&Snapshot { held: snapshot.held + 1, ..snapshot }), 0, "the parts of A do not add up");
    assert_eq!(holds(&Snapshot { exact: 0, held: snapshot.held + 1, ..snapshot }), 1, "in a torn one they need not");
    assert_eq!(holds(&Snapshot { exact: 0, promised: BLOCKS + 1, ..snapshot }), 0, "never above N");
    assert_eq!(kvl_snapshot_holds(no(), to(&mut MaybeUninit::uninit()), no()), INVALID);
}

#[test]
fn a_recording_handle_leaves_a_dump() {
    let pool = pool();
    let ring = vec![Line::ZERO; 64].leak();
    let (start, bytes) = (ring.as_mut_ptr().cast::<u8>(), size_of_val(ring));
    let out = &mut MaybeUninit::uninit();
    let mut record = |ring: *mut u8, bytes| {
        // SAFETY: the ring is as long as said, and given away.
        invalid(refused(|why| unsafe { kvl_recording(the(&pool), ring.cast(), bytes, to(out), to(why)) }))
    };
    assert_eq!(record(null_mut(), bytes), Argument::Pointer as u32);
    assert_eq!(record(start.wrapping_add(8), bytes - 64), Argument::Memory as u32);
    assert_eq!(record(start, 14 * 64), Argument::Memory as u32);
    // SAFETY: as above.
    let recording: KvlPool = ok(|out| unsafe { kvl_recording(the(&pool), start.cast(), bytes, to(out), no()) });
    let sequence = opened(&recording);
    admitted(&recording, sequence, &full(17, 10));
    let state: RingState = ok(|out| kvl_ring(the(&recording), to(out), no()));
    assert_eq!((state.capacity, state.lost, state.dump_words), (64 * 8 - 24, 0, 64 * 8));
    let mut words = vec![0; 64 * 8];
    let mut dump = |handle: &KvlPool, words_max| {
        let count = &mut MaybeUninit::uninit();
        // SAFETY: the array is as long as said, or longer.
        let status = unsafe { kvl_dump(the(handle), words.as_mut_ptr(), words_max, to(count), no()) };
        (status, words.clone())
    };
    assert_eq!(dump(&recording, 64 * 8 - 1).0, INVALID);
    assert_eq!(dump(&pool, 64 * 8).0, INVALID, "it has no ring");
    let (status, mut words) = dump(&recording, 64 * 8);
    assert_eq!(status, 0);
    let dump = Dump::read(&mut words).expect("a dump");
    let calls: Vec<_> = dump.newest_first().map(|record| record.expect("whole").call.name()).collect();
    assert_eq!(calls, ["admit", "open"]);
    let state: RingState = ok(|out| kvl_ring(the(&pool), to(out), no()));
    assert_eq!(state, RingState::default());
}
