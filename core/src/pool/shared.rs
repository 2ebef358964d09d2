//! Shared accounts: `open_account`, `set_account_total`, `close_account`.

use super::Pool;
use super::charge::within;
use crate::answer::Refusal;
use crate::balance::Denied;
use crate::ids::{Account, Group};
use crate::ledger::Need;
use crate::recorder::Call;
use crate::sync::point;

impl Pool<'_> {
    /// Open an account for sequences of `group` to draw on, with `total` blocks: an admission.
    ///
    /// Errors: `INVALID(Group)`; `FULL` when `accounts` are open; `NEVER_FITS`, `WOULD_BLOCK`, `RETRY_AFTER`.
    /// Threads: any. Lock-free. Cost: as `admit`.
    pub fn open_account(&self, group: Group, total: u32, watermark: u32) -> Result<Account, Refusal> {
        let call = Call::OpenAccount { group, total, watermark };
        self.recorded(call, |pool| pool.open_one_account(group, total, watermark))
    }

    fn open_one_account(&self, group: Group, total: u32, watermark: u32) -> Result<Account, Refusal> {
        self.check_group(group)?;
        let slot = self.accounts.take_slot().ok_or(Refusal::Full)?;
        match self.charge_account(group, 0, total, watermark) {
            Ok(()) => Ok(self.accounts.open(slot, group, total)),
            Err(refusal) => {
                self.accounts.untake_slot(slot);
                Err(refusal)
            }
        }
    }

    /// Set the total of an account: its balance plus the blocks that its sequences took and that have not left A.
    /// Raising it is an admission of the difference. Lowering it gives the difference to everybody, out of the balance.
    ///
    /// Errors: `STALE`; `BUSY` (another thread changes it); `NEVER_FITS`, `WOULD_BLOCK`, `RETRY_AFTER` when raising;
    /// `OVER_PROMISE` when lowering by more than the balance: nothing moved. Threads: any. Lock-free or `BUSY`.
    pub fn set_account_total(&self, account: Account, total: u32) -> Result<(), Refusal> {
        let stamp = self.stamp_if(|| self.account_snapshot(account).is_ok_and(|now| total < now.total));
        self.recorded_as(stamp, Call::SetAccountTotal { account, total }, |pool| {
            pool.accounts.lock(account)?;
            point("account total: locked");
            let result = pool.change_total(account, total);
            pool.accounts.unlock(account);
            result
        })
    }

    /// Close an account: its balance is everybody's again. Blocks of it that are still retiring only lower A when they
    /// come back.
    ///
    /// Errors: `STALE`; `BUSY` while sequences draw on it, or another thread changes it. Threads: any. Lock-free.
    pub fn close_account(&self, account: Account) -> Result<(), Refusal> {
        self.recorded(Call::CloseAccount { account }, |pool| pool.close_one_account(account))
    }

    fn close_one_account(&self, account: Account) -> Result<(), Refusal> {
        self.accounts.close(account)?;
        point("close account: handle over");
        let account_balance = self.accounts.balance(account.slot);
        let balance = account_balance.close(account.generation, || ()).map_or(0, |(balance, ())| balance);
        self.uncharge(self.accounts.group(account.slot), 0, balance);
        self.accounts.vacate(account);
        Ok(())
    }

    fn change_total(&self, account: Account, total: u32) -> Result<(), Refusal> {
        let (slot, group) = (account.slot, self.accounts.group(account.slot));
        let before = self.accounts.total(slot);
        let account_balance = self.accounts.balance(slot);
        if total > before {
            self.charge_account(group, before, total - before, 0)?;
            if !account_balance.credit(account.generation, total - before) {
                // Not while the lock is held: `close` asks for it.
                self.uncharge(group, 0, total - before);
                return Err(Refusal::Stale);
            }
        } else if total < before {
            account_balance.debit(account.generation, before - total).map_err(|denied| match denied {
                Denied::Short(short_by) => Refusal::OverPromise { short_by },
                Denied::Closed => Refusal::Stale,
            })?;
            self.uncharge(group, 0, before - total);
        }
        self.accounts.set_total(slot, total);
        Ok(())
    }

    /// Charge `more` blocks for an account that has `before`. An account may be wider than a table row.
    fn charge_account(&self, group: Group, before: u32, more: u32, watermark: u32) -> Result<(), Refusal> {
        if more == 0 {
            return Ok(());
        }
        let needed = u64::from(before) + u64::from(more);
        within(needed, self.ceiling(group))?;
        self.charge(Some(group), Need::promised(more), watermark)
    }
}
