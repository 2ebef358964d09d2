//! The calls that may change a pool, with their arguments, and how they are written down.

use super::lists::{Handles, Named, Numbers};
use super::steps::Steps;
use super::words::{Put, Take};
use crate::calls::{Admission, Promise, Window};
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
const BLOCKS: u32 = 1;

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
            | Call::DrawSafety { sequence, blocks: count } => {
                to.sequence(sequence);
                to.word(u64::from(count));
            }
            Call::AdvanceGrowing { sequence, tokens: count, watermark }
            | Call::Withdraw { sequence, first: count, count: watermark }
            | Call::ReleaseTokens { sequence, from: count, to: watermark }
            | Call::Extend { sequence, blocks: count, watermark } => {
                to.sequence(sequence);
                to.pair(count, watermark);
            }
            Call::Cancel { sequence }
            | Call::End { sequence }
            | Call::Unpin { sequence }
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

    /// A call of which no more is written than what [`Call::put`] writes: the rows of a batch are none.
    pub(super) fn read_arguments(number: u8, from: &mut Take<'a>) -> Option<Call<'a>> {
        if number != 5 {
            return Call::read(number, false, 0, from);
        }
        let ((_, _), (answers, changed)) = (from.pair()?, from.pair()?);
        Some(Call::AdvanceMany { steps: Steps::of(&[]), answers, changed })
    }

    /// `None`: no call of this number, or words are missing.
    pub(super) fn read(number: u8, wide: bool, pool: u32, from: &mut Take<'a>) -> Option<Call<'a>> {
        Some(match number {
            1 => Call::Open,
            2 => {
                let (sequence, admission) = (from.sequence()?, read_admission(from)?);
                Call::Admit { sequence, admission, prefix: Named::read(from)? }
            }
            3 => Call::Advance { sequence: from.sequence()?, tokens: from.pair()?.0 },
            4 => {
                let (sequence, (tokens, watermark)) = (from.sequence()?, from.pair()?);
                Call::AdvanceGrowing { sequence, tokens, watermark }
            }
            5 => {
                let (count, (answers, changed)) = (usize::try_from(from.word()?).ok()?, from.pair()?);
                let steps = Steps::read(from.words(Steps::words(count, wide))?, count, wide, pool);
                Call::AdvanceMany { steps, answers, changed }
            }
            6 => Call::Materialize { sequence: from.sequence()?, blocks: from.pair()?.0 },
            7 => {
                let (sequence, (blocks, watermark)) = (from.sequence()?, from.pair()?);
                Call::Extend { sequence, blocks, watermark }
            }
            8 => Call::Shrink { sequence: from.sequence()?, blocks: from.pair()?.0 },
            9 => Call::DrawSafety { sequence: from.sequence()?, blocks: from.pair()?.0 },
            10 => Call::Cancel { sequence: from.sequence()? },
            11 => Call::End { sequence: from.sequence()? },
            12 => Call::Preempt { sequence: from.sequence()? },
            13 => Call::UseStreams { sequence: from.sequence()?, streams: StreamSet(from.word()?) },
            14 => {
                let ((group, total), watermark) = (from.pair()?, from.pair()?.0);
                Call::OpenAccount { group: Group(group), total, watermark }
            }
            15 => Call::SetAccountTotal { account: from.account()?, total: from.pair()?.0 },
            16 => Call::CloseAccount { account: from.account()? },
            17 => Call::SetSafety { blocks: from.pair()?.0 },
            18 => {
                let (group, blocks) = from.pair()?;
                Call::SetQuota { group: Group(group), blocks }
            }
            19 => Call::Submit { stream: Stream(from.pair()?.0) },
            20 => {
                let ((stream, failed), epoch) = (from.pair()?, Epoch(from.word()?));
                Call::Complete { stream: Stream(stream), epoch, failed: failed != 0 }
            }
            21 => Call::Abandon { stream: Stream(from.pair()?.0) },
            22 => Call::Reclaim { blocks: from.pair()?.0 },
            23 => Call::LaunchRow { sequence: from.sequence()?, epoch: Epoch(from.word()?) },
            24..=40 => return Call::read_sharing(number, from),
            _ => return None,
        })
    }

    /// The calls that share, or let go of, what is shared.
    fn read_sharing(number: u8, from: &mut Take<'a>) -> Option<Call<'a>> {
        Some(match number {
            24 => {
                let (sequence, (first, keep), epoch) = (from.sequence()?, from.pair()?, Epoch(from.word()?));
                Call::Publish { sequence, first, prefix: Named::read(from)?, epoch, keep: keep != 0 }
            }
            25 => {
                let (sequence, (first, count)) = (from.sequence()?, from.pair()?);
                Call::Withdraw { sequence, first, count }
            }
            26 => {
                let (sequence, (group, watermark)) = (from.sequence()?, from.pair()?);
                let streams = StreamSet(from.word()?);
                Call::Pin { sequence, group: Group(group), streams, prefix: Named::read(from)?, watermark }
            }
            27 => Call::Unpin { sequence: from.sequence()? },
            28 => Call::Evict { blocks: from.pair()?.0 },
            29 => {
                let (group, one) = from.pair()?;
                Call::Reset { group: (one != 0).then_some(Group(group)) }
            }
            30 => Call::Release { sequence: from.sequence()?, ids: Numbers::read(from)? },
            31 => {
                let (sequence, (first, last)) = (from.sequence()?, from.pair()?);
                Call::ReleaseTokens { sequence, from: first, to: last }
            }
            32 => {
                let (parent, (output_tokens_max, watermark)) = (from.sequence()?, from.pair()?);
                Call::Fork { parent, children: Handles::read(from)?, output_tokens_max, watermark }
            }
            33 => Call::CopySubmitted { sequence: from.sequence()?, epoch: Epoch(from.word()?) },
            34 => Call::Speculate { sequence: from.sequence()?, tokens: from.pair()?.0 },
            35 => {
                let (sequence, (tokens, give_back)) = (from.sequence()?, from.pair()?);
                Call::Accept { sequence, tokens, give_back: give_back != 0 }
            }
            36 => {
                let (sequence, (first, count)) = (from.sequence()?, from.pair()?);
                Call::Hold { sequence, first, count, access: read_access(from)? }
            }
            37 => {
                let access = read_access(from)?;
                Call::HoldBlocks { ids: Numbers::read(from)?, access }
            }
            38 => Call::CompleteTransfer { transfer: read_transfer(from)? },
            39 => Call::Revoke { transfer: read_transfer(from)? },
            40 => Call::Quarantine { transfer: read_transfer(from)? },
            _ => return None,
        })
    }
}

fn read_access(from: &mut Take<'_>) -> Option<Access> {
    match from.word()? {
        0 => Some(Access::Read),
        1 => Some(Access::Write),
        _ => None,
    }
}

fn read_transfer(from: &mut Take<'_>) -> Option<Transfer> {
    let (slot, pool) = from.pair()?;
    Some(Transfer { slot, pool, generation: from.word()? })
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

fn read_admission(from: &mut Take<'_>) -> Option<Admission> {
    let (prompt_tokens, output_tokens_max) = from.pair()?;
    let promise = match from.pair()? {
        (BLOCKS, blocks) => Promise::Blocks(blocks),
        _ => Promise::Full,
    };
    let ((speculative_tokens, tokens), (steps_in_flight, chunk_tokens)) = (from.pair()?, from.pair()?);
    let window = Window { tokens, steps_in_flight, chunk_tokens };
    let (group, watermark) = from.pair()?;
    let (streams, account) = (StreamSet(from.word()?), from.account()?);
    let group = Group(group);
    Some(Admission {
        prompt_tokens,
        output_tokens_max,
        speculative_tokens,
        window,
        promise,
        group,
        streams,
        watermark,
        account,
    })
}
