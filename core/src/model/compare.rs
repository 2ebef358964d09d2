//! The pool and the model side by side.

use super::operation::Kind;
use super::{Model, Operation, Random};
use crate::answer::Refusal;
use crate::arena::Line;
use crate::calls::{Admission, Promise, Step};
use crate::config::PoolConfig;
use crate::ids::{Account, Epoch, Group, Sequence, Stream, StreamSet};
use crate::pool::Pool;
use crate::snapshot::Snapshot;
use core::fmt::Debug;
use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

/// Where pool and model do not say the same.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The number of the operation after which it was seen, from 0.
    pub index: usize,
    /// That operation.
    pub operation: Operation,
    /// What differs.
    pub what: String,
}

/// A pool, its model, and every handle that was ever given out.
pub struct Comparison<'m> {
    pool: Pool<'m>,
    model: Model,
    sequences: Vec<Sequence>,
    accounts: Vec<Account>,
    epochs: Vec<Epoch>,
    row: Vec<u32>,
}

/// A small random configuration: small enough that everything is exhausted all the time.
pub fn configuration(seed: u64) -> PoolConfig {
    let mut random = Random::new(seed);
    let blocks = 1 + random.below(20);
    PoolConfig {
        number: random.below(3),
        blocks,
        safety: random.below(blocks.div_ceil(3)),
        block_tokens: 1 + random.below(4),
        sequences: 1 + random.below(5),
        table_width: 1 + random.below(blocks),
        rows: 1 + random.below(2),
        accounts: random.below(3),
        groups: 1 + random.below(3),
        streams: 1 + random.below(3),
        epochs: 1 + random.below(4),
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

fn pick<T: Copy + Default>(list: &[T], number: u8) -> T {
    if list.is_empty() { T::default() } else { list[number as usize % list.len()] }
}

fn same<T: PartialEq + Debug>(what: &str, pool: T, model: T) -> Result<(), String> {
    if pool == model { Ok(()) } else { Err(format!("{what}: pool {pool:?}, model {model:?}")) }
}

impl Comparison<'_> {
    /// Make a pool of this configuration in dirty memory, and apply `operations` to it and to its model, comparing all
    /// observers after each. `Err`: the first difference.
    pub fn run(config: &PoolConfig, operations: &[Operation]) -> Result<(), Difference> {
        let failed = |what: String| Difference { index: 0, operation: Operation::from_bytes([0; 6]), what };
        let bytes = config.bytes().map_err(|refusal| failed(format!("{refusal}")))?;
        let entries = config.table_entries().map_err(|refusal| failed(format!("{refusal}")))?;
        let mut memory = vec![Line::DIRTY; bytes / size_of::<Line>()];
        let mut table = vec![0xdead_beef; entries];
        let pool = Pool::init(&mut memory, &mut table, config).map_err(|refusal| failed(format!("{refusal}")))?;
        let (model, row) = (Model::new(config), vec![0; config.table_width as usize]);
        let mut both = Comparison { pool, model, sequences: Vec::new(), accounts: Vec::new(), epochs: Vec::new(), row };
        for (index, &operation) in operations.iter().enumerate() {
            both.step(operation).map_err(|what| Difference { index, operation, what })?;
        }
        Ok(())
    }

    fn step(&mut self, operation: Operation) -> Result<(), String> {
        self.model.returned = false;
        let before = self.pool.release_number();
        self.apply(operation)?;
        same("release number moved", self.pool.release_number() != before, self.model.returned)?;
        self.observe()
    }

    fn apply(&mut self, operation: Operation) -> Result<(), String> {
        let [a, b, c, d, e] = operation.numbers;
        let sequence = pick(&self.sequences, a);
        let (small, stream) = (u32::from(b % 12), Stream(u32::from(b % 4)));
        let watermark = if e < 200 { 0 } else { u32::from(e - 200) };
        match operation.kind() {
            Kind::Open => self.open(),
            Kind::Admit => self.admit(sequence, operation.numbers),
            Kind::Advance => self.advance(sequence, small, None),
            Kind::AdvanceGrowing => self.advance(sequence, small, Some(watermark)),
            Kind::AdvanceMany => self.advance_many([a, b, c], u32::from(d % 4)),
            Kind::Materialize => self.materialize(sequence, small),
            Kind::Extend => {
                let model = self.model.extend(sequence, small, watermark);
                same("extend", self.pool.extend(sequence, small, watermark), model)
            }
            Kind::Shrink => same("shrink", self.pool.shrink(sequence, small), self.model.shrink(sequence, small)),
            Kind::DrawSafety => {
                let model = self.model.draw_safety(sequence, small);
                same("draw_safety", self.pool.draw_safety(sequence, small), model)
            }
            Kind::Cancel => same("cancel", self.pool.cancel(sequence), self.model.cancel(sequence)),
            Kind::End => same("end", self.pool.end(sequence), self.model.end(sequence)),
            Kind::Preempt => same("preempt", self.pool.preempt(sequence), self.model.preempt(sequence)),
            Kind::UseStreams => {
                let streams = StreamSet(u64::from(b));
                let model = self.model.use_streams(sequence, streams);
                same("use_streams", self.pool.use_streams(sequence, streams), model)
            }
            Kind::OpenAccount => self.open_account(Group(u32::from(a % 4)), small, watermark),
            Kind::SetAccountTotal => {
                let account = pick(&self.accounts, a);
                let model = self.model.set_account_total(account, small);
                same("set_account_total", self.pool.set_account_total(account, small), model)
            }
            Kind::CloseAccount => {
                let account = pick(&self.accounts, a);
                same("close_account", self.pool.close_account(account), self.model.close_account(account))
            }
            Kind::SetSafety => {
                let safety = u32::from(a % 24);
                same("set_safety", self.pool.set_safety(safety), self.model.set_safety(safety))
            }
            Kind::SetQuota => {
                let quota = if c < 100 { u32::MAX } else { u32::from(c % 24) };
                let group = Group(u32::from(a % 4));
                same("set_quota", self.pool.set_quota(group, quota), self.model.set_quota(group, quota))
            }
            Kind::Submit => self.submit(stream),
            Kind::Complete => {
                let epoch = pick(&self.epochs, a);
                let model = self.model.complete(stream, epoch, c < 32);
                same("complete", self.pool.complete(stream, epoch, c < 32), model)
            }
            Kind::Abandon => same("abandon", self.pool.abandon(stream), self.model.abandon(stream)),
            Kind::Reclaim => same("reclaim", self.pool.reclaim(small), 0),
            Kind::LaunchRow => {
                let epoch = pick(&self.epochs, b);
                let model = self.model.launch_row(sequence, epoch);
                same("launch_row", self.pool.launch_row(sequence, epoch).map(drop), model)
            }
        }
    }

    fn open(&mut self) -> Result<(), String> {
        let answer = self.pool.open();
        same("open", answer.map(drop), if self.model.may_open() { Ok(()) } else { Err(Refusal::Full) })?;
        if let Ok(sequence) = answer {
            same("open gave a vacant slot", self.model.opened(sequence), true)?;
            remember(&mut self.sequences, sequence);
        }
        Ok(())
    }

    fn admit(&mut self, sequence: Sequence, numbers: [u8; 5]) -> Result<(), String> {
        let [_, b, c, d, e] = numbers;
        let account = if d & 3 == 0 { pick(&self.accounts, d >> 2) } else { Account::NONE };
        let promise = if c & 1 == 0 { Promise::Full } else { Promise::Blocks(u32::from(c >> 1 & 15)) };
        let admission = Admission {
            prompt_tokens: u32::from(b & 15),
            output_tokens_max: u32::from(b >> 4),
            promise,
            group: Group(u32::from(c >> 5 & 3)),
            streams: if e < 32 { StreamSet(u64::from(e)) } else { StreamSet::ALL },
            watermark: if e < 200 { 0 } else { u32::from(e - 200) / 4 },
            account,
        };
        let model = self.model.admit(sequence, &admission);
        same("admit", self.pool.admit(sequence, &admission).map(|admitted| admitted.promised), model)
    }

    fn advance(&mut self, sequence: Sequence, tokens: u32, growth: Option<u32>) -> Result<(), String> {
        let model = self.model.advance(sequence, tokens, growth);
        let pool = match growth {
            None => self.pool.advance(sequence, tokens),
            Some(watermark) => self.pool.advance_growing(sequence, tokens, watermark),
        };
        same("advance", pool.map(|advanced| advanced.taken), model)?;
        self.learn_ids(sequence, model.is_ok())
    }

    fn materialize(&mut self, sequence: Sequence, blocks: u32) -> Result<(), String> {
        let model = self.model.materialize(sequence, blocks);
        let pool = self.pool.materialize(sequence, blocks);
        same("materialize", pool.map(|advanced| advanced.taken), model)?;
        self.learn_ids(sequence, model.is_ok())
    }

    fn advance_many(&mut self, which: [u8; 3], tokens: u32) -> Result<(), String> {
        let mut named = Vec::new();
        // Each sequence once: the model learns which blocks were taken only after the batch.
        let steps = which.map(|number| {
            let sequence = pick(&self.sequences, number);
            let again = named.contains(&sequence);
            named.push(sequence);
            Step { sequence: if again { Sequence::default() } else { sequence }, tokens }
        });
        let (mut answers, mut changed) = ([u32::MAX; 3], [u32::MAX; 3]);
        let batch = self.pool.advance_many(&steps, &mut answers, &mut changed);
        let mut expected = Vec::new();
        for (step, answer) in steps.into_iter().zip(answers) {
            let model = self.model.advance(step.sequence, tokens, None);
            same("a row of advance_many", answer, model.map_or_else(|refusal| refusal.code(), |_| 0))?;
            if model.is_ok_and(|taken| taken > 0) {
                expected.push(step.sequence.slot);
            }
        }
        let listed = batch.map(|batch| changed[..batch.changed as usize].to_vec());
        same("changed rows", listed, Ok(expected))?;
        for step in steps {
            self.learn_ids(step.sequence, self.model.drive(step.sequence, true).is_ok())?;
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

    fn open_account(&mut self, group: Group, total: u32, watermark: u32) -> Result<(), String> {
        let model = self.model.may_open_account(group, total, watermark);
        let pool = self.pool.open_account(group, total, watermark);
        same("open_account", pool.map(drop), model)?;
        if let Ok(account) = pool {
            same("a vacant account", self.model.opened_account(account, group, total), true)?;
            remember(&mut self.accounts, account);
        }
        Ok(())
    }

    fn submit(&mut self, stream: Stream) -> Result<(), String> {
        let pool = self.pool.submit(stream);
        same("submit", pool, self.model.submit(stream))?;
        if let Ok(epoch) = pool {
            remember(&mut self.epochs, epoch);
        }
        Ok(())
    }

    /// Everything that can be asked, of both.
    fn observe(&mut self) -> Result<(), String> {
        self.pool.validate().map_err(|fault| format!("{fault}"))?;
        let snapshot = self.pool.snapshot();
        same("snapshot holds", snapshot.holds(), true)?;
        same("snapshot", Snapshot { release_number: 0, ..snapshot }, self.model.snapshot())?;
        let counts = self.pool.counts();
        same(
            "counts",
            (counts.committed, counts.promised_and_safety),
            (snapshot.committed, snapshot.promised + snapshot.safety),
        )?;
        for group in (0..self.pool.config().groups).map(Group) {
            same("group", self.pool.group_snapshot(group), Ok(self.model.group_snapshot(group)))?;
        }
        for slot in 0..self.model.accounts.len() {
            let shared = &self.model.accounts[slot];
            let pool = self.pool.config().number;
            let account = Account { slot: slot as u32, pool, generation: shared.generation };
            let model = if shared.open { Ok(self.model.account_snapshot(slot)) } else { Err(Refusal::Stale) };
            same("account", self.pool.account_snapshot(account), model)?;
        }
        (0..self.model.sequences.len()).try_for_each(|slot| self.observe_sequence(slot))
    }

    fn observe_sequence(&mut self, slot: usize) -> Result<(), String> {
        let seq = &self.model.sequences[slot];
        let sequence = Sequence { slot: slot as u32, pool: self.pool.config().number, generation: seq.generation };
        let pool = self.pool.sequence_snapshot(sequence);
        if !seq.open {
            return same("an ended sequence", pool, Err(Refusal::Stale));
        }
        let pool = pool.map(|snapshot| crate::snapshot::SequenceSnapshot { row_version: 0, ..snapshot });
        same("sequence", pool, Ok(self.model.sequence_snapshot(slot)))?;
        if seq.admitted && !seq.cancelled {
            let held = self.pool.export_row(sequence, &mut self.row);
            same("blocks held", held, Ok(seq.ids.len() as u32))?;
            same("row", &self.row[..seq.ids.len()], seq.ids.as_slice())?;
        }
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn random_operations_agree() {
        for seed in 0..60 {
            let (config, list) = (configuration(seed), operations(seed, 800));
            if let Err(difference) = Comparison::run(&config, &list) {
                panic!("seed {seed}: {difference}");
            }
        }
    }
}
