//! Arrays of C: a pointer and a count.

use crate::answer::NULL;
use core::mem::size_of;
use kvledger_core::Refusal;

/// An array that the call reads. NULL is an empty one if the count says so too.
///
/// # Safety
/// `start` is NULL, or aligned and valid for reading `count` values while the call runs.
pub(crate) unsafe fn array<'a, T>(start: *const T, count: usize) -> Result<&'a [T], Refusal> {
    if count == 0 {
        return Ok(&[]);
    }
    refuse_impossible(start, count)?;
    // SAFETY: not NULL, its size fits, and the rest is the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts(start, count) })
}

/// An array that the call writes.
///
/// # Safety
/// `start` is NULL, or aligned and valid for writing `count` values while the call runs, and nobody else touches them.
pub(crate) unsafe fn array_mut<'a, T>(start: *mut T, count: usize) -> Result<&'a mut [T], Refusal> {
    if count == 0 {
        return Ok(&mut []);
    }
    refuse_impossible(start, count)?;
    // SAFETY: not NULL, its size fits, and the rest is the caller's promise. C's memory is memory that this program did
    // not allocate: reading it is reading whatever is there, and the core only writes to it.
    Ok(unsafe { core::slice::from_raw_parts_mut(start, count) })
}

/// NULL, misaligned, or longer than the address space: no array at all.
fn refuse_impossible<T>(start: *const T, count: usize) -> Result<(), Refusal> {
    let fits = count.checked_mul(size_of::<T>()).is_some_and(|bytes| bytes <= isize::MAX as usize);
    if start.is_null() || !start.is_aligned() || !fits { Err(NULL) } else { Ok(()) }
}
