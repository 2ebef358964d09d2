//! The pool and the model side by side.

use super::choose::Lists;
use super::make::{Made, make};
use super::observers::Seen;
use super::{Model, Operation, Random};
use crate::answer::Refusal;
use crate::arena::Line;
use crate::config::PoolConfig;
use crate::events::EventCursor;
use crate::ids::{Account, Epoch, Sequence, Transfer};
use crate::pool::Pool;
use crate::recorder::Call;
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

/// How a call is made on a pool: [`make`], or the same by another road, as the C ABI's tests go.
pub type Maker = fn(&Pool<'_>, &Call<'_>) -> Made;

/// A pool, its model, and every handle that was ever given out.
pub struct Comparison<'m> {
    tally: Tally,
    maker: Maker,
    pub(super) pool: Pool<'m>,
    pub(super) model: Model,
    pub(super) sequences: Vec<Sequence>,
    pub(super) accounts: Vec<Account>,
    pub(super) epochs: Vec<Epoch>,
    pub(super) transfers: Vec<Transfer>,
    pub(super) row: Vec<u32>,
    /// The row of each slot as it was seen last.
    pub(super) rows_seen: Vec<Option<Seen>>,
    /// A reader of events that comes now and then: calls so far, where he is, and how many events that were.
    pub(super) calls: u64,
    pub(super) cursor: EventCursor,
    pub(super) events_seen: usize,
}

/// A small random configuration: small enough that everything is exhausted all the time.
pub fn configuration(seed: u64) -> PoolConfig {
    let mut random = Random::new(seed);
    let blocks = if random.below(8) == 0 { 1 + random.below(3) } else { 6 + random.below(20) };
    let config = PoolConfig {
        number: random.below(3),
        safety: random.below(blocks.div_ceil(3)),
        rows: 1 + random.below(2),
        accounts: random.below(3),
        groups: 1 + random.below(3),
        streams: 1 + random.below(3),
        epochs: 1 + random.below(4),
        ..PoolConfig::new(
            blocks,
            1 + random.below(4),
            1 + random.below(6),
            blocks.min(1 + random.below(6) + random.below(6)),
        )
    };
    PoolConfig {
        cache: u32::from(random.below(8) > 0),
        token_check: random.below(2),
        transfers: random.below(4),
        events: 4 * random.below(2),
        ..config
    }
}

/// `count` random operations.
pub fn operations(seed: u64, count: usize) -> Vec<Operation> {
    let mut random = Random::new(seed);
    (0..count).map(|_| Operation::random(&mut random)).collect()
}

/// Handles of one kind that the operations can still name.
const REMEMBERED: usize = 12;

pub(super) fn remember<T>(list: &mut Vec<T>, item: T) {
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
            maker: make,
            pool,
            model,
            sequences: Vec::new(),
            accounts: Vec::new(),
            epochs: Vec::new(),
            transfers: Vec::new(),
            row: vec![0; config.table_width as usize],
            rows_seen: vec![None; config.sequences as usize],
            calls: 0,
            cursor: EventCursor::START,
            events_seen: 0,
        }
    }

    /// Make a pool of this configuration in dirty memory, and apply `operations` to it and to its model, comparing all
    /// observers after each. `Err`: the first difference.
    pub fn run(config: &PoolConfig, operations: &[Operation]) -> Result<Tally, Difference> {
        Self::run_recorded(config, operations, &mut vec![Line::ZERO; Self::ring_lines(operations.len())])
    }

    /// The same through a handle that records in `ring`, which then is a dump of what was done, also after a panic.
    pub fn run_recorded(config: &PoolConfig, operations: &[Operation], ring: &mut [Line]) -> Result<Tally, Difference> {
        Self::against(Model::new(config), config, operations, ring, make)
    }

    /// The same as `run`, with every call made by `maker`.
    pub fn run_through(config: &PoolConfig, operations: &[Operation], maker: Maker) -> Result<Tally, Difference> {
        let mut ring = vec![Line::ZERO; Self::ring_lines(operations.len())];
        Self::against(Model::new(config), config, operations, &mut ring, maker)
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
        maker: Maker,
    ) -> Result<Tally, Difference> {
        let failed = |what: String| Difference { operation: None, what };
        let bytes = config.bytes().map_err(|refusal| failed(format!("{refusal}")))?;
        let entries = config.table_entries().map_err(|refusal| failed(format!("{refusal}")))?;
        let mut memory = vec![Line::DIRTY; bytes / size_of::<Line>()];
        let mut table = vec![0xdead_beef; entries];
        let pool = Pool::init(&mut memory, &mut table, config)
            .and_then(|pool| pool.recording(ring))
            .map_err(|refusal| failed(format!("{refusal}")))?;
        let mut both = Comparison { maker, ..Comparison::new(pool, model) };
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
        let mut lists = Lists::default();
        let call = self.choose(operation, &mut lists);
        let (_, fault) = self.make_and_compare(&call);
        fault.map_or(Ok(()), Err)
    }

    /// Makes `call` on the pool and on the model; what they do not agree about.
    pub(super) fn make_and_compare(&mut self, call: &Call<'_>) -> (Made, Option<String>) {
        self.model.returned = false;
        self.calls += 1;
        let before = self.pool.release_number();
        let made = (self.maker)(&self.pool, call);
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
            Comparison::against(wrong.clone(), &config, list, &mut vec![Line::ZERO; lines], make).is_err()
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
