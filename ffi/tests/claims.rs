//! What a pointer from C can be besides right: misaligned, over another one, an array that is none. Each is a named result,
//! and nothing is touched.

mod common;

use common::{INVALID, no, ok, ok_sized, sized, the, to};
use kvledger_core::identity::Identity;
use kvledger_core::{Admitted, Argument, Batch, BlockId, Line, PoolConfig, Sequence, Step};
use kvledger_ffi::*;
use std::mem::MaybeUninit;

const POINTER: u32 = Argument::Pointer as u32;

fn pool() -> KvlPool {
    let config = PoolConfig { transfers: 2, events: 64, ..PoolConfig::new(64, 8, 20, 16).sharing() };
    let memory = vec![Line::ZERO; config.bytes().unwrap() / 64].leak();
    let table = vec![0; config.table_entries().unwrap()].leak();
    let (start, bytes) = (memory.as_mut_ptr().cast(), size_of_val(memory));
    let (rows, entries) = (table.as_mut_ptr(), table.len());
    // SAFETY: memory and table are as long as said, and given away.
    ok(|out| unsafe { kvl_init(start, bytes, rows, entries, the(&sized(config)), to(out), no()) })
}

/// Room for a `T` that is never aligned for it.
struct Askew([u64; 1024]);

impl Askew {
    fn pointer<T>(&mut self) -> *mut T {
        assert!(align_of::<T>() > 1 && size_of::<T>() < 8 * 1023);
        self.0.as_mut_ptr().cast::<u8>().wrapping_add(1).cast()
    }
}

/// Calls with one claim that cannot hold; each says so in the refusal, if there is one.
fn refused(what: &str, call: impl FnOnce(Out<'_, KvlRefusal>) -> u32) {
    let mut details = MaybeUninit::uninit();
    assert_eq!(call(to(&mut details)), INVALID, "{what}");
    // SAFETY: written on refusal.
    let details: KvlRefusal = unsafe { details.assume_init() };
    assert_eq!((details.code, details.argument), (INVALID, POINTER), "{what}");
}

#[test]
fn misaligned_pointers_are_refused() {
    let pool = pool();
    let mut askew = Askew([0; 1024]);
    // SAFETY: misaligned, so it is never followed.
    let view = unsafe { In::claimed(askew.pointer::<KvlPool>()) };
    refused("pool", |why| kvl_cancel(view, Sequence::default(), why));
    // SAFETY: as above.
    let out = unsafe { Out::claimed(askew.pointer::<Sequence>()) };
    refused("output", |why| kvl_open(the(&pool), out, why));
    // SAFETY: as above.
    let config = unsafe { InSized::claimed(askew.pointer::<WithSize<PoolConfig>>()) };
    refused("input", |why| kvl_config_check(config, why));
    let (array, mut batch) = (askew.pointer::<Step>(), MaybeUninit::uninit());
    let (mut answers, mut changed) = ([0u32; 4], [0u32; 4]);
    // SAFETY: as above.
    refused("array", |why| unsafe {
        kvl_advance_many(the(&pool), array, 4, answers.as_mut_ptr(), changed.as_mut_ptr(), to(&mut batch), why)
    });
    // SAFETY: as above. A refusal that cannot be written is not, and the status says the same.
    let why = unsafe { Out::claimed(askew.pointer::<KvlRefusal>()) };
    assert_eq!(kvl_config_check(no(), why), INVALID);
    assert_eq!(askew.0, [0; 1024]);
}

/// A call that has nowhere to say why it is refused is not made either.
#[test]
fn a_misaligned_refusal_is_refused() {
    let (pool, mut askew, mut out) = (pool(), Askew([0; 1024]), MaybeUninit::uninit());
    // SAFETY: misaligned, so it is never followed.
    let mut why = || unsafe { Out::claimed(askew.pointer::<KvlRefusal>()) };
    assert_eq!(kvl_open(the(&pool), to(&mut out), why()), INVALID);
    assert_eq!(kvl_reset_all(the(&pool), why()), INVALID);
    let sequence = ok(|out| kvl_open(the(&pool), to(out), no()));
    assert_eq!(sequence.slot, 0, "the first that was opened");
}

/// Nothing was opened by the calls above that were refused for their output.
#[test]
fn a_call_without_a_place_for_its_answer_does_nothing() {
    let pool = pool();
    assert_eq!(kvl_open(the(&pool), no(), no()), INVALID);
    let snapshot: kvledger_core::Snapshot = ok_sized(|out| kvl_snapshot(the(&pool), to(out), no()));
    assert_eq!(snapshot.sequences, 0);
}

#[test]
fn outputs_over_each_other_are_refused() {
    let pool = pool();
    let mut words = [7u64; 64];
    let start = words.as_mut_ptr();
    // SAFETY: aligned room for it, which is what the call looks at; it follows neither of the two.
    let out = unsafe { Out::claimed(start.cast::<Admitted>()) };
    // SAFETY: as above.
    let why = unsafe { Out::claimed(start.cast::<KvlRefusal>()) };
    assert_eq!(kvl_admit(the(&pool), Sequence::default(), the(&sized(admission())), out, why), INVALID);
    assert_eq!(words, [7; 64], "neither is written");

    let mut numbers = [9u32; 32];
    let (answers, changed) = (numbers.as_mut_ptr(), numbers.as_mut_ptr().wrapping_add(3));
    let steps = [Step { sequence: Sequence::default(), tokens: 1 }; 4];
    let mut batch: MaybeUninit<Batch> = MaybeUninit::uninit();
    // SAFETY: arrays of this length are there.
    refused("answers over changed", |why| unsafe {
        kvl_advance_many(the(&pool), steps.as_ptr(), 4, answers, changed, to(&mut batch), why)
    });
    let mut sequences = [Sequence::default(); 8];
    let over = sequences.as_mut_ptr().cast::<u32>();
    let (mut indices, mut count) = ([0u32; 8], MaybeUninit::uninit());
    // SAFETY: as above.
    refused("input over output", |why| unsafe {
        let (indices, last) = (indices.as_mut_ptr(), numbers.as_mut_ptr());
        kvl_export_csr(the(&pool), over.cast(), 8, over, indices, 8, last, to(&mut count), why)
    });
    assert_eq!((numbers, sequences), ([9; 32], [Sequence::default(); 8]));
}

/// What joints point to is not written while it is read.
#[test]
fn answers_over_the_names_of_a_joint_are_refused() {
    let (pool, asked) = (pool(), sized(admission()));
    let sequence = ok(|out| kvl_open(the(&pool), to(out), no()));
    let mut words = [1u64; 16];
    let start = words.as_mut_ptr();
    // SAFETY: aligned room for two names.
    let prefix = sized(ok_sized(|out| kvl_prefix_of(start.wrapping_add(2).cast(), 2, to(out), no())));
    let joint = KvlJoint { pool: the(&pool), sequence, admission: the(&asked), prefix: the(&prefix) };
    let mut at = MaybeUninit::uninit();
    // SAFETY: there is room for one answer.
    refused("answers over names", |why| unsafe { kvl_admit_together(&joint, 1, start.cast(), to(&mut at), why) });
    // SAFETY: written on refusal.
    assert_eq!((unsafe { at.assume_init() }, words), (0, [1; 16]));

    // Nor the structs themselves.
    let (mut asked, mut prefix) = (asked, prefix);
    for place in [(&raw mut asked).cast::<Admitted>(), (&raw mut prefix).cast::<Admitted>()] {
        let joint = KvlJoint { pool: the(&pool), sequence, admission: the(&asked), prefix: the(&prefix) };
        // SAFETY: there is room for one answer, which is not written.
        refused("answers over a struct", |why| unsafe { kvl_admit_together(&joint, 1, place, to(&mut at), why) });
    }
}

/// The view of a pool is what the next call follows: nothing is written over it, not even why.
#[test]
fn nothing_is_written_over_a_view() {
    let pool = Box::new(pool());
    let sequence = ok(|out| kvl_open(the(&*pool), to(out), no()));
    let at = (&raw const *pool).cast_mut();
    // Somewhere in the middle: the magic would stay.
    let inside = at.cast::<u8>().wrapping_add(64);
    // SAFETY: aligned room for it, which nothing is written to.
    let out = unsafe { Out::claimed(inside.cast::<Sequence>()) };
    // SAFETY: as above.
    let why = unsafe { Out::claimed(inside.cast::<KvlRefusal>()) };
    refused("an output", |why| kvl_open(the(&*pool), out, why));
    assert_eq!(kvl_cancel(the(&*pool), Sequence::default(), why), INVALID);

    let (asked, names) = (sized(admission()), [Identity { low: 1, high: 1 }]);
    // SAFETY: one name is there.
    let prefix = sized(ok_sized(|out| kvl_prefix_of(names.as_ptr(), 1, to(out), no())));
    let joint = KvlJoint { pool: the(&*pool), sequence, admission: the(&asked), prefix: the(&prefix) };
    let (mut admitted, mut at) = (MaybeUninit::<Admitted>::uninit(), MaybeUninit::uninit());
    let answers = admitted.as_mut_ptr();
    // SAFETY: one joint, and nothing is written.
    refused("answers", |why| unsafe { kvl_admit_together(&joint, 1, inside.cast(), to(&mut at), why) });
    // SAFETY: aligned room for it, or misaligned; neither is followed.
    let places = [0, 1].map(|off| unsafe { Out::claimed(inside.wrapping_add(off).cast::<usize>()) });
    for place in places {
        // SAFETY: as above.
        assert_eq!(unsafe { kvl_admit_together(&joint, 1, answers, place, no()) }, INVALID);
    }
    // SAFETY: as above.
    let why = unsafe { Out::claimed(inside.cast::<KvlRefusal>()) };
    // SAFETY: as above.
    assert_eq!(unsafe { kvl_admit_together(&joint, 1, answers, no(), why) }, INVALID);
    let snapshot: kvledger_core::Snapshot = ok_sized(|out| kvl_snapshot(the(&*pool), to(out), no()));
    assert_eq!((snapshot.sequences, snapshot.blocks), (1, 64));
}

#[test]
fn memory_over_the_table_is_refused() {
    let config = PoolConfig::new(8, 16, 2, 8);
    let mut memory = vec![Line::ZERO; config.bytes().unwrap() / 64];
    let (start, bytes) = (memory.as_mut_ptr(), size_of_val(&memory[..]));
    let mut out = MaybeUninit::uninit();
    // SAFETY: the memory is as long as said.
    refused("table in memory", |why| unsafe {
        kvl_init(start.cast(), bytes, start.cast(), 16, the(&sized(config)), to(&mut out), why)
    });
}

#[test]
fn arrays_beyond_the_address_space_are_refused() {
    let pool = pool();
    let (mut ids, mut transfer) = ([BlockId(1)], MaybeUninit::uninit());
    for count in [usize::MAX, isize::MAX as usize / 4 + 1] {
        // SAFETY: refused before anything is read.
        refused("count", |why| unsafe {
            kvl_hold_blocks(the(&pool), ids.as_mut_ptr(), count, 0, to(&mut transfer), why)
        });
    }
}

fn admission() -> KvlAdmission {
    ok_sized(|out| kvl_admission_full(8, 8, to(out), no()))
}
