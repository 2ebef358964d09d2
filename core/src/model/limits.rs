//! What the model refuses for blocks, and what it says one has to wait for.

use super::blocks::Payee;
use super::pool::Model;
use crate::answer::{Refusal, Scope};
use crate::ids::Group;
use std::vec::Vec;

impl Model {
    /// N − S, or the quota.
    pub(super) fn room(&self, group: Group) -> u32 {
        (self.config.blocks - self.safety).min(self.quotas[group.0 as usize])
    }

    pub(super) fn ceiling(&self, group: Group, needed: u64) -> Result<(), Refusal> {
        Self::within(needed, self.room(group).min(self.config.table_width))
    }

    pub(super) fn account_fits(&self, group: Group, before: u32, more: u32, watermark: u32) -> Result<(), Refusal> {
        if more == 0 {
            return Ok(());
        }
        Self::within(u64::from(before) + u64::from(more), self.room(group))?;
        self.fits(group, more, watermark, &[])
    }

    pub(super) fn within(needed: u64, ceiling: u32) -> Result<(), Refusal> {
        if needed <= u64::from(ceiling) {
            return Ok(());
        }
        Err(Refusal::NeverFits { needed: u32::try_from(needed).unwrap_or(u32::MAX), ceiling })
    }

    /// Whether `count` blocks more can be spoken for. That those of `asked` come back is no help: the asker hits them himself.
    pub(super) fn fits(&self, group: Group, count: u32, watermark: u32, asked: &[u32]) -> Result<(), Refusal> {
        Self::within(u64::from(count), (self.config.blocks - self.safety).saturating_sub(watermark))?;
        match (self.group_short(group, count), self.pool_short(count, watermark)) {
            (0, 0) => Ok(()),
            (0, short_by) => Err(self.refusal(short_by, Scope::Pool, group, asked)),
            (short_by, _) => Err(self.refusal(short_by, Scope::Group, group, asked)),
        }
    }

    pub(super) fn group_short(&self, group: Group, count: u32) -> u32 {
        (self.group_used(group) + u64::from(count)).saturating_sub(u64::from(self.quotas[group.0 as usize])) as u32
    }

    pub(super) fn pool_short(&self, count: u32, watermark: u32) -> u32 {
        let used = self.committed() + self.promised() + self.safety;
        let wanted = u64::from(used) + u64::from(count) + u64::from(watermark);
        wanted.saturating_sub(u64::from(self.config.blocks)).min(u64::from(u32::MAX)) as u32
    }

    pub(super) fn refusal(&self, short_by: u32, scope: Scope, group: Group, asked: &[u32]) -> Refusal {
        let counts = |id: u32| {
            let block = self.block(id);
            let of_scope = scope == Scope::Pool || block.group == group;
            !self.is_open(block.credit) && of_scope && !asked.contains(&id)
        };
        self.wait_for(short_by, counts).unwrap_or(Refusal::WouldBlock { short_by, scope })
    }

    /// Why an account cannot be debited.
    pub(super) fn account_refusal(&self, payee: Payee, short_by: u32) -> Refusal {
        let counts = |id: u32| self.block(id).credit == Some(payee);
        let pending = self.waiting().filter(|&id| counts(id)).count() as u32;
        self.wait_for(short_by, counts).unwrap_or(Refusal::OverPromise { short_by: short_by.saturating_sub(pending) })
    }

    /// The first epoch by which enough of the blocks that count are back.
    fn wait_for(&self, short_by: u32, counts: impl Fn(u32) -> bool) -> Option<Refusal> {
        let mut epochs: Vec<_> = self.waiting().filter(|&id| counts(id)).map(|id| self.block(id).epoch).collect();
        epochs.sort_unstable();
        let after = *epochs.get(short_by as usize - 1)?;
        let reclaimable = epochs.iter().filter(|&&epoch| epoch <= after).count() as u32;
        Some(Refusal::RetryAfter { after, reclaimable })
    }
}
