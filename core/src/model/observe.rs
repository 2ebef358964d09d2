//! What the model says about itself: counted, not kept.

use super::blocks::{Block, Credit};
use super::pool::{Model, Seq};
use crate::ids::{Epoch, Group};
use crate::pool::RowView;
use crate::snapshot::{AccountSnapshot, GroupSnapshot, SequenceSnapshot, Snapshot};

impl Model {
    pub(super) fn held(&self) -> u32 {
        self.sequences.iter().map(|seq| seq.ids.len() as u32).sum()
    }

    pub(super) fn retiring(&self) -> impl Iterator<Item = (Epoch, Credit, Group)> + '_ {
        self.blocks.iter().filter_map(|block| match *block {
            Block::Retiring { epoch, credit, group, .. } => Some((epoch, credit, group)),
            Block::Free | Block::Held => None,
        })
    }

    /// A.
    pub(super) fn committed(&self) -> u32 {
        self.held() + self.retiring().count() as u32
    }

    /// R.
    pub(super) fn promised(&self) -> u32 {
        let own: u32 = self.sequences.iter().map(|seq| seq.balance).sum();
        own + self.accounts.iter().map(|account| account.balance).sum::<u32>()
    }

    /// A + R of a group.
    pub(super) fn group_used(&self, group: Group) -> u64 {
        let of_group = |seq: &&Seq| seq.group == Some(group) && seq.shared.is_none();
        let own: usize = self.sequences.iter().filter(of_group).map(|seq| seq.ids.len() + seq.balance as usize).sum();
        let totals: u64 = (0..self.accounts.len())
            .filter(|&slot| self.accounts[slot].open && self.accounts[slot].group == group)
            .map(|slot| u64::from(self.total(slot)))
            .sum();
        let everybodys = self.retiring().filter(|&(_, credit, of)| of == group && self.credited(credit).is_none());
        own as u64 + totals + everybodys.count() as u64
    }

    /// Balance + blocks that the sequences of an account took and that have not left A.
    pub(super) fn total(&self, account: usize) -> u32 {
        let credit = Some((account, self.accounts[account].generation));
        let held: usize = self.sequences.iter().filter(|seq| seq.shared == credit).map(|seq| seq.ids.len()).sum();
        let retiring = self.retiring().filter(|&(_, of, _)| of == credit).count();
        self.accounts[account].balance + (held + retiring) as u32
    }

    pub(super) fn drawn(&self, account: usize) -> u32 {
        let credit = Some((account, self.accounts[account].generation));
        self.sequences.iter().filter(|seq| seq.open && seq.shared == credit).count() as u32
    }

    /// The snapshot, but for the release number, which the model does not count.
    pub(super) fn snapshot(&self) -> Snapshot {
        let open = || self.sequences.iter().filter(|seq| seq.open);
        let slots = u64::from(self.held()) * u64::from(self.config.block_tokens);
        let tokens = open().map(|seq| u64::from(seq.tokens)).sum();
        Snapshot {
            blocks: self.config.blocks,
            committed: self.committed(),
            held: self.held(),
            retiring: self.retiring().count() as u32,
            quarantined: 0,
            idle: 0,
            free: self.config.blocks - self.committed(),
            promised: self.promised(),
            safety: self.safety,
            sequences: open().count() as u32,
            cancelled: open().filter(|seq| seq.cancelled).count() as u32,
            tokens,
            padding_tokens: slots - tokens,
            entries: u64::from(self.held()),
            newest_epoch: self.time.newest(),
            frontier: self.time.frontier(),
            failed_epochs: self.time.failed,
            release_number: 0,
            exact: 1,
        }
    }

    /// A sequence, but for the row's version, which the model does not count.
    pub(super) fn sequence_snapshot(&self, slot: usize) -> SequenceSnapshot {
        let seq = &self.sequences[slot];
        let turn = if self.config.rows == 2 { seq.turn as u32 } else { 0 };
        SequenceSnapshot {
            tokens: seq.tokens,
            held: seq.ids.len() as u32,
            entries: seq.ids.len() as u32,
            promised: seq.balance,
            group: seq.group.unwrap_or_default().0,
            row: slot as u32 * self.config.rows + turn,
            row_version: 0,
            admitted: u32::from(seq.admitted),
            cancelled: u32::from(seq.cancelled),
        }
    }

    /// Where the blocks of a sequence stand, but for the row's version, which the model does not count.
    pub(super) fn row_view(&self, slot: usize) -> RowView {
        let snapshot = self.sequence_snapshot(slot);
        RowView { row: snapshot.row, blocks: snapshot.held, tokens: snapshot.tokens, version: 0 }
    }

    pub(super) fn group_snapshot(&self, group: Group) -> GroupSnapshot {
        GroupSnapshot { used: self.group_used(group) as u32, quota: self.quotas[group.0 as usize] }
    }

    pub(super) fn account_snapshot(&self, slot: usize) -> AccountSnapshot {
        let balance = self.accounts[slot].balance;
        AccountSnapshot { total: self.total(slot), balance, sequences: self.drawn(slot) }
    }
}
