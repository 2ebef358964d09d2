//! The pool and the model side by side.

use super::observers::Seen;
use super::operation::Kind;
use super::pool::Seq;
use super::{Model, Operation, Random};
use crate::answer::Refusal;
use crate::arena::Line;
use crate::calls::{Admission, Advanced, Batch, Promise, Step};
use crate::config::PoolConfig;
use crate::ids::{Account, Epoch, Group, Sequence, Stream, StreamSet};
use crate::pool::{Pool, RowView};
use core::fmt::Debug;
use std::collections::BTreeMap;
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
    sequences: Vec<Sequence>,
    accounts: Vec<Account>,
    epochs: Vec<Epoch>,
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

pub(super) fn same<T: PartialEq + Debug>(what: &str, pool: T, model: T) -> Result<(), String> {
    if pool == model { Ok(()) } else { Err(format!("{what}: pool {pool:?}, model {model:?}")) }
}

/// `same` for the answer of an operation, which is counted.
fn answer<T: PartialEq + Debug>(
    tally: &mut Tally,
    what: &'static str,
    pool: Result<T, Refusal>,
    model: Result<T, Refusal>,
) -> Result<(), String> {
    let code = pool.as_ref().map_or_else(Refusal::code, |_| 0);
    *tally.0.entry((what, code)).or_default() += 1;
    same(what, pool, model)
}

impl Comparison<'_> {
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
        // An operation is one call, and its record at most 32 words.
        32 + 4 * operations
    }

    fn against(
        model: Model,
        config: &PoolConfig,
        operations: &[Operation],
        ring: &mut [Line],
    ) -> Result<Tally, Difference> {
        let failed = |what: String| Difference { index: 0, operation: Operation::from_bytes([0; 6]), what };
        let bytes = config.bytes().map_err(|refusal| failed(format!("{refusal}")))?;
        let entries = config.table_entries().map_err(|refusal| failed(format!("{refusal}")))?;
        let mut memory = vec![Line::DIRTY; bytes / size_of::<Line>()];
        let mut table = vec![0xdead_beef; entries];
        let pool = Pool::init(&mut memory, &mut table, config)
            .and_then(|pool| pool.recording(ring))
            .map_err(|refusal| failed(format!("{refusal}")))?;
        let (tally, row) = (Tally::default(), vec![0; config.table_width as usize]);
        let mut both = Comparison {
            tally,
            pool,
            model,
            sequences: Vec::new(),
            accounts: Vec::new(),
            epochs: Vec::new(),
            row,
            rows_seen: vec![None; config.sequences as usize],
        };
        for (index, &operation) in operations.iter().enumerate() {
            both.step(operation).map_err(|what| Difference { index, operation, what })?;
        }
        let lost = both.pool.ring().lost;
        if lost > 0 {
            return Err(failed(format!("{lost} calls of one thread were lost to the record: a call made another")));
        }
        Ok(both.tally)
    }

    fn step(&mut self, operation: Operation) -> Result<(), String> {
        self.model.returned = false;
        let before = self.pool.release_number();
        self.apply(operation)?;
        same("release number moved", self.pool.release_number() != before, self.model.returned)?;
        self.observe()
    }

    /// A handle: mostly of a sequence that the operation is for, sometimes of any other, a cancelled or an ended one.
    fn sequence(&self, number: u8, admitted: bool) -> Sequence {
        let pool = self.model.config.number;
        let listed = |fits: &dyn Fn(&Seq) -> bool| -> Vec<_> {
            let fitting = self.model.sequences.iter().zip(0..).filter(|(seq, _)| seq.open && fits(seq));
            fitting.map(|(seq, slot)| Sequence { slot, pool, generation: seq.generation }).collect()
        };
        let fitting = listed(&|seq| !seq.cancelled && seq.admitted == admitted);
        match number {
            0..208 if !fitting.is_empty() => pick(&fitting, number),
            0..240 => pick(&listed(&|_| true), number),
            _ => pick(&self.sequences, number),
        }
    }

    fn account(&self, number: u8) -> Account {
        let pool = self.model.config.number;
        let open = self.model.accounts.iter().zip(0..).filter(|(account, _)| account.open);
        let open: Vec<_> = open.map(|(account, slot)| Account { slot, pool, generation: account.generation }).collect();
        if number < 224 && !open.is_empty() { pick(&open, number) } else { pick(&self.accounts, number) }
    }

    fn group(&self, number: u8) -> Group {
        let groups = self.model.config.groups;
        Group(if number < 240 { u32::from(number) % groups } else { groups })
    }

    fn stream(&self, number: u8) -> Stream {
        let streams = self.model.config.streams;
        Stream(if number < 240 { u32::from(number) % streams } else { streams })
    }

    fn epoch(&self, stream: Stream, number: u8) -> Epoch {
        let outstanding = self.model.time.outstanding(stream);
        if number < 208 && !outstanding.is_empty() { pick(&outstanding, number) } else { pick(&self.epochs, number) }
    }

    fn apply(&mut self, operation: Operation) -> Result<(), String> {
        let [a, b, c, d, e] = operation.numbers;
        let sequence = self.sequence(a, operation.kind() != Kind::Admit);
        let account = self.account(a);
        let (small, stream, group) = (u32::from(b % 12), self.stream(b), self.group(a));
        let watermark = if e < 200 { 0 } else { u32::from(e - 200) / 8 };
        match operation.kind() {
            Kind::Open => self.open(),
            Kind::Admit => self.admit(sequence, operation.numbers),
            Kind::Advance => self.advance(sequence, small / 2, None),
            Kind::AdvanceGrowing => self.advance(sequence, small / 2, Some(watermark)),
            Kind::AdvanceMany => self.advance_many([a, b, c], u32::from(d % 4)),
            Kind::Materialize => self.materialize(sequence, small),
            Kind::Extend => {
                let model = self.model.extend(sequence, small, watermark);
                answer(&mut self.tally, "extend", self.pool.extend(sequence, small, watermark), model)
            }
            Kind::Shrink => {
                answer(&mut self.tally, "shrink", self.pool.shrink(sequence, small), self.model.shrink(sequence, small))
            }
            Kind::DrawSafety => {
                let model = self.model.draw_safety(sequence, small);
                answer(&mut self.tally, "draw_safety", self.pool.draw_safety(sequence, small), model)
            }
            Kind::Cancel => answer(&mut self.tally, "cancel", self.pool.cancel(sequence), self.model.cancel(sequence)),
            Kind::End => answer(&mut self.tally, "end", self.pool.end(sequence), self.model.end(sequence)),
            Kind::Preempt => {
                answer(&mut self.tally, "preempt", self.pool.preempt(sequence), self.model.preempt(sequence))
            }
            Kind::UseStreams => {
                let streams = StreamSet(u64::from(b));
                let model = self.model.use_streams(sequence, streams);
                answer(&mut self.tally, "use_streams", self.pool.use_streams(sequence, streams), model)
            }
            Kind::OpenAccount => self.open_account(group, small, watermark),
            Kind::SetAccountTotal => {
                let model = self.model.set_account_total(account, small);
                answer(&mut self.tally, "set_account_total", self.pool.set_account_total(account, small), model)
            }
            Kind::CloseAccount => answer(
                &mut self.tally,
                "close_account",
                self.pool.close_account(account),
                self.model.close_account(account),
            ),
            Kind::SetSafety => {
                let blocks = self.model.config.blocks;
                let safety = if a < 240 { u32::from(a) % (blocks / 3 + 1) } else { u32::from(a) };
                answer(&mut self.tally, "set_safety", self.pool.set_safety(safety), self.model.set_safety(safety))
            }
            Kind::SetQuota => {
                let quota = if c < 200 { u32::MAX } else { u32::from(c % 24) };
                answer(
                    &mut self.tally,
                    "set_quota",
                    self.pool.set_quota(group, quota),
                    self.model.set_quota(group, quota),
                )
            }
            Kind::Submit => self.submit(stream),
            Kind::Complete => {
                let epoch = self.epoch(stream, a);
                let model = self.model.complete(stream, epoch, c < 32);
                answer(&mut self.tally, "complete", self.pool.complete(stream, epoch, c < 32), model)
            }
            Kind::Abandon => answer(&mut self.tally, "abandon", self.pool.abandon(stream), self.model.abandon(stream)),
            Kind::Reclaim => same("reclaim", self.pool.reclaim(small), 0),
            Kind::LaunchRow => {
                let epoch = pick(&self.epochs, b);
                let model = self.model.launch_row(sequence, epoch);
                let model = model.map(|()| self.model.row_view(sequence.slot as usize));
                let pool = self.pool.launch_row(sequence, epoch).map(|view| RowView { version: 0, ..view });
                answer(&mut self.tally, "launch_row", pool, model)
            }
        }
    }

    fn open(&mut self) -> Result<(), String> {
        let pool = self.pool.open();
        answer(
            &mut self.tally,
            "open",
            pool.map(drop),
            if self.model.may_open() { Ok(()) } else { Err(Refusal::Full) },
        )?;
        if let Ok(sequence) = pool {
            same("open gave a vacant slot", self.model.opened(sequence), true)?;
            remember(&mut self.sequences, sequence);
        }
        Ok(())
    }

    fn admit(&mut self, sequence: Sequence, numbers: [u8; 5]) -> Result<(), String> {
        let [_, b, c, d, e] = numbers;
        let account = if d & 7 == 0 { self.account(d) } else { Account::NONE };
        let promise =
            if c & 1 == 0 { Promise::Full } else { Promise::Blocks(u32::from(b & 15) + u32::from(c >> 1 & 7)) };
        // Mostly what half a row can hold, so that prompt and output together fit.
        let half_row = self.model.config.table_width * self.model.config.block_tokens / 2 + 1;
        let admission = Admission {
            prompt_tokens: if b == 0 { 0 } else { 1 + u32::from(b & 15) % half_row },
            output_tokens_max: u32::from(b >> 4) % half_row,
            promise,
            group: if d < 128 { self.model.group_of(sequence).unwrap_or(self.group(d)) } else { self.group(d) },
            streams: if e < 100 { StreamSet(u64::from((e % 8) | 1)) } else { StreamSet::ALL },
            watermark: if e < 200 { 0 } else { u32::from(e - 200) / 8 },
            account,
        };
        let model = self.model.admit(sequence, &admission);
        answer(&mut self.tally, "admit", self.pool.admit(sequence, &admission).map(|admitted| admitted.promised), model)
    }

    fn advance(&mut self, sequence: Sequence, tokens: u32, growth: Option<u32>) -> Result<(), String> {
        let model = self.model.advance(sequence, tokens, growth);
        let pool = match growth {
            None => self.pool.advance(sequence, tokens),
            Some(watermark) => self.pool.advance_growing(sequence, tokens, watermark),
        };
        let expected = self.advanced(sequence, model);
        answer(&mut self.tally, "advance", pool, expected)?;
        self.learn_ids(sequence, model.is_ok())
    }

    /// What the model says of an advance: the ids that it holds already, and how many it takes.
    fn advanced(&self, sequence: Sequence, model: Result<u32, Refusal>) -> Result<Advanced, Refusal> {
        let held = self.model.sequences.get(sequence.slot as usize).map_or(0, |seq| seq.ids.len() as u32);
        model.map(|taken| Advanced { taken, held: held + taken })
    }

    fn materialize(&mut self, sequence: Sequence, blocks: u32) -> Result<(), String> {
        let model = self.model.materialize(sequence, blocks);
        let pool = self.pool.materialize(sequence, blocks);
        let expected = self.advanced(sequence, model);
        answer(&mut self.tally, "materialize", pool, expected)?;
        self.learn_ids(sequence, model.is_ok())
    }

    fn advance_many(&mut self, which: [u8; 3], tokens: u32) -> Result<(), String> {
        let mut named = Vec::new();
        // Each sequence once: the model learns which blocks were taken only after the batch.
        let steps = which.map(|number| {
            let sequence = self.sequence(number, true);
            let again = named.contains(&sequence);
            named.push(sequence);
            Step { sequence: if again { Sequence::default() } else { sequence }, tokens }
        });
        let (mut answers, mut changed) = ([u32::MAX; 3], [u32::MAX; 3]);
        let batch = self.pool.advance_many(&steps, &mut answers, &mut changed);
        let (mut expected, mut slots) = (Batch::default(), Vec::new());
        for (step, answer) in steps.into_iter().zip(answers) {
            let model = self.model.advance(step.sequence, tokens, None);
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
        same("batch", batch, Ok(expected))?;
        same("changed rows", &changed[..slots.len()], slots.as_slice())?;
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
        answer(&mut self.tally, "open_account", pool.map(drop), model)?;
        if let Ok(account) = pool {
            same("a vacant account", self.model.opened_account(account, group, total), true)?;
            remember(&mut self.accounts, account);
        }
        Ok(())
    }

    fn submit(&mut self, stream: Stream) -> Result<(), String> {
        let pool = self.pool.submit(stream);
        answer(&mut self.tally, "submit", pool, self.model.submit(stream))?;
        if let Ok(epoch) = pool {
            remember(&mut self.epochs, epoch);
        }
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

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
            if let Err(difference) = Comparison::run(&config, &list) {
                panic!("seed {seed}: {difference}");
            }
        }
    }
}
