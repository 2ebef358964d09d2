//! How often a block was hit since it was published, beside the block: for the orders in which that counts.
//!
//! ```text
//! fingerprint of the name 32 | .. | new 1 | hits 2
//! ```
//!
//! Who publishes a block has it alone and writes its cell; a hit adds to it with a plain load and store, and so does who
//! has the lock of the order take from it. Two at once lose a hit, which is a preference a little off.

use super::hash::hash;
use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Cells, Span};
use crate::identity::Identity;
use crate::sync::{AtomicU64, Relaxed};

/// Hits that are counted.
pub(super) const HITS_MAX: u64 = 3;

/// The hits of a cell.
const HITS: u64 = 0b11;

/// Set until the block comes into the order for the first time under its name.
const NEW: u64 = 0b100;

/// Where the fingerprint begins.
const FINGERPRINT_SHIFT: u32 = 32;

/// Where the cells lie.
pub(super) type Layout = Span<AtomicU64>;

/// Hits of all blocks. A copy of this is another view of the same hits.
#[derive(Clone, Copy)]
pub(super) struct Uses<'m>(Cells<'m, AtomicU64>);

impl<'m> Uses<'m> {
    /// Room for `blocks` blocks.
    pub(super) const fn layout(carve: &mut Carve, blocks: u32) -> Layout {
        carve.region(blocks as usize + 1)
    }

    /// No hits if the arena is fresh.
    pub(super) fn view(arena: &mut Arena<'m>, layout: &Layout) -> Result<Self, Refusal> {
        Ok(Uses(arena.cells(*layout)?))
    }

    /// A block got a name. It has not been hit.
    pub(super) fn published(&self, id: u32, name: Identity) {
        self.set(id, hash(name) >> FINGERPRINT_SHIFT << FINGERPRINT_SHIFT | NEW);
    }

    /// A block was hit. Writes nothing if it has been hit `most` times already.
    #[inline]
    pub(super) fn hit(&self, id: u32, most: u64) {
        let cell = self.get(id);
        if cell & HITS < most.min(HITS_MAX) {
            self.set(id, cell + 1);
        }
    }

    /// Hits that are left.
    #[inline]
    pub(super) fn hits(&self, id: u32) -> u64 {
        self.get(id) & HITS
    }

    /// Take one hit away; whether there was one.
    #[inline]
    pub(super) fn take(&self, id: u32) -> bool {
        let cell = self.get(id);
        let has_some = cell & HITS != 0;
        if has_some {
            self.set(id, cell - 1);
        }
        has_some
    }

    /// Take all hits away.
    pub(super) fn take_all(&self, id: u32) {
        self.set(id, self.get(id) & !HITS);
    }

    /// Whether the block came for the first time under its name. From now on it did not.
    #[inline]
    pub(super) fn is_new(&self, id: u32) -> bool {
        let cell = self.get(id);
        let is_new = cell & NEW != 0;
        if is_new {
            self.set(id, cell & !NEW);
        }
        is_new
    }

    /// Of the name that was published last.
    pub(super) fn fingerprint(&self, id: u32) -> u32 {
        (self.get(id) >> FINGERPRINT_SHIFT) as u32
    }

    #[inline(always)]
    fn get(&self, id: u32) -> u64 {
        self.0.at(id as usize).load(Relaxed)
    }

    #[inline(always)]
    fn set(&self, id: u32, cell: u64) {
        self.0.at(id as usize).store(cell, Relaxed);
    }
}
