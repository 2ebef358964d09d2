//! Blocks that become one pattern.

use super::check::{self, Checked, LANE, refuse};
use super::pointers::{See, Where, see};
use super::refusal::Wrong;
use crate::raw::kvk_fill_params;

/// A launch of `fill`.
///
/// In device memory: the blocks, which [`check_blocks`](Fill::check_blocks) takes before they are copied there.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    /// What the kernel is given.
    pub params: kvk_fill_params,
    /// Usable blocks of the pool.
    pub blocks: u32,
}

impl Fill {
    /// Whether the kernel can be given these.
    pub fn check(&self) -> Checked {
        let p = &self.params;
        pool("pool", p.pool, p.block_bytes, self.blocks)?;
        if p.block_count == 0 {
            return Ok(());
        }
        check_runs(p.block_bytes, p.block_count)?;
        check::needed("blocks", p.blocks)
    }

    /// Whether these are blocks of the pool, the null block among them. Cost: O(blocks).
    pub fn check_blocks(&self, blocks: &[u32]) -> Checked {
        check::count("blocks", blocks.len(), self.params.block_count.into())?;
        check::blocks("blocks", blocks, 0, self.blocks)
    }

    pub(super) fn see(&mut self, look: &mut See<'_>) -> Checked {
        let p = &mut self.params;
        see(look, "pool", Where::Either, pool_bytes(p.block_bytes, self.blocks), &mut p.pool)?;
        see(look, "blocks", Where::Either, u64::from(p.block_count) * 4, &mut p.blocks)
    }
}

/// Whether a launch can count the pieces of so many blocks: of each as many as thread blocks would take, at 16 KiB.
pub(super) fn check_runs(block_bytes: u64, block_count: u32) -> Checked {
    check::at_most("block_bytes", block_bytes, check::WORK_MAX * LANE)?;
    check::counted("block_count", block_count.into(), block_bytes.div_ceil(RUN_BYTES), check::WORK_MAX)
}

/// What a thread block takes at once: 4 lanes of each of its 256 threads.
pub(super) const RUN_BYTES: u64 = 256 * 4 * LANE;

/// A pool of whole blocks, one after the other.
pub(super) fn pool<T>(field: &'static str, pool: *const T, block_bytes: u64, blocks: u32) -> Checked {
    if block_bytes == 0 {
        return refuse("block_bytes", Wrong::Zero);
    }
    if !block_bytes.is_multiple_of(LANE) {
        return refuse("block_bytes", Wrong::Misaligned(LANE));
    }
    if block_bytes.checked_mul(u64::from(blocks) + 1).is_none_or(|bytes| bytes > i64::MAX as u64) {
        return refuse("block_bytes", Wrong::Overflow);
    }
    check::rows(field, pool)
}

pub(super) fn pool_bytes(block_bytes: u64, blocks: u32) -> u64 {
    block_bytes.saturating_mul(u64::from(blocks) + 1)
}
