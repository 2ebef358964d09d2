//! Sums of blocks, which tell whether one was changed.

use super::check::{self, Checked};
use super::fill::{check_runs, pool, pool_bytes};
use super::pointers::{See, Where, see};
use crate::raw::kvk_checksum_params;

/// A launch of `checksum`.
///
/// In device memory: the blocks, which [`check_blocks`](Checksum::check_blocks) takes before they are copied there.
#[derive(Clone, Copy, Debug)]
pub struct Checksum {
    /// What the kernel is given.
    pub params: kvk_checksum_params,
    /// Usable blocks of the pool.
    pub blocks: u32,
}

impl Checksum {
    /// Whether the kernel can be given these.
    pub fn check(&self) -> Checked {
        let p = &self.params;
        pool("pool", p.pool, p.block_bytes, self.blocks)?;
        if p.block_count == 0 {
            return Ok(());
        }
        // It takes more at once than a fill.
        check_runs(p.block_bytes, p.block_count)?;
        check::needed("blocks", p.blocks)?;
        check::needed("sums", p.sums)
    }

    /// Whether these are blocks of the pool, the null block among them. Cost: O(blocks).
    pub fn check_blocks(&self, blocks: &[u32]) -> Checked {
        check::count("blocks", blocks.len(), self.params.block_count.into())?;
        check::blocks("blocks", blocks, 0, self.blocks)
    }

    pub(super) fn see(&mut self, look: &mut See<'_>) -> Checked {
        let p = &mut self.params;
        see(look, "pool", Where::Either, pool_bytes(p.block_bytes, self.blocks), &mut p.pool)?;
        see(look, "blocks", Where::Either, u64::from(p.block_count) * 4, &mut p.blocks)?;
        see(look, "sums", Where::Either, u64::from(p.block_count) * 8, &mut p.sums)
    }
}
