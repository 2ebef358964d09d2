//! The free list: which blocks are nobody's. One bit a block (1 = free), so there are no links and nothing to follow.
//!
//! Problem: any number of threads take and return batches of 1 to thousands of blocks; all N blocks can be out at once
//! whoever returns them; a sequence that grows should find its next block beside its last one, because a copy of
//! neighbouring blocks is one descriptor; a block that is given back twice must be noticed; and a thread that is
//! descheduled or dead must not be in anybody's way.
//!
//! 1. [`FreeList::fill`] makes blocks `1 ..= N` free. Bit 0, the null block, is never set.
//! 2. [`FreeList::take`] claims up to 64 blocks with one compare-exchange, where a [`Hint`] and a [`Cursor`] say, then
//!    where two advisory summaries say (a whole word free, a lane of 16 free), then wherever something is free.
//! 3. [`FreeList::put_mask`] returns up to 64 blocks with one read-modify-write and sees exactly which of them were free
//!    already. [`Gather`] makes masks of ids.
//!
//! What the caller must do (the supply argument of `ledger.rs`): count a block before it takes it, and put it back before it counts
//! it as gone. Then whoever is promised `k` blocks finds them: `take` may come back short only after a pass over all
//! words found nothing, while others were moving blocks; calling it again for the rest is lock-free, because a pass in
//! vain under a promise means that others completed takes or returns during it.
//!
//! *Progress*, *ABA*: see [`bitmap`]; `take` is lock-free, returning is one read-modify-write a word and at most seven
//! more to show it. *Bounds*: each of three searches by advice visits at most `STALE_MAX` words in vain; then come three
//! rounds through the summary, and as many passes over all words as find something, plus one.
//! *Not seen*: a block that is given back again after it was handed out anew. The word of the block knows (`block.rs`).
//!
//! Files: [`word`] is arithmetic on one word, [`summary`] the levels above, [`bitmap`] both together, [`placement`] the
//! order in which places are tried, [`cursor`] where a driver looked last, [`runs`] and [`gather`] the way out and in.
//!
//! Size: 1/8 byte a block for the bits, 1/64 for the zones' lines, and 6 short rows: under 0.15 bytes a block.

mod bitmap;
mod cursor;
mod free_blocks;
mod gather;
mod placement;
mod runs;
mod summary;
mod word;

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use bitmap::{Bitmap, BitmapLayout};
pub(crate) use cursor::Cursor;
pub use free_blocks::{FreeBlocks, FreeCursor, GivenTwice};
pub(crate) use gather::Gather;
pub use placement::Hint;
pub(crate) use runs::Run;

use crate::answer::Refusal;
use crate::arena::{Arena, Carve};
use crate::bits::bit_at;
use crate::sync::{Plant, planted};
use bitmap::Claim;
use core::cmp::Ordering;
use cursor::Position;
use placement::Search;
use summary::{Summary, SummaryLayout};
use word::{WORD_BITS, lanes, lowest, mask_of, ones, word_of};

/// Where a free list lies.
#[derive(Clone, Copy)]
pub(crate) struct FreeListLayout {
    blocks: u32,
    map: BitmapLayout,
    lane: SummaryLayout,
    full: SummaryLayout,
}

/// The free blocks. A copy of this is another view of the same blocks.
#[derive(Clone, Copy)]
pub(crate) struct FreeList<'m> {
    map: Bitmap<'m>,
    /// Words that may have a whole lane free, and are not free altogether. Advice.
    lane: Summary<'m>,
    /// Words that may be free altogether. Advice.
    full: Summary<'m>,
    /// N.
    blocks: u32,
}

/// Words that are looked into for a single block before the search is made in earnest.
const SCRAP_LOOKS: u32 = 4;

/// The places of the advisory summaries in a zone's line; the map's own has place 0.
const LANE_PLACE: usize = 1;
const FULL_PLACE: usize = 2;

impl<'m> FreeList<'m> {
    /// Room for blocks `1 ..= blocks`.
    pub(crate) const fn layout(carve: &mut Carve, blocks: u32) -> FreeListLayout {
        // The null block has a bit too, so that ids are bit numbers.
        let map = Bitmap::layout(carve, (blocks as usize).saturating_add(1));
        let lane = SummaryLayout::carve(carve, map.zones());
        FreeListLayout { blocks, map, lane, full: SummaryLayout::carve(carve, map.zones()) }
    }

    /// The list in memory: empty if the arena is fresh.
    pub(crate) fn view(arena: &mut Arena<'m>, layout: &FreeListLayout) -> Result<FreeList<'m>, Refusal> {
        let (map, zones) = Bitmap::view_with_zones(arena, &layout.map)?;
        let lane = layout.lane.view(arena, zones, LANE_PLACE)?;
        let full = layout.full.view(arena, zones, FULL_PLACE)?;
        Ok(FreeList { map, lane, full, blocks: layout.blocks })
    }

    /// All blocks are free. Only at initialization: nobody else uses the list yet.
    pub(crate) fn fill(&self) {
        for word in 0..self.map.words() {
            self.map.preset(word, self.legal(word));
        }
        self.map.show_all();
        self.lane.show_all();
        self.full.show_all();
    }

    /// Take up to `count` blocks. They go to `sink` as runs, in the order in which they were found, and are the
    /// caller's from then on. Returns how many: fewer than asked only if a pass over all words found nothing more.
    #[inline]
    pub(crate) fn take(&self, count: u32, hint: Hint, cursor: &Cursor, sink: &mut impl FnMut(Run)) -> u32 {
        if count == 1
            && let Some(id) = self.take_one(hint, cursor)
        {
            sink(Run { start: id, len: 1 });
            return 1;
        }
        Search::new(self, count, cursor.load(), sink).run(hint, cursor)
    }

    /// One block where it is looked for first. Nine steps in ten of a server ask for one block behind another.
    #[inline]
    fn take_one(&self, hint: Hint, cursor: &Cursor) -> Option<u32> {
        let (word, mask) = match hint {
            Hint::Any => (cursor.load().word as usize, u64::MAX),
            Hint::After(id) => (word_of(id.saturating_add(1)), mask_of(id.saturating_add(1))),
            Hint::Opens => return None,
        };
        if word >= self.map.words() {
            return None;
        }
        let taken = self.claim(word, |seen| lowest(seen & mask, 1));
        if taken != 0 {
            return Some(bit_at(word, taken.trailing_zeros()));
        }
        // Nowhere is room for a sequence to grow into: any block does, without looking for a good one.
        if self.lane.is_bare() && self.full.is_bare() { self.take_scrap(cursor) } else { None }
    }

    /// Any one block, if the summary shows it soon.
    fn take_scrap(&self, cursor: &Cursor) -> Option<u32> {
        let position = cursor.load();
        let mut from = position.word as usize;
        for _ in 0..SCRAP_LOOKS {
            let word = self.map.next(from)?;
            let taken = self.claim(word, |seen| lowest(seen, 1));
            if taken != 0 {
                cursor.store(Position { word: word as u32, ..position });
                return Some(bit_at(word, taken.trailing_zeros()));
            }
            self.map.tidy(word);
            from = word + 1;
        }
        None
    }

    /// Give back the blocks of a word. Returns those that were free already or are no blocks of this list: they are
    /// not counted as given back, and nothing else happened to them.
    #[inline]
    pub(crate) fn put_mask(&self, word: usize, mask: u64) -> u64 {
        let blocks = mask & self.legal(word);
        if blocks == 0 {
            return mask;
        }
        let before = self.map.set(word, blocks);
        self.advise(word, before, before | blocks);
        let twice = before & blocks;
        if planted(Plant::DoubleFreeUnseen) { 0 } else { twice | (mask & !blocks) }
    }

    /// Blocks on their way back to this list.
    #[inline(always)]
    pub(crate) fn gather(&self) -> Gather<impl FnMut(usize, u64) -> u64> {
        Gather::new(|word, mask| self.put_mask(word, mask))
    }

    /// Whether a block is free at this moment.
    pub(crate) fn is_free(&self, id: u32) -> bool {
        let word = word_of(id);
        word < self.map.words() && self.map.load(word) & mask_of(id) != 0
    }

    /// Number of free blocks. Exact at rest.
    pub(crate) fn count(&self) -> u64 {
        self.map.count()
    }

    /// Claim some of the free blocks of a word, as [`Bitmap::take`] does.
    #[inline(always)]
    fn claim(&self, word: usize, pick: impl FnMut(u64) -> u64) -> u64 {
        let Claim { before, taken } = self.map.claim(word, pick);
        if taken != 0 {
            self.advise(word, before, before & !taken);
        }
        taken
    }

    /// The word has just changed. Advice that has become wrong is withdrawn at once: leaving it to searchers costs more
    /// than it saves. A word is in one of the two summaries at most, so that a word that is taken and given back whole
    /// touches one of them.
    #[inline(always)]
    fn advise(&self, word: usize, before: u64, after: u64) {
        let (old, new) = (Room::of(before), Room::of(after));
        if old != new {
            self.advised(old).inspect(|summary| summary.hide(word));
            self.advised(new).inspect(|summary| summary.suggest(word));
        }
    }

    #[inline(always)]
    fn advised(&self, room: Room) -> Option<&Summary<'m>> {
        match room {
            Room::Scraps => None,
            Room::Lane => Some(&self.lane),
            Room::Full => Some(&self.full),
        }
    }

    /// The bits of a word that are blocks.
    #[inline(always)]
    fn legal(&self, word: usize) -> u64 {
        let last = word_of(self.blocks);
        let mask = match word.cmp(&last) {
            Ordering::Less => u64::MAX,
            Ordering::Equal => ones((self.blocks & (WORD_BITS - 1)) + 1),
            Ordering::Greater => 0,
        };
        if word == 0 { mask & !mask_of(0) } else { mask }
    }
}

/// What a word has to offer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    /// No lane is free as a whole.
    Scraps,
    /// A lane is.
    Lane,
    /// All of it is.
    Full,
}

impl Room {
    #[inline(always)]
    const fn of(word: u64) -> Room {
        match word {
            u64::MAX => Room::Full,
            word if lanes(word) != 0 => Room::Lane,
            _ => Room::Scraps,
        }
    }
}
