//! Kernels that work on the blocks of a `kvledger` pool, on a GPU and on the CPU from one source.
//!
//! The problem: the ledger says which block must be copied where and when a block may be reused; somebody has to read
//! and move the bytes. Each kernel in `cuda/kernels` is compiled for the CPU device always, and for CUDA when the build
//! script finds `nvcc` (then `cfg(kvl_cuda)` is set), so that what runs on a GPU is tested where there is none.
//!
//! 1. A [`Device`]: [`Cpu`], or [`Cuda`] where there is one. Both are the same to everything below.
//! 2. [`Memory`] of it, in which the pool's blocks are; [`Stream`]s, in which work is enqueued; [`Event`]s.
//! 3. A [`Launch`](launch::Launch): one kernel with its parameters, which are checked before anything is enqueued.

/// The Rust of the guide is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod cpu;
mod cuda;
mod device;
#[cfg(feature = "cust")]
mod driver;
mod epochs;
mod error;
pub mod launch;
mod memory;
pub mod mover;
mod pool;
pub mod raw;
mod ring;
mod simultaneous;
mod status;
mod stream;

pub use cpu::Cpu;
pub use cuda::Cuda;
pub use device::{Address, Device, EventId, Extent, Facts, Space, StreamId};
#[cfg(feature = "cust")]
pub use driver::{DriverDevice, driver_devices};
pub use epochs::{EpochError, Epochs, Step};
pub use error::{Error, Loss, Reason};
pub use memory::{Memory, Plain};
pub use mover::Mover;
pub use pool::BlockPool;
pub use ring::Ring;
pub use simultaneous::{Launches, in_order};
pub use status::{Report, Status};
pub use stream::{Event, Stream};

/// Whether kernels for CUDA were compiled in.
pub const HAS_CUDA: bool = cfg!(kvl_cuda);
