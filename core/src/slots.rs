//! Slots that are nobody's: of sequences and of accounts. One bit a slot; the lowest is taken first, so that its cache
//! lines are the warm ones.

use crate::answer::Refusal;
use crate::arena::{Arena, Carve};
use crate::bits::{bit_at, mask_of, word_of};
use crate::freelist::{Bitmap, BitmapLayout};

/// Where they lie.
pub(crate) type SlotsLayout = BitmapLayout;

/// The vacant slots.
#[derive(Clone, Copy)]
pub(crate) struct Slots<'m>(Bitmap<'m>);

impl<'m> Slots<'m> {
    pub(crate) const fn layout(carve: &mut Carve, count: u32) -> SlotsLayout {
        Bitmap::layout(carve, count as usize)
    }

    /// None is vacant if the arena is fresh.
    pub(crate) fn view(arena: &mut Arena<'m>, layout: &SlotsLayout) -> Result<Self, Refusal> {
        Bitmap::view(arena, layout).map(Slots)
    }

    /// Take a vacant slot. Lock-free; `None` after a pass over all words found none.
    pub(crate) fn take(&self) -> Option<u32> {
        let mut from = 0;
        while let Some(word) = self.0.next(from) {
            if let Some(slot) = self.take_in(word) {
                return Some(slot);
            }
            self.0.tidy(word);
            from = word + 1;
        }
        // The summary is advice: a slot may be vacant that it does not show.
        (0..self.0.words()).find_map(|word| self.take_in(word))
    }

    /// A slot is vacant (again).
    pub(crate) fn put(&self, slot: u32) {
        self.0.put(word_of(slot), mask_of(slot));
    }

    fn take_in(&self, word: usize) -> Option<u32> {
        match self.0.take(word, |bits| bits & bits.wrapping_neg()) {
            0 => None,
            bit => Some(bit_at(word, bit.trailing_zeros())),
        }
    }
}
