//! Pointers from C, which are claims until they were looked at.

use crate::error::Failure;

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
