//! What others use for a list of free ids: a vector under a lock, and a bounded queue.

use super::allocator::{Allocator, Shape, User, Worker};
use crossbeam_queue::ArrayQueue;
use kvledger_core::BlockId;
use std::sync::{Mutex, PoisonError};

/// The load alone.
pub fn nothing(_: Shape, user: User<'_>) {
    user(&Nothing);
}

struct Nothing;

impl Allocator for Nothing {
    fn worker(&self, _: usize, _: usize) -> Box<dyn Worker + '_> {
        Box::new(Nothing)
    }
}

impl Worker for Nothing {
    fn take(&mut self, _: usize, _: &mut [BlockId]) -> bool {
        true
    }

    fn give(&mut self, _: usize, _: &[BlockId]) {}
}

fn all(blocks: u32) -> impl Iterator<Item = BlockId> {
    (1..=blocks).rev().map(BlockId)
}

/// The last ids of a vector, all or nothing.
fn pop(free: &mut Vec<BlockId>, ids: &mut [BlockId]) -> bool {
    let Some(rest) = free.len().checked_sub(ids.len()) else {
        return false;
    };
    ids.copy_from_slice(&free[rest..]);
    free.truncate(rest);
    true
}

/// `std::sync::Mutex<Vec>`.
pub fn mutex_vec(shape: Shape, user: User<'_>) {
    user(&Mutex::new(all(shape.blocks).collect::<Vec<_>>()));
}

impl Allocator for Mutex<Vec<BlockId>> {
    fn worker(&self, _: usize, _: usize) -> Box<dyn Worker + '_> {
        Box::new(self)
    }
}

impl Worker for &Mutex<Vec<BlockId>> {
    fn take(&mut self, _: usize, ids: &mut [BlockId]) -> bool {
        pop(&mut self.lock().unwrap_or_else(PoisonError::into_inner), ids)
    }

    fn give(&mut self, _: usize, ids: &[BlockId]) {
        self.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(ids);
    }
}

/// The same under a lock that spins.
pub fn spin_vec(shape: Shape, user: User<'_>) {
    user(&spin::Mutex::new(all(shape.blocks).collect::<Vec<_>>()));
}

impl Allocator for spin::Mutex<Vec<BlockId>> {
    fn worker(&self, _: usize, _: usize) -> Box<dyn Worker + '_> {
        Box::new(self)
    }
}

impl Worker for &spin::Mutex<Vec<BlockId>> {
    fn take(&mut self, _: usize, ids: &mut [BlockId]) -> bool {
        pop(&mut self.lock(), ids)
    }

    fn give(&mut self, _: usize, ids: &[BlockId]) {
        self.lock().extend_from_slice(ids);
    }
}

/// `crossbeam_queue::ArrayQueue`, one id after the other.
pub fn array_queue(shape: Shape, user: User<'_>) {
    let queue = ArrayQueue::new(shape.blocks as usize);
    for id in all(shape.blocks) {
        let _ = queue.push(id);
    }
    user(&queue);
}

impl Allocator for ArrayQueue<BlockId> {
    fn worker(&self, _: usize, _: usize) -> Box<dyn Worker + '_> {
        Box::new(self)
    }
}

impl Worker for &ArrayQueue<BlockId> {
    fn take(&mut self, slot: usize, ids: &mut [BlockId]) -> bool {
        for index in 0..ids.len() {
            match self.pop() {
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
            // Never full: it has room for every block.
            let _ = self.push(id);
        }
    }
}
