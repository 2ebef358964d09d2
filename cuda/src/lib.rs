//! Kernels that work on the blocks of a `kvledger` pool, on a GPU and on the CPU from one source.
//!
//! The problem: the ledger says which block must be copied where and when a block may be reused; somebody has to move
//! the bytes. Each kernel in `cuda/kernels` is compiled for the CPU always and for CUDA when the build script finds
//! `nvcc` (then `cfg(kvl_cuda)` is set), so that what runs on a GPU is tested where there is none.
//!
//! 1. [`Copier::new`] once for a pool: checks the geometry and takes the memory that later checks need.
//! 2. [`Copier::copy`] on the CPU device, or `Copier::copy_cuda` on a GPU, for each batch of copy orders. All pairs of
//!    a batch are checked before any byte moves.

mod copy;
mod raw;

pub use copy::{Copier, CopyPair, CopyRefusal, LANE_BYTES, Lane};

/// Whether kernels for CUDA were compiled in.
pub const HAS_CUDA: bool = cfg!(kvl_cuda);
