//! Arrays of C: a pointer and a count.

use crate::answer::POINTER;
use crate::claim::overlap;
use core::mem::size_of;
use kvledger_core::Refusal;

/// An array that the call reads. NULL is an empty one if the count says so too.
///
/// # Safety
/// `start` is NULL, or aligned and valid for reading `count` values while the call runs.
pub(crate) unsafe fn array<'a, T>(start: *const T, count: usize) -> Result<&'a [T], Refusal> {
    refuse_impossible(start, count)?;
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: not NULL, its size fits, and the rest is the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts(start, count) })
}

/// An array that the call writes.
///
/// # Safety
/// `start` is NULL, or aligned and valid for writing `count` values while the call runs, and nobody else touches them.
pub(crate) unsafe fn array_mut<'a, T>(start: *mut T, count: usize) -> Result<&'a mut [T], Refusal> {
    refuse_impossible(start, count)?;
    if count == 0 {
        return Ok(&mut []);
    }
    // SAFETY: not NULL, its size fits, and the rest is the caller's promise. C's memory is memory that this program did
    // not allocate: reading it is reading whatever is there, and the core only writes to it.
    Ok(unsafe { core::slice::from_raw_parts_mut(start, count) })
}

/// Where an array is: an address, and bytes.
pub(crate) type Span = (usize, usize);

/// The span of an array; of none, if there is none.
pub(crate) fn span<T>(start: *const T, count: usize) -> Span {
    (start.addr(), count.saturating_mul(size_of::<T>()))
}

/// Arrays that are written must not share a byte with each other, or with what is read: references to both at once would
/// be undefined behaviour. To be asked before they become slices.
pub(crate) fn apart(written: &[Span], read: &[Span]) -> Result<(), Refusal> {
    for (index, &one) in written.iter().enumerate() {
        let others = written.iter().skip(index + 1).chain(read);
        for &other in others {
            if overlap(one, other) {
                return Err(POINTER);
            }
        }
    }
    Ok(())
}

/// NULL, misaligned, or longer than the address space: no array at all, unless it has no entries.
pub(crate) fn refuse_impossible<T>(start: *const T, count: usize) -> Result<(), Refusal> {
    if count == 0 {
        return Ok(());
    }
    let fits = count.checked_mul(size_of::<T>()).is_some_and(|bytes| bytes <= isize::MAX as usize);
    if start.is_null() || !start.is_aligned() || !fits { Err(POINTER) } else { Ok(()) }
}
