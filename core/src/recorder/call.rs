//! The calls that may change a pool, with their arguments, and how they are written down.

use super::steps::Steps;
use super::words::{Put, Take};
use crate::calls::{Admission, Promise};
use crate::ids::{Account, Epoch, Group, Sequence, Stream, StreamSet};

/// A call of a pool, as it was made. The names are those of the methods of `Pool`.
#[expect(missing_docs, reason = "each field is the argument of that name")]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Call<'a> {
    /// `open`
    Open,
    /// `admit`
    Admit { sequence: Sequence, admission: Admission },
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
        }
    }

    /// All but the rows of a batch, which come after.
    pub(super) fn put(&self, to: &mut impl Put) {
        match *self {
            Call::Open => {}
            Call::Admit { sequence, ref admission } => {
                to.sequence(sequence);
                put_admission(admission, to);
            }
            Call::AdvanceMany { ref steps, answers, changed } => {
                to.word(steps.len() as u64);
                to.pair(answers, changed);
            }
            Call::Advance { sequence, tokens: count }
            | Call::Materialize { sequence, blocks: count }
            | Call::Shrink { sequence, blocks: count }
            | Call::DrawSafety { sequence, blocks: count } => {
                to.sequence(sequence);
                to.word(u64::from(count));
            }
            Call::AdvanceGrowing { sequence, tokens: count, watermark }
            | Call::Extend { sequence, blocks: count, watermark } => {
                to.sequence(sequence);
                to.pair(count, watermark);
            }
            Call::Cancel { sequence } | Call::End { sequence } | Call::Preempt { sequence } => to.sequence(sequence),
            Call::UseStreams { sequence, streams } => {
                to.sequence(sequence);
                to.word(streams.0);
            }
            Call::LaunchRow { sequence, epoch } => {
                to.sequence(sequence);
                to.word(epoch.0);
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
            2 => Call::Admit { sequence: from.sequence()?, admission: read_admission(from)? },
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
            _ => return None,
        })
    }
}

fn put_admission(admission: &Admission, to: &mut impl Put) {
    let (form, blocks) = match admission.promise {
        Promise::Full => (0, 0),
        Promise::Blocks(blocks) => (BLOCKS, blocks),
    };
    to.pair(admission.prompt_tokens, admission.output_tokens_max);
    to.pair(form, blocks);
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
    let (group, watermark) = from.pair()?;
    let (streams, account) = (StreamSet(from.word()?), from.account()?);
    Some(Admission { prompt_tokens, output_tokens_max, promise, group: Group(group), streams, watermark, account })
}
