//! Where shared atomics come from: `core`'s, or loom's under `--cfg loom`. (Cells that only a driver or a claimer touches
//! are `core`'s everywhere, so that loom need not follow them.) Two aids live beside them, both nothing
//! at all in a normal build: *points*, at which a test may freeze a thread in the middle of an operation, and *plants*,
//! mistakes that a loom test switches on to prove that the checker would catch them.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicU32, AtomicU64};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64};

use core::sync::atomic::Ordering;
pub(crate) use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// The two accesses of a Dekker side: a read-modify-write, then a load. `SeqCst` natively. loom's `SeqCst` accesses are
/// neither the standard's nor plain, so there the pair is [`store_load_fence`] between weaker ones, which it knows.
pub(crate) const PAIR_WRITE: Ordering = if cfg!(loom) { Ordering::AcqRel } else { Ordering::SeqCst };
/// See [`PAIR_WRITE`].
pub(crate) const PAIR_LOAD: Ordering = if cfg!(loom) { Ordering::Acquire } else { Ordering::SeqCst };

/// The store-load half of Dekker's pattern. Natively the pair is a `SeqCst` read-modify-write followed by a `SeqCst`
/// load and needs nothing between them. loom takes `SeqCst` accesses for `AcqRel`, but knows the fence.
#[inline(always)]
pub(crate) fn store_load_fence() {
    #[cfg(loom)]
    if !planted(Plant::NoStoreLoadFence) {
        loom::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
    }
}

/// Both halves of Dekker's pattern where the read may be of many cells: what was written before is seen by whoever comes
/// through its own fence later, and what he wrote before is seen from here on.
#[inline(always)]
pub(crate) fn full_fence() {
    if planted(Plant::NoFullFence) {
        return;
    }
    #[cfg(loom)]
    loom::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
    #[cfg(not(loom))]
    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
}

/// A mistake that one loom test plants. The name says what is left out or done in the wrong order.
#[allow(dead_code, reason = "each is named where it can be planted and in the loom test that plants it")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(crate) enum Plant {
    /// No mistake.
    None,
    /// Summary bits of the free list: no order between "publish" and "look again".
    NoStoreLoadFence,
    /// A claim reads the word and then clears bits in it, whatever has become of them.
    ClaimInTwoSteps,
    /// The words of a bit map are read and claimed relaxed.
    RelaxedScan,
    /// Admission reads the word and then adds, instead of one compare-exchange.
    AdmitInTwoSteps,
    /// A release lowers A before the blocks are back.
    WordBeforeBits,
    /// Materialization takes the block before A has grown.
    TakeBeforeWord,
    /// Cancellation reads the balance and closes the account in two steps.
    CancelInTwoSteps,
    /// A retiring block is freed without looking at its tag.
    IgnoreTag,
    /// Who retires does not look at the frontier again after the push.
    NoSecondLook,
    /// A block that is retiring already may be retired again.
    RetireTwice,
    /// The reclaimer gives the bit back before the word says free.
    BitBeforeState,
    /// A block given back twice is not noticed.
    DoubleFreeUnseen,
    /// A raised safety margin is visible before the word has admitted it.
    SafetyInTwoSteps,
    /// The quota is checked and charged in two steps.
    QuotaInTwoSteps,
    /// Retiring and completing do not agree on an order: each may miss the other.
    NoFullFence,
    /// A batch and a single driver do not agree on an order: each may miss the other.
    NoBatchFence,
    /// A batch does not look whether the slot is still its sequence's.
    LateMark,
    /// An epoch is stamped without having been announced.
    NoAnnouncement,
    /// A reclaimer empties a whole bucket before it frees the first block.
    ReclaimerHoards,
    /// The ring of a recorder is looked at and taken in two steps.
    RingInTwoSteps,
    /// A call that gives back draws its ticket when it is done.
    StampLate,
    /// Only the last holder of a block leaves behind what its work may still touch.
    OnlyTheLastTag,
    /// A hit ignores the reset number.
    OldNames,
    /// One of several holders leaves by a plain store.
    LeaveByStore,
    /// A charge that is undone is not told.
    UndoUntold,
    /// The last holder of a block leaves by a plain store.
    LastByStore,
    /// A reclaimer takes a retiring block by a plain store.
    ClaimByStore,
    /// A hit checks the name of a block, and joins its holders whatever has become of it.
    JoinAnyWord,
    /// Eviction on purpose charges nothing while the block is nobody's.
    EvictUncharged,
    /// An idle block is evicted by a plain store.
    EvictByStore,
    /// An entry of the index does not publish what it leads to.
    RelaxedEntry,
    /// An entry in a second bucket is looked at and taken away in two steps.
    ChangeInTwoSteps,
    /// A reader of events does not look whether the slot is still that event's.
    NoSecondLookAtEvent,
    /// An event is written over whatever is in its slot.
    EventOverNewer,
    /// A transfer is looked up and ended in two steps.
    FinishInTwoSteps,
    /// A transfer may be ended while its blocks are being doubted.
    FinishWhileDoubted,
    /// The lock of the order is given back without what was done under it.
    RelaxedUnlock,
}

#[cfg(loom)]
mod plants {
    use super::Plant;
    // Not one of loom's: it is set before the model runs and never changes in it.
    static PLANTED: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);

    pub(crate) fn plant(which: Plant) {
        PLANTED.store(which as u32, core::sync::atomic::Ordering::SeqCst);
    }

    pub(crate) fn planted(which: Plant) -> bool {
        PLANTED.load(core::sync::atomic::Ordering::SeqCst) == which as u32
    }
}
#[cfg(loom)]
pub(crate) use plants::{plant, planted};

/// Whether this mistake is planted: never, outside loom.
#[cfg(not(loom))]
#[inline(always)]
pub(crate) const fn planted(_which: Plant) -> bool {
    false
}

/// Whether the calling thread is to stop here for ever, which in a loom model means: return, with what it has claimed.
#[inline(always)]
pub(crate) fn stopped(_place: Stop) -> bool {
    #[cfg(loom)]
    return stops::reached(_place);
    #[cfg(not(loom))]
    false
}

/// Where a loom test may stop a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// A reclaimer that has claimed the blocks of a word.
    ReclaimerHasClaimed,
}

#[cfg(loom)]
pub(crate) mod stops {
    use super::Stop;
    use core::cell::Cell;

    loom::thread_local! {
        static STOP_AT: Cell<Option<Stop>> = Cell::new(None);
    }

    /// The calling thread of the model stops at `place`.
    pub(crate) fn stop_this_thread_at(place: Stop) {
        STOP_AT.with(|stop| stop.set(Some(place)));
    }

    pub(super) fn reached(place: Stop) -> bool {
        STOP_AT.with(Cell::get) == Some(place)
    }
}

/// A place at which the freeze test may stop a thread for ever. Nothing in any other build.
#[inline(always)]
pub(crate) fn point(_name: &'static str) {
    #[cfg(all(test, not(loom)))]
    freeze::reach(_name);
}

/// The other side of [`point`]: one thread at a time is told where to stop.
#[cfg(all(test, not(loom)))]
pub(crate) mod freeze {
    use std::cell::Cell;
    use std::sync::Mutex;
    use std::thread::{JoinHandle, ThreadId};
    use std::vec::Vec;

    std::thread_local! {
        static STOP_AT: Cell<Option<&'static str>> = const { Cell::new(None) };
    }
    std::thread_local! {
        static PAUSE_AT: Cell<Option<&'static str>> = const { Cell::new(None) };
    }
    static SEEN: Mutex<Vec<ThreadId>> = Mutex::new(Vec::new());
    static PAUSED: Mutex<Vec<ThreadId>> = Mutex::new(Vec::new());

    /// The calling thread stops for ever when it reaches `name`.
    pub(crate) fn stop_this_thread_at(name: &'static str) {
        STOP_AT.with(|stop| stop.set(Some(name)));
    }

    /// Whether this thread stands still. (Tests beside this one stop theirs at the same points.)
    pub(crate) fn is_frozen(thread: ThreadId) -> bool {
        SEEN.lock().is_ok_and(|seen| seen.contains(&thread))
    }

    /// Run `work` in a thread that stands still where it reaches `name` for the first time, until [`go_on`]; returns when it
    /// does, or when it has ended without.
    pub(crate) fn paused_at<T: Send + 'static>(
        name: &'static str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        let thread = std::thread::spawn(move || {
            PAUSE_AT.with(|pause| pause.set(Some(name)));
            work()
        });
        while !is_paused(thread.thread().id()) && !thread.is_finished() {
            std::thread::yield_now();
        }
        thread
    }

    /// A paused thread goes on to its end, and stops nowhere any more. `None`: it never paused, or it panicked.
    pub(crate) fn go_on<T>(thread: JoinHandle<T>) -> Option<T> {
        let id = thread.thread().id();
        let paused = is_paused(id);
        if let Ok(mut all) = PAUSED.lock() {
            all.retain(|&other| other != id);
        }
        thread.thread().unpark();
        thread.join().ok().filter(|_| paused)
    }

    fn is_paused(thread: ThreadId) -> bool {
        PAUSED.lock().is_ok_and(|all| all.contains(&thread))
    }

    fn pause() {
        let me = std::thread::current().id();
        if let Ok(mut all) = PAUSED.lock() {
            all.push(me);
        }
        while is_paused(me) {
            std::thread::park();
        }
    }

    pub(super) fn reach(name: &'static str) {
        if PAUSE_AT.with(Cell::get) == Some(name) {
            PAUSE_AT.with(|at| at.set(None));
            pause();
        }
        if STOP_AT.with(Cell::get) != Some(name) {
            return;
        }
        if let Ok(mut seen) = SEEN.lock() {
            seen.push(std::thread::current().id());
        }
        loop {
            std::thread::park();
        }
    }
}
