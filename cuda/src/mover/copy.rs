//! Blocks to blocks.

use super::{Mover, is_same, refused};
use crate::device::Address;
use crate::error::Error;
use crate::launch::{CopyBlocks, Launch};
use crate::pool::BlockPool;
use crate::raw::{kvk_copy_pair, kvk_copy_params};
use crate::simultaneous::{Launches, in_order};
use crate::stream::Stream;
use core::ptr;

impl Mover {
    /// Copies blocks, all at once: each destination gets what its source held before. Within one pool that may take
    /// several launches, and a block that nobody uses, `spare`, if some pairs form a cycle (`1 → 2, 2 → 1`).
    ///
    /// Errors: `Refused`, of `pairs`: `Block`, `Entry` (tokens), `Twice`, `Cycle`, `Spare`, `Room`; of the shapes, if they
    /// differ in more than strides; `Lost`. Cost: O(pairs) here.
    pub fn copy(
        &mut self,
        stream: &Stream,
        from: &BlockPool,
        to: &BlockPool,
        pairs: &[kvk_copy_pair],
        spare: Option<u32>,
    ) -> Result<(), Error> {
        let refuse = |refusal| refused("copy_blocks", refusal);
        let all = copy_of(from, to, pairs.len());
        all.check_ids(pairs).map_err(refuse)?;
        let launches = if is_same(from, to) {
            if let Some(spare) = spare {
                crate::launch::check_block("spare", spare, from.blocks()).map_err(refuse)?;
            }
            in_order(pairs, spare).map_err(refuse)?
        } else {
            crate::launch::writers(pairs).map_err(refuse)?;
            Launches { pairs: pairs.to_vec(), ends: vec![pairs.len()] }
        };
        self.launch_pairs(stream, from, to, &launches)
    }

    /// Enqueues launches in order. Pairs are of the two pools, and none of a launch writes what another one touches.
    pub(super) fn launch_pairs(
        &mut self,
        stream: &Stream,
        from: &BlockPool,
        to: &BlockPool,
        launches: &Launches,
    ) -> Result<(), Error> {
        self.check_room("copy_blocks", "pairs", &launches.pairs)?;
        self.lists.send(stream, &launches.pairs, |Address(list)| {
            let mut at = list;
            for pairs in launches.each().filter(|pairs| !pairs.is_empty()) {
                let mut launch = copy_of(from, to, pairs.len());
                launch.params.pairs = at as usize as *const kvk_copy_pair;
                // SAFETY: the pairs are these, which were checked, and stay in their slot until this is done; the pools
                // are memory of the device and as long as their shapes say.
                unsafe { stream.launch(&Launch::CopyBlocks(launch)) }?;
                at += size_of_val(pairs) as u64;
            }
            Ok(())
        })
    }
}

/// A launch between two pools, less the pairs.
pub(super) fn copy_of(from: &BlockPool, to: &BlockPool, pairs: usize) -> CopyBlocks {
    let params = kvk_copy_params {
        source_shape: *from.shape(),
        destination_shape: *to.shape(),
        source: from.base(),
        destination: to.base(),
        pairs: ptr::null(),
        // Longer lists do not fit into a ring.
        pair_count: u32::try_from(pairs).unwrap_or(u32::MAX),
        reserved: 0,
    };
    CopyBlocks { params, source_blocks: from.blocks(), destination_blocks: to.blocks() }
}
