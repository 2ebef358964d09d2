//! The simulation, step after step. A step has four phases: arrivals and admission ([`super::admission`]), one token for
//! each running sequence ([`super::decode`]), measurement, and the ends.
//!
//! Only steps in which something can change are visited: an arrival, a turn that the [`Calendar`] has (somebody needs a
//! block or makes his last token), or a look at the queue after something came back. In the steps between, every
//! sequence makes a token in a slot that it holds already, so their counts are those of the step before, multiplied. (That
//! nobody takes a block means too that nothing is evicted and nothing becomes known, so no head of the queue fits better.)
//! The audit visits every step and gives every sequence its turn, through the same code, and must count the same.
//!
//! The phases, the policies and the counters are those of `harness/RULES.md`.

use super::audit::{Audit, Books};
use super::calendar::{Calendar, Turn};
use super::counters::{Counters, Outcome, Record};
use super::failure::Failure;
use super::names::Names;
use super::promise::{Demand, Promises};
use super::roster::{Roster, Run};
use super::settings::Settings;
use super::sizing;
use kvledger_core::identity::Identity;
use kvledger_core::{Epoch, Pool, PoolConfig, Refusal, Sequence, Stream};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

/// The one stream of this service model.
const STREAM: Stream = Stream(0);

/// A request in the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) request: u32,
    /// Tokens generated before it was preempted.
    pub(super) generated: u32,
    /// Its handle, once it has been at the head of the queue.
    pub(super) sequence: Option<Sequence>,
}

/// The replay's own integers, kept beside the pool's and compared with them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Mirror {
    /// A: different blocks that running sequences hold.
    pub(super) held: u64,
    /// R.
    pub(super) promised: u64,
    /// Tokens of running sequences.
    pub(super) tokens: u64,
    /// C: kept blocks that nobody holds.
    pub(super) cached: u64,
}

/// What is to be served, and how.
#[derive(Clone, Copy)]
pub(super) struct Service<'a> {
    pub(super) demands: &'a [Demand],
    pub(super) names: &'a Names,
    pub(super) settings: Settings,
}

/// A simulation under way.
pub(super) struct Engine<'a> {
    pub(super) pool: &'a Pool<'a>,
    pub(super) demands: &'a [Demand],
    pub(super) names: &'a Names,
    pub(super) settings: Settings,
    pub(super) promises: Promises,
    pub(super) ledger_safety: u32,
    /// N of the pool.
    pub(super) blocks: u64,
    pub(super) now: u64,
    /// The next request to arrive.
    pub(super) arriving: usize,
    pub(super) queue: VecDeque<Waiting>,
    /// Whether the head of the queue may fit now though it did not before.
    pub(super) look_again: bool,
    /// What the prefix of the request that was asked for last is called, and which request that is.
    pub(super) prefix: Vec<Identity>,
    pub(super) prefix_of: Option<u32>,
    pub(super) roster: Roster,
    pub(super) calendar: Calendar,
    pub(super) turns: Vec<Turn>,
    pub(super) ending: Vec<u32>,
    pub(super) mirror: Mirror,
    pub(super) counters: Counters,
    pub(super) records: &'a mut [Record],
    pub(super) audit: Option<Audit>,
    /// Requests that are through, for a progress bar.
    pub(super) through: &'a AtomicU64,
}

impl<'a> Engine<'a> {
    pub(super) fn new(
        pool: &'a Pool<'a>,
        config: &PoolConfig,
        service: Service<'a>,
        records: &'a mut [Record],
        through: &'a AtomicU64,
    ) -> Engine<'a> {
        let Service { demands, names, settings } = service;
        // With paging the next block is at most B steps away; a contiguous region is only left at the end.
        let longest = demands.iter().map(|demand| u64::from(demand.output)).max().unwrap_or(1);
        Engine {
            pool,
            demands,
            names,
            settings,
            promises: Promises::new(&settings),
            ledger_safety: sizing::ledger_safety(&settings),
            blocks: config.blocks.into(),
            now: 0,
            arriving: 0,
            queue: VecDeque::new(),
            look_again: false,
            prefix: Vec::new(),
            prefix_of: None,
            roster: Roster::new(config.sequences),
            calendar: Calendar::new(longest.max(u64::from(settings.block_tokens))),
            turns: Vec::new(),
            ending: Vec::new(),
            mirror: Mirror::default(),
            counters: Counters { requests: demands.len() as u64, ..Counters::default() },
            records,
            audit: settings.audit.then(Audit::new),
            through,
        }
    }

    /// Runs until nothing runs, waits or is to arrive.
    pub(super) fn run(&mut self) -> Result<Counters, Failure> {
        while let Some(step) = self.next_step() {
            self.pass_over(step)?;
            self.now = step;
            self.arrivals();
            self.admissions()?;
            self.check()?;
            self.decode()?;
            self.measure()?;
            self.check()?;
            self.completions()?;
            self.check()?;
        }
        self.counters.admissions = self.roster.admissions();
        Ok(self.counters)
    }

    /// Nothing runs and nothing waits.
    fn is_idle(&self) -> bool {
        self.roster.len() == 0 && self.queue.is_empty()
    }

    /// The next step in which something can change; `None` when all is done.
    fn next_step(&mut self) -> Option<u64> {
        let arrival = self.demands.get(self.arriving).map(|demand| demand.arrival_step);
        if self.is_idle() {
            // What is left in the calendar are turns of sequences that were preempted.
            self.calendar.clear();
            return arrival;
        }
        if self.audit.is_some() || (self.look_again && !self.queue.is_empty()) {
            return Some(self.now + 1);
        }
        let turn = self.calendar.next(self.now + 1);
        [arrival, turn].into_iter().flatten().min()
    }

    /// Counts the steps between the last one visited and `step`.
    #[inline]
    fn pass_over(&mut self, step: u64) -> Result<(), Failure> {
        if self.is_idle() || step == self.now + 1 {
            return Ok(());
        }
        let steps = step - self.now - 1;
        let (used, committed) = self.in_pool()?;
        let running = self.roster.len();
        let counters = &mut self.counters;
        counters.busy_steps += steps;
        counters.sum_used += used * steps;
        counters.sum_committed += committed * steps;
        counters.sum_running += running * steps;
        // One more token each in the first of them, two in the second, and so on.
        counters.sum_tokens += self.mirror.tokens * steps + running * (steps * (steps + 1) / 2);
        self.mirror.tokens += running * steps;
        Ok(())
    }

    /// A and A + R, from the pool's own word, which must say what the replay has counted.
    #[inline]
    fn in_pool(&self) -> Result<(u64, u64), Failure> {
        let counts = self.pool.counts();
        let (held, spoken) = (u64::from(counts.committed), u64::from(counts.promised_and_safety));
        let safety = u64::from(self.ledger_safety);
        if (held, spoken) != (self.mirror.held, self.mirror.promised + safety) {
            return Err(self.differs(format!(
                "A and R + S: {held} and {spoken} in the pool, {} and {} in the replay",
                self.mirror.held,
                self.mirror.promised + safety
            )));
        }
        Ok((held, held + spoken - safety))
    }

    #[inline]
    fn measure(&mut self) -> Result<(), Failure> {
        let (used, committed) = self.in_pool()?;
        let running = self.roster.len();
        let counters = &mut self.counters;
        counters.busy_steps += 1;
        counters.end_step = self.now;
        counters.sum_used += used;
        counters.sum_committed += committed;
        counters.sum_tokens += self.mirror.tokens;
        counters.sum_running += running;
        counters.peak_used = counters.peak_used.max(used);
        counters.peak_committed = counters.peak_committed.max(committed);
        counters.peak_running = counters.peak_running.max(running);
        counters.peak_cached = counters.peak_cached.max(self.mirror.cached);
        Ok(())
    }

    #[inline]
    fn check(&mut self) -> Result<(), Failure> {
        if self.audit.is_some() { self.audit_step() } else { Ok(()) }
    }

    #[cold]
    fn audit_step(&mut self) -> Result<(), Failure> {
        let open = self.roster.len() + self.queue.iter().filter(|waiting| waiting.sequence.is_some()).count() as u64;
        let (names, mirror, safety) = (self.names, self.mirror, self.ledger_safety);
        let books = Books { names, mirror, safety, blocks: self.blocks, open };
        let Some(audit) = &mut self.audit else { return Ok(()) };
        audit.check(self.pool, &self.roster, books).map_err(|what| Failure::Audit { step: self.now, what })
    }

    /// P4: who made the last token leaves.
    fn completions(&mut self) -> Result<(), Failure> {
        let mut ending = std::mem::take(&mut self.ending);
        for slot in ending.drain(..) {
            let run = self.leave(slot, u64::from(self.roster.run(slot).output));
            let released = self.pool.end(run.sequence);
            self.given_back("end", released, &run)?;
            self.finish(run.request, Outcome::Completed);
            self.counters.completed += 1;
        }
        self.ending = ending;
        Ok(())
    }

    /// Takes a run, which has `generated` tokens, out of the replay's books, but for its blocks: what becomes of them
    /// depends on who else holds them ([`Engine::given_back`]). The pool's books are the caller's to change.
    #[inline]
    pub(super) fn leave(&mut self, slot: u32, generated: u64) -> Run {
        let run = self.roster.remove(slot);
        self.mirror.tokens -= u64::from(run.prompt) + generated;
        self.mirror.promised -= u64::from(run.promised - run.held);
        self.look_again = true;
        run
    }

    /// A request is through.
    pub(super) fn finish(&mut self, request: u32, outcome: Outcome) {
        let record = &mut self.records[request as usize];
        record.outcome = outcome;
        if !matches!(outcome, Outcome::RejectedContext | Outcome::RejectedPool) {
            record.finish = Some(self.now);
        }
        self.through.fetch_add(1, Ordering::Relaxed);
    }

    /// The pool must not have refused.
    #[inline]
    pub(super) fn answered<T>(&self, call: &'static str, answer: Result<T, Refusal>) -> Result<T, Failure> {
        answer.map_err(|answer| Failure::Answer { step: self.now, call, answer })
    }

    #[cold]
    pub(super) fn differs(&self, what: String) -> Failure {
        Failure::Audit { step: self.now, what }
    }

    /// Opens an epoch: work that was launched.
    pub(super) fn submit(&self) -> Result<Epoch, Failure> {
        self.answered("submit", self.pool.submit(STREAM))
    }

    /// Ends it: the device is through with it.
    pub(super) fn complete(&self, epoch: Epoch) -> Result<(), Failure> {
        self.answered("complete", self.pool.complete(STREAM, epoch, false)).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::{Policy, PoolSize};
    use super::*;
    use kvledger_core::{Line, entries, lines};

    const DEMANDS: [Demand; 2] =
        [Demand { arrival_step: 0, prompt: 10, output: 70 }, Demand { arrival_step: 3, prompt: 5, output: 40 }];

    /// A replay, with or without audit, that begins with `mirror` in its books.
    fn run_from(mirror: Mirror, audit: bool) -> Result<Counters, Failure> {
        let settings = Settings { block_tokens: 4, audit, ..Settings::new(Policy::Full, PoolSize::Blocks(40), 2, 0) };
        let config = sizing::config(&DEMANDS, &Names::default(), &settings).expect("a pool");
        let (mut memory, mut table) = (vec![Line::ZERO; lines(&config)], vec![0; entries(&config)]);
        let pool = Pool::init(&mut memory, &mut table, &config).expect("a pool");
        let (mut records, through) = ([Record::default(); 2], AtomicU64::new(0));
        let (names, demands) = (Names::default(), &DEMANDS[..]);
        let service = Service { demands, names: &names, settings };
        let mut engine = Engine::new(&pool, &config, service, &mut records, &through);
        engine.mirror = mirror;
        engine.run()
    }

    /// The net catches without an audit as well: a replay whose own A or R is off by one stops where it first looks.
    #[test]
    fn a_replay_that_counts_otherwise_than_its_pool_stops() {
        let right = Mirror::default();
        assert!(run_from(right, false).is_ok_and(|counters| counters.completed == 2));
        for audit in [false, true] {
            for wrong in [Mirror { held: 1, ..right }, Mirror { promised: 1, ..right }] {
                let stopped = run_from(wrong, audit);
                assert!(matches!(stopped, Err(Failure::Audit { step: 0, .. })), "audit {audit}: {stopped:?}");
            }
        }
    }
}
