//! SIEVE (Zhang et al., NSDI 2024): a queue in the order of arrival, a mark for what was hit since, and a hand that goes from
//! old to new, takes marks away, and takes out the first block that has none.
//!
//! In the paper a hit leaves an object where it is. Here a hit makes the block somebody's, and when it is idle again it comes
//! back; so its entry stays in the ring meanwhile, and coming back finds it there and does nothing. A block is put at the
//! end when it comes for the first time under its name. The hand passes blocks that are held, and takes their marks away
//! like any others'.
//!
//! The hand goes round at most twice for one block: the first time takes the marks away.

use super::queue::Look;
use super::ring::{Layout as RingLayout, OpenRing, Ring};
use super::uses::{Layout as UsesLayout, Uses};
use crate::answer::Refusal;
use crate::arena::{Arena, Carve};

/// Times that the hand goes back to the head for one block.
const ROUNDS: u32 = 2;

/// Where the queue lies.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    ring: RingLayout,
    uses: UsesLayout,
}

/// The queue. A copy of this is another view of the same queue.
#[derive(Clone, Copy)]
pub(super) struct Sieve<'m> {
    ring: Ring<'m>,
    pub(super) uses: Uses<'m>,
}

impl<'m> Sieve<'m> {
    pub(super) const fn layout(carve: &mut Carve, blocks: u32) -> Layout {
        Layout { ring: Ring::layout(carve, blocks), uses: Uses::layout(carve, blocks) }
    }

    pub(super) fn view(arena: &mut Arena<'m>, layout: &Layout) -> Result<Self, Refusal> {
        Ok(Sieve { ring: Ring::view(arena, &layout.ring)?, uses: Uses::view(arena, &layout.uses)? })
    }

    /// For who has it alone, until [`OpenSieve::close`].
    pub(super) fn open(&self) -> OpenSieve<'m> {
        OpenSieve { ring: self.ring.open(), uses: self.uses }
    }
}

/// The queue in the hands of who has it alone.
pub(super) struct OpenSieve<'m> {
    ring: OpenRing<'m>,
    uses: Uses<'m>,
}

impl OpenSieve<'_> {
    pub(super) fn close(&self) {
        self.ring.close();
    }

    pub(super) fn append(&mut self, id: u32) {
        if self.uses.is_new(id) || !self.ring.has(id) {
            self.ring.push(id);
        }
    }

    pub(super) fn pop(&mut self, mut look: impl FnMut(u32) -> Look) -> Option<u32> {
        let mut rounds = 0;
        while rounds <= ROUNDS {
            let found = self.ring.next();
            // As soon as it has passed the newest, so that what is put behind that has a round before its turn.
            if self.ring.is_done() {
                self.ring.rewind();
                rounds += 1;
            }
            let Some((position, id)) = found else { continue };
            if self.uses.take(id) {
                continue;
            }
            match look(id) {
                Look::Take => {
                    self.ring.clear(position);
                    return Some(id);
                }
                Look::Drop => self.ring.clear(position),
                Look::Skip | Look::Held => {}
            }
        }
        None
    }
}
