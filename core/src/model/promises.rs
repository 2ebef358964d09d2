//! Promises in the model, and the blocks of a prefix that are hit when they are made.

use super::blocks::{Payee, Place};
use super::make::Words;
use super::pool::{Entry, Life, Model, Seq, invalid};
use crate::answer::{Argument, Refusal, Scope};
use crate::calls::{Admission, Admitted, Found, Promise, Window};
use crate::ids::{Epoch, Group, Sequence, StreamSet};
use std::vec::Vec;

/// The blocks of a prefix, in the order of the row; 0: out of the window.
struct Hits {
    row: Vec<u32>,
    /// The first that is held.
    first: usize,
    after: Epoch,
    /// How many are idle, are held and come back to somebody, retire with a credit.
    idle: u32,
    owed: u32,
    credited: u32,
    /// How many come back to a windowed asker.
    own: u32,
}

impl Hits {
    fn held(&self) -> &[u32] {
        &self.row[self.first..]
    }

    /// Blocks that cost one each.
    fn priced(&self) -> u32 {
        self.idle + self.owed + self.credited
    }
}

impl Model {
    /// What is found of a prefix. `shared`: by who draws on a shared account, which cannot carry a promise behind a block.
    fn look(&self, group: Group, words: &Words, prompt_tokens: u32, window: u32, shared: bool) -> Hits {
        let size = self.config.block_tokens;
        let blocks_max = (prompt_tokens / size).min(self.config.table_width);
        let named = if self.config.cache == 0 { 0 } else { words.identities.len() };
        let most = named.min(blocks_max as usize).min(words.blocks_max as usize);
        let hit = |place: usize| {
            let tokens = words.tokens_of(place, self.config.block_tokens);
            let may = |id: u32| !shared || !self.block(id).owed || self.block(id).place != Place::Held;
            self.hit(group, words.identities[place], tokens, words.unfinished, may)
        };
        // What the next token looks back to begins there, and that token is the last of the prompt at the latest.
        let first_of = |end: usize| {
            let next = (end as u64 * u64::from(size)).min(u64::from(prompt_tokens - 1));
            if window == 0 { 0 } else { ((next + 1).saturating_sub(u64::from(window)) / u64::from(size)) as usize }
        };
        let is_hit = |&end: &usize| (first_of(end)..end).all(|place| hit(place).is_some());
        let end = (1..=most).rev().find(is_hit).unwrap_or(0);
        let first = if end == 0 { 0 } else { first_of(end) };
        let row: Vec<u32> = (0..end).map(|place| if place < first { 0 } else { hit(place).unwrap_or(0) }).collect();
        let held = || row[first..].iter().copied();
        let count = |fits: &dyn Fn(u32) -> bool| held().filter(|&id| fits(id)).count() as u32;
        let place = |id: u32| self.block(id).place;
        let has_credit = |id: u32| self.is_open(self.block(id).credit);
        Hits {
            first,
            after: held()
                .map(|id| self.written(id))
                .max()
                .filter(|&after| after > self.time.frontier())
                .unwrap_or_default(),
            idle: count(&|id| place(id) == Place::Idle),
            owed: count(&|id| place(id) == Place::Held && self.block(id).owed),
            credited: count(&|id| place(id) == Place::Retiring && has_credit(id)),
            own: count(&|id| self.will_be_owed(id)),
            row,
        }
    }

    pub(super) fn lookup(&self, group: Group, words: &Words, window: u32) -> Result<Found, Refusal> {
        let group = self.group(group)?;
        self.check_words(words)?;
        let hits = self.look(group, words, u32::MAX, window, false);
        Ok(Found { blocks: hits.row.len() as u32, priced: hits.priced(), after: hits.after })
    }

    /// Whether a block comes back to a windowed sequence that hits it: not if somebody else grips it to whom it does not.
    fn will_be_owed(&self, id: u32) -> bool {
        let block = self.block(id);
        if block.place == Place::Held { block.owed } else { self.holds(id) == 0 }
    }

    /// One more holder for each of these blocks, which the asker has paid for.
    fn take_hits(&mut self, slot: usize, hits: &Hits) {
        let seq = &mut self.sequences[slot];
        seq.row = hits.row.iter().map(|&id| Entry { id, held: id != 0 }).collect();
        (seq.recycled, seq.waits_for) = (hits.first, hits.after);
        let (account, comes_back) = (seq.shared, seq.is_windowed() && seq.shared.is_none());
        for &id in hits.held() {
            let before = self.block(id).place;
            if before == Place::Held {
                continue;
            }
            let credit = self.block(id).credit;
            let owed = comes_back && self.will_be_owed(id);
            let block = self.block_mut(id);
            (block.place, block.owed) = (Place::Held, owed);
            // Who was told that it comes back to him is paid now, by the asker; what was everybody's stays everybody's.
            if before == Place::Idle || self.is_open(credit) {
                self.block_mut(id).credit = account;
                let paid = self.pay(credit);
                self.returned |= paid;
            }
        }
    }

    pub(super) fn admit(
        &mut self,
        sequence: Sequence,
        admission: &Admission,
        words: &Words,
    ) -> Result<Admitted, Refusal> {
        let Admission { prompt_tokens, output_tokens_max, speculative_tokens, window, .. } = *admission;
        let tokens = prompt_tokens.checked_add(output_tokens_max).and_then(|sum| sum.checked_add(speculative_tokens));
        let tokens = tokens.filter(|_| prompt_tokens > 0).ok_or(invalid(Argument::Tokens))?;
        let full = self.blocks_for(tokens).min(self.window_bound(&window)?);
        let promise = match admission.promise {
            Promise::Full => full,
            Promise::Blocks(blocks) => blocks,
        };
        if promise < self.blocks_for(prompt_tokens).min(full) {
            return Err(invalid(Argument::Promise));
        }
        let group = self.group(admission.group)?;
        let streams = self.time.known(admission.streams)?;
        self.check_words(words)?;
        let slot = self.drive(sequence, Life::Opened)?;
        if self.sequences[slot].group.is_some_and(|before| before != group) {
            return Err(invalid(Argument::Group));
        }
        let turn = self.free_turn(slot)?;
        let peak = full.max(promise);
        let entries = self.blocks_for(tokens).max(if window.tokens == 0 { promise } else { 0 });
        let is_shared = !admission.account.is_none();
        let hits = self.look(group, words, prompt_tokens, window.tokens, is_shared);
        let mut promised = 0;
        let mut payee = None;
        if !is_shared {
            self.ceiling(group, u64::from(peak))?;
            Self::within(u64::from(entries), self.config.table_width)?;
            // Of a windowed sequence each block is one of its promise, whoever else holds it.
            let of_promise = if window.tokens == 0 { hits.held().len() as u32 } else { hits.own };
            promised = promise.saturating_sub(of_promise);
            let need = promised + hits.priced();
            self.fits(group, need, admission.watermark, hits.held())?;
        } else {
            let account = self.account(admission.account)?;
            if self.accounts[account].group != group {
                return Err(invalid(Argument::Account));
            }
            let (needed, ceiling) = (peak.max(entries), self.total(account).min(self.config.table_width));
            Self::within(u64::from(needed), ceiling)?;
            let shared = Payee::Shared(account, admission.account.generation);
            let balance = self.accounts[account].balance;
            if hits.priced() > balance {
                return Err(self.account_refusal(shared, hits.priced() - balance));
            }
            self.accounts[account].balance -= hits.priced();
            payee = Some(shared);
        }
        self.settle_in(slot, Life::Admitted, group, streams, turn);
        let seq = &mut self.sequences[slot];
        // What came back to it while it was not admitted is there already.
        seq.balance += promised;
        (seq.shared, seq.window) = (payee, window);
        self.take_hits(slot, &hits);
        Ok(self.admitted(slot, promised, prompt_tokens, &hits))
    }

    fn settle_in(&mut self, slot: usize, life: Life, group: Group, streams: StreamSet, turn: usize) {
        let Seq { generation, balance, mut in_flight, .. } = self.sequences[slot];
        in_flight[turn] = Default::default();
        let group = Some(group);
        self.sequences[slot] =
            Seq { generation, open: true, life, balance, group, streams, turn, in_flight, ..Seq::default() };
    }

    fn admitted(&mut self, slot: usize, promised: u32, prompt_tokens: u32, hits: &Hits) -> Admitted {
        let all = hits.row.len() as u64 * u64::from(self.config.block_tokens);
        let cached_tokens = all.min(u64::from(prompt_tokens - 1)) as u32;
        self.sequences[slot].tokens = cached_tokens;
        Admitted { promised, hits: hits.held().len() as u32, cached_tokens, after: hits.after }
    }

    pub(super) fn pin(
        &mut self,
        sequence: Sequence,
        group: Group,
        streams: StreamSet,
        words: &Words,
        watermark: u32,
    ) -> Result<Admitted, Refusal> {
        let group = self.group(group)?;
        self.check_words(words)?;
        let streams = self.time.known(streams)?;
        let slot = self.drive(sequence, Life::Opened)?;
        if self.sequences[slot].group.is_some_and(|before| before != group) {
            return Err(invalid(Argument::Group));
        }
        let turn = self.free_turn(slot)?;
        let hits = self.look(group, words, u32::MAX, Window::FULL.tokens, false);
        self.ceiling(group, hits.held().len() as u64)?;
        self.fits(group, hits.priced(), watermark, hits.held())?;
        self.settle_in(slot, Life::Pinned, group, streams, turn);
        self.take_hits(slot, &hits);
        Ok(self.admitted(slot, 0, u32::MAX, &hits))
    }

    pub(super) fn extend(&mut self, sequence: Sequence, blocks: u32, watermark: u32) -> Result<(), Refusal> {
        let slot = self.drive_own(sequence, blocks)?;
        let (seq, group) = (&self.sequences[slot], self.group_at(slot));
        self.ceiling(group, u64::from(seq.held()) + u64::from(seq.balance) + u64::from(blocks))?;
        self.fits(group, blocks, watermark, &[])?;
        self.sequences[slot].balance += blocks;
        Ok(())
    }

    pub(super) fn shrink(&mut self, sequence: Sequence, blocks: u32) -> Result<u32, Refusal> {
        let slot = self.drive_own(sequence, blocks)?;
        let part = blocks.min(self.sequences[slot].balance);
        self.sequences[slot].balance -= part;
        self.returned |= part > 0;
        Ok(part)
    }

    pub(super) fn draw_safety(&mut self, sequence: Sequence, blocks: u32) -> Result<(), Refusal> {
        let slot = self.drive_own(sequence, blocks)?;
        let (seq, group) = (&self.sequences[slot], self.group_at(slot));
        let has = u64::from(seq.held()) + u64::from(seq.balance);
        let ceiling = self.config.blocks.min(self.config.table_width).min(self.quotas[group.0 as usize]);
        Self::within(has + u64::from(blocks), ceiling)?;
        if blocks > self.safety {
            return Err(Refusal::WouldBlock { short_by: blocks - self.safety, scope: Scope::Pool });
        }
        let short_by = self.group_short(group, blocks);
        if short_by > 0 {
            return Err(self.refusal(short_by, Scope::Group, group, &[]));
        }
        self.safety -= blocks;
        self.sequences[slot].balance += blocks;
        Ok(())
    }
}
