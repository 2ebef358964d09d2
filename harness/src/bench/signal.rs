//! Stops a thread wherever it is, by a signal whose handler waits to be told to return.

use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const SIGNAL: libc::c_int = libc::SIGUSR1;

/// Between looks of the handler.
const NAP: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 20_000 };

static IS_STOPPED: AtomicBool = AtomicBool::new(false);
static MAY_GO: AtomicBool = AtomicBool::new(false);

/// There is one handler a process.
static HANDLER: Mutex<()> = Mutex::new(());

#[cfg(any(target_os = "solaris", target_os = "illumos"))]
use libc::___errno as errno_location;
/// Where the C library keeps the calling thread's error number.
#[cfg(any(target_os = "android", target_os = "netbsd", target_os = "openbsd"))]
use libc::__errno as errno_location;
#[cfg(any(target_os = "linux", target_os = "dragonfly", target_os = "emscripten"))]
use libc::__errno_location as errno_location;
#[cfg(any(target_vendor = "apple", target_os = "freebsd"))]
use libc::__error as errno_location;

extern "C" fn wait_here(_: libc::c_int) {
    // SAFETY: it points to this thread's own number for as long as the thread lives, and may be called in a handler.
    let errno = unsafe { errno_location() };
    // SAFETY: as above. The code that was stopped may be about to read it, and nanosleep writes it.
    let before = unsafe { *errno };
    IS_STOPPED.store(true, SeqCst);
    while !MAY_GO.load(SeqCst) {
        // SAFETY: nanosleep may be called in a handler (POSIX), `NAP` is a valid time, and the rest is not asked for.
        unsafe { libc::nanosleep(&NAP, null_mut()) };
    }
    // SAFETY: as above.
    unsafe { *errno = before };
    IS_STOPPED.store(false, SeqCst);
}

/// A thread that can be stopped while it runs.
#[derive(Clone, Copy)]
pub struct Target(libc::pthread_t);

impl Target {
    /// The calling thread.
    pub fn here() -> Target {
        // SAFETY: it has no preconditions.
        Target(unsafe { libc::pthread_self() })
    }
}

/// The right to stop threads, and the handler while it is held.
pub struct Aim {
    before: libc::sigaction,
    _only: MutexGuard<'static, ()>,
}

impl Aim {
    /// Installs the handler; waits until nobody else has it.
    pub fn take() -> Aim {
        let only = HANDLER.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: zero is a valid sigaction: the default, no flags, an empty mask.
        let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        action.sa_sigaction = wait_here as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_RESTART;
        let mut before = action;
        // SAFETY: both point to sigactions; the handler only touches atomics and sleeps.
        let code = unsafe { libc::sigaction(SIGNAL, &action, &mut before) };
        assert_eq!(code, 0, "the handler of a user signal can be set");
        Aim { before, _only: only }
    }

    /// Stops `target`, which must be running, does `meanwhile`, and lets it go on.
    pub fn stop<T>(&mut self, target: &Target, meanwhile: impl FnOnce() -> T) -> T {
        MAY_GO.store(false, SeqCst);
        // SAFETY: the thread runs, says the caller, and has not been joined.
        let code = unsafe { libc::pthread_kill(target.0, SIGNAL) };
        assert_eq!(code, 0, "a thread that runs can be signalled");
        wait_until(true);
        let made = meanwhile();
        MAY_GO.store(true, SeqCst);
        wait_until(false);
        made
    }
}

fn wait_until(is_stopped: bool) {
    while IS_STOPPED.load(SeqCst) != is_stopped {
        std::thread::sleep(Duration::from_micros(20));
    }
}

impl Drop for Aim {
    fn drop(&mut self) {
        // SAFETY: `before` is what `take` found there; the old action is not asked for.
        unsafe { libc::sigaction(SIGNAL, &self.before, null_mut()) };
    }
}
