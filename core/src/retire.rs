//! Where retiring blocks wait: a few buckets by epoch, one bit a block, claimed like free bits. No links, so no ABA
//! and nothing private to a stopped reclaimer but the at most 64 blocks of the word that it is at.
//!
//! 1. Who retires a block tags it, makes its word say so, and puts its bit into the bucket of the tag's epoch.
//! 2. A reclaimer looks at the tags of a bucket's word, claims the bits that look over, claims each block by its word,
//!    and only then trusts the tag; what is over goes to the free list, the rest goes back.
//! 3. Who retires looks at the streams again afterwards: they may have completed between the tag and the push, and
//!    the bucket may have been drained before the bit arrived.
//!
//! ```text
//!   retire                          complete
//!   tag = 7, 7 is outstanding
//!                                   7 is over; bucket 3 is empty; done
//!   bucket 3 |= block               ✗ nobody looks at bucket 3 again
//!   7 is over? reclaim it           ✓ (Plant::NoSecondLook leaves this out)
//! ```
//!
//! A bucket's count is raised before bits are set and lowered after they are taken, so a count of 0 means no bits.

use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Cells, Span};
use crate::bits::{mask_of, word_of};
use crate::freelist::{Bitmap, BitmapLayout};
use crate::ids::Epoch;
use crate::sync::{AcqRel, Acquire, AtomicU64, PAIR_LOAD, PAIR_WRITE, Plant, planted, store_load_fence};

/// Buckets. Epochs that share one cost a look at each other's tags, nothing else.
pub(crate) const BUCKETS: usize = 4;

/// Where the parts are.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    buckets: [BitmapLayout; BUCKETS],
    counts: Span<AtomicU64>,
}

/// The buckets.
#[derive(Clone, Copy)]
pub(crate) struct Retiring<'m> {
    buckets: [Bitmap<'m>; BUCKETS],
    counts: Cells<'m, AtomicU64>,
}

impl<'m> Retiring<'m> {
    pub(crate) const fn layout(carve: &mut Carve, blocks: u32) -> Layout {
        let bits = blocks as usize + 1;
        let buckets = [
            Bitmap::layout(carve, bits),
            Bitmap::layout(carve, bits),
            Bitmap::layout(carve, bits),
            Bitmap::layout(carve, bits),
        ];
        Layout { buckets, counts: carve.region(BUCKETS) }
    }

    pub(crate) fn view(arena: &mut Arena<'m>, layout: &Layout) -> Result<Self, Refusal> {
        let [first, second, third, fourth] = &layout.buckets;
        let buckets = [
            Bitmap::view(arena, first)?,
            Bitmap::view(arena, second)?,
            Bitmap::view(arena, third)?,
            Bitmap::view(arena, fourth)?,
        ];
        Ok(Retiring { buckets, counts: arena.cells(layout.counts)? })
    }

    /// Put the blocks of `mask` in `word` into the bucket of `epoch`. Returns those whose bit was set already.
    pub(crate) fn push(&self, epoch: Epoch, word: usize, mask: u64) -> u64 {
        let which = Self::bucket_of(epoch);
        // O20 write: before the second look in `Pool::let_go`.
        self.counts.at(which).fetch_add(mask.count_ones() as u64, PAIR_WRITE);
        let twice = self.bucket(which).put(word, mask);
        if twice != 0 {
            self.counts.at(which).fetch_sub(twice.count_ones() as u64, AcqRel);
        }
        twice
    }

    /// Take those of `wanted` that are still in `word` of bucket `which`.
    pub(crate) fn claim(&self, which: usize, word: usize, wanted: u64) -> u64 {
        let got = self.bucket(which).take(word, |bits| bits & wanted);
        if got == 0 {
            self.bucket(which).tidy(word);
        } else {
            self.counts.at(which).fetch_sub(got.count_ones() as u64, AcqRel);
        }
        got
    }

    /// A block is retiring no more: its bit in the bucket of `epoch`, if it is there.
    pub(crate) fn forget(&self, epoch: Epoch, id: u32) {
        self.claim(Self::bucket_of(epoch), word_of(id), mask_of(id));
    }

    /// The first word at or after `from` of bucket `which` that holds blocks, and its bits.
    pub(crate) fn next(&self, which: usize, from: usize) -> Option<(usize, u64)> {
        if self.counts.at(which).load(Acquire) == 0 {
            return None;
        }
        let bucket = self.bucket(which);
        let mut word = bucket.next(from)?;
        loop {
            let bits = bucket.load(word);
            if bits != 0 {
                return Some((word, bits));
            }
            // What arrived while it was hidden is looked at again.
            if !bucket.tidy(word) {
                word = bucket.next(word + 1)?;
            }
        }
    }

    /// Whether nothing waits, as far as anybody can tell who comes after a completion.
    pub(crate) fn is_empty(&self) -> bool {
        if !planted(Plant::NoFullFence) {
            store_load_fence();
        }
        // O20 load: after the completion's write of the tail.
        (0..BUCKETS).all(|which| self.counts.at(which).load(PAIR_LOAD) == 0)
    }

    /// All blocks that wait.
    pub(crate) fn count(&self) -> u64 {
        (0..BUCKETS).map(|which| self.counts.at(which).load(Acquire)).sum()
    }

    /// Bits that are set, counted one by one. For audits.
    pub(crate) fn count_bits(&self) -> u64 {
        self.buckets.iter().map(Bitmap::count).sum()
    }

    pub(crate) const fn bucket_of(epoch: Epoch) -> usize {
        epoch.0 as usize % BUCKETS
    }

    fn bucket(&self, which: usize) -> &Bitmap<'m> {
        let [first, second, third, fourth] = &self.buckets;
        match which % BUCKETS {
            0 => first,
            1 => second,
            2 => third,
            _ => fourth,
        }
    }
}

/// Retiring blocks that count for whoever was refused, by epoch, oldest first: what `RETRY_AFTER` is answered from.
///
/// A fixed number of epochs; what does not fit is added to the newest, which makes the answer later than needed and
/// never earlier.
pub(crate) struct Survey {
    epochs: [(Epoch, u32); SURVEY_EPOCHS],
    len: usize,
}

const SURVEY_EPOCHS: usize = 16;

impl Survey {
    pub(crate) const fn new() -> Survey {
        Survey { epochs: [(Epoch::NONE, 0); SURVEY_EPOCHS], len: 0 }
    }

    /// One more block that comes back when `epoch` is over.
    pub(crate) fn add(&mut self, epoch: Epoch) {
        let mut blocks = 1;
        let mut epoch = epoch;
        // Insertion into a sorted row: what is displaced moves on; what falls off the end is added to the last.
        for entry in self.epochs.iter_mut().take(self.len) {
            if entry.0 == epoch {
                entry.1 += blocks;
                return;
            }
            if entry.0 > epoch {
                (epoch, blocks) = core::mem::replace(entry, (epoch, blocks));
            }
        }
        match self.epochs.get_mut(self.len) {
            Some(entry) => {
                *entry = (epoch, blocks);
                self.len += 1;
            }
            None => {
                if let Some(last) = self.epochs.last_mut() {
                    *last = (last.0.max(epoch), last.1 + blocks);
                }
            }
        }
    }

    /// The first epoch by which at least `short_by` blocks are back, and how many that are.
    pub(crate) fn enough(&self, short_by: u32) -> Option<(Epoch, u32)> {
        let mut back = 0;
        for &(epoch, blocks) in self.epochs.iter().take(self.len) {
            back += blocks;
            if back >= short_by {
                return Some((epoch, back));
            }
        }
        None
    }

    /// All blocks.
    pub(crate) fn total(&self) -> u32 {
        self.epochs.iter().take(self.len).map(|entry| entry.1).sum()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_survey_answers_the_first_epoch_that_is_enough() {
        let mut survey = Survey::new();
        for epoch in [7, 5, 9, 5, 7, 7] {
            survey.add(Epoch(epoch));
        }
        assert_eq!(survey.enough(1), Some((Epoch(5), 2)));
        assert_eq!(survey.enough(3), Some((Epoch(7), 5)));
        assert_eq!(survey.enough(6), Some((Epoch(9), 6)));
        assert_eq!(survey.enough(7), None);
        assert_eq!(survey.total(), 6);
    }

    #[test]
    fn a_full_survey_is_later_never_earlier() {
        let mut survey = Survey::new();
        for epoch in (1..=40).rev() {
            survey.add(Epoch(epoch));
        }
        assert_eq!(survey.total(), 40);
        for short_by in 1..=40 {
            let (after, back) = survey.enough(short_by).expect("40 blocks wait");
            assert!(back >= short_by);
            assert!(after.0 >= u64::from(back), "{back} blocks are back only after epoch {back}, not {}", after.0);
        }
    }
}
