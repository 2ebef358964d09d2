//! What the model says about itself: counted, not kept.

use super::blocks::{Payee, Place};
use super::pool::{Life, Model, Seq};
use crate::ids::Group;
use crate::pool::RowView;
use crate::snapshot::{AccountSnapshot, GroupSnapshot, SequenceSnapshot, Snapshot};

impl Model {
    /// A.
    pub(super) fn committed(&self) -> u32 {
        self.committed_ids().count() as u32
    }

    /// R: all balances, and what stands behind blocks.
    pub(super) fn promised(&self) -> u32 {
        let own: u32 = self.sequences.iter().map(|seq| seq.balance).sum();
        let shared: u32 = self.accounts.iter().map(|account| account.balance).sum();
        own + shared + self.ids().map(|id| self.promises(id)).sum::<u32>()
    }

    /// A + R of a group.
    pub(super) fn group_used(&self, group: Group) -> u64 {
        let of_group = |seq: &&Seq| seq.group == Some(group);
        let own: u32 = self.sequences.iter().filter(of_group).map(|seq| seq.balance).sum();
        let accounts = self.accounts.iter().filter(|account| account.open && account.group == group);
        let shared: u32 = accounts.map(|account| account.balance).sum();
        let blocks = self.committed_ids().filter(|&id| self.block(id).group == group);
        u64::from(own + shared + blocks.map(|id| 1 + self.promises(id)).sum::<u32>())
    }

    /// Balance + blocks that the sequences of an account took and that have not left A.
    pub(super) fn total(&self, account: usize) -> u32 {
        let credit = Some(Payee::Shared(account, self.accounts[account].generation));
        let taken = self.committed_ids().filter(|&id| self.block(id).credit == credit).count();
        self.accounts[account].balance + taken as u32
    }

    pub(super) fn drawn(&self, account: usize) -> u32 {
        let payee = Payee::Shared(account, self.accounts[account].generation);
        (0..self.sequences.len()).filter(|&slot| self.draws_on(slot, payee)).count() as u32
    }

    /// E.
    fn idle(&self) -> u32 {
        self.ids().filter(|&id| self.is_cached(id)).count() as u32
    }

    /// The snapshot, but for the release number, which the model does not count.
    pub(super) fn snapshot(&self) -> Snapshot {
        let open = || self.sequences.iter().filter(|seq| seq.open);
        let held = self.ids().filter(|&id| self.block(id).place == Place::Held).count() as u32;
        let quarantined = self.committed_ids().filter(|&id| self.block(id).place == Place::Retiring);
        let quarantined = quarantined.filter(|&id| self.is_doubted(id)).count() as u32;
        // Holes of a row are full blocks.
        let slots: u64 = open().map(|seq| u64::from(seq.entries()) * u64::from(self.config.block_tokens)).sum();
        let tokens = open().map(|seq| u64::from(seq.tokens)).sum();
        Snapshot {
            blocks: self.config.blocks,
            committed: self.committed(),
            held,
            retiring: self.committed() - held - quarantined,
            quarantined,
            idle: self.idle(),
            free: self.config.blocks - self.committed() - self.idle(),
            promised: self.promised(),
            safety: self.safety,
            sequences: open().count() as u32,
            cancelled: open().filter(|seq| seq.cancelled).count() as u32,
            tokens,
            padding_tokens: slots - tokens,
            entries: open().map(|seq| u64::from(seq.held())).sum(),
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
            held: seq.held(),
            entries: seq.entries(),
            promised: seq.balance,
            group: seq.group.unwrap_or_default().0,
            row: slot as u32 * self.config.rows + turn,
            row_version: 0,
            admitted: u32::from(seq.life == Life::Admitted),
            cancelled: u32::from(seq.cancelled),
        }
    }

    /// Where the blocks of a sequence stand, but for the row's version, which the model does not count.
    pub(super) fn row_view(&self, slot: usize) -> RowView {
        let snapshot = self.sequence_snapshot(slot);
        RowView { row: snapshot.row, entries: snapshot.entries, tokens: snapshot.tokens, version: 0 }
    }

    pub(super) fn group_snapshot(&self, group: Group) -> GroupSnapshot {
        let used = self.group_used(group) as u32;
        let committed = self.committed_ids().filter(|&id| self.block(id).group == group).count() as u32;
        let idle = self.ids().filter(|&id| self.is_cached(id) && self.block(id).group == group).count() as u32;
        GroupSnapshot { used, quota: self.quotas[group.0 as usize], committed, promised: used - committed, idle }
    }

    pub(super) fn account_snapshot(&self, slot: usize) -> AccountSnapshot {
        let balance = self.accounts[slot].balance;
        AccountSnapshot { total: self.total(slot), balance, sequences: self.drawn(slot) }
    }
}
