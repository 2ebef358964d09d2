//! Block tables of cases: rows of ids, with what must not be read around them.

use super::pool::{At, PoolShape};

/// What stands where no kernel may look: an id that no pool has.
pub const GUARD: u32 = 0xDEAD_BEEF;

/// A table, as it is in device memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    /// The entries of each row.
    pub rows: Vec<Vec<u32>>,
    /// The row of each sequence; empty: sequence s has row s.
    pub row_of: Vec<u32>,
    /// Entries of a row that may be read.
    pub columns: u32,
    /// From one row to the next, in entries; what is between is [`GUARD`].
    pub row_stride: u32,
}

/// What the table says of one key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// It is there.
    At {
        /// The block.
        block: u32,
        /// The token in it.
        token: u32,
    },
    /// The table has no block of the pool for it.
    NoBlock,
    /// It is beyond the columns.
    Beyond,
}

impl Table {
    /// The entries in memory. The last row ends with its columns: what is read behind them is outside of the allocation.
    pub fn entries(&self) -> Vec<u32> {
        let mut entries = vec![GUARD; self.row_stride as usize * self.rows.len()];
        for (row, at) in self.rows.iter().zip((0..).step_by(self.row_stride as usize)) {
            entries[at..at + row.len()].copy_from_slice(row);
        }
        let end = self.row_stride as usize * self.rows.len().saturating_sub(1) + self.columns as usize;
        entries.truncate(end);
        entries
    }

    /// Where a key of a sequence is.
    pub fn find(&self, shape: &PoolShape, sequence: u32, key: u32) -> Found {
        let column = key / shape.block_tokens;
        if column >= self.columns {
            return Found::Beyond;
        }
        let row = self.row_of.get(sequence as usize).copied().unwrap_or(sequence);
        match self.rows[row as usize].get(column as usize) {
            Some(block) if shape.has_block(*block) => Found::At { block: *block, token: key % shape.block_tokens },
            _ => Found::NoBlock,
        }
    }

    /// The same, for a head.
    pub fn place(&self, shape: &PoolShape, sequence: u32, key: u32, head: u32) -> Option<At> {
        match self.find(shape, sequence, key) {
            Found::At { block, token } => Some(At { block, token, head }),
            _ => None,
        }
    }
}
