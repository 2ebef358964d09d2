//! `recording`, `ring`, `dump`: a handle that keeps a record of its calls (`recorder/`).

use super::{Counter, Pool};
use crate::answer::{Argument, Refusal};
use crate::arena::Line;
use crate::group::NO_QUOTA;
use crate::ids::{Epoch, Group};
use crate::recorder::{Recorder, Ring, RingState};
use crate::sync::Acquire;

impl<'m> Pool<'m> {
    /// The same pool through a handle that records in `ring`: every call that may change something, with its arguments,
    /// its answer and a digest of the ids that it took. Give each thread a handle of its own; a call that finds its ring
    /// in use by another thread is not recorded but counted. When the ring is full the oldest records go.
    ///
    /// The memory of the ring is at any time a dump of it, also in the middle of a call: `Dump::read` reads it. The calls of
    /// a dump can be made again if it begins with the pool's first call and all that followed were recorded.
    ///
    /// Errors: `INVALID(Memory)` if `ring` is shorter than 15 lines. Cost: O(ring + sequences + groups); a call then costs
    /// two locked instructions more, and a store for each word of its record: 2 to 18 (`advance` up to 7, `admit` 18), and
    /// what its lists need; of a batch 9, and half a word a row, or three if a row was refused. A batch of more rows than a
    /// third of the ring's words is not recorded.
    pub fn recording(&self, ring: &'m mut [Line]) -> Result<Pool<'m>, Refusal> {
        let tickets = self.counter(Counter::Tickets);
        let late = tickets.load(Acquire) == 0 && !self.is_untouched();
        let ring = Ring::new(ring, &self.config, tickets, late)?;
        Ok(Pool { recorder: Recorder::new(ring), ..*self })
    }

    /// Whether the pool is as `init` left it, as far as that can be seen.
    fn is_untouched(&self) -> bool {
        let (now, config) = (self.snapshot(), &self.config);
        let counts = (now.committed, now.promised, now.safety, now.sequences);
        let quotas = (0..config.groups).all(|group| self.group_word(Group(group)).load().quota == NO_QUOTA);
        counts == (0, 0, config.safety, 0) && (now.newest_epoch, now.release_number) == (Epoch::NONE, 0) && quotas
    }

    /// What this handle's ring has in it; all zero without one. Never fails. Wait-free.
    pub fn ring(&self) -> RingState {
        self.recorder.ring().map_or(RingState::default(), Ring::state)
    }

    /// Digest and first block of the last call of this handle.
    #[cfg(any(test, feature = "model"))]
    pub(crate) fn noted(&self) -> (u32, u32) {
        self.recorder.ring().map_or((0, 0), Ring::noted)
    }

    /// Copy the ring of this handle to `out`, as it is in memory; how many words it was, `RingState::dump_words`.
    ///
    /// Errors: `INVALID`: `Output` if `out` is shorter, `Ring` if the handle does not record; `BUSY` while another thread is
    /// in a call with this handle. Calls that meet this one are lost to the record. Threads: any. Cost: O(ring).
    pub fn dump(&self, out: &mut [u64]) -> Result<usize, Refusal> {
        let ring = self.recorder.ring().ok_or(Refusal::invalid(Argument::Ring))?;
        ring.take().ok_or(Refusal::Busy)?.copy(out)
    }
}
