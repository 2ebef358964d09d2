//! The obvious single-threaded version of the pool, and the driver that compares the two (feature `model`, needs std).
//!
//! [`Model`] keeps lists and counts them; it has no atomics, no free list, no buckets, no cleverness. [`Operation`]s are
//! six bytes each, from a seed or from a fuzzer, and become calls. [`Comparison`] makes each on both, compares the answers and then all
//! observers: counts, snapshot, every sequence, group and account, every table row, what every prefix finds, events, copy
//! orders, the release number, the audit. A walk over all short histories of very small pools is a test (`exhaustive.rs`).
//! [`shrink`] makes a failing list of operations short; [`rerun`] makes the calls of a dump again (`recorder`).

mod accounts;
mod black_box;
mod blocks;
mod chains;
mod choose;
mod compare;
mod epochs;
mod events;
#[cfg(all(test, not(loom)))]
mod exhaustive;
mod forks;
mod growth;
mod history;
mod leaving;
mod limits;
mod make;
mod names;
mod observe;
mod observers;
mod operation;
mod pool;
mod promises;
mod publication;
mod rerun;
mod shrink;
mod tell;
mod time;
mod transfers;
mod windows;

pub use black_box::BlackBox;
pub use compare::{Comparison, Difference, Maker, Tally, configuration, operations};
pub use history::{Broken, History, in_order, merge};
pub use make::{Made, make};
pub use operation::Operation;
pub use pool::Model;
pub use rerun::{Again, rerun};
pub use shrink::shrink;

use core::fmt;

/// A small deterministic generator (SplitMix64, Steele et al. 2014): the same seed gives the same run everywhere.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub const fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next 64 bits.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number below `bound` (0 for a bound of 0). Not exactly uniform; close enough for tests.
    pub const fn below(&mut self, bound: u32) -> u32 {
        (((self.next() >> 32) * bound as u64) >> 32) as u32
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((index, operation)) = self.operation {
            write!(f, "operation {index} ({operation:?}): ")?;
        }
        f.write_str(&self.what)
    }
}
