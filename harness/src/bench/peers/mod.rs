//! What others use for a list of free ids: locked vectors, rings, a stack, bit maps. Published ones where there is a
//! crate, textbook ones written out here where there is none.
//!
//! Who sees double frees panics at one: none happens in a measurement, but the check is paid for.

mod bitmaps;
mod counted;
mod lists;
mod objects;
mod queues;
mod treiber;

pub use bitmaps::{flat_bitmap, locked_bitmap, sbitmap};
pub use counted::counted_bitmap;
pub use lists::{mutex_list, parking_lot_checked, parking_lot_list, spin_checked, spin_list};
pub use objects::heapless_pool;
pub use queues::{array_queue, heapless_queue};
pub use treiber::treiber;

use super::allocator::{Allocator, Shape, User, Worker};
use kvledger_core::{BlockId, Hint};

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
    fn take(&mut self, _: usize, _: Hint, _: &mut [BlockId]) -> bool {
        true
    }

    fn give(&mut self, _: usize, _: &[BlockId]) {}
}

/// All ids, the largest first: whoever hands out the last one first begins with 1.
fn all(blocks: u32) -> impl Iterator<Item = BlockId> {
    (1..=blocks).rev().map(BlockId)
}

/// What a candidate that sees a double free says.
#[cold]
fn double_free(id: u32) -> ! {
    panic!("block {id} was given back twice")
}
