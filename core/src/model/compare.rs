//! The pool and the model side by side.

use super::make::{Made, done, make};
use super::observers::Seen;
use super::{Model, Operation, Random};
use crate::answer::{Argument, Refusal};
use crate::arena::Line;
use crate::calls::{Admitted, Advanced, Batch, Step};
use crate::config::PoolConfig;
use crate::ids::{Account, Epoch, Sequence};
use crate::pool::{Pool, RowView};
use crate::recorder::{Answer, Call};
use core::fmt::Debug;
use std::collections::BTreeMap;
use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

/// Where pool and model do not say the same.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The operation after which it was seen, and its number from 0; `None`: it was seen before or after all of them.
    pub operation: Option<(usize, Operation)>,
    /// What differs.
    pub what: String,
}

/// How often each operation got each answer: what a run has really exercised.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally(pub BTreeMap<(&'static str, u32), u64>);

impl Tally {
    /// Both together.
    pub fn add(&mut self, other: &Tally) {
        for (key, count) in &other.0 {
            *self.0.entry(*key).or_default() += count;
        }
    }
}

/// A pool, its model, and every handle that was ever given out.
pub struct Comparison<'m> {
    tally: Tally,
    pub(super) pool: Pool<'m>,
    pub(super) model: Model,
    pub(super) sequences: Vec<Sequence>,
    pub(super) accounts: Vec<Account>,
    pub(super) epochs: Vec<Epoch>,
    pub(super) row: Vec<u32>,
    /// The row of each slot as it was seen last.
    pub(super) rows_seen: Vec<Option<Seen>>,
}

/// A small random configuration: small enough that everything is exhausted all the time.
pub fn configuration(seed: u64) -> PoolConfig {
    let mut random = Random::new(seed);
    let blocks = if random.below(8) == 0 { 1 + random.below(3) } else { 6 + random.below(20) };
    PoolConfig {
        number: random.below(3),
        blocks,
        safety: random.below(blocks.div_ceil(3)),
        block_tokens: 1 + random.below(4),
        sequences: 1 + random.below(5),
        table_width: blocks.min(1 + random.below(6) + random.below(6)),
        rows: 1 + random.below(2),
        accounts: random.below(3),
        groups: 1 + random.below(3),
        streams: 1 + random.below(3),
        epochs: 1 + random.below(4),
        cache: 0,
        token_check: 0,
        transfers: 0,
        events: 0,
    }
}

/// `count` random operations.
pub fn operations(seed: u64, count: usize) -> Vec<Operation> {
    let mut random = Random::new(seed);
    (0..count).map(|_| Operation::random(&mut random)).collect()
}

/// Handles of one kind that the operations can still name.
const REMEMBERED: usize = 12;

fn remember<T>(list: &mut Vec<T>, item: T) {
    if list.len() == REMEMBERED {
        list.remove(0);
    }
    list.push(item);
}

pub(super) fn same<T: PartialEq + Debug>(what: &str, pool: T, model: T) -> Result<(), String> {
    if pool == model { Ok(()) } else { Err(format!("{what}: pool {pool:?}, model {model:?}")) }
}

impl<'m> Comparison<'m> {
    /// A fresh pool and its model.
    pub(super) fn new(pool: Pool<'m>, model: Model) -> Comparison<'m> {
        let config = pool.config();
        Comparison {
            tally: Tally::default(),
            pool,
            model,
            sequences: Vec::new(),
            accounts: Vec::new(),
            epochs: Vec::new(),
            row: vec![0; config.table_width as usize],
            rows_seen: vec![None; config.sequences as usize],
        }
    }

    /// Make a pool of this configuration in dirty memory, and apply `operations` to it and to its model, comparing all
    /// observers after each. `Err`: the first difference.
    pub fn run(config: &PoolConfig, operations: &[Operation]) -> Result<Tally, Difference> {
        Self::run_recorded(config, operations, &mut vec![Line::ZERO; Self::ring_lines(operations.len())])
    }

    /// The same through a handle that records in `ring`, which then is a dump of what was done, also after a panic.
    pub fn run_recorded(config: &PoolConfig, operations: &[Operation], ring: &mut [Line]) -> Result<Tally, Difference> {
        Self::against(Model::new(config), config, operations, ring)
    }

    /// Lines of a ring in which nothing of so many operations is overwritten.
    pub const fn ring_lines(operations: usize) -> usize {
        // An operation is one call, and its record at most 96 words.
        32 + 12 * operations
    }

    fn against(
        model: Model,
        config: &PoolConfig,
        operations: &[Operation],
        ring: &mut [Line],
    ) -> Result<Tally, Difference> {
        let failed = |what: String| Difference { operation: None, what };
        let bytes = config.bytes().map_err(|refusal| failed(format!("{refusal}")))?;
        let entries = config.table_entries().map_err(|refusal| failed(format!("{refusal}")))?;
        let mut memory = vec![Line::DIRTY; bytes / size_of::<Line>()];
        let mut table = vec![0xdead_beef; entries];
        let pool = Pool::init(&mut memory, &mut table, config)
            .and_then(|pool| pool.recording(ring))
            .map_err(|refusal| failed(format!("{refusal}")))?;
        let mut both = Comparison::new(pool, model);
        for (index, &operation) in operations.iter().enumerate() {
            both.step(operation).map_err(|what| Difference { operation: Some((index, operation)), what })?;
        }
        let lost = both.pool.ring().lost;
        if lost > 0 {
            return Err(failed(format!("{lost} calls of one thread were lost to the record: a call made another")));
        }
        Ok(both.tally)
    }

    fn step(&mut self, operation: Operation) -> Result<(), String> {
        let mut rows = [Step::default(); 3];
        let call = self.choose(operation, &mut rows);
        let (_, fault) = self.make_and_compare(&call);
        fault.map_or(Ok(()), Err)
    }

    /// Makes `call` on the pool and on the model; what they do not agree about.
    pub(super) fn make_and_compare(&mut self, call: &Call<'_>) -> (Made, Option<String>) {
        self.model.returned = false;
        let before = self.pool.release_number();
        let made = make(&self.pool, call);
        let fault = self.compare(call, &made, before).err();
        (made, fault)
    }

    fn compare(&mut self, call: &Call<'_>, made: &Made, release_number: u64) -> Result<(), String> {
        let status = made.answer.as_ref().map_or_else(Refusal::code, |_| 0);
        *self.tally.0.entry((call.name(), status)).or_default() += 1;
        self.tell(call, made)?;
        same("release number moved", self.pool.release_number() != release_number, self.model.returned)?;
        self.observe()
    }

    /// Tells the model of the call; `Err` if it would have answered otherwise.
    fn tell(&mut self, call: &Call<'_>, made: &Made) -> Result<(), String> {
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
                let taken = model.advance(sequence, tokens, None);
                return self.advanced(call, made, sequence, taken);
            }
            Call::AdvanceGrowing { sequence, tokens, watermark } => {
                let taken = model.advance(sequence, tokens, Some(watermark));
                return self.advanced(call, made, sequence, taken);
            }
            Call::Materialize { sequence, blocks } => {
                let taken = model.materialize(sequence, blocks);
                return self.advanced(call, made, sequence, taken);
            }
            Call::LaunchRow { sequence, epoch } => {
                let launched = model.launch_row(sequence, epoch);
                let version = if let Ok(Answer::Row(view)) = made.answer { view.version } else { 0 };
                done(launched.map(|()| RowView { version, ..model.row_view(sequence.slot as usize) }))
            }
            Call::Admit { sequence, ref admission, .. } => {
                done(model.admit(sequence, admission).map(|promised| Admitted { promised, ..Admitted::default() }))
            }
            Call::Extend { sequence, blocks, watermark } => done(model.extend(sequence, blocks, watermark)),
            Call::Shrink { sequence, blocks } => done(model.shrink(sequence, blocks)),
            Call::DrawSafety { sequence, blocks } => done(model.draw_safety(sequence, blocks)),
            Call::Cancel { sequence } => done(model.cancel(sequence)),
            Call::End { sequence } => done(model.end(sequence)),
            Call::Preempt { sequence } => done(model.preempt(sequence)),
            Call::UseStreams { sequence, streams } => done(model.use_streams(sequence, streams)),
            Call::SetAccountTotal { account, total } => done(model.set_account_total(account, total)),
            Call::CloseAccount { account } => done(model.close_account(account)),
            Call::SetSafety { blocks } => done(model.set_safety(blocks)),
            Call::SetQuota { group, blocks } => done(model.set_quota(group, blocks)),
            Call::Complete { stream, epoch, failed } => done(model.complete(stream, epoch, failed)),
            Call::Abandon { stream } => done(model.abandon(stream)),
            // What is over has been reclaimed by the call that ended it.
            Call::Reclaim { .. } => Ok(Answer::Blocks(0)),
            _ => return Err(format!("the model does not know {}", call.name())),
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

    /// `taken` blocks, as the model has it; which they are it learns from the row.
    fn advanced(
        &mut self,
        call: &Call<'_>,
        made: &Made,
        sequence: Sequence,
        taken: Result<u32, Refusal>,
    ) -> Result<(), String> {
        let held = self.model.sequences.get(sequence.slot as usize).map_or(0, |seq| seq.held() - taken.unwrap_or(0));
        let expected = taken.map(|taken| Advanced { taken, held: held + taken, copies: 0 });
        same(call.name(), made.answer, done(expected))?;
        self.learn_ids(sequence, taken.is_ok())
    }

    fn batch(&mut self, steps: &[Step], (answers, changed): (u32, u32), made: &Made) -> Result<(), String> {
        if (answers.min(changed) as usize) < steps.len() {
            return same("batch", made.answer, Err(Refusal::Invalid { argument: Argument::Output }));
        }
        let (mut expected, mut slots) = (Batch::default(), Vec::new());
        for (step, &answer) in steps.iter().zip(&made.answers) {
            let model = self.model.advance(step.sequence, step.tokens, None);
            same("a row of advance_many", answer, model.map_or_else(|refusal| refusal.code(), |_| 0))?;
            expected.advanced += u32::from(model.is_ok());
            expected.refused += u32::from(model.is_err());
            if let Err(Refusal::RetryAfter { after, .. }) = model {
                expected.retry_after = expected.retry_after.max(after);
            }
            if let Ok(taken @ 1..) = model {
                expected.taken += taken;
                expected.changed += 1;
                slots.push(step.sequence.slot);
            }
        }
        same("batch", made.answer, Ok(Answer::Batch(expected)))?;
        same("changed rows", &made.changed[..slots.len()], slots.as_slice())?;
        for step in steps {
            let drives = self.model.drive(step.sequence, true);
            let told = drives.is_ok_and(|slot| self.model.sequences[slot].untold == 0);
            self.learn_ids(step.sequence, drives.is_ok() && !told)?;
        }
        Ok(())
    }

    /// Tell the model which blocks a sequence holds now.
    fn learn_ids(&mut self, sequence: Sequence, admitted: bool) -> Result<(), String> {
        if !admitted {
            return Ok(());
        }
        let held = self.pool.export_row(sequence, &mut self.row).map_err(|refusal| format!("export_row: {refusal}"))?;
        same("new blocks were free, old ones stayed", self.model.took(sequence, &self.row[..held as usize]), true)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::model::BlackBox;

    /// The comparison can fail: a model that thinks the margin is another is found out, and the failure is short.
    #[test]
    fn a_wrong_model_is_noticed() {
        let config = PoolConfig::new(12, 2, 3, 8);
        let wrong = Model::new(&PoolConfig { safety: 1, ..config });
        let lines = Comparison::ring_lines(400);
        let fails = |list: &[Operation]| {
            Comparison::against(wrong.clone(), &config, list, &mut vec![Line::ZERO; lines]).is_err()
        };
        let list = operations(1, 200);
        assert!(fails(&list));
        assert_eq!(crate::model::shrink(&list, fails).len(), 1);
    }

    #[test]
    fn random_operations_agree() {
        for seed in 0..60 {
            let (config, list) = (configuration(seed), operations(seed, 800));
            let mut black_box = BlackBox::new("operations", Comparison::ring_lines(list.len()));
            if let Err(difference) = Comparison::run_recorded(&config, &list, black_box.ring()) {
                panic!("seed {seed}: {difference}");
            }
        }
    }
}
