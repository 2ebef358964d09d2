//! A recorded call, made on a pool.

use crate::answer::Refusal;
use crate::calls::{Prefix, Step};
use crate::identity::Identity;
use crate::ids::{BlockId, Sequence};
use crate::pool::Pool;
use crate::recorder::{Answer, Call, Handles, Named, Numbers};
use std::vec;
use std::vec::Vec;

/// What a call came to, with all that it wrote.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Made {
    /// What it returned.
    pub answer: Result<Answer, Refusal>,
    /// The status of each row of a batch.
    pub answers: Vec<u32>,
    /// The slots of a batch whose rows changed; what the call did not write is `u32::MAX`.
    pub changed: Vec<u32>,
    /// The block that is found under each name of a publication; what the call did not write is block 2^32 − 1.
    pub found: Vec<BlockId>,
}

/// Makes `call` on `pool`.
pub fn make(pool: &Pool<'_>, call: &Call<'_>) -> Made {
    let (mut answers, mut changed, mut found) = (Vec::new(), Vec::new(), Vec::new());
    let answer = match *call {
        Call::Open => done(pool.open()),
        Call::Admit { sequence, ref admission, ref prefix } => {
            done(pool.admit_prefix(sequence, admission, &Words::of(prefix).prefix()))
        }
        Call::Advance { sequence, tokens } => done(pool.advance(sequence, tokens)),
        Call::AdvanceGrowing { sequence, tokens, watermark } => done(pool.advance_growing(sequence, tokens, watermark)),
        Call::AdvanceMany { ref steps, answers: answers_len, changed: changed_len } => {
            let steps: Vec<Step> = steps.iter().collect();
            // As long as they were, but not longer than makes a difference.
            let room = |len: u32| vec![u32::MAX; steps.len().min(len as usize)];
            (answers, changed) = (room(answers_len), room(changed_len));
            done(pool.advance_many(&steps, &mut answers, &mut changed))
        }
        Call::Materialize { sequence, blocks } => done(pool.materialize(sequence, blocks)),
        Call::Extend { sequence, blocks, watermark } => done(pool.extend(sequence, blocks, watermark)),
        Call::Shrink { sequence, blocks } => done(pool.shrink(sequence, blocks)),
        Call::DrawSafety { sequence, blocks } => done(pool.draw_safety(sequence, blocks)),
        Call::Cancel { sequence } => done(pool.cancel(sequence)),
        Call::End { sequence } => done(pool.end(sequence)),
        Call::Preempt { sequence } => done(pool.preempt(sequence)),
        Call::UseStreams { sequence, streams } => done(pool.use_streams(sequence, streams)),
        Call::OpenAccount { group, total, watermark } => done(pool.open_account(group, total, watermark)),
        Call::SetAccountTotal { account, total } => done(pool.set_account_total(account, total)),
        Call::CloseAccount { account } => done(pool.close_account(account)),
        Call::SetSafety { blocks } => done(pool.set_safety(blocks)),
        Call::SetQuota { group, blocks } => done(pool.set_quota(group, blocks)),
        Call::Submit { stream } => done(pool.submit(stream)),
        Call::Complete { stream, epoch, failed } => done(pool.complete(stream, epoch, failed)),
        Call::Abandon { stream } => done(pool.abandon(stream)),
        Call::Reclaim { blocks } => Ok(pool.reclaim(blocks).into()),
        Call::LaunchRow { sequence, epoch } => done(pool.launch_row(sequence, epoch)),
        Call::Publish { sequence, first, ref prefix, epoch, keep } => {
            let words = Words::of(prefix);
            found = vec![BlockId(u32::MAX); words.identities.len()];
            done(pool.publish(sequence, first, &words.prefix(), epoch, keep, &mut found))
        }
        Call::Withdraw { sequence, first, count } => done(pool.withdraw(sequence, first, count)),
        Call::Pin { sequence, group, streams, ref prefix, watermark } => {
            done(pool.pin(sequence, group, streams, &Words::of(prefix).prefix(), watermark))
        }
        Call::WithdrawAdmission { sequence } => done(pool.withdraw_admission(sequence)),
        Call::Unpin { sequence } => done(pool.unpin(sequence)),
        Call::Evict { blocks } => done(pool.evict(blocks)),
        Call::Reset { group: Some(group) } => done(pool.reset(group)),
        Call::Reset { group: None } => {
            pool.reset_all();
            Ok(Answer::Done)
        }
        Call::Hold { sequence, first, count, access } => done(pool.hold(sequence, first, count, access)),
        Call::HoldBlocks { ref ids, access } => done(pool.hold_blocks(&block_ids(ids), access)),
        Call::CompleteTransfer { transfer } => done(pool.complete_transfer(transfer)),
        Call::Revoke { transfer } => done(pool.revoke(transfer)),
        Call::Quarantine { transfer } => done(pool.quarantine(transfer)),
        Call::Release { sequence, ref ids } => done(pool.release(sequence, &block_ids(ids))),
        Call::ReleaseTokens { sequence, from, to } => done(pool.release_tokens(sequence, from, to)),
        Call::Fork { parent, ref children, output_tokens_max, watermark } => {
            done(pool.fork(parent, &handles(children), output_tokens_max, watermark))
        }
        Call::CopySubmitted { sequence, epoch } => done(pool.copy_submitted(sequence, epoch)),
        Call::Speculate { sequence, tokens } => done(pool.speculate(sequence, tokens)),
        Call::Accept { sequence, tokens, give_back } => done(pool.accept(sequence, tokens, give_back)),
        Call::Trim { sequence, tokens } => done(pool.trim(sequence, tokens)),
    };
    Made { answer, answers, changed, found }
}

/// A result as an answer.
pub(super) fn done<T: Into<Answer>>(result: Result<T, Refusal>) -> Result<Answer, Refusal> {
    result.map(Into::into)
}

/// What a prefix refers to.
#[derive(Default)]
pub(super) struct Words {
    pub(super) identities: Vec<Identity>,
    pub(super) tokens: Vec<u32>,
    pub(super) unfinished: bool,
    pub(super) blocks_max: u32,
}

impl Words {
    pub(super) fn of(named: &Named<'_>) -> Words {
        let (mut identities, mut tokens) = (Vec::new(), Vec::new());
        named.identities.each(|identity| identities.push(identity));
        named.tokens.each(|token| tokens.push(token));
        Words { identities, tokens, unfinished: named.unfinished, blocks_max: named.blocks_max }
    }

    /// The tokens of the block at `place`; none if none are named.
    pub(super) fn tokens_of(&self, place: usize, block_tokens: u32) -> &[u32] {
        let size = block_tokens as usize;
        self.tokens.get(place * size..(place + 1) * size).unwrap_or(&[])
    }

    pub(super) fn prefix(&self) -> Prefix<'_> {
        let Words { identities, tokens, unfinished, blocks_max } = self;
        Prefix { identities, tokens, unfinished: *unfinished, blocks_max: *blocks_max }
    }
}

/// All of them.
pub(super) fn handles(list: &Handles<'_>) -> Vec<Sequence> {
    let mut all = Vec::new();
    list.each(|sequence| all.push(sequence));
    all
}

/// All of them.
pub(super) fn block_ids(numbers: &Numbers<'_>) -> Vec<BlockId> {
    let mut ids = Vec::new();
    numbers.each(|id| ids.push(BlockId(id)));
    ids
}
