//! What goes into the calls and what comes out: plain data, `repr(C)`, the same in the C header; but for [`Prefix`], whose
//! slices are a pointer and a count there.

use crate::identity::Identity;
use crate::ids::{Account, BlockId, Epoch, Group, Sequence, StreamSet, Transfer};

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

/// How far back a token looks, for attention over a window of the newest tokens.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Window {
    /// W: tokens that a token attends to, itself included; 0: all of them.
    pub tokens: u32,
    /// d: most steps of the sequence that are in flight when the next one is prepared.
    pub steps_in_flight: u32,
    /// Most tokens that one step adds, speculation included; at least 1 with a window.
    pub chunk_tokens: u32,
}

impl Window {
    /// Every token attends to all before it.
    pub const FULL: Window = Window { tokens: 0, steps_in_flight: 0, chunk_tokens: 0 };
}

/// The beginning of a prompt, by the names of its full blocks: what is looked for, and what is published.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Prefix<'a> {
    /// The names, from the first block on (of `publish`: from the first one published on).
    pub identities: &'a [Identity],
    /// The tokens of these blocks, B each; empty: they are not compared. Only kept and compared in a pool with
    /// `token_check`.
    pub tokens: &'a [u32],
    /// Take blocks that are still being written too; the answer then says which epoch to wait for. Otherwise they are no
    /// hit.
    pub unfinished: bool,
    /// Take at most so many blocks (of an agreement with other pools or ranks).
    pub blocks_max: u32,
}

impl<'a> Prefix<'a> {
    /// Any number of finished blocks, by name alone.
    pub const fn of(identities: &'a [Identity]) -> Prefix<'a> {
        Prefix { identities, tokens: &[], unfinished: false, blocks_max: u32::MAX }
    }
}

/// A request for admission.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Admission {
    /// Tokens that are there already: the prompt, and after a preemption also what was generated. At least 1.
    pub prompt_tokens: u32,
    /// Most tokens that will be added. A hard maximum: with the prompt it decides `NEVER_FITS`.
    pub output_tokens_max: u32,
    /// Most tokens beyond these that are proposed at once and may be taken back (`speculate`).
    pub speculative_tokens: u32,
    /// How far back a token looks: blocks out of the window come back while the sequence runs.
    pub window: Window,
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
            speculative_tokens: 0,
            window: Window::FULL,
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
    /// Blocks of the prefix that were found: the first ones of the row.
    pub hits: u32,
    /// Tokens that need not be computed again: B × hits, but at most prompt − 1, because the output of the last prompt token
    /// is wanted. (If that one lies in a shared block its keys and values are there: they are not written again.) The
    /// sequence has so many tokens after admission.
    pub cached_tokens: u32,
    /// The newest epoch under which one of the hits is still being written; `NONE`: all can be read at once.
    pub after: Epoch,
}

/// What is found of a prefix, and what taking it would cost: good for nothing later.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Found {
    /// Blocks from the first on without a gap.
    pub blocks: u32,
    /// Of these, blocks that cost one each: idle ones, and those that somebody has been told come back to him.
    pub priced: u32,
    /// The newest epoch under which one of them is still being written; `NONE`: all can be read at once.
    pub after: Epoch,
}

/// What a publication did.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Published {
    /// Blocks that have a name now and had none before.
    pub stored: u32,
    /// Of these, second copies: another held block is found under that name, until its last holder leaves.
    pub known: u32,
}

/// What an advance or a materialization did.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Advanced {
    /// Blocks taken by this call; they are the last ones of the row.
    pub taken: u32,
    /// Entries of its row that are in use: the blocks that it holds, and those that have left its window.
    pub entries: u32,
    /// 1 if the sequence had to leave a shared tail: `copy_order` says what is to be copied before this step writes.
    pub copies: u32,
}

/// A copy to make before a sequence writes to a block that it shared.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CopyOrder {
    /// The block to read. It is held until the copy is over.
    pub source: BlockId,
    /// The block to write: the sequence's own from now on.
    pub destination: BlockId,
    /// Token slots to copy, from the first.
    pub slots: u32,
    /// An epoch under which the source may still be written: the copy comes after it; `NONE`: it can be made at once.
    pub after: Epoch,
}

/// What a fork gave each child.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Forked {
    /// Blocks that each child shares with the parent.
    pub shared: u32,
    /// Blocks promised in all: to the children, and on blocks that are shared and come back, or are written.
    pub promised: u32,
    /// The newest epoch under which the parent's blocks may still be written: the children's work comes after it.
    pub after: Epoch,
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
    /// Rows that had to leave a shared tail; each is among `changed` and has a `copy_order`.
    pub copies: u32,
    /// When the frontier has reached this epoch, every row that was refused with `RETRY_AFTER` may be tried again; `NONE`
    /// if none was.
    pub retry_after: Epoch,
}

/// What an offload did.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Offloaded {
    /// To complete when the copy is over.
    pub transfer: Transfer,
    /// Blocks to copy.
    pub blocks: u32,
    /// What came back here: the blocks are retiring, in the grip of the transfer.
    pub released: Released,
}

/// What came back from a sequence.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Released {
    /// Promises that went back at once: of its account, and of its places on blocks that others grip too.
    pub promised: u32,
    /// Blocks that left A: they are free now, or idle.
    pub free: u32,
    /// Blocks that are retiring: submitted work may still touch them, or a transfer grips them.
    pub retiring: u32,
    /// When the frontier has reached this epoch, or earlier, the retiring ones have left A, but for those that a transfer
    /// still grips; `NONE`: no work is waited for.
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
