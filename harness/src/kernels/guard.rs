//! Kernels that touch memory which is in no allocation. A GPU would fail the launch; on the CPU device the process would
//! end without a word of which case it was. So while a case runs, a fault is told with its name, and ends the process with
//! the exit code of a check that failed.
//!
//! Sanitizers have handlers of their own, which say more: theirs stay.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::Once;

thread_local! {
    /// The text of the case that this thread runs.
    static CASE: Cell<(*const u8, usize)> = const { Cell::new((std::ptr::null(), 0)) };
}

/// A case under way on this thread, until it is dropped.
#[derive(Debug)]
pub struct Watched<'a>(PhantomData<(&'a str, *const ())>);

/// Watches a case: `text` is what a fault says of it.
pub fn watch(text: &str) -> Watched<'_> {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(install);
    CASE.set((text.as_ptr(), text.len()));
    Watched(PhantomData)
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        CASE.set((std::ptr::null(), 0));
    }
}

/// Only where nobody but Rust itself has a handler for it: its own tells of stacks that are full.
fn install() {
    if cfg!(kvl_sanitized) {
        return;
    }
    // SAFETY: zero is a valid sigaction.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = tell as extern "C" fn(libc::c_int) as usize;
    // On the thread's own stack for signals: that of a kernel's thread may be what is full.
    action.sa_flags = libc::SA_ONSTACK | libc::SA_NODEFER;
    for signal in [libc::SIGSEGV, libc::SIGBUS] {
        // SAFETY: it points to a sigaction; the handler makes calls only that a handler may make.
        unsafe { libc::sigaction(signal, &action, null_mut()) };
    }
}

extern "C" fn tell(signal: libc::c_int) {
    let (text, length) = CASE.get();
    if length == 0 {
        // SAFETY: the default for the fault that happens again when the handler returns.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        return;
    }
    say(b"failed: ");
    // SAFETY: the text of the case under way, which outlives it.
    say(unsafe { std::slice::from_raw_parts(text, length) });
    say(b": memory was touched that is in no allocation of the device\n");
    // SAFETY: ends the process without running anything of it.
    unsafe { libc::_exit(1) };
}

fn say(text: &[u8]) {
    // SAFETY: the bytes are there; where nobody reads them the exit code has to do.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}
