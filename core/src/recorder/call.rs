//! The calls that may change a pool, with their arguments, and how they are written down.

use super::lists::{Handles, Named, Numbers};
use super::steps::Steps;
use super::words::Put;
use crate::calls::{Admission, Promise};
use crate::ids::{Account, Epoch, Group, Sequence, Stream, StreamSet, Transfer};
use crate::transfers::Access;

/// A call of a pool, as it was made. The names are those of the methods of `Pool`.
#[expect(missing_docs, reason = "each field is the argument of that name")]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Call<'a> {
    /// `open`
    Open,
    /// `admit`, `admit_prefix`
    Admit { sequence: Sequence, admission: Admission, prefix: Named<'a> },
    /// `advance`
    Advance { sequence: Sequence, tokens: u32 },
    /// `advance_growing`
    AdvanceGrowing { sequence: Sequence, tokens: u32, watermark: u32 },
    /// `advance_many`; `answers` and `changed` are the lengths of these arrays, up to 2^32 − 1.
    AdvanceMany { steps: Steps<'a>, answers: u32, changed: u32 },
    /// `materialize`
    Materialize { sequence: Sequence, blocks: u32 },
    /// `extend`
    Extend { sequence: Sequence, blocks: u32, watermark: u32 },
    /// `shrink`
    Shrink { sequence: Sequence, blocks: u32 },
    /// `draw_safety`
    DrawSafety { sequence: Sequence, blocks: u32 },
    /// `cancel`
    Cancel { sequence: Sequence },
    /// `end`
    End { sequence: Sequence },
    /// `preempt`
    Preempt { sequence: Sequence },
    /// `use_streams`
    UseStreams { sequence: Sequence, streams: StreamSet },
    /// `open_account`
    OpenAccount { group: Group, total: u32, watermark: u32 },
    /// `set_account_total`
    SetAccountTotal { account: Account, total: u32 },
    /// `close_account`
    CloseAccount { account: Account },
    /// `set_safety`
    SetSafety { blocks: u32 },
    /// `set_quota`
    SetQuota { group: Group, blocks: u32 },
    /// `submit`
    Submit { stream: Stream },
    /// `complete`
    Complete { stream: Stream, epoch: Epoch, failed: bool },
    /// `abandon`
    Abandon { stream: Stream },
    /// `reclaim`
    Reclaim { blocks: u32 },
    /// `launch_row`
    LaunchRow { sequence: Sequence, epoch: Epoch },
    /// `publish`
    Publish { sequence: Sequence, first: u32, prefix: Named<'a>, epoch: Epoch, keep: bool },
    /// `withdraw`
    Withdraw { sequence: Sequence, first: u32, count: u32 },
    /// `pin`
    Pin { sequence: Sequence, group: Group, streams: StreamSet, prefix: Named<'a>, watermark: u32 },
    /// `unpin`
    Unpin { sequence: Sequence },
    /// `evict`
    Evict { blocks: u32 },
    /// `reset`; of no group: `reset_all`.
    Reset { group: Option<Group> },
    /// `release`
    Release { sequence: Sequence, ids: Numbers<'a> },
    /// `release_tokens`
    ReleaseTokens { sequence: Sequence, from: u32, to: u32 },
    /// `fork`
    Fork { parent: Sequence, children: Handles<'a>, output_tokens_max: u32, watermark: u32 },
    /// `copy_submitted`
    CopySubmitted { sequence: Sequence, epoch: Epoch },
    /// `speculate`
    Speculate { sequence: Sequence, tokens: u32 },
    /// `accept`
    Accept { sequence: Sequence, tokens: u32, give_back: bool },
    /// `withdraw_admission`
    WithdrawAdmission { sequence: Sequence },
    /// `trim`
    Trim { sequence: Sequence, tokens: u32 },
    /// `hold`
    Hold { sequence: Sequence, first: u32, count: u32, access: Access },
    /// `hold_blocks`
    HoldBlocks { ids: Numbers<'a>, access: Access },
    /// `complete_transfer`
    CompleteTransfer { transfer: Transfer },
    /// `revoke`
    Revoke { transfer: Transfer },
    /// `quarantine`
    Quarantine { transfer: Transfer },
}

/// When a call is given its place in the order of all. Between the two it has its effect, so that whoever saw the effect of
/// a `First` and is a `Last` himself comes after it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stamp {
    /// Before it does anything: it gives back.
    First,
    /// When it is done: it takes.
    Last,
}

/// A promise that is a number of blocks; any other word in its place is `Promise::Full`.
pub(super) const BLOCKS: u32 = 1;

impl<'a> Call<'a> {
    /// What the method is called.
    pub const fn name(&self) -> &'static str {
        match self {
            Call::Open => "open",
            Call::Admit { .. } => "admit",
            Call::Advance { .. } => "advance",
            Call::AdvanceGrowing { .. } => "advance_growing",
            Call::AdvanceMany { .. } => "advance_many",
            Call::Materialize { .. } => "materialize",
            Call::Extend { .. } => "extend",
            Call::Shrink { .. } => "shrink",
            Call::DrawSafety { .. } => "draw_safety",
            Call::Cancel { .. } => "cancel",
            Call::End { .. } => "end",
            Call::Preempt { .. } => "preempt",
            Call::UseStreams { .. } => "use_streams",
            Call::OpenAccount { .. } => "open_account",
            Call::SetAccountTotal { .. } => "set_account_total",
            Call::CloseAccount { .. } => "close_account",
            Call::SetSafety { .. } => "set_safety",
            Call::SetQuota { .. } => "set_quota",
            Call::Submit { .. } => "submit",
            Call::Complete { .. } => "complete",
            Call::Abandon { .. } => "abandon",
            Call::Reclaim { .. } => "reclaim",
            Call::LaunchRow { .. } => "launch_row",
            Call::Publish { .. } => "publish",
            Call::Withdraw { .. } => "withdraw",
            Call::Pin { .. } => "pin",
            Call::Unpin { .. } => "unpin",
            Call::Evict { .. } => "evict",
            Call::Reset { .. } => "reset",
            Call::Release { .. } => "release",
            Call::ReleaseTokens { .. } => "release_tokens",
            Call::Fork { .. } => "fork",
            Call::CopySubmitted { .. } => "copy_submitted",
            Call::Speculate { .. } => "speculate",
            Call::Accept { .. } => "accept",
            Call::WithdrawAdmission { .. } => "withdraw_admission",
            Call::Trim { .. } => "trim",
            Call::Hold { .. } => "hold",
            Call::HoldBlocks { .. } => "hold_blocks",
            Call::CompleteTransfer { .. } => "complete_transfer",
            Call::Revoke { .. } => "revoke",
            Call::Quarantine { .. } => "quarantine",
        }
    }

    /// Calls that give back come before what others do with it. (Limits are set in either direction: the pool knows in
    /// which.)
    #[inline(always)]
    pub(crate) const fn stamp(&self) -> Stamp {
        match self {
            Call::Shrink { .. }
            | Call::Cancel { .. }
            | Call::End { .. }
            | Call::Preempt { .. }
            | Call::CloseAccount { .. }
            | Call::Complete { .. }
            | Call::Abandon { .. }
            | Call::Unpin { .. }
            | Call::Release { .. }
            | Call::ReleaseTokens { .. }
            | Call::Accept { .. }
            | Call::Trim { .. }
            | Call::WithdrawAdmission { .. }
            // It gives names: who hits one of them comes after it.
            | Call::Publish { .. }
            | Call::CopySubmitted { .. }
            | Call::CompleteTransfer { .. }
            | Call::Revoke { .. }
            | Call::Withdraw { .. }
            | Call::Reset { .. }
            | Call::Evict { .. }
            | Call::Reclaim { .. } => Stamp::First,
            _ => Stamp::Last,
        }
    }

    /// The number of the call in a record. Never reused.
    pub(super) const fn number(&self) -> u8 {
        match self {
            Call::Open => 1,
            Call::Admit { .. } => 2,
            Call::Advance { .. } => 3,
            Call::AdvanceGrowing { .. } => 4,
            Call::AdvanceMany { .. } => 5,
            Call::Materialize { .. } => 6,
            Call::Extend { .. } => 7,
            Call::Shrink { .. } => 8,
            Call::DrawSafety { .. } => 9,
            Call::Cancel { .. } => 10,
            Call::End { .. } => 11,
            Call::Preempt { .. } => 12,
            Call::UseStreams { .. } => 13,
            Call::OpenAccount { .. } => 14,
            Call::SetAccountTotal { .. } => 15,
            Call::CloseAccount { .. } => 16,
            Call::SetSafety { .. } => 17,
            Call::SetQuota { .. } => 18,
            Call::Submit { .. } => 19,
            Call::Complete { .. } => 20,
            Call::Abandon { .. } => 21,
            Call::Reclaim { .. } => 22,
            Call::LaunchRow { .. } => 23,
            Call::Publish { .. } => 24,
            Call::Withdraw { .. } => 25,
            Call::Pin { .. } => 26,
            Call::Unpin { .. } => 27,
            Call::Evict { .. } => 28,
            Call::Reset { .. } => 29,
            Call::Release { .. } => 30,
            Call::ReleaseTokens { .. } => 31,
            Call::Fork { .. } => 32,
            Call::CopySubmitted { .. } => 33,
            Call::Speculate { .. } => 34,
            Call::Accept { .. } => 35,
            Call::Hold { .. } => 36,
            Call::HoldBlocks { .. } => 37,
            Call::CompleteTransfer { .. } => 38,
            Call::Revoke { .. } => 39,
            Call::Quarantine { .. } => 40,
            Call::Trim { .. } => 41,
            Call::WithdrawAdmission { .. } => 42,
        }
    }

    /// Words of its lists, at most: of the rows of a batch, of names, ids and handles.
    #[inline(always)]
    pub(crate) fn list_words(&self) -> usize {
        match self {
            Call::AdvanceMany { steps, .. } => Steps::words(steps.len(), true),
            Call::Admit { prefix, .. } | Call::Publish { prefix, .. } | Call::Pin { prefix, .. } => prefix.words(),
            Call::Release { ids, .. } | Call::HoldBlocks { ids, .. } => ids.len() / 2 + 2,
            Call::Fork { children, .. } => children.len().saturating_mul(2).saturating_add(1),
            _ => 0,
        }
    }

    /// All but the rows of a batch, which come after.
    pub(super) fn put(&self, to: &mut impl Put) {
        match *self {
            Call::Open => {}
            Call::Admit { sequence, ref admission, ref prefix } => {
                to.sequence(sequence);
                put_admission(admission, to);
                prefix.put(to);
            }
            Call::AdvanceMany { ref steps, answers, changed } => {
                to.word(steps.len() as u64);
                to.pair(answers, changed);
            }
            Call::Advance { sequence, tokens: count }
            | Call::Materialize { sequence, blocks: count }
            | Call::Shrink { sequence, blocks: count }
            | Call::Speculate { sequence, tokens: count }
            | Call::Trim { sequence, tokens: count }
            | Call::DrawSafety { sequence, blocks: count } => {
                to.sequence(sequence);
                to.word(u64::from(count));
            }
            Call::AdvanceGrowing { sequence, tokens: one, watermark: other }
            | Call::Withdraw { sequence, first: one, count: other }
            | Call::ReleaseTokens { sequence, from: one, to: other }
            | Call::Extend { sequence, blocks: one, watermark: other } => {
                to.sequence(sequence);
                to.pair(one, other);
            }
            Call::Cancel { sequence }
            | Call::End { sequence }
            | Call::Unpin { sequence }
            | Call::WithdrawAdmission { sequence }
            | Call::Preempt { sequence } => to.sequence(sequence),
            Call::UseStreams { sequence, streams } => {
                to.sequence(sequence);
                to.word(streams.0);
            }
            Call::LaunchRow { sequence, epoch } | Call::CopySubmitted { sequence, epoch } => {
                to.sequence(sequence);
                to.word(epoch.0);
            }
            Call::Publish { sequence, first, ref prefix, epoch, keep } => {
                to.sequence(sequence);
                to.pair(first, u32::from(keep));
                to.word(epoch.0);
                prefix.put(to);
            }
            Call::Pin { sequence, group, streams, ref prefix, watermark } => {
                to.sequence(sequence);
                to.pair(group.0, watermark);
                to.word(streams.0);
                prefix.put(to);
            }
            Call::Reset { group } => to.pair(group.map_or(0, |group| group.0), u32::from(group.is_some())),
            Call::Release { sequence, ref ids } => {
                to.sequence(sequence);
                ids.put(to);
            }
            Call::Fork { parent, ref children, output_tokens_max, watermark } => {
                to.sequence(parent);
                to.pair(output_tokens_max, watermark);
                children.put(to);
            }
            Call::Accept { sequence, tokens, give_back } => {
                to.sequence(sequence);
                to.pair(tokens, u32::from(give_back));
            }
            Call::Hold { sequence, first, count, access } => {
                to.sequence(sequence);
                to.pair(first, count);
                to.word(access as u64);
            }
            Call::HoldBlocks { ref ids, access } => {
                to.word(access as u64);
                ids.put(to);
            }
            Call::CompleteTransfer { transfer } | Call::Revoke { transfer } | Call::Quarantine { transfer } => {
                to.pair(transfer.slot, transfer.pool);
                to.word(transfer.generation);
            }
            Call::OpenAccount { group, total, watermark } => {
                to.pair(group.0, total);
                to.word(u64::from(watermark));
            }
            Call::SetAccountTotal { account, total } => {
                to.account(account);
                to.word(u64::from(total));
            }
            Call::CloseAccount { account } => to.account(account),
            Call::SetQuota { group, blocks } => to.pair(group.0, blocks),
            Call::Complete { stream, epoch, failed } => {
                to.pair(stream.0, u32::from(failed));
                to.word(epoch.0);
            }
            Call::Submit { stream: Stream(number) }
            | Call::Abandon { stream: Stream(number) }
            | Call::SetSafety { blocks: number }
            | Call::Evict { blocks: number }
            | Call::Reclaim { blocks: number } => to.word(u64::from(number)),
        }
    }
}

fn put_admission(admission: &Admission, to: &mut impl Put) {
    let (form, blocks) = match admission.promise {
        Promise::Full => (0, 0),
        Promise::Blocks(blocks) => (BLOCKS, blocks),
    };
    to.pair(admission.prompt_tokens, admission.output_tokens_max);
    to.pair(form, blocks);
    to.pair(admission.speculative_tokens, admission.window.tokens);
    to.pair(admission.window.steps_in_flight, admission.window.chunk_tokens);
    to.pair(admission.group.0, admission.watermark);
    to.word(admission.streams.0);
    to.account(admission.account);
}
