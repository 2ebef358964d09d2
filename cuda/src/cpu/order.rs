//! What orders the work of streams, said to ThreadSanitizer where kernels are compiled with it.
//!
//! Kernels and copies are watched, and Rust is not: that a mutex was given from one thread to another is not seen. So it is
//! told what a GPU's programmer may rely on, and nothing else: work is enqueued before it is done, work of a stream is done
//! in order, what follows an event comes after its mark, and who has waited comes after what he waited for. Two streams
//! that touch the same memory without an event between them are then a report, on whatever threads they run.

/// What was done by this thread is before what is done by those that [`observe`] the same place later.
pub fn publish<T: ?Sized>(place: &T) {
    #[cfg(kvl_sanitized = "thread")]
    // SAFETY: the address is a name: nothing is read or written.
    unsafe {
        __tsan_release(std::ptr::from_ref(place).cast())
    };
    let _ = place;
}

/// What is done by this thread from now on is after what was done before the same place was [`publish`]ed.
pub fn observe<T: ?Sized>(place: &T) {
    #[cfg(kvl_sanitized = "thread")]
    // SAFETY: as above.
    unsafe {
        __tsan_acquire(std::ptr::from_ref(place).cast())
    };
    let _ = place;
}

#[cfg(kvl_sanitized = "thread")]
unsafe extern "C" {
    fn __tsan_acquire(place: *const core::ffi::c_void);
    fn __tsan_release(place: *const core::ffi::c_void);
}
