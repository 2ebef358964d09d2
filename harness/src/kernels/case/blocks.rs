//! Cases of kernels that take blocks as bytes.

use super::super::table::Table;

/// Where the bytes of a block's tokens are: `kvk_shape`, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pieces {
    /// From one block to the next.
    pub block_stride: u64,
    /// From one piece of a block to the next.
    pub piece_stride: u64,
    /// Of one token in one piece.
    pub token_bytes: u64,
    /// Of a block.
    pub pieces: u32,
    /// B.
    pub block_tokens: u32,
}

/// Bytes of a pool, the null block's first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocks {
    /// Where things are in them.
    pub pieces: Pieces,
    /// Usable blocks.
    pub count: u32,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Blocks that are copied.
#[derive(Clone, Debug)]
pub struct CopyBlocks {
    /// What it is about.
    pub title: String,
    /// What is read.
    pub source: Blocks,
    /// What is written; `None`: the same pool.
    pub destination: Option<Blocks>,
    /// Source, destination, and how many tokens.
    pub pairs: Vec<(u32, u32, u32)>,
    /// Whether the source, and the destination, are in pinned memory.
    pub pinned: [bool; 2],
}

/// Blocks that become one pattern.
#[derive(Clone, Debug)]
pub struct Fill {
    /// What it is about.
    pub title: String,
    /// From one block to the next.
    pub block_bytes: u64,
    /// Usable blocks.
    pub count: u32,
    /// Bytes of the pool before.
    pub bytes: Vec<u8>,
    /// Which ones.
    pub blocks: Vec<u32>,
    /// What they become.
    pub pattern: u32,
}

/// Blocks whose sums are asked for.
#[derive(Clone, Debug)]
pub struct Checksum {
    /// What it is about.
    pub title: String,
    /// From one block to the next.
    pub block_bytes: u64,
    /// Usable blocks.
    pub count: u32,
    /// Bytes of the pool.
    pub bytes: Vec<u8>,
    /// Which ones.
    pub blocks: Vec<u32>,
}

/// A table whose blocks have moved.
#[derive(Clone, Debug)]
pub struct Rewrite {
    /// What it is about.
    pub title: String,
    /// The table before.
    pub table: Table,
    /// Where each block is now, the null block first.
    pub moved: Vec<u32>,
}

impl Pieces {
    /// From the first byte of the null block to the end of the last one's last piece.
    pub fn total(&self, blocks: u32) -> u64 {
        let run = self.token_bytes * u64::from(self.block_tokens);
        u64::from(blocks) * self.block_stride + u64::from(self.pieces - 1) * self.piece_stride + run
    }

    /// Where a token of a block's piece begins.
    pub fn at(&self, block: u32, piece: u32, token: u32) -> usize {
        let offset = u64::from(block) * self.block_stride + u64::from(piece) * self.piece_stride;
        (offset + u64::from(token) * self.token_bytes) as usize
    }
}
