//! The C ABI: one `kvl_` function for each operation of `kvledger-core`, and nothing of its own. `ffi/archive.sh` makes
//! `libkvledger.a` of it, `ffi/include/kvledger.h` declares it, `ffi/gate.py` holds that no operation is missing and
//! that nothing in the archive can panic or allocate. What C does without is in `exempt.rs`, with the reasons.
//!
//! Conventions, which the header states to C callers and this crate may rely on:
//!
//! 1. Every function returns a status: 0, or the number of the refusal ([`Refusal::code`](kvledger_core::Refusal::code)).
//! 2. A pointer is a claim: NULL, misaligned, an array beyond the address space, outputs over each other or over the view
//!    of the call are `INVALID(Pointer)`, before anything happens. Only `refusal` may be NULL. What cannot be looked at is
//!    the caller's to keep: that the memory is there, and nobody else's for the call if it is written.
//! 3. Outputs are written on success only, `refusal` on refusal only. Output memory need not be initialized.
//! 4. Numbers that name something (a region, an element, a promise, an access) are plain integers and are checked: an enumeration
//!    as an argument would be undefined behaviour for a number that is none of it.
//!
//! 5. A struct that can grow begins with its size, and what the size does not cover is neither read nor written.
//!
//! Because of 2 and 5, arguments are declared as `In`, `Out` and `InOut`, which become references only when they can, and
//! `InSized` and `OutSized`, which are copied from and to; and nearly all of this crate is safe Rust. Claims, arrays,
//! sized structs, memory and the handle are the exceptions.

#![cfg_attr(not(test), no_std)]

mod answer;
mod array;
mod claim;
mod growing;
mod handle;
mod sized;

mod accounts;
mod admission;
mod cache;
mod epochs;
mod events;
#[cfg(kvl_exempt)]
mod exempt;
mod fork;
mod free_blocks;
mod growth;
mod identity;
mod limits;
mod memory;
mod observe;
mod offload;
mod plan;
mod prefix;
mod ranks;
mod recording;
mod release;
mod rows;
mod sequences;
mod speculation;
mod split;
mod together;
mod transfers;
mod version;

pub use accounts::*;
pub use admission::*;
pub use answer::KvlRefusal;
pub use cache::*;
pub use claim::{In, InOut, InSized, Out, OutSized};
pub use epochs::*;
pub use events::*;
pub use fork::*;
pub use free_blocks::*;
pub use growth::*;
pub use handle::{FREE_BLOCKS_BYTES, KvlFreeBlocks, KvlPool, KvlRank, POOL_BYTES, RANK_BYTES, View, Viewed};
pub use identity::*;
pub use limits::*;
pub use memory::*;
pub use observe::*;
pub use offload::*;
pub use plan::*;
pub use prefix::*;
pub use ranks::*;
pub use recording::*;
pub use release::*;
pub use rows::*;
pub use sequences::*;
pub use sized::{Grows, WithSize};
pub use speculation::*;
pub use split::*;
pub use together::*;
pub use transfers::*;
pub use version::*;

/// Never reached: the gate holds that no panic is left in the archive. A static library must have one all the same.
#[cfg(kvl_panic_handler)]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        safe fn abort() -> !;
    }
    abort()
}

/// A panic path on purpose, so that CI sees the gate fail.
#[cfg(kvl_planted_panic)]
#[unsafe(no_mangle)]
pub extern "C" fn kvl_planted_panic(index: usize) -> u32 {
    [1, 2, 3][index]
}
