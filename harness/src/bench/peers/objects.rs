//! `heapless::pool::object`: a stack of objects, linked through themselves. There is one a program, and it hands out owned
//! objects, not ids, so a block cannot be given back twice.

use crate::bench::allocator::{Allocator, Shape, User, Worker};
use heapless::pool::object::{Object, ObjectBlock};
use kvledger_core::{BlockId, Hint};
use std::sync::{Mutex, PoisonError};

heapless::object_pool!(BLOCKS: u32);

/// Objects that the pool was ever given: they stay in it until the program ends. Held while the pool is lent, because
/// there is one.
static MANAGED: Mutex<u32> = Mutex::new(0);

/// The one pool, with as many objects as blocks were asked for.
pub fn heapless_pool(shape: Shape, user: User<'_>) {
    let mut managed = MANAGED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut spare: Vec<Object<BLOCKS>> = Vec::new();
    if *managed < shape.blocks {
        let new: &'static mut [ObjectBlock<u32>] =
            (*managed..shape.blocks).map(|before| ObjectBlock::new(before + 1)).collect::<Vec<_>>().leak();
        new.iter_mut().for_each(|block| BLOCKS.manage(block));
        *managed = shape.blocks;
    } else {
        spare.extend((shape.blocks..*managed).map_while(|_| BLOCKS.request()));
    }
    user(&OnePool);
    // They go back into the pool, and only then may somebody else have it.
    drop(spare);
    drop(managed);
}

struct OnePool;

impl Allocator for OnePool {
    fn worker(&self, _: usize, _: usize) -> Box<dyn Worker + '_> {
        Box::new(ObjectWorker { batches: Vec::new() })
    }
}

struct ObjectWorker {
    /// By place in the book.
    batches: Vec<Vec<Object<BLOCKS>>>,
}

impl Worker for ObjectWorker {
    fn take(&mut self, slot: usize, _: Hint, ids: &mut [BlockId]) -> bool {
        if slot >= self.batches.len() {
            self.batches.resize_with(slot + 1, Vec::new);
        }
        let batch = &mut self.batches[slot];
        let before = batch.len();
        for id in ids {
            let Some(object) = BLOCKS.request() else {
                batch.truncate(before);
                return false;
            };
            *id = BlockId(*object);
            batch.push(object);
        }
        true
    }

    fn give(&mut self, slot: usize, _: &[BlockId]) {
        self.batches[slot].clear();
    }
}
