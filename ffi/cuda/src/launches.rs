//! Kernels.

use crate::claim;
use crate::devices::{KvlDevice, device};
use crate::error::{Failure, KvlDeviceError, answer};
use crate::sized::{Grows, WithSize};
use crate::streams::KvlDeviceStream;
use kvledger_cuda::StreamId;
use kvledger_cuda::launch::{Append, Attend, Checksum, CopyBlocks, Fill, Gather, Launch, MergeTwo, Rewrite};
use kvledger_cuda::raw::{
    kvk_append_params, kvk_attend_params, kvk_checksum_params, kvk_copy_params, kvk_fill_params, kvk_gather_params,
    kvk_merge_two_params, kvk_rewrite_params,
};

/// `kvl_attend_sizes`, behind its size: what [`Attend`] has beside its parameters.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KvlAttendSizes {
    /// Rows of the table that are in memory.
    pub table_rows: u32,
    /// Keys of the longest sequence.
    pub longest: u32,
    /// Of all sequences.
    pub query_tokens: u32,
    /// Room for items of the plan.
    pub items: u32,
    /// Room for joins of the plan.
    pub joins: u32,
    /// Room for partial results.
    pub parts: u32,
}

// SAFETY: integers, laid out as C does it.
unsafe impl Grows for KvlAttendSizes {
    const FIRST_BYTES: usize = 32;
    type Reserved = ();
}

/// Enqueues what `launch` makes.
fn enqueue(
    handle: KvlDevice,
    stream: KvlDeviceStream,
    launch: impl FnOnce() -> Result<Launch, Failure>,
    error: *mut KvlDeviceError,
) -> u32 {
    let done = || {
        let launch = launch()?;
        // SAFETY: what is in device memory is the caller's to keep right, as the header says; the device checks the rest.
        Ok(unsafe { device(handle)?.launch(StreamId(stream.id), &launch) }?)
    };
    answer(error, done)
}

/// # Safety
/// `params` and `sizes` are NULL, misaligned or what the header says.
unsafe fn attention(
    params: *const kvk_attend_params,
    sizes: *const WithSize<KvlAttendSizes>,
) -> Result<Attend, Failure> {
    // SAFETY: promised.
    let params = unsafe { claim::input("params", params) }?;
    // SAFETY: promised.
    let sizes = unsafe { claim::sized_input("sizes", sizes) }?;
    let KvlAttendSizes { table_rows, longest, query_tokens, items, joins, parts } = sizes;
    Ok(Attend { params, table_rows, longest, query_tokens, items, joins, parts })
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_append(
    handle: KvlDevice,
    stream: KvlDeviceStream,
    params: *const kvk_append_params,
    error: *mut KvlDeviceError,
) -> u32 {
    // SAFETY: promised.
    let launch = || unsafe { claim::input("params", params) }.map(|params| Launch::Append(Append { params }));
    enqueue(handle, stream, launch, error)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_attend(
    handle: KvlDevice,
    stream: KvlDeviceStream,
    params: *const kvk_attend_params,
    sizes: *const WithSize<KvlAttendSizes>,
    error: *mut KvlDeviceError,
) -> u32 {
    // SAFETY: promised.
    let launch = || unsafe { attention(params, sizes) }.map(Launch::Attend);
    enqueue(handle, stream, launch, error)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_merge(
    handle: KvlDevice,
    stream: KvlDeviceStream,
    params: *const kvk_attend_params,
    sizes: *const WithSize<KvlAttendSizes>,
    error: *mut KvlDeviceError,
) -> u32 {
    // SAFETY: promised.
    let launch = || unsafe { attention(params, sizes) }.map(Launch::Merge);
    enqueue(handle, stream, launch, error)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_merge_two(
    handle: KvlDevice,
    stream: KvlDeviceStream,
    params: *const kvk_merge_two_params,
    error: *mut KvlDeviceError,
) -> u32 {
    // SAFETY: promised.
    let launch = || unsafe { claim::input("params", params) }.map(|params| Launch::MergeTwo(MergeTwo { params }));
    enqueue(handle, stream, launch, error)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_copy_blocks(
    handle: KvlDevice,
    stream: KvlDeviceStream,
    params: *const kvk_copy_params,
    source_blocks: u32,
    destination_blocks: u32,
    error: *mut KvlDeviceError,
) -> u32 {
    let launch = || {
        // SAFETY: promised.
        let params = unsafe { claim::input("params", params) }?;
        Ok(Launch::CopyBlocks(CopyBlocks { params, source_blocks, destination_blocks }))
    };
    enqueue(handle, stream, launch, error)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_fill(
    handle: KvlDevice,
    stream: KvlDeviceStream,
    params: *const kvk_fill_params,
    blocks: u32,
    error: *mut KvlDeviceError,
) -> u32 {
    // SAFETY: promised.
    let launch = || unsafe { claim::input("params", params) }.map(|params| Launch::Fill(Fill { params, blocks }));
    enqueue(handle, stream, launch, error)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_checksum(
    handle: KvlDevice,
    stream: KvlDeviceStream,
    params: *const kvk_checksum_params,
    blocks: u32,
    error: *mut KvlDeviceError,
) -> u32 {
    let launch = || {
        // SAFETY: promised.
        let params = unsafe { claim::input("params", params) }?;
        Ok(Launch::Checksum(Checksum { params, blocks }))
    };
    enqueue(handle, stream, launch, error)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_rewrite(
    handle: KvlDevice,
    stream: KvlDeviceStream,
    params: *const kvk_rewrite_params,
    error: *mut KvlDeviceError,
) -> u32 {
    // SAFETY: promised.
    let launch = || unsafe { claim::input("params", params) }.map(|params| Launch::Rewrite(Rewrite { params }));
    enqueue(handle, stream, launch, error)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_gather(
    handle: KvlDevice,
    stream: KvlDeviceStream,
    params: *const kvk_gather_params,
    table_rows: u32,
    longest: u32,
    error: *mut KvlDeviceError,
) -> u32 {
    let launch = || {
        // SAFETY: promised.
        let params = unsafe { claim::input("params", params) }?;
        Ok(Launch::Gather(Gather { params, table_rows, longest }))
    };
    enqueue(handle, stream, launch, error)
}
