//! What the tests of the free list share.

use crate::arena::{Arena, Carve, LINE_BYTES, Line};
use crate::freelist::{Cursor, FreeList, Hint, Run};
use crate::sync::AtomicU64;
use std::boxed::Box;
use std::vec::Vec;

/// A pseudo-random sequence (xorshift64*).
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0xD134_2543_DE82_EF95) ^ 0x9E37_79B9_7F4A_7C15)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// 0 ..= bound - 1.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        (((self.next() >> 32) * u64::from(bound)) >> 32) as u32
    }
}

/// Memory for `carve`, for as long as the test process lives, so that threads may be left behind in it.
pub(super) fn memory(carve: &Carve) -> &'static mut [Line] {
    Box::leak(std::vec![Line::ZERO; carve.bytes().div_ceil(LINE_BYTES)].into_boxed_slice())
}

/// A list with all blocks free.
pub(super) fn list(blocks: u32) -> FreeList<'static> {
    let mut carve = Carve::new();
    let layout = FreeList::layout(&mut carve, blocks);
    let list = FreeList::view(&mut Arena::fresh(memory(&carve)), &layout).expect("the memory is as long as stated");
    list.fill();
    list
}

/// The ids of a run.
pub(super) fn ids(run: Run) -> core::ops::Range<u32> {
    run.start..run.end()
}

/// Take with a cursor that knows nothing.
pub(super) fn taken(list: &FreeList, count: u32, hint: Hint) -> Vec<u32> {
    let mut all = Vec::new();
    let got = list.take(count, hint, &Cursor::new(&AtomicU64::new(0)), &mut |run| all.extend(ids(run)));
    assert_eq!(got as usize, all.len());
    all
}

/// Give back a run. How many were refused.
pub(super) fn give(list: &FreeList, start: u32, len: u32) -> u64 {
    let mut gather = list.gather();
    gather.push_run(Run { start, len });
    gather.finish()
}
