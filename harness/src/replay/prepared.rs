//! A replay that is ready to run: the demands of the trace, and the memory of a pool that suits them.

use super::counters::{Counters, Record};
use super::digest::{Digests, digests};
use super::engine::{Engine, Service};
use super::failure::Failure;
use super::names::Names;
use super::promise::{Demand, Fate, Promises};
use super::settings::{Policy, PoolSize, Settings};
use super::sizing;
use crate::trace::Trace;
use kvledger_core::{Line, Pool, PoolConfig};
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

/// A replay that can be run, again and again.
pub struct Prepared {
    settings: Settings,
    demands: Vec<Demand>,
    names: Names,
    config: PoolConfig,
    memory: Vec<Line>,
    table: Vec<u32>,
    records: Vec<Record>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The settings.
    pub settings: Settings,
    /// N of the pool that was used.
    pub pool_blocks: u32,
    /// The counters.
    pub counters: Counters,
    /// What happened to each request, by index.
    pub records: Vec<Record>,
    /// Digests of that.
    pub digests: Digests,
    /// Time of the simulation alone, without preparation and digests.
    pub elapsed: Duration,
}

impl Prepared {
    /// Sizes the pool. Errors: settings that no replay can have; a pool or a trace that is too large.
    pub fn new(trace: &Trace, settings: &Settings) -> Result<Prepared, Failure> {
        check(settings)?;
        let demands = demands(trace, settings)?;
        let names = Names::of(trace, settings)?;
        let config = sizing::config(&demands, &names, settings)?;
        let unfit = |refusal: kvledger_core::Refusal| Failure::Settings(format!("no pool has this shape: {refusal}"));
        let lines = config.bytes().map_err(unfit)? / size_of::<Line>();
        let entries = config.table_entries().map_err(unfit)?;
        let records = vec![Record::default(); demands.len()];
        let (memory, table) = (vec![Line::ZERO; lines], vec![0; entries]);
        Ok(Prepared { settings: *settings, demands, names, config, memory, table, records })
    }

    /// Runs it in a fresh pool. `through` counts requests that are through. Errors: the pool answered what it must not, or
    /// an audit failed.
    pub fn run(&mut self, through: &AtomicU64) -> Result<Replayed, Failure> {
        self.run_with(through, None)
    }

    /// The same through a handle that records in `ring`, which then is a dump of the replay, also of one that failed.
    pub fn run_recorded(&mut self, through: &AtomicU64, ring: &mut [Line]) -> Result<Replayed, Failure> {
        self.run_with(through, Some(ring))
    }

    fn run_with(&mut self, through: &AtomicU64, ring: Option<&mut [Line]>) -> Result<Replayed, Failure> {
        self.records.fill(Record::default());
        let pool = Pool::init(&mut self.memory, &mut self.table, &self.config)
            .and_then(|pool| ring.map_or(Ok(pool), |ring| pool.recording(ring)))
            .map_err(|refusal| Failure::Settings(format!("the pool cannot be made: {refusal}")))?;
        let service = Service { demands: &self.demands, names: &self.names, settings: self.settings };
        let mut engine = Engine::new(&pool, &self.config, service, &mut self.records, through);
        let start = Instant::now();
        let counters = engine.run()?;
        let elapsed = start.elapsed();
        Ok(Replayed {
            settings: self.settings,
            pool_blocks: self.config.blocks,
            counters,
            records: self.records.clone(),
            digests: digests(&self.records),
            elapsed,
        })
    }

    /// The pool it runs in.
    pub fn config(&self) -> &PoolConfig {
        &self.config
    }
}

fn check(settings: &Settings) -> Result<(), Failure> {
    let refuse = |message: &str| Err(Failure::Settings(message.to_string()));
    if settings.block_tokens == 0 {
        return refuse("--block-tokens 0: give at least 1");
    }
    if settings.step_us == 0 {
        return refuse("--step-us 0: give at least 1");
    }
    if settings.policy == Policy::Contig && settings.max_context == 0 {
        return refuse("--policy contig needs a longest context: give --max-context from 1 on");
    }
    match settings.pool {
        PoolSize::Blocks(0) => refuse("--pool 0: give at least 1 block, or `unlimited`"),
        PoolSize::Blocks(blocks) if settings.safety >= blocks => Err(Failure::Settings(format!(
            "--safety {} leaves nothing of --pool {blocks}: give a --safety below --pool",
            settings.safety
        ))),
        _ => Ok(()),
    }
}

fn demands(trace: &Trace, settings: &Settings) -> Result<Vec<Demand>, Failure> {
    if u32::try_from(trace.requests.len()).is_err() {
        return Err(Failure::Settings("the trace has more than 2^32 requests: give --first".to_string()));
    }
    let demand = |request: &crate::trace::Request| Demand {
        arrival_step: request.arrival_us.div_ceil(settings.step_us),
        prompt: request.prompt,
        output: request.output,
    };
    Ok(trace.requests.iter().map(demand).collect())
}

/// How many requests would be rejected at arrival: (for the longest context, for the pool).
pub fn rejections(trace: &Trace, settings: &Settings) -> Result<(u64, u64), Failure> {
    check(settings)?;
    let promises = Promises::new(settings);
    let (mut context, mut pool) = (0, 0);
    for demand in demands(trace, settings)? {
        match promises.fate(&demand) {
            Fate::Queues => {}
            Fate::RejectedContext => context += 1,
            Fate::RejectedPool => pool += 1,
        }
    }
    Ok((context, pool))
}
