//! Kernels that work on the blocks of a `kvledger` pool, on a GPU and on the CPU from one source.
//!
//! The problem: the ledger says which block must be copied where and when a block may be reused; somebody has to move
//! the bytes. Each kernel in `cuda/kernels` is compiled for the CPU always and for CUDA when the build script finds
//! `nvcc` (then `cfg(kvl_cuda)` is set), so that what runs on a GPU is tested where there is none.

pub mod raw;

/// Whether kernels for CUDA were compiled in.
pub const HAS_CUDA: bool = cfg!(kvl_cuda);
