//! Serving: who is admitted, and when it is over. `steps` has what a step is made of.

use super::super::failure::Failure;
use super::super::settings::Sharing;
use super::desk::{Desk, Lists, Sizes, pool_shape};
use super::failures::Step;
use super::lanes::{LANE_SEQUENCES, LANES, Lane, Running};
use super::settings::{Served, Settings};
use super::shadow::Shadow;
use super::steps::{CHUNK, IN_FLIGHT};
use super::work::Work;
use crate::kernels::pool::Pool as Contents;
use crate::kernels::run::{Bench, DevicePool};
use crate::trace::Trace;
use kvledger_core::{Admission, Line, Pool, PoolConfig, Prefix, Refusal, Sequence, StreamSet, entries, lines};
use kvledger_cuda::{Device, Epochs, Stream};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Serves a trace on a device. `through` counts requests that are through. Errors: settings that cannot be; the pool
/// answered what it must not; the device failed; a result is not what it must be.
pub fn serve(
    trace: &Trace,
    settings: &Settings,
    device: &Arc<dyn Device>,
    through: &AtomicU64,
) -> Result<Served, Failure> {
    serve_with(trace, settings, device, through, Mistake::None)
}

/// What is done wrong on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mistake {
    None,
    /// Epochs are over as soon as they are enqueued.
    #[cfg(test)]
    CompleteEarly,
    /// Plans go through one slot, written again before it was read.
    #[cfg(test)]
    ReusePlan,
}

pub(super) fn serve_with(
    trace: &Trace,
    settings: &Settings,
    device: &Arc<dyn Device>,
    through: &AtomicU64,
    mistake: Mistake,
) -> Result<Served, Failure> {
    let work = Work::of(trace, settings)?;
    let config = work.pool_config()?;
    let (mut memory, mut table) = (vec![Line::ZERO; lines(&config)], vec![0; entries(&config)]);
    let unfit = |refusal: Refusal| Failure::Settings(format!("the pool cannot be made: {refusal}"));
    let pool = Pool::init(&mut memory, &mut table, &config).map_err(unfit)?;
    Server::new(&work, pool, &config, device, through, mistake)?.run()
}

/// A trace that is being served: a pool, and lanes that take requests from one queue.
pub(super) struct Server<'a> {
    pub(super) work: &'a Work<'a>,
    pub(super) pool: Pool<'a>,
    pub(super) lanes: Vec<Lane<'a>>,
    queue: VecDeque<u32>,
    /// The handle of the head of the queue, once it was asked for.
    head: Option<Sequence>,
    pub(super) seen: BTreeSet<u32>,
    pub(super) served: Served,
    pub(super) columns: u32,
    pub(super) through: &'a AtomicU64,
    pub(super) mistake: Mistake,
    /// Keys and values: kept until the lanes, which are declared before it, are done.
    _contents: DevicePool,
}

impl<'a> Server<'a> {
    fn new(
        work: &'a Work<'a>,
        pool: Pool<'a>,
        config: &PoolConfig,
        device: &Arc<dyn Device>,
        through: &'a AtomicU64,
        mistake: Mistake,
    ) -> Result<Server<'a>, Failure> {
        let begin = Step(0);
        let shape = pool_shape(config.blocks, config.block_tokens);
        let bench = begin.done(Bench::open(device))?;
        let contents = begin.done(DevicePool::put(&bench, &Contents::poisoned(shape)))?;
        let columns = config.table_width;
        let sizes = Sizes {
            columns,
            sequences: LANE_SEQUENCES,
            tokens: LANE_SEQUENCES * CHUNK,
            keys: columns * config.block_tokens,
            thread_blocks: work.settings.thread_blocks,
        };
        let lane = |number: u32| -> Result<Lane<'a>, Failure> {
            let stream = begin.done(Stream::open(device))?;
            #[cfg_attr(not(test), expect(unused_mut))]
            let mut desk = begin.done(Desk::new(&stream, sizes, contents.cache(&shape)))?;
            #[cfg(test)]
            if mistake == Mistake::ReusePlan {
                begin.done(desk.unguard(device))?;
            }
            let epochs = Epochs::new(pool, kvledger_core::Stream(number), stream);
            let (running, pending, spare) = (Vec::new(), VecDeque::new(), Vec::new());
            Ok(Lane { epochs, desk, running, pending, spare, lists: Lists::default() })
        };
        let lanes = (0..LANES).map(lane).collect::<Result<Vec<_>, Failure>>()?;
        let mut served = Served { pool_blocks: config.blocks, ..Served::default() };
        let fits = |request: &u32| work.blocks(*request) <= u64::from(config.blocks);
        let queue: VecDeque<u32> = work.requests().filter(fits).collect();
        served.rejected = u64::from(work.requests().end) - queue.len() as u64;
        through.fetch_add(served.rejected, Ordering::Relaxed);
        Ok(Server {
            work,
            pool,
            lanes,
            queue,
            head: None,
            seen: BTreeSet::new(),
            served,
            columns,
            through,
            mistake,
            _contents: contents,
        })
    }

    /// Until all is served and compared.
    fn run(mut self) -> Result<Served, Failure> {
        while !self.queue.is_empty() || self.lanes.iter().any(|lane| !lane.running.is_empty()) {
            for number in 0..self.lanes.len() {
                let step = Step(self.served.steps);
                self.admit(number, step)?;
                self.step(number, step)?;
                self.settle(number, IN_FLIGHT)?;
            }
            self.wait_if_stuck()?;
        }
        for number in 0..self.lanes.len() {
            self.settle(number, 0)?;
        }
        let step = Step(self.served.steps);
        self.pool.validate().map_err(|fault| step.differs(fault.to_string()))?;
        let left = self.pool.counts();
        if (left.committed, left.promised_and_safety) != (0, 0) {
            return Err(
                step.differs(format!("{} blocks and {} promises are left", left.committed, left.promised_and_safety))
            );
        }
        self.served.distinct = self.seen.len() as u64;
        Ok(self.served)
    }

    /// Nobody runs, and the head of the queue was refused: blocks are on their way back. When they are there it must fit.
    fn wait_if_stuck(&mut self) -> Result<(), Failure> {
        let runs = |server: &Server<'_>| server.lanes.iter().any(|lane| !lane.running.is_empty());
        if self.queue.is_empty() || runs(self) {
            return Ok(());
        }
        for number in 0..self.lanes.len() {
            self.settle(number, 0)?;
        }
        let step = Step(self.served.steps);
        self.admit(0, step)?;
        if runs(self) { Ok(()) } else { Err(step.differs("who is next does not fit into an idle pool".to_string())) }
    }

    /// The head of the queue, as long as it fits, into this lane.
    fn admit(&mut self, number: usize, step: Step) -> Result<(), Failure> {
        // One at a time, so that the lanes take them in turn.
        let Some(&request) = self.queue.front() else { return Ok(()) };
        if self.lanes[number].running.len() >= LANE_SEQUENCES as usize {
            return Ok(());
        }
        step.ended("poll", self.lanes[number].epochs.poll())?;
        let sequence = match self.head {
            Some(sequence) => sequence,
            None => *self.head.insert(step.answered("open", self.pool.open())?),
        };
        let (prompt, all) = (self.work.prompt(request), self.work.tokens_in_all(request));
        let admission = Admission {
            group: self.work.names.group(request),
            streams: StreamSet::one(kvledger_core::Stream(number as u32)),
            ..Admission::full(prompt, all - prompt)
        };
        let mut prefix = Vec::new();
        self.work.names.identities(request, &mut prefix);
        let answer = match self.work.settings.sharing {
            Sharing::Off => self.pool.admit(sequence, &admission),
            // Only what is written: another lane does not wait for this one.
            _ => self.pool.admit_prefix(sequence, &admission, &Prefix::of(&prefix)),
        };
        let admitted = match answer {
            Ok(admitted) => admitted,
            Err(Refusal::WouldBlock { .. } | Refusal::RetryAfter { .. }) => {
                self.served.refused += 1;
                return Ok(());
            }
            Err(answer) => return Err(Failure::Answer { step: step.0, call: "admit", answer }),
        };
        (self.head, _) = (None, self.queue.pop_front());
        let mut shadow = Shadow::new(request, self.work.settings.block_tokens, prefix);
        shadow.extend_to(admitted.cached_tokens);
        self.served.cached += u64::from(admitted.cached_tokens);
        let written = admitted.cached_tokens;
        let (tokens_in_all, hits) = (all, admitted.hits);
        self.lanes[number].running.push(Running { request, sequence, shadow, prompt, tokens_in_all, written, hits });
        Ok(())
    }
}
