//! The flight recorder: what a handle was asked and what it answered, in a ring of fixed size, so that what happened can
//! be looked at afterwards, and done again.
//!
//! Problem: when a count is wrong or an answer is not understood, the calls that led there are gone. Logs are too dear for
//! a path of tens of nanoseconds, and a log of one thread says nothing of the order between threads.
//!
//! 1. `Pool::recording` gives a handle a ring of its own in the caller's memory; a handle without one records nothing.
//! 2. Every call that may change something takes the ring, writes its arguments, runs, and writes the rest of its record:
//!    the answer, and a digest of the block ids that it took (`ring.rs`, `call.rs`, `outcome.rs`, `steps.rs`).
//! 3. A *ticket* of the pool orders the records of all rings. Calls that give blocks or promises back draw theirs when they
//!    begin and calls that take when they are done, so that who got what another gave back comes after him.
//! 4. The memory of the ring *is* the dump, header and configuration included: write it to a file as it is, from a signal
//!    handler or out of a core file if need be; `Pool::dump` copies it for who has no access to it.
//! 5. [`Dump`] reads it. The calls of one thread, made again on a fresh pool, give the same answers and the same ids;
//!    those of several threads, in the order of their tickets, mostly do, and differences are worth reading.
//!
//! One thread at a time may use a ring: a call that finds it in use by another thread is made all the same, but not
//! recorded, and counted as lost. Nobody waits.

mod call;
mod dump;
#[cfg(all(test, not(loom)))]
mod history_tests;
mod lists;
#[cfg(all(test, loom))]
mod loom_tests;
mod outcome;
mod read;
mod ring;
mod steps;
#[cfg(all(test, not(loom)))]
mod tests;
mod words;

pub use call::Call;
pub use dump::{Dump, HEADER_WORDS, Record, Records};
pub use lists::{Handles, Named, Names, Numbers};
pub use outcome::{Answer, Outcome};
pub use ring::{DUMP_VERSION, RING_LINES_MIN, RingState};
pub use steps::Steps;

pub(crate) use call::Stamp;
pub(crate) use ring::Ring;

/// The recorder of a handle: a ring, or nothing.
#[derive(Clone, Copy)]
pub(crate) struct Recorder<'m> {
    #[cfg(feature = "recorder")]
    ring: Option<Ring<'m>>,
    #[cfg(not(feature = "recorder"))]
    never: core::marker::PhantomData<&'m ()>,
}

impl<'m> Recorder<'m> {
    /// Records nothing.
    pub(crate) const OFF: Recorder<'m> = Recorder {
        #[cfg(feature = "recorder")]
        ring: None,
        #[cfg(not(feature = "recorder"))]
        never: core::marker::PhantomData,
    };

    /// Records in `ring`.
    #[cfg(feature = "recorder")]
    pub(crate) fn new(ring: Ring<'m>) -> Recorder<'m> {
        Recorder { ring: Some(ring) }
    }

    /// The ring, if there is one.
    #[inline(always)]
    pub(crate) fn ring(&self) -> Option<&Ring<'m>> {
        #[cfg(feature = "recorder")]
        return self.ring.as_ref();
        #[cfg(not(feature = "recorder"))]
        None
    }
}
