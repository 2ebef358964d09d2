//! Preemption that keeps what was computed: `offload`, to a pool of another place, host memory say, that has its own
//! ledger.
//!
//! 1. The other pool admits a sequence of its own and materializes as many blocks: the places to copy to.
//! 2. A transfer grips the blocks here, and the sequence is preempted: its promise is everybody's at once, its blocks
//!    stay in A until the transfer is completed. Nothing is copied by this crate.
//! 3. The caller copies, and completes the transfer.
//!
//! Back is the same the other way round: admit the sequence here again, materialize its blocks, `hold` those of the other
//! pool while they are read, copy, complete, and end the other sequence.

use super::Pool;
use crate::answer::{Argument, Refusal};
use crate::calls::{Admission, Offloaded, Promise, Window};
use crate::ids::{BlockId, Sequence};
use crate::transfers::Access;

impl Pool<'_> {
    /// Preempt `sequence` by offload to `host`, where `copy` is an opened sequence: block for block, `pairs[i]` says from
    /// which block of this pool to which of `host` to copy. `admission` is the copy's, in its pool (its tokens, window and
    /// number of promised blocks are not looked at). The handle stays, opened.
    ///
    /// All or nothing, `host` first: its refusal is the answer and nothing has changed here. `pairs` is written when both have
    /// promised: a refusal leaves it as it was, but for `CORRUPT` of the row (the sequence is preempted then) and if one of
    /// the two was cancelled meanwhile. Errors: as `admit` and
    /// `materialize` of `host`, as `hold` and `preempt` of this pool; `INVALID`: `Output` if `pairs` is shorter than the
    /// blocks held, `Count` if none are. Threads: the driver of both. Lock-free. Cost: O(entries of the row).
    pub fn offload(
        &self,
        sequence: Sequence,
        host: &Pool<'_>,
        copy: Sequence,
        admission: &Admission,
        pairs: &mut [(BlockId, BlockId)],
    ) -> Result<Offloaded, Refusal> {
        let held = self.sequence_snapshot(sequence)?;
        // Entries that were released leave holes anywhere: all that is not out of the window is looked at.
        let first = self.sequences.find(sequence)?.holes().recycled;
        let pairs = pairs.get_mut(..held.held as usize).ok_or(Refusal::invalid(Argument::Output))?;
        if held.held == 0 {
            return Err(Refusal::invalid(Argument::Count));
        }
        let tokens = held.held.saturating_mul(host.block_tokens.get());
        let admission = Admission {
            prompt_tokens: tokens,
            output_tokens_max: 0,
            speculative_tokens: 0,
            window: Window::FULL,
            promise: Promise::Blocks(held.held),
            ..*admission
        };
        host.admit(copy, &admission)?;
        // Promised there; taken, which may evict, when nothing here refuses it any more.
        let gripped = self.hold(sequence, first, held.entries.saturating_sub(first), Access::Read);
        let transfer = gripped.inspect_err(|_| {
            let _ = host.preempt(copy);
        })?;
        if let Err(refusal) = self.take_and_pair(sequence, host, copy, held.held, pairs) {
            // Cancelled meanwhile. Nothing was launched on the copy: it gives back what it took.
            let _ = self.complete_transfer(transfer);
            let _ = host.preempt(copy);
            return Err(refusal);
        }
        match self.preempt(sequence) {
            Ok(released) => Ok(Offloaded { transfer, blocks: held.held, released }),
            Err(refusal) => {
                let _ = self.complete_transfer(transfer);
                let _ = host.preempt(copy);
                Err(refusal)
            }
        }
    }

    /// The copy takes its blocks, and `pairs` says which is for which.
    fn take_and_pair(
        &self,
        sequence: Sequence,
        host: &Pool<'_>,
        copy: Sequence,
        blocks: u32,
        pairs: &mut [(BlockId, BlockId)],
    ) -> Result<(), Refusal> {
        host.materialize(copy, blocks)?;
        self.each_block(sequence, |place, id| {
            if let Some(pair) = pairs.get_mut(place) {
                pair.0 = id
            }
        })?;
        host.each_block(copy, |place, id| {
            if let Some(pair) = pairs.get_mut(place) {
                pair.1 = id
            }
        })
    }

    /// The blocks of a sequence, in the order of its row, without holes.
    fn each_block(&self, sequence: Sequence, mut each: impl FnMut(usize, BlockId)) -> Result<(), Refusal> {
        let driver = self.sequences.drive(sequence, crate::sequence::Event::Use)?;
        let record = driver.record;
        let entries = self.row_of(&driver);
        let entries = entries.all().iter().take(record.extent().held as usize);
        let ids = entries.skip(record.holes().recycled as usize).map(|entry| entry.load(crate::sync::Relaxed));
        ids.filter(|&id| id != 0).enumerate().for_each(|(place, id)| each(place, BlockId(id)));
        Ok(())
    }
}
