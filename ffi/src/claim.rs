//! Pointers from C: claims, until they were looked at.
//!
//! A reference to nothing, or to a misaligned address, is undefined behaviour in Rust as soon as a function has it for an
//! argument, whatever the function does. So arguments are these, which are as large as a pointer and become references
//! only when they can: `INVALID(Pointer)` otherwise. That the memory behind an aligned pointer is there, is as large as
//! its type and nobody else's for the call is what cannot be looked at: it is the caller's to keep.

use crate::answer::{POINTER, invalid};
use crate::sized::{self, Grows, Unusable, WithSize};
use core::marker::PhantomData;
use core::mem::{MaybeUninit, size_of};
use kvledger_core::{Argument, Refusal};

/// An argument that the call reads.
#[repr(transparent)]
pub struct In<'a, T>(*const T, PhantomData<&'a T>);

/// An argument that the call writes, initialized or not.
#[repr(transparent)]
pub struct Out<'a, T>(*mut MaybeUninit<T>, PhantomData<&'a mut T>);

/// An argument that the call reads and writes.
#[repr(transparent)]
pub struct InOut<'a, T>(*mut T, PhantomData<&'a mut T>);

/// A struct that can grow, which the call reads.
#[repr(transparent)]
pub struct InSized<'a, T: Grows>(*const WithSize<T>, PhantomData<&'a T>);

/// A struct that can grow, which the call writes: all but its size is initialized or not.
#[repr(transparent)]
pub struct OutSized<'a, T: Grows>(*mut WithSize<T>, PhantomData<&'a mut T>);

impl<T> Clone for In<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<'_, T> {}

impl<T: Grows> Clone for InSized<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Grows> Copy for InSized<'_, T> {}

/// What a call writes on success.
pub(crate) trait Output {
    /// What is written.
    type Value;

    /// Whether something can be.
    fn given(&self) -> Result<(), Refusal>;

    /// Writes, if it can.
    fn write(self, value: Self::Value);

    /// Its address, and bytes.
    fn range(&self) -> (usize, usize);
}

fn usable<T>(pointer: *const T) -> Result<(), Refusal> {
    if pointer.is_null() || !pointer.is_aligned() { Err(POINTER) } else { Ok(()) }
}

impl<'a, T> In<'a, T> {
    /// NULL.
    pub const NONE: In<'a, T> = In(core::ptr::null(), PhantomData);

    /// A claim that holds.
    pub const fn of(value: &'a T) -> In<'a, T> {
        In(value, PhantomData)
    }

    /// A claim that may not hold, as C makes them.
    ///
    /// # Safety
    /// An address that is neither NULL nor misaligned is one of a `T` that stays for `'a`.
    pub const unsafe fn claimed(pointer: *const T) -> In<'a, T> {
        In(pointer, PhantomData)
    }

    /// Its address, and bytes.
    #[inline(always)]
    pub(crate) fn range(&self) -> (usize, usize) {
        (self.0.addr(), size_of::<T>())
    }

    #[inline(always)]
    pub(crate) fn given(self) -> Result<&'a T, Refusal> {
        usable(self.0)?;
        // SAFETY: neither NULL nor misaligned; who made the claim promises the rest.
        Ok(unsafe { &*self.0 })
    }

    /// Where NULL means that there is none.
    pub(crate) fn optional(self) -> Result<Option<&'a T>, Refusal> {
        if self.0.is_null() { Ok(None) } else { self.given().map(Some) }
    }
}

impl<'a, T> Out<'a, T> {
    /// NULL.
    pub const NONE: Out<'a, T> = Out(core::ptr::null_mut(), PhantomData);

    /// A claim that holds.
    pub const fn of(value: &'a mut MaybeUninit<T>) -> Out<'a, T> {
        Out(value, PhantomData)
    }

    /// A claim that may not hold, as C makes them.
    ///
    /// # Safety
    /// An address that is neither NULL nor misaligned is one of room for a `T` that is the call's alone for `'a`.
    pub const unsafe fn claimed(pointer: *mut T) -> Out<'a, T> {
        Out(pointer.cast(), PhantomData)
    }

    /// The same claim, while this one is not used.
    #[inline(always)]
    pub(crate) fn again(&mut self) -> Out<'_, T> {
        Out(self.0, PhantomData)
    }

    /// Where NULL means that nobody wants it: whether it is misaligned.
    #[inline(always)]
    pub(crate) fn is_askew(&self) -> bool {
        !self.0.is_aligned()
    }
}

impl<T> Output for Out<'_, T> {
    type Value = T;

    #[inline(always)]
    fn given(&self) -> Result<(), Refusal> {
        usable(self.0)
    }

    #[inline(always)]
    fn write(self, value: T) {
        if usable(self.0).is_ok() {
            // SAFETY: neither NULL nor misaligned; who made the claim promises the rest.
            unsafe { self.0.write(MaybeUninit::new(value)) };
        }
    }

    #[inline(always)]
    fn range(&self) -> (usize, usize) {
        (self.0.addr(), size_of::<T>())
    }
}

impl From<Unusable> for Refusal {
    fn from(why: Unusable) -> Refusal {
        match why {
            Unusable::Pointer => POINTER,
            Unusable::Size => invalid(Argument::Size),
        }
    }
}

impl<'a, T: Grows> InSized<'a, T> {
    /// NULL.
    pub const NONE: InSized<'a, T> = InSized(core::ptr::null(), PhantomData);

    /// A claim that holds.
    pub const fn of(value: &'a WithSize<T>) -> InSized<'a, T> {
        InSized(value, PhantomData)
    }

    /// A claim that may not hold, as C makes them.
    ///
    /// # Safety
    /// An address that is neither NULL nor misaligned is one of as many bytes as the size there says, if that is any
    /// version's, and they stay for `'a`.
    pub const unsafe fn claimed(pointer: *const WithSize<T>) -> InSized<'a, T> {
        InSized(pointer, PhantomData)
    }

    /// Where NULL means that there is none.
    pub(crate) fn optional(self) -> Result<Option<T>, Refusal> {
        if self.0.is_null() { Ok(None) } else { self.given().map(Some) }
    }

    /// Its address, and bytes.
    pub(crate) fn range(self) -> (usize, usize) {
        // SAFETY: who made the claim promises it.
        unsafe { sized::range(self.0) }
    }

    /// Its fields: a copy, for the struct of C may be smaller than ours.
    #[inline(always)]
    pub(crate) fn given(self) -> Result<T, Refusal> {
        // SAFETY: who made the claim promises it.
        Ok(unsafe { sized::read(self.0) }?)
    }
}

impl<'a, T: Grows> OutSized<'a, T> {
    /// NULL.
    pub const NONE: OutSized<'a, T> = OutSized(core::ptr::null_mut(), PhantomData);

    /// A claim that holds.
    pub const fn of(value: &'a mut WithSize<T>) -> OutSized<'a, T> {
        OutSized(value, PhantomData)
    }

    /// A claim that may not hold, as C makes them.
    ///
    /// # Safety
    /// As [`InSized::claimed`], and the bytes are the call's alone for `'a`.
    pub const unsafe fn claimed(pointer: *mut WithSize<T>) -> OutSized<'a, T> {
        OutSized(pointer, PhantomData)
    }

    #[inline(always)]
    fn stated(&self) -> Result<usize, Unusable> {
        // SAFETY: who made the claim promises it.
        unsafe { sized::stated(self.0) }
    }
}

impl<T: Grows> Output for OutSized<'_, T> {
    type Value = T;

    #[inline(always)]
    fn given(&self) -> Result<(), Refusal> {
        self.stated()?;
        Ok(())
    }

    #[inline(always)]
    fn write(self, value: T) {
        // SAFETY: who made the claim promises it.
        unsafe { sized::write(self.0, value) };
    }

    #[inline(always)]
    fn range(&self) -> (usize, usize) {
        // SAFETY: who made the claim promises it.
        unsafe { sized::range(self.0) }
    }
}

impl<'a, T> InOut<'a, T> {
    /// NULL.
    pub const NONE: InOut<'a, T> = InOut(core::ptr::null_mut(), PhantomData);

    /// A claim that holds.
    pub const fn of(value: &'a mut T) -> InOut<'a, T> {
        InOut(value, PhantomData)
    }

    /// Its address, and bytes.
    #[inline(always)]
    pub(crate) fn range(&self) -> (usize, usize) {
        (self.0.addr(), size_of::<T>())
    }

    #[inline(always)]
    pub(crate) fn given(self) -> Result<&'a mut T, Refusal> {
        usable(self.0)?;
        // SAFETY: neither NULL nor misaligned; who made the claim promises the rest.
        Ok(unsafe { &mut *self.0 })
    }
}

/// Whether two ranges (address, bytes) share a byte. NULL, whose range is nobody's, and no bytes are no part of it.
#[inline(always)]
pub(crate) fn overlap(a: (usize, usize), b: (usize, usize)) -> bool {
    let is_something = a.0 != 0 && b.0 != 0 && a.1 != 0 && b.1 != 0;
    is_something && a.0 < b.0.wrapping_add(b.1) && b.0 < a.0.wrapping_add(a.1)
}

/// The same of two places that have bytes and of which at most one may be NULL, in one comparison: on the way of every call.
/// (Two that are NULL are taken for one place.)
#[inline(always)]
pub(crate) fn meet(a: (usize, usize), b: (usize, usize)) -> bool {
    // From the first address at which the last byte of `b` is in `a`.
    b.0.wrapping_sub(a.0).wrapping_add(b.1 - 1) < a.1 + b.1 - 1
}
