//! No number panics, whatever state a sequence is in: every call that shares is made with the ends of every range. Built with
//! overflow checks, as tests are; the counts must agree after each.

mod common;

use common::{no, ok, ok_sized, sized, the, to};
use kvledger_core::identity::Identity;
use kvledger_core::{Admitted, Advanced, Epoch, Forked, Line, PoolConfig, Released, Sequence, Transfer, Window};
use kvledger_ffi::*;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

const NUMBERS: [u32; 12] = [0, 1, 2, 7, 8, 9, 64, 65, (1 << 31) - 1, 1 << 31, u32::MAX - 1, u32::MAX];
const NAMES: [Identity; 3] = [Identity { low: 1, high: 1 }, Identity { low: 2, high: 1 }, Identity { low: 3, high: 1 }];

fn pool() -> KvlPool {
    let config = PoolConfig { transfers: 2, events: 16, safety: 1, ..PoolConfig::new(64, 8, 12, 16).sharing() };
    let memory = vec![Line::ZERO; config.bytes().unwrap() / 64].leak();
    let table = vec![0; config.table_entries().unwrap()].leak();
    let (start, bytes) = (memory.as_mut_ptr().cast(), size_of_val(memory));
    let (rows, entries) = (table.as_mut_ptr(), table.len());
    // SAFETY: memory and table are as long as said, and given away.
    ok(|out| unsafe { kvl_init(start, bytes, rows, entries, the(&sized(config)), to(out), no()) })
}

fn full(prompt: u32, output: u32) -> KvlAdmission {
    ok_sized(|out| kvl_admission_full(prompt, output, to(out), no()))
}

fn opened(pool: &KvlPool) -> Sequence {
    ok(|out| kvl_open(the(pool), to(out), no()))
}

fn running(pool: &KvlPool, admission: &KvlAdmission) -> Sequence {
    let sequence = opened(pool);
    let _: Admitted = ok(|out| kvl_admit(the(pool), sequence, the(&sized(*admission)), to(out), no()));
    let _: Advanced = ok(|out| kvl_advance(the(pool), sequence, admission.prompt_tokens, to(out), no()));
    sequence
}

/// A sequence in each state that it can be in, and one that is over.
fn all_states(pool: &KvlPool) -> Vec<Sequence> {
    let windowed = KvlAdmission { window: Window { tokens: 9, steps_in_flight: 1, chunk_tokens: 24 }, ..full(20, 20) };
    let guessing = KvlAdmission { speculative_tokens: 9, ..full(8, 1) };
    let sequences = vec![
        opened(pool),
        running(pool, &full(28, 4)),
        running(pool, &windowed),
        running(pool, &guessing),
        running(pool, &full(11, 9)),
        opened(pool),
        Sequence { generation: u64::MAX, ..Sequence::default() },
        Sequence { slot: u32::MAX, pool: u32::MAX, generation: 1 },
    ];
    let _: Advanced = ok(|out| kvl_speculate(the(pool), sequences[3], 9, to(out), no()));
    // SAFETY: one child.
    let _: Forked = ok(|out| unsafe { kvl_fork(the(pool), sequences[4], &sequences[5], 1, 3, 0, to(out), no()) });
    let _: Advanced = ok(|out| kvl_advance(the(pool), sequences[5], 1, to(out), no()));
    sequences
}

fn agrees(pool: &KvlPool) {
    let fault: KvlFault = ok(|out| kvl_validate(the(pool), to(out), no()));
    assert_eq!((fault.invariant, fault.what), (0, [0; FAULT_TEXT_BYTES]));
}

/// Make every call with one sequence and two numbers; what each answers.
fn try_all(pool: &KvlPool, sequence: Sequence, one: u32, other: u32, prefix: &KvlPrefix) -> [u32; 8] {
    let all = the(pool);
    let released = &mut MaybeUninit::<Released>::uninit();
    let advanced = &mut MaybeUninit::uninit();
    let number = &mut MaybeUninit::uninit();
    let grip = &mut MaybeUninit::uninit();
    let stored = &mut MaybeUninit::uninit();
    let accept = kvl_accept(all, sequence, one, other, to(released), no());
    let speculate = kvl_speculate(all, sequence, one, to(advanced), no());
    // SAFETY: the arrays of the prefix are as long as said, and there are no others.
    let publish = unsafe {
        kvl_publish(all, sequence, one, the(&sized(*prefix)), other.into(), 1, null_mut(), 0, to(stored), no())
    };
    let withdraw = kvl_withdraw(all, sequence, one, other, to(number), no());
    let hold = kvl_hold(all, sequence, one, other, other & 1, to(grip), no());
    if hold == 0 {
        // SAFETY: written on success.
        let grip = unsafe { grip.assume_init() };
        assert_eq!(kvl_revoke(all, grip, to(number), no()), 0);
    }
    let copied = kvl_copy_submitted(all, sequence, one.into(), no());
    let release = kvl_release_tokens(all, sequence, one, other, to(released), no());
    let trim = kvl_trim(all, sequence, one, to(released), no());
    [accept, speculate, publish, withdraw, hold, copied, release, trim]
}

#[test]
fn no_number_panics() {
    let mut worked = [false; 8];
    for one in NUMBERS {
        let pool = pool();
        let sequences = all_states(&pool);
        let _: Epoch = ok(|out| kvl_submit(the(&pool), 0, to(out), no()));
        let prefix: KvlPrefix = ok_sized(|out| kvl_prefix_of(NAMES.as_ptr(), 2, to(out), no()));
        for sequence in sequences {
            for other in NUMBERS {
                let answers = try_all(&pool, sequence, one, other, &prefix);
                worked.iter_mut().zip(answers).for_each(|(worked, answer)| *worked |= answer == 0);
            }
            agrees(&pool);
        }
    }
    assert_eq!(worked, [true; 8], "each is also made with numbers that are right");
}

/// Requests at the ends of every range: refused, or admitted and then ended.
#[test]
fn no_request_panics() {
    let pool = pool();
    let (parent, sequence) = (running(&pool, &full(20, 4)), opened(&pool));
    let prefix: KvlPrefix = ok_sized(|out| kvl_prefix_of(NAMES.as_ptr(), 3, to(out), no()));
    let mut worked = [0; 4];
    let (got, forked) = (&mut MaybeUninit::uninit(), &mut MaybeUninit::uninit());
    for one in NUMBERS {
        for other in NUMBERS {
            let plain = full(8, 8);
            let window = |tokens, steps_in_flight, chunk_tokens| Window { tokens, steps_in_flight, chunk_tokens };
            for admission in [
                full(one, other),
                KvlAdmission { speculative_tokens: one, output_tokens_max: other, ..plain },
                KvlAdmission { window: window(one, other, 1), ..plain },
                KvlAdmission { window: window(one, 1, other), ..plain },
                KvlAdmission { window: window(u32::MAX, one, other), speculative_tokens: other, ..plain },
                KvlAdmission { promise: 1, promise_blocks: one, watermark: other, ..plain },
                KvlAdmission { watermark: one, group: other, ..plain },
            ] {
                let prefix = KvlPrefix { blocks_max: one, unfinished: other, ..prefix };
                let all = the(&pool);
                // SAFETY: the arrays of the prefix are as long as said.
                let admitted = unsafe {
                    kvl_admit_prefix(all, sequence, the(&sized(admission)), the(&sized(prefix)), to(got), no())
                };
                if admitted == 0 {
                    worked[0] += 1;
                    let _: Released = ok(|out| kvl_preempt(the(&pool), sequence, to(out), no()));
                }
                let asked = sized(admission);
                let sized_prefix = sized(prefix);
                let prefix = the(&sized_prefix);
                let joint = KvlJoint { pool: all, sequence, admission: the(&asked), prefix };
                let mut gotten = Admitted::default();
                // SAFETY: as above; one pool.
                if unsafe { kvl_admit_together(&joint, 1, &mut gotten, no(), no()) } == 0 {
                    worked[1] += 1;
                    let _: Released = ok(|out| kvl_preempt(the(&pool), sequence, to(out), no()));
                }
            }
            // SAFETY: one child.
            if unsafe { kvl_fork(the(&pool), parent, &sequence, 1, one, other, to(forked), no()) } == 0 {
                worked[2] += 1;
                let _: Released = ok(|out| kvl_preempt(the(&pool), sequence, to(out), no()));
            }
            // SAFETY: the arrays of the prefix are as long as said.
            if unsafe { kvl_pin(the(&pool), sequence, 0, one.into(), the(&sized(prefix)), other, to(got), no()) } == 0 {
                worked[3] += 1;
                let _: Released = ok(|out| kvl_unpin(the(&pool), sequence, to(out), no()));
            }
            // SAFETY: as above.
            unsafe {
                kvl_lookup(the(&pool), one & 1, the(&sized(prefix)), other, to(&mut MaybeUninit::uninit()), no())
            };
            kvl_reset(the(&pool), one, no());
            kvl_evict(the(&pool), other, to(&mut MaybeUninit::uninit()), no());
            let transfer = Transfer { slot: one, pool: other & 1, generation: u64::from(other) };
            kvl_quarantine(the(&pool), transfer, no());
            kvl_complete_transfer(the(&pool), transfer, to(&mut MaybeUninit::uninit()), no());
        }
        agrees(&pool);
    }
    assert!(worked.iter().all(|&times| times > 0), "{worked:?}: each is also made with numbers that are right");
}
