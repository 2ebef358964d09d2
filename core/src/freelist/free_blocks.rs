//! The free list by itself, for who keeps count elsewhere: no promises, no tables, no epochs. `bench` measures this
//! beside other allocators.

use super::runs::Run;
use super::{Cursor, FreeList, FreeListLayout, Hint};
use crate::answer::{Argument, Refusal};
use crate::arena::{Arena, Carve, Line};
use crate::config::BLOCKS_MAX;
use crate::ids::BlockId;
use crate::sync::AtomicU64;
use core::fmt;

/// A lock-free free list of blocks `1 ..= N` in the caller's memory, about 0.141 bytes a block.
///
/// ```
/// use kvledger_core::{BlockId, FreeBlocks, FreeCursor, Hint, Line};
///
/// let mut memory = vec![Line::ZERO; FreeBlocks::bytes(1000).div_ceil(size_of::<Line>())];
/// let list = FreeBlocks::init(&mut memory, 1000).unwrap();
/// let mut cursor = FreeCursor::default();
/// let mut batch = [BlockId::NULL; 17];
/// assert!(list.take(&mut cursor, Hint::Opens, &mut batch));
/// assert_eq!(list.count(), 983);
/// assert_eq!(list.give(&mut cursor, &batch), Ok(()));
/// assert_eq!(list.give(&mut cursor, &batch[..2]).unwrap_err().blocks, 2);
/// ```
#[derive(Clone, Copy)]
pub struct FreeBlocks<'m> {
    list: FreeList<'m>,
}

/// Where one user of a [`FreeBlocks`] looked last. Any cursor goes with any list; one for each thread is best.
#[repr(transparent)]
#[derive(Debug, Default)]
pub struct FreeCursor {
    cell: AtomicU64,
}

impl FreeCursor {
    /// A cursor that looks at `id` first: threads that begin far apart do not meet.
    pub fn at(id: BlockId) -> FreeCursor {
        let cursor = FreeCursor::default();
        cursor.view().aim(id.0);
        cursor
    }

    fn view(&self) -> Cursor<'_> {
        Cursor::new(&self.cell)
    }
}

/// Some ids of a batch were not the caller's to give: free already, named twice, or no blocks of the list. The others
/// were given back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GivenTwice {
    /// How many.
    pub blocks: u32,
}

impl fmt::Display for GivenTwice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of the blocks given back were free already or are none of this list", self.blocks)
    }
}

impl core::error::Error for GivenTwice {}

impl<'m> FreeBlocks<'m> {
    const fn carved(blocks: u32) -> (FreeListLayout, usize) {
        let mut carve = Carve::new();
        let layout = FreeList::layout(&mut carve, blocks);
        (layout, carve.bytes())
    }

    /// Bytes of memory for a list of `blocks` blocks.
    pub const fn bytes(blocks: u32) -> usize {
        FreeBlocks::carved(blocks).1
    }

    /// A list in `memory` with blocks `1 ..= blocks` free.
    ///
    /// # Errors
    /// `Invalid`: `Blocks` if not in 1 ..= 2^31 - 2, `Memory` if shorter than [`FreeBlocks::bytes`]; `memory` is as it was.
    pub fn init(memory: &'m mut [Line], blocks: u32) -> Result<FreeBlocks<'m>, Refusal> {
        if blocks == 0 || blocks > BLOCKS_MAX {
            return Err(Refusal::invalid(Argument::Blocks));
        }
        let (layout, bytes) = FreeBlocks::carved(blocks);
        // Asked before the first region is carved, which zeroes it: memory that is refused stays as it is.
        if size_of_val(memory) < bytes {
            return Err(Refusal::invalid(Argument::Memory));
        }
        let list = FreeList::view(&mut Arena::fresh(memory), &layout)?;
        list.fill();
        Ok(FreeBlocks { list })
    }

    /// Take `out.len()` blocks: all or nothing. `false` if so many were not found; blocks that another thread was taking
    /// or giving at that moment may have been missed.
    ///
    /// Any number of threads at once; lock-free. Cost: two atomic operations for each word that blocks are found in.
    pub fn take(&self, cursor: &mut FreeCursor, hint: Hint, out: &mut [BlockId]) -> bool {
        let Ok(count) = u32::try_from(out.len()) else {
            return false;
        };
        let mut rest = &mut *out;
        let found = self.list.take(count, hint, &cursor.view(), &mut |run: Run| {
            // Never more than asked for, so there is always room.
            if let Some((places, behind)) = core::mem::take(&mut rest).split_at_mut_checked(run.len as usize) {
                places.iter_mut().zip(run.start..).for_each(|(place, id)| *place = BlockId(id));
                rest = behind;
            }
        });
        if found == count {
            return true;
        }
        let mut gather = self.list.gather();
        for id in out.iter().take(found as usize) {
            gather.push(id.0);
        }
        gather.finish();
        false
    }

    /// Give back blocks, in any order. The next take with this cursor looks there first.
    ///
    /// Any number of threads at once; one atomic operation for each word's worth of neighbours in `ids`, and a few more
    /// to show what was empty.
    ///
    /// # Errors
    /// [`GivenTwice`]: exactly those ids that were free at that moment, also in a race, and those that are no blocks.
    pub fn give(&self, cursor: &mut FreeCursor, ids: &[BlockId]) -> Result<(), GivenTwice> {
        let mut gather = self.list.gather();
        let mut rest = ids;
        while let Some((run, behind)) = Run::leading(rest) {
            gather.push_run(run);
            rest = behind;
        }
        if let Some(first) = ids.first() {
            cursor.view().aim(first.0);
        }
        match gather.finish() {
            0 => Ok(()),
            refused => Err(GivenTwice { blocks: u32::try_from(refused).unwrap_or(u32::MAX) }),
        }
    }

    /// Number of free blocks; exact while nobody else uses the list.
    pub fn count(&self) -> u64 {
        self.list.count()
    }

    /// Whether a block is free at this moment.
    pub fn is_free(&self, id: BlockId) -> bool {
        self.list.is_free(id.0)
    }
}
