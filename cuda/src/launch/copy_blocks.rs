//! Blocks to blocks, of one pool or of two.

use super::check::{self, Checked, LANE, WORK_MAX, refuse};
use super::fill::RUN_BYTES;
use super::pointers::{See, Where, see};
use super::refusal::Wrong;
use crate::raw::{kvk_copy_pair, kvk_copy_params, kvk_shape};
use core::ptr;
use std::collections::HashMap;

/// A launch of `copy_blocks`.
///
/// In device memory: the pairs, which [`check_pairs`](CopyBlocks::check_pairs) takes before they are copied there.
#[derive(Clone, Copy, Debug)]
pub struct CopyBlocks {
    /// What the kernel is given.
    pub params: kvk_copy_params,
    /// Usable blocks of the pool that is read.
    pub source_blocks: u32,
    /// Usable blocks of the pool that is written.
    pub destination_blocks: u32,
}

impl CopyBlocks {
    /// Whether the kernel can be given these.
    pub fn check(&self) -> Checked {
        let p = &self.params;
        let (from, to) = (&p.source_shape, &p.destination_shape);
        shape(from, self.source_blocks, SOURCE)?;
        shape(to, self.destination_blocks, DESTINATION)?;
        same("destination_shape.token_bytes", to.token_bytes, from.token_bytes)?;
        same("destination_shape.pieces", to.pieces.into(), from.pieces.into())?;
        same("destination_shape.block_tokens", to.block_tokens.into(), from.block_tokens.into())?;
        if p.pair_count == 0 {
            return Ok(());
        }
        let run = from.token_bytes * u64::from(from.block_tokens);
        let pieces = u64::from(from.pieces) * run.div_ceil(RUN_BYTES);
        check::at_most("source_shape.token_bytes", from.token_bytes, WORK_MAX * LANE / u64::from(from.block_tokens))?;
        check::counted("pair_count", p.pair_count.into(), pieces, WORK_MAX)?;
        check::rows("source", p.source)?;
        check::rows("destination", p.destination)?;
        self.check_pools()?;
        check::needed("pairs", p.pairs)
    }

    /// Blocks of the same memory are the same blocks: what one pool writes the other one does not have, or it is one pool. Pools of
    /// different strides are the caller's to keep apart.
    fn check_pools(&self) -> Checked {
        let p = &self.params;
        let (from, to) = (&p.source_shape, &p.destination_shape);
        let strides = [
            ("destination_shape.block_stride", to.block_stride, from.block_stride, true),
            ("destination_shape.piece_stride", to.piece_stride, from.piece_stride, from.pieces > 1),
        ];
        let differs = strides.iter().find(|(_, value, must, counts)| *counts && value != must);
        match (ptr::eq(p.source, p.destination), differs) {
            (true, None) => Ok(()),
            (true, Some((field, value, must, _))) => {
                refuse(field, Wrong::Not { value: *value as u64, must: *must as u64 })
            }
            (false, Some(_)) => Ok(()),
            (false, None) => {
                let source = (p.source as usize, shape_of(from, self.source_blocks, SOURCE));
                let destination = (p.destination as usize, shape_of(to, self.destination_blocks, DESTINATION));
                let (first, later) =
                    if source.0 < destination.0 { (source, destination) } else { (destination, source) };
                let meets = first.1.meets(&later.1, (later.0 - first.0) as u64);
                if meets { refuse("destination", Wrong::Shared("source")) } else { Ok(()) }
            }
        }
    }

    /// Whether pairs are of the two pools, and may run in any order: no block is written twice, and none that is written
    /// is read. [`Mover::copy`](crate::Mover::copy) makes such lists out of others. Cost: O(pairs).
    pub fn check_pairs(&self, pairs: &[kvk_copy_pair]) -> Checked {
        let p = &self.params;
        check::count("pairs", pairs.len(), p.pair_count.into())?;
        self.check_ids(pairs)?;
        let writers = writers(pairs)?;
        if !ptr::eq(p.source, p.destination) {
            return Ok(());
        }
        for (reader, pair) in pairs.iter().enumerate() {
            if let Some(writer) = writers.get(&pair.source) {
                return refuse("pairs", Wrong::Ordered { writer: *writer, reader });
            }
        }
        Ok(())
    }

    /// Whether each pair names blocks that there are. Cost: O(pairs).
    pub fn check_ids(&self, pairs: &[kvk_copy_pair]) -> Checked {
        let tokens_max = self.params.source_shape.block_tokens;
        for (entry, pair) in pairs.iter().enumerate() {
            for (block, blocks) in [(pair.source, self.source_blocks), (pair.destination, self.destination_blocks)] {
                if block == 0 || block > blocks {
                    return refuse("pairs", Wrong::Block { entry, block, blocks });
                }
            }
            if pair.tokens > tokens_max {
                let (value, most) = (pair.tokens.into(), tokens_max.into());
                return refuse("pairs", Wrong::Entry { entry, value, most });
            }
        }
        Ok(())
    }

    pub(super) fn see(&mut self, look: &mut See<'_>) -> Checked {
        let p = &mut self.params;
        if p.pair_count == 0 {
            return Ok(());
        }
        let from = shape_bytes(&p.source_shape, self.source_blocks).unwrap_or(u64::MAX);
        let to = shape_bytes(&p.destination_shape, self.destination_blocks).unwrap_or(u64::MAX);
        see(look, "source", Where::Either, from, &mut p.source)?;
        see(look, "destination", Where::Either, to, &mut p.destination)?;
        let pairs = u64::from(p.pair_count) * size_of::<kvk_copy_pair>() as u64;
        see(look, "pairs", Where::Either, pairs, &mut p.pairs)
    }
}

/// Which pair writes each block. `Twice` if two do.
pub(crate) fn writers(pairs: &[kvk_copy_pair]) -> Result<HashMap<u32, usize>, super::Refusal> {
    let mut writers = HashMap::with_capacity(pairs.len());
    for (second, pair) in pairs.iter().enumerate() {
        if let Some(first) = writers.insert(pair.destination, second) {
            return refuse("pairs", Wrong::Twice { first, second });
        }
    }
    Ok(writers)
}

/// The fields of a shape.
struct Names {
    blocks: &'static str,
    block_stride: &'static str,
    piece_stride: &'static str,
    token_bytes: &'static str,
    pieces: &'static str,
    block_tokens: &'static str,
}

const SOURCE: Names = Names {
    blocks: "source_blocks",
    block_stride: "source_shape.block_stride",
    piece_stride: "source_shape.piece_stride",
    token_bytes: "source_shape.token_bytes",
    pieces: "source_shape.pieces",
    block_tokens: "source_shape.block_tokens",
};

const DESTINATION: Names = Names {
    blocks: "destination_blocks",
    block_stride: "destination_shape.block_stride",
    piece_stride: "destination_shape.piece_stride",
    token_bytes: "destination_shape.token_bytes",
    pieces: "destination_shape.pieces",
    block_tokens: "destination_shape.block_tokens",
};

const OF_POOL: Names = Names {
    blocks: "blocks",
    block_stride: "shape.block_stride",
    piece_stride: "shape.piece_stride",
    token_bytes: "shape.token_bytes",
    pieces: "shape.pieces",
    block_tokens: "shape.block_tokens",
};

/// Whether blocks of a pool may have this shape.
pub(crate) fn check_shape(of: &kvk_shape, blocks: u32) -> Checked {
    shape(of, blocks, OF_POOL)
}

fn shape(shape: &kvk_shape, blocks: u32, names: Names) -> Checked {
    check::some(names.blocks, blocks)?;
    check::some(names.pieces, shape.pieces)?;
    check::some(names.block_tokens, shape.block_tokens)?;
    if shape.token_bytes == 0 {
        return refuse(names.token_bytes, Wrong::Zero);
    }
    if !shape.token_bytes.is_multiple_of(LANE) {
        return refuse(names.token_bytes, Wrong::Misaligned(LANE));
    }
    let run = shape.token_bytes.saturating_mul(shape.block_tokens.into());
    if run > i64::MAX as u64 {
        return refuse(names.token_bytes, Wrong::Overflow);
    }
    shape_of(shape, blocks, names).check_apart()
}

/// A pool, in bytes.
fn shape_of(shape: &kvk_shape, blocks: u32, names: Names) -> check::Shape<2> {
    let axes = [
        check::Axis::new(names.block_stride, u64::from(blocks) + 1, shape.block_stride),
        check::Axis::new(names.piece_stride, shape.pieces.into(), shape.piece_stride),
    ];
    let row = shape.token_bytes.saturating_mul(shape.block_tokens.into());
    check::Shape { axes, row, multiple: LANE }
}

/// Bytes of a pool of so many usable blocks, the null block's included; `None` beyond 63 bits.
pub fn shape_bytes(shape: &kvk_shape, blocks: u32) -> Option<u64> {
    let run = shape.token_bytes.checked_mul(shape.block_tokens.into())?;
    // Of one piece there is no next one.
    let piece_stride = if shape.pieces == 1 { 0 } else { u64::try_from(shape.piece_stride).ok()? };
    let pieces = u64::from(shape.pieces).checked_sub(1)?.checked_mul(piece_stride)?;
    let blocks = u64::from(blocks).checked_mul(u64::try_from(shape.block_stride).ok()?)?;
    let bytes = run.checked_add(pieces)?.checked_add(blocks)?;
    (bytes <= i64::MAX as u64).then_some(bytes)
}

fn same(field: &'static str, value: u64, must: u64) -> Checked {
    if value == must { Ok(()) } else { refuse(field, Wrong::Not { value, must }) }
}
