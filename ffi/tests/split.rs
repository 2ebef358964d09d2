//! Split plans through the C ABI.

mod common;

use common::{INVALID, invalid, no, ok, ok_sized, refused, room, sized, the, to};
use kvledger_core::Argument;
use kvledger_core::split::{Split, SplitBatch, SplitCounts, SplitHeader, SplitLayout};
use kvledger_ffi::*;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

const LENGTHS: [u32; 3] = [1_024, 130, 0];

fn batch() -> KvlSplitBatch {
    KvlSplitBatch {
        lengths: LENGTHS.as_ptr(),
        query_starts: null(),
        query_positions: null(),
        begins: null(),
        ends: null(),
        sequences: 3,
        query_positions_count: 0,
    }
}

fn decode() -> Split {
    ok_sized(|out| kvl_split_decode(2, 16, 3, 4, 1_024, to(out), no()))
}

fn plan(split: &Split, batch: &KvlSplitBatch, words: &mut [u32]) -> SplitHeader {
    let (start, count) = (words.as_mut_ptr(), words.len());
    // SAFETY: the arrays are as long as said.
    ok(|out| unsafe { kvl_split_plan(the(&sized(*split)), the(&sized(*batch)), 7, start, count, to(out), no()) })
}

#[test]
fn a_plan_through_the_abi_is_the_core_s() {
    let split = decode();
    assert_eq!(split, Split::decode(2, 16, 3, 4, 1_024));
    assert_eq!(kvl_split_check(the(&sized(split)), no()), 0);
    let layout: SplitLayout = ok_sized(|out| kvl_split_layout(the(&sized(split)), to(out), no()));
    assert_eq!(Ok(layout), split.layout());
    // SAFETY: the arrays are as long as said.
    let counts: SplitCounts =
        ok_sized(|out| unsafe { kvl_split_count(the(&sized(split)), the(&sized(batch())), to(out), no()) });
    let mut words = vec![1; layout.bytes as usize / 4];
    let header = plan(&split, &batch(), &mut words);
    assert_eq!((header.items, header.parts, header.generation), (counts.items, counts.parts, 7));

    let mut expected = vec![2; words.len()];
    let of_core = split.plan(&SplitBatch { lengths: &LENGTHS, ..SplitBatch::default() }, 7, &mut expected);
    assert_eq!((of_core, words == expected), (Ok(header), true));
    // SAFETY: the array is as long as said.
    let read: SplitHeader =
        ok(|out| unsafe { kvl_split_read(the(&sized(split)), words.as_ptr(), words.len(), to(out), no()) });
    assert_eq!(read, header);
}

#[test]
fn every_array_of_a_batch_arrives() {
    let split: Split = ok_sized(|out| kvl_split_prefill(1, 4, 3, 3, 9, 1_024, to(out), no()));
    assert_eq!(split, Split::prefill(1, 4, 3, 3, 9, 1_024));
    let (query_starts, query_positions) = ([0, 3, 4, 9], [9, 8, 7, 6, 5, 4, 3, 2, 1]);
    let (begins, ends) = ([1, 0, 2], [900, 5, 0]);
    let full = KvlSplitBatch {
        query_starts: query_starts.as_ptr(),
        query_positions: query_positions.as_ptr(),
        query_positions_count: 9,
        begins: begins.as_ptr(),
        ends: ends.as_ptr(),
        ..batch()
    };
    let mut words = vec![0; split.layout().expect("a good shape").bytes as usize / 4];
    let header = plan(&split, &full, &mut words);
    let mut expected = words.clone();
    let of_core = SplitBatch {
        lengths: &LENGTHS,
        query_starts: &query_starts,
        query_positions: &query_positions,
        begins: &begins,
        ends: &ends,
    };
    assert_eq!(split.plan(&of_core, 7, &mut expected), Ok(header));
    assert_eq!(words, expected);
}

#[test]
fn a_fault_is_a_finding() {
    let split = decode();
    let mut words = vec![0; split.layout().expect("a good shape").bytes as usize / 4];
    plan(&split, &batch(), &mut words);
    let validate = |batch: &KvlSplitBatch, words: &[u32]| -> KvlSplitFault {
        // SAFETY: the arrays are as long as said.
        ok(|out| unsafe {
            kvl_split_validate(the(&sized(split)), the(&sized(*batch)), words.as_ptr(), words.len(), to(out), no())
        })
    };
    assert_eq!(validate(&batch(), &words).what[0], 0);
    let fault = validate(&KvlSplitBatch { sequences: 2, ..batch() }, &words);
    assert!(fault.what.starts_with(b"sequences\0"), "{fault:?}");
    assert_eq!((fault.expected, fault.found, fault.reserved), (2, 3, 0));
}

#[test]
fn what_is_missing_or_wrong_is_refused() {
    let (split, pointer) = (decode(), Argument::Pointer as u32);
    let count = |batch: &KvlSplitBatch| {
        let out = &mut room();
        // SAFETY: what is not NULL is as long as said.
        invalid(refused(|why| unsafe { kvl_split_count(the(&sized(split)), the(&sized(*batch)), to(out), to(why)) }))
    };
    assert_eq!(count(&KvlSplitBatch { lengths: null(), ..batch() }), pointer);
    assert_eq!(count(&KvlSplitBatch { begins: [0u8; 16].as_ptr().wrapping_add(1).cast(), ..batch() }), pointer);
    assert_eq!(count(&KvlSplitBatch { query_positions: LENGTHS.as_ptr(), query_positions_count: 1, ..batch() }), 38);

    let header = &mut MaybeUninit::uninit();
    // SAFETY: NULL is checked.
    let status =
        unsafe { kvl_split_plan(the(&sized(split)), the(&sized(batch())), 0, null_mut(), 1_000, to(header), no()) };
    assert_eq!(status, INVALID);
    let mut words = [5; 8];
    // SAFETY: the array is as long as said.
    let short = |why: &mut MaybeUninit<_>| unsafe {
        kvl_split_plan(
            the(&sized(split)),
            the(&sized(batch())),
            0,
            words.as_mut_ptr(),
            8,
            to(&mut MaybeUninit::uninit()),
            to(why),
        )
    };
    assert_eq!(invalid(refused(short)), Argument::Output as u32);
    // SAFETY: the array is as long as said.
    let none = |why: &mut MaybeUninit<_>| unsafe {
        kvl_split_read(the(&sized(split)), words.as_ptr(), 8, to(&mut MaybeUninit::uninit()), to(why))
    };
    assert_eq!(invalid(refused(none)), Argument::Header as u32);
    assert_eq!(words, [5; 8]);
    assert_eq!(kvl_split_check(the(&sized(Split { thread_blocks: 0, ..split })), no()), INVALID);
    assert_eq!(kvl_split_check(no(), no()), INVALID);
}
