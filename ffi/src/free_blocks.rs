//! The free list by itself, for who keeps count elsewhere.

use crate::answer::{KvlRefusal, fill, fill_apart};
use crate::array::{array, array_mut, span};
use crate::claim::{In, InOut, Out};
use crate::handle::{KvlFreeBlocks, ask, view};
use crate::memory::memory_lines;
use core::ffi::c_void;
use core::mem::{align_of, size_of, transmute};
use core::ptr::from_mut;
use kvledger_core::{BlockId, FreeBlocks, FreeCursor, Hint};

/// [`Hint::Any`]: the null block, which nothing continues.
pub const HINT_ANY: u32 = BlockId::NULL.0;
/// [`Hint::Opens`]: above every id. All other numbers are ids, for [`Hint::After`].
pub const HINT_OPENS: u32 = u32::MAX;

/// Total, like the hint itself, which is advice: there is no number to refuse.
fn hint_of(number: u32) -> Hint {
    match number {
        HINT_ANY => Hint::Any,
        HINT_OPENS => Hint::Opens,
        id => Hint::After(id),
    }
}

/// [`FreeCursor`] as C holds it: one word, zeroed or written by [`kvl_free_cursor_at`]. Any value of it is a cursor.
#[repr(C)]
pub struct KvlFreeCursor {
    place: u64,
}

// A `FreeCursor` is one atomic word and nothing else, so each may be taken for the other.
const _: () = assert!(size_of::<FreeCursor>() == size_of::<KvlFreeCursor>());
const _: () = assert!(align_of::<FreeCursor>() == align_of::<KvlFreeCursor>());

impl From<FreeCursor> for KvlFreeCursor {
    fn from(cursor: FreeCursor) -> KvlFreeCursor {
        // SAFETY: one word each, as asserted above, and every value of it is an integer.
        unsafe { transmute(cursor) }
    }
}

impl KvlFreeCursor {
    fn cursor(&mut self) -> &mut FreeCursor {
        // SAFETY: one word each, as asserted above, and every value of it is an atomic integer; borrowed like `self`.
        unsafe { &mut *from_mut(self).cast() }
    }
}

/// `FreeBlocks::bytes`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_free_blocks_bytes(blocks: u32, bytes: Out<'_, usize>, refusal: Out<'_, KvlRefusal>) -> u32 {
    fill(bytes, refusal, || Ok(FreeBlocks::bytes(blocks)))
}

/// `FreeBlocks::init`.
///
/// # Safety
/// `memory` is NULL or valid for as many bytes, and the list's alone from now on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_free_blocks_init(
    memory: *mut c_void,
    memory_bytes: usize,
    blocks: u32,
    list: Out<'_, KvlFreeBlocks>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill_apart(list, refusal, &[span(memory.cast::<u8>(), memory_bytes)], &[], || {
        // SAFETY: the caller's promise.
        let memory = unsafe { memory_lines(memory, memory_bytes) }?;
        Ok(KvlFreeBlocks::new(FreeBlocks::init(memory, blocks)?))
    })
}

/// `FreeCursor::at`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_free_cursor_at(id: u32, cursor: Out<'_, KvlFreeCursor>, refusal: Out<'_, KvlRefusal>) -> u32 {
    fill(cursor, refusal, || Ok(FreeCursor::at(BlockId(id)).into()))
}

/// `FreeBlocks::take`. That so many are not there is an answer, not a refusal: the status is 0 and `found` is 0.
///
/// # Safety
/// `ids` is NULL or valid for `count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_free_blocks_take(
    list: In<'_, KvlFreeBlocks>,
    cursor: InOut<'_, KvlFreeCursor>,
    hint: u32,
    ids: *mut BlockId,
    count: usize,
    found: Out<'_, u32>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    let written = [span(ids, count), cursor.range()];
    fill_apart(found, refusal, &written, &[list.range()], || {
        // SAFETY: the caller's promise.
        let ids = unsafe { array_mut(ids, count) }?;
        Ok(view(list)?.take(cursor.given()?.cursor(), hint_of(hint), ids).into())
    })
}

/// `FreeBlocks::give`. Ids that were not the caller's to give are a finding, not a refusal: the status is 0 and
/// `given_twice` says how many.
///
/// # Safety
/// `ids` is NULL or valid for `count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_free_blocks_give(
    list: In<'_, KvlFreeBlocks>,
    cursor: InOut<'_, KvlFreeCursor>,
    ids: *const BlockId,
    count: usize,
    given_twice: Out<'_, u32>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill_apart(given_twice, refusal, &[cursor.range()], &[span(ids, count), list.range()], || {
        // SAFETY: the caller's promise.
        let ids = unsafe { array(ids, count) }?;
        Ok(view(list)?.give(cursor.given()?.cursor(), ids).map_or_else(|twice| twice.blocks, |()| 0))
    })
}

/// `FreeBlocks::count`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_free_blocks_count(
    list: In<'_, KvlFreeBlocks>,
    count: Out<'_, u64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(list, count, refusal, || Ok(view(list)?.count()))
}

/// `FreeBlocks::is_free`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_free_blocks_is_free(
    list: In<'_, KvlFreeBlocks>,
    id: u32,
    is_free: Out<'_, u32>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(list, is_free, refusal, || Ok(view(list)?.is_free(BlockId(id)).into()))
}
