//! Where row tiles are cut, in both modes, and who gets which piece. Counting and writing are this one function with two
//! different listeners: what is counted is what is written.

use super::batch::SplitBatch;
use super::layout::{SplitItem, SplitJoin};
use super::rows::{RowTile, each_row_tile};
use super::shape::{Checked, WHOLE};
use core::num::{NonZeroU32, NonZeroU64};

/// How many entries of a plan a batch needs.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SplitCounts {
    /// Pieces of work.
    pub items: u32,
    /// Row tiles that were cut.
    pub joins: u32,
    /// Partial results.
    pub parts: u32,
    /// Row tiles.
    pub row_tiles: u32,
    /// What the thread block with the most to do costs: key tiles, and the overhead of its items.
    pub cost_max: u64,
    /// What all of them cost together, were nothing cut.
    pub cost: u64,
}

/// Is told what a plan consists of, in order.
pub(super) trait Listener {
    /// The next item, of the thread block that is at work.
    fn item(&mut self, item: SplitItem);
    /// The row tile of the last items is a join of them.
    fn join(&mut self, join: SplitJoin);
    /// The next thread block begins with the item of this number.
    fn thread_block(&mut self, first_item: u32);
}

/// Nobody: the counts are enough.
pub(super) struct Nobody;

impl Listener for Nobody {
    fn item(&mut self, _: SplitItem) {}
    fn join(&mut self, _: SplitJoin) {}
    fn thread_block(&mut self, _: u32) {}
}

/// Cuts a batch that was checked. Cost: O(row tiles + thread blocks), and O(query tokens) if they have positions.
pub(super) fn cut(shape: &Checked, batch: &SplitBatch<'_>, listener: &mut impl Listener) -> SplitCounts {
    let mut knife = Knife::new(shape, batch);
    let mut counts = SplitCounts { cost: knife.cost, ..SplitCounts::default() };
    each_row_tile(shape, batch, |row_tile| {
        counts.row_tiles = counts.row_tiles.saturating_add(1);
        let RowTile { sequence, head, first_row, mut first_key, .. } = row_tile;
        let first_part = counts.parts;
        loop {
            let Some(end_key) = knife.piece(shape, first_key, row_tile.end_key) else {
                knife.next_thread_block(&mut counts);
                listener.thread_block(counts.items);
                continue;
            };
            let is_whole = first_key == row_tile.first_key && end_key == row_tile.end_key;
            let part = if is_whole { WHOLE } else { counts.parts };
            listener.item(SplitItem { sequence, head, first_row, first_key, end_key, part });
            counts.items = counts.items.saturating_add(1);
            counts.parts = counts.parts.saturating_add(u32::from(!is_whole));
            first_key = end_key;
            if end_key == row_tile.end_key {
                break;
            }
        }
        let count = counts.parts.saturating_sub(first_part);
        if count > 0 {
            listener.join(SplitJoin { sequence, head, first_row, first_part, count, reserved: 0 });
            counts.joins = counts.joins.saturating_add(1);
        }
    });
    while knife.next_thread_block(&mut counts) {
        listener.thread_block(counts.items);
    }
    counts
}

/// Decides how much of a row tile the thread block at work still gets.
struct Knife {
    /// What the whole batch costs: each row tile its key tiles and one overhead.
    cost: u64,
    /// What this thread block has been given.
    given: u64,
    /// Thread blocks that are not at work yet.
    left: u32,
    share: Share,
}

enum Share {
    /// Each thread block is given as much: its part of the cost, and one overhead for the cut at its end. Of G of them each
    /// gets at least its part, because less than that is left only when what is left does not pay a cut.
    Equal { payload: u64 },
    /// Whole chunks; a thread block ends where its part of the cost does, counted from the first one's begin. `rest` is
    /// what does not divide, one for each of the first ones.
    Chunks { chunk_keys: NonZeroU32, part: u64, rest: u64, before: u64, end: u64 },
}

impl Knife {
    fn new(shape: &Checked, batch: &SplitBatch<'_>) -> Knife {
        let overhead = u64::from(shape.split.overhead_tiles);
        let thread_blocks = NonZeroU64::from(shape.thread_blocks);
        let (mut cost, mut pieces_cost) = (0u64, 0u64);
        each_row_tile(shape, batch, |row_tile| {
            cost = cost.saturating_add(shape.tiles(row_tile.keys())).saturating_add(overhead);
            if let Some(chunk_keys) = shape.chunk_keys {
                pieces_cost = pieces_cost.saturating_add(chunked_cost(shape, &row_tile, chunk_keys));
            }
        });
        let share = match shape.chunk_keys {
            None => Share::Equal { payload: cost.div_ceil(thread_blocks.get()).saturating_add(overhead) },
            Some(chunk_keys) => {
                let (part, rest) = (pieces_cost / thread_blocks, pieces_cost % thread_blocks);
                Share::Chunks { chunk_keys, part, rest, before: 0, end: part.saturating_add(rest.min(1)) }
            }
        };
        Knife { cost, given: 0, left: shape.thread_blocks.get().saturating_sub(1), share }
    }

    /// Where the next piece ends that this thread block is given; `None` if it has enough, and another one is there.
    fn piece(&mut self, shape: &Checked, first_key: u32, end_key: u32) -> Option<u32> {
        let overhead = u64::from(shape.split.overhead_tiles);
        let tiles = shape.tiles(end_key.saturating_sub(first_key));
        let cost = tiles.saturating_add(overhead);
        match self.share {
            Share::Equal { payload } => {
                let room = payload.saturating_sub(self.given);
                if room >= cost || self.left == 0 {
                    self.given = self.given.saturating_add(cost);
                    return Some(end_key);
                }
                let taken = u32::try_from(room.checked_sub(overhead)?).ok().filter(|taken| *taken > 0)?;
                self.given = payload;
                // Fewer tiles than are left, so this is below the end.
                Some(first_key.saturating_add(taken.saturating_mul(shape.tile_keys.get())).min(end_key))
            }
            Share::Chunks { chunk_keys, before, end, .. } => {
                if self.left > 0 && before.saturating_add(self.given) >= end && self.given > 0 {
                    return None;
                }
                let end_key = chunk_end(first_key, chunk_keys).min(end_key);
                let tiles = shape.tiles(end_key.saturating_sub(first_key));
                self.given = self.given.saturating_add(tiles).saturating_add(overhead);
                Some(end_key)
            }
        }
    }

    /// Goes on to the next thread block; false if there is none.
    fn next_thread_block(&mut self, counts: &mut SplitCounts) -> bool {
        counts.cost_max = counts.cost_max.max(self.given);
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        if let Share::Chunks { part, rest, before, end, .. } = &mut self.share {
            *before = before.saturating_add(self.given);
            *rest = rest.saturating_sub(1);
            *end = end.saturating_add(*part).saturating_add((*rest).min(1));
        }
        self.given = 0;
        true
    }
}

/// The first multiple of a chunk after this key.
fn chunk_end(key: u32, chunk_keys: NonZeroU32) -> u32 {
    (key / chunk_keys).saturating_add(1).saturating_mul(chunk_keys.get())
}

/// What the pieces of one row tile cost in the fixed mode.
fn chunked_cost(shape: &Checked, row_tile: &RowTile, chunk_keys: NonZeroU32) -> u64 {
    let overhead = u64::from(shape.split.overhead_tiles);
    let first_end = chunk_end(row_tile.first_key, chunk_keys).min(row_tile.end_key);
    let first = shape.tiles(first_end.saturating_sub(row_tile.first_key)).saturating_add(overhead);
    // The rest begins at a multiple of the chunk, which is one of the key tile.
    let rest = row_tile.end_key.saturating_sub(first_end);
    let overheads = overhead.saturating_mul(u64::from(rest.div_ceil(chunk_keys.get())));
    first.saturating_add(shape.tiles(rest)).saturating_add(overheads)
}
