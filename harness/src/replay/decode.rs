//! P3: one token for each running sequence, in order of admission. Who has no slot left for it takes a block: from his
//! promise, or beyond it, and if the pool refuses that, somebody makes room.

use super::calendar::Turn;
use super::counters::Outcome;
use super::engine::{Engine, Waiting};
use super::failure::Failure;
use super::settings::{Exceed, Policy};
use kvledger_core::{Advanced, Refusal};

impl Engine<'_> {
    /// P3. The step's epoch is opened after all growth and over before anybody leaves.
    pub(super) fn decode(&mut self) -> Result<(), Failure> {
        let mut turns = std::mem::take(&mut self.turns);
        self.calendar.take(self.now, &mut turns);
        if self.roster.len() == 0 {
            // All that arrived was rejected.
            turns.clear();
            self.turns = turns;
            return Ok(());
        }
        if self.audit.is_some() {
            turns.clear();
            turns.extend(self.roster.iter().map(|run| Turn::new(run.admission, run.sequence.slot)));
        }
        for turn in turns.drain(..) {
            // Who was preempted since the turn was entered has none.
            if self.roster.is_current(turn) {
                self.take_turn(turn)?;
            }
        }
        self.turns = turns;
        self.mirror.tokens += self.roster.len();
        let epoch = self.submit()?;
        self.complete(epoch)
    }

    /// The tokens since the last turn and the one of this step, and the block that it may need.
    fn take_turn(&mut self, turn: Turn) -> Result<(), Failure> {
        let slot = turn.slot();
        let run = *self.roster.run(slot);
        let tokens = (run.tokens(self.now) + 1) as u32;
        let new = tokens - run.written;
        let held = if run.next_need(self.settings.block_tokens) != self.now || run.held < run.promised {
            let advanced = self.answered("advance", self.pool.advance(run.sequence, new))?;
            self.mirror.promised -= u64::from(advanced.taken);
            self.took(advanced)
        } else {
            match self.grow(slot, new)? {
                Some(advanced) => self.took(advanced),
                None => return Ok(()),
            }
        };
        let run = self.roster.run_mut(slot);
        (run.held, run.written) = (held, tokens);
        let last = run.last_step();
        if last == self.now {
            self.ending.push(slot);
        } else if self.audit.is_none() {
            let at = run.next_need(self.settings.block_tokens).min(last);
            self.calendar.enter(self.now, at, turn);
        }
        Ok(())
    }

    fn took(&mut self, advanced: Advanced) -> u32 {
        self.take_new(advanced.taken);
        advanced.entries
    }

    /// A block beyond the promise. `None`: the sequence is gone instead.
    fn grow(&mut self, slot: u32, new: u32) -> Result<Option<Advanced>, Failure> {
        let is_exceedance = matches!(self.settings.policy, Policy::Percentile { .. });
        if is_exceedance {
            self.note_exceedance(slot);
        }
        loop {
            let sequence = self.roster.run(slot).sequence;
            match self.pool.advance_growing(sequence, new, 0) {
                Ok(advanced) => {
                    self.roster.run_mut(slot).promised += 1;
                    self.counters.exceed_blocks += u64::from(is_exceedance);
                    return Ok(Some(advanced));
                }
                Err(Refusal::WouldBlock { .. }) => {}
                Err(answer) => return Err(Failure::Answer { step: self.now, call: "advance_growing", answer }),
            }
            if !self.make_room(slot)? {
                return Ok(None);
            }
        }
    }

    fn note_exceedance(&mut self, slot: u32) {
        let record = &mut self.records[self.roster.run(slot).request as usize];
        self.counters.exceed_requests += u64::from(!record.exceeded);
        record.exceeded = true;
    }

    /// What the policy does for a sequence that was refused a block. Whether the sequence is still there.
    fn make_room(&mut self, slot: u32) -> Result<bool, Failure> {
        match (self.settings.policy.exceed(), self.roster.youngest()) {
            (Some(Exceed::PreemptYoungest), Some(youngest)) => {
                self.preempt(youngest)?;
                Ok(youngest != slot)
            }
            (Some(Exceed::PreemptSelf), _) => self.preempt(slot).map(|()| false),
            (Some(Exceed::Truncate), _) => self.truncate(slot).map(|()| false),
            _ => Err(self.differs("a sequence went beyond a promise of its whole output".to_string())),
        }
    }

    /// Its blocks go back, and it goes to the front of the queue to be recomputed.
    fn preempt(&mut self, slot: u32) -> Result<(), Failure> {
        let generated = self.roster.run(slot).generated(self.now);
        let run = self.leave(slot, generated);
        let released = self.pool.preempt(run.sequence);
        self.given_back("preempt", released, &run)?;
        self.counters.preemptions += 1;
        self.counters.lost_tokens += u64::from(run.prompt) + generated;
        self.records[run.request as usize].preempts += 1;
        let generated = generated as u32;
        self.queue.push_front(Waiting { request: run.request, generated, sequence: Some(run.sequence) });
        Ok(())
    }

    /// It ends with the tokens it has.
    fn truncate(&mut self, slot: u32) -> Result<(), Failure> {
        let run = self.leave(slot, self.roster.run(slot).generated(self.now));
        let released = self.pool.end(run.sequence);
        self.given_back("end", released, &run)?;
        self.counters.truncated += 1;
        self.finish(run.request, Outcome::Truncated);
        Ok(())
    }
}
