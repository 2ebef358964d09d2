//! Grips of copies that no stream of the pool knows: `hold`, `hold_blocks`, `complete_transfer`, `revoke`, `quarantine`.
//!
//! A hold is a grip like a holder's, but of somebody who will not use the block as a sequence does: it keeps the block in A
//! and out of everybody's hands, also when its holders have left. Holds overlap and are counted in the block's word, so
//! the first of two completions frees nothing. A block that a transfer writes is no hit until the transfer is over.

use super::{Counter, Pool};
use crate::answer::{Argument, Refusal};
use crate::bits::{Places, bit_at};
use crate::block::{Flag, Kind, Word};
use crate::ids::{BlockId, Epoch, Sequence, Transfer};
use crate::ledger::Need;
use crate::recorder::{Call, Numbers};
use crate::sequence::Event;
use crate::sync::{AcqRel, Relaxed, full_fence, point};
use crate::transfers::Access;

/// How one grip of a transfer ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// What was to be copied is copied.
    Complete,
    /// The other side cannot touch the blocks any more; what it was to write is not there.
    Revoked,
}

impl Pool<'_> {
    /// A transfer grips `count` blocks of a sequence, from its `first` on: they stay in A until it is completed or revoked,
    /// whatever becomes of the sequence. Blocks that come back to a holder (of a window) cost one each.
    ///
    /// Errors: `INVALID` (`Count`: 0; `Block`: beyond the row, or out of the window; `Sequence`), `STALE`, `CANCELLED`,
    /// `FULL` (`PoolConfig::transfers` run already), `BUSY` (driven by another thread; a block has 15 holds, or is written by a
    /// transfer already), `WOULD_BLOCK`, `RETRY_AFTER`, `NEVER_FITS`. Then nothing is held. Threads: its driver. Lock-free.
    /// Cost: O(count).
    pub fn hold(&self, sequence: Sequence, first: u32, count: u32, access: Access) -> Result<Transfer, Refusal> {
        self.recorded(Call::Hold { sequence, first, count, access }, |pool| {
            if count == 0 {
                return Err(Refusal::invalid(Argument::Count));
            }
            let driver = pool.sequences.drive(sequence, Event::Use)?;
            let held = driver.record.extent().held;
            if u64::from(first) + u64::from(count) > u64::from(held) || first < driver.record.holes().recycled {
                return Err(Refusal::invalid(Argument::Block));
            }
            let (row, group) = (pool.row_of(&driver), pool.group_of(&driver));
            let ids = (first..first + count).map(|place| row.at(place as usize).load(Relaxed));
            ids.clone().filter(|&id| id != 0).for_each(|id| {
                pool.begin_sharing(id, group, driver.record.shared());
            });
            pool.hold_all(ids.filter(|&id| id != 0), access, true)
        })
    }

    /// The same for blocks by their ids: cached ones, say. A block named twice counts once. An idle block is need, one each:
    /// it is in A from now on.
    ///
    /// Errors: as `hold`; `INVALID(Block)` for an id that is no block with contents that others may know (idle, retiring,
    /// or held and shared). Threads: any. Lock-free. Cost: O(ids).
    pub fn hold_blocks(&self, ids: &[BlockId], access: Access) -> Result<Transfer, Refusal> {
        self.recorded(Call::HoldBlocks { ids: Numbers::of(ids), access }, |pool| {
            if ids.is_empty() {
                return Err(Refusal::invalid(Argument::Count));
            }
            let known = |word: Word| word.has(Flag::Shared) && (word.has(Flag::Named) || !word.is(Kind::Idle));
            if !ids.iter().all(|id| pool.blocks.exists(id.0) && known(pool.blocks.word(id.0))) {
                return Err(Refusal::invalid(Argument::Block));
            }
            pool.hold_all(ids.iter().map(|id| id.0), access, false)
        })
    }

    fn hold_all(
        &self,
        ids: impl Iterator<Item = u32> + Clone,
        access: Access,
        drives: bool,
    ) -> Result<Transfer, Refusal> {
        let transfer = self.transfers.open(access)?;
        for id in ids {
            if !self.transfers.add(transfer.slot, id) {
                continue;
            }
            if let Err(refusal) = self.hold_one(id, access, drives) {
                self.transfers.remove(transfer.slot, id);
                self.let_go_of_all(transfer, access, End::Complete);
                return Err(refusal);
            }
        }
        point("hold: gripped");
        self.transfers.start(transfer);
        Ok(transfer)
    }

    /// One more grip on a block. What it costs is charged before: an idle block to A, a grip on one that comes back to R.
    ///
    /// A block that others do not know is only for its holder to share, who `drives` the call then. For anybody else it is
    /// none, also if it was another one a moment ago; and its group is what it is under the word that is exchanged.
    fn hold_one(&self, id: u32, access: Access, drives: bool) -> Result<(), Refusal> {
        let mut word = self.blocks.word(id);
        loop {
            let group = self.blocks.group(id);
            let has_content = word.is(Kind::Held) || word.is(Kind::Retiring) || word.is(Kind::Idle);
            if !has_content || !(drives || word.has(Flag::Shared)) {
                return Err(Refusal::invalid(Argument::Block));
            }
            let next = word.hold(access == Access::Write).ok_or(Refusal::Busy)?;
            let need = Need {
                committed: u32::from(word.is(Kind::Idle)),
                promised: next.promises().saturating_sub(word.promises()),
            };
            if need.blocks() > 0 {
                self.charge(Some(group), need, 0)?;
            }
            // Of a retiring block: where its bit is. Others may hit it as soon as it is gripped, and leave more behind.
            let epoch = self.blocks.tag(id).epoch;
            match self.blocks.exchange(id, word, next) {
                Ok(()) => {
                    self.gripped(id, word, next, epoch);
                    return Ok(());
                }
                Err(now) => {
                    self.uncharge(group, need.committed, need.promised);
                    word = now;
                }
            }
        }
    }

    /// A block went from what it was to the grip of a transfer.
    fn gripped(&self, id: u32, was: Word, now: Word, epoch: Epoch) {
        match was.kind() {
            Some(Kind::Idle) => {
                if was.has(Flag::Named) {
                    self.counter(Counter::Idle).fetch_sub(1, AcqRel);
                }
                self.counter(Counter::Gripped).fetch_add(1, AcqRel);
            }
            Some(Kind::Retiring) if was.holds() == 0 => {
                // O28, as in `unlink`.
                full_fence();
                self.retiring.forget(epoch, id);
                self.counter(self.gripped_as(now)).fetch_add(1, AcqRel);
            }
            _ => {}
        }
    }

    /// The transfer is over: its blocks are nobody's for its sake any more. How many it gripped.
    ///
    /// Errors: `STALE` if it was completed or revoked before, or is of another pool; `BUSY` while it is being
    /// quarantined. Of two calls that end one transfer exactly one does. Threads: any. Lock-free. Cost: O(blocks) + O(N/4096).
    pub fn complete_transfer(&self, transfer: Transfer) -> Result<u32, Refusal> {
        let call = Call::CompleteTransfer { transfer };
        self.recorded(call, |pool| pool.end_transfer(transfer, End::Complete))
    }

    /// The other side of the transfer can no longer touch its blocks: as `complete_transfer`, but what a transfer was to
    /// write is not there, so names of blocks that it wrote die.
    ///
    /// Errors, threads, progress, cost: as `complete_transfer`.
    pub fn revoke(&self, transfer: Transfer) -> Result<u32, Refusal> {
        self.recorded(Call::Revoke { transfer }, |pool| pool.end_transfer(transfer, End::Revoked))
    }

    fn end_transfer(&self, transfer: Transfer, end: End) -> Result<u32, Refusal> {
        let access = self.transfers.finish(transfer)?;
        point("transfer: ended");
        Ok(self.let_go_of_all(transfer, access, end))
    }

    fn let_go_of_all(&self, transfer: Transfer, access: Access, end: End) -> u32 {
        let mut count = 0;
        for (word, bits) in self.transfers.blocks(transfer.slot) {
            for place in Places(bits) {
                let id = bit_at(word, place);
                if end == End::Revoked && access == Access::Write {
                    self.unname_now(id);
                }
                self.let_go_of(id, access == Access::Write, Some(transfer));
                count += 1;
            }
        }
        self.transfers.vacate(transfer);
        count
    }

    /// One grip fewer on a block. If it was the last one of all, the block waits for what is left in its tag, or goes home
    /// at once.
    pub(super) fn let_go_of(&self, id: u32, writes: bool, transfer: Option<Transfer>) {
        let group = self.blocks.group(id);
        let in_doubt = transfer.is_some_and(|mine| self.is_doubted_by_another(id, mine));
        let changed = self.blocks.change(id, |word| {
            let word = word.unhold(writes)?;
            Some(if word.has(Flag::Doubt) && transfer.is_some() { word.doubt(in_doubt) } else { word })
        });
        let Some((was, now)) = changed else { return };
        if was.promises() > now.promises() {
            self.uncharge(group, 0, was.promises() - now.promises());
        }
        if !now.is(Kind::Retiring) {
            return;
        }
        self.counter(self.gripped_as(was)).fetch_sub(1, AcqRel);
        if now.holds() > 0 {
            self.counter(self.gripped_as(now)).fetch_add(1, AcqRel);
            return;
        }
        self.wait_in_bucket(id, &self.blocks.tag(id));
    }

    /// Nobody knows when the transfer will end, or whether it has. Its blocks that have no holder, and those that lose
    /// their last one, count as quarantined; they are given back when it is completed or revoked after all.
    ///
    /// Errors: `STALE`; `BUSY` while another thread does the same. Twice is `OK`. Threads: any. Lock-free. Cost: O(blocks).
    pub fn quarantine(&self, transfer: Transfer) -> Result<(), Refusal> {
        self.recorded(Call::Quarantine { transfer }, |pool| {
            if pool.transfers.is_quarantined(transfer) {
                return Ok(());
            }
            pool.transfers.quarantine(transfer)?;
            for (word, bits) in pool.transfers.blocks(transfer.slot) {
                for place in Places(bits) {
                    pool.doubt(bit_at(word, place));
                }
            }
            pool.transfers.doubted(transfer);
            Ok(())
        })
    }

    fn doubt(&self, id: u32) {
        let Some((was, now)) = self.blocks.change(id, |word| Some(word.doubt(true))) else { return };
        if now.is(Kind::Retiring) && !was.has(Flag::Doubt) {
            self.counter(Counter::Gripped).fetch_sub(1, AcqRel);
            self.counter(Counter::Doubted).fetch_add(1, AcqRel);
        }
    }

    /// Whether a quarantined transfer besides `mine` grips a block.
    fn is_doubted_by_another(&self, id: u32, mine: Transfer) -> bool {
        (0..self.transfers.count())
            .filter(|&slot| slot != mine.slot)
            .any(|slot| self.transfers.doubts(slot) && self.transfers.grips(slot, id))
    }
}
