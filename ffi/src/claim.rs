//! Pointers from C: claims, until they were looked at.
//!
//! A reference to nothing, or to a misaligned address, is undefined behaviour in Rust as soon as a function has it for an
//! argument, whatever the function does. So arguments are these, which are as large as a pointer and become references
//! only when they can: `INVALID(Pointer)` otherwise. That the memory behind an aligned pointer is there, is as large as
//! its type and nobody else's for the call is what cannot be looked at: it is the caller's to keep.

use crate::answer::NULL;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, size_of};
use kvledger_core::Refusal;

/// An argument that the call reads.
#[repr(transparent)]
pub struct In<'a, T>(*const T, PhantomData<&'a T>);

/// An argument that the call writes, initialized or not.
#[repr(transparent)]
pub struct Out<'a, T>(*mut MaybeUninit<T>, PhantomData<&'a mut T>);

/// An argument that the call reads and writes.
#[repr(transparent)]
pub struct InOut<'a, T>(*mut T, PhantomData<&'a mut T>);

impl<T> Clone for In<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<'_, T> {}

fn usable<T>(pointer: *const T) -> Result<(), Refusal> {
    if pointer.is_null() || !pointer.is_aligned() { Err(NULL) } else { Ok(()) }
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

    /// Whether something can be written.
    #[inline(always)]
    pub(crate) fn given(&self) -> Result<(), Refusal> {
        usable(self.0)
    }

    /// Writes, if it can.
    #[inline(always)]
    pub(crate) fn write(self, value: T) {
        if usable(self.0).is_ok() {
            // SAFETY: neither NULL nor misaligned; who made the claim promises the rest.
            unsafe { self.0.write(MaybeUninit::new(value)) };
        }
    }

    /// Whether two outputs share a byte.
    #[inline(always)]
    pub(crate) fn overlaps<U>(&self, other: &Out<'_, U>) -> bool {
        overlap(self.range(), other.range())
    }

    fn range(&self) -> (usize, usize) {
        (self.0.addr(), size_of::<T>())
    }
}

impl<'a, T> InOut<'a, T> {
    /// NULL.
    pub const NONE: InOut<'a, T> = InOut(core::ptr::null_mut(), PhantomData);

    /// A claim that holds.
    pub const fn of(value: &'a mut T) -> InOut<'a, T> {
        InOut(value, PhantomData)
    }

    #[inline(always)]
    pub(crate) fn given(self) -> Result<&'a mut T, Refusal> {
        usable(self.0)?;
        // SAFETY: neither NULL nor misaligned; who made the claim promises the rest.
        Ok(unsafe { &mut *self.0 })
    }
}

/// Whether two ranges (address, bytes) share a byte. NULL, whose range is nobody's, is no part of it.
#[inline(always)]
pub(crate) fn overlap(a: (usize, usize), b: (usize, usize)) -> bool {
    a.0 != 0 && b.0 != 0 && a.0 < b.0.wrapping_add(b.1) && b.0 < a.0.wrapping_add(a.1)
}
