//! Blocks in the order in which they came, from which a block is taken out by saying that it is somewhere else.
//!
//! Problem: a block that is hit leaves the middle of the order, and comes back at its end. A linked list would do that with
//! five stores to three lines that nobody has in his cache, and would want its lock for a hit. Here a hit does nothing.
//!
//! 1. A ring of block ids, and beside each block its *place*: an entry is good if the place of its block is the entry's
//!    own. [`OpenRing::push`] writes an entry at the tail and the place; an older entry of that block is *stale* from then on.
//! 2. [`OpenRing::next`] walks from the hand to the tail over good entries, and drops stale ones at the head.
//! 3. [`OpenRing::clear`] takes the entry just seen out.
//! 4. *Compaction*: stale entries stay until the head passes them, and would fill the ring if one old block stood at the
//!    head while others come and go. So when more than 3/4 of the ring is used, a reader goes from the tail of that moment
//!    down to the head, and a writer behind it: good entries move up to the writer in their order. A few steps are made at each
//!    push, no call ever does all of it.
//!
//! ```text
//!          head          read               write           start          tail
//!   ────────┼─────────────┼──────────────────┼───────────────┼──────────────┼────
//!           │ not looked  │ nothing is good  │ good ones,    │ pushed since │
//!           │ at yet      │ here             │ close up      │              │
//! ```
//!
//! *The ring is never full.* Let C be its capacity, C ≥ 2N and C ≥ 64, and each push make k = 4 steps. A block has one place,
//! so at most N entries are good. A compaction begins with u ≤ 3C/4 + 1 entries, so it is over after at most ⌈u/k⌉ ≤
//! 3C/16 + 2 pushes, when at most 15C/16 + 3 < C entries are used (C > 48). It leaves N good ones at most and what was pushed
//! meanwhile: C/2 + 3C/16 + 2 ≤ 3C/4 (C ≥ 32), so the next one does not begin before this one is over. Where C ≥ 4N it
//! leaves 7C/16 + 2, and the next one is 5C/16 pushes away: in the long run under 2 steps a push.
//!
//! *The hand* is a position, and moves with the entry before it: when the reader passes it, it goes where the writer is.
//!
//! Positions count up for ever in 64 bits; the low ones are the index. Everything here is relaxed: who opens a ring has it
//! alone, by the lock of `order.rs`. Memory: 4 bytes a block for the place, 16 to 32 for the ring.

use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Cells, Span};
use crate::sync::{AtomicU32, AtomicU64, Relaxed};

/// Entries that compaction looks at for each push.
const STEPS: u32 = 4;

/// The fewest entries of a ring.
const CAPACITY_MIN: usize = 64;

/// The most: places have 32 bits. Still twice the most blocks.
const CAPACITY_MAX: usize = 1 << 32;

/// Where a ring lies.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    entries: Span<AtomicU32>,
    places: Span<AtomicU32>,
    ends: Span<[AtomicU64; 8]>,
}

/// A ring. A copy of this is another view of the same ring.
#[derive(Clone, Copy)]
pub(super) struct Ring<'m> {
    /// Block ids, a power of two of them. 0: nothing.
    entries: Cells<'m, AtomicU32>,
    /// Block by block, the index of its entry.
    places: Cells<'m, AtomicU32>,
    ends: Cells<'m, [AtomicU64; 8]>,
}

impl<'m> Ring<'m> {
    /// Room for `blocks` blocks.
    pub(super) const fn layout(carve: &mut Carve, blocks: u32) -> Layout {
        let entries = carve.region(capacity(blocks));
        Layout { entries, places: carve.region(blocks as usize + 1), ends: carve.region(1) }
    }

    /// Empty if the arena is fresh.
    pub(super) fn view(arena: &mut Arena<'m>, layout: &Layout) -> Result<Self, Refusal> {
        let entries = arena.cells(layout.entries)?;
        Ok(Ring { entries, places: arena.cells(layout.places)?, ends: arena.cells(layout.ends)? })
    }

    /// For who has it alone, until [`OpenRing::close`].
    #[inline(always)]
    pub(super) fn open(&self) -> OpenRing<'m> {
        let [head, tail, read, write, hand, ..] = self.ends.at(0);
        let [head, tail, read, write, hand] = [head, tail, read, write, hand].map(|end| end.load(Relaxed));
        // As they are already, unless the memory is not what it should be; then no walk is longer than the ring.
        let head = head.max(tail.saturating_sub(self.entries.len() as u64)).min(tail);
        let is_compacting = head < read && read <= write && write <= tail;
        let (read, write) = if is_compacting { (read, write) } else { (0, 0) };
        OpenRing { ring: *self, head, tail, read, write, hand }
    }
}

#[cfg(test)]
impl Ring<'_> {
    /// As memory that somebody else has written in.
    pub(super) fn scramble(&self, mut end: impl FnMut() -> u64) {
        self.ends.at(0).iter().for_each(|cell| cell.store(end(), Relaxed));
    }
}

/// Entries for so many blocks.
const fn capacity(blocks: u32) -> usize {
    let wanted = (blocks as usize).saturating_mul(4).next_power_of_two();
    if wanted < CAPACITY_MIN {
        CAPACITY_MIN
    } else if wanted > CAPACITY_MAX {
        CAPACITY_MAX
    } else {
        wanted
    }
}

/// A ring in the hands of who has it alone.
pub(super) struct OpenRing<'m> {
    ring: Ring<'m>,
    /// The oldest entry.
    head: u64,
    /// Behind the newest.
    tail: u64,
    /// Compaction has looked at what is from here on.
    read: u64,
    /// Where compaction has put what was good. 0: there is none under way, or it has moved nothing and is over.
    write: u64,
    /// What [`OpenRing::next`] looks at next, if it is not before the head.
    hand: u64,
}

impl OpenRing<'_> {
    /// What was done is there for the next who opens it.
    #[inline(always)]
    pub(super) fn close(&self) {
        let [head, tail, read, write, hand, ..] = self.ring.ends.at(0);
        head.store(self.head, Relaxed);
        tail.store(self.tail, Relaxed);
        read.store(self.read, Relaxed);
        write.store(self.write, Relaxed);
        hand.store(self.hand, Relaxed);
    }

    /// The hand goes back to the head.
    #[inline(always)]
    pub(super) fn rewind(&mut self) {
        self.hand = self.head;
    }

    /// Whether the hand has passed the newest good entry. It moves to the next one if not.
    pub(super) fn is_done(&mut self) -> bool {
        loop {
            self.hand = self.past_the_gap(self.hand.max(self.head));
            if self.hand >= self.tail {
                return true;
            }
            if self.good(self.hand).is_some() {
                return false;
            }
            self.hand += 1;
        }
    }

    /// Block `id` (not 0) is the newest, wherever it was before.
    #[inline]
    pub(super) fn push(&mut self, id: u32) {
        debug_assert!(id != 0, "the null block is in no order");
        if self.used() >= self.ring.entries.len() as u64 {
            // Never, by the arithmetic above. The oldest is forgotten; nothing is lost but its turn.
            debug_assert!(false, "the ring is full");
            self.drop_head();
        }
        self.put(self.tail, id);
        self.tail += 1;
        if self.write == 0 && self.used() > self.limit() {
            (self.read, self.write) = (self.tail, self.tail);
        }
        if self.write != 0 {
            self.compact();
        }
    }

    /// The next good entry from the hand on, which moves past it: where it is, and its block.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(u64, u32)> {
        loop {
            self.hand = self.past_the_gap(self.hand.max(self.head));
            if self.hand >= self.tail {
                return None;
            }
            let position = self.hand;
            // Out of the gap at once: compaction is about to move what has just been passed into its upper end.
            self.hand = self.past_the_gap(position + 1);
            if let Some(id) = self.good(position) {
                return Some((position, id));
            }
            if position == self.head {
                self.drop_head();
            }
        }
    }

    /// Take out what [`OpenRing::next`] has just found.
    #[inline]
    pub(super) fn clear(&mut self, position: u64) {
        self.ring.entries.at(self.index(position)).store(0, Relaxed);
        if position == self.head {
            self.drop_head();
        }
    }

    /// Take block `id` out, wherever it is. Whether it was in it.
    pub(super) fn remove(&mut self, id: u32) -> bool {
        let was_there = self.has(id);
        if was_there {
            let place = self.ring.places.at(id as usize).load(Relaxed);
            self.ring.entries.at(place as usize).store(0, Relaxed);
        }
        was_there
    }

    /// Whether block `id` is in it.
    #[inline]
    pub(super) fn has(&self, id: u32) -> bool {
        let place = self.ring.places.at(id as usize).load(Relaxed);
        self.ring.entries.at(place as usize).load(Relaxed) == id
    }

    /// Entries between the head and the tail, good or not.
    #[inline(always)]
    pub(super) fn used(&self) -> u64 {
        self.tail - self.head
    }

    /// More used entries than this, and compaction begins.
    #[inline(always)]
    fn limit(&self) -> u64 {
        let capacity = self.ring.entries.len() as u64;
        capacity / 2 + capacity / 4
    }

    #[inline(always)]
    fn index(&self, position: u64) -> usize {
        position as usize & (self.ring.entries.len() - 1)
    }

    #[inline(always)]
    fn put(&self, position: u64, id: u32) {
        let index = self.index(position);
        self.ring.entries.at(index).store(id, Relaxed);
        self.ring.places.at(id as usize).store(index as u32, Relaxed);
    }

    /// Where compaction leaves nothing good there is nothing to look at.
    #[inline(always)]
    fn past_the_gap(&self, position: u64) -> u64 {
        if position >= self.read && position < self.write { self.write } else { position }
    }

    /// The block of a good entry.
    #[inline(always)]
    fn good(&self, position: u64) -> Option<u32> {
        let index = self.index(position);
        let id = self.ring.entries.at(index).load(Relaxed);
        (id != 0 && self.ring.places.at(id as usize).load(Relaxed) == index as u32).then_some(id)
    }

    /// The oldest entry is no good.
    #[inline(always)]
    fn drop_head(&mut self) {
        self.head += 1;
        self.finish();
    }

    /// Compaction is over when the reader and the head have met.
    #[inline(always)]
    fn finish(&mut self) {
        if self.write != 0 && self.read <= self.head {
            self.head = self.write;
            (self.read, self.write) = (0, 0);
        }
    }

    /// A few steps of it.
    fn compact(&mut self) {
        for _ in 0..STEPS {
            if self.read <= self.head {
                return self.finish();
            }
            self.read -= 1;
            if let Some(id) = self.good(self.read) {
                self.write -= 1;
                if self.write != self.read {
                    self.put(self.write, id);
                }
            }
            if self.hand == self.read {
                self.hand = self.write;
            }
        }
        self.finish();
    }
}
