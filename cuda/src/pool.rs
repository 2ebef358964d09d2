//! The blocks of a pool in a device's memory.

use crate::device::Space;
use crate::launch::{Refusal, Wrong, shape_bytes};
use crate::memory::Memory;
use crate::raw::kvk_shape;
use core::ffi::c_void;

/// Memory that holds the null block and N usable ones, and where in a block its tokens are.
#[derive(Debug)]
pub struct BlockPool {
    memory: Memory,
    shape: kvk_shape,
    blocks: u32,
}

impl BlockPool {
    /// Takes memory for a pool of so many usable blocks. Errors: those of a launch that copies all of them; of `memory`,
    /// `Short` if there is not enough.
    pub fn new(memory: Memory, shape: kvk_shape, blocks: u32) -> Result<BlockPool, Refusal> {
        crate::launch::check_shape(&shape, blocks)?;
        let (needed, available) = (shape_bytes(&shape, blocks).unwrap_or(u64::MAX), memory.bytes() as u64);
        if needed > available {
            return Err(Refusal::new("memory", Wrong::Short { needed, available }));
        }
        Ok(BlockPool { memory, shape, blocks })
    }

    /// Its memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Where it is.
    pub fn space(&self) -> Space {
        self.memory.space()
    }

    /// Where the tokens of a block are.
    pub fn shape(&self) -> &kvk_shape {
        &self.shape
    }

    /// N: ids 1 to this are usable.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// The null block's first byte.
    pub fn base(&self) -> *mut c_void {
        self.memory.pointer()
    }

    /// Bytes of one token in one piece, times the tokens of a block.
    pub(crate) fn piece_bytes(&self) -> u64 {
        self.shape.token_bytes * u64::from(self.shape.block_tokens)
    }

    /// Bytes from one block to the next, if a block is one piece of memory with nothing between it and the next.
    pub fn whole_block_bytes(&self) -> Option<u64> {
        let bytes = self.piece_bytes() * u64::from(self.shape.pieces);
        let is_dense = self.shape.pieces == 1 || self.shape.piece_stride as u64 == self.piece_bytes();
        (is_dense && self.shape.block_stride as u64 == bytes).then_some(bytes)
    }
}
