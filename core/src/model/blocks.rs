//! What the model knows of a block, and what can be counted from that. Who holds a block and what grips it is not kept:
//! it is counted from the rows of the sequences and the lists of the transfers.

use super::pool::{Entry, Model, Seq};
use crate::identity::Identity;
use crate::ids::{Epoch, Group, StreamSet};
use std::vec::Vec;

/// Who is paid when a block leaves A, by slot and generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Payee {
    /// A shared account.
    Shared(usize, u64),
    /// The own account of a sequence that was told that the block comes back to it.
    Own(usize, u64),
}

/// Whom a block pays; `None`: everybody.
pub(super) type Credit = Option<Payee>;

/// Where a block is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(super) enum Place {
    /// Nobody's. So is an idle block without a name, which goes first.
    #[default]
    Free,
    /// In the row of a sequence.
    Held,
    /// In no row, and work submitted earlier may touch it, or a transfer grips it.
    Retiring,
    /// In no row, and nothing pending.
    Idle,
}

/// What a block is called.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Name {
    pub(super) identity: Identity,
    /// The epoch under which it is written.
    pub(super) written: Epoch,
    /// Whether the block stays, idle, when its last holder leaves.
    pub(super) keep: bool,
    /// Another block is found under this name.
    pub(super) spare: bool,
    pub(super) tokens: Vec<u32>,
}

/// A block.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Block {
    pub(super) place: Place,
    pub(super) group: Group,
    pub(super) credit: Credit,
    /// What those who held it left behind: work up to this epoch on these streams.
    pub(super) epoch: Epoch,
    pub(super) streams: StreamSet,
    /// Whether others than its holder may know it: it was published, forked or gripped.
    pub(super) known: bool,
    pub(super) name: Option<Name>,
    /// A holder was told that it comes back to him.
    pub(super) owed: bool,
    /// It is not full, and several may write to it.
    pub(super) tail: bool,
}

impl Model {
    pub(super) fn block(&self, id: u32) -> &Block {
        &self.blocks[id as usize]
    }

    pub(super) fn block_mut(&mut self, id: u32) -> &mut Block {
        &mut self.blocks[id as usize]
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = u32> + use<> {
        1..=self.config.blocks
    }

    pub(super) fn exists(&self, id: u32) -> bool {
        (1..=self.config.blocks).contains(&id)
    }

    /// Rows that it stands in.
    pub(super) fn holders(&self, id: u32) -> u32 {
        let entries = self.sequences.iter().flat_map(|seq| &seq.row);
        entries.filter(|entry| **entry == Entry { id, held: true }).count() as u32
    }

    /// Transfers that grip it, and copies from it that were not submitted.
    pub(super) fn holds(&self, id: u32) -> u32 {
        let transfers = self.transfers.iter().filter(|transfer| transfer.blocks.contains(&id)).count();
        let copies = self.sequences.iter().filter(|seq| seq.order.is_some_and(|order| order.source == id)).count();
        (transfers + copies) as u32
    }

    /// A transfer writes it.
    pub(super) fn is_written(&self, id: u32) -> bool {
        self.transfers.iter().any(|transfer| transfer.writes() && transfer.blocks.contains(&id))
    }

    /// A transfer whose end nobody knows grips it.
    pub(super) fn is_doubted(&self, id: u32) -> bool {
        self.transfers.iter().any(|transfer| transfer.quarantined && transfer.blocks.contains(&id))
    }

    /// Promises behind a block: tail rule and owed rule.
    pub(super) fn promises(&self, id: u32) -> u32 {
        let (block, holders, holds) = (self.block(id), self.holders(id), self.holds(id));
        let of_tail = if block.tail { holders.saturating_sub(1) } else { 0 };
        let of_owed = if block.owed { (holders + holds).saturating_sub(1) } else { 0 };
        of_tail + of_owed
    }

    /// Blocks in A.
    pub(super) fn committed_ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.ids().filter(|&id| matches!(self.block(id).place, Place::Held | Place::Retiring))
    }

    /// Blocks that wait for submitted work and for nothing else.
    pub(super) fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        self.ids().filter(|&id| self.block(id).place == Place::Retiring && self.holds(id) == 0)
    }

    /// Whether what a block leaves behind is over.
    pub(super) fn is_quiet(&self, id: u32) -> bool {
        let block = self.block(id);
        self.time.is_over(block.epoch, block.streams)
    }

    /// Whether the account that a block pays can still be paid.
    pub(super) fn is_open(&self, credit: Credit) -> bool {
        match credit {
            None => false,
            Some(Payee::Shared(slot, generation)) => {
                self.accounts[slot].open && self.accounts[slot].generation == generation
            }
            Some(Payee::Own(slot, generation)) => {
                let Seq { open, cancelled, generation: now, .. } = self.sequences[slot];
                open && !cancelled && now == generation
            }
        }
    }

    /// One more block for an account. False: it is closed.
    pub(super) fn pay(&mut self, credit: Credit) -> bool {
        if !self.is_open(credit) {
            return false;
        }
        match credit {
            Some(Payee::Shared(slot, _)) => self.accounts[slot].balance += 1,
            Some(Payee::Own(slot, _)) => self.sequences[slot].balance += 1,
            None => {}
        }
        true
    }
}
