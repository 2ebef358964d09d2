//! Declarations of `cuda/kernels/copy.h`, with its sizes and offsets asserted.

use crate::copy::CopyPair;
use core::ffi::c_void;
use core::mem::{offset_of, size_of};

/// `kvk_copy_params`.
#[repr(C)]
pub struct CopyParams {
    pub pool: *mut c_void,
    pub pairs: *const CopyPair,
    pub block_lanes: u64,
    pub pair_count: u32,
    pub reserved: u32,
}

const _: () = assert!(size_of::<CopyPair>() == 8 && offset_of!(CopyPair, destination) == 4);
const _: () = assert!(size_of::<CopyParams>() == 32 && offset_of!(CopyParams, block_lanes) == 16);

unsafe extern "C" {
    /// Safety: what `copy.h` asks for, which `Copier` checks.
    pub fn kvk_cpu_copy_blocks(params: *const CopyParams, stream: *mut c_void) -> u32;
    /// Safety: what `copy.h` asks for, with device pointers that stay valid until the stream has done the work.
    #[cfg(kvl_cuda)]
    pub fn kvk_cuda_copy_blocks(params: *const CopyParams, stream: *mut c_void) -> u32;
}
