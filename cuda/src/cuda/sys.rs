//! What is called of the CUDA runtime, declared by hand: some twenty functions that have been the same since CUDA 11.
//! `cuda/tests/cudart.cu` asserts the same of the toolkit's own headers, where CI compiles for CUDA.

use core::ffi::{c_char, c_int, c_uint, c_void};

/// `cudaError_t`.
pub type Code = c_uint;

pub const SUCCESS: Code = 0;
pub const MEMORY_ALLOCATION: Code = 2;
pub const INITIALIZATION: Code = 3;
pub const INSUFFICIENT_DRIVER: Code = 35;
pub const NO_DEVICE: Code = 100;
pub const NOT_READY: Code = 600;

/// Neither machine code for this GPU nor portable code that its driver can make into it.
pub const UNFIT: [Code; 7] = [98, 200, 209, 218, 221, 222, 223];

/// After one of these all calls of the process fail: the header says that it must be ended, and started again.
pub const STICKY: [Code; 16] = [214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911, 999];

pub const STREAM_NON_BLOCKING: c_uint = 1;
/// `cudaStreamPerThread`, the highest number that stands for a default stream.
pub const STREAM_PER_THREAD: u64 = 2;
pub const EVENT_DISABLE_TIMING: c_uint = 2;
pub const HOST_ALLOC_PORTABLE: c_uint = 1;
pub const MEMCPY_DEFAULT: c_int = 4;

pub const ATTRIBUTE_MULTIPROCESSORS: c_int = 16;
pub const ATTRIBUTE_COMPUTE_MAJOR: c_int = 75;
pub const ATTRIBUTE_COMPUTE_MINOR: c_int = 76;
pub const ATTRIBUTE_SHARED_BYTES: c_int = 97;

/// More than any `cudaDeviceProp` takes. It begins with the name, of this many bytes, with its end.
pub const PROPERTIES_BYTES: usize = 8192;
pub const NAME_BYTES: usize = 256;

/// `cudaStream_t`.
pub type RawStream = *mut c_void;
/// `cudaEvent_t`.
pub type RawEvent = *mut c_void;

unsafe extern "C" {
    pub fn cudaGetDeviceCount(count: *mut c_int) -> Code;
    pub fn cudaSetDevice(device: c_int) -> Code;
    pub fn cudaDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int) -> Code;
    pub fn cudaGetDeviceProperties(properties: *mut c_void, device: c_int) -> Code;
    pub fn cudaMemGetInfo(free: *mut usize, total: *mut usize) -> Code;
    pub fn cudaDeviceSynchronize() -> Code;

    pub fn cudaMalloc(memory: *mut *mut c_void, bytes: usize) -> Code;
    pub fn cudaFree(memory: *mut c_void) -> Code;
    pub fn cudaHostAlloc(memory: *mut *mut c_void, bytes: usize, flags: c_uint) -> Code;
    pub fn cudaFreeHost(memory: *mut c_void) -> Code;

    pub fn cudaStreamCreateWithFlags(stream: *mut RawStream, flags: c_uint) -> Code;
    pub fn cudaStreamDestroy(stream: RawStream) -> Code;
    pub fn cudaStreamSynchronize(stream: RawStream) -> Code;
    pub fn cudaStreamQuery(stream: RawStream) -> Code;
    pub fn cudaStreamWaitEvent(stream: RawStream, event: RawEvent, flags: c_uint) -> Code;

    pub fn cudaEventCreateWithFlags(event: *mut RawEvent, flags: c_uint) -> Code;
    pub fn cudaEventDestroy(event: RawEvent) -> Code;
    pub fn cudaEventRecord(event: RawEvent, stream: RawStream) -> Code;
    pub fn cudaEventQuery(event: RawEvent) -> Code;
    pub fn cudaEventSynchronize(event: RawEvent) -> Code;

    pub fn cudaMemcpyAsync(to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int, stream: RawStream) -> Code;
    pub fn cudaMemsetAsync(to: *mut c_void, value: c_int, bytes: usize, stream: RawStream) -> Code;

    pub fn cudaGetLastError() -> Code;
    pub fn cudaGetErrorString(code: Code) -> *const c_char;
}
