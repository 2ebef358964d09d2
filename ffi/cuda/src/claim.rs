//! Pointers from C, which are claims until they were looked at.

use crate::error::Failure;
use crate::sized::{self, Grows, Unusable, WithSize};

fn usable<T>(name: &'static str, pointer: *const T) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(Failure::Argument { name, must: "something else than NULL" });
    }
    if !pointer.is_aligned() {
        return Err(Failure::Argument { name, must: "aligned for its type" });
    }
    Ok(())
}

/// What C passes to be read.
///
/// # Safety
/// A pointer that is neither NULL nor misaligned points to a `T`.
pub(crate) unsafe fn input<T: Copy>(name: &'static str, pointer: *const T) -> Result<T, Failure> {
    usable(name, pointer)?;
    // SAFETY: neither NULL nor misaligned; the rest is promised.
    Ok(unsafe { pointer.read() })
}

/// Whether an output can be written.
pub(crate) fn output<T>(name: &'static str, pointer: *mut T) -> Result<(), Failure> {
    usable(name, pointer)
}

/// Why a struct that can grow cannot be used.
fn unusable<T>(name: &'static str, pointer: *const T, why: Unusable) -> Failure {
    match (why, usable(name, pointer)) {
        (Unusable::Pointer, Err(failure)) => failure,
        _ => Failure::Size { name },
    }
}

/// What C passes of a struct that can grow.
///
/// # Safety
/// A pointer that is neither NULL nor misaligned points to a struct that has as many bytes as its size says.
pub(crate) unsafe fn sized_input<T: Grows>(name: &'static str, pointer: *const WithSize<T>) -> Result<T, Failure> {
    // SAFETY: promised.
    unsafe { sized::read(pointer) }.map_err(|why| unusable(name, pointer, why))
}

/// Whether a struct that can grow can be written.
///
/// # Safety
/// As [`sized_input`].
pub(crate) unsafe fn sized_output<T: Grows>(name: &'static str, pointer: *mut WithSize<T>) -> Result<(), Failure> {
    // SAFETY: promised.
    unsafe { sized::stated(pointer) }.map_err(|why| unusable(name, pointer, why))?;
    Ok(())
}
