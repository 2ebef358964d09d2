//! Shared accounts, the safety margin and the quotas in the model.

use super::pool::{Model, Shared, invalid};
use crate::answer::{Argument, Refusal, Scope};
use crate::ids::{Account, Group};

impl Model {
    pub(super) fn may_open_account(&mut self, group: Group, total: u32, watermark: u32) -> Result<(), Refusal> {
        let group = self.group(group)?;
        if self.accounts.iter().all(|account| account.open) {
            return Err(Refusal::Full);
        }
        self.account_fits(group, 0, total, watermark)
    }

    /// The pool opened this account.
    pub(super) fn opened_account(&mut self, account: Account, group: Group, total: u32) -> bool {
        let Some(shared) = self.accounts.get_mut(account.slot as usize) else { return false };
        let could_be = !shared.open && shared.generation == account.generation;
        *shared = Shared { generation: account.generation, open: true, group, balance: total };
        could_be
    }

    pub(super) fn set_account_total(&mut self, account: Account, total: u32) -> Result<(), Refusal> {
        let slot = self.account(account)?;
        let before = self.total(slot);
        if total > before {
            self.account_fits(self.accounts[slot].group, before, total - before, 0)?;
            self.accounts[slot].balance += total - before;
        } else if total < before {
            let (lower, balance) = (before - total, self.accounts[slot].balance);
            if lower > balance {
                return Err(Refusal::OverPromise { short_by: lower - balance });
            }
            self.accounts[slot].balance -= lower;
            self.returned = true;
        }
        Ok(())
    }

    pub(super) fn close_account(&mut self, account: Account) -> Result<(), Refusal> {
        let slot = self.account(account)?;
        if self.drawn(slot) > 0 {
            return Err(Refusal::Busy);
        }
        let shared = &mut self.accounts[slot];
        self.returned |= shared.balance > 0;
        *shared = Shared { generation: shared.generation + 1, ..Shared::default() };
        Ok(())
    }

    pub(super) fn set_safety(&mut self, blocks: u32) -> Result<(), Refusal> {
        if blocks >= self.config.blocks {
            return Err(invalid(Argument::Safety));
        }
        let short_by = self.pool_short(blocks.saturating_sub(self.safety), 0);
        if blocks > self.safety && short_by > 0 {
            return Err(self.refusal(short_by, Scope::Pool, Group(0), &[]));
        }
        self.returned |= blocks < self.safety;
        self.safety = blocks;
        Ok(())
    }

    pub(super) fn set_quota(&mut self, group: Group, quota: u32) -> Result<(), Refusal> {
        let group = self.group(group)?;
        let before = core::mem::replace(&mut self.quotas[group.0 as usize], quota);
        self.returned |= quota > before;
        Ok(())
    }
}
