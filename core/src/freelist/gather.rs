//! Returns blocks one id at a time and writes one word at a time: neighbours that come one after the other are given
//! back together.

use super::FreeList;
use super::runs::Run;
use super::word::{Pieces, mask_of, word_of};

/// Blocks on their way back. `finish` must be called: what is still gathered goes back then.
#[must_use = "the blocks gathered last go back in `finish`"]
pub(crate) struct Gather<'a, 'm> {
    list: &'a FreeList<'m>,
    word: usize,
    mask: u64,
    pushed: u64,
    given: u64,
}

impl<'a, 'm> Gather<'a, 'm> {
    #[inline(always)]
    pub(crate) fn new(list: &'a FreeList<'m>) -> Gather<'a, 'm> {
        Gather { list, word: 0, mask: 0, pushed: 0, given: 0 }
    }

    /// Give back a block.
    #[inline(always)]
    pub(crate) fn push(&mut self, id: u32) {
        self.pushed += 1;
        self.join(word_of(id), mask_of(id));
    }

    /// Give back a run.
    #[inline(always)]
    pub(crate) fn push_run(&mut self, run: Run) {
        self.pushed += u64::from(run.len);
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
        // A block that is named twice in one gathering is one block here and two in `pushed`.
        self.mask |= mask;
    }

    /// Give back what has been gathered so far.
    #[inline(always)]
    pub(crate) fn flush(&mut self) {
        if self.mask != 0 {
            let refused = self.list.put_mask(self.word, self.mask);
            self.given += u64::from((self.mask & !refused).count_ones());
            self.mask = 0;
        }
    }

    /// Give back the rest. How many were refused in all: free already, named twice, or no blocks of this list.
    #[inline(always)]
    pub(crate) fn finish(mut self) -> u64 {
        self.flush();
        self.pushed - self.given
    }
}
