//! Bounded rings of ids, one id an operation.

use super::all;
use crate::bench::allocator::{Allocator, Shape, User, Worker};
use crossbeam_queue::ArrayQueue;
use kvledger_core::{BlockId, Hint};
use std::thread;

/// A ring that has room for all ids.
trait Ring: Sync {
    fn push(&self, id: BlockId) -> bool;
    fn pop(&self) -> Option<BlockId>;
}

impl Ring for ArrayQueue<BlockId> {
    #[inline]
    fn push(&self, id: BlockId) -> bool {
        ArrayQueue::push(self, id).is_ok()
    }

    #[inline]
    fn pop(&self) -> Option<BlockId> {
        ArrayQueue::pop(self)
    }
}

type HeaplessQueue<const N: usize> = heapless::mpmc::Queue<BlockId, N>;

impl<const N: usize> Ring for HeaplessQueue<N> {
    #[inline]
    fn push(&self, id: BlockId) -> bool {
        self.enqueue(id).is_ok()
    }

    #[inline]
    fn pop(&self) -> Option<BlockId> {
        self.dequeue()
    }
}

struct OneByOne<R>(R);

impl<R: Ring> Allocator for OneByOne<R> {
    fn worker(&self, _: usize, _: usize) -> Box<dyn Worker + '_> {
        Box::new(self)
    }
}

impl<R: Ring> Worker for &OneByOne<R> {
    fn take(&mut self, slot: usize, _: Hint, ids: &mut [BlockId]) -> bool {
        for index in 0..ids.len() {
            match self.0.pop() {
                Some(id) => ids[index] = id,
                None => {
                    self.give(slot, &ids[..index]);
                    return false;
                }
            }
        }
        true
    }

    fn give(&mut self, _: usize, ids: &[BlockId]) {
        for &id in ids {
            // It has room for every id, but heapless's refuses while another thread is in the middle of a call; and both
            // are full after a double free, which they do not notice.
            for _ in 0..REFUSALS_MAX {
                if self.0.push(id) {
                    break;
                }
                thread::yield_now();
            }
        }
    }
}

/// Refusals after which a full ring is believed to be full.
const REFUSALS_MAX: u32 = 100_000;

fn lend<R: Ring>(ring: R, shape: Shape, user: User<'_>) {
    for id in all(shape.blocks).collect::<Vec<_>>().into_iter().rev() {
        ring.push(id);
    }
    user(&OneByOne(ring));
}

/// `crossbeam_queue::ArrayQueue`.
pub fn array_queue(shape: Shape, user: User<'_>) {
    lend(ArrayQueue::new(shape.blocks as usize), shape, user);
}

/// `heapless::mpmc::Queue`, the next of three sizes: its capacity is part of its type.
pub fn heapless_queue(shape: Shape, user: User<'_>) {
    match shape.blocks {
        ..=0x400 => lend(boxed::<0x400>(), shape, user),
        0x401..=0x1_0000 => lend(boxed::<0x1_0000>(), shape, user),
        _ => lend(boxed::<0x10_0000>(), shape, user),
    }
}

impl<R: Ring> Ring for Box<R> {
    fn push(&self, id: BlockId) -> bool {
        (**self).push(id)
    }

    fn pop(&self) -> Option<BlockId> {
        (**self).pop()
    }
}

/// On the heap, by way of a stack that is large enough: there is no other constructor.
#[expect(deprecated, reason = "its authors say that a stopped thread stops the others; that is measured")]
fn boxed<const N: usize>() -> Box<HeaplessQueue<N>> {
    let stack = 4 * size_of::<HeaplessQueue<N>>() + (1 << 20);
    let made = thread::Builder::new().stack_size(stack).spawn(|| Box::new(HeaplessQueue::<N>::new()));
    made.and_then(|thread| thread.join().map_err(|_| std::io::Error::other("it died")))
        .expect("a thread with a stack for the queue")
}
