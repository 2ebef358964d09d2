//! Sharing of what a sequence has written: `fork`, and the copy that a sharer makes before it writes: `copy_order`,
//! `copy_submitted`.
//!
//! A fork takes no block. All full blocks are read only and just get another holder. The last one, if it is not full, would
//! be written by each sharer: it is flagged, and carries one promise for each holder beyond the first (tail rule).
//!
//! 1. Who adds tokens and finds its tail shared spends that promise for a block of its own, in one transition of
//!    the word: one holder fewer, one hold more, because the old block is still to be read.
//! 2. It is told what to copy (`copy_order`), and says under which epoch the copy was submitted (`copy_submitted`): then the
//!    hold becomes part of the block's tag. An order that is never submitted ends with its sequence.
//! 3. Of two sharers one copies; the other is then the only holder, and writes at once, in later slots.

use super::admit::own_denied;
use super::charge::within;
use super::leave::Why;
use super::{Pool, Row};
use crate::accounts::Credit;
use crate::answer::{Argument, Refusal};
use crate::block::{Flag, Word};
use crate::calls::{CopyOrder, Forked};
use crate::freelist::Hint;
use crate::ids::{BlockId, Epoch, Group, Sequence};
use crate::ledger::Need;
use crate::recorder::{Call, Handles};
use crate::sequence::{Driver, Event, Extent, Holes, Order, Record};
use crate::sync::{Plant, Relaxed, planted, point};

/// What each child gets.
struct Share {
    extent: Extent,
    holes: Holes,
    /// Whether the last block is not full.
    partial: bool,
    /// Blocks that come back to somebody: each child pays for its place on them.
    owed: u32,
    /// The balance of a child.
    balance: u32,
    after: Epoch,
}

impl<'m> Pool<'m> {
    /// Make opened sequences children of an admitted one: each shares all blocks that have tokens, and may add
    /// `output_tokens_max` tokens. An admission for all or none of them, in the parent's group, with its window and
    /// streams: each child's own growth, one more if the tail is partial, and one for each block that comes back to
    /// somebody.
    ///
    /// Errors: `INVALID` (`Count`: no children; `Tokens`; `Sequence`: the parent is not admitted, a child is, or a sequence is
    /// named twice; `Account`: the parent draws on a shared one; `Group`: a child was in another one before), `STALE`, `CANCELLED`; `BUSY` (driven by another thread; the
    /// parent has unaccepted tokens or a copy order that was not submitted; rows in flight); `FULL` (a block has 1,023
    /// holders), `NEVER_FITS`, `WOULD_BLOCK`, `RETRY_AFTER`. Then no child has anything. Threads: the driver of all of them.
    /// Lock-free. Cost: O(children × blocks).
    pub fn fork(
        &self,
        parent: Sequence,
        children: &[Sequence],
        output_tokens_max: u32,
        watermark: u32,
    ) -> Result<Forked, Refusal> {
        let call = Call::Fork { parent, children: Handles::of(children), output_tokens_max, watermark };
        self.recorded(call, |pool| pool.fork_one(parent, children, output_tokens_max, watermark))
    }

    fn fork_one(
        &self,
        parent: Sequence,
        children: &[Sequence],
        output_tokens_max: u32,
        watermark: u32,
    ) -> Result<Forked, Refusal> {
        let count = u32::try_from(children.len()).ok().filter(|&count| count > 0);
        let count = count.ok_or(Refusal::invalid(Argument::Count))?;
        let mut driver = self.sequences.drive(parent, Event::Use)?;
        let group = self.group_of(&driver);
        let share = self.share_of(&driver, output_tokens_max)?;
        self.check_children(parent, children, group)?;
        let each = share.balance.saturating_add(share.owed).saturating_add(u32::from(share.partial));
        let promised = each.checked_mul(count).ok_or(Refusal::invalid(Argument::Tokens))?;
        self.charge(Some(group), Need::promised(promised), watermark)?;
        point("fork: charged");
        for (index, child) in children.iter().enumerate() {
            if let Err((refusal, returned)) = self.make_child(&driver, *child, &share, group) {
                let (made, not_made) = children.split_at_checked(index).unwrap_or((children, &[]));
                // Nothing was launched on them; one that was cancelled meanwhile goes by its `end`.
                for child in made {
                    let _ = self.preempt_as(*child, Why::Unpin);
                }
                let rest = each.saturating_mul(not_made.len() as u32);
                self.uncharge(group, 0, rest.saturating_sub(returned));
                return Err(refusal);
            }
        }
        driver.take_long_way(share.partial || driver.goes_long_way());
        Ok(Forked { shared: share.extent.held - share.holes.count, promised, after: share.after })
    }

    fn share_of(&self, driver: &Driver<'_>, output_tokens_max: u32) -> Result<Share, Refusal> {
        let (record, extent) = (driver.record, driver.record.extent());
        if !record.shared().is_none() {
            return Err(Refusal::invalid(Argument::Account));
        }
        if record.unaccepted() > 0 || record.order().source != 0 {
            return Err(Refusal::Busy);
        }
        let tokens = extent.tokens.checked_add(output_tokens_max).ok_or(Refusal::invalid(Argument::Tokens))?;
        let (held, entries) = (self.blocks_for(extent.tokens).min(extent.held), self.blocks_for(tokens));
        let holes = record.holes();
        let row = self.row_of(driver);
        let (mut owed, mut present) = (0, 0);
        for place in holes.recycled.min(held)..held {
            let id = row.at(place as usize).load(Relaxed);
            owed += u32::from(id != 0 && self.blocks.word(id).has(Flag::Owed));
            present += u32::from(id != 0);
        }
        let windowed = record.window() > 0;
        let last = if held == 0 { 0 } else { row.at(held as usize - 1).load(Relaxed) };
        let partial = !extent.tokens.is_multiple_of(self.block_tokens.get()) && is_written(self.blocks.word(last));
        let peak = if windowed { entries.min(record.window_bound()) } else { entries - (held - present) };
        within(u64::from(peak), self.ceiling(self.group_of(driver)))?;
        within(u64::from(entries), self.table.width)?;
        let balance = if windowed { peak.saturating_sub(owed) } else { entries - held };
        Ok(Share {
            extent: Extent { tokens: extent.tokens, held },
            holes: Holes { count: held - present, ..holes },
            partial,
            owed,
            balance,
            after: self.waits_for(record),
        })
    }

    /// Each of them can be a child, and stands there once.
    fn check_children(&self, parent: Sequence, children: &[Sequence], group: Group) -> Result<(), Refusal> {
        let mut rest = children;
        while let [child, others @ ..] = rest {
            if *child == parent || others.contains(child) {
                return Err(Refusal::invalid(Argument::Sequence));
            }
            rest = others;
        }
        children.iter().try_for_each(|child| self.drive_child(*child, group).map(drop))?;
        children.iter().try_for_each(|child| self.free_turn(&self.drive_child(*child, group)?).map(drop))
    }

    fn drive_child(&self, child: Sequence, group: Group) -> Result<Driver<'m>, Refusal> {
        let driver = self.sequences.drive(child, Event::Admit)?;
        match driver.record.group() {
            Some(other) if other != group => Err(Refusal::invalid(Argument::Group)),
            _ => Ok(driver),
        }
    }

    /// `Err`: why not, and how many promises of the child's price have gone back already.
    fn make_child(
        &self,
        parent: &Driver<'_>,
        child: Sequence,
        share: &Share,
        group: Group,
    ) -> Result<(), (Refusal, u32)> {
        let nothing = |refusal| (refusal, 0);
        let mut driver = self.drive_child(child, group).map_err(nothing)?;
        let turn = self.free_turn(&driver).map_err(nothing)?;
        let record = driver.record;
        record.set_place(Some(group), turn);
        record.set_streams(parent.record.streams());
        record.set_reach(parent.record.window(), 0);
        record.set_window_bound(parent.record.window_bound());
        record.set_stamp(parent.record.stamp());
        record.set_waits_for(share.after);
        let (from, to) = (self.row_of(parent), self.row_of(&driver));
        let recycled = share.holes.recycled.min(share.extent.held);
        let last = share.extent.held.saturating_sub(1);
        for place in recycled..share.extent.held {
            let id = from.at(place as usize).load(Relaxed);
            let is_tail = share.partial && place == last;
            if id != 0 && !self.join(id, is_tail, group) {
                return Err((Refusal::Full, self.forget_child(&driver, recycled, place)));
            }
            to.at(place as usize).store(id, Relaxed);
        }
        record.set_extent(share.extent);
        record.set_holes(Holes { recycled, nulled: recycled, ..share.holes });
        record.touch_row();
        point("fork: joined");
        if !record.balance().credit(driver.generation, share.balance) {
            return Err((Refusal::Cancelled, self.forget_child(&driver, recycled, share.extent.held)));
        }
        driver.take_long_way(share.partial || record.window() > 0);
        driver.succeed();
        Ok(())
    }

    /// The newest epoch under which blocks of a sequence may still be written: by its own work, or by that of others whose
    /// blocks it shares. `NONE`: that is over.
    fn waits_for(&self, record: &Record) -> Epoch {
        let others = record.waits_for();
        let others = if others > self.streams.frontier() { others } else { Epoch::NONE };
        self.streams.tag(record.streams()).max(others)
    }

    /// One more holder of a block of a sequence that the caller drives.
    fn join(&self, id: u32, is_tail: bool, group: Group) -> bool {
        self.begin_sharing(id, group, Credit::NONE);
        self.blocks.change(id, |word| if is_tail { word.join_tail() } else { word.join() }).is_some()
    }

    /// A child that cannot be made leaves the blocks that it has joined. How many promises went back with that.
    fn forget_child(&self, driver: &Driver<'_>, from: u32, to: u32) -> u32 {
        let gone = self.leave(driver, Why::Unpin, from, to - from);
        super::prefix::clear(self.row_of(driver), to);
        driver.record.set_extent(Extent::default());
        driver.record.clear_rest();
        gone.promises
    }

    /// Whether the sequence must leave its last block before it writes to it.
    pub(super) fn must_copy(&self, driver: &Driver<'_>, extent: &Extent) -> Option<Order> {
        let slots = extent.tokens % self.block_tokens;
        let place = extent.tokens / self.block_tokens;
        if slots == 0 || place >= extent.held {
            return None;
        }
        let source = self.row_of(driver).at(place as usize).load(Relaxed);
        self.blocks.word(source).is_tail().then_some(Order { source, place, slots })
    }

    /// Whether the copy that leaving a shared tail means could be ordered now.
    pub(super) fn may_copy(&self, driver: &Driver<'_>, order: &Order) -> Result<(), Refusal> {
        let word = self.blocks.word(order.source);
        if driver.record.order().source != 0 || (word.is_tail() && word.leave_copying().is_none()) {
            return Err(Refusal::Busy);
        }
        self.writable_row(driver).map(drop)
    }

    /// Leave a shared tail for a block of one's own. `Ok(false)`: everybody else has left it meanwhile. `BUSY`: there are too
    /// many copies of it to be submitted, or both rows are being read.
    pub(super) fn leave_tail(&self, driver: &Driver<'_>, order: &Order) -> Result<bool, Refusal> {
        let row = self.writable_row(driver)?;
        let record = driver.record;
        let Order { source, place, .. } = *order;
        self.blocks.leave_behind(source, self.streams.tag(record.streams()), record.streams());
        let mut word = self.blocks.word(source);
        loop {
            if !word.is_tail() {
                return Ok(false);
            }
            let next = word.leave_copying().ok_or(Refusal::Busy)?;
            point("copy: looked");
            if planted(Plant::LeaveByStore) {
                self.blocks.alone(source, |_| Some(next));
                break;
            }
            match self.blocks.exchange(source, word, next) {
                Ok(()) => break,
                Err(now) => word = now,
            }
        }
        // The promise that stood behind the block is spent: R − 1, A + 1.
        self.ledger.materialize(1);
        point("copy: spent");
        record.set_order(*order);
        self.take_into(driver, row, place)?;
        record.touch_row();
        Ok(true)
    }

    fn take_into(&self, driver: &Driver<'_>, row: Row<'_>, place: u32) -> Result<(), Refusal> {
        let mut put = |id: u32| {
            if driver.record.window() > 0 {
                self.begin_sharing(id, self.group_of(driver), Credit::NONE);
                self.blocks.alone(id, Word::owe);
            }
            row.at(place as usize).store(id, Relaxed);
        };
        self.take_each(driver, 1, Hint::Any, &mut put)
    }

    /// The copy that a sequence has to make before its next step writes; `None`: none, or it was submitted.
    ///
    /// Errors: `INVALID(Sequence)`, `STALE`, `BUSY`, `CANCELLED`. Threads: its driver. Cost: O(1).
    pub fn copy_order(&self, sequence: Sequence) -> Result<Option<CopyOrder>, Refusal> {
        let driver = self.sequences.drive(sequence, Event::Use)?;
        let (record, order) = (driver.record, driver.record.order());
        if order.source == 0 {
            return Ok(None);
        }
        let destination = self.row_of(&driver).at(order.place as usize).load(Relaxed);
        let after = self.waits_for(record);
        let (source, destination) = (BlockId(order.source), BlockId(destination));
        Ok(Some(CopyOrder { source, destination, slots: order.slots, after }))
    }

    /// The copy of a sequence's order was submitted under `epoch`, on one of its streams: the block that it reads waits
    /// for that epoch, and for nothing else on its account.
    ///
    /// Errors: `INVALID` (`Epoch`: not one that was submitted; `Sequence`), `STALE` (the sequence; or there is no order),
    /// `BUSY`, `CANCELLED`. Threads: its driver. Lock-free. Cost: O(1).
    pub fn copy_submitted(&self, sequence: Sequence, epoch: Epoch) -> Result<(), Refusal> {
        self.recorded(Call::CopySubmitted { sequence, epoch }, |pool| {
            if epoch == Epoch::NONE || epoch > pool.streams.newest() {
                return Err(Refusal::invalid(Argument::Epoch));
            }
            let driver = pool.sequences.drive(sequence, Event::Use)?;
            let source = driver.record.order().source;
            if source == 0 {
                return Err(Refusal::Stale);
            }
            pool.blocks.leave_behind(source, epoch, driver.record.streams());
            pool.drop_order(&driver);
            Ok(())
        })
    }

    /// The copy order of a sequence, if it has one, is over: submitted, or never to be. Its hold of the source ends.
    pub(super) fn drop_order(&self, driver: &Driver<'_>) {
        let order = driver.record.order();
        if order.source != 0 {
            driver.record.set_order(Order::default());
            self.let_go_of(order.source, false, None);
        }
    }

    /// A debit of a sequence's own account. What it lacks may be pending: blocks that come back to it and are retiring.
    pub(super) fn debit_own(&self, driver: &Driver<'_>, count: u32) -> Result<(), Refusal> {
        loop {
            let denied = match driver.record.balance().debit(driver.generation, count) {
                Ok(()) => return Ok(()),
                Err(denied) => denied,
            };
            let refusal = own_denied(denied);
            let Refusal::OverPromise { short_by } = refusal else { return Err(refusal) };
            if self.reclaim_up_to(u32::MAX) > 0 {
                continue;
            }
            if let Some(refusal) = self.account_refusal(Credit::own(driver.slot, driver.generation), short_by) {
                return Err(refusal);
            }
        }
    }
}

/// Whether the last block of a sequence that is not full with its tokens is written to. It is full all the same, and nobody
/// writes to it, if the last token of a prompt that was found whole lies in it: it has a name, or had one and has others
/// holding it still.
fn is_written(word: Word) -> bool {
    !word.has(Flag::Named) && (word.is_tail() || word.holders() < 2)
}
