//! How the tests of the C ABI look at an answer.
#![allow(dead_code, reason = "each test uses some of it")]

use kvledger_ffi::{Grows, In, InOut, InSized, KvlRefusal, Out, OutSized, WithSize};
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

/// The same for a struct that can grow; what it is before the call is nothing that the call may leave there.
pub fn ok_sized<T: Grows>(call: impl FnOnce(&mut WithSize<T>) -> u32) -> T {
    let mut output = sized(noise());
    assert_eq!(call(&mut output), 0);
    output.fields
}

/// With the size before it, as C has it.
pub fn sized<T: Grows>(fields: T) -> WithSize<T> {
    WithSize::of(fields)
}

/// Room for the answer of a call that is to be refused.
pub fn room<T: Grows>() -> WithSize<T> {
    sized(noise())
}

/// Bytes that no call answers.
fn noise<T: Grows>() -> T {
    let mut bytes = MaybeUninit::<T>::uninit();
    // SAFETY: as many bytes as there are.
    unsafe { bytes.as_mut_ptr().write_bytes(0xA5, 1) };
    // SAFETY: all bytes are a value of what can grow.
    unsafe { bytes.assume_init() }
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
pub fn the<'a, T, C: Reads<'a, T>>(value: &'a T) -> C {
    C::reads(value)
}

/// Claims on what is read.
pub trait Reads<'a, T> {
    /// The claim on this value.
    fn reads(value: &'a T) -> Self;
}

impl<'a, T> Reads<'a, T> for In<'a, T> {
    fn reads(value: &'a T) -> Self {
        In::of(value)
    }
}

impl<'a, T: Grows> Reads<'a, WithSize<T>> for InSized<'a, T> {
    fn reads(value: &'a WithSize<T>) -> Self {
        InSized::of(value)
    }
}

/// An argument that is written.
pub fn to<'a, T, C: Writes<'a, T>>(place: &'a mut T) -> C {
    C::writes(place)
}

/// Claims on what is written.
pub trait Writes<'a, T> {
    /// The claim on this place.
    fn writes(place: &'a mut T) -> Self;
}

impl<'a, T> Writes<'a, MaybeUninit<T>> for Out<'a, T> {
    fn writes(place: &'a mut MaybeUninit<T>) -> Self {
        Out::of(place)
    }
}

impl<'a, T: Grows> Writes<'a, WithSize<T>> for OutSized<'a, T> {
    fn writes(place: &'a mut WithSize<T>) -> Self {
        OutSized::of(place)
    }
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

impl<T: Grows> Missing for InSized<'_, T> {
    const MISSING: Self = InSized::NONE;
}

impl<T: Grows> Missing for OutSized<'_, T> {
    const MISSING: Self = OutSized::NONE;
}

impl<T> Missing for InOut<'_, T> {
    const MISSING: Self = InOut::NONE;
}
