//! Calls as they are read from a record, which is a claim until it is checked.

use super::call::{BLOCKS, Call};
use super::lists::{Handles, Named, Numbers};
use super::steps::Steps;
use super::words::Take;
use crate::calls::{Admission, Promise, Window};
use crate::ids::{Epoch, Group, Stream, StreamSet, Transfer};
use crate::transfers::Access;

impl<'a> Call<'a> {
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
            24..=42 => return Call::read_sharing(number, from),
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
            42 => Call::WithdrawAdmission { sequence: from.sequence()? },
            41 => Call::Trim { sequence: from.sequence()?, tokens: from.pair()?.0 },
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
