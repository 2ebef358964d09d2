//! The CUDA device: a GPU, through the runtime that is compiled in.
//!
//! The runtime is linked statically and opens the driver at its first call, so a program with this starts everywhere;
//! where there is no driver or no GPU, [`open`](Cuda::open) says so. Streams are made so that they do not wait for the
//! legacy default stream, which is never used.

#[cfg(not(kvl_cuda))]
#[path = "absent.rs"]
mod gpu;
#[cfg(kvl_cuda)]
mod gpu;
#[cfg(kvl_cuda)]
mod known;
#[cfg(kvl_cuda)]
mod sys;

use crate::device::Device;
use crate::error::Error;
use std::sync::Arc;

/// GPUs that CUDA can use.
#[derive(Clone, Copy, Debug)]
pub struct Cuda;

impl Cuda {
    /// How many there are. Errors: `NotBuilt`, `NoDriver`, `NoDevice` with a count of 0, `Number`.
    pub fn count() -> Result<u32, Error> {
        gpu::count()
    }

    /// Device number `number`, of 0 up to [`count`](Cuda::count). Errors: as `count`; `NoDevice`;
    /// `Unfit`.
    pub fn open(number: u32) -> Result<Arc<dyn Device>, Error> {
        gpu::open(number)
    }
}
