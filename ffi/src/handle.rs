//! `kvl_pool`: a process's view of a pool, in memory of the caller like everything else.
//!
//! A pool's memory has no addresses inside, so that it may be mapped anywhere; a view has them, so that calls need not
//! work them out again. C holds the view in a struct of fixed size without knowing what is in it. It is written once,
//! by `kvl_init` or `kvl_attach`, and only read from then on: any number of threads may use it, it may be copied, and
//! nothing has to be done to let it go.

use crate::answer::{In, NULL};
use core::mem::{MaybeUninit, align_of, size_of};
use kvledger_core::{Pool, Refusal};

/// Bytes of a `kvl_pool`: more than a view has today, so that the ABI outlives a change of it.
pub const POOL_BYTES: usize = 2048;

/// "kvl_view", little-endian: tells a view from zeroed memory.
const MAGIC: u64 = u64::from_le_bytes(*b"kvl_view");
const VIEW_WORDS: usize = POOL_BYTES / 8 - 1;

/// A view of a pool.
#[repr(C)]
pub struct KvlPool {
    magic: u64,
    view: [MaybeUninit<u64>; VIEW_WORDS],
}

const _: () = assert!(size_of::<KvlPool>() == POOL_BYTES);
const _: () = assert!(size_of::<Pool<'static>>() <= VIEW_WORDS * 8, "raise POOL_BYTES, and the header's");
const _: () = assert!(align_of::<Pool<'static>>() <= align_of::<KvlPool>());

impl KvlPool {
    pub(crate) fn new(pool: Pool<'static>) -> KvlPool {
        let mut handle = KvlPool { magic: MAGIC, view: [MaybeUninit::uninit(); VIEW_WORDS] };
        let place = handle.view.as_mut_ptr().cast::<Pool<'static>>();
        // SAFETY: `view` is large enough and aligned, as asserted above.
        unsafe { place.write(pool) };
        handle
    }
}

/// The pool behind a handle: `INVALID(Pointer)` if it is NULL, or was never written by `kvl_init` or `kvl_attach`.
#[inline(always)]
pub(crate) fn view<'a>(pool: In<'a, KvlPool>) -> Result<&'a Pool<'static>, Refusal> {
    match pool {
        Some(handle) if handle.magic == MAGIC => {
            // SAFETY: the magic is there, so `new` wrote a pool; nobody writes to a handle again.
            Ok(unsafe { &*handle.view.as_ptr().cast::<Pool<'static>>() })
        }
        _ => Err(NULL),
    }
}
