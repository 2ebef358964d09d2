//! The road of every call that may change something: it is made, and recorded if the handle has a ring (`recorder/`).

use super::Pool;
use crate::answer::Refusal;
use crate::recorder::{Answer, Call, Recorder, Ring, Stamp};

impl Pool<'_> {
    /// Make `run`, and record it as `call`. A call that does not get the ring goes on as one of a handle that has none.
    /// Within `run` no such call may be made: it would find the ring taken.
    #[inline(always)]
    pub(crate) fn recorded<T: Copy + Into<Answer>>(
        &self,
        call: Call<'_>,
        run: impl FnOnce(&Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        self.recorded_as(call.stamp(), call, run)
    }

    /// The same for a call that knows whether it gives or takes.
    #[inline(always)]
    pub(super) fn recorded_as<T: Copy + Into<Answer>>(
        &self,
        stamp: Stamp,
        call: Call<'_>,
        run: impl FnOnce(&Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        match self.recorder.ring() {
            None => run(self),
            Some(ring) => self.in_ring(ring, stamp, call, run),
        }
    }

    /// Apart, so that a call of a handle without a ring is what it would be if there were no rings.
    #[inline(never)]
    fn in_ring<T: Copy + Into<Answer>>(
        &self,
        ring: &Ring<'_>,
        stamp: Stamp,
        call: Call<'_>,
        run: impl FnOnce(&Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let Some(entry) = ring.take().and_then(|hold| hold.begin(call, stamp)) else {
            ring.lose();
            return run(&Pool { recorder: Recorder::OFF, ..*self });
        };
        let answer = run(self);
        entry.finish(answer.map(Into::into));
        answer
    }

    /// The place of a call that sets a limit, which `gives` if it makes room. Only asked if it is recorded.
    pub(super) fn stamp_if(&self, gives: impl FnOnce() -> bool) -> Stamp {
        if self.recorder.ring().is_some() && gives() { Stamp::First } else { Stamp::Last }
    }
}
