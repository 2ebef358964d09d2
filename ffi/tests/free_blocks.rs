//! The free list by itself, through the C ABI.

mod common;

use common::{INVALID, both, invalid, no, ok, refused, the, to};
use kvledger_core::{Argument, BlockId, FreeBlocks, Line};
use kvledger_ffi::*;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

const BLOCKS: u32 = 1000;

/// A list of 1,000 blocks, its memory leaked: a view lives as long as the program.
fn list() -> KvlFreeBlocks {
    let bytes: usize = ok(|out| kvl_free_blocks_bytes(BLOCKS, to(out), no()));
    let memory = vec![Line::ZERO; bytes.div_ceil(64)].leak();
    // SAFETY: the memory is ours, as long as said, and given away.
    ok(|out| unsafe { kvl_free_blocks_init(memory.as_mut_ptr().cast(), bytes, BLOCKS, to(out), no()) })
}

/// A cursor that looks at block `id` first.
fn cursor(id: u32) -> KvlFreeCursor {
    ok(|out| kvl_free_cursor_at(id, to(out), no()))
}

/// `N` ids, if so many were found.
fn take<const N: usize>(list: &KvlFreeBlocks, cursor: &mut KvlFreeCursor, hint: u32) -> Option<[BlockId; N]> {
    let mut ids = [BlockId::NULL; N];
    // SAFETY: the array is as long as said.
    let found: u32 =
        ok(|out| unsafe { kvl_free_blocks_take(the(list), both(cursor), hint, ids.as_mut_ptr(), N, to(out), no()) });
    assert!(found <= 1);
    (found == 1).then_some(ids)
}

/// How many of these were not the caller's to give.
fn give(list: &KvlFreeBlocks, cursor: &mut KvlFreeCursor, ids: &[BlockId]) -> u32 {
    // SAFETY: the array is as long as said.
    ok(|out| unsafe { kvl_free_blocks_give(the(list), both(cursor), ids.as_ptr(), ids.len(), to(out), no()) })
}

fn count(list: &KvlFreeBlocks) -> u64 {
    ok(|out| kvl_free_blocks_count(the(list), to(out), no()))
}

fn is_free(list: &KvlFreeBlocks, id: u32) -> u32 {
    ok(|out| kvl_free_blocks_is_free(the(list), id, to(out), no()))
}

#[test]
fn a_batch_is_taken_and_given_back() {
    let (list, mut cursor) = (list(), cursor(0));
    assert_eq!((count(&list), is_free(&list, 1), is_free(&list, BLOCKS), is_free(&list, 0)), (1000, 1, 1, 0));
    let ids: [BlockId; 17] = take(&list, &mut cursor, HINT_OPENS).expect("1,000 are free");
    assert!(ids.iter().all(|id| (1..=BLOCKS).contains(&id.0) && is_free(&list, id.0) == 0));
    assert_eq!(count(&list), 983);
    // What continues the batch is right behind it.
    assert_eq!(take(&list, &mut cursor, ids[16].0), Some([BlockId(ids[16].0 + 1)]));
    assert_eq!(give(&list, &mut cursor, &ids), 0);
    assert_eq!(count(&list), 999);
}

#[test]
fn more_than_there_are_is_an_answer_and_takes_nothing() {
    let (list, mut cursor) = (list(), cursor(500));
    let most: Option<[BlockId; 990]> = take(&list, &mut cursor, HINT_ANY);
    assert!(most.is_some());
    assert_eq!(take::<11>(&list, &mut cursor, HINT_ANY), None);
    assert_eq!(count(&list), 10);
    assert!(take::<10>(&list, &mut cursor, HINT_ANY).is_some());
    assert_eq!((take::<1>(&list, &mut cursor, HINT_ANY), count(&list)), (None, 0));
    assert_eq!(take::<0>(&list, &mut cursor, HINT_ANY), Some([]), "nothing is always there");
}

#[test]
fn a_block_given_twice_is_counted_and_not_given() {
    let (list, mut cursor) = (list(), cursor(1));
    let [first, second]: [BlockId; 2] = take(&list, &mut cursor, HINT_ANY).expect("1,000 are free");
    assert_eq!(give(&list, &mut cursor, &[first, first, BlockId(0), BlockId(BLOCKS + 1)]), 3);
    assert_eq!((count(&list), is_free(&list, first.0), is_free(&list, second.0)), (999, 1, 0));
    assert_eq!(give(&list, &mut cursor, &[first, second]), 1, "the other one was given back");
    assert_eq!(count(&list), 1000);
}

/// A zeroed cursor is one, and so is any other word: what it says is advice.
#[test]
fn any_word_is_a_cursor() {
    let list = list();
    for word in [0, 1, u64::MAX, 1 << 63] {
        // SAFETY: a cursor is one integer.
        let mut cursor: KvlFreeCursor = unsafe { std::mem::transmute(word) };
        let id: [BlockId; 1] = take(&list, &mut cursor, HINT_ANY).expect("one is free");
        assert_eq!(give(&list, &mut cursor, &id), 0);
    }
    assert_eq!(count(&list), 1000);
}

#[test]
fn a_cursor_says_where_to_look_first() {
    let list = list();
    let [id]: [BlockId; 1] = take(&list, &mut cursor(640), HINT_ANY).expect("all are free");
    assert_eq!(id.0 / 64, 10);
}

#[test]
fn what_is_no_list_is_refused() {
    let (pointer, out) = (Argument::Pointer as u32, &mut MaybeUninit::uninit());
    assert_eq!(invalid(refused(|why| kvl_free_blocks_count(no(), to(out), to(why)))), pointer);
    // SAFETY: a view is integers.
    let zeroed: KvlFreeBlocks = unsafe { MaybeUninit::zeroed().assume_init() };
    assert_eq!(invalid(refused(|why| kvl_free_blocks_count(the(&zeroed), to(out), to(why)))), pointer);

    let list = list();
    let mut id = BlockId(1);
    let found = &mut MaybeUninit::uninit();
    // SAFETY: refused for its cursor before the array is written.
    assert_eq!(unsafe { kvl_free_blocks_take(the(&list), no(), 0, &mut id, 1, to(found), no()) }, INVALID);
    // SAFETY: the output would be lost: refused before the array is written.
    assert_eq!(unsafe { kvl_free_blocks_take(the(&list), both(&mut cursor(0)), 0, &mut id, 1, no(), no()) }, INVALID);
    // SAFETY: NULL is checked.
    let null = unsafe { kvl_free_blocks_take(the(&list), both(&mut cursor(0)), 0, null_mut(), 1, to(found), no()) };
    assert_eq!((null, id.0, count(&list)), (INVALID, 1, 1000), "nothing was taken");
}

#[test]
fn memory_that_is_no_memory_is_refused() {
    let mut memory = vec![Line::ZERO; FreeBlocks::bytes(BLOCKS).div_ceil(64)];
    let (start, bytes) = (memory.as_mut_ptr().cast::<c_void>(), size_of_val(&*memory));
    // SAFETY: so many bytes are there.
    unsafe { start.write_bytes(0xAB, bytes) };
    let init = |memory: *mut c_void, bytes, blocks| {
        let list = &mut MaybeUninit::uninit();
        // SAFETY: every call here is refused.
        invalid(refused(|why| unsafe { kvl_free_blocks_init(memory, bytes, blocks, to(list), to(why)) }))
    };
    assert_eq!(init(null_mut(), bytes, BLOCKS), Argument::Pointer as u32);
    assert_eq!(init(start.wrapping_byte_add(8), bytes - 64, BLOCKS), Argument::Memory as u32);
    assert_eq!(init(start, bytes - 1, BLOCKS), Argument::Memory as u32);
    assert_eq!(init(start, bytes, 0), Argument::Blocks as u32);
    assert_eq!(init(start, bytes, 1 << 31), Argument::Blocks as u32);
    // SAFETY: as above; nobody writes any more.
    let left = unsafe { core::slice::from_raw_parts(start.cast::<u8>(), bytes) };
    assert!(left.iter().all(|&byte| byte == 0xAB), "memory that is refused stays as it is");
}
