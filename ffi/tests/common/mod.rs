//! How the tests of the C ABI look at an answer.

use kvledger_ffi::KvlRefusal;
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
