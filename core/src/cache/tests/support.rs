//! What the tests of the cache share.

use crate::arena::{Arena, Carve, LINE_BYTES, Line};
use std::boxed::Box;

/// Sizes of pools at which something changes.
pub(super) const SIZES: [u32; 7] = [1, 2, 3, 7, 64, 65, 1000];

/// A pseudo-random sequence (xorshift64*).
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ 0x9e37_79b9_7f4a_7c15)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// 0 ..= bound - 1.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        (((self.next() >> 32) * u64::from(bound)) >> 32) as u32
    }
}

/// A fresh arena with room for `carve`, for as long as the test process lives.
pub(super) fn arena(carve: &Carve) -> Arena<'static> {
    Arena::fresh(Box::leak(std::vec![Line::DIRTY; carve.bytes().div_ceil(LINE_BYTES)].into_boxed_slice()))
}
