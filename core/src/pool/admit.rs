//! Promises: `admit`, `extend`, `shrink`, `draw_safety`. Each is one decision on the group's word and one on the pool's
//! (I1), taken in this order and given back in the other; a refusal leaves both as they were (I9).

use super::{Counter, Pool};
use crate::accounts::Credit;
use crate::answer::{Argument, Refusal, Scope};
use crate::balance::Denied;
use crate::calls::{Admission, Admitted, Promise};
use crate::ids::{Account, Group, Sequence, StreamSet};
use crate::ledger::Into;
use crate::recorder::Call;
use crate::sequence::{Driver, Event};
use crate::sync::{AcqRel, Acquire, point};

/// An admission whose arguments are good.
struct Request {
    /// Blocks to promise.
    promise: u32,
    /// Distinct blocks at the request's peak.
    peak: u32,
    group: Group,
    streams: StreamSet,
    watermark: u32,
    account: Account,
}

impl Pool<'_> {
    /// Promise a sequence the blocks that it may come to need: one decision, A + R + S + promise + watermark ≤ N.
    /// Nothing is taken yet; from now on taking them cannot fail (I3).
    ///
    /// Errors: `INVALID` (`Tokens`: no prompt, or more than 2^32 − 1 in all; `Count`: a promise below the prompt's
    /// blocks; `Group`; `Stream`; `Account`: of another group; `Sequence`: admitted already), `STALE` (sequence or
    /// account), `BUSY` (driven by another thread, or both rows in flight), `CANCELLED`, `FULL` (account),
    /// `NEVER_FITS`, `WOULD_BLOCK` and `RETRY_AFTER` (first the group's, then the pool's).
    /// Threads: its driver. Lock-free. Cost: O(1); when refused, O(retiring blocks).
    pub fn admit(&self, sequence: Sequence, admission: &Admission) -> Result<Admitted, Refusal> {
        self.recorded(Call::Admit { sequence, admission: *admission }, |pool| pool.admit_one(sequence, admission))
    }

    fn admit_one(&self, sequence: Sequence, admission: &Admission) -> Result<Admitted, Refusal> {
        let request = self.understand(admission)?;
        let mut driver = self.sequences.drive(sequence, Event::Admit)?;
        if driver.record.group().is_some_and(|group| group != request.group) {
            return Err(Refusal::invalid(Argument::Group));
        }
        let turn = self.free_turn(&driver)?;
        let promised = if request.account.is_none() {
            self.promise_own(&driver, &request, turn)?
        } else {
            self.draw_on_shared(&driver, &request, turn)?
        };
        driver.succeed();
        Ok(Admitted { promised })
    }

    /// Promise `blocks` more to an admitted sequence with its own account. An admission like any other.
    ///
    /// Errors: `INVALID` (`Count`: 0; `Sequence`; `Account`: it draws on a shared one), `STALE`, `BUSY`, `CANCELLED`,
    /// `NEVER_FITS`, `WOULD_BLOCK`, `RETRY_AFTER`. Threads: its driver. Lock-free. Cost: as `admit`.
    pub fn extend(&self, sequence: Sequence, blocks: u32, watermark: u32) -> Result<(), Refusal> {
        self.recorded(Call::Extend { sequence, blocks, watermark }, |pool| {
            let driver = pool.drive_own(sequence, blocks)?;
            let group = pool.group_of(&driver);
            let has = driver.record.extent().held as u64 + u64::from(driver.record.balance().blocks());
            pool.check_ceiling(group, has + u64::from(blocks))?;
            pool.charge(Some(group), blocks, watermark, Into::Promised)?;
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
            pool.release(group, 0, returned);
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
        let has = u64::from(driver.record.extent().held) + u64::from(driver.record.balance().blocks());
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
        let tokens = admission.prompt_tokens.checked_add(admission.output_tokens_max);
        let tokens = tokens.filter(|_| admission.prompt_tokens > 0).ok_or(Refusal::invalid(Argument::Tokens))?;
        let (prompt, all) = (self.blocks_for(admission.prompt_tokens), self.blocks_for(tokens));
        let promise = match admission.promise {
            Promise::Full => all,
            Promise::Blocks(blocks) if blocks >= prompt => blocks,
            Promise::Blocks(_) => return Err(Refusal::invalid(Argument::Count)),
        };
        self.check_group(admission.group)?;
        let streams = self.streams.known(admission.streams)?;
        let Admission { group, watermark, account, .. } = *admission;
        Ok(Request { promise, peak: all.max(promise), group, streams, watermark, account })
    }

    /// Full-output, incremental, contiguous, statistical: the sequence's own account.
    fn promise_own(&self, driver: &Driver<'_>, request: &Request, turn: u32) -> Result<u32, Refusal> {
        self.check_ceiling(request.group, u64::from(request.peak))?;
        self.charge(Some(request.group), request.promise, request.watermark, Into::Promised)?;
        point("admit: promised");
        self.settle_in(driver, request, turn);
        self.credit_own(driver, request.group, request.promise)?;
        Ok(request.promise)
    }

    /// The promise has been made to the shared account; the sequence may draw on it.
    fn draw_on_shared(&self, driver: &Driver<'_>, request: &Request, turn: u32) -> Result<u32, Refusal> {
        let group = self.accounts.attach(request.account)?;
        point("admit: attached");
        let total = self.accounts.total(request.account.slot);
        let ceiling = total.min(self.table.width);
        let refusal = if group != request.group {
            Some(Refusal::invalid(Argument::Account))
        } else if request.peak > ceiling {
            Some(Refusal::NeverFits { needed: request.peak, ceiling })
        } else {
            None
        };
        if let Some(refusal) = refusal {
            self.accounts.detach(Credit::to(request.account));
            return Err(refusal);
        }
        self.settle_in(driver, request, turn);
        driver.record.set_shared(Credit::to(request.account));
        Ok(0)
    }

    fn settle_in(&self, driver: &Driver<'_>, request: &Request, turn: u32) {
        driver.record.set_place(Some(request.group), turn);
        driver.record.set_streams(request.streams);
    }

    /// What was charged to the pool goes to the sequence's own account; if it was cancelled meanwhile, back.
    pub(super) fn credit_own(&self, driver: &Driver<'_>, group: Group, blocks: u32) -> Result<(), Refusal> {
        if driver.record.balance().credit(driver.generation, blocks) {
            return Ok(());
        }
        self.release(group, 0, blocks);
        Err(Refusal::Cancelled)
    }

    pub(super) fn group_of(&self, driver: &Driver<'_>) -> Group {
        driver.record.group().unwrap_or(Group(0))
    }

    /// `NEVER_FITS`, with the N, S, width and quota of this moment.
    pub(super) fn check_ceiling(&self, group: Group, needed: u64) -> Result<(), Refusal> {
        within(needed, self.ceiling(group).min(self.table.width))
    }

    /// Charge `count` blocks to a group (or, for the safety margin, to none) and to the pool. Reclaims what is over until
    /// it has enough or nothing over is left; then says what to wait for. Lock-free: each turn of the loop reclaimed a
    /// block, or saw an epoch end.
    pub(super) fn charge(&self, group: Option<Group>, count: u32, watermark: u32, into: Into) -> Result<(), Refusal> {
        // What could only be given below the watermark is never given.
        within(u64::from(count), self.config.blocks.saturating_sub(self.safety()).saturating_sub(watermark))?;
        loop {
            let (short_by, scope) = match self.try_charge(group, count, watermark, into) {
                Ok(()) => return Ok(()),
                Err(short) => short,
            };
            if self.reclaim_up_to(short_by) > 0 {
                continue;
            }
            if let Some(refusal) = self.refusal(short_by, scope, group) {
                return Err(refusal);
            }
        }
    }

    /// Charge `count` blocks to a group alone. As [`Pool::charge`].
    fn charge_group(&self, group: Group, count: u32) -> Result<(), Refusal> {
        loop {
            let Err(short_by) = self.group_word(group).charge(count) else { return Ok(()) };
            if self.reclaim_up_to(short_by) > 0 {
                continue;
            }
            if let Some(refusal) = self.refusal(short_by, Scope::Group, Some(group)) {
                return Err(refusal);
            }
        }
    }

    /// I13: all of it or nothing, so that who waits holds nothing.
    #[inline]
    fn try_charge(&self, group: Option<Group>, count: u32, watermark: u32, into: Into) -> Result<(), (u32, Scope)> {
        let Some(group) = group else {
            return self.ledger.admit(count, watermark, into).map_err(|short| (short, Scope::Pool));
        };
        let word = self.group_word(group);
        // Who asks for what is plainly not there charges nobody while he is refused: nobody else is refused for it, and
        // the release number need not change.
        match (word.load().short_by(count), self.ledger.short_by(count, watermark)) {
            (0, 0) => {}
            (0, short) => return Err((short, Scope::Pool)),
            (short, _) => return Err((short, Scope::Group)),
        }
        word.charge(count).map_err(|short| (short, Scope::Group))?;
        point("admit: group charged");
        self.ledger.admit(count, watermark, into).map_err(|short| {
            word.release(count);
            self.returned();
            (short, Scope::Pool)
        })
    }
}

/// What a debit that was refused means to the driver of a sequence with its own account.
pub(super) fn own_denied(denied: Denied) -> Refusal {
    match denied {
        Denied::Closed => Refusal::Cancelled,
        Denied::Short(short_by) => Refusal::OverPromise { short_by },
    }
}

/// `NEVER_FITS` unless `needed` blocks are within `ceiling`.
pub(super) fn within(needed: u64, ceiling: u32) -> Result<(), Refusal> {
    if needed <= u64::from(ceiling) {
        return Ok(());
    }
    Err(Refusal::NeverFits { needed: u32::try_from(needed).unwrap_or(u32::MAX), ceiling })
}
