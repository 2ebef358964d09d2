//! Treiber's stack of indices (1986): the head is an index and a tag in one word, so that a pop that was overtaken fails
//! even if the same index is on top again. A batch is popped by walking it and pushed as a chain: one compare-exchange.

use crate::bench::allocator::{Allocator, Shape, User, Worker};
use kvledger_core::{BlockId, Hint};
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

/// A line of its own: neighbours of a hot word would be measured too.
#[repr(align(128))]
struct Head(AtomicU64);

struct Stack {
    head: Head,
    /// By id; 0 ends the chain.
    next: Vec<AtomicU32>,
}

const fn head(tag: u64, top: u32) -> u64 {
    (tag >> 32).wrapping_add(1) << 32 | top as u64
}

impl Stack {
    fn pop(&self, ids: &mut [BlockId]) -> bool {
        let mut seen = self.head.0.load(Acquire);
        loop {
            let mut top = seen as u32;
            let mut found = 0;
            for place in ids.iter_mut() {
                if top == 0 {
                    break;
                }
                *place = BlockId(top);
                found += 1;
                top = self.next[top as usize].load(Relaxed);
            }
            if found < ids.len() {
                let now = self.head.0.load(Acquire);
                if now == seen {
                    return false;
                }
                seen = now;
                continue;
            }
            match self.head.0.compare_exchange_weak(seen, head(seen, top), AcqRel, Acquire) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
    }

    fn push(&self, ids: &[BlockId]) {
        let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return };
        for pair in ids.windows(2) {
            self.next[pair[0].0 as usize].store(pair[1].0, Relaxed);
        }
        let mut seen = self.head.0.load(Relaxed);
        loop {
            self.next[last.0 as usize].store(seen as u32, Relaxed);
            match self.head.0.compare_exchange_weak(seen, head(seen, first.0), Release, Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }
}

/// The stack, batches chained.
pub fn treiber(shape: Shape, user: User<'_>) {
    let next = |id| if id == shape.blocks { 0 } else { id + 1 };
    let next = (0..=shape.blocks).map(|id| AtomicU32::new(next(id))).collect();
    user(&Stack { head: Head(AtomicU64::new(1)), next });
}

impl Allocator for Stack {
    fn worker(&self, _: usize, _: usize) -> Box<dyn Worker + '_> {
        Box::new(self)
    }
}

impl Worker for &Stack {
    fn take(&mut self, _: usize, _: Hint, ids: &mut [BlockId]) -> bool {
        self.pop(ids)
    }

    fn give(&mut self, _: usize, ids: &[BlockId]) {
        self.push(ids);
    }
}
