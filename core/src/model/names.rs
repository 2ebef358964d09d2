//! What the handles and epochs of a record are called when its calls are made again.

use crate::answer::Refusal;
use crate::calls::{Admission, Step};
use crate::ids::{Account, Epoch, Sequence};
use crate::recorder::{Answer, Call, Steps};
use std::collections::BTreeMap;
use std::vec::Vec;

/// No generation and no epoch ever has this number.
const NOBODY: u64 = u64::MAX;

/// Names of then, and what they are now.
#[derive(Default)]
pub(super) struct Names {
    sequences: BTreeMap<(u32, u32, u64), Sequence>,
    /// Who has a slot of then.
    slots: BTreeMap<u32, Sequence>,
    accounts: BTreeMap<(u32, u32, u64), Account>,
    epochs: BTreeMap<u64, Epoch>,
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
            _ => {}
        }
    }

    /// The call with the names of now. The rows of a batch go to `rows`.
    pub(super) fn translate<'a>(&self, call: &Call<'_>, rows: &'a mut Vec<Step>) -> Call<'a> {
        let named = |sequence| self.sequence(sequence);
        match *call {
            Call::Admit { sequence, admission } => {
                let account = self.account(admission.account);
                Call::Admit { sequence: named(sequence), admission: Admission { account, ..admission } }
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

    fn epoch(&self, name: Epoch) -> Epoch {
        if name == Epoch::NONE { name } else { self.epochs.get(&name.0).copied().unwrap_or(Epoch(NOBODY)) }
    }
}
