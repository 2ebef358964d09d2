//! Each call, told to the model, and the answers held against each other.

use super::compare::{Comparison, remember, same};
use super::growth::Growth;
use super::make::{Made, Words, block_ids, done, handles};
use crate::answer::{Argument, Refusal};
use crate::calls::{Batch, Step};
use crate::ids::Sequence;
use crate::pool::RowView;
use crate::recorder::{Answer, Call};
use std::format;
use std::string::String;
use std::vec::Vec;

impl Comparison<'_> {
    /// Tells the model of the call; `Err` if it would have answered otherwise.
    pub(super) fn tell(&mut self, call: &Call<'_>, made: &Made) -> Result<(), String> {
        let model = &mut self.model;
        let expected = match *call {
            Call::Open => return self.opened(made),
            Call::OpenAccount { group, total, watermark } => {
                let may = model.may_open_account(group, total, watermark);
                same("open_account", made.answer.map(drop), may)?;
                let Ok(Answer::Account(account)) = made.answer else { return Ok(()) };
                remember(&mut self.accounts, account);
                return same("a vacant account", model.opened_account(account, group, total), true);
            }
            Call::Submit { stream } => {
                let expected = model.submit(stream);
                if let Ok(Answer::Epoch(epoch)) = made.answer {
                    remember(&mut self.epochs, epoch);
                }
                done(expected)
            }
            Call::AdvanceMany { ref steps, answers, changed } => {
                let steps: Vec<Step> = steps.iter().collect();
                return self.batch(&steps, (answers, changed), made);
            }
            Call::Advance { sequence, tokens } => {
                let grown = model.advance(sequence, tokens, None);
                return self.grown(call, made, sequence, grown);
            }
            Call::AdvanceGrowing { sequence, tokens, watermark } => {
                let grown = model.advance(sequence, tokens, Some(watermark));
                return self.grown(call, made, sequence, grown);
            }
            Call::Materialize { sequence, blocks } => {
                let grown = model.materialize(sequence, blocks);
                return self.grown(call, made, sequence, grown);
            }
            Call::Speculate { sequence, tokens } => {
                let grown = model.speculate(sequence, tokens);
                return self.grown(call, made, sequence, grown);
            }
            Call::LaunchRow { sequence, epoch } => {
                let launched = model.launch_row(sequence, epoch);
                let version = if let Ok(Answer::Row(view)) = made.answer { view.version } else { 0 };
                done(launched.map(|()| RowView { version, ..model.row_view(sequence.slot as usize) }))
            }
            Call::Hold { sequence, first, count, access } => {
                let may = model.may_hold(sequence, first, count, access);
                return self.held(call, made, access, may);
            }
            Call::HoldBlocks { ref ids, access } => {
                let ids: Vec<u32> = block_ids(ids).into_iter().map(|id| id.0).collect();
                let may = model.may_hold_blocks(&ids, access);
                return self.held(call, made, access, may);
            }
            Call::Publish { sequence, first, ref prefix, epoch, keep } => {
                let published = model.publish(sequence, first, &Words::of(prefix), epoch, keep);
                let mut found: Vec<_> = made.found.iter().map(|id| id.0).take_while(|&id| id != u32::MAX).collect();
                if published.is_err() {
                    // What was written before a refusal means nothing.
                    found.clear();
                }
                same("blocks found", Ok(found), published.clone().map(|(_, found)| found).or(Ok::<_, ()>(Vec::new())))?;
                done(published.map(|(published, _)| published))
            }
            _ => model.expect(call),
        };
        same(call.name(), made.answer, expected)
    }

    fn opened(&mut self, made: &Made) -> Result<(), String> {
        same("open", made.answer.map(drop), if self.model.may_open() { Ok(()) } else { Err(Refusal::Full) })?;
        if let Ok(Answer::Sequence(sequence)) = made.answer {
            same("open gave a vacant slot", self.model.opened(sequence), true)?;
            remember(&mut self.sequences, sequence);
        }
        Ok(())
    }

    /// What the model says of blocks that were taken; which they are it learns from the row.
    fn grown(
        &mut self,
        call: &Call<'_>,
        made: &Made,
        sequence: Sequence,
        grown: Result<Growth, Refusal>,
    ) -> Result<(), String> {
        same(call.name(), made.answer, done(grown.clone().map(|grown| grown.advanced)))?;
        grown.map_or(Ok(()), |grown| self.learn(sequence, &grown))
    }

    fn batch(&mut self, steps: &[Step], (answers, changed): (u32, u32), made: &Made) -> Result<(), String> {
        if (answers.min(changed) as usize) < steps.len() {
            return same("batch", made.answer, Err(Refusal::Invalid { argument: Argument::Output }));
        }
        let (mut expected, mut slots) = (Batch::default(), Vec::new());
        for (step, &answer) in steps.iter().zip(&made.answers) {
            let model = self.model.advance(step.sequence, step.tokens, None);
            let code = model.as_ref().map_or_else(Refusal::code, |_| 0);
            same("a row of advance_many", answer, code)?;
            expected.advanced += u32::from(model.is_ok());
            expected.refused += u32::from(model.is_err());
            if let Err(Refusal::RetryAfter { after, .. }) = model {
                expected.retry_after = expected.retry_after.max(after);
            }
            let Ok(grown) = model else { continue };
            expected.taken += grown.advanced.taken;
            expected.copies += grown.advanced.copies;
            if !grown.places.is_empty() {
                expected.changed += 1;
                slots.push(step.sequence.slot);
            }
            self.learn(step.sequence, &grown)?;
        }
        same("batch", made.answer, Ok(Answer::Batch(expected)))?;
        same("changed rows", &made.changed[..slots.len()], slots.as_slice())
    }

    /// Tell the model which blocks a sequence has got.
    fn learn(&mut self, sequence: Sequence, grown: &Growth) -> Result<(), String> {
        if grown.places.is_empty() {
            return Ok(());
        }
        self.pool.export_row(sequence, &mut self.row).map_err(|refusal| format!("export_row: {refusal}"))?;
        let slot = sequence.slot as usize;
        for &place in &grown.places {
            let id = self.row[place];
            if !self.model.took(slot, place, id) {
                return Err(format!("block {id}, entry {place}, was not the next to be taken: {:?}", self.model.order));
            }
        }
        Ok(())
    }

    /// A transfer of these blocks, as the model has it; which slot it has the pool says.
    fn held(
        &mut self,
        call: &Call<'_>,
        made: &Made,
        access: crate::transfers::Access,
        may: Result<Vec<u32>, Refusal>,
    ) -> Result<(), String> {
        same(call.name(), made.answer.map(drop), may.as_ref().map(drop).map_err(|refusal| *refusal))?;
        if let (Ok(Answer::Transfer(transfer)), Ok(ids)) = (made.answer, may) {
            remember(&mut self.transfers, transfer);
            return same("a vacant transfer", self.model.held_by(transfer, access, &ids), true);
        }
        Ok(())
    }
}

impl super::Model {
    /// A call of which the model knows all: what it should have answered.
    fn expect(&mut self, call: &Call<'_>) -> Result<Answer, Refusal> {
        match *call {
            Call::Admit { sequence, ref admission, ref prefix } => {
                done(self.admit(sequence, admission, &Words::of(prefix)))
            }
            Call::Extend { sequence, blocks, watermark } => done(self.extend(sequence, blocks, watermark)),
            Call::Shrink { sequence, blocks } => done(self.shrink(sequence, blocks)),
            Call::DrawSafety { sequence, blocks } => done(self.draw_safety(sequence, blocks)),
            Call::Cancel { sequence } => done(self.cancel(sequence)),
            Call::End { sequence } => done(self.end(sequence)),
            Call::Preempt { sequence } => done(self.preempt(sequence)),
            Call::UseStreams { sequence, streams } => done(self.use_streams(sequence, streams)),
            Call::SetAccountTotal { account, total } => done(self.set_account_total(account, total)),
            Call::CloseAccount { account } => done(self.close_account(account)),
            Call::SetSafety { blocks } => done(self.set_safety(blocks)),
            Call::SetQuota { group, blocks } => done(self.set_quota(group, blocks)),
            Call::Complete { stream, epoch, failed } => done(self.complete(stream, epoch, failed)),
            Call::Abandon { stream } => done(self.abandon(stream)),
            // What is over has been reclaimed by the call that ended it.
            Call::Reclaim { .. } => Ok(Answer::Blocks(0)),
            Call::Withdraw { sequence, first, count } => done(self.withdraw(sequence, first, count)),
            Call::Pin { sequence, group, streams, ref prefix, watermark } => {
                done(self.pin(sequence, group, streams, &Words::of(prefix), watermark))
            }
            Call::WithdrawAdmission { sequence } => done(self.withdraw_admission(sequence)),
            Call::Unpin { sequence } => done(self.unpin(sequence)),
            Call::Evict { blocks } => done(self.evict(blocks)),
            Call::Reset { group } => done(self.reset(group)),
            Call::Release { sequence, ref ids } => {
                let ids: Vec<u32> = block_ids(ids).into_iter().map(|id| id.0).collect();
                done(self.release(sequence, &ids))
            }
            Call::ReleaseTokens { sequence, from, to } => done(self.release_tokens(sequence, from, to)),
            Call::Trim { sequence, tokens } => done(self.trim(sequence, tokens)),
            Call::Fork { parent, ref children, output_tokens_max, watermark } => {
                done(self.fork(parent, &handles(children), output_tokens_max, watermark))
            }
            Call::CopySubmitted { sequence, epoch } => done(self.copy_submitted(sequence, epoch)),
            Call::Accept { sequence, tokens, give_back } => done(self.accept(sequence, tokens, give_back)),
            Call::CompleteTransfer { transfer } => done(self.end_transfer(transfer, false)),
            Call::Revoke { transfer } => done(self.end_transfer(transfer, true)),
            Call::Quarantine { transfer } => done(self.quarantine(transfer)),
            // Those that the pool has to say something for: `Comparison::tell`.
            _ => Err(Refusal::Stale),
        }
    }
}
