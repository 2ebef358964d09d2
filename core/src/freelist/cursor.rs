//! Where one driver of the free list looked last: a hint in one 64-bit cell, so that it can live in the caller's
//! memory, be shared and be garbage. What it holds costs time or contiguity at worst, never correctness.

use crate::sync::{AtomicU64, Relaxed};

/// What a cursor says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    /// The word of the last take or return.
    pub(super) word: u32,
    /// The block at which the last returned batch began, or the one behind the last batch that was taken.
    pub(super) hole: u32,
}

impl Position {
    const fn unpack(packed: u64) -> Position {
        Position { word: (packed >> 32) as u32, hole: packed as u32 }
    }

    const fn pack(self) -> u64 {
        (self.word as u64) << 32 | self.hole as u64
    }

    /// At a block.
    pub(super) const fn at(id: u32) -> Position {
        Position { word: id >> super::word::WORD_SHIFT, hole: id }
    }
}

/// A view of one cell, zeroed at first. Threads that share a cursor only spoil each other's hint.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'c> {
    cell: &'c AtomicU64,
}

impl<'c> Cursor<'c> {
    #[inline(always)]
    pub(crate) const fn new(cell: &'c AtomicU64) -> Cursor<'c> {
        Cursor { cell }
    }

    /// The next take looks here first: the caller starts at a place of its own, or gives back blocks from `id` on.
    #[inline(always)]
    pub(crate) fn aim(&self, id: u32) {
        self.store(Position::at(id));
    }

    #[inline(always)]
    pub(super) fn load(&self) -> Position {
        // O14 relaxed: advice.
        Position::unpack(self.cell.load(Relaxed))
    }

    #[inline(always)]
    pub(super) fn store(&self, position: Position) {
        // O14 relaxed: advice. Written only when it changes, so that a shared line stays shared.
        if self.load() != position {
            self.cell.store(position.pack(), Relaxed);
        }
    }
}
