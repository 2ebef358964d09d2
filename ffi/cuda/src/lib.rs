//! The C ABI of `kvledger-cuda`: devices by number, and one `kvl_device_` function for each of their calls and each
//! kernel. `ffi/archive.sh --cuda` makes `libkvledger_cuda.a` of it, `ffi/include/kvledger_cuda.h` declares it.
//!
//! 1. Every function answers a status, and writes a [`KvlDeviceError`] with the words of Rust's own error.
//! 2. What comes from C is a claim: a pointer may be NULL or misaligned, a device closed, a number meaningless. Each is
//!    an answer. That a pointer which is neither points to what the header says is the caller's to keep.
//! 3. A struct that can grow begins with its size, and what the size does not cover is neither read nor written.
//! 4. Device memory is never touched here: its addresses go to the device, which looks them up.

mod claim;
mod devices;
mod error;
mod launches;
mod memory;
// One implementation for both archives, which do not need each other.
#[path = "../../src/sized.rs"]
mod sized;
mod streams;

pub use devices::*;
pub use error::{KvlDeviceError, status_of};
pub use launches::*;
pub use memory::*;
pub use sized::{Grows, WithSize};
pub use streams::*;
