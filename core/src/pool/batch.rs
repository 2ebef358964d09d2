//! A scheduler step over many sequences in one call.

use super::Pool;
use crate::answer::{Argument, Refusal};
use crate::calls::{Batch, Step};

impl Pool<'_> {
    /// `advance` each row of `steps`. A row that is refused does not keep the next from advancing.
    ///
    /// `answers[i]` gets the number of row i's answer (0 is OK; `advance` on the row alone says the details again).
    /// `changed` gets the slots of the sequences whose table row changed, in order, the first `Batch::changed` entries.
    /// Both must be at least as long as `steps`.
    ///
    /// Errors: `INVALID(Output)` if they are not; then nothing was done. Threads: the driver of all these sequences.
    /// Progress: lock-free. Cost: O(rows) + O(blocks taken).
    pub fn advance_many(&self, steps: &[Step], answers: &mut [u32], changed: &mut [u32]) -> Result<Batch, Refusal> {
        if answers.len() < steps.len() || changed.len() < steps.len() {
            return Err(Refusal::invalid(Argument::Output));
        }
        let mut batch = Batch::default();
        let mut changed = changed.iter_mut();
        for (step, answer) in steps.iter().zip(answers) {
            match self.advance(step.sequence, step.tokens) {
                Ok(advanced) => {
                    *answer = 0;
                    batch.advanced += 1;
                    if advanced.taken > 0 {
                        batch.taken += advanced.taken;
                        batch.changed += 1;
                        if let Some(entry) = changed.next() {
                            *entry = step.sequence.slot;
                        }
                    }
                }
                Err(refusal) => {
                    *answer = refusal.code();
                    batch.refused += 1;
                }
            }
        }
        Ok(batch)
    }
}
