//! Blocks that become one pattern, and sums of blocks.

use super::{Mover, refused};
use crate::device::Address;
use crate::error::Error;
use crate::launch::{Checksum, Fill, Launch, Refusal, Wrong};
use crate::memory::Memory;
use crate::pool::BlockPool;
use crate::raw::{kvk_checksum_params, kvk_fill_params};
use crate::stream::Stream;
use core::ptr;

impl Mover {
    /// All bytes of blocks become `pattern`, repeated: 0, or 0xFFFF_FFFF, which is NaN in every type of float. The null
    /// block may be one of them.
    ///
    /// Errors: `Refused`: `Block` or `Room`, of `blocks`; of `pool`, `Scattered` if a block is not one piece of memory; `Lost`.
    pub fn fill(&mut self, stream: &Stream, pool: &BlockPool, blocks: &[u32], pattern: u32) -> Result<(), Error> {
        let refuse = |refusal| refused("fill", refusal);
        let block_bytes = whole(pool).map_err(refuse)?;
        let block_count = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
        let params = kvk_fill_params { pool: pool.base(), blocks: ptr::null(), block_bytes, block_count, pattern };
        let mut launch = Fill { params, blocks: pool.blocks() };
        launch.check_blocks(blocks).map_err(refuse)?;
        self.check_room("fill", "blocks", blocks)?;
        self.lists.send(stream, blocks, |Address(list)| {
            launch.params.blocks = list as usize as *const u32;
            // SAFETY: the list is this one, which was checked, and stays in its slot until this is done; the pool is
            // memory of the device and as long as its shape says.
            unsafe { stream.launch(&Launch::Fill(launch)) }
        })
    }

    /// Writes the sum of each block to `sums`, from its beginning, 8 bytes each.
    ///
    /// Errors: as [`fill`](Mover::fill); of `sums`, `Short`.
    pub fn checksum(&mut self, stream: &Stream, pool: &BlockPool, blocks: &[u32], sums: &Memory) -> Result<(), Error> {
        let refuse = |refusal| refused("checksum", refusal);
        let block_bytes = whole(pool).map_err(refuse)?;
        let (needed, available) = (blocks.len() as u64 * 8, sums.bytes() as u64);
        if needed > available {
            return Err(refuse(Refusal::new("sums", Wrong::Short { needed, available })));
        }
        let params = kvk_checksum_params {
            pool: pool.base(),
            blocks: ptr::null(),
            sums: sums.pointer(),
            block_bytes,
            block_count: u32::try_from(blocks.len()).unwrap_or(u32::MAX),
            reserved: 0,
        };
        let mut launch = Checksum { params, blocks: pool.blocks() };
        launch.check_blocks(blocks).map_err(refuse)?;
        self.check_room("checksum", "blocks", blocks)?;
        self.lists.send(stream, blocks, |Address(list)| {
            launch.params.blocks = list as usize as *const u32;
            // SAFETY: as above, and there is room for the sums.
            unsafe { stream.launch(&Launch::Checksum(launch)) }
        })
    }
}

fn whole(pool: &BlockPool) -> Result<u64, Refusal> {
    pool.whole_block_bytes().ok_or(Refusal::new("pool", Wrong::Scattered))
}
