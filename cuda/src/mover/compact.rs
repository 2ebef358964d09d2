//! Compaction: used blocks move to the low end of the pool, and tables follow.
//!
//! The ledger of `kvledger-core` names blocks by their ids and has no call that renames them: this is for tables that the
//! caller keeps himself, such as those of a pool that is about to become smaller.

use super::{Mover, refused};
use crate::device::Address;
use crate::error::Error;
use crate::launch::{Launch, Rewrite};
use crate::memory::Memory;
use crate::pool::BlockPool;
use crate::raw::{kvk_copy_pair, kvk_rewrite_params};
use crate::simultaneous::Launches;
use crate::status::Status;
use crate::stream::Stream;

/// Which blocks move where. None of them is copied to a block that was in use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compaction {
    /// From, to.
    moves: Vec<(u32, u32)>,
    /// By block: where it is after it; itself if it does not move. The null block is the first.
    moved: Vec<u32>,
}

/// Rows of block ids in device memory, from its beginning.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    /// Where.
    pub memory: &'a Memory,
    /// How many rows.
    pub rows: u32,
    /// Entries of a row.
    pub columns: u32,
    /// Entries from one row to the next.
    pub row_stride: i64,
}

impl Compaction {
    /// Moves the highest used blocks to the lowest free ones until all used blocks are below all free ones. `is_used` has
    /// an entry for the null block, which does not move, and for each of the pool. Cost: O(blocks).
    pub fn of(is_used: &[bool]) -> Compaction {
        let mut moved: Vec<u32> = (0..).take(is_used.len()).collect();
        let mut moves = Vec::new();
        let (mut low, mut high) = (1, is_used.len().saturating_sub(1));
        while low < high {
            if is_used[low] {
                low += 1;
            } else if !is_used[high] {
                high -= 1;
            } else {
                moves.push((high as u32, low as u32));
                moved[high] = low as u32;
                (low, high) = (low + 1, high - 1);
            }
        }
        Compaction { moves, moved }
    }

    /// From, to.
    pub fn moves(&self) -> &[(u32, u32)] {
        &self.moves
    }

    /// By block: where it is after it.
    pub fn moved(&self) -> &[u32] {
        &self.moved
    }
}

impl Mover {
    /// Moves the blocks, and then changes the ids in a table. No other work may use these blocks or this table meanwhile:
    /// what was enqueued on other streams is waited for by [`Stream::wait_event`]. Ids that are none of the pool are left, and
    /// reported in `status`.
    ///
    /// Errors: `Refused`: `Count` if the compaction is of another pool, `Short` or a stride of the table, `Room`; `Lost`.
    pub fn compact(
        &mut self,
        stream: &Stream,
        pool: &BlockPool,
        compaction: &Compaction,
        table: Table<'_>,
        status: &Status,
    ) -> Result<(), Error> {
        let refuse = |refusal| refused("compact", refusal);
        let mut rewrite = rewrite_of(pool, table, status);
        rewrite.check_moved(&compaction.moved).map_err(refuse)?;
        rewrite.check_room(table.memory.bytes() as u64).map_err(refuse)?;
        let tokens = pool.shape().block_tokens;
        let pair = |(source, destination): &(u32, u32)| kvk_copy_pair {
            source: *source,
            destination: *destination,
            tokens,
            reserved: 0,
        };
        let pairs: Vec<_> = compaction.moves.iter().map(pair).collect();
        self.check_room("compact", "moves", &pairs)?;
        self.check_room("compact", "moved", &compaction.moved)?;
        let ends = vec![pairs.len()];
        self.launch_pairs(stream, pool, pool, &Launches { pairs, ends })?;
        self.lists.send(stream, &compaction.moved, |Address(list)| {
            rewrite.params.moved = list as usize as *const u32;
            // SAFETY: the list is this one, which was checked, and stays in its slot until this is done; the table is
            // memory of the device and as long as it is said to be.
            unsafe { stream.launch(&Launch::Rewrite(rewrite)) }
        })
    }
}

fn rewrite_of(pool: &BlockPool, table: Table<'_>, status: &Status) -> Rewrite {
    let params = kvk_rewrite_params {
        entries: table.memory.pointer(),
        moved: core::ptr::null(),
        status: status.pointer(),
        row_stride: table.row_stride,
        rows: table.rows,
        columns: table.columns,
        blocks: pool.blocks(),
        reserved: 0,
    };
    Rewrite { params }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_blocks_end_up_below_free_ones() {
        let used = |ids: &[u32]| -> Vec<bool> { (0..=9).map(|block| ids.contains(&block)).collect() };
        let compaction = Compaction::of(&used(&[2, 5, 8, 9]));
        assert_eq!(compaction.moves(), [(9, 1), (8, 3), (5, 4)]);
        assert_eq!(compaction.moved(), [0, 1, 2, 3, 4, 4, 6, 7, 3, 1]);
        for nothing in [&[][..], &[1, 2, 3], &[1, 2, 3, 4, 5, 6, 7, 8, 9]] {
            assert!(Compaction::of(&used(nothing)).moves().is_empty(), "{nothing:?}");
        }
        assert!(Compaction::of(&[]).moves().is_empty());
    }
}
