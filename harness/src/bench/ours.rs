//! Our candidates: the free list alone, and the whole pool with its ledger.

use super::allocator::{Allocator, Shape, User, Worker};
use kvledger_core::{
    Admission, BlockId, FreeBlocks, FreeCursor, Hint, Line, Pool, PoolConfig, Sequence, entries, lines,
};

/// The free list alone.
pub fn free_blocks(shape: Shape, user: User<'_>) {
    let mut memory = vec![Line::ZERO; FreeBlocks::bytes(shape.blocks).div_ceil(size_of::<Line>())];
    let list = FreeBlocks::init(&mut memory, shape.blocks).expect("the memory is as long as the list says");
    user(&FreeList { list, blocks: shape.blocks });
}

struct FreeList<'m> {
    list: FreeBlocks<'m>,
    blocks: u32,
}

impl Allocator for FreeList<'_> {
    fn worker(&self, index: usize, workers: usize) -> Box<dyn Worker + '_> {
        let start = u64::from(self.blocks) * index as u64 / workers as u64;
        Box::new(FreeListWorker { list: self.list, cursor: FreeCursor::at(BlockId(start as u32 & !63)) })
    }
}

struct FreeListWorker<'m> {
    list: FreeBlocks<'m>,
    cursor: FreeCursor,
}

impl Worker for FreeListWorker<'_> {
    fn take(&mut self, _: usize, hint: Hint, ids: &mut [BlockId]) -> bool {
        self.list.take(&mut self.cursor, hint, ids)
    }

    fn give(&mut self, _: usize, ids: &[BlockId]) {
        self.list.give(&mut self.cursor, ids).expect("a batch is given back once");
    }
}

/// Tokens in a block: any number would do.
const BLOCK_TOKENS: u32 = 16;

/// The pool: a sequence for each batch. It is opened, admitted and its blocks are taken into its table row; one that grows
/// is advanced by a block, which is admitted in the same call; at its end they go back. That is what the ledger, the
/// handles, the block words and the table cost on top of the free list.
pub fn pool(shape: Shape, user: User<'_>) {
    let config = PoolConfig::new(shape.blocks, BLOCK_TOKENS, shape.batches, shape.batch_max);
    let (mut memory, mut table) = (vec![Line::ZERO; lines(&config)], vec![0; entries(&config)]);
    let pool = Pool::init(&mut memory, &mut table, &config).expect("the memory is as long as the pool says");
    user(&WholePool { pool });
}

struct WholePool<'m> {
    pool: Pool<'m>,
}

impl Allocator for WholePool<'_> {
    fn worker(&self, _: usize, _: usize) -> Box<dyn Worker + '_> {
        Box::new(PoolWorker { pool: self.pool, sequences: Vec::new() })
    }
}

struct PoolWorker<'m> {
    pool: Pool<'m>,
    /// By place in the book.
    sequences: Vec<Sequence>,
}

impl PoolWorker<'_> {
    fn begin(&mut self, slot: usize, blocks: u32) -> bool {
        let Ok(sequence) = self.pool.open() else { return false };
        if self.pool.admit(sequence, &Admission::full(blocks * BLOCK_TOKENS, 0)).is_err() {
            self.pool.end(sequence).expect("it was opened here");
            return false;
        }
        let advanced = self.pool.advance(sequence, blocks * BLOCK_TOKENS).expect("what was promised is there");
        debug_assert_eq!(advanced.taken, blocks);
        if slot >= self.sequences.len() {
            self.sequences.resize(slot + 1, Sequence::default());
        }
        self.sequences[slot] = sequence;
        true
    }
}

impl Worker for PoolWorker<'_> {
    fn take(&mut self, slot: usize, hint: Hint, ids: &mut [BlockId]) -> bool {
        match hint {
            Hint::After(_) => {
                let tokens = ids.len() as u32 * BLOCK_TOKENS;
                self.pool.advance_growing(self.sequences[slot], tokens, 0).is_ok()
            }
            _ => self.begin(slot, ids.len() as u32),
        }
    }

    fn give(&mut self, slot: usize, _: &[BlockId]) {
        self.pool.end(self.sequences[slot]).expect("a sequence is ended once");
    }

    fn show(&mut self, slot: usize, ids: &mut [BlockId]) {
        let mut row = vec![0; ids.len()];
        let blocks = self.pool.export_row(self.sequences[slot], &mut row).expect("the row is as long as the batch");
        debug_assert_eq!(blocks as usize, ids.len());
        ids.iter_mut().zip(row).for_each(|(place, id)| *place = BlockId(id));
    }
}
