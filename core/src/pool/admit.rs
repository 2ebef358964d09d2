//! Promises: `admit`, `extend`, `shrink`, `draw_safety`. Each is one decision on the group's word and one on the pool's
//! (I1), taken in this order and given back in the other; a refusal leaves both as they were (I9).

use super::charge::within;
use super::hits::{Asker, Plan, Purse};
use super::leave::Why;
use super::prefix::{Taken, clear};
use super::{Counter, Pool};
use crate::accounts::Credit;
use crate::answer::{Argument, Refusal, Scope};
use crate::balance::Denied;
use crate::calls::{Admission, Admitted, Prefix, Promise, Released, Window};
use crate::ids::{Account, Group, Sequence, StreamSet};
use crate::ledger::Need;
use crate::plan::paged::window_blocks;
use crate::recorder::{Call, Named};
use crate::sequence::{Driver, Event};
use crate::sync::{AcqRel, Acquire, Relaxed, point};

/// An admission whose arguments are good.
struct Request {
    /// Blocks to promise, hits included.
    promise: u32,
    /// Distinct blocks at the request's peak.
    peak: u32,
    /// Entries of the row at its end.
    entries: u32,
    prompt_tokens: u32,
    window: u32,
    /// Most blocks in the window.
    bound: u32,
    group: Group,
    streams: StreamSet,
    watermark: u32,
    account: Account,
}

impl Pool<'_> {
    /// Promise a sequence the blocks that it may come to need: one decision, A + R + S + promise + watermark ≤ N.
    /// Nothing is taken yet; from now on taking them cannot fail (I3).
    ///
    /// Errors: `INVALID` (`Tokens`: no prompt, or more than 2^32 − 1 in all; `Promise`: one below the prompt's
    /// blocks; `Window`: no chunk; `Group`; `Stream`; `Account`: of another group; `Sequence`: admitted already), `STALE`
    /// (sequence or account), `BUSY` (driven by another thread, or both rows in flight), `CANCELLED`, `FULL` (account),
    /// `NEVER_FITS`, `WOULD_BLOCK` and `RETRY_AFTER` (first the group's, then the pool's). On a shared account only
    /// `NEVER_FITS` of these.
    /// Threads: its driver. Lock-free. Cost: O(1); when refused, O(retiring blocks).
    pub fn admit(&self, sequence: Sequence, admission: &Admission) -> Result<Admitted, Refusal> {
        self.admit_prefix(sequence, admission, &Prefix::of(&[]))
    }

    /// The same with the names of the prompt's full blocks: what is found of them is taken in the same decision, in the
    /// order of the row, and the rest is promised. A block that somebody holds costs nothing, an idle one costs one, and
    /// so does one that has been told to come back to its holder. Up to ⌊prompt/B⌋ blocks; `Admitted::cached_tokens` says
    /// with which token to go on. With a window the longest prefix is taken of which the blocks in the window are found.
    ///
    /// Refused: nothing was evicted, touched or taken. Errors: as `admit`; `INVALID(Tokens)` if tokens are given, but not B
    /// for each name; `RETRY_AFTER` does not count blocks of this prefix. On a shared account, which pays for hits,
    /// `OVER_PROMISE` or `RETRY_AFTER` if it has too little. Threads, progress: as `admit`.
    /// Cost: O(names); when refused, O(retiring blocks × names).
    pub fn admit_prefix(
        &self,
        sequence: Sequence,
        admission: &Admission,
        prefix: &Prefix<'_>,
    ) -> Result<Admitted, Refusal> {
        let call = Call::Admit { sequence, admission: *admission, prefix: Named::of(prefix) };
        self.recorded(call, |pool| pool.admit_one(sequence, admission, prefix))
    }

    pub(super) fn admit_one(
        &self,
        sequence: Sequence,
        admission: &Admission,
        prefix: &Prefix<'_>,
    ) -> Result<Admitted, Refusal> {
        let request = self.understand(admission)?;
        self.check_prefix(prefix)?;
        let mut driver = self.drive_to_admit(sequence, &request)?;
        let turn = self.free_turn(&driver)?;
        let asker = self.asker_of(&request, prefix);
        let admitted = if request.account.is_none() {
            self.promise_own(&driver, &request, turn, &asker)?
        } else {
            self.draw_on_shared(&driver, &request, turn, &asker)?
        };
        driver.take_long_way(request.window > 0);
        driver.succeed();
        Ok(admitted)
    }

    /// Whether `admit_prefix` would be granted at this moment. What is over is reclaimed; nothing else happens.
    pub(super) fn would_admit(
        &self,
        sequence: Sequence,
        admission: &Admission,
        prefix: &Prefix<'_>,
    ) -> Result<(), Refusal> {
        let request = self.understand(admission)?;
        self.check_prefix(prefix)?;
        let driver = self.drive_to_admit(sequence, &request)?;
        let turn = self.free_turn(&driver)?;
        let asker = self.asker_of(&request, prefix);
        let row = self.table.row(self.table.row_number(driver.slot, turn));
        if !request.account.is_none() {
            self.accounts.drawn(request.account)?;
            self.check_account(&request)?;
            let plan = self.look(&asker, None);
            return self.could_debit(request.account, plan.idle + plan.owed + plan.credited);
        }
        self.check_ceiling(request.group, u64::from(request.peak))?;
        within(u64::from(request.entries), self.table.width)?;
        let plan = self.look(&asker, Some(row));
        let asks = |id| plan.blocks > 0 && row.all().iter().any(|entry| entry.load(Relaxed) == id);
        let could = self.could_charge(request.group, price(&request, &plan), request.watermark, asks);
        clear(row, plan.blocks);
        could
    }

    fn drive_to_admit(&self, sequence: Sequence, request: &Request) -> Result<Driver<'_>, Refusal> {
        let driver = self.sequences.drive(sequence, Event::Admit)?;
        if driver.record.group().is_some_and(|group| group != request.group) {
            return Err(Refusal::invalid(Argument::Group));
        }
        Ok(driver)
    }

    /// Whether a request can ever be paid by its shared account, which is open.
    fn check_account(&self, request: &Request) -> Result<(), Refusal> {
        if self.accounts.group(request.account.slot) != request.group {
            return Err(Refusal::invalid(Argument::Account));
        }
        let ceiling = self.accounts.total(request.account.slot).min(self.table.width);
        within(u64::from(request.peak.max(request.entries)), ceiling)
    }

    /// Who looks for the prefix of a request.
    fn asker_of<'a>(&self, request: &Request, prefix: &Prefix<'a>) -> Asker<'a> {
        let blocks_max = request.prompt_tokens / self.block_tokens;
        let mut asker = self.asker(request.group, prefix, blocks_max, request.window);
        asker.takes_places = request.account.is_none();
        if request.window > 0 && request.prompt_tokens.is_multiple_of(self.block_tokens.get()) {
            asker.whole = (blocks_max, self.blocks_for(request.window));
        }
        asker
    }

    /// Blocks that a request is promised when nothing is cached; 0 if it is wrong.
    pub(crate) fn promise_of(&self, admission: &Admission) -> u32 {
        self.understand(admission).map_or(0, |request| request.promise)
    }

    /// Undo an admission on whose account nothing was launched: its promise goes back, and what it found is what it was; work
    /// that others submitted is waited for, nothing else. The handle stays, opened.
    ///
    /// Errors: `STALE`, `BUSY`, `CANCELLED`; `INVALID(Sequence)` if it is not admitted; `CORRUPT` as in `end`. Threads: its
    /// driver. Lock-free. Cost: O(blocks held).
    pub fn withdraw_admission(&self, sequence: Sequence) -> Result<Released, Refusal> {
        self.recorded(Call::WithdrawAdmission { sequence }, |pool| pool.preempt_as(sequence, Why::Unpin))
    }

    /// Promise `blocks` more to an admitted sequence with its own account. An admission like any other.
    ///
    /// Errors: `INVALID` (`Count`: 0; `Sequence`; `Account`: it draws on a shared one), `STALE`, `BUSY`, `CANCELLED`,
    /// `NEVER_FITS`, `WOULD_BLOCK`, `RETRY_AFTER`. Threads: its driver. Lock-free. Cost: as `admit`.
    pub fn extend(&self, sequence: Sequence, blocks: u32, watermark: u32) -> Result<(), Refusal> {
        self.recorded(Call::Extend { sequence, blocks, watermark }, |pool| {
            let driver = pool.drive_own(sequence, blocks)?;
            let group = pool.group_of(&driver);
            let has = u64::from(driver.record.blocks_held()) + u64::from(driver.record.balance().blocks());
            pool.check_ceiling(group, has + u64::from(blocks))?;
            pool.charge(Some(group), Need::promised(blocks), watermark)?;
            pool.credit_own(&driver, group, blocks)
        })
    }

    /// Give back up to `blocks` of what is promised and not materialized; how many it really was. What is materialized
    /// stays (I10: a shrink allocates 0, never −1).
    ///
    /// Errors: `INVALID` (`Count`: 0; `Sequence`; `Account`), `STALE`, `BUSY`, `CANCELLED`. Threads: its driver.
    /// Lock-free. Cost: O(1).
    pub fn shrink(&self, sequence: Sequence, blocks: u32) -> Result<u32, Refusal> {
        self.recorded(Call::Shrink { sequence, blocks }, |pool| {
            let driver = pool.drive_own(sequence, blocks)?;
            let group = pool.group_of(&driver);
            let debit = driver.record.balance().debit_up_to(driver.generation, blocks);
            let returned = debit.map_err(|_| Refusal::Cancelled)?;
            pool.uncharge(group, 0, returned);
            Ok(returned)
        })
    }

    /// Move `blocks` from the safety margin to the promise of a sequence: the word of the pool does not change, the
    /// group's quota is needed all the same. What an exceedance policy does that dips into S.
    ///
    /// Errors: as `extend`, but the group alone can make one wait; `WOULD_BLOCK` of the pool when S is smaller. Threads: its
    /// driver. Lock-free. Cost: as `admit`.
    pub fn draw_safety(&self, sequence: Sequence, blocks: u32) -> Result<(), Refusal> {
        self.recorded(Call::DrawSafety { sequence, blocks }, |pool| pool.draw_from_margin(sequence, blocks))
    }

    fn draw_from_margin(&self, sequence: Sequence, blocks: u32) -> Result<(), Refusal> {
        let driver = self.drive_own(sequence, blocks)?;
        let group = self.group_of(&driver);
        let has = u64::from(driver.record.blocks_held()) + u64::from(driver.record.balance().blocks());
        // What is drawn leaves S, so the ceiling rises with it; the width and the quota do not.
        let ceiling = self.config.blocks.min(self.table.width).min(self.group_word(group).load().quota);
        within(has + u64::from(blocks), ceiling)?;
        if let short_by @ 1.. = blocks.saturating_sub(self.safety()) {
            return Err(Refusal::WouldBlock { short_by, scope: Scope::Pool });
        }
        self.charge_group(group, blocks)?;
        point("draw: group charged");
        let safety = self.counter(Counter::Safety);
        if let Err(now) = safety.fetch_update(AcqRel, Acquire, |now| now.checked_sub(u64::from(blocks))) {
            self.group_word(group).release(blocks);
            self.returned();
            return Err(Refusal::WouldBlock { short_by: blocks.saturating_sub(now as u32), scope: Scope::Pool });
        }
        point("draw: out of the margin");
        if driver.record.balance().credit(driver.generation, blocks) {
            return Ok(());
        }
        safety.fetch_add(u64::from(blocks), AcqRel);
        self.group_word(group).release(blocks);
        self.returned();
        Err(Refusal::Cancelled)
    }

    /// Drive a sequence that has its own account, for a count of blocks that is not 0.
    fn drive_own(&self, sequence: Sequence, blocks: u32) -> Result<Driver<'_>, Refusal> {
        if blocks == 0 {
            return Err(Refusal::invalid(Argument::Count));
        }
        let driver = self.sequences.drive(sequence, Event::Use)?;
        if driver.record.shared().is_none() { Ok(driver) } else { Err(Refusal::invalid(Argument::Account)) }
    }

    /// Check what can be checked without looking at the pool.
    fn understand(&self, admission: &Admission) -> Result<Request, Refusal> {
        const TOKENS: Refusal = Refusal::invalid(Argument::Tokens);
        let Admission { prompt_tokens, window, group, watermark, account, .. } = *admission;
        let tokens = prompt_tokens.checked_add(admission.output_tokens_max).ok_or(TOKENS)?;
        let tokens = tokens.checked_add(admission.speculative_tokens).filter(|_| prompt_tokens > 0).ok_or(TOKENS)?;
        let entries = self.blocks_for(tokens);
        let bound = self.window_bound(&window)?;
        let full = entries.min(bound);
        let promise = match admission.promise {
            Promise::Full => full,
            Promise::Blocks(blocks) if blocks >= self.blocks_for(prompt_tokens).min(full) => blocks,
            Promise::Blocks(_) => return Err(Refusal::invalid(Argument::Promise)),
        };
        self.check_group(group)?;
        let streams = self.streams.known(admission.streams)?;
        let (peak, entries) = (full.max(promise), entries.max(if window.tokens == 0 { promise } else { 0 }));
        let window = window.tokens;
        Ok(Request { promise, peak, entries, prompt_tokens, window, bound, group, streams, watermark, account })
    }

    /// The most blocks that a windowed sequence holds; no bound without a window. One formula for sizing and for
    /// admission: `plan::paged::window_blocks`.
    fn window_bound(&self, window: &Window) -> Result<u32, Refusal> {
        if window.tokens == 0 {
            return Ok(u32::MAX);
        }
        if window.chunk_tokens == 0 {
            return Err(Refusal::invalid(Argument::Window));
        }
        let blocks =
            window_blocks(window.tokens, window.steps_in_flight, window.chunk_tokens, self.block_tokens.get())?;
        Ok(u32::try_from(blocks).unwrap_or(u32::MAX))
    }

    /// Full-output, incremental, contiguous, statistical: the sequence's own account.
    fn promise_own(
        &self,
        driver: &Driver<'_>,
        request: &Request,
        turn: u32,
        asker: &Asker<'_>,
    ) -> Result<Admitted, Refusal> {
        self.check_ceiling(request.group, u64::from(request.peak))?;
        within(u64::from(request.entries), self.table.width)?;
        if asker.blocks_max == 0 {
            // Nothing to look for: the promise, and that is all.
            self.charge(Some(request.group), Need::promised(request.promise), request.watermark)?;
            point("admit: promised");
            self.settle_in(driver, request, turn, asker);
            self.credit_own(driver, request.group, request.promise)?;
            return Ok(Admitted { promised: request.promise, ..Admitted::default() });
        }
        let row = self.table.row(self.table.row_number(driver.slot, turn));
        let plan = self.look(asker, Some(row));
        let need = price(request, &plan);
        let asks = |id| plan.blocks > 0 && row.all().iter().any(|entry| entry.load(Relaxed) == id);
        self.charge_beside(Some(request.group), need, request.watermark, asks)
            .inspect_err(|_| clear(row, plan.blocks))?;
        point("admit: promised");
        self.settle_in(driver, request, turn, asker);
        let purse =
            Purse { committed: need.committed, promised: need.promised, account: Credit::NONE, group: request.group };
        let taken = self.take_hits(driver, request.prompt_tokens, asker, &plan, purse);
        self.balance_books(driver, request, taken)
    }

    /// Hits are taken; what they did not use is the sequence's promise.
    fn balance_books(&self, driver: &Driver<'_>, request: &Request, taken: Taken) -> Result<Admitted, Refusal> {
        let (mut purse, wanted) = (taken.purse, request.promise.saturating_sub(taken.counted));
        if let more @ 1.. = wanted.saturating_sub(purse.promised) {
            // Blocks that were live when the price was made are gone: private ones cost.
            let charged = self.charge(Some(request.group), Need::promised(more), request.watermark);
            if let Err(refusal) = charged {
                self.undo_hits(driver);
                self.uncharge(request.group, 0, purse.promised);
                return Err(refusal);
            }
            purse.promised += more;
        }
        self.uncharge(request.group, 0, purse.promised.saturating_sub(wanted));
        point("admit: hits taken");
        self.credit_own(driver, request.group, wanted).inspect_err(|_| self.undo_hits(driver))?;
        Ok(Admitted { promised: wanted, ..taken.admitted })
    }

    /// The promise has been made to the shared account; the sequence may draw on it.
    fn draw_on_shared(
        &self,
        driver: &Driver<'_>,
        request: &Request,
        turn: u32,
        asker: &Asker<'_>,
    ) -> Result<Admitted, Refusal> {
        self.accounts.attach(request.account)?;
        point("admit: attached");
        let credit = Credit::to(request.account);
        let refusal = self.check_account(request).err();
        let row = self.table.row(self.table.row_number(driver.slot, turn));
        let plan = if refusal.is_none() { self.look(asker, Some(row)) } else { Plan::default() };
        let (committed, promised) = (plan.idle, plan.owed + plan.credited);
        let paid = refusal.map_or_else(|| self.debit_shared(request.account, committed + promised), Err);
        if let Err(refusal) = paid {
            clear(row, plan.blocks);
            self.accounts.detach(credit);
            return Err(refusal);
        }
        self.ledger.materialize(committed);
        self.settle_in(driver, request, turn, asker);
        driver.record.set_shared(credit);
        let purse = Purse { committed, promised, account: credit, group: request.group };
        let taken = self.take_hits(driver, request.prompt_tokens, asker, &plan, purse);
        if taken.purse.promised > 0 && self.balance_of(credit).credit(credit.generation(), taken.purse.promised) {
            self.returned();
        }
        Ok(taken.admitted)
    }

    fn settle_in(&self, driver: &Driver<'_>, request: &Request, turn: u32, asker: &Asker<'_>) {
        driver.record.set_place(Some(request.group), turn);
        driver.record.set_streams(request.streams);
        driver.record.set_reach(request.window, 0);
        driver.record.set_window_bound(request.bound);
        driver.record.set_stamp(asker.stamp);
    }

    /// What was charged to the pool goes to the sequence's own account; if it was cancelled meanwhile, back.
    pub(super) fn credit_own(&self, driver: &Driver<'_>, group: Group, blocks: u32) -> Result<(), Refusal> {
        if driver.record.balance().credit(driver.generation, blocks) {
            return Ok(());
        }
        self.uncharge(group, 0, blocks);
        Err(Refusal::Cancelled)
    }

    pub(super) fn group_of(&self, driver: &Driver<'_>) -> Group {
        driver.record.group().unwrap_or(Group(0))
    }
}

/// What a request costs with these hits.
fn price(request: &Request, plan: &Plan) -> Need {
    let on_blocks = plan.owed + plan.credited;
    let private = if request.window == 0 {
        request.promise.saturating_sub(plan.blocks)
    } else {
        // Each block of a windowed sequence is one of its promise, whoever else holds it: it comes back, or nothing was
        // paid for it. Only what is in A already, and then is its own, costs nothing.
        request.promise.saturating_sub(plan.own)
    };
    Need { committed: plan.idle, promised: private + on_blocks }
}

/// What a debit that was refused means to the driver of a sequence with its own account.
pub(super) fn own_denied(denied: Denied) -> Refusal {
    match denied {
        Denied::Closed => Refusal::Cancelled,
        Denied::Short(short_by) => Refusal::OverPromise { short_by },
    }
}
