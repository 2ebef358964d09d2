//! The road home of blocks in the model.

use super::blocks::{Credit, Payee, Place};
use super::pool::{Entry, Life, Model, Seq, invalid};
use crate::answer::{Argument, Refusal};
use crate::calls::Released;
use crate::ids::{Epoch, Group, Sequence, StreamSet};
use std::vec::Vec;

/// Why a sequence leaves blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// It gives them away.
    End,
    /// They come back to it, out of its window.
    Recycle,
    /// They come back to it: proposed tokens that were not accepted.
    RollBack,
    /// It launched nothing on them.
    Unpin,
}

impl Model {
    /// The pool opened this sequence.
    pub(super) fn opened(&mut self, sequence: Sequence) -> bool {
        let Some(seq) = self.sequences.get_mut(sequence.slot as usize) else { return false };
        let could_be = !seq.open && seq.generation == sequence.generation && sequence.pool == self.config.number;
        let (turn, in_flight) = (seq.turn, seq.in_flight);
        *seq = Seq { generation: sequence.generation, open: true, turn, in_flight, ..Seq::default() };
        could_be
    }

    pub(super) fn may_open(&self) -> bool {
        self.sequences.iter().any(|seq| !seq.open)
    }

    pub(super) fn cancel(&mut self, sequence: Sequence) -> Result<(), Refusal> {
        let slot = self.find(sequence)?;
        let seq = &mut self.sequences[slot];
        self.returned |= seq.balance > 0;
        (seq.cancelled, seq.balance) = (true, 0);
        Ok(())
    }

    pub(super) fn end(&mut self, sequence: Sequence) -> Result<Released, Refusal> {
        let slot = self.find(sequence)?;
        let balance = self.empty(slot);
        // No block pays it any more.
        self.sequences[slot].cancelled = true;
        let released = self.let_go(slot, balance, Why::End);
        let seq = &mut self.sequences[slot];
        (seq.open, seq.generation) = (false, seq.generation + 1);
        Ok(released)
    }

    pub(super) fn preempt(&mut self, sequence: Sequence) -> Result<Released, Refusal> {
        let slot = self.drive(sequence, Life::Admitted)?;
        let balance = self.empty(slot);
        Ok(self.let_go(slot, balance, Why::End))
    }

    pub(super) fn withdraw_admission(&mut self, sequence: Sequence) -> Result<Released, Refusal> {
        let slot = self.drive(sequence, Life::Admitted)?;
        let balance = self.empty(slot);
        Ok(self.let_go(slot, balance, Why::Unpin))
    }

    pub(super) fn unpin(&mut self, sequence: Sequence) -> Result<Released, Refusal> {
        let slot = self.drive(sequence, Life::Pinned)?;
        Ok(self.let_go(slot, 0, Why::Unpin))
    }

    fn empty(&mut self, slot: usize) -> u32 {
        let balance = core::mem::take(&mut self.sequences[slot].balance);
        self.returned |= balance > 0;
        balance
    }

    /// Everything that a sequence has goes home; what is left is a handle.
    fn let_go(&mut self, slot: usize, balance: u32, why: Why) -> Released {
        if let Some(order) = self.sequences[slot].order.take() {
            self.let_go_of(order.source);
        }
        let mut released = self.leave(slot, why, 0..self.sequences[slot].row.len());
        released.promised += balance;
        let Seq { generation, open, cancelled, group, turn, in_flight, balance, .. } = self.sequences[slot].clone();
        let seq = &mut self.sequences[slot];
        *seq = Seq { generation, open, cancelled, group, turn, in_flight, balance, ..Seq::default() };
        released
    }

    /// A sequence leaves entries of its row, children before parents. The row is the caller's to mend.
    pub(super) fn leave(&mut self, slot: usize, why: Why, entries: core::ops::Range<usize>) -> Released {
        let mut released = Released::default();
        for place in entries.rev() {
            let entry = &mut self.sequences[slot].row[place];
            if core::mem::take(&mut entry.held) {
                let id = entry.id;
                self.leave_block(slot, id, why, &mut released);
            }
        }
        released
    }

    /// A sequence has left a block.
    fn leave_block(&mut self, slot: usize, id: u32, why: Why, released: &mut Released) {
        if why != Why::Unpin {
            self.leave_behind(id, self.sequences[slot].streams);
        }
        let own = Payee::Own(slot, self.sequences[slot].generation);
        let comes_back = matches!(why, Why::Recycle | Why::RollBack);
        let (owed, tail) = (self.block(id).owed, self.block(id).tail);
        let (holders, holds) = (self.holders(id), self.holds(id));
        // What stood behind the block for this holder.
        let mut promises = u32::from(owed && holders + holds > 0) + u32::from(tail && holders > 0);
        if owed && holders == 0 {
            // Nobody is told that it comes back any more: nothing stands behind the other grips.
            promises = holds;
        }
        if comes_back && owed && promises > 0 && self.pay(Some(own)) {
            promises -= 1;
        } else if comes_back && self.comes_back_later(slot, id, why) {
            self.block_mut(id).credit = Some(own);
        }
        self.returned |= promises > 0;
        released.promised += promises;
        if holders > 0 {
            self.block_mut(id).tail &= holders > 1;
            return;
        }
        (self.block_mut(id).owed, self.block_mut(id).tail) = (false, false);
        self.last_has_left(id, released);
    }

    /// Whether a block that comes back pays the sequence when it leaves A: nobody else has it, and the sequence paid for it.
    fn comes_back_later(&self, slot: usize, id: u32, why: Why) -> bool {
        let paid = self.block(id).owed || why == Why::RollBack;
        paid && self.holders(id) == 0 && self.sequences[slot].shared.is_none()
    }

    /// What the streams of a holder may still touch.
    pub(super) fn leave_behind(&mut self, id: u32, streams: StreamSet) {
        if let Some(epoch) = self.time.tag(streams) {
            self.add_to_tag(id, epoch, streams);
        }
    }

    pub(super) fn add_to_tag(&mut self, id: u32, epoch: Epoch, streams: StreamSet) {
        let block = self.block_mut(id);
        (block.epoch, block.streams) = (block.epoch.max(epoch), block.streams.with(streams));
    }

    /// A block has no holder any more.
    fn last_has_left(&mut self, id: u32, released: &mut Released) {
        if !self.may_rest(id) {
            self.unname(id);
        }
        if self.block(id).name.is_some() {
            // Its place in the order of eviction, whenever it will be idle.
            self.order.retain(|&other| other != id);
            self.order.push(id);
        }
        if self.holds(id) == 0 && self.is_quiet(id) {
            self.go_home(id);
            released.free += 1;
            return;
        }
        self.block_mut(id).place = Place::Retiring;
        released.retiring += 1;
        if !self.is_quiet(id) {
            released.after = released.after.max(self.block(id).epoch);
        }
    }

    /// A block leaves A.
    pub(super) fn go_home(&mut self, id: u32) {
        if self.block(id).name.is_some() && !self.may_rest(id) {
            self.unname(id);
        }
        let credit = self.block(id).credit;
        if self.block(id).name.is_some() {
            (self.block_mut(id).place, self.block_mut(id).credit) = (Place::Idle, None);
        } else {
            self.clear(id);
        }
        self.pay(credit);
        self.returned = true;
    }

    /// A transfer, or a copy, grips a block no more: the grip is gone already.
    pub(super) fn let_go_of(&mut self, id: u32) {
        // A place on a block that comes back to somebody else.
        let was_paid = self.block(id).owed && self.holders(id) + self.holds(id) > 0;
        self.returned |= was_paid;
        if self.block(id).place == Place::Retiring && self.holds(id) == 0 && self.is_quiet(id) {
            self.go_home(id);
        }
    }

    /// Retiring blocks whose work is over.
    pub(super) fn reclaim(&mut self) {
        for id in self.ids() {
            if self.block(id).place == Place::Retiring && self.holds(id) == 0 && self.is_quiet(id) {
                self.go_home(id);
            }
        }
    }

    pub(super) fn release(&mut self, sequence: Sequence, ids: &[u32]) -> Result<Released, Refusal> {
        let slot = self.drive(sequence, Life::Admitted)?;
        let (first, last) = self.full_entries(slot);
        let mut places = Vec::new();
        for &id in ids {
            let row = self.sequences[slot].row[..last].iter().enumerate().skip(first);
            let mut found = row.filter(|(place, entry)| entry.held && entry.id == id && !places.contains(place));
            let (place, _) = found.next().ok_or(invalid(Argument::Block))?;
            places.push(place);
        }
        // Of entries with one block the one that a copy writes is as good as any other.
        let order = self.sequences[slot].order.map(|order| self.sequences[slot].row[order.place].id);
        if order.is_some_and(|id| ids.contains(&id)) {
            return Err(Refusal::Busy);
        }
        self.writable_row(slot)?;
        Ok(self.release_places(slot, places))
    }

    pub(super) fn release_tokens(&mut self, sequence: Sequence, from: u32, to: u32) -> Result<Released, Refusal> {
        let slot = self.drive(sequence, Life::Admitted)?;
        let size = self.config.block_tokens;
        let (first, last) = ((from / size) as usize, (to / size) as usize);
        let (recycled, full) = self.full_entries(slot);
        if !from.is_multiple_of(size) || !to.is_multiple_of(size) || first >= last || last > full {
            return Err(invalid(Argument::Block));
        }
        if self.sequences[slot].order.is_some_and(|order| (first..last).contains(&order.place)) {
            return Err(Refusal::Busy);
        }
        self.writable_row(slot)?;
        Ok(self.release_places(slot, (first.max(recycled)..last).collect()))
    }

    /// The end of a sequence is forgotten.
    pub(super) fn trim(&mut self, sequence: Sequence, tokens: u32) -> Result<Released, Refusal> {
        let slot = self.drive(sequence, Life::Admitted)?;
        let seq = &self.sequences[slot];
        if seq.unaccepted > 0 || seq.order.is_some() {
            return Err(Refusal::Busy);
        }
        if tokens == seq.tokens {
            return Ok(Released::default());
        }
        let (keep, entries) = ((tokens / self.config.block_tokens) as usize, seq.row.len());
        if tokens > seq.tokens || !tokens.is_multiple_of(self.config.block_tokens) || keep < seq.recycled {
            return Err(invalid(Argument::Tokens));
        }
        self.writable_row(slot)?;
        let released = self.leave(slot, Why::End, keep..entries);
        let seq = &mut self.sequences[slot];
        seq.row.truncate(keep);
        seq.tokens = tokens;
        Ok(released)
    }

    /// From where to where the row has full blocks of accepted tokens.
    fn full_entries(&self, slot: usize) -> (usize, usize) {
        let seq = &self.sequences[slot];
        (seq.recycled, ((seq.accepted() / self.config.block_tokens) as usize).min(seq.row.len()))
    }

    fn release_places(&mut self, slot: usize, mut places: Vec<usize>) -> Released {
        places.sort_unstable();
        let mut all = Released::default();
        for place in places.into_iter().rev() {
            let Released { promised, free, retiring, after } = self.leave(slot, Why::End, place..place + 1);
            all.promised += promised;
            all.free += free;
            all.retiring += retiring;
            all.after = all.after.max(after);
            self.sequences[slot].row[place] = Entry::default();
        }
        all
    }

    /// A block of the free list gets its first holder.
    pub(super) fn first_holder(&mut self, id: u32, group: Group, credit: Credit, owed: bool) {
        let block = self.block_mut(id);
        *block = super::blocks::Block { place: Place::Held, group, credit, owed, known: owed, ..Default::default() };
    }
}
