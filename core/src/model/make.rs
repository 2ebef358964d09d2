//! A recorded call, made on a pool.

use crate::answer::Refusal;
use crate::calls::Step;
use crate::pool::Pool;
use crate::recorder::{Answer, Call};
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
}

/// Makes `call` on `pool`.
pub fn make(pool: &Pool<'_>, call: &Call<'_>) -> Made {
    let (mut answers, mut changed) = (Vec::new(), Vec::new());
    let answer = match *call {
        Call::Open => done(pool.open()),
        Call::Admit { sequence, ref admission } => done(pool.admit(sequence, admission)),
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
    };
    Made { answer, answers, changed }
}

/// A result as an answer.
pub(super) fn done<T: Into<Answer>>(result: Result<T, Refusal>) -> Result<Answer, Refusal> {
    result.map(Into::into)
}
