//! Copies of whole blocks inside one pool, checked before they are launched.
//!
//! Pairs of a batch run in no order, and on a GPU at the same time. So a block that is written must not be read or
//! written by another pair of the batch: that is refused, because its outcome would depend on the schedule. One source
//! may have many destinations (a fork).

use crate::raw::{self, CopyParams};
use core::fmt;
use kvledger_core::BlockId;

/// Bytes of a [`Lane`].
pub const LANE_BYTES: usize = 16;

/// The unit that kernels move. Pool memory on the CPU device is a slice of these, which settles its alignment.
#[repr(C, align(16))]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lane(pub [u8; LANE_BYTES]);

/// One block to copy.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CopyPair {
    /// The block that is read.
    pub source: BlockId,
    /// The block that is written.
    pub destination: BlockId,
}

/// Why nothing was copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CopyRefusal {
    /// The bytes of a block are 0, not whole lanes, or together more than can be addressed.
    BlockBytes,
    /// The pool memory is not (N + 1) blocks long.
    Memory,
    /// This pair names the null block, or a block that the pool does not have.
    OutOfRange {
        /// Its place in the batch.
        pair: usize,
    },
    /// This pair reads or writes what a pair of the batch writes.
    Overlap {
        /// Its place in the batch.
        pair: usize,
    },
    /// More than 2^32 − 1 pairs.
    TooMany,
    /// The device refused the launch, with this error number of its own.
    Device(u32),
}

/// Copies blocks of one pool. Allocates when it is made and never again.
#[derive(Debug)]
pub struct Copier {
    /// N, the null block not counted.
    blocks: u32,
    block_lanes: u64,
    /// Lanes of the null block and all others.
    pool_lanes: usize,
    /// One bit a block id: written by this batch. All clear between calls.
    written: Vec<u64>,
}

impl Copier {
    /// For a pool of `blocks` usable blocks (ids 1..=N; the memory has the null block too) of `block_bytes` each.
    ///
    /// [`CopyRefusal::BlockBytes`] unless `block_bytes` is a positive multiple of [`LANE_BYTES`] and the pool can be
    /// addressed.
    pub fn new(blocks: u32, block_bytes: u64) -> Result<Copier, CopyRefusal> {
        let lanes = block_bytes / LANE_BYTES as u64;
        if lanes == 0 || !block_bytes.is_multiple_of(LANE_BYTES as u64) {
            return Err(CopyRefusal::BlockBytes);
        }
        let blocks_in_memory = u64::from(blocks) + 1;
        let pool_bytes = blocks_in_memory.checked_mul(block_bytes).filter(|bytes| *bytes <= isize::MAX as u64);
        let pool_lanes = (pool_bytes.ok_or(CopyRefusal::BlockBytes)? / LANE_BYTES as u64) as usize;
        let written = vec![0; blocks_in_memory.div_ceil(64) as usize];
        Ok(Copier { blocks, block_lanes: lanes, pool_lanes, written })
    }

    /// Copies on the CPU device; done when it returns. `memory` starts with the null block.
    ///
    /// Any refusal means that nothing was copied. Cost: one pass over the pairs, then the bytes.
    pub fn copy(&mut self, memory: &mut [Lane], pairs: &[CopyPair]) -> Result<(), CopyRefusal> {
        if memory.len() != self.pool_lanes {
            return Err(CopyRefusal::Memory);
        }
        let pair_count = self.check(pairs)?;
        let params = CopyParams {
            pool: memory.as_mut_ptr().cast(),
            pairs: pairs.as_ptr(),
            block_lanes: self.block_lanes,
            pair_count,
            reserved: 0,
        };
        // SAFETY: `memory` is borrowed mutably, aligned by its type and as long as all ids up to N reach; `check` has
        // seen every id and that no destination is touched twice; the CPU device keeps no pointer after it returns.
        let status = unsafe { raw::kvk_cpu_copy_blocks(&params, core::ptr::null_mut()) };
        answer(status)
    }

    /// Enqueues the same copies on a GPU; done when the stream has done them.
    ///
    /// # Safety
    /// `pool` must be the device address of the null block of a pool of this geometry, aligned to [`LANE_BYTES`];
    /// `device_pairs` the device address of a copy of `pairs`; `stream` a `cudaStream_t` of the current device or NULL.
    /// Both memories must stay as they are until the stream has done the work.
    #[cfg(kvl_cuda)]
    pub unsafe fn copy_cuda(
        &mut self,
        pool: *mut core::ffi::c_void,
        pairs: &[CopyPair],
        device_pairs: *const CopyPair,
        stream: *mut core::ffi::c_void,
    ) -> Result<(), CopyRefusal> {
        let pair_count = self.check(pairs)?;
        let params = CopyParams { pool, pairs: device_pairs, block_lanes: self.block_lanes, pair_count, reserved: 0 };
        // SAFETY: `check` has seen every id and that no destination is touched twice; the rest is the caller's promise.
        let status = unsafe { raw::kvk_cuda_copy_blocks(&params, stream) };
        answer(status)
    }

    /// The number of pairs, if the batch may run.
    fn check(&mut self, pairs: &[CopyPair]) -> Result<u32, CopyRefusal> {
        let count = u32::try_from(pairs.len()).map_err(|_| CopyRefusal::TooMany)?;
        let in_pool = |block: BlockId| block != BlockId::NULL && block.0 <= self.blocks;
        if let Some(pair) = pairs.iter().position(|pair| !in_pool(pair.source) || !in_pool(pair.destination)) {
            return Err(CopyRefusal::OutOfRange { pair });
        }
        let overlap = self.overlap(pairs);
        for pair in pairs {
            self.written[word(pair.destination)] = 0;
        }
        overlap.map_or(Ok(count), |pair| Err(CopyRefusal::Overlap { pair }))
    }

    /// The first pair that writes what an earlier one writes, or else the first that reads what any writes. Leaves
    /// marks, of destinations only.
    fn overlap(&mut self, pairs: &[CopyPair]) -> Option<usize> {
        for (place, pair) in pairs.iter().enumerate() {
            let mark = &mut self.written[word(pair.destination)];
            if *mark & bit(pair.destination) != 0 {
                return Some(place);
            }
            *mark |= bit(pair.destination);
        }
        pairs.iter().position(|pair| self.written[word(pair.source)] & bit(pair.source) != 0)
    }
}

fn word(block: BlockId) -> usize {
    block.0 as usize / 64
}

fn bit(block: BlockId) -> u64 {
    1 << (block.0 % 64)
}

fn answer(status: u32) -> Result<(), CopyRefusal> {
    if status == 0 { Ok(()) } else { Err(CopyRefusal::Device(status)) }
}

impl fmt::Display for CopyRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CopyRefusal::BlockBytes => {
                write!(f, "block bytes must be a positive multiple of {LANE_BYTES}, in all addressable")
            }
            CopyRefusal::Memory => f.write_str("the pool memory must be N + 1 blocks long: the null block comes first"),
            CopyRefusal::OutOfRange { pair } => {
                write!(f, "pair {pair} names the null block or one outside of the pool")
            }
            CopyRefusal::Overlap { pair } => {
                write!(f, "pair {pair} touches a block that the same batch writes: use two batches")
            }
            CopyRefusal::TooMany => f.write_str("more than 2^32 - 1 pairs: use more batches"),
            CopyRefusal::Device(number) => write!(f, "the device refused the launch: its error {number}"),
        }
    }
}

impl std::error::Error for CopyRefusal {}
