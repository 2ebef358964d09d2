//! The orders of eviction behind one interface, chosen once by the configuration.

use super::ring::{Layout as RingLayout, OpenRing, Ring};
use super::s3fifo::{Layout as S3FifoLayout, OpenS3Fifo, S3Fifo};
use super::sieve::{Layout as SieveLayout, OpenSieve, Sieve};
use super::uses::HITS_MAX;
use crate::answer::Refusal;
use crate::arena::{Arena, Carve};
use crate::identity::Identity;

/// Which idle block goes first: a `config::Cache` that is not off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Policy {
    /// The one that was given back longest ago.
    Lru,
    /// See `sieve.rs`.
    Sieve,
    /// See `s3fifo.rs`.
    S3Fifo,
}

/// What to do with a block whose turn it is. Who is asked decides by the word of the block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Look {
    /// It is taken: whoever is asked has just claimed it.
    Take,
    /// It stays where it is: it cannot go yet, and will be idle without being put back (it is retiring).
    Skip,
    /// It is held: it will be put back when it is idle again.
    Held,
    /// It is no idle block, and the order need not know it any more.
    Drop,
}

/// Where a queue lies.
#[derive(Clone, Copy)]
pub(crate) enum Layout {
    /// See [`Policy::Lru`].
    Lru(RingLayout),
    /// See [`Policy::Sieve`].
    Sieve(SieveLayout),
    /// See [`Policy::S3Fifo`].
    S3Fifo(S3FifoLayout),
}

/// A queue. A copy of this is another view of the same queue.
#[derive(Clone, Copy)]
pub(super) enum Queue<'m> {
    /// See [`Policy::Lru`].
    Lru(Ring<'m>),
    /// See [`Policy::Sieve`].
    Sieve(Sieve<'m>),
    /// See [`Policy::S3Fifo`].
    S3Fifo(S3Fifo<'m>),
}

impl<'m> Queue<'m> {
    pub(super) const fn layout(carve: &mut Carve, blocks: u32, policy: Policy) -> Layout {
        match policy {
            Policy::Lru => Layout::Lru(Ring::layout(carve, blocks)),
            Policy::Sieve => Layout::Sieve(Sieve::layout(carve, blocks)),
            Policy::S3Fifo => Layout::S3Fifo(S3Fifo::layout(carve, blocks)),
        }
    }

    pub(super) fn view(arena: &mut Arena<'m>, layout: &Layout) -> Result<Self, Refusal> {
        Ok(match layout {
            Layout::Lru(ring) => Queue::Lru(Ring::view(arena, ring)?),
            Layout::Sieve(sieve) => Queue::Sieve(Sieve::view(arena, sieve)?),
            Layout::S3Fifo(queues) => Queue::S3Fifo(S3Fifo::view(arena, queues)?),
        })
    }

    /// See `Order::published`.
    #[inline(always)]
    pub(super) fn published(&self, id: u32, name: Identity) {
        match self {
            Queue::Lru(_) => {}
            Queue::Sieve(sieve) => sieve.uses.published(id, name),
            Queue::S3Fifo(queues) => queues.uses.published(id, name),
        }
    }

    /// See `Order::hit`.
    #[inline(always)]
    pub(super) fn hit(&self, id: u32) {
        match self {
            Queue::Lru(_) => {}
            Queue::Sieve(sieve) => sieve.uses.hit(id, 1),
            Queue::S3Fifo(queues) => queues.uses.hit(id, HITS_MAX),
        }
    }

    /// For who has it alone, until [`OpenQueue::close`].
    #[inline(always)]
    pub(super) fn open(&self) -> OpenQueue<'m> {
        match self {
            Queue::Lru(ring) => {
                let mut ring = ring.open();
                // Each opening begins with the oldest; within one, blocks that were skipped are not asked again.
                ring.rewind();
                OpenQueue::Lru(ring)
            }
            Queue::Sieve(sieve) => OpenQueue::Sieve(sieve.open()),
            Queue::S3Fifo(queues) => OpenQueue::S3Fifo(queues.open()),
        }
    }
}

/// A queue in the hands of who has it alone.
#[expect(clippy::large_enum_variant, reason = "there is no heap, and one is made for each guard, in its place")]
pub(super) enum OpenQueue<'m> {
    /// See [`Policy::Lru`].
    Lru(OpenRing<'m>),
    /// See [`Policy::Sieve`].
    Sieve(OpenSieve<'m>),
    /// See [`Policy::S3Fifo`].
    S3Fifo(OpenS3Fifo<'m>),
}

impl OpenQueue<'_> {
    #[inline(always)]
    pub(super) fn close(&mut self) {
        match self {
            OpenQueue::Lru(ring) => ring.close(),
            OpenQueue::Sieve(sieve) => sieve.close(),
            OpenQueue::S3Fifo(queues) => queues.close(),
        }
    }

    #[inline]
    pub(super) fn append(&mut self, id: u32) {
        match self {
            OpenQueue::Lru(ring) => ring.push(id),
            OpenQueue::Sieve(sieve) => sieve.append(id),
            OpenQueue::S3Fifo(queues) => queues.append(id),
        }
    }

    #[inline]
    pub(super) fn pop(&mut self, look: impl FnMut(u32) -> Look) -> Option<u32> {
        match self {
            OpenQueue::Lru(ring) => oldest(ring, look),
            OpenQueue::Sieve(sieve) => sieve.pop(look),
            OpenQueue::S3Fifo(queues) => queues.pop(look),
        }
    }
}

/// LRU: from the oldest on. A block that is held is put back at the end, so its entry is worth nothing.
#[inline]
fn oldest(ring: &mut OpenRing<'_>, mut look: impl FnMut(u32) -> Look) -> Option<u32> {
    loop {
        let (position, id) = ring.next()?;
        match look(id) {
            Look::Take => {
                ring.clear(position);
                return Some(id);
            }
            Look::Skip => {}
            Look::Held | Look::Drop => ring.clear(position),
        }
    }
}
