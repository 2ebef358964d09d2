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

/// Most transfers that may run at once.
pub const TRANSFERS_MAX: u32 = 1 << 10;
/// Most entries of the ring of events.
pub const EVENTS_MAX: u32 = 1 << 20;

/// What is kept of blocks that nobody holds, and in which order it is evicted. The numbers are those of
/// [`PoolConfig::cache`].
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cache {
    /// Nothing has a name: blocks are not shared by prefix.
    Off = 0,
    /// The least recently released first, children before parents. Exact with one driving thread.
    Lru = 1,
    /// SIEVE (Zhang et al., NSDI 2024).
    Sieve = 2,
    /// S3-FIFO (Yang et al., SOSP 2023).
    S3Fifo = 3,
}

impl Cache {
    pub(crate) const fn from_number(number: u32) -> Option<Cache> {
        match number {
            0 => Some(Cache::Off),
            1 => Some(Cache::Lru),
            2 => Some(Cache::Sieve),
            3 => Some(Cache::S3Fifo),
            _ => None,
        }
    }
}

/// The configuration of a pool.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PoolConfig {
    /// The number of this pool: in every handle, so that a handle of a pool of another number is `STALE`. Pools of one
    /// program get different ones.
    pub number: u32,
    /// N: usable blocks, 1 ..= 2^31 − 2. The device memory has one more, the null block, id 0.
    pub blocks: u32,
    /// S at the start: blocks that admission leaves alone. Below N.
    pub safety: u32,
    /// B: tokens in a block, at least 1.
    pub block_tokens: u32,
    /// Sequences that may be open at once, 1 ..= 2^20.
    pub sequences: u32,
    /// Entries of a table row, at least 1: blocks that one sequence may have come to, those that have left its window
    /// included.
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
    /// A number of [`Cache`]: whether prefixes are shared, and what is evicted first. With 0 nothing can be published.
    pub cache: u32,
    /// 1: the tokens of published blocks are kept, 4 bytes each, and compared at every hit that names tokens.
    pub token_check: u32,
    /// Transfers that may run at once, 0 ..= 1,024: a bit for each block and each of them.
    pub transfers: u32,
    /// Entries of the ring of events: 0 for none, or a power of two up to 2^20.
    pub events: u32,
}

impl PoolConfig {
    /// `blocks` blocks of `block_tokens` tokens for up to `sequences` sequences of up to `table_width` blocks; no
    /// safety margin, one row a sequence, no shared accounts, one group, one stream of up to 64 outstanding epochs; no cache,
    /// no transfers, no events.
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
            cache: Cache::Off as u32,
            token_check: 0,
            transfers: 0,
            events: 0,
        }
    }

    /// The same with prefixes shared, and the least recently released blocks evicted first.
    pub const fn sharing(self) -> PoolConfig {
        PoolConfig { cache: Cache::Lru as u32, ..self }
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
        } else if self.table_width == 0 || self.table_width > BLOCKS_MAX {
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
        } else if Cache::from_number(self.cache).is_none() {
            Argument::Cache
        } else if self.token_check > 1 {
            Argument::TokenCheck
        } else if self.transfers > TRANSFERS_MAX {
            Argument::Transfers
        } else if self.events > EVENTS_MAX || (self.events != 0 && !self.events.is_power_of_two()) {
            Argument::Events
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
