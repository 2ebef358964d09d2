//! How the tests of the C ABI look at an answer.
#![allow(dead_code, reason = "each test uses some of it")]

use kvledger_ffi::{In, InOut, KvlRefusal, Out};
use std::mem::MaybeUninit;

/// The status `INVALID`.
pub const INVALID: u32 = 7;

/// The output of a call that must succeed.
pub fn ok<T>(call: impl FnOnce(&mut MaybeUninit<T>) -> u32) -> T {
    let mut output = MaybeUninit::uninit();
    assert_eq!(call(&mut output), 0);
    // SAFETY: written on success.
    unsafe { output.assume_init() }
}

/// The details of a call that must be refused.
pub fn refused(call: impl FnOnce(&mut MaybeUninit<KvlRefusal>) -> u32) -> KvlRefusal {
    let mut details = MaybeUninit::uninit();
    let status = call(&mut details);
    assert_ne!(status, 0);
    // SAFETY: written on refusal.
    let details = unsafe { details.assume_init() };
    assert_eq!(details.code, status);
    details
}

/// The argument of a call that must be `INVALID`.
pub fn invalid(details: KvlRefusal) -> u32 {
    assert_eq!(details.code, INVALID);
    details.argument
}

/// An argument that is read, as C passes it.
pub fn the<T>(value: &T) -> In<'_, T> {
    In::of(value)
}

/// An argument that is written.
pub fn to<T>(value: &mut MaybeUninit<T>) -> Out<'_, T> {
    Out::of(value)
}

/// An argument that is read and written.
pub fn both<T>(value: &mut T) -> InOut<'_, T> {
    InOut::of(value)
}

/// NULL.
pub fn no<N: Missing>() -> N {
    N::MISSING
}

/// Arguments that may be NULL.
pub trait Missing {
    /// NULL.
    const MISSING: Self;
}

impl<T> Missing for In<'_, T> {
    const MISSING: Self = In::NONE;
}

impl<T> Missing for Out<'_, T> {
    const MISSING: Self = Out::NONE;
}

impl<T> Missing for InOut<'_, T> {
    const MISSING: Self = InOut::NONE;
}
