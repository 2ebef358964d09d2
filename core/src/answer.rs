//! The answers. Few, numbered, `Copy`; the numbers are those of the C ABI and are never reused. Each says who must
//! act: the caller later (`WouldBlock`, `RetryAfter`, `Busy`), the caller by asking for less (`NeverFits`,
//! `OverPromise`), the caller by mending a mistake (`Stale`, `Invalid`, `Full`), or the operator (`Corrupt`).
//! When several apply the order is: `Invalid`, `Stale`/`Cancelled`, `Full`, `NeverFits`, group, pool.

use crate::ids::Epoch;
use core::fmt;

/// Every call that can be refused answers `Result<T, Refusal>`. A refusal leaves counts as they were (I9).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// Not now. Ask again when the pool's release number has changed.
    WouldBlock {
        /// Blocks missing.
        short_by: u32,
        /// The resource that refused.
        scope: Scope,
    },
    /// Not now, but once the frontier has reached `after`, at least `reclaimable` more blocks are there in the
    /// resource that refused, if nothing else happens; `reclaimable` is at least what is missing.
    RetryAfter {
        /// An epoch that is not over yet. May be later than needed, never earlier.
        after: Epoch,
        /// Blocks that will have come back by then.
        reclaimable: u32,
    },
    /// Not in this pool, with the N, S, width and quota of this moment.
    NeverFits {
        /// Distinct blocks held at the request's peak.
        needed: u32,
        /// The most that could ever be given.
        ceiling: u32,
    },
    /// Beyond the balance of the account and its pending credits. Nothing moved.
    OverPromise {
        /// Blocks missing.
        short_by: u32,
    },
    /// The sequence was cancelled; its driver must `end` it.
    Cancelled,
    /// The handle, epoch or stream is over, repeated or foreign. Nothing happened.
    Stale,
    /// An argument is wrong. Nothing happened.
    Invalid {
        /// Which one.
        argument: Argument,
    },
    /// No free slot (sequence, account, transfer, epoch of a stream), or no room for another holder of a block: the
    /// caller's to make room.
    Full,
    /// Another thread drives this sequence, stream or account, or something unfinished is in the way (unaccepted tokens, a
    /// copy, rows that are read in place, holds of a block): later.
    Busy,
    /// Memory was changed under the pool. What it concerns was taken out of circulation.
    Corrupt {
        /// Where it was noticed.
        place: Place,
    },
}

impl Refusal {
    /// The number of this answer in the C ABI. `OK` is 0. Never reused.
    pub const fn code(&self) -> u32 {
        match self {
            Refusal::WouldBlock { .. } => 1,
            Refusal::RetryAfter { .. } => 2,
            Refusal::NeverFits { .. } => 3,
            Refusal::OverPromise { .. } => 4,
            Refusal::Cancelled => 5,
            Refusal::Stale => 6,
            Refusal::Invalid { .. } => 7,
            Refusal::Full => 8,
            Refusal::Busy => 9,
            Refusal::Corrupt { .. } => 10,
        }
    }

    /// What the answer is called, in Rust and in C: `WOULD_BLOCK`, `STALE`.
    pub const fn word(&self) -> &'static str {
        match self {
            Refusal::WouldBlock { .. } => "WOULD_BLOCK",
            Refusal::RetryAfter { .. } => "RETRY_AFTER",
            Refusal::NeverFits { .. } => "NEVER_FITS",
            Refusal::OverPromise { .. } => "OVER_PROMISE",
            Refusal::Cancelled => "CANCELLED",
            Refusal::Stale => "STALE",
            Refusal::Invalid { .. } => "INVALID",
            Refusal::Full => "FULL",
            Refusal::Busy => "BUSY",
            Refusal::Corrupt { .. } => "CORRUPT",
        }
    }

    /// `Invalid`, in short.
    pub(crate) const fn invalid(argument: Argument) -> Refusal {
        Refusal::Invalid { argument }
    }
}

/// The resource that refused.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// The pool: A + R + S (+ watermark) would exceed N.
    Pool = 0,
    /// The trust group: its A + R would exceed its quota.
    Group = 1,
}

/// The argument or configuration field that is wrong.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Argument {
    /// `memory`: too small, or not aligned to 64 bytes.
    Memory = 1,
    /// `table`: too few entries.
    Table = 2,
    /// `PoolConfig::blocks`: not in 1 ..= 2^31 - 2.
    Blocks = 3,
    /// `PoolConfig::safety`, or a new safety margin: not below N.
    Safety = 4,
    /// `PoolConfig::block_tokens`: 0.
    BlockTokens = 5,
    /// `PoolConfig::sequences`: not in 1 ..= 2^20; of a split plan: more than its maximum, or a maximum of 0.
    Sequences = 6,
    /// `PoolConfig::table_width`: 0 or above 2^31 - 2.
    TableWidth = 7,
    /// `PoolConfig::accounts`: above 2^20.
    Accounts = 8,
    /// `PoolConfig::groups`: not in 1 ..= 2^20.
    Groups = 9,
    /// `PoolConfig::streams`: not in 1 ..= 64.
    Streams = 10,
    /// `PoolConfig::epochs`: not in 1 ..= 2^16.
    Epochs = 11,
    /// `PoolConfig::rows`: neither 1 nor 2.
    Rows = 12,
    /// The trust group: not below `groups`, or not the group that the sequence was admitted to before.
    Group = 13,
    /// The stream: not below `streams`; or an empty stream set.
    Stream = 14,
    /// A token count: 0 where tokens are needed, or more than 2^32 - 1 in all.
    Tokens = 15,
    /// A count: 0 where something is needed, or more than there can be.
    Count = 16,
    /// The sequence is in no state for this call (not admitted yet, or admitted already).
    Sequence = 17,
    /// The account is for another group, or the call does not go with a shared account.
    Account = 18,
    /// An output array is shorter than stated.
    Output = 19,
    /// The header of the memory, or of a plan: magic, version, geometry, size or checksum do not match.
    Header = 20,
    /// A pointer is NULL (C ABI only).
    Pointer = 21,
    /// Plan: layers, heads, head dimension or element type out of range.
    Geometry = 22,
    /// Plan: the result does not fit in 64 bits.
    Overflow = 23,
    /// Plan: a length is above the stated maximum.
    Length = 24,
    /// Plan: the sum of the regions is above the device budget.
    Budget = 25,
    /// The epoch: not one that was submitted.
    Epoch = 26,
    /// `PoolConfig::cache`: no number of a `Cache`; or the call needs a cache and the pool has none.
    Cache = 27,
    /// `PoolConfig::token_check`: neither 0 nor 1.
    TokenCheck = 28,
    /// `PoolConfig::transfers`: above 1,024.
    Transfers = 29,
    /// `PoolConfig::events`: not a power of two, or above 2^20.
    Events = 30,
    /// The window: it has tokens and no chunk, or its bound does not fit in 32 bits; of a split plan: below -1.
    Window = 31,
    /// The identities: a block has another one already.
    Identity = 32,
    /// A block that is not the caller's, named twice, only partly covered, or not full.
    Block = 33,
    /// Split plan: heads or query heads are 0 or more than 65,536, or query heads are no multiple of heads.
    Heads = 34,
    /// Split plan: rows, keys or overhead of a tile.
    Tile = 35,
    /// Split plan: thread blocks not in 1 ..= 65,536.
    ThreadBlocks = 36,
    /// Split plan: a chunk that is no multiple of the key tile, or above 2^30.
    Chunk = 37,
    /// Split plan: query starts of another count or order, or too few query positions.
    Queries = 38,
    /// Split plan: begins or ends of another count than the lengths.
    Ranges = 39,
    /// The size that a struct begins with: not set, or with something in fields that this version does not have (C ABI
    /// only).
    Size = 40,
    /// The number of a pool: two pools of one joint request have the same.
    Number = 41,
    /// The promise: below what the prompt needs; or of neither kind (C ABI only).
    Promise = 42,
    /// An access that is neither (C ABI only).
    Access = 43,
    /// A number that names no region of the device budget (C ABI only).
    Region = 44,
    /// More trials than `TRIALS_MAX` (C ABI only).
    Trials = 45,
    /// A probability that is not in 0 ..= 1 (C ABI only).
    Probability = 46,
    /// The salt: 2^32 bytes or more.
    Salt = 47,
    /// The handle does not record.
    Ring = 48,
}

/// Where corruption was noticed.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Place {
    /// A block table entry is not a block that the sequence can hold.
    Table = 1,
    /// The free list does not hold what the ledger says.
    FreeList = 2,
}

impl Argument {
    /// All, in the order of their numbers, from 1.
    const ALL: [Argument; 48] = [
        Argument::Memory,
        Argument::Table,
        Argument::Blocks,
        Argument::Safety,
        Argument::BlockTokens,
        Argument::Sequences,
        Argument::TableWidth,
        Argument::Accounts,
        Argument::Groups,
        Argument::Streams,
        Argument::Epochs,
        Argument::Rows,
        Argument::Group,
        Argument::Stream,
        Argument::Tokens,
        Argument::Count,
        Argument::Sequence,
        Argument::Account,
        Argument::Output,
        Argument::Header,
        Argument::Pointer,
        Argument::Geometry,
        Argument::Overflow,
        Argument::Length,
        Argument::Budget,
        Argument::Epoch,
        Argument::Cache,
        Argument::TokenCheck,
        Argument::Transfers,
        Argument::Events,
        Argument::Window,
        Argument::Identity,
        Argument::Block,
        Argument::Heads,
        Argument::Tile,
        Argument::ThreadBlocks,
        Argument::Chunk,
        Argument::Queries,
        Argument::Ranges,
        Argument::Size,
        Argument::Number,
        Argument::Promise,
        Argument::Access,
        Argument::Region,
        Argument::Trials,
        Argument::Probability,
        Argument::Salt,
        Argument::Ring,
    ];

    /// The argument of this number; `None` if there is none.
    pub fn from_number(number: u32) -> Option<Argument> {
        Argument::ALL.into_iter().find(|argument| *argument as u32 == number)
    }
}

impl Scope {
    /// The resource of this number; `None` if there is none.
    pub fn from_number(number: u32) -> Option<Scope> {
        [Scope::Pool, Scope::Group].into_iter().find(|scope| *scope as u32 == number)
    }
}

impl Place {
    /// The place of this number; `None` if there is none.
    pub fn from_number(number: u32) -> Option<Place> {
        [Place::Table, Place::FreeList].into_iter().find(|place| *place as u32 == number)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.word())?;
        match self {
            Refusal::WouldBlock { short_by, scope } => write!(f, "{short_by} blocks short in the {}", scope.word()),
            Refusal::RetryAfter { after, reclaimable } => {
                write!(f, "epoch {} gives back {reclaimable} blocks", after.0)
            }
            Refusal::NeverFits { needed, ceiling } => {
                write!(f, "needs {needed} blocks, at most {ceiling} can be given")
            }
            Refusal::OverPromise { short_by } => write!(f, "{short_by} blocks beyond the promise"),
            Refusal::Cancelled => f.write_str("end the sequence"),
            Refusal::Stale => f.write_str("over, repeated or foreign"),
            Refusal::Invalid { argument } => write!(f, "{argument:?}"),
            Refusal::Full => f.write_str("no free slot"),
            Refusal::Busy => f.write_str("driven by another thread, or in flight"),
            Refusal::Corrupt { place } => write!(f, "{place:?}"),
        }
    }
}

impl Scope {
    const fn word(self) -> &'static str {
        match self {
            Scope::Pool => "pool",
            Scope::Group => "group",
        }
    }
}

impl core::error::Error for Refusal {}
