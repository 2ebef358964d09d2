//! The beginning of a prompt: `lookup`, `pin`, `unpin`, and taking the hits of an admission.

use super::hits::{Asker, Plan, Purse};
use super::leave::Why;
use super::{Pool, Row};
use crate::accounts::Credit;
use crate::answer::{Argument, Refusal};
use crate::calls::{Admitted, Found, Prefix, Released};
use crate::ids::{Epoch, Group, Sequence, StreamSet};
use crate::ledger::Need;
use crate::recorder::{Call, Named};
use crate::sequence::{Driver, Event, Extent, Holes};
use crate::sync::Relaxed;

/// The hits of an admission, and what is left of what was charged.
pub(super) struct Taken {
    pub(super) purse: Purse,
    /// Blocks of the promise that the hits stand for.
    pub(super) counted: u32,
    pub(super) admitted: Admitted,
}

impl Pool<'_> {
    /// How much of a prefix is there for `group`, with a window of `window` tokens (0: full attention). No effect, and good
    /// for nothing later: the next call may evict it.
    ///
    /// Errors: `INVALID` (`Group`; `Tokens`: given, but not B for each name). Threads: any. Lock-free (it computes the
    /// frontier). Cost: O(names).
    pub fn lookup(&self, group: Group, prefix: &Prefix<'_>, window: u32) -> Result<Found, Refusal> {
        self.check_group(group)?;
        self.check_prefix(prefix)?;
        let asker = self.asker(group, prefix, self.table.width, window);
        let plan = self.look(&asker, None);
        Ok(Found { after: unfinished(&asker, plan.after), ..plan.found() })
    }

    /// Hold what is found of a prefix, so that it is not evicted: an opened sequence becomes its holder, as if it had been
    /// admitted with nothing else. Idle blocks are need, one each; so are blocks that come back to somebody. The table row
    /// has the blocks (`row`; `launch_row` is for admitted sequences). `streams` are those whose work will read them.
    ///
    /// `unpin` lets them go, and they are what they were: work that others submitted is waited for, nothing else.
    /// `end` lets them go as any sequence's: work outstanding on its streams is waited for too.
    ///
    /// Errors: `INVALID` (`Group`: there is none, or it was admitted to another one before; `Stream`; `Tokens`; `Sequence`:
    /// admitted or pinned already), `STALE`, `BUSY` (driven by another thread, or both rows in flight), `CANCELLED`,
    /// `NEVER_FITS`, `WOULD_BLOCK`, `RETRY_AFTER`. Threads: its driver. Lock-free. Cost: O(names).
    pub fn pin(
        &self,
        sequence: Sequence,
        group: Group,
        streams: StreamSet,
        prefix: &Prefix<'_>,
        watermark: u32,
    ) -> Result<Admitted, Refusal> {
        let call = Call::Pin { sequence, group, streams, prefix: Named::of(prefix), watermark };
        self.recorded(call, |pool| pool.pin_one(sequence, group, streams, prefix, watermark))
    }

    fn pin_one(
        &self,
        sequence: Sequence,
        group: Group,
        streams: StreamSet,
        prefix: &Prefix<'_>,
        watermark: u32,
    ) -> Result<Admitted, Refusal> {
        self.check_group(group)?;
        self.check_prefix(prefix)?;
        let streams = self.streams.known(streams)?;
        let mut driver = self.sequences.drive(sequence, Event::Pin)?;
        if driver.record.group().is_some_and(|before| before != group) {
            return Err(Refusal::invalid(Argument::Group));
        }
        let turn = self.free_turn(&driver)?;
        let asker = self.asker(group, prefix, self.table.width, 0);
        let row = self.table.row(self.table.row_number(driver.slot, turn));
        let plan = self.look(&asker, Some(row));
        let need = Need { committed: plan.idle, promised: plan.owed + plan.credited };
        let asks = |id| row.all().iter().any(|entry| entry.load(Relaxed) == id);
        self.check_ceiling(group, u64::from(plan.blocks))
            .and_then(|()| self.charge_beside(Some(group), need, watermark, asks))
            .inspect_err(|_| clear(row, plan.blocks))?;
        driver.record.set_place(Some(group), turn);
        driver.record.set_streams(streams);
        driver.record.set_stamp(asker.stamp);
        let purse = Purse { committed: need.committed, promised: need.promised, account: Credit::NONE, group };
        let taken = self.take_hits(&driver, u32::MAX, &asker, &plan, purse);
        self.uncharge(group, 0, taken.purse.promised);
        driver.succeed();
        Ok(taken.admitted)
    }

    /// Let the blocks of a pinned prefix go: no work was launched on them, and nothing is waited for on this account. Who has
    /// launched work that reads them must `end` the sequence instead. The handle stays, opened.
    ///
    /// Errors: `STALE`, `BUSY`, `CANCELLED`; `INVALID(Sequence)` if it is not pinned; `CORRUPT` as in `end`. Threads: its
    /// driver. Lock-free. Cost: O(blocks held).
    pub fn unpin(&self, sequence: Sequence) -> Result<Released, Refusal> {
        self.recorded(Call::Unpin { sequence }, |pool| {
            let mut driver = pool.sequences.drive(sequence, Event::Unpin)?;
            let (released, lost) = pool.let_go(&driver, 0, Why::Unpin);
            driver.succeed();
            Self::unless_lost(released, lost)
        })
    }

    /// Tokens, if they are given, for each name.
    pub(super) fn check_prefix(&self, prefix: &Prefix<'_>) -> Result<(), Refusal> {
        let all = prefix.identities.len().saturating_mul(self.block_tokens.get() as usize);
        if prefix.tokens.is_empty() || prefix.tokens.len() == all {
            return Ok(());
        }
        Err(Refusal::invalid(Argument::Tokens))
    }

    /// Grip what was found, in the order of the row. The row has the ids; what is not gripped leaves it.
    pub(super) fn take_hits(
        &self,
        driver: &Driver<'_>,
        prompt_tokens: u32,
        asker: &Asker<'_>,
        plan: &Plan,
        mut purse: Purse,
    ) -> Taken {
        let (mut end, mut counted, mut after) = (plan.blocks, 0, Epoch::NONE);
        let windowed = asker.is_windowed();
        if plan.blocks > 0 {
            let row = self.row_of(driver);
            for position in plan.first..plan.blocks {
                let id = row.at(position as usize).load(Relaxed);
                match self.grip(asker, position, id, &mut purse) {
                    Some(gripped) => {
                        counted += u32::from(!windowed || gripped.owed);
                        after = after.max(gripped.after);
                    }
                    None => {
                        end = position;
                        break;
                    }
                }
            }
            clear_from(row, end, plan.blocks);
            let first = plan.first.min(end);
            driver.record.set_extent(Extent { tokens: 0, held: end });
            driver.record.set_holes(Holes { count: first, recycled: first, nulled: first });
            if windowed && end < plan.blocks {
                // Without the blocks in the window it is no hit.
                self.undo_hits(driver);
                (end, counted, after) = (0, 0, Epoch::NONE);
            }
            driver.record.touch_row();
        }
        if purse.committed > 0 {
            // Paid for, and not needed: blocks that somebody else holds by now, or that are gone.
            self.ledger.credit(purse.committed);
            purse.promised += core::mem::take(&mut purse.committed);
        }
        driver.record.set_waits_for(unfinished(asker, after));
        let cached = (u64::from(end) * u64::from(self.block_tokens.get())).min(u64::from(prompt_tokens - 1)) as u32;
        driver.record.set_extent(Extent { tokens: cached, held: end });
        let hits = end - plan.first.min(end);
        let admitted = Admitted { promised: 0, hits, cached_tokens: cached, after: unfinished(asker, after) };
        Taken { purse, counted, admitted }
    }

    /// Hits of an admission that comes to nothing go back to what they were.
    pub(super) fn undo_hits(&self, driver: &Driver<'_>) {
        let gone = self.let_go_blocks(driver, Why::Unpin);
        self.uncharge(self.group_of(driver), gone.free, 0);
    }
}

/// The epoch to wait for, if it is not over.
fn unfinished(asker: &Asker<'_>, after: Epoch) -> Epoch {
    if after > asker.frontier { after } else { Epoch::NONE }
}

/// The first entries of a row are null blocks again.
pub(super) fn clear(row: Row<'_>, entries: u32) {
    clear_from(row, 0, entries);
}

/// How many of the entries `from .. to` of a row are blocks.
pub(super) fn entries_in(row: Row<'_>, from: u32, to: u32) -> u32 {
    (from..to).filter(|&place| row.at(place as usize).load(Relaxed) != 0).count() as u32
}

/// The entries `from .. to` of a row are null blocks again.
pub(super) fn clear_from(row: Row<'_>, from: u32, to: u32) {
    (from..to).for_each(|position| row.at(position as usize).store(0, Relaxed));
}
