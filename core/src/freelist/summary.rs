//! Which words of a bit map are worth a look: one bit a word, one bit a word of those, and so on up.
//!
//! Problem: to find a set bit in a nearly empty map without reading all of it, and without a line that every put and
//! take writes. So a summary bit is *shown* by whoever sets bits below it and sees it clear, and *hidden* only by a
//! searcher that came in vain: in the steady state it is only read.
//!
//! 1. `put` sets bits in a word, then looks at the summary bit and sets it if it is clear, level by level.
//! 2. A searcher asks [`Summary::next`], goes to the word and may find it empty.
//! 3. It hides the bit, *then looks at the word again*, and shows it once more if something has arrived.
//!
//! Steps 1 and 3 are Dekker's pattern at each level, and this is what they rule out:
//!
//! | who puts | who hides |
//! |---|---|
//! | | finds word 7 empty |
//! | sets a bit in word 7 | |
//! | reads summary bit 7: set, nothing to do | |
//! | | clears summary bit 7 |
//! | | (does not look again, or sees the word as it was) |
//!
//! Word 7 would be hidden for good. With both accesses on both sides in the one order of `SeqCst`, either the putter
//! sees the bit cleared or the hider sees the word filled.
//!
//! The bits of 64 neighbouring words share a cache line with nothing else but the other summaries of the same map
//! (a *zone* of 4,096 bits has one line), so that two threads in different zones do not meet.
//!
//! Bounds: `show` is at most one load and one read-modify-write a level; `next` reads each summary word at most twice.

use super::word::WORD_SHIFT;
use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Cells, LINE_BYTES, Span};
use crate::sync::{AtomicU64, PAIR_LOAD, PAIR_WRITE, point, store_load_fence};
use core::sync::atomic::Ordering;

/// Words in the line of a zone: room for the lowest level of eight summaries.
const ZONE_WORDS: usize = LINE_BYTES / size_of::<u64>();

/// log2 of [`ZONE_WORDS`].
const ZONE_SHIFT: u32 = ZONE_WORDS.trailing_zeros();

/// The lines of all zones, shared by the summaries of one map.
#[derive(Clone, Copy)]
pub(super) struct ZonesLayout {
    lines: Span<AtomicU64>,
    zones: usize,
    words: usize,
}

impl ZonesLayout {
    /// Zones for a map of `words` words.
    pub(super) const fn carve(carve: &mut Carve, words: usize) -> ZonesLayout {
        let zones = words.div_ceil(1 << WORD_SHIFT);
        ZonesLayout { lines: carve.region(zones.saturating_mul(ZONE_WORDS)), zones, words }
    }

    pub(super) fn view<'m>(&self, arena: &mut Arena<'m>) -> Result<Zones<'m>, Refusal> {
        Ok(Zones { lines: arena.cells(self.lines)?, zones: self.zones, words: self.words })
    }
}

/// The lines in memory.
#[derive(Clone, Copy)]
pub(super) struct Zones<'m> {
    lines: Cells<'m, AtomicU64>,
    zones: usize,
    words: usize,
}

/// What one summary has besides its part of the zones.
#[derive(Clone, Copy)]
pub(super) struct SummaryLayout {
    middle: Span<AtomicU64>,
    middle_words: usize,
    top: Span<AtomicU64>,
    top_words: usize,
}

impl SummaryLayout {
    pub(super) const fn carve(carve: &mut Carve, zones: &ZonesLayout) -> SummaryLayout {
        let middle_words = zones.zones.div_ceil(1 << WORD_SHIFT);
        let top_words = middle_words.div_ceil(1 << WORD_SHIFT);
        let middle = carve.region(middle_words);
        SummaryLayout { middle, middle_words, top: carve.region(top_words), top_words }
    }

    /// The summary whose lowest level is word `place` (0 ..= 7) of each zone's line.
    pub(super) fn view<'m>(
        &self,
        arena: &mut Arena<'m>,
        zones: Zones<'m>,
        place: usize,
    ) -> Result<Summary<'m>, Refusal> {
        debug_assert!(place < ZONE_WORDS);
        let middle = Level { cells: arena.cells(self.middle)?, words: self.middle_words };
        let top = Level { cells: arena.cells(self.top)?, words: self.top_words };
        Ok(Summary { zones, place, middle, top })
    }
}

/// A row of summary words.
#[derive(Clone, Copy)]
struct Level<'m> {
    cells: Cells<'m, AtomicU64>,
    words: usize,
}

/// Set a bit, without a write if it is set. Whether it was.
#[inline(always)]
fn show_in(cell: &AtomicU64, bit: usize) -> bool {
    // O12/O13 load: second half of the putter's side, pairs with the clearing in `hide_in`.
    let was_shown = cell.load(PAIR_LOAD) & mask(bit) != 0;
    if !was_shown {
        cell.fetch_or(mask(bit), PAIR_WRITE);
    }
    was_shown
}

#[inline(always)]
fn hide_in(cell: &AtomicU64, bit: usize) {
    // O12/O13 clear: first half of the hider's side, pairs with the load in `show_in`.
    cell.fetch_and(!mask(bit), PAIR_WRITE);
}

/// The place of a bit in its word, as a mask.
#[inline(always)]
const fn mask(bit: usize) -> u64 {
    1 << (bit & (u64::BITS as usize - 1))
}

/// The bits of a word from a place on.
#[inline(always)]
const fn from_bit(bit: usize) -> u64 {
    u64::MAX << (bit & (u64::BITS as usize - 1))
}

/// A summary. "Something is there" needs the protocol above; "a whole lane is free" and "all of it is free" are advice,
/// never relied on, and use the same code.
#[derive(Clone, Copy)]
pub(super) struct Summary<'m> {
    /// Whose words have the lowest level at `place`.
    zones: Zones<'m>,
    place: usize,
    middle: Level<'m>,
    /// Searched from end to end.
    top: Level<'m>,
}

/// The number of the top level.
const TOP: u32 = 2;

impl<'m> Summary<'m> {
    #[inline(always)]
    fn low(&self, word: usize) -> &'m AtomicU64 {
        self.zones.lines.at((word << ZONE_SHIFT) + self.place)
    }

    /// Word `word` of a level.
    #[inline(always)]
    fn at(&self, level: u32, word: usize) -> &'m AtomicU64 {
        match level {
            0 => self.low(word),
            1 => self.middle.cells.at(word),
            _ => self.top.cells.at(word),
        }
    }

    /// Words of a level.
    #[inline(always)]
    fn words(&self, level: u32) -> usize {
        match level {
            0 => self.zones.zones,
            1 => self.middle.words,
            _ => self.top.words,
        }
    }

    /// Say that `word` is worth a look.
    #[inline(always)]
    pub(super) fn show(&self, word: usize) {
        show_in(self.low(word >> WORD_SHIFT), word);
        store_load_fence();
        self.show_zone(word >> WORD_SHIFT);
    }

    /// The same for advice, which may be missed: the levels above are left alone if the lowest says so already.
    #[inline(always)]
    pub(super) fn suggest(&self, word: usize) {
        if !show_in(self.low(word >> WORD_SHIFT), word) {
            self.show_zone(word >> WORD_SHIFT);
        }
    }

    #[inline(always)]
    fn show_zone(&self, zone: usize) {
        show_in(self.middle.cells.at(zone >> WORD_SHIFT), zone);
        store_load_fence();
        show_in(self.top.cells.at(zone >> (2 * WORD_SHIFT)), zone >> WORD_SHIFT);
    }

    /// Say that `word` is not worth a look. The caller looks at the word again after this, and shows it if it was wrong.
    #[inline(always)]
    pub(super) fn hide(&self, word: usize) {
        hide_in(self.low(word >> WORD_SHIFT), word);
    }

    /// The first word from `from` on that is shown. Levels above that show what is not there are tidied on the way.
    /// Finds every word that was shown, in the order of `SeqCst`, before the call and was not hidden since.
    #[inline(always)]
    pub(super) fn next(&self, from: usize) -> Option<usize> {
        if from >= self.zones.words {
            return None;
        }
        let word = from >> WORD_SHIFT;
        // O12/O13 load: as in `show_in`, so that a search that follows a write of the searcher's own finds what was put
        // before it.
        let shown = self.low(word).load(PAIR_LOAD) & from_bit(from);
        let found = if shown != 0 { Some(first_of(word, shown)) } else { self.next_at(0, from) };
        // Only words that exist are ever shown; a caller's memory may say otherwise.
        found.filter(|&word| word < self.zones.words)
    }

    /// The first bit from `from` on that is set in a level. Each level asks the one above where to go on, so the depth
    /// is that of the levels.
    fn next_at(&self, level: u32, from: usize) -> Option<usize> {
        let mut word = from >> WORD_SHIFT;
        let mut mask = from_bit(from);
        while word < self.words(level) {
            let mut all = self.at(level, word).load(PAIR_LOAD);
            if all == 0 && level != TOP && self.is_advertised(level + 1, word) && self.tidy_at(level + 1, word) {
                all = self.at(level, word).load(PAIR_LOAD);
            }
            if all & mask != 0 {
                return Some(first_of(word, all & mask));
            }
            word = if level == TOP { word + 1 } else { self.next_at(level + 1, word + 1)? };
            mask = u64::MAX;
        }
        None
    }

    /// Whether `level` shows word `bit` of the level below.
    #[inline(always)]
    fn is_advertised(&self, level: u32, bit: usize) -> bool {
        self.at(level, bit >> WORD_SHIFT).load(PAIR_LOAD) & mask(bit) != 0
    }

    /// Whether plainly nothing is shown: one load, where one word stands for everything (up to 2^24 blocks). For advice
    /// only, which may be missed.
    #[inline(always)]
    pub(super) fn is_bare(&self) -> bool {
        self.top.words == 1 && self.top.cells.at(0).load(Ordering::Relaxed) == 0
    }

    /// `bit` of `level` (1 or 2) stands for a word below that was found empty: hide it, look again. Whether something
    /// was there after all (it is shown again then).
    fn tidy_at(&self, level: u32, bit: usize) -> bool {
        hide_in(self.at(level, bit >> WORD_SHIFT), bit);
        point("summary: hidden, not looked at again");
        store_load_fence();
        // O13 load: second half of the hider's side, pairs with the `fetch_or` of the level below in `show_in`.
        if self.at(level - 1, bit).load(PAIR_LOAD) == 0 {
            return false;
        }
        if level == TOP {
            show_in(self.top.cells.at(bit >> WORD_SHIFT), bit);
        } else {
            self.show_zone(bit);
        }
        true
    }

    /// Show every word. Only while nobody else uses the map.
    pub(super) fn show_all(&self) {
        let mut bits = self.zones.words;
        for level in 0..=TOP {
            for word in 0..self.words(level) {
                let left = bits - (word << WORD_SHIFT);
                self.at(level, word).store(if left < 64 { !from_bit(left) } else { u64::MAX }, Ordering::Relaxed);
            }
            bits = self.words(level);
        }
    }
}

/// The lowest set bit of summary word `word`, whose content is `shown`.
#[inline(always)]
const fn first_of(word: usize, shown: u64) -> usize {
    (word << WORD_SHIFT) + shown.trailing_zeros() as usize
}
