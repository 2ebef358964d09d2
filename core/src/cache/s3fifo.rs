//! S3-FIFO (Yang et al., SOSP 2023): a small queue of newcomers, a main queue of what was hit again while it was there, and
//! the names of what left the small queue without that, which go to the main queue if they come back soon.
//!
//! In the paper a hit leaves an object where it is. Here a hit makes the block somebody's, and when it is idle again it comes
//! back:
//!
//! * its entry stays where it is meanwhile, and coming back finds it there and does nothing;
//! * if its turn came while it was held, the entry is taken out, and the block comes back to the main queue: it was in use;
//! * a block that is retiring when its turn comes goes round once more;
//! * the small queue has a tenth of what is in both (the paper: of the capacity, which here is shared with blocks that are
//!   in no queue);
//! * hits of a block before it was idle for the first time count too.
//!
//! One `pop` moves on or takes out each entry at most as often as it has hits, and twice.

use super::ghosts::{Ghosts, Layout as GhostsLayout};
use super::queue::Look;
use super::ring::{Layout as RingLayout, OpenRing, Ring};
use super::uses::{HITS_MAX, Layout as UsesLayout, Uses};
use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Cells, Span};
use crate::sync::{AtomicU64, Relaxed};

/// The small queue has one part in so many.
const SMALL: u64 = 10;

/// Where the queues lie.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    small: RingLayout,
    main: RingLayout,
    lengths: Span<[AtomicU64; 8]>,
    uses: UsesLayout,
    ghosts: GhostsLayout,
}

/// The queues. A copy of this is another view of the same queues.
#[derive(Clone, Copy)]
pub(super) struct S3Fifo<'m> {
    small: Ring<'m>,
    main: Ring<'m>,
    /// Blocks in the small and in the main queue.
    lengths: Cells<'m, [AtomicU64; 8]>,
    pub(super) uses: Uses<'m>,
    ghosts: Ghosts<'m>,
}

impl<'m> S3Fifo<'m> {
    pub(super) const fn layout(carve: &mut Carve, blocks: u32) -> Layout {
        Layout {
            small: Ring::layout(carve, blocks),
            main: Ring::layout(carve, blocks),
            lengths: carve.region(1),
            uses: Uses::layout(carve, blocks),
            // As many as the main queue can have.
            ghosts: Ghosts::layout(carve, blocks - blocks / SMALL as u32),
        }
    }

    pub(super) fn view(arena: &mut Arena<'m>, layout: &Layout) -> Result<Self, Refusal> {
        Ok(S3Fifo {
            small: Ring::view(arena, &layout.small)?,
            main: Ring::view(arena, &layout.main)?,
            lengths: arena.cells(layout.lengths)?,
            uses: Uses::view(arena, &layout.uses)?,
            ghosts: Ghosts::view(arena, &layout.ghosts)?,
        })
    }

    /// For who has it alone, until [`OpenS3Fifo::close`].
    pub(super) fn open(&self) -> OpenS3Fifo<'m> {
        let [small, main, ..] = self.lengths.at(0);
        OpenS3Fifo {
            small: Fifo::open(&self.small, small.load(Relaxed)),
            main: Fifo::open(&self.main, main.load(Relaxed)),
            queues: *self,
        }
    }
}

#[cfg(all(test, not(loom)))]
impl S3Fifo<'_> {
    /// As memory that somebody else has written in.
    pub(super) fn scramble(&self, length: u64) {
        let [small, main, ..] = self.lengths.at(0);
        small.store(length, Relaxed);
        main.store(length, Relaxed);
    }
}

/// The queues in the hands of who has them alone.
pub(super) struct OpenS3Fifo<'m> {
    small: Fifo<'m>,
    main: Fifo<'m>,
    queues: S3Fifo<'m>,
}

impl OpenS3Fifo<'_> {
    pub(super) fn close(&self) {
        self.small.ring.close();
        self.main.ring.close();
        let [small, main, ..] = self.queues.lengths.at(0);
        small.store(self.small.length, Relaxed);
        main.store(self.main.length, Relaxed);
    }

    pub(super) fn append(&mut self, id: u32) {
        let S3Fifo { uses, ghosts, .. } = &self.queues;
        if uses.is_new(id) {
            // Whatever it was before is gone.
            self.small.remove(id);
            self.main.remove(id);
            let came_back = ghosts.take(uses.fingerprint(id));
            (if came_back { &mut self.main } else { &mut self.small }).push(id);
        } else if !self.small.ring.has(id) && !self.main.ring.has(id) {
            self.main.push(id);
        }
    }

    pub(super) fn pop(&mut self, mut look: impl FnMut(u32) -> Look) -> Option<u32> {
        let all = self.small.length.saturating_add(self.main.length);
        for _ in 0..all.saturating_mul(HITS_MAX + 2) {
            let all = self.small.length.saturating_add(self.main.length);
            let from_small = self.main.length == 0 || self.small.length > (all / SMALL).max(1);
            let taken = if from_small { self.leave_small(&mut look) } else { self.leave_main(&mut look) };
            if taken.is_some() {
                return taken;
            }
        }
        None
    }

    /// The oldest newcomer is taken, or goes where it belongs.
    fn leave_small(&mut self, look: &mut impl FnMut(u32) -> Look) -> Option<u32> {
        let S3Fifo { uses, ghosts, .. } = &self.queues;
        let id = self.small.pop()?;
        if uses.hits(id) > 1 {
            uses.take_all(id);
            self.main.push(id);
            return None;
        }
        match look(id) {
            Look::Take => {
                ghosts.put(uses.fingerprint(id));
                return Some(id);
            }
            Look::Skip => self.small.push(id),
            Look::Held | Look::Drop => {}
        }
        None
    }

    /// The oldest of the main queue is taken, or goes round once more.
    fn leave_main(&mut self, look: &mut impl FnMut(u32) -> Look) -> Option<u32> {
        let id = self.main.pop()?;
        if self.queues.uses.take(id) {
            self.main.push(id);
            return None;
        }
        match look(id) {
            Look::Take => return Some(id),
            Look::Skip => self.main.push(id),
            Look::Held | Look::Drop => {}
        }
        None
    }
}

/// A queue that knows how many blocks it has.
struct Fifo<'m> {
    ring: OpenRing<'m>,
    length: u64,
}

impl<'m> Fifo<'m> {
    /// Not longer than its ring, unless the memory is not what it should be; then no walk is longer than that.
    fn open(ring: &Ring<'m>, length: u64) -> Fifo<'m> {
        let ring = ring.open();
        let length = length.min(ring.used());
        Fifo { ring, length }
    }

    /// Block `id`, which is not in it, is the last.
    fn push(&mut self, id: u32) {
        self.ring.push(id);
        self.length += 1;
    }

    /// The first block leaves.
    fn pop(&mut self) -> Option<u32> {
        self.ring.rewind();
        let first = self.ring.next();
        if let Some((position, _)) = first {
            self.ring.clear(position);
        }
        // A length that the ring does not bear out (the memory was not what it should be) is mended here.
        self.length = if first.is_some() { self.length.saturating_sub(1) } else { 0 };
        first.map(|(_, id)| id)
    }

    /// Block `id` leaves, if it is in it.
    fn remove(&mut self, id: u32) {
        if self.ring.remove(id) {
            self.length = self.length.saturating_sub(1);
        }
    }
}
