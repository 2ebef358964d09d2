//! What the handles and epochs of a record are called when its calls are made again.

use crate::answer::Refusal;
use crate::calls::{Admission, Step};
use crate::ids::{Account, Epoch, Sequence, Transfer};
use crate::recorder::{Answer, Call, Handles, Steps};
use std::collections::BTreeMap;
use std::vec::Vec;

/// No generation and no epoch ever has this number.
const NOBODY: u64 = u64::MAX;

/// Where the lists of a translated call are.
#[derive(Default)]
pub(super) struct Lists {
    rows: Vec<Step>,
    handles: Vec<Sequence>,
}

/// Names of then, and what they are now.
#[derive(Default)]
pub(super) struct Names {
    sequences: BTreeMap<(u32, u32, u64), Sequence>,
    /// Who has a slot of then.
    slots: BTreeMap<u32, Sequence>,
    accounts: BTreeMap<(u32, u32, u64), Account>,
    epochs: BTreeMap<u64, Epoch>,
    transfers: BTreeMap<(u32, u32, u64), Transfer>,
}

impl Names {
    /// `call` got `then`, and gets `now`. A frontier is an epoch too, but nobody's name.
    pub(super) fn learn(&mut self, call: &Call<'_>, then: &Result<Answer, Refusal>, now: &Result<Answer, Refusal>) {
        match (call, then, now) {
            (Call::Open, Ok(Answer::Sequence(then)), Ok(Answer::Sequence(now))) => {
                self.slots.insert(then.slot, *now);
                self.sequences.insert((then.slot, then.pool, then.generation), *now);
            }
            (Call::OpenAccount { .. }, Ok(Answer::Account(then)), Ok(Answer::Account(now))) => {
                self.accounts.insert((then.slot, then.pool, then.generation), *now);
            }
            (Call::Submit { .. }, Ok(Answer::Epoch(then)), Ok(Answer::Epoch(now))) => {
                self.epochs.insert(then.0, *now);
            }
            (_, Ok(Answer::Transfer(then)), Ok(Answer::Transfer(now))) => {
                self.transfers.insert((then.slot, then.pool, then.generation), *now);
            }
            _ => {}
        }
    }

    /// The call with the names of now. The rows of a batch and the children of a fork go to `lists`.
    pub(super) fn translate<'a>(&self, call: &Call<'a>, lists: &'a mut Lists) -> Call<'a> {
        let named = |sequence| self.sequence(sequence);
        let Lists { rows, handles } = lists;
        match *call {
            Call::Admit { sequence, admission, prefix } => {
                let account = self.account(admission.account);
                Call::Admit { sequence: named(sequence), admission: Admission { account, ..admission }, prefix }
            }
            Call::Advance { sequence, tokens } => Call::Advance { sequence: named(sequence), tokens },
            Call::AdvanceGrowing { sequence, tokens, watermark } => {
                Call::AdvanceGrowing { sequence: named(sequence), tokens, watermark }
            }
            Call::AdvanceMany { steps, answers, changed } => {
                rows.clear();
                rows.extend(steps.iter().map(|step| Step { sequence: self.of_row(&steps, step.sequence), ..step }));
                Call::AdvanceMany { steps: Steps::of(rows), answers, changed }
            }
            Call::Materialize { sequence, blocks } => Call::Materialize { sequence: named(sequence), blocks },
            Call::Extend { sequence, blocks, watermark } => {
                Call::Extend { sequence: named(sequence), blocks, watermark }
            }
            Call::Shrink { sequence, blocks } => Call::Shrink { sequence: named(sequence), blocks },
            Call::DrawSafety { sequence, blocks } => Call::DrawSafety { sequence: named(sequence), blocks },
            Call::Cancel { sequence } => Call::Cancel { sequence: named(sequence) },
            Call::End { sequence } => Call::End { sequence: named(sequence) },
            Call::Preempt { sequence } => Call::Preempt { sequence: named(sequence) },
            Call::UseStreams { sequence, streams } => Call::UseStreams { sequence: named(sequence), streams },
            Call::SetAccountTotal { account, total } => Call::SetAccountTotal { account: self.account(account), total },
            Call::CloseAccount { account } => Call::CloseAccount { account: self.account(account) },
            Call::Complete { stream, epoch, failed } => Call::Complete { stream, epoch: self.epoch(epoch), failed },
            Call::LaunchRow { sequence, epoch } => {
                Call::LaunchRow { sequence: named(sequence), epoch: self.epoch(epoch) }
            }
            Call::Publish { sequence, first, prefix, epoch, keep } => {
                Call::Publish { sequence: named(sequence), first, prefix, epoch: self.epoch(epoch), keep }
            }
            Call::Withdraw { sequence, first, count } => Call::Withdraw { sequence: named(sequence), first, count },
            Call::Pin { sequence, group, streams, prefix, watermark } => {
                Call::Pin { sequence: named(sequence), group, streams, prefix, watermark }
            }
            Call::WithdrawAdmission { sequence } => Call::WithdrawAdmission { sequence: named(sequence) },
            Call::Unpin { sequence } => Call::Unpin { sequence: named(sequence) },
            Call::Release { sequence, ids } => Call::Release { sequence: named(sequence), ids },
            Call::ReleaseTokens { sequence, from, to } => Call::ReleaseTokens { sequence: named(sequence), from, to },
            Call::Fork { parent, children, output_tokens_max, watermark } => {
                handles.clear();
                children.each(|child| handles.push(named(child)));
                Call::Fork { parent: named(parent), children: Handles::of(handles), output_tokens_max, watermark }
            }
            Call::CopySubmitted { sequence, epoch } => {
                Call::CopySubmitted { sequence: named(sequence), epoch: self.epoch(epoch) }
            }
            Call::Speculate { sequence, tokens } => Call::Speculate { sequence: named(sequence), tokens },
            Call::Trim { sequence, tokens } => Call::Trim { sequence: named(sequence), tokens },
            Call::Accept { sequence, tokens, give_back } => {
                Call::Accept { sequence: named(sequence), tokens, give_back }
            }
            Call::Hold { sequence, first, count, access } => {
                Call::Hold { sequence: named(sequence), first, count, access }
            }
            Call::CompleteTransfer { transfer } => Call::CompleteTransfer { transfer: self.transfer(transfer) },
            Call::Revoke { transfer } => Call::Revoke { transfer: self.transfer(transfer) },
            Call::Quarantine { transfer } => Call::Quarantine { transfer: self.transfer(transfer) },
            // Blocks are numbers: in a history of one thread the same ones.
            Call::HoldBlocks { ids, access } => Call::HoldBlocks { ids, access },
            Call::Evict { blocks } => Call::Evict { blocks },
            Call::Reset { group } => Call::Reset { group },
            Call::Open => Call::Open,
            Call::OpenAccount { group, total, watermark } => Call::OpenAccount { group, total, watermark },
            Call::SetSafety { blocks } => Call::SetSafety { blocks },
            Call::SetQuota { group, blocks } => Call::SetQuota { group, blocks },
            Call::Submit { stream } => Call::Submit { stream },
            Call::Abandon { stream } => Call::Abandon { stream },
            Call::Reclaim { blocks } => Call::Reclaim { blocks },
        }
    }

    /// A name that was never given out is nobody's now either, whoever has it by chance.
    fn sequence(&self, name: Sequence) -> Sequence {
        let now = self.sequences.get(&(name.slot, name.pool, name.generation)).copied();
        now.unwrap_or(Sequence { generation: NOBODY, ..name })
    }

    /// Rows in which all advanced name the slot only.
    fn of_row(&self, steps: &Steps<'_>, name: Sequence) -> Sequence {
        let has_slot = self.slots.get(&name.slot).filter(|_| steps.by_slot());
        has_slot.copied().unwrap_or_else(|| self.sequence(name))
    }

    fn account(&self, name: Account) -> Account {
        let now = self.accounts.get(&(name.slot, name.pool, name.generation)).copied();
        if name.is_none() { name } else { now.unwrap_or(Account { generation: NOBODY, ..name }) }
    }

    fn transfer(&self, name: Transfer) -> Transfer {
        let now = self.transfers.get(&(name.slot, name.pool, name.generation)).copied();
        now.unwrap_or(Transfer { generation: NOBODY, ..name })
    }

    fn epoch(&self, name: Epoch) -> Epoch {
        if name == Epoch::NONE { name } else { self.epochs.get(&name.0).copied().unwrap_or(Epoch(NOBODY)) }
    }
}
