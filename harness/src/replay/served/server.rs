//! Serving: who is admitted, what a step is made of, when results are compared.

use super::super::failure::Failure;
use super::super::names::Names;
use super::super::settings::{self, Policy, PoolSize, Sharing};
use super::desk::{Desk, Lists, Sizes, pool_shape};
use super::failures::Step;
use super::lanes::{Lane, Pending, Running};
use super::model::bits;
use super::shadow::Shadow;
use crate::kernels::pool::Pool as Contents;
use crate::kernels::run::{Bench, DevicePool};
use crate::prefix::GroupRule;
use crate::trace::Trace;
use kvledger_core::{Admission, Line, Pool, PoolConfig, Prefix, Refusal, Sequence, StreamSet, entries, lines};
use kvledger_cuda::{Device, Epochs, Event, Stream};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Streams.
const LANES: u32 = 2;
/// Steps of a lane that may be under way while another one is made.
const IN_FLIGHT: usize = 2;
/// Most sequences of a lane.
const LANE_SEQUENCES: u32 = 8;
/// Most new tokens of a sequence in one step.
const CHUNK: u32 = 256;

/// How a trace is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Most blocks of the pool; a third of what all requests need is enough.
    pub blocks: u32,
    /// B.
    pub block_tokens: u32,
    /// Most tokens that a request makes: the rest of its output is left out.
    pub output_most: u32,
    /// Whether prefixes are shared.
    pub sharing: Sharing,
    /// Inside which groups.
    pub group: GroupRule,
    /// Thread blocks of a launch.
    pub thread_blocks: u32,
}

/// What was served.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Served {
    /// Requests.
    pub requests: u64,
    /// Requests whose longest context is more than the pool.
    pub rejected: u64,
    /// Steps, of both lanes.
    pub steps: u64,
    /// N.
    pub pool_blocks: u32,
    /// Tokens whose keys and values were written.
    pub written: u64,
    /// Tokens that were found in blocks of others.
    pub cached: u64,
    /// Rows of attention that were compared.
    pub rows: u64,
    /// The largest error, as a share of what is allowed.
    pub share: f64,
    /// Blocks that were taken.
    pub taken: u64,
    /// Different ones among them.
    pub distinct: u64,
    /// Blocks that waited for work when their last holder left.
    pub retired: u64,
    /// Admissions that were refused for blocks and tried again.
    pub retries: u64,
}

/// Requests and what they are called.
struct Work<'a> {
    trace: &'a Trace,
    names: Names,
    settings: Settings,
}

impl Work<'_> {
    fn prompt(&self, request: u32) -> u32 {
        self.trace.requests[request as usize].prompt
    }

    fn tokens_in_all(&self, request: u32) -> u32 {
        let output = self.trace.requests[request as usize].output;
        self.prompt(request).saturating_add(output.min(self.settings.output_most))
    }

    fn blocks(&self, request: u32) -> u64 {
        u64::from(self.tokens_in_all(request)).div_ceil(self.settings.block_tokens.into())
    }

    fn requests(&self) -> std::ops::Range<u32> {
        0..self.trace.requests.len() as u32
    }
}

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
    let rules = settings::Settings {
        block_tokens: settings.block_tokens,
        ..settings::Settings::new(Policy::Full, PoolSize::Blocks(settings.blocks), 0, 0)
    };
    let names = Names::of(trace, &rules.sharing(settings.sharing, settings.group))?;
    let work = Work { trace, names, settings: *settings };
    let config = config(&work)?;
    let (mut memory, mut table) = (vec![Line::ZERO; lines(&config)], vec![0; entries(&config)]);
    let unfit = |refusal: Refusal| Failure::Settings(format!("the pool cannot be made: {refusal}"));
    let pool = Pool::init(&mut memory, &mut table, &config).map_err(unfit)?;
    Server::new(&work, pool, &config, device, through, mistake)?.run()
}

/// A third of what all need, and no less than the largest needs: so that blocks go from hand to hand.
fn config(work: &Work<'_>) -> Result<PoolConfig, Failure> {
    let settings = &work.settings;
    let needs = || work.requests().map(|request| work.blocks(request));
    let (largest, all) = (needs().max().unwrap_or(1), needs().sum::<u64>());
    let blocks = (all / 3).max(largest).clamp(1, settings.blocks.into()) as u32;
    let fits = needs().filter(|need| *need <= u64::from(blocks)).max();
    let Some(width) = fits else {
        return Err(Failure::Settings(format!("--pool {blocks}: no request fits; the smallest needs more")));
    };
    let pool = PoolConfig {
        streams: LANES,
        groups: work.names.groups(),
        ..PoolConfig::new(blocks, settings.block_tokens, LANES * LANE_SEQUENCES + 1, width as u32)
    };
    Ok(if settings.sharing == Sharing::Off { pool } else { pool.sharing() })
}

struct Server<'a> {
    work: &'a Work<'a>,
    pool: Pool<'a>,
    lanes: Vec<Lane<'a>>,
    queue: VecDeque<u32>,
    /// The handle of the head of the queue, once it was asked for.
    head: Option<Sequence>,
    seen: BTreeSet<u32>,
    served: Served,
    columns: u32,
    through: &'a AtomicU64,
    mistake: Mistake,
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
            let desk = begin.done(Desk::new(&stream, sizes, contents.cache(&shape)))?;
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
        let server = Server {
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
        };
        server.with_mistake(device, sizes)
    }

    #[cfg(not(test))]
    fn with_mistake(self, _: &Arc<dyn Device>, _: Sizes) -> Result<Server<'a>, Failure> {
        Ok(self)
    }

    #[cfg(test)]
    fn with_mistake(mut self, device: &Arc<dyn Device>, _: Sizes) -> Result<Server<'a>, Failure> {
        use kvledger_cuda::{Memory, Space};
        if self.mistake == Mistake::ReusePlan {
            for lane in &mut self.lanes {
                lane.desk.unguarded = Some(Step(0).done(Memory::allocate(device, Space::Pinned, 1 << 16))?);
            }
        }
        Ok(self)
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
                self.served.retries += 1;
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

    /// One step of a lane.
    fn step(&mut self, number: usize, step: Step) -> Result<(), Failure> {
        if self.lanes[number].running.is_empty() {
            return Ok(());
        }
        let expected = self.make_lists(number, step)?;
        let lane = &mut self.lanes[number];
        let device = lane.epochs.stream().device().clone();
        let results = match lane.spare.pop() {
            Some(results) => results,
            None => step.done(lane.desk.results(&device))?,
        };
        let event = step.done(Event::open(&device))?;
        let (epoch, generation) = match self.mistake {
            #[cfg(test)]
            Mistake::CompleteEarly => {
                let stream = kvledger_core::Stream(number as u32);
                let epoch = step.answered("submit", self.pool.submit(stream))?;
                let generation = step.done(lane.desk.enqueue(lane.epochs.stream(), &lane.lists, &results))?;
                step.answered("complete", self.pool.complete(stream, epoch, false))?;
                (epoch, generation)
            }
            _ => {
                let begun = step.ended("submit", lane.epochs.begin())?;
                let generation = step.done(lane.desk.enqueue(begun.stream(), &lane.lists, &results))?;
                (step.ended("submit", begun.end(false))?, generation)
            }
        };
        step.done(lane.epochs.stream().record(&event))?;
        lane.pending.push_back(Pending { event, results, expected, generation, step });
        self.served.steps += 1;
        self.publish(number, step, epoch)?;
        self.end_finished(number, step)
    }

    /// Blocks for the next tokens of each sequence, and everything that the device is to be told of them.
    fn make_lists(&mut self, number: usize, step: Step) -> Result<Vec<(u32, u32, super::shadow::Expected)>, Failure> {
        let lane = &mut self.lanes[number];
        let (lists, block_tokens) = (&mut lane.lists, self.work.settings.block_tokens);
        *lists = Lists::default();
        let mut expected = Vec::with_capacity(lane.running.len());
        for running in &mut lane.running {
            let first = running.written;
            let tokens = running.next_tokens(CHUNK);
            let advanced = step.answered("advance", self.pool.advance(running.sequence, tokens))?;
            running.written += tokens;
            running.shadow.extend_to(running.written);
            let mut row = vec![0; self.columns as usize];
            let held = step.answered("export_row", self.pool.export_row(running.sequence, &mut row))?;
            self.served.taken += u64::from(advanced.taken);
            self.seen.extend(&row[..held as usize]);
            for position in first..running.written {
                lists.slots.extend([row[(position / block_tokens) as usize], position % block_tokens]);
                let [key, value] = running.shadow.pair(position);
                lists.keys.extend(bits(key));
                lists.values.extend(bits(value));
            }
            let queries = running.shadow.queries();
            lists.queries.extend(bits(&queries));
            lists.lengths.push(running.written);
            lists.entries.extend(row);
            self.served.written += u64::from(tokens);
            expected.push((running.request, running.written, running.shadow.expected(&queries)));
        }
        Ok(expected)
    }

    /// The named blocks of prompts that are written by this step, or were before, are known from now on.
    fn publish(&mut self, number: usize, step: Step, epoch: kvledger_core::Epoch) -> Result<(), Failure> {
        let keep = self.work.settings.sharing == Sharing::Retain;
        if self.work.settings.sharing == Sharing::Off {
            return Ok(());
        }
        for running in &mut self.lanes[number].running {
            let mut prefix = Vec::new();
            self.work.names.identities(running.request, &mut prefix);
            let new = prefix.get(running.hits as usize..).unwrap_or(&[]);
            if running.written < running.prompt || new.is_empty() {
                continue;
            }
            let published = self.pool.publish(running.sequence, running.hits, &Prefix::of(new), epoch, keep, &mut []);
            step.answered("publish", published)?;
            // Once is enough.
            running.hits = prefix.len() as u32;
        }
        Ok(())
    }

    /// Who has made the last token ends, with its work under way.
    fn end_finished(&mut self, number: usize, step: Step) -> Result<(), Failure> {
        let running = std::mem::take(&mut self.lanes[number].running);
        for running in running {
            if running.written < running.tokens_in_all {
                self.lanes[number].running.push(running);
                continue;
            }
            let released = step.answered("end", self.pool.end(running.sequence))?;
            self.served.retired += u64::from(released.retiring);
            self.served.requests += 1;
            self.through.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Waits until at most so many steps of a lane are under way, and compares those that are over.
    fn settle(&mut self, number: usize, most: usize) -> Result<(), Failure> {
        let lane = &mut self.lanes[number];
        while let Some(oldest) = lane.pending.front() {
            let step = oldest.step;
            if lane.pending.len() <= most && !step.done(oldest.event.is_over())? {
                break;
            }
            step.done(oldest.event.wait())?;
            let compared = oldest.compare()?;
            self.served.rows += compared.rows;
            self.served.share = self.served.share.max(compared.share);
            lane.spare.extend(lane.pending.pop_front().map(|pending| pending.results));
        }
        let step = Step(self.served.steps);
        if most == 0 {
            step.ended("complete", lane.epochs.wait())?;
        }
        step.ended("poll", lane.epochs.poll()).map(|_| ())
    }
}
