//! Forks and copies in the model.

use super::blocks::Payee;
use super::pool::{Entry, Life, Model, Order, Seq, invalid};
use crate::answer::{Argument, Refusal};
use crate::calls::{CopyOrder, Forked};
use crate::ids::{BlockId, Epoch, Sequence};
use std::vec::Vec;

impl Model {
    pub(super) fn fork(
        &mut self,
        parent: Sequence,
        children: &[Sequence],
        output_tokens_max: u32,
        watermark: u32,
    ) -> Result<Forked, Refusal> {
        if children.is_empty() {
            return Err(invalid(Argument::Count));
        }
        let slot = self.drive(parent, Life::Admitted)?;
        let group = self.group_at(slot);
        let seq = self.sequences[slot].clone();
        if seq.shared.is_some() {
            return Err(invalid(Argument::Account));
        }
        if seq.unaccepted > 0 || seq.order.is_some() {
            return Err(Refusal::Busy);
        }
        let tokens = seq.tokens.checked_add(output_tokens_max).ok_or(invalid(Argument::Tokens))?;
        let (entries, count) = (self.blocks_for(tokens), children.len() as u32);
        // What has tokens is shared.
        let row = &seq.row[..(self.blocks_for(seq.tokens) as usize).min(seq.row.len())];
        let held = || row.iter().filter(|entry| entry.held).map(|entry| entry.id);
        let owed = held().filter(|&id| self.block(id).owed).count() as u32;
        let shared = held().count() as u32;
        // What has a name is full, though the sequence may be short of its last token; so is what others hold still.
        let is_full = held().next_back().is_some_and(|id| {
            let block = self.block(id);
            block.name.is_some() || (!block.tail && self.holders(id) > 1)
        });
        let is_partial = !seq.tokens.is_multiple_of(self.config.block_tokens) && !is_full;
        let growth = entries - row.len() as u32;
        let peak = if seq.is_windowed() { entries.min(self.window_bound(&seq.window)?) } else { shared + growth };
        let balance = if seq.is_windowed() { peak.saturating_sub(owed) } else { growth };
        Self::within(u64::from(peak), self.room(group))?;
        Self::within(u64::from(entries), self.config.table_width)?;
        let slots = self.may_be_children(parent, children)?;
        let promised = (balance + owed + u32::from(is_partial)).checked_mul(count).ok_or(invalid(Argument::Tokens))?;
        self.fits(group, promised, watermark, &[])?;
        let waits_for = Some(seq.waits_for).filter(|&epoch| epoch > self.time.frontier()).unwrap_or_default();
        let after = self.time.tag(seq.streams).unwrap_or_default().max(waits_for);
        for child in slots {
            // (With two rows both may be in flight.)
            let turn = self.free_turn(child)?;
            let Seq { generation, in_flight, .. } = self.sequences[child];
            let empty = |entry: &Entry| if entry.held { *entry } else { Entry::default() };
            let before = self.sequences[child].balance;
            self.sequences[child] = Seq {
                generation,
                open: true,
                life: Life::Admitted,
                balance: before + balance,
                group: Some(group),
                streams: seq.streams,
                tokens: seq.tokens,
                row: row.iter().map(empty).collect(),
                window: seq.window,
                recycled: seq.recycled.min(row.len()),
                waits_for: after,
                outdated: seq.outdated,
                turn,
                in_flight,
                ..Seq::default()
            };
            self.sequences[child].in_flight[turn] = Default::default();
        }
        for (place, entry) in row.iter().enumerate().filter(|(_, entry)| entry.held) {
            self.become_known(entry.id);
            self.block_mut(entry.id).tail |= is_partial && place + 1 == row.len();
        }
        Ok(Forked { shared, promised, after })
    }

    /// Their slots, if all of them can be children.
    fn may_be_children(&self, parent: Sequence, children: &[Sequence]) -> Result<Vec<usize>, Refusal> {
        let all: Vec<_> = children.iter().chain([&parent]).collect();
        if (1..all.len()).any(|index| all[..index].contains(&all[index])) {
            return Err(invalid(Argument::Sequence));
        }
        let mut slots = Vec::new();
        for child in children {
            let slot = self.drive(*child, Life::Opened)?;
            if self.sequences[slot].group.is_some_and(|group| group != self.group_at(parent.slot as usize)) {
                return Err(invalid(Argument::Group));
            }
            slots.push(slot);
        }
        slots.iter().try_for_each(|&slot| self.free_turn(slot).map(drop))?;
        Ok(slots)
    }

    pub(super) fn copy_order(&self, slot: usize) -> Option<CopyOrder> {
        let seq = &self.sequences[slot];
        let Order { source, place, slots } = seq.order?;
        let waits_for = Some(seq.waits_for).filter(|&epoch| epoch > self.time.frontier()).unwrap_or_default();
        let after = self.time.tag(seq.streams).unwrap_or_default().max(waits_for);
        let destination = BlockId(seq.row.get(place).map_or(0, |entry| entry.id));
        Some(CopyOrder { source: BlockId(source), destination, slots, after })
    }

    pub(super) fn copy_submitted(&mut self, sequence: Sequence, epoch: Epoch) -> Result<(), Refusal> {
        if epoch == Epoch::NONE || epoch > self.time.newest() {
            return Err(invalid(Argument::Epoch));
        }
        let slot = self.drive(sequence, Life::Admitted)?;
        let order = self.sequences[slot].order.take().ok_or(Refusal::Stale)?;
        self.add_to_tag(order.source, epoch, self.sequences[slot].streams);
        self.let_go_of(order.source);
        Ok(())
    }

    /// Whether a sequence draws on a shared account.
    pub(super) fn draws_on(&self, slot: usize, account: Payee) -> bool {
        self.sequences[slot].open && self.sequences[slot].shared == Some(account)
    }
}
