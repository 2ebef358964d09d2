//! What a pool is made of: the numbers that are chosen once, at `init`, and never change.

use crate::answer::{Argument, Refusal};

/// Most usable blocks of a pool: 2^31 − 2, so that a count fits in 31 bits with one value to spare.
pub const BLOCKS_MAX: u32 = (1 << 31) - 2;
/// Most sequences, accounts and groups of a pool.
pub const SLOTS_MAX: u32 = 1 << 20;
/// Most streams of a pool: a stream set is one word.
pub const STREAMS_MAX: u32 = 64;
/// Most epochs that one stream may have outstanding.
pub const EPOCHS_MAX: u32 = 1 << 16;

/// The configuration of a pool.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PoolConfig {
    /// The number of this pool: in every handle, so that a handle of another pool is `STALE`.
    pub number: u32,
    /// N: usable blocks, 1 ..= 2^31 − 2. The device memory has one more, the null block, id 0.
    pub blocks: u32,
    /// S at the start: blocks that admission leaves alone. Below N.
    pub safety: u32,
    /// B: tokens in a block, at least 1.
    pub block_tokens: u32,
    /// Sequences that may be open at once, 1 ..= 2^20.
    pub sequences: u32,
    /// Blocks that one sequence may hold: entries of a table row, 1 ..= N.
    pub table_width: u32,
    /// Table rows of a sequence: 1 (the table is the scheduler's copy), or 2 used in turn (a device reads rows in
    /// place).
    pub rows: u32,
    /// Shared accounts that may be open at once; 0 if none are used.
    pub accounts: u32,
    /// Trust groups, at least 1. Each starts without a quota.
    pub groups: u32,
    /// Streams, 1 ..= 64.
    pub streams: u32,
    /// Epochs that one stream may have outstanding, 1 ..= 65,536.
    pub epochs: u32,
}

impl PoolConfig {
    /// `blocks` blocks of `block_tokens` tokens for up to `sequences` sequences of up to `table_width` blocks; no
    /// safety margin, one row a sequence, no shared accounts, one group, one stream of up to 64 outstanding epochs.
    pub const fn new(blocks: u32, block_tokens: u32, sequences: u32, table_width: u32) -> PoolConfig {
        PoolConfig {
            number: 0,
            blocks,
            safety: 0,
            block_tokens,
            sequences,
            table_width,
            rows: 1,
            accounts: 0,
            groups: 1,
            streams: 1,
            epochs: 64,
        }
    }

    /// Whether every field is in its range. Errors: `INVALID` with the first field that is not. Cost: O(1).
    pub const fn check(&self) -> Result<(), Refusal> {
        let wrong = if self.blocks == 0 || self.blocks > BLOCKS_MAX {
            Argument::Blocks
        } else if self.safety >= self.blocks {
            Argument::Safety
        } else if self.block_tokens == 0 {
            Argument::BlockTokens
        } else if self.sequences == 0 || self.sequences > SLOTS_MAX {
            Argument::Sequences
        } else if self.table_width == 0 || self.table_width > self.blocks {
            Argument::TableWidth
        } else if self.rows != 1 && self.rows != 2 {
            Argument::Rows
        } else if self.accounts > SLOTS_MAX {
            Argument::Accounts
        } else if self.groups == 0 || self.groups > SLOTS_MAX {
            Argument::Groups
        } else if self.streams == 0 || self.streams > STREAMS_MAX {
            Argument::Streams
        } else if self.epochs == 0 || self.epochs > EPOCHS_MAX {
            Argument::Epochs
        } else {
            return Ok(());
        };
        Err(Refusal::invalid(wrong))
    }

    /// Entries that the block table must have: sequences × rows × table width. Errors: as `check`; `INVALID(Table)` if
    /// the table would not fit in the address space.
    pub const fn table_entries(&self) -> Result<usize, Refusal> {
        if let Err(refusal) = self.check() {
            return Err(refusal);
        }
        let entries = self.sequences as u128 * self.rows as u128 * self.table_width as u128;
        if entries > (isize::MAX as usize / 4) as u128 {
            return Err(Refusal::invalid(Argument::Table));
        }
        Ok(entries as usize)
    }

    /// Bytes of memory that the pool needs, a multiple of 64. Errors: as `check`; `INVALID(Memory)` if they would not
    /// fit in the address space. Cost: O(1); usable in constants, for static storage.
    pub const fn bytes(&self) -> Result<usize, Refusal> {
        if let Err(refusal) = self.check() {
            return Err(refusal);
        }
        let bytes = crate::pool::Layout::new(self).bytes();
        if bytes > isize::MAX as usize {
            return Err(Refusal::invalid(Argument::Memory));
        }
        Ok(bytes)
    }
}
