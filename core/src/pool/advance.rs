//! Tokens: `advance`, `advance_growing`, `materialize`. The hot path; a step that needs no block touches only the
//! sequence's own line.

use super::Pool;
use crate::accounts::Credit;
use crate::answer::{Argument, Refusal};
use crate::balance::{self, Denied};
use crate::calls::Advanced;
use crate::ids::{Account, Sequence};
use crate::ledger::Need;
use crate::recorder::Call;
use crate::sequence::{Driver, Event, Extent};
use crate::sync::{Plant, planted, point};

impl Pool<'_> {
    /// Add `tokens` to a sequence: the prompt (whole or in chunks) after admission, then what is generated. Blocks that
    /// this needs are taken from the account, and their ids appended to the row. Within the promise it never fails and
    /// never waits for another thread or sequence (I3).
    ///
    /// Blocks that this step's tokens no longer look back to come back to a windowed sequence first, and do so also if the
    /// rest is refused: they are out of the window all the same.
    ///
    /// Errors: `OVER_PROMISE` beyond the balance, `RETRY_AFTER` if blocks on their way back to it will do, nothing moved;
    /// `NEVER_FITS` beyond the table width; `INVALID` (`Tokens`: 0 or beyond 2^32 − 1; `Sequence`: not admitted), `STALE`,
    /// `CANCELLED`; `BUSY` (driven by another thread; unaccepted tokens; a shared tail is to be copied, and the copy before
    /// was not submitted, the block has 15 holds, or both rows are being read); `CORRUPT`. Threads: its driver.
    /// Progress: lock-free; wait-free while no block is needed. Cost: O(1) + O(blocks taken).
    #[inline]
    pub fn advance(&self, sequence: Sequence, tokens: u32) -> Result<Advanced, Refusal> {
        self.recorded(Call::Advance { sequence, tokens }, |pool| pool.advance_within(sequence, tokens, None))
    }

    /// The same, but blocks beyond the balance are admitted in the same call: one decision, A + R + S + blocks +
    /// watermark ≤ N, that charges A directly. What incremental policies do.
    ///
    /// Errors: as `advance`, but `WOULD_BLOCK`, `RETRY_AFTER` and `NEVER_FITS` in place of `OVER_PROMISE`;
    /// `INVALID(Account)` if the sequence draws on a shared account. Nothing moved when refused.
    #[inline]
    pub fn advance_growing(&self, sequence: Sequence, tokens: u32, watermark: u32) -> Result<Advanced, Refusal> {
        self.recorded(Call::AdvanceGrowing { sequence, tokens, watermark }, |pool| {
            pool.advance_within(sequence, tokens, Some(watermark))
        })
    }

    /// Make sure that a sequence holds `blocks` blocks, without adding tokens: a promise that is materialized at once.
    /// If it holds as many or more already, nothing happens.
    ///
    /// Errors: as `advance`, but tokens that are not accepted yet are none; `INVALID(Count)` for 0. Threads, progress, cost:
    /// as `advance`.
    pub fn materialize(&self, sequence: Sequence, blocks: u32) -> Result<Advanced, Refusal> {
        self.recorded(Call::Materialize { sequence, blocks }, |pool| {
            if blocks == 0 {
                return Err(Refusal::invalid(Argument::Count));
            }
            let driver = pool.sequences.drive(sequence, Event::Use)?;
            let extent = driver.record.extent();
            let need = blocks.saturating_sub(extent.held);
            pool.grow(&driver, extent, need, None)
        })
    }

    #[inline]
    pub(super) fn advance_within(
        &self,
        sequence: Sequence,
        tokens: u32,
        growth: Option<u32>,
    ) -> Result<Advanced, Refusal> {
        if tokens == 0 {
            return Err(Refusal::invalid(Argument::Tokens));
        }
        let mut driver = self.sequences.drive(sequence, Event::Use)?;
        self.advance_driven(&mut driver, tokens, growth)
    }

    /// The same, for who drives the sequence already.
    #[inline(always)]
    pub(super) fn advance_driven(
        &self,
        driver: &mut Driver<'_>,
        tokens: u32,
        growth: Option<u32>,
    ) -> Result<Advanced, Refusal> {
        if growth.is_some() && !driver.record.shared().is_none() {
            return Err(Refusal::invalid(Argument::Account));
        }
        if driver.goes_long_way() {
            return self.advance_long_way(driver, tokens, growth);
        }
        let mut extent = driver.record.extent();
        extent.tokens = extent.tokens.checked_add(tokens).ok_or(Refusal::invalid(Argument::Tokens))?;
        if u64::from(extent.tokens) <= u64::from(extent.held) * u64::from(self.block_tokens.get()) {
            driver.record.set_extent(extent);
            return Ok(Advanced { taken: 0, entries: extent.held, copies: 0 });
        }
        let need = self.blocks_for(extent.tokens).saturating_sub(extent.held);
        self.grow(driver, extent, need, growth)
    }

    /// The same for a sequence to which adding a token may be more than that: blocks go out of its window, or its tail is
    /// shared and must be left before it is written to.
    #[cold]
    fn advance_long_way(&self, driver: &mut Driver<'_>, tokens: u32, growth: Option<u32>) -> Result<Advanced, Refusal> {
        let record = driver.record;
        if record.unaccepted() > 0 {
            return Err(Refusal::Busy);
        }
        if record.window() > 0 {
            self.recycle(driver);
        }
        let before = record.extent();
        let tokens = before.tokens.checked_add(tokens).ok_or(Refusal::invalid(Argument::Tokens))?;
        let need = self.blocks_for(tokens).saturating_sub(before.held);
        let extent = Extent { tokens, ..before };
        let order = self.must_copy(driver, &before);
        if let Some(order) = &order {
            // What can be refused comes before what cannot: the place for the copy, then the blocks of the growth.
            self.may_copy(driver, order)?;
        }
        let advanced = self.grow(driver, extent, need, growth)?;
        let copies = match &order {
            // (Sharers that came between may have left no room for a hold: then the tokens were not added.)
            Some(order) => self.leave_tail(driver, order).inspect_err(|_| {
                record.set_extent(Extent { tokens: before.tokens, ..record.extent() });
            })?,
            None => false,
        };
        let copies = u32::from(copies);
        driver.take_long_way(record.window() > 0 || self.must_copy(driver, &before).is_some());
        Ok(Advanced { copies, ..advanced })
    }

    /// Take `need` blocks, and then let the sequence have `extent.tokens` tokens. The charge comes first (I2).
    fn grow(
        &self,
        driver: &Driver<'_>,
        mut extent: Extent,
        need: u32,
        growth: Option<u32>,
    ) -> Result<Advanced, Refusal> {
        if need > 0 {
            let width = self.table.width;
            let held = extent.held;
            if u64::from(held) + u64::from(need) > u64::from(width) {
                return Err(Refusal::NeverFits { needed: held.saturating_add(need), ceiling: width });
            }
            if planted(Plant::TakeBeforeWord) {
                self.take_blocks(driver, &mut extent, need)?;
                self.commit(driver, need, growth)?;
            } else {
                self.commit(driver, need, growth)?;
                point("advance: charged");
                let taken = self.take_blocks(driver, &mut extent, need);
                if taken.is_err() {
                    // What was taken stays the sequence's; its tokens stay what they were.
                    let tokens = driver.record.extent().tokens;
                    driver.record.set_extent(Extent { tokens, ..extent });
                }
                taken?;
            }
        }
        driver.record.set_extent(extent);
        Ok(Advanced { taken: need, entries: extent.held, copies: 0 })
    }

    /// Move `need` blocks into A: out of the account, and if it may grow, what the account lacks from the headroom.
    fn commit(&self, driver: &Driver<'_>, need: u32, growth: Option<u32>) -> Result<(), Refusal> {
        let shared = driver.record.shared();
        if !shared.is_none() {
            self.debit_shared(shared.account(self.config.number), need)?;
            self.ledger.materialize(need);
            return Ok(());
        }
        match (driver.record.balance().load(driver.generation), growth) {
            (balance::State::Open(balance), Some(watermark)) if balance < need => {
                self.commit_growing(driver, balance, need - balance, watermark)
            }
            _ => self.commit_promised(driver, need),
        }
    }

    /// `count` blocks out of the sequence's own account.
    #[inline]
    fn commit_promised(&self, driver: &Driver<'_>, count: u32) -> Result<(), Refusal> {
        self.debit_own(driver, count)?;
        point("advance: debited");
        self.ledger.materialize(count);
        Ok(())
    }

    /// `missing` blocks are not promised: admit them straight into A, then take the `promised` rest from the balance.
    fn commit_growing(&self, driver: &Driver<'_>, promised: u32, missing: u32, watermark: u32) -> Result<(), Refusal> {
        let (group, held) = (self.group_of(driver), driver.record.blocks_held());
        self.check_ceiling(group, u64::from(held) + u64::from(promised) + u64::from(missing))?;
        self.charge(Some(group), Need::committed(missing), watermark)?;
        point("advance: grown");
        if promised == 0 {
            return Ok(());
        }
        // Only the driver lowers the balance, but for a cancellation, which closes it.
        self.commit_promised(driver, promised).inspect_err(|_| self.uncharge(group, missing, 0))
    }

    /// Take `need` out of a shared account. What it lacks may be pending: blocks of its sequences that are retiring.
    pub(super) fn debit_shared(&self, account: Account, need: u32) -> Result<(), Refusal> {
        loop {
            let short_by = match self.accounts.balance(account.slot).debit(account.generation, need) {
                Ok(()) => return Ok(()),
                Err(Denied::Short(short_by)) => short_by,
                Err(Denied::Closed) => return Err(Refusal::Stale),
            };
            if self.reclaim_up_to(u32::MAX) > 0 {
                continue;
            }
            if let Some(refusal) = self.account_refusal(Credit::to(account), short_by) {
                return Err(refusal);
            }
        }
    }

    /// Whether so many blocks could be taken out of a shared account at this moment; what is over is reclaimed.
    pub(super) fn could_debit(&self, account: Account, need: u32) -> Result<(), Refusal> {
        loop {
            let short_by = match self.accounts.balance(account.slot).load(account.generation) {
                balance::State::Open(balance) if balance >= need => return Ok(()),
                balance::State::Open(balance) => need - balance,
                balance::State::Closed | balance::State::Other => return Err(Refusal::Stale),
            };
            if self.reclaim_up_to(u32::MAX) > 0 {
                continue;
            }
            if let Some(refusal) = self.account_refusal(Credit::to(account), short_by) {
                return Err(refusal);
            }
        }
    }
}
