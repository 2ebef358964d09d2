//! Calls from dumps, made again on a fresh pool.

use crate::answer::Refusal;
use crate::arena::Line;
use crate::calls::{Admission, Step};
use crate::config::PoolConfig;
use crate::ids::{Account, Epoch, Sequence};
use crate::pool::{Pool, entries, lines};
use crate::recorder::{Answer, Call, Dump, Outcome, Record};
use core::fmt;
use std::collections::BTreeMap;
use std::vec;
use std::vec::Vec;

/// Why dumps do not make up a history that can be made again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broken {
    /// No dumps were given.
    Nothing,
    /// The dump of this number (from 0) is of a pool with another configuration than the first.
    OtherPool(usize),
    /// The dump of this number has `words` words at its beginning that are no records.
    Words(usize, usize),
    /// In the dump of this number the oldest records were overwritten: its ring was too small for the whole history.
    Overwritten(usize),
    /// The calls of these tickets are in none of the dumps: a dump is missing, or calls were lost.
    Missing {
        /// The first of them.
        first: u64,
        /// How many in a row.
        count: u64,
    },
    /// Two records have this ticket: a dump was given twice.
    Twice(u64),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Nothing => f.write_str("there are no dumps"),
            Broken::OtherPool(dump) => write!(f, "dump {dump} is of another pool than dump 0"),
            Broken::Words(dump, words) => write!(f, "dump {dump}: the oldest {words} words are no records"),
            Broken::Overwritten(dump) => write!(f, "dump {dump}: its oldest records were overwritten"),
            Broken::Missing { first, count } => {
                write!(f, "{count} calls from ticket {first} on are in none of the dumps")
            }
            Broken::Twice(ticket) => write!(f, "two records have ticket {ticket}"),
        }
    }
}

/// The records of a dump, the oldest first.
pub fn in_order<'a>(number: usize, dump: &Dump<'a>) -> Result<Vec<Record<'a>>, Broken> {
    let mut records = Vec::new();
    for record in dump.newest_first() {
        records.push(record.map_err(|words| Broken::Words(number, words))?);
    }
    records.reverse();
    Ok(records)
}

/// The records of all dumps of one pool, in the order of their tickets: a whole history, from its first call on.
pub fn merge<'a>(dumps: &[Dump<'a>]) -> Result<Vec<Record<'a>>, Broken> {
    let first = dumps.first().ok_or(Broken::Nothing)?;
    let mut all = Vec::new();
    for (number, dump) in dumps.iter().enumerate() {
        if dump.config != first.config {
            return Err(Broken::OtherPool(number));
        }
        if dump.overwritten > 0 {
            return Err(Broken::Overwritten(number));
        }
        all.extend(in_order(number, dump)?);
    }
    all.sort_by_key(|record| record.ticket);
    let mut expected = 0;
    for record in &all {
        match record.ticket.checked_sub(expected) {
            Some(0) => expected += 1,
            Some(count) => return Err(Broken::Missing { first: expected, count }),
            None => return Err(Broken::Twice(record.ticket)),
        }
    }
    Ok(all)
}

/// Makes the calls of `records` on a pool of `config`, one after the other, and shows each with what it came to this
/// time. Handles and epochs are those of this time, wherever the recorded call got others. Err: the pool cannot be made.
pub fn rerun(
    config: &PoolConfig,
    records: &[Record<'_>],
    mut each: impl FnMut(&Record<'_>, &Outcome),
) -> Result<(), Refusal> {
    config.check()?;
    let (mut memory, mut table) = (vec![Line::ZERO; lines(config)], vec![0; entries(config)]);
    // Nothing is read from this ring: it is there for the digests, which every call writes anew.
    let mut ring = vec![Line::ZERO; 32];
    let mut again = Again {
        pool: Pool::init(&mut memory, &mut table, config)?.recording(&mut ring)?,
        sequences: BTreeMap::new(),
        slots: BTreeMap::new(),
        accounts: BTreeMap::new(),
        epochs: BTreeMap::new(),
    };
    for record in records {
        let answer = again.make(&record.call);
        again.learn(&record.outcome.answer, &answer);
        let (digest, first_block) = again.pool.noted();
        each(record, &Outcome { answer, digest, first_block });
    }
    Ok(())
}

/// A pool on which a history is made again, and what the names in it mean there.
struct Again<'m> {
    pool: Pool<'m>,
    sequences: BTreeMap<(u32, u32, u64), Sequence>,
    /// Who has a slot of then, now.
    slots: BTreeMap<u32, Sequence>,
    accounts: BTreeMap<(u32, u32, u64), Account>,
    epochs: BTreeMap<u64, Epoch>,
}

/// A result as an answer.
fn done<T: Into<Answer>>(result: Result<T, Refusal>) -> Result<Answer, Refusal> {
    result.map(Into::into)
}

impl Again<'_> {
    fn sequence(&self, name: Sequence) -> Sequence {
        self.sequences.get(&(name.slot, name.pool, name.generation)).copied().unwrap_or(name)
    }

    fn account(&self, name: Account) -> Account {
        self.accounts.get(&(name.slot, name.pool, name.generation)).copied().unwrap_or(name)
    }

    fn epoch(&self, name: Epoch) -> Epoch {
        self.epochs.get(&name.0).copied().unwrap_or(name)
    }

    /// Names that were given out then, and what they are now.
    fn learn(&mut self, then: &Result<Answer, Refusal>, now: &Result<Answer, Refusal>) {
        if let (Ok(Answer::Sequence(name)), Ok(Answer::Sequence(now))) = (then, now) {
            self.slots.insert(name.slot, *now);
        }
        match (then, now) {
            (Ok(Answer::Sequence(name)), Ok(Answer::Sequence(now))) if name != now => {
                self.sequences.insert((name.slot, name.pool, name.generation), *now);
            }
            (Ok(Answer::Account(name)), Ok(Answer::Account(now))) if name != now => {
                self.accounts.insert((name.slot, name.pool, name.generation), *now);
            }
            (Ok(Answer::Epoch(name)), Ok(Answer::Epoch(now))) if name != now => {
                self.epochs.insert(name.0, *now);
            }
            _ => {}
        }
    }

    fn make(&self, call: &Call<'_>) -> Result<Answer, Refusal> {
        let pool = &self.pool;
        match *call {
            Call::Open => done(pool.open()),
            Call::Admit { sequence, admission } => {
                let account = self.account(admission.account);
                done(pool.admit(self.sequence(sequence), &Admission { account, ..admission }))
            }
            Call::Advance { sequence, tokens } => done(pool.advance(self.sequence(sequence), tokens)),
            Call::AdvanceGrowing { sequence, tokens, watermark } => {
                done(pool.advance_growing(self.sequence(sequence), tokens, watermark))
            }
            Call::AdvanceMany { ref steps, answers, changed } => {
                let who = |name: Sequence| {
                    let has_slot = self.slots.get(&name.slot).filter(|_| steps.by_slot());
                    has_slot.copied().unwrap_or_else(|| self.sequence(name))
                };
                let steps: Vec<_> = steps.iter().map(|step| Step { sequence: who(step.sequence), ..step }).collect();
                // As long as they were, but not longer than makes a difference.
                let room = |len: u32| vec![0; steps.len().min(len as usize)];
                done(pool.advance_many(&steps, &mut room(answers), &mut room(changed)))
            }
            Call::Materialize { sequence, blocks } => done(pool.materialize(self.sequence(sequence), blocks)),
            Call::Extend { sequence, blocks, watermark } => {
                done(pool.extend(self.sequence(sequence), blocks, watermark))
            }
            Call::Shrink { sequence, blocks } => done(pool.shrink(self.sequence(sequence), blocks)),
            Call::DrawSafety { sequence, blocks } => done(pool.draw_safety(self.sequence(sequence), blocks)),
            Call::Cancel { sequence } => done(pool.cancel(self.sequence(sequence))),
            Call::End { sequence } => done(pool.end(self.sequence(sequence))),
            Call::Preempt { sequence } => done(pool.preempt(self.sequence(sequence))),
            Call::UseStreams { sequence, streams } => done(pool.use_streams(self.sequence(sequence), streams)),
            Call::OpenAccount { group, total, watermark } => done(pool.open_account(group, total, watermark)),
            Call::SetAccountTotal { account, total } => done(pool.set_account_total(self.account(account), total)),
            Call::CloseAccount { account } => done(pool.close_account(self.account(account))),
            Call::SetSafety { blocks } => done(pool.set_safety(blocks)),
            Call::SetQuota { group, blocks } => done(pool.set_quota(group, blocks)),
            Call::Submit { stream } => done(pool.submit(stream)),
            Call::Complete { stream, epoch, failed } => done(pool.complete(stream, self.epoch(epoch), failed)),
            Call::Abandon { stream } => done(pool.abandon(stream)),
            Call::Reclaim { blocks } => Ok(pool.reclaim(blocks).into()),
            Call::LaunchRow { sequence, epoch } => done(pool.launch_row(self.sequence(sequence), self.epoch(epoch))),
        }
    }
}
