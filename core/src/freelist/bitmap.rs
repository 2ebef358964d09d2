//! A row of bits in 64-bit words and a summary that tells which words are worth a look. The free list is one of these,
//! so are the buckets of retiring blocks and the maps of free slots.
//!
//! Problem: up to 64 bits are to be claimed or returned with one read-modify-write, by any number of threads, so that
//! a bit has one claimer at a time and a thread that stops anywhere stops nobody.
//!
//! 1. [`Bitmap::put`] sets bits and shows the word in the summary.
//! 2. [`Bitmap::next`] names a word that may have bits.
//! 3. [`Bitmap::take`] clears some of the bits that are set, in one compare-exchange: whoever clears a bit has it.
//! 4. Who finds the word empty calls [`Bitmap::tidy`].
//!
//! *Progress.* `put` and `tidy` are one read-modify-write on the word and at most one on each level: wait-free where
//! the hardware has such operations (on x86 a `fetch_or` whose result is used is a loop, which fails only when another
//! operation on that word succeeded). `take` is lock-free: each lost compare-exchange is somebody's success. A thread
//! stopped anywhere keeps the bits it has claimed, and can keep others from *seeing* a word in the summary in two
//! places only: its own bits between its `put` and the showing, and a word between hiding and looking again. Others
//! that put into that word show it, and [`Bitmap::load`] sees every word at all times.
//!
//! *ABA.* The word is the state: a compare-exchange that finds the word as it was read takes bits that are set now,
//! whatever happened in between, and nothing else was assumed. No tags are needed.

use super::summary::{Summary, SummaryLayout, Zones, ZonesLayout};
use super::word::WORD_SHIFT;
use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Cells, Span};
use crate::sync::{
    AcqRel, Acquire, AtomicU64, PAIR_LOAD, PAIR_WRITE, Plant, Relaxed, planted, point, store_load_fence,
};

/// Where a bit map lies.
#[derive(Clone, Copy)]
pub(crate) struct BitmapLayout {
    words: Span<AtomicU64>,
    zones: ZonesLayout,
    shown: SummaryLayout,
}

impl BitmapLayout {
    /// What the zones of this map have room for besides its own summary.
    pub(super) const fn zones(&self) -> &ZonesLayout {
        &self.zones
    }
}

/// The bits. A copy of this is another view of the same bits.
#[derive(Clone, Copy)]
pub(crate) struct Bitmap<'m> {
    words: Cells<'m, AtomicU64>,
    shown: Summary<'m>,
}

/// What a claim saw and what it got.
pub(super) struct Claim {
    pub(super) before: u64,
    pub(super) taken: u64,
}

impl<'m> Bitmap<'m> {
    /// Room for `bits` bits, numbered from 0.
    pub(crate) const fn layout(carve: &mut Carve, bits: usize) -> BitmapLayout {
        let words = bits.div_ceil(1 << WORD_SHIFT);
        let words = if words == 0 { 1 } else { words };
        let span = carve.region(words);
        let zones = ZonesLayout::carve(carve, words);
        BitmapLayout { words: span, zones, shown: SummaryLayout::carve(carve, &zones) }
    }

    /// The map in memory. All bits are 0 if the arena is fresh.
    pub(crate) fn view(arena: &mut Arena<'m>, layout: &BitmapLayout) -> Result<Bitmap<'m>, Refusal> {
        Ok(Bitmap::view_with_zones(arena, layout)?.0)
    }

    /// The map, and its zones for the summaries that somebody else keeps beside its own (places 1 ..= 7).
    pub(super) fn view_with_zones(
        arena: &mut Arena<'m>,
        layout: &BitmapLayout,
    ) -> Result<(Bitmap<'m>, Zones<'m>), Refusal> {
        let words = arena.cells(layout.words)?;
        let zones = layout.zones.view(arena)?;
        Ok((Bitmap { words, shown: layout.shown.view(arena, zones, 0)? }, zones))
    }

    /// Number of words.
    #[inline(always)]
    pub(crate) fn words(&self) -> usize {
        self.words.len()
    }

    /// The bits of a word, and everything that those who set them had done before.
    #[inline(always)]
    pub(crate) fn load(&self, word: usize) -> u64 {
        // O10 acquire, pairs with O10 release in `put`. O11 acquire, pairs with O11 release in `claim`: who sees a word
        // emptied also sees what its claimer saw, so a pass over the words does not miss a bit that it should know of.
        self.words.at(word).load(if planted(Plant::RelaxedScan) { Relaxed } else { Acquire })
    }

    /// Set bits and show the word. Returns those that were set already; 0 is the good answer.
    #[inline(always)]
    pub(crate) fn put(&self, word: usize, mask: u64) -> u64 {
        self.set(word, mask) & mask
    }

    /// As [`Bitmap::put`], and returns the word as it was before.
    #[inline(always)]
    pub(super) fn set(&self, word: usize, mask: u64) -> u64 {
        // O10 release, pairs with O10 acquire in `claim` and `load`: the next holder sees what this one left behind.
        // O12 set, first half of the putter's side: pairs with O12 load in `tidy`.
        let before = self.words.at(word).fetch_or(mask, PAIR_WRITE);
        point("bitmap: put, not shown");
        store_load_fence();
        // Also if the word was not empty: whoever filled it may have stopped before it showed it.
        self.shown.show(word);
        before
    }

    /// Clear those of the set bits that `pick` chooses; `pick` is given the word and is asked again if the word has
    /// changed meanwhile. What was taken: 0 if it chose none.
    #[inline(always)]
    pub(crate) fn take(&self, word: usize, pick: impl FnMut(u64) -> u64) -> u64 {
        self.claim(word, pick).taken
    }

    /// As [`Bitmap::take`], with what was seen.
    #[inline(always)]
    pub(super) fn claim(&self, word: usize, mut pick: impl FnMut(u64) -> u64) -> Claim {
        let cell = self.words.at(word);
        let mut before = self.load(word);
        loop {
            let taken = pick(before) & before;
            if taken == 0 {
                return Claim { before, taken };
            }
            if planted(Plant::ClaimInTwoSteps) {
                cell.fetch_and(!taken, AcqRel);
                return Claim { before, taken };
            }
            // O10 acquire, pairs with O10 release in `put`. O11 release, pairs with O11 acquire in `load`.
            let order = if planted(Plant::RelaxedScan) { Relaxed } else { AcqRel };
            match cell.compare_exchange_weak(before, before & !taken, order, Acquire) {
                Ok(_) => {
                    point("bitmap: claimed");
                    return Claim { before, taken };
                }
                Err(now) => before = now,
            }
        }
    }

    /// The first word from `from_word` on that the summary shows. It may turn out empty: see [`Bitmap::tidy`]. Does not
    /// miss a word whose `put` had returned when this was called, unless another thread is tidying that very word;
    /// that thread is told by `tidy`.
    #[inline(always)]
    pub(crate) fn next(&self, from_word: usize) -> Option<usize> {
        self.shown.next(from_word)
    }

    /// `word` was found empty: hide it, and look again. Whether there is something in it after all (then it is shown).
    pub(crate) fn tidy(&self, word: usize) -> bool {
        self.shown.hide(word);
        point("bitmap: hidden, not looked at again");
        store_load_fence();
        // O12 load, second half of the hider's side: pairs with O12 set in `put`.
        let found = self.words.at(word).load(PAIR_LOAD) != 0;
        if found {
            self.shown.show(word);
        }
        found
    }

    /// Number of set bits. Exact at rest; with puts and takes under way each word is counted at a moment of its own.
    pub(crate) fn count(&self) -> u64 {
        (0..self.words.len()).map(|word| u64::from(self.load(word).count_ones())).sum()
    }

    /// Write a word and leave the summary alone. Only while nobody else uses the map.
    pub(super) fn preset(&self, word: usize, bits: u64) {
        self.words.at(word).store(bits, Relaxed);
    }

    /// Show every word. Only while nobody else uses the map.
    pub(super) fn show_all(&self) {
        self.shown.show_all();
    }

    #[cfg(test)]
    pub(super) fn shown_for_test(&self) -> &Summary<'m> {
        &self.shown
    }

    /// Whether every word that has bits is shown on all levels, as must be at rest.
    #[cfg(test)]
    pub(super) fn is_shown_at_rest(&self) -> bool {
        let mut expected = (0..self.words.len()).filter(|&word| self.load(word) != 0);
        let mut from = 0;
        expected.all(|word| {
            while let Some(shown) = self.next(from) {
                from = shown + 1;
                if shown == word {
                    return true;
                }
            }
            false
        })
    }
}
