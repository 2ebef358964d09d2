//! A scheduler step over many sequences in one call: one fence for many rows, where `advance` pays a compare-exchange a
//! row. How that excludes other drivers is said in `sequence/record.rs`.

use super::Pool;
use crate::answer::{Argument, Refusal};
use crate::calls::{Advanced, Batch, Step};
use crate::recorder::{Call, Steps};
use crate::sequence::{Event, Record};
use crate::sync::{Plant, full_fence, planted, point};

/// Rows between two fences: enough to make the fence cheap, few enough that what was marked is still in the cache, and
/// that a thread which is stopped here keeps few sequences.
const ROWS: usize = 64;

impl Pool<'_> {
    /// `advance` each row of `steps`. A row that is refused does not keep the next from advancing.
    ///
    /// `answers[i]` gets the number of row i's answer (0 is OK). Epochs to wait for come as one, `Batch::retry_after`.
    /// `changed` gets the slots of the sequences whose table row changed, in order, the first `Batch::changed` entries.
    /// Both must be at least as long as `steps`.
    ///
    /// Errors: `INVALID(Output)` if they are not; then nothing was done. Threads: the driver of all these sequences.
    /// Progress: lock-free; while another batch runs in this pool, rows are driven one by one. Cost: O(rows) +
    /// O(blocks taken).
    pub fn advance_many(&self, steps: &[Step], answers: &mut [u32], changed: &mut [u32]) -> Result<Batch, Refusal> {
        let length = |array: &[u32]| u32::try_from(array.len()).unwrap_or(u32::MAX);
        let call = Call::AdvanceMany { steps: Steps::of(steps), answers: length(answers), changed: length(changed) };
        self.recorded(call, |pool| pool.advance_rows(steps, answers, changed))
    }

    fn advance_rows(&self, steps: &[Step], answers: &mut [u32], changed: &mut [u32]) -> Result<Batch, Refusal> {
        if answers.len() < steps.len() || changed.len() < steps.len() {
            return Err(Refusal::invalid(Argument::Output));
        }
        let mut sum = Sum { batch: Batch::default(), changed: changed.iter_mut() };
        let lock = self.sequences.lock_batch();
        for (steps, answers) in steps.chunks(ROWS).zip(answers.chunks_mut(ROWS)) {
            if lock.is_some() {
                self.advance_marked(steps, answers, &mut sum);
            } else {
                for (step, answer) in steps.iter().zip(answers) {
                    *answer = sum.add(step, self.advance_within(step.sequence, step.tokens, None));
                }
            }
        }
        if let Some(ring) = self.recorder.ring().filter(|_| sum.batch.refused > 0) {
            let refused = (0..).zip(answers.iter()).take(steps.len()).filter(|(_, status)| **status != 0);
            refused.for_each(|(row, status)| ring.note_refused(row, *status));
        }
        Ok(sum.batch)
    }

    /// Rows of the one batch of this pool.
    fn advance_marked(&self, steps: &[Step], answers: &mut [u32], sum: &mut Sum<'_>) {
        let mut records = [None; ROWS];
        for (step, record) in steps.iter().zip(&mut records) {
            *record = self.sequences.mark(step.sequence);
        }
        if !planted(Plant::NoBatchFence) {
            // O21 fence: between the marks and the look at the busy bits.
            full_fence();
        }
        point("batch: marked");
        let block_tokens = self.block_tokens.get();
        for ((step, answer), record) in steps.iter().zip(answers).zip(&records) {
            let generation = step.sequence.generation;
            if record.is_some_and(|record| record.put_into_slots(generation, step.tokens, block_tokens)) {
                sum.batch.advanced += 1;
                *answer = 0;
            } else {
                *answer = sum.add(step, self.advance_marked_row(step, *record));
            }
        }
        records.iter().flatten().for_each(|record| record.unmark());
    }

    /// A row that needs a block, or is refused.
    fn advance_marked_row(&self, step: &Step, record: Option<&Record>) -> Result<Advanced, Refusal> {
        if step.tokens == 0 {
            return Err(Refusal::invalid(Argument::Tokens));
        }
        let record = record.ok_or(Refusal::Stale)?;
        let mut driver = self.sequences.drive_marked(step.sequence, record, Event::Use)?;
        self.advance_driven(&mut driver, step.tokens, None)
    }
}

/// What the rows did so far.
struct Sum<'a> {
    batch: Batch,
    /// Where the next changed slot goes.
    changed: core::slice::IterMut<'a, u32>,
}

impl Sum<'_> {
    /// One more row; the number of its answer.
    #[inline(always)]
    fn add(&mut self, step: &Step, row: Result<Advanced, Refusal>) -> u32 {
        match row {
            Ok(advanced) => {
                self.batch.advanced += 1;
                self.batch.copies += advanced.copies;
                if advanced.taken > 0 || advanced.copies > 0 {
                    self.batch.taken += advanced.taken;
                    self.batch.changed += 1;
                    if let Some(entry) = self.changed.next() {
                        *entry = step.sequence.slot;
                    }
                }
                0
            }
            Err(refusal) => {
                self.batch.refused += 1;
                if let Refusal::RetryAfter { after, .. } = refusal {
                    self.batch.retry_after = self.batch.retry_after.max(after);
                }
                refusal.code()
            }
        }
    }
}
