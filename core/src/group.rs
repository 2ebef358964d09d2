//! The word of a trust group: what it uses (A + R) and its quota, so that a change of the quota and an admission are
//! decided by the same compare-exchange. Growth takes the group's word and then the pool's, shrinking the pool's and
//! then the group's: no group is ever above its quota. A quota set below use admits nothing until use has fallen.

use crate::sync::{AcqRel, Acquire, AtomicU64, Plant, planted};

/// The quota of a group that has none: no group can use so much.
pub(crate) const NO_QUOTA: u32 = u32::MAX;

/// What a group uses and may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Use {
    pub(crate) used: u32,
    pub(crate) quota: u32,
}

impl Use {
    const fn unpack(raw: u64) -> Use {
        Use { used: raw as u32, quota: (raw >> 32) as u32 }
    }

    pub(crate) const fn pack(self) -> u64 {
        self.used as u64 | (self.quota as u64) << 32
    }

    /// How many blocks are missing for `count` more; 0 if they fit.
    pub(crate) const fn short_by(self, count: u32) -> u32 {
        let short = (self.used as u64 + count as u64).saturating_sub(self.quota as u64);
        if short > u32::MAX as u64 { u32::MAX } else { short as u32 }
    }
}

/// One group's word.
#[derive(Clone, Copy)]
pub(crate) struct GroupWord<'m>(pub(crate) &'m AtomicU64);

impl GroupWord<'_> {
    pub(crate) fn load(self) -> Use {
        Use::unpack(self.0.load(Acquire))
    }

    /// Charge `count` blocks, or say how many are missing. Lock-free.
    #[inline]
    pub(crate) fn charge(self, count: u32) -> Result<(), u32> {
        let mut raw = self.0.load(Acquire);
        loop {
            let now = Use::unpack(raw);
            match now.short_by(count) {
                0 => {}
                short => return Err(short),
            }
            if planted(Plant::QuotaInTwoSteps) {
                self.0.fetch_add(count as u64, AcqRel);
                return Ok(());
            }
            match self.0.compare_exchange_weak(raw, raw + count as u64, AcqRel, Acquire) {
                Ok(_) => return Ok(()),
                Err(now) => raw = now,
            }
        }
    }

    /// `count` blocks or promises left the group. Wait-free.
    #[inline]
    pub(crate) fn release(self, count: u32) {
        let before = Use::unpack(self.0.fetch_sub(count as u64, AcqRel));
        debug_assert!(before.used >= count, "I10: a group's use never wraps");
    }

    /// Set the quota; what it was before. Lock-free.
    pub(crate) fn set_quota(self, quota: u32) -> u32 {
        let mut raw = self.0.load(Acquire);
        loop {
            let before = Use::unpack(raw);
            match self.0.compare_exchange_weak(raw, Use { quota, ..before }.pack(), AcqRel, Acquire) {
                Ok(_) => return before.quota,
                Err(now) => raw = now,
            }
        }
    }
}
