//! The order in which idle blocks go, and what to do when somebody else is at it.
//!
//! Problem: an exact order is one for all, so it has a lock; and nobody here ever waits for anybody. The order is only a
//! preference, so who does not get the lock can do without.
//!
//! 1. [`Order::try_lock`]: one attempt; [`Order::lock_soon`]: a few. The guard gives the lock back.
//! 2. Who has it calls [`OrderGuard::adopt`], [`OrderGuard::append`] for blocks that have become idle, and
//!    [`OrderGuard::pop`] for the next one to go.
//! 3. Who does not get it puts blocks that have become idle where the next holder finds them
//!    ([`Order::put_unordered`]), and takes any idle block that it sees.
//! 4. Idle blocks whose identity is dead are in no order: [`Order::put_dead`], [`Order::take_dead`]. They go first.
//!
//! *A thread that stops with the lock* leaves the order as it is for good, and every other thread goes on in the way of 3.
//! *Progress.* `try_lock` and `lock_soon` are bounded, `append` makes a constant number of steps, `pop` as many as it
//! drops or skips entries; putting is lock-free, and so is taking a dead block.

use super::queue::{Layout as QueueLayout, Look, OpenQueue, Policy, Queue};
use super::waiting::{Layout as WaitingLayout, Waiting};
use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Cells, Span};
use crate::identity::Identity;
use crate::sync::{Acquire, AtomicU64, Plant, Relaxed, Release, planted};

/// Attempts of [`Order::lock_soon`]: about as long as an eviction of a few blocks takes.
const ATTEMPTS: u32 = 64;

/// Where an order lies.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    lock: Span<AtomicU64>,
    queue: QueueLayout,
    unordered: WaitingLayout,
    dead: WaitingLayout,
}

/// The order of the idle blocks. A copy of this is another view of the same order.
#[derive(Clone, Copy)]
pub(crate) struct Order<'m> {
    /// 0: nobody's.
    lock: Cells<'m, AtomicU64>,
    queue: Queue<'m>,
    unordered: Waiting<'m>,
    dead: Waiting<'m>,
}

impl<'m> Order<'m> {
    /// Room for blocks `1 ..= blocks`.
    pub(crate) const fn layout(carve: &mut Carve, blocks: u32, policy: Policy) -> Layout {
        Layout {
            lock: carve.region(1),
            queue: Queue::layout(carve, blocks, policy),
            unordered: Waiting::layout(carve, blocks),
            dead: Waiting::layout(carve, blocks),
        }
    }

    /// Empty if the arena is fresh.
    pub(crate) fn view(arena: &mut Arena<'m>, layout: &Layout) -> Result<Self, Refusal> {
        Ok(Order {
            lock: arena.cells(layout.lock)?,
            queue: Queue::view(arena, &layout.queue)?,
            unordered: Waiting::view(arena, &layout.unordered)?,
            dead: Waiting::view(arena, &layout.dead)?,
        })
    }

    /// Block `id` has just got `name`, and whoever calls this still has it alone. For the orders in which newcomers and
    /// hits count; nothing for LRU.
    #[inline(always)]
    pub(crate) fn published(&self, id: u32, name: Identity) {
        self.queue.published(id, name);
    }

    /// Block `id` was hit, idle or not. Without the lock: a hit may be lost if two come at once. Nothing for LRU, where
    /// coming back to the end is what counts.
    #[inline(always)]
    pub(crate) fn hit(&self, id: u32) {
        self.queue.hit(id);
    }

    /// The lock, if nobody has it.
    #[inline]
    pub(crate) fn try_lock(&self) -> Option<OrderGuard<'_, 'm>> {
        let lock = self.lock.at(0);
        // O31 acquire, pairs with O31 release in `OrderGuard::drop`.
        let is_mine = lock.load(Relaxed) == 0 && lock.compare_exchange(0, 1, Acquire, Relaxed).is_ok();
        is_mine.then(|| OrderGuard { order: self, queue: self.queue.open() })
    }

    /// The lock, if whoever has it gives it back soon.
    #[inline]
    pub(crate) fn lock_soon(&self) -> Option<OrderGuard<'_, 'm>> {
        let mut guard = self.try_lock();
        for _ in 1..ATTEMPTS {
            if guard.is_some() {
                break;
            }
            core::hint::spin_loop();
            guard = self.try_lock();
        }
        guard
    }

    /// A block has become idle while somebody else has the lock. Whoever has it next finds it.
    pub(crate) fn put_unordered(&self, id: u32) {
        self.unordered.put(id);
    }

    /// Whether [`OrderGuard::adopt`] would find something. One load.
    #[cfg(test)]
    pub(super) fn has_unordered(&self) -> bool {
        self.unordered.count() != 0
    }

    /// A block is idle and its identity is dead. Whether it was not known to be.
    pub(crate) fn put_dead(&self, id: u32) -> bool {
        self.dead.put(id)
    }

    /// A block that [`Order::put_dead`] has put. It is for the caller to see whether its word still says so. One load if
    /// there is none.
    #[inline]
    pub(crate) fn take_dead(&self) -> Option<u32> {
        self.dead.take()
    }

    /// Blocks that are known to be dead. Exact at rest, and never too few.
    #[inline(always)]
    pub(crate) fn dead(&self) -> u64 {
        self.dead.count()
    }
}

/// The order in the hands of who has the lock, which is given back when this is dropped.
pub(crate) struct OrderGuard<'a, 'm> {
    order: &'a Order<'m>,
    queue: OpenQueue<'m>,
}

impl OrderGuard<'_, '_> {
    /// Block `id` (not 0) has become idle, or is retiring and has a name.
    #[inline]
    pub(crate) fn append(&mut self, id: u32) {
        self.queue.append(id);
    }

    /// Append what others have put while they could not, in the order of their ids.
    #[inline]
    pub(crate) fn adopt(&mut self) {
        let queue = &mut self.queue;
        self.order.unordered.drain(|id| queue.append(id));
    }

    /// The next block to go: the first in the order of which `look` says that it is taken. `None` if there is none.
    /// Called again under the same guard it goes on where it was, and (LRU) blocks that were skipped are not asked again.
    #[inline]
    pub(crate) fn pop(&mut self, look: impl FnMut(u32) -> Look) -> Option<u32> {
        self.queue.pop(look)
    }
}

impl Drop for OrderGuard<'_, '_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.queue.close();
        // O31 release, pairs with O31 acquire in `Order::try_lock`: everything that was done to the queue.
        self.order.lock.at(0).store(0, if planted(Plant::RelaxedUnlock) { Relaxed } else { Release });
    }
}
