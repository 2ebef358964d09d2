//! Plain data for telemetry: what a pool, a group, an account and a sequence hold and are promised. Filled by the
//! pool; the sums that must hold are methods.

use crate::ids::Epoch;

/// The whole pool. Blocks unless said otherwise.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Snapshot {
    /// N: usable blocks.
    pub blocks: u32,
    /// A, of which `held`, `retiring` and `quarantined` are the parts.
    pub committed: u32,
    /// Blocks held by sequences. What a call in progress has charged and not taken yet is in `committed` only.
    pub held: u32,
    /// Blocks without a holder that submitted work may still touch, or that a transfer grips.
    pub retiring: u32,
    /// Blocks taken out of circulation because their state cannot be trusted, and blocks without a holder in the grip of a
    /// quarantined transfer.
    pub quarantined: u32,
    /// E: idle blocks, which can be found by their names.
    pub idle: u32,
    /// F = N − A − E: free blocks, and idle ones whose name has died.
    pub free: u32,
    /// R: promised and not materialized.
    pub promised: u32,
    /// S: the safety margin.
    pub safety: u32,
    /// Sequences that are opened, admitted, pinned or cancelled, and not ended.
    pub sequences: u32,
    /// Of these, cancelled ones.
    pub cancelled: u32,
    /// 1 if two reads agree and the parts of A add up; 0 if it is torn: each number was right at some moment of the call.
    pub exact: u32,
    /// Tokens of all sequences, shared ones once for each.
    pub tokens: u64,
    /// Token slots of the rows' entries that hold no token.
    pub padding_tokens: u64,
    /// Blocks in the rows of all sequences, a shared one in each: what `held` would be without sharing.
    pub entries: u64,
    /// Newest epoch handed out.
    pub newest_epoch: Epoch,
    /// The frontier: no stream has this epoch or an older one outstanding.
    pub frontier: Epoch,
    /// Epochs that were reported as failed.
    pub failed_epochs: u64,
    /// Changes whenever blocks or promises came back.
    pub release_number: u64,
}

impl Snapshot {
    /// A + R + S ≤ N (I1), and if it is exact, the parts of A add up: a check of what was read, not of the pool, whose
    /// free list is counted by `Pool::validate`.
    pub const fn holds(&self) -> bool {
        let used = self.committed as u64 + self.promised as u64 + self.safety as u64;
        let parts = self.held as u64 + self.retiring as u64 + self.quarantined as u64;
        used <= self.blocks as u64 && (self.exact == 0 || parts == self.committed as u64)
    }
}

/// One trust group.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GroupSnapshot {
    /// A + R of the group.
    pub used: u32,
    /// The most that `used` may be; 2^32 − 1: no quota was set.
    pub quota: u32,
    /// A of the group: its blocks, each once, however many hold it.
    pub committed: u32,
    /// R of the group: what its sequences and accounts are promised, and what stands behind its shared blocks.
    pub promised: u32,
    /// E of the group: its idle blocks with a live name.
    pub idle: u32,
}

/// One shared account.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AccountSnapshot {
    /// The total that was set: balance + blocks that its sequences took and that have not left A.
    pub total: u32,
    /// Blocks promised to the account and not taken.
    pub balance: u32,
    /// Sequences that draw on it.
    pub sequences: u32,
}

/// One sequence.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SequenceSnapshot {
    /// Its tokens.
    pub tokens: u32,
    /// Its blocks.
    pub held: u32,
    /// Entries of its row that are in use: its blocks, and those that have left its window or were released.
    pub entries: u32,
    /// The balance of its own account.
    pub promised: u32,
    /// The trust group.
    pub group: u32,
    /// The row of the table that holds its blocks now.
    pub row: u32,
    /// Changes whenever the row changed.
    pub row_version: u64,
    /// 1 when admitted; 0 when opened or pinned (a pinned sequence has blocks and no promise).
    pub admitted: u32,
    /// 1 when cancelled and not ended.
    pub cancelled: u32,
}
