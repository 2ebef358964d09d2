//! A set of blocks that wait for somebody to come by: put in and taken out without a lock, and empty most of the time, which
//! is seen in one load.
//!
//! The count is raised before a bit is set and lowered after it is taken, so a count of 0 means no bits.

use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Cells, Span};
use crate::bits::{Places, bit_at, mask_of, word_of};
use crate::freelist::{Bitmap, BitmapLayout};
use crate::sync::{AcqRel, Acquire, AtomicU64, PAIR_WRITE};

/// Where a set lies.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    bits: BitmapLayout,
    count: Span<AtomicU64>,
}

/// The set. A copy of this is another view of the same set.
#[derive(Clone, Copy)]
pub(super) struct Waiting<'m> {
    bits: Bitmap<'m>,
    count: Cells<'m, AtomicU64>,
}

impl<'m> Waiting<'m> {
    /// Room for blocks `1 ..= blocks`.
    pub(super) const fn layout(carve: &mut Carve, blocks: u32) -> Layout {
        Layout { bits: Bitmap::layout(carve, blocks as usize + 1), count: carve.region(1) }
    }

    /// Empty if the arena is fresh.
    pub(super) fn view(arena: &mut Arena<'m>, layout: &Layout) -> Result<Self, Refusal> {
        Ok(Waiting { bits: Bitmap::view(arena, &layout.bits)?, count: arena.cells(layout.count)? })
    }

    /// How many. Never fewer than there are.
    #[inline(always)]
    pub(super) fn count(&self) -> u64 {
        self.count.at(0).load(Acquire)
    }

    /// Put a block in. Whether it was not in it.
    pub(super) fn put(&self, id: u32) -> bool {
        self.count.at(0).fetch_add(1, PAIR_WRITE);
        let is_new = self.bits.put(word_of(id), mask_of(id)) == 0;
        if !is_new {
            self.took(1);
        }
        is_new
    }

    /// Take some block out. `None` only after a pass over all words found none.
    pub(super) fn take(&self) -> Option<u32> {
        self.find(|word| match self.take_some(word, |bits| bits & bits.wrapping_neg()) {
            0 => None,
            bit => Some(bit_at(word, bit.trailing_zeros())),
        })
    }

    /// Take all blocks out that the summary shows, in the order of their ids.
    pub(super) fn drain(&self, mut block: impl FnMut(u32)) {
        if self.count() == 0 {
            return;
        }
        let mut from = 0;
        while let Some(word) = self.bits.next(from) {
            let bits = self.take_some(word, |bits| bits);
            Places(bits).for_each(|place| block(bit_at(word, place)));
            self.bits.tidy(word);
            from = word + 1;
        }
    }

    /// The first answer for a word: for those that the summary shows, then for all; none if nothing is in the set.
    fn find<T>(&self, look: impl Fn(usize) -> Option<T>) -> Option<T> {
        if self.count() == 0 {
            return None;
        }
        let mut from = 0;
        while let Some(word) = self.bits.next(from) {
            if let found @ Some(_) = look(word) {
                return found;
            }
            self.bits.tidy(word);
            from = word + 1;
        }
        // The summary is advice: a block may be there that it does not show.
        (0..self.bits.words()).find_map(look)
    }

    fn take_some(&self, word: usize, pick: impl FnMut(u64) -> u64) -> u64 {
        let taken = self.bits.take(word, pick);
        if taken != 0 {
            self.took(taken.count_ones());
        }
        taken
    }

    fn took(&self, blocks: u32) {
        self.count.at(0).fetch_sub(u64::from(blocks), AcqRel);
    }
}
