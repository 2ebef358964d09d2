//! What a cache of idle blocks would hit: several orders of eviction over the prefixes of a trace, at several capacities,
//! beside what an eviction that knows the future could do.
//!
//! 1. [`Accesses`] names the identified blocks of every request (rule K).
//! 2. [`Policy`] says which block goes. [`Lru`], [`Sieve`] and [`S3Fifo`] know the past, [`Belady`] the future.
//! 3. [`hits`] asks for each request in order (rule L): the blocks in the cache from block 0 on without a gap are hits; then
//!    all its blocks are touched, the last first, and the cache is cut back to its capacity.
//!
//! Touching a request's last block first makes children older than their parents, so that an eviction in the order of last
//! use never leaves a block whose parent is gone. SIEVE and S3-FIFO do not keep that order: such a block is in the cache and
//! cannot be hit, which is part of what they lose here.

mod accesses;
mod belady;
mod list;
mod lru;
mod s3fifo;
mod sieve;
#[cfg(test)]
mod tests;

pub use accesses::Accesses;
pub use belady::Belady;
pub(crate) use list::List;
pub use lru::Lru;
pub use s3fifo::S3Fifo;
pub use sieve::Sieve;

use serde::Serialize;

/// A block, by its place among all names: below [`Accesses::names`].
pub type Name = u32;

/// An order of eviction.
pub trait Policy {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// Whether the cache has it.
    fn has(&self, block: Name) -> bool;

    /// A request uses it: it is put in, or is used again. Whether it was put in.
    fn touch(&mut self, block: Name) -> bool;

    /// Takes out blocks until at most `capacity` are left; how many.
    fn evict_to(&mut self, capacity: usize) -> u64;
}

/// What came of a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Hits {
    /// Blocks that the cache may keep; 0: as many as there are.
    pub capacity: u64,
    /// Identified blocks that were found.
    pub hits: u64,
    /// Identified blocks that were asked for.
    pub lookups: u64,
    /// Blocks put in.
    pub insertions: u64,
    /// Blocks taken out.
    pub evictions: u64,
}

/// Asks `policy`, which is empty, for every request of `accesses`, with room for `capacity` blocks (0: for all).
pub fn hits(policy: &mut dyn Policy, accesses: &Accesses, capacity: usize) -> Hits {
    let mut figures = Hits { capacity: capacity as u64, ..Hits::default() };
    for blocks in accesses.requests() {
        figures.lookups += blocks.len() as u64;
        figures.hits += blocks.iter().take_while(|block| policy.has(**block)).count() as u64;
        for &block in blocks.iter().rev() {
            figures.insertions += u64::from(policy.touch(block));
        }
        if capacity > 0 {
            figures.evictions += policy.evict_to(capacity);
        }
    }
    figures
}
