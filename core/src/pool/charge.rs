//! The decision itself: a charge on the group's word and one on the pool's (I1), in this order, given back in the other; a
//! refusal leaves both as they were (I9).

use super::Pool;
use crate::answer::{Refusal, Scope};
use crate::ids::Group;
use crate::ledger::Need;
use crate::sync::{Plant, planted, point};

impl Pool<'_> {
    /// `NEVER_FITS`, with the N, S, width and quota of this moment.
    pub(super) fn check_ceiling(&self, group: Group, needed: u64) -> Result<(), Refusal> {
        within(needed, self.ceiling(group).min(self.table.width))
    }

    /// Charge `need` to a group (or, for the safety margin, to none) and to the pool. Reclaims what is over until
    /// it has enough or nothing over is left; then says what to wait for. Lock-free: each turn of the loop reclaimed a
    /// block, or saw an epoch end.
    pub(super) fn charge(&self, group: Option<Group>, need: Need, watermark: u32) -> Result<(), Refusal> {
        self.charge_beside(group, need, watermark, |_| false)
    }

    /// The same for who `asks` for blocks himself: that they come back is no help to him.
    pub(super) fn charge_beside(
        &self,
        group: Option<Group>,
        need: Need,
        watermark: u32,
        asks: impl Fn(u32) -> bool,
    ) -> Result<(), Refusal> {
        // What could only be given below the watermark is never given.
        let ceiling = self.config.blocks.saturating_sub(self.safety()).saturating_sub(watermark);
        within(u64::from(need.committed) + u64::from(need.promised), ceiling)?;
        self.until_granted(group, asks, || self.try_charge(group, need, watermark))
    }

    /// Charge `count` blocks to a group alone. As [`Pool::charge`].
    pub(super) fn charge_group(&self, group: Group, count: u32) -> Result<(), Refusal> {
        let charge = || self.group_word(group).charge(count).map_err(|short| (short, Scope::Group));
        self.until_granted(Some(group), |_| false, charge)
    }

    /// Whether `need` could be charged at this moment; what is over is reclaimed.
    pub(super) fn could_charge(
        &self,
        group: Group,
        need: Need,
        watermark: u32,
        asks: impl Fn(u32) -> bool,
    ) -> Result<(), Refusal> {
        let ceiling = self.config.blocks.saturating_sub(self.safety()).saturating_sub(watermark);
        within(u64::from(need.committed) + u64::from(need.promised), ceiling)?;
        self.until_granted(Some(group), asks, || self.short(group, need, watermark))
    }

    /// Try until it is granted, or nothing is left to reclaim for it.
    fn until_granted(
        &self,
        group: Option<Group>,
        asks: impl Fn(u32) -> bool,
        attempt: impl Fn() -> Result<(), (u32, Scope)>,
    ) -> Result<(), Refusal> {
        loop {
            let Err((short_by, scope)) = attempt() else { return Ok(()) };
            if self.reclaim_up_to(short_by) > 0 {
                continue;
            }
            if let Some(refusal) = self.refusal(short_by, scope, group, &asks) {
                return Err(refusal);
            }
        }
    }

    /// What is missing at this moment, in the group or else in the pool.
    #[inline]
    fn short(&self, group: Group, need: Need, watermark: u32) -> Result<(), (u32, Scope)> {
        let count = need.blocks();
        match (self.group_word(group).load().short_by(count), self.ledger.short_by(count, watermark)) {
            (0, 0) => Ok(()),
            (0, short) => Err((short, Scope::Pool)),
            (short, _) => Err((short, Scope::Group)),
        }
    }

    /// I13: all of it or nothing, so that who waits holds nothing.
    #[inline]
    pub(super) fn try_charge(&self, group: Option<Group>, need: Need, watermark: u32) -> Result<(), (u32, Scope)> {
        let Some(group) = group else {
            return self.ledger.admit(need, watermark).map_err(|short| (short, Scope::Pool));
        };
        let (word, count) = (self.group_word(group), need.blocks());
        // Who asks for what is plainly not there charges nobody while he is refused: nobody else is refused for it, and
        // the release number need not change.
        self.short(group, need, watermark)?;
        word.charge(count).map_err(|short| (short, Scope::Group))?;
        point("admit: group charged");
        self.ledger.admit(need, watermark).map_err(|short| {
            word.release(count);
            if !planted(Plant::UndoUntold) {
                self.returned();
            }
            (short, Scope::Pool)
        })
    }
}

/// `NEVER_FITS` unless `needed` blocks are within `ceiling`.
pub(super) fn within(needed: u64, ceiling: u32) -> Result<(), Refusal> {
    if needed <= u64::from(ceiling) {
        return Ok(());
    }
    Err(Refusal::NeverFits { needed: u32::try_from(needed).unwrap_or(u32::MAX), ceiling })
}
