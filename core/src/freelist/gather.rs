//! Returns blocks one id at a time and writes one word at a time: neighbours that come one after the other are given
//! back together.

use super::runs::Run;
use super::word::{Pieces, mask_of, word_of};

/// Blocks on their way back to wherever `put` puts the blocks of a word; it returns those that it refused. `finish` must
/// be called: what is still gathered goes back then.
#[must_use = "the blocks gathered last go back in `finish`"]
pub(crate) struct Gather<P: FnMut(usize, u64) -> u64> {
    put: P,
    word: usize,
    mask: u64,
    refused: u64,
}

impl<P: FnMut(usize, u64) -> u64> Gather<P> {
    #[inline(always)]
    pub(crate) fn new(put: P) -> Gather<P> {
        Gather { put, word: 0, mask: 0, refused: 0 }
    }

    /// Give back a block.
    #[inline(always)]
    pub(crate) fn push(&mut self, id: u32) {
        self.join(word_of(id), mask_of(id));
    }

    /// Give back a run. It must not go beyond the last 32-bit number.
    #[inline(always)]
    pub(crate) fn push_run(&mut self, run: Run) {
        for (word, mask) in Pieces::new(run.start, run.len) {
            self.join(word, mask);
        }
    }

    #[inline(always)]
    fn join(&mut self, word: usize, mask: u64) {
        if word != self.word {
            self.flush();
            self.word = word;
        }
        // A block that is named twice in one gathering is given back once.
        self.note_refused(self.mask & mask);
        self.mask |= mask;
    }

    /// Give back what has been gathered so far.
    #[inline(always)]
    pub(crate) fn flush(&mut self) {
        if self.mask != 0 {
            let refused = (self.put)(self.word, self.mask);
            self.note_refused(refused);
            self.mask = 0;
        }
    }

    #[inline(always)]
    fn note_refused(&mut self, blocks: u64) {
        if blocks != 0 {
            self.count_refused(blocks);
        }
    }

    /// Hardly ever any: a population count each time would be dear where it is no instruction.
    #[cold]
    fn count_refused(&mut self, blocks: u64) {
        self.refused += u64::from(blocks.count_ones());
    }

    /// Give back the rest. How many were refused in all: free already, named twice, or no blocks of this list.
    #[inline(always)]
    pub(crate) fn finish(mut self) -> u64 {
        self.flush();
        self.refused
    }
}
