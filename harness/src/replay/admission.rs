//! P1 and P2: requests arrive, and the head of the queue is admitted as long as it fits.

use super::counters::Outcome;
use super::engine::{Engine, Waiting};
use super::failure::Failure;
use super::promise::Fate;
use super::roster::Run;
use super::settings::{Policy, Sharing};
use kvledger_core::{Admission, Admitted, Advanced, Epoch, Prefix, Promise, Published, Refusal, Sequence};

/// What the head of the queue was given.
#[derive(Clone, Copy)]
struct Given {
    /// W.
    promised: u32,
    /// m: blocks of its prefix that were known.
    hits: u32,
    /// Tokens in them; at least one of the prompt is not.
    cached_tokens: u32,
}

impl Engine<'_> {
    /// P1: all that arrive by now join the queue, or are rejected because they can never fit.
    pub(super) fn arrivals(&mut self) {
        while let Some(demand) = self.demands.get(self.arriving).filter(|demand| demand.arrival_step <= self.now) {
            let request = self.arriving as u32;
            self.arriving += 1;
            match self.promises.fate(demand) {
                Fate::Queues => {
                    self.look_again |= self.queue.is_empty();
                    self.queue.push_back(Waiting { request, generated: 0, sequence: None });
                }
                Fate::RejectedContext => {
                    self.counters.rejected_ctx += 1;
                    self.finish(request, Outcome::RejectedContext);
                }
                Fate::RejectedPool => {
                    self.counters.rejected_pool += 1;
                    self.finish(request, Outcome::RejectedPool);
                }
            }
        }
    }

    /// P2: the head of the queue, again and again, until one does not fit. Nobody overtakes.
    pub(super) fn admissions(&mut self) -> Result<(), Failure> {
        // The head was refused before, and nothing has come back since. The audit asks all the same.
        if self.look_again || self.audit.is_some() {
            let mut epoch = None;
            while !self.queue.is_empty() && self.has_room_to_run() {
                let Some(given) = self.admit_head()? else { break };
                // The epoch under which the prompts of this step are written.
                let writing = match epoch {
                    Some(epoch) => epoch,
                    None => *epoch.insert(self.submit()?),
                };
                self.start_head(given, writing)?;
            }
            if let Some(epoch) = epoch {
                self.complete(epoch)?;
            }
            self.look_again = false;
        }
        self.counters.peak_queue = self.counters.peak_queue.max(self.queue.len() as u64);
        Ok(())
    }

    fn has_room_to_run(&self) -> bool {
        self.settings.max_running == 0 || self.roster.len() < u64::from(self.settings.max_running)
    }

    /// Asks the pool for the promise of the head of the queue.
    fn admit_head(&mut self) -> Result<Option<Given>, Failure> {
        let head = self.queue[0];
        let demand = &self.demands[head.request as usize];
        let tokens = u64::from(demand.prompt) + u64::from(head.generated);
        // A request that was preempted before its first token is admitted a second time all the same.
        let is_first = self.records[head.request as usize].admit.is_none();
        let promise = if is_first { self.promises.first(demand) } else { self.promises.later(demand, tokens) } as u32;
        let admission = Admission {
            promise: if self.settings.policy == Policy::Full { Promise::Full } else { Promise::Blocks(promise) },
            group: self.names.group(head.request),
            watermark: self.watermark(),
            ..Admission::full(tokens as u32, demand.output - head.generated)
        };
        let sequence = self.handle_of_head()?;
        let committed = self.pool.counts().committed;
        match self.admit(head.request, sequence, &admission) {
            Ok(admitted) => self.given(&admitted, promise, self.pool.counts().committed - committed).map(Some),
            Err(Refusal::WouldBlock { .. }) if self.roster.len() > 0 => Ok(None),
            Err(answer) => Err(Failure::Answer { step: self.now, call: "admit", answer }),
        }
    }

    /// With as much of its prefix as is known, where blocks are shared.
    fn admit(&mut self, request: u32, sequence: Sequence, admission: &Admission) -> Result<Admitted, Refusal> {
        if !self.settings.shares() {
            return self.pool.admit(sequence, admission);
        }
        // A head that was refused is asked for again and again.
        if self.prefix_of != Some(request) {
            self.names.identities(request, &mut self.prefix);
            self.prefix_of = Some(request);
        }
        // What is admitted in the same step is still being written, under the same epoch.
        let prefix = Prefix { unfinished: true, ..Prefix::of(&self.prefix) };
        self.pool.admit_prefix(sequence, admission, &prefix)
    }

    /// What was given must be the promise, part of it as hits, of which `kept` were kept.
    fn given(&mut self, admitted: &Admitted, promise: u32, kept: u32) -> Result<Given, Failure> {
        let Admitted { promised, hits, cached_tokens, .. } = *admitted;
        if promised + hits != promise || kept > hits {
            return Err(self.differs(format!(
                "admit promised {promised} blocks and shared {hits}, {kept} of them kept ones, instead of {promise} in all"
            )));
        }
        self.mirror.held += u64::from(kept);
        self.mirror.cached -= u64::from(kept);
        Ok(Given { promised: promise, hits, cached_tokens })
    }

    /// Blocks that incremental admission leaves to growth.
    fn watermark(&self) -> u32 {
        match (self.settings.policy, self.settings.limit()) {
            (Policy::Incremental, Some((_, safety))) => safety,
            _ => 0,
        }
    }

    /// A request is opened when it comes to the head of the queue, so that only one is open that does not run.
    fn handle_of_head(&mut self) -> Result<Sequence, Failure> {
        if let Some(sequence) = self.queue[0].sequence {
            return Ok(sequence);
        }
        let sequence = self.answered("open", self.pool.open())?;
        self.queue[0].sequence = Some(sequence);
        Ok(sequence)
    }

    /// The admitted head takes its blocks and runs.
    fn start_head(&mut self, given: Given, writing: Epoch) -> Result<(), Failure> {
        let Some(Waiting { request, generated, sequence: Some(sequence) }) = self.queue.pop_front() else {
            return Err(self.differs("the admitted head of the queue is gone".to_string()));
        };
        let demand = self.demands[request as usize];
        let tokens = demand.prompt + generated;
        let promised = given.promised;
        let taken = self.take_first(sequence, tokens - given.cached_tokens, promised)?;
        self.publish(request, sequence, given.hits, writing)?;
        let origin = self.now.wrapping_sub(u64::from(generated));
        let mut run =
            Run::new(sequence, request, demand.prompt, demand.output, origin).with_blocks(taken.entries, promised);
        run.written = tokens;
        self.take_new(taken.taken);
        self.mirror.tokens += u64::from(tokens);
        self.mirror.promised += u64::from(promised - run.held);
        let turn_at = run.next_need(self.settings.block_tokens).min(run.last_step());
        let turn = self.roster.admit(run);
        self.calendar.enter(self.now, turn_at, turn);
        self.note_hits(request, given.hits);
        self.note_first_admission(request, demand.arrival_step);
        Ok(())
    }

    /// The blocks of the tokens that are not there yet; all of the promise where the region is contiguous.
    fn take_first(&mut self, sequence: Sequence, tokens: u32, promised: u32) -> Result<Advanced, Failure> {
        let region = if self.settings.policy == Policy::Contig {
            self.answered("materialize", self.pool.materialize(sequence, promised))?.taken
        } else {
            0
        };
        let taken = self.answered("advance", self.pool.advance(sequence, tokens))?;
        Ok(Advanced { taken: region + taken.taken, ..taken })
    }

    /// The new blocks of the prefix are known from now on.
    fn publish(&mut self, request: u32, sequence: Sequence, hits: u32, writing: Epoch) -> Result<(), Failure> {
        let new = &self.prefix.get(hits as usize..).unwrap_or(&[]);
        if !self.settings.shares() || new.is_empty() {
            return Ok(());
        }
        debug_assert_eq!(self.prefix_of, Some(request));
        let keep = self.settings.sharing == Sharing::Retain;
        let published = self.pool.publish(sequence, hits, &Prefix::of(new), writing, keep, &mut []);
        let want = Published { stored: new.len() as u32, known: 0 };
        match self.answered("publish", published)? {
            // A known block has its whole prefix known, so behind the first that is not there is none.
            found if found == want => Ok(()),
            found => Err(self.differs(format!("publish answered {found:?} instead of {want:?}"))),
        }
    }

    fn note_hits(&mut self, request: u32, hits: u32) {
        let record = &mut self.records[request as usize];
        record.hits += u64::from(hits);
        if record.admit.is_none() {
            self.counters.hit_first += u64::from(hits);
            self.counters.lookup_first += u64::from(self.names.count(request));
        } else {
            self.counters.hit_re += u64::from(hits);
        }
    }

    fn note_first_admission(&mut self, request: u32, arrival_step: u64) {
        let record = &mut self.records[request as usize];
        if record.admit.is_none() {
            record.admit = Some(self.now);
            let wait = self.now - arrival_step;
            self.counters.sum_wait += wait;
            self.counters.max_wait = self.counters.max_wait.max(wait);
        }
    }
}
