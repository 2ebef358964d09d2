//! What goes into the calls and what comes out: plain data, `repr(C)`, the same in the C header.

use crate::ids::{Account, Epoch, Group, Sequence, StreamSet};

/// How much is promised at admission.
#[repr(C, u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Promise {
    /// The whole output: ⌈(prompt + output)/B⌉ blocks. Growth never fails (I3).
    Full,
    /// So many blocks in all, and not fewer than the prompt needs: incremental, statistical and contiguous policies.
    /// What goes beyond is refused (`OVER_PROMISE`) or asked for with `extend` or `advance_growing`.
    Blocks(u32),
}

/// A request for admission.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Admission {
    /// Tokens that are there already: the prompt, and after a preemption also what was generated. At least 1.
    pub prompt_tokens: u32,
    /// Most tokens that will be added. A hard maximum: with the prompt it decides `NEVER_FITS`.
    pub output_tokens_max: u32,
    /// How much is promised now.
    pub promise: Promise,
    /// The trust group. It stays the same for all admissions of one sequence.
    pub group: Group,
    /// The streams whose work will touch the sequence's blocks. `ALL` is always right; fewer lets blocks come back
    /// without waiting for streams that never saw them.
    pub streams: StreamSet,
    /// Blocks that must stay uncommitted besides S, read in the same decision.
    pub watermark: u32,
    /// The shared account to draw from; `NONE`: the sequence has its own.
    pub account: Account,
}

impl Admission {
    /// Full-output reservation in group 0, on all streams, no watermark, own account.
    pub const fn full(prompt_tokens: u32, output_tokens_max: u32) -> Admission {
        Admission {
            prompt_tokens,
            output_tokens_max,
            promise: Promise::Full,
            group: Group(0),
            streams: StreamSet::ALL,
            watermark: 0,
            account: Account::NONE,
        }
    }
}

/// What an admission gave.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Admitted {
    /// Blocks promised (0 with a shared account: the account has promised them).
    pub promised: u32,
}

/// What an advance or a materialization did.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Advanced {
    /// Blocks taken by this call; they are the last ones of the row.
    pub taken: u32,
    /// Blocks that the sequence now holds.
    pub held: u32,
}

/// One row of a batch.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Step {
    /// Which sequence.
    pub sequence: Sequence,
    /// Tokens to add.
    pub tokens: u32,
}

/// What a batch did, in sum; the rows have their own answers.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Batch {
    /// Rows that advanced.
    pub advanced: u32,
    /// Rows that were refused.
    pub refused: u32,
    /// Rows whose table row changed: so many entries of `changed` were written.
    pub changed: u32,
    /// Blocks taken by all rows.
    pub taken: u32,
    /// When the frontier has reached this epoch, every row that was refused with `RETRY_AFTER` may be tried again; `NONE`
    /// if none was.
    pub retry_after: Epoch,
}

/// What came back from a sequence.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Released {
    /// Promised blocks that went back at once.
    pub promised: u32,
    /// Blocks that are free now.
    pub free: u32,
    /// Blocks that are retiring: submitted work may still touch them.
    pub retiring: u32,
    /// The retiring ones are free when the frontier has reached this epoch, or earlier; `NONE` if there are none.
    pub after: Epoch,
}

/// What the ledger word says: one atomic load, always consistent.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// N: usable blocks.
    pub blocks: u32,
    /// A: committed, each block once.
    pub committed: u32,
    /// R + S: promised and not materialized, the safety margin included.
    pub promised_and_safety: u32,
    /// N − A − R − S.
    pub headroom: u32,
}
