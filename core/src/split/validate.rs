//! Whether words are a right plan of a batch: looked at from the outside, entry by entry, knowing what a plan must be and
//! not how one is made.

use super::batch::SplitBatch;
use super::layout::{SplitItem, SplitJoin};
use super::plan::SplitPlan;
use super::rows::{RowTile, each_row_tile};
use super::shape::{Checked, Split, WHOLE};
use crate::answer::Refusal;
use core::fmt;

/// What is wrong with a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SplitFault {
    /// What does not agree.
    pub what: &'static str,
    /// Of which entry.
    pub index: u32,
    /// What it should be.
    pub expected: u64,
    /// What it is.
    pub found: u64,
}

impl fmt::Display for SplitFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (entry {}): expected {}, found {}", self.what, self.index, self.expected, self.found)
    }
}

impl core::error::Error for SplitFault {}

impl Split {
    /// Whether `words` are a plan of this batch: every key that a row tile sees is in exactly one item of it, and no other
    /// is; parts are numbered without gaps, and each row tile that was cut is one join of its own; every item is one
    /// thread block's; a balanced plan keeps its bounds and a fixed one is cut at its chunks; what is not in use is empty.
    ///
    /// As [`read`](Split::read), and what is refused in a batch as in [`plan`](Split::plan). What else is wrong is a finding:
    /// `Ok(Err(fault))`. Cost: as of planning.
    pub fn validate(&self, batch: &SplitBatch<'_>, words: &[u32]) -> Result<Result<(), SplitFault>, Refusal> {
        let shape = self.checked()?;
        batch.check(&shape)?;
        let plan = self.read(words)?;
        Ok(starts(&shape, &plan).and_then(|()| row_tiles(&shape, batch, &plan)))
    }
}

fn equal(what: &'static str, index: u32, expected: impl Into<u64>, found: impl Into<u64>) -> Result<(), SplitFault> {
    let (expected, found) = (expected.into(), found.into());
    if expected == found { Ok(()) } else { Err(SplitFault { what, index, expected, found }) }
}

/// From 0 to the items in use, never back, and then nothing more.
fn starts(shape: &Checked, plan: &SplitPlan<'_>) -> Result<(), SplitFault> {
    let (mut before, items) = (0, plan.header().items);
    for (start, index) in plan.all_starts().iter().zip(0u32..) {
        if index == 0 || index >= shape.thread_blocks.get() {
            equal("item start", index, if index == 0 { 0 } else { items }, *start)?;
        }
        if *start < before {
            return Err(SplitFault {
                what: "item start goes back",
                index,
                expected: before.into(),
                found: (*start).into(),
            });
        }
        before = *start;
    }
    Ok(())
}

/// Walks row tiles, items and joins side by side.
struct Walk<I, J> {
    items: I,
    joins: J,
    next_item: u32,
    next_join: u32,
    next_part: u32,
    row_tiles: u32,
}

fn row_tiles(shape: &Checked, batch: &SplitBatch<'_>, plan: &SplitPlan<'_>) -> Result<(), SplitFault> {
    let header = plan.header();
    equal("sequences", 0, batch.lengths.len() as u64, header.sequences)?;
    let (items, joins) = (plan.all_items(), plan.all_joins());
    let mut walk = Walk { items, joins, next_item: 0, next_join: 0, next_part: 0, row_tiles: 0 };
    let mut answer = Ok(());
    each_row_tile(shape, batch, |row_tile| {
        if answer.is_ok() {
            answer = walk.row_tile(shape, &row_tile);
        }
    });
    answer?;
    equal("items in use", 0, walk.next_item, header.items)?;
    equal("joins in use", 0, walk.next_join, header.joins)?;
    equal("parts in use", 0, walk.next_part, header.parts)?;
    if shape.chunk_keys.is_none() {
        let cuts = shape.thread_blocks.get().saturating_sub(1);
        at_most("items of a balanced plan", u64::from(walk.row_tiles) + u64::from(cuts), header.items)?;
        at_most("parts of a balanced plan", u64::from(cuts) * 2, header.parts)?;
    }
    walk.rest()
}

fn at_most(what: &'static str, most: u64, found: u32) -> Result<(), SplitFault> {
    let found = u64::from(found);
    if found <= most { Ok(()) } else { Err(SplitFault { what, index: 0, expected: most, found }) }
}

/// Whether an item ends where it may: at the end of its row tile, or else at a border of its mode.
fn cut(shape: &Checked, index: u32, item: &SplitItem, ends_here: bool) -> Result<(), SplitFault> {
    let Some(chunk_keys) = shape.chunk_keys else {
        let keys = if ends_here { 0 } else { item.end_key.saturating_sub(item.first_key) };
        return equal("keys beyond the last key tile of an item", index, 0u32, keys % shape.tile_keys);
    };
    if !ends_here {
        equal("keys beyond the chunk of an item", index, 0u32, item.end_key % chunk_keys)?;
    }
    let last_key = item.end_key.saturating_sub(1);
    equal("chunk of the last key of an item", index, item.first_key / chunk_keys, last_key / chunk_keys)
}

impl<I: Iterator<Item = SplitItem>, J: Iterator<Item = SplitJoin>> Walk<I, J> {
    /// The items of one row tile, from its first key to its last.
    fn row_tile(&mut self, shape: &Checked, row_tile: &RowTile) -> Result<(), SplitFault> {
        self.row_tiles = self.row_tiles.saturating_add(1);
        let first_part = self.next_part;
        let mut first_key = row_tile.first_key;
        loop {
            let index = self.next_item;
            let item = self.items.next().unwrap_or(SplitItem::EMPTY);
            self.next_item = index.saturating_add(1);
            equal("sequence of an item", index, row_tile.sequence, item.sequence)?;
            equal("head of an item", index, row_tile.head, item.head)?;
            equal("first row of an item", index, row_tile.first_row, item.first_row)?;
            equal("first key of an item", index, first_key, item.first_key)?;
            let ends_here = item.end_key == row_tile.end_key;
            // A cut is inside of the row tile, and goes on: no item but that of a row tile without keys is empty.
            let is_inside = first_key < item.end_key && item.end_key < row_tile.end_key;
            if !(ends_here || is_inside) {
                return equal("end key of an item", index, row_tile.end_key, item.end_key);
            }
            cut(shape, index, &item, ends_here)?;
            if ends_here && first_key == row_tile.first_key {
                return equal("part of a whole row tile", index, WHOLE, item.part);
            }
            equal("part of an item", index, self.next_part, item.part)?;
            self.next_part = self.next_part.saturating_add(1);
            first_key = item.end_key;
            if ends_here {
                return self.join(row_tile, first_part);
            }
        }
    }

    fn join(&mut self, row_tile: &RowTile, first_part: u32) -> Result<(), SplitFault> {
        let index = self.next_join;
        let join = self.joins.next().unwrap_or(SplitJoin::EMPTY);
        self.next_join = index.saturating_add(1);
        equal("sequence of a join", index, row_tile.sequence, join.sequence)?;
        equal("head of a join", index, row_tile.head, join.head)?;
        equal("first row of a join", index, row_tile.first_row, join.first_row)?;
        equal("first part of a join", index, first_part, join.first_part)?;
        equal("parts of a join", index, self.next_part.saturating_sub(first_part), join.count)?;
        equal("reserved word of a join", index, 0u32, join.reserved)
    }

    /// Everything after what is in use.
    fn rest(self) -> Result<(), SplitFault> {
        for (item, index) in self.items.zip(self.next_item..) {
            equal("empty item", index, 1u32, u32::from(item == SplitItem::EMPTY))?;
        }
        for (join, index) in self.joins.zip(self.next_join..) {
            equal("empty join", index, 1u32, u32::from(join == SplitJoin::EMPTY))?;
        }
        Ok(())
    }
}
