//! Tokens in the model: blocks are promised, the pool says which they are.

use super::blocks::Payee;
use super::leaving::Why;
use super::pool::{Entry, Life, Model, Order, invalid};
use crate::answer::{Argument, Refusal};
use crate::calls::{Advanced, Released};
use crate::ids::Sequence;
use std::vec::Vec;

/// What an advance did, and the places of the row whose blocks the pool is to name, in the order in which they were taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Growth {
    pub(super) advanced: Advanced,
    pub(super) places: Vec<usize>,
}

impl Model {
    pub(super) fn advance(&mut self, sequence: Sequence, tokens: u32, growth: Option<u32>) -> Result<Growth, Refusal> {
        if tokens == 0 {
            return Err(invalid(Argument::Tokens));
        }
        let slot = self.drive(sequence, Life::Admitted)?;
        if self.sequences[slot].shared.is_some() && growth.is_some() {
            return Err(invalid(Argument::Account));
        }
        if self.sequences[slot].unaccepted > 0 {
            return Err(Refusal::Busy);
        }
        self.recycle(slot);
        let seq = &self.sequences[slot];
        let tokens = seq.tokens.checked_add(tokens).ok_or(invalid(Argument::Tokens))?;
        let entries = self.blocks_for(tokens).max(seq.entries());
        let order = self.must_copy(slot);
        if let Some(order) = &order {
            self.may_copy(slot, order)?;
        }
        let mut grown = self.grow(slot, entries, growth)?;
        if let Some(order) = order {
            self.leave_tail(slot, order);
            grown.places.push(order.place);
            grown.advanced.copies = 1;
        }
        self.sequences[slot].tokens = tokens;
        Ok(grown)
    }

    pub(super) fn materialize(&mut self, sequence: Sequence, blocks: u32) -> Result<Growth, Refusal> {
        if blocks == 0 {
            return Err(invalid(Argument::Count));
        }
        let slot = self.drive(sequence, Life::Admitted)?;
        self.grow(slot, blocks.max(self.sequences[slot].entries()), None)
    }

    /// Charge the blocks that a row of `entries` entries needs.
    fn grow(&mut self, slot: usize, entries: u32, growth: Option<u32>) -> Result<Growth, Refusal> {
        let seq = &self.sequences[slot];
        let (before, held) = (seq.row.len(), seq.held());
        let need = entries - seq.entries();
        if entries > self.config.table_width {
            return Err(Refusal::NeverFits { needed: entries, ceiling: self.config.table_width });
        }
        if need > 0 {
            self.debit(slot, need, held, growth)?;
        }
        self.sequences[slot].row.resize(before + need as usize, Entry::default());
        let advanced = Advanced { taken: need, entries, copies: 0 };
        Ok(Growth { advanced, places: (before..before + need as usize).collect() })
    }

    fn debit(&mut self, slot: usize, need: u32, held: u32, growth: Option<u32>) -> Result<(), Refusal> {
        let seq = &self.sequences[slot];
        if let Some(credit @ Payee::Shared(account, _)) = seq.shared {
            let balance = self.accounts[account].balance;
            if balance < need {
                return Err(self.account_refusal(credit, need - balance));
            }
            self.accounts[account].balance -= need;
            return Ok(());
        }
        let missing = need.saturating_sub(seq.balance);
        if missing > 0 {
            let Some(watermark) = growth else {
                return Err(self.account_refusal(Payee::Own(slot, seq.generation), missing));
            };
            let group = self.group_at(slot);
            self.ceiling(group, u64::from(held) + u64::from(need))?;
            self.fits(group, missing, watermark, &[])?;
        }
        self.sequences[slot].balance -= need - missing;
        Ok(())
    }

    /// The pool says that it took this block for an entry of a row. False: it could not be this one.
    pub(super) fn took(&mut self, slot: usize, place: usize, id: u32) -> bool {
        let could_be = self.exists(id) && {
            let is_free = |id: u32| self.holds(id) == 0 && matches!(self.block(id).place, super::blocks::Place::Free);
            if self.ids().any(|id| self.is_dead(id)) {
                self.is_dead(id)
            } else if self.ids().any(is_free) {
                is_free(id)
            } else {
                self.next_to_go() == Some(id)
            }
        };
        if !could_be {
            return false;
        }
        self.unname(id);
        self.clear(id);
        let seq = &self.sequences[slot];
        let (group, credit) = (self.group_at(slot), seq.shared);
        let owed = seq.is_windowed() && credit.is_none();
        self.first_holder(id, group, credit, owed);
        self.sequences[slot].row[place] = Entry { id, held: true };
        true
    }

    pub(super) fn speculate(&mut self, sequence: Sequence, tokens: u32) -> Result<Growth, Refusal> {
        let growth = self.advance(sequence, tokens, None)?;
        self.sequences[sequence.slot as usize].unaccepted = tokens;
        Ok(growth)
    }

    pub(super) fn accept(&mut self, sequence: Sequence, tokens: u32, give_back: bool) -> Result<Released, Refusal> {
        let slot = self.drive(sequence, Life::Admitted)?;
        let seq = &self.sequences[slot];
        if seq.unaccepted == 0 {
            return Err(invalid(Argument::Sequence));
        }
        if tokens > seq.unaccepted {
            return Err(invalid(Argument::Tokens));
        }
        let accepted = seq.accepted() + tokens;
        // With blocks of one token it may hold the block of its last prompt token, which was found, before that token.
        let is_named = |entry: &&Entry| entry.held && self.block(entry.id).name.is_some();
        let (needed, entries) = (self.blocks_for(accepted) as usize, seq.row.len());
        let needed = needed + seq.row.get(needed).filter(is_named).into_iter().count();
        let gives = give_back && entries > needed;
        if gives {
            self.writable_row(slot)?;
        }
        let seq = &mut self.sequences[slot];
        (seq.tokens, seq.unaccepted) = (accepted, 0);
        if !gives {
            return Ok(Released::default());
        }
        let released = self.leave(slot, Why::RollBack, needed..entries);
        self.sequences[slot].row.truncate(needed);
        Ok(released)
    }

    /// Whether a sequence writes its next token to a block that others may write to too.
    fn must_copy(&self, slot: usize) -> Option<Order> {
        let (seq, size) = (&self.sequences[slot], self.config.block_tokens);
        let (place, slots) = ((seq.tokens / size) as usize, seq.tokens % size);
        let entry = seq.row.get(place).filter(|entry| slots > 0 && entry.held)?;
        self.block(entry.id).tail.then_some(Order { source: entry.id, place, slots })
    }

    fn may_copy(&mut self, slot: usize, order: &Order) -> Result<(), Refusal> {
        if self.sequences[slot].order.is_some() || self.holds(order.source) >= super::transfers::HOLDS_MAX {
            return Err(Refusal::Busy);
        }
        self.writable_row(slot)
    }

    /// The promise behind a shared tail is spent: one holder fewer, one grip more, and a block of one's own.
    fn leave_tail(&mut self, slot: usize, order: Order) {
        let seq = &mut self.sequences[slot];
        seq.row[order.place].held = false;
        seq.order = Some(order);
        let streams = seq.streams;
        self.leave_behind(order.source, streams);
        let is_shared = self.holders(order.source) > 1;
        self.block_mut(order.source).tail &= is_shared;
    }
}
