//! Names of blocks in the model: who is found under which, how a name is given and how it dies.

use super::blocks::{Name, Place};
use super::make::Words;
use super::pool::{Life, Model, invalid};
use crate::answer::{Argument, Refusal};
use crate::calls::Published;
use crate::events::EventKind;
use crate::identity::Identity;
use crate::ids::{Epoch, Group, Sequence};
use std::vec::Vec;

/// Failed epochs that are remembered, one by one.
const FAILURES: usize = 64;

impl Model {
    /// All blocks of this name.
    fn copies(&self, group: Group, identity: Identity) -> impl Iterator<Item = u32> + '_ {
        self.ids().filter(move |&id| {
            let block = self.block(id);
            block.group == group && block.name.as_ref().is_some_and(|name| name.identity == identity)
        })
    }

    /// Of these blocks the one that is found: the one that was said to be, and when that is gone, the lowest.
    fn first(&self, ids: impl Iterator<Item = u32>) -> Option<u32> {
        ids.min_by_key(|&id| (self.block(id).name.as_ref().is_some_and(|name| name.spare), id))
    }

    /// The block that is found under a name.
    fn found(&self, group: Group, identity: Identity) -> Option<u32> {
        self.first(self.copies(group, identity))
    }

    /// The block that may be hit under a name, by who gives these tokens, if `may` says that he may.
    pub(super) fn hit(
        &self,
        group: Group,
        identity: Identity,
        tokens: &[u32],
        unfinished: bool,
        may: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let fits = |id: u32| {
            let same = self.block(id).name.as_ref().is_some_and(|name| name.tokens == tokens);
            self.config.token_check == 0 || tokens.is_empty() || same
        };
        let id = self.first(self.copies(group, identity).filter(|&id| !self.is_written(id) && fits(id) && may(id)))?;
        (unfinished || self.written(id) <= self.time.frontier()).then_some(id)
    }

    pub(super) fn written(&self, id: u32) -> Epoch {
        self.block(id).name.as_ref().map_or(Epoch::NONE, |name| name.written)
    }

    pub(super) fn check_words(&self, words: &Words) -> Result<(), Refusal> {
        let all = words.identities.len() * self.config.block_tokens as usize;
        if words.tokens.is_empty() || words.tokens.len() == all { Ok(()) } else { Err(invalid(Argument::Tokens)) }
    }

    /// What was published, and the block that is found under each name, if any was.
    pub(super) fn publish(
        &mut self,
        sequence: Sequence,
        first: u32,
        words: &Words,
        epoch: Epoch,
        keep: bool,
    ) -> Result<(Published, Vec<u32>), Refusal> {
        if self.config.cache == 0 {
            return Err(invalid(Argument::Cache));
        }
        self.check_words(words)?;
        if epoch == Epoch::NONE || epoch > self.time.newest() {
            return Err(invalid(Argument::Epoch));
        }
        let slot = self.drive(sequence, Life::Admitted)?;
        let ids = self.may_publish(slot, first, words)?;
        let failed = &self.time.failed_epochs;
        let forgotten = failed[..failed.len().saturating_sub(FAILURES)].iter().max();
        let unknown = forgotten.is_some_and(|&last| epoch <= last) && epoch <= self.time.frontier();
        if unknown || failed.contains(&epoch) {
            return Err(Refusal::Stale);
        }
        let (mut published, mut found) = (Published::default(), Vec::new());
        if self.sequences[slot].outdated {
            return Ok((published, found));
        }
        let group = self.group_at(slot);
        for (place, (&id, &identity)) in ids.iter().zip(&words.identities).enumerate() {
            if self.block(id).name.is_none() {
                let tokens = words.tokens_of(place, self.config.block_tokens).to_vec();
                let name = Name { identity, written: epoch, keep, spare: false, tokens };
                published.known += u32::from(self.give_name(id, group, name));
                published.stored += 1;
            }
            found.push(self.found(group, identity).unwrap_or(0));
        }
        Ok((published, found))
    }

    /// The blocks that are to be published, if they can be.
    fn may_publish(&self, slot: usize, first: u32, words: &Words) -> Result<Vec<u32>, Refusal> {
        let seq = &self.sequences[slot];
        let (from, count) = (first as usize, words.identities.len());
        let full = (seq.accepted() / self.config.block_tokens) as usize;
        if from + count > full || (count > 0 && from < seq.recycled) {
            return Err(invalid(Argument::Block));
        }
        let mut ids = Vec::new();
        for (entry, &identity) in seq.row[from.min(full)..].iter().zip(&words.identities) {
            if !entry.held {
                return Err(invalid(Argument::Block));
            }
            let block = self.block(entry.id);
            if block.tail {
                return Err(Refusal::Busy);
            }
            if block.name.as_ref().is_some_and(|name| name.identity != identity) {
                return Err(invalid(Argument::Identity));
            }
            ids.push(entry.id);
        }
        Ok(ids)
    }

    /// A block gets a name. Whether another held block is found under it.
    fn give_name(&mut self, id: u32, group: Group, name: Name) -> bool {
        let before = self.found(group, name.identity);
        let identity = name.identity;
        let held = before.filter(|&other| self.block(other).place == Place::Held);
        if let Some(other) = held {
            // It is said to be found from now on.
            if let Some(name) = &mut self.block_mut(other).name {
                name.spare = false;
            }
        } else if let Some(other) = before {
            // Nobody holds it: it loses its name to the newer copy.
            self.block_mut(other).name = None;
        }
        self.become_known(id);
        self.block_mut(id).name = Some(Name { spare: held.is_some(), ..name });
        if before.is_none() {
            self.tell(EventKind::Stored, id, group, identity);
        }
        held.is_some()
    }

    /// Others than its holder may know a block from now on.
    pub(super) fn become_known(&mut self, id: u32) {
        self.block_mut(id).known = true;
    }

    /// The name of a block dies, if it has one.
    pub(super) fn unname(&mut self, id: u32) -> bool {
        let Some(name) = self.block_mut(id).name.take() else { return false };
        let group = self.block(id).group;
        if self.found(group, name.identity).is_none() {
            self.tell(EventKind::Removed, id, group, name.identity);
        }
        true
    }

    /// Whether the name of a block may outlive its last holder: it is kept, and no other block has it.
    pub(super) fn may_rest(&self, id: u32) -> bool {
        let block = self.block(id);
        let name = block.name.as_ref().filter(|name| name.keep);
        name.is_some_and(|name| self.copies(block.group, name.identity).count() == 1)
    }

    pub(super) fn withdraw(&mut self, sequence: Sequence, first: u32, count: u32) -> Result<u32, Refusal> {
        let slot = self.drive(sequence, Life::Admitted)?;
        let ids = self.range(slot, first, count)?;
        Ok(ids.into_iter().map(|id| u32::from(self.unname(id))).sum())
    }

    /// The blocks in `count` entries of a row.
    pub(super) fn range(&self, slot: usize, first: u32, count: u32) -> Result<Vec<u32>, Refusal> {
        let seq = &self.sequences[slot];
        if u64::from(first) + u64::from(count) > u64::from(seq.entries()) || (first as usize) < seq.recycled {
            return Err(invalid(Argument::Block));
        }
        let entries = seq.row.iter().skip(first as usize).take(count as usize);
        Ok(entries.filter(|entry| entry.held).map(|entry| entry.id).collect())
    }

    pub(super) fn reset(&mut self, group: Option<Group>) -> Result<(), Refusal> {
        let group = group.map(|group| self.group(group)).transpose()?;
        self.tell(EventKind::Cleared, 0, group.unwrap_or(Group(u32::MAX)), Identity::NONE);
        let mine = |other: Group| group.is_none_or(|group| group == other);
        for block in self.blocks.iter_mut().filter(|block| mine(block.group)) {
            block.name = None;
        }
        for seq in self.sequences.iter_mut().filter(|seq| seq.group.is_some_and(mine)) {
            seq.outdated = true;
        }
        Ok(())
    }

    /// What was written under an epoch was never written.
    pub(super) fn fail(&mut self, epoch: Epoch) {
        if self.config.cache > 0 {
            self.time.failed_epochs.push(epoch);
            for id in self.ids() {
                if self.block(id).name.is_some() && self.written(id) == epoch {
                    self.unname(id);
                }
            }
        }
    }

    /// Idle blocks that can be found.
    pub(super) fn is_cached(&self, id: u32) -> bool {
        self.block(id).place == Place::Idle && self.block(id).name.is_some()
    }

    /// Blocks without a name that have not been tidied: the first to be taken.
    pub(super) fn is_dead(&self, id: u32) -> bool {
        self.block(id).place == Place::Idle && self.block(id).name.is_none()
    }

    /// The next cached block to go.
    pub(super) fn next_to_go(&self) -> Option<u32> {
        self.order.iter().copied().find(|&id| self.is_cached(id))
    }

    pub(super) fn evict(&mut self, blocks: u32) -> Result<u32, Refusal> {
        let mut evicted = 0;
        while evicted < blocks && self.next_to_go().is_some() {
            // It is committed for the moment in which it is nobody's.
            let may = Self::within(1, self.config.blocks - self.safety).and_then(|()| match self.pool_short(1, 0) {
                0 => Ok(()),
                short_by => Err(self.refusal(short_by, crate::answer::Scope::Pool, Group(0), &[])),
            });
            match may {
                Err(refusal) if evicted == 0 => return Err(refusal),
                Err(_) => break,
                Ok(()) => {}
            }
            let Some(id) = self.next_to_go() else { break };
            self.unname(id);
            self.clear(id);
            evicted += 1;
            self.returned = true;
        }
        Ok(evicted)
    }

    /// A block is nobody's and says nothing.
    pub(super) fn clear(&mut self, id: u32) {
        self.order.retain(|&other| other != id);
        *self.block_mut(id) = super::blocks::Block::default();
    }
}
