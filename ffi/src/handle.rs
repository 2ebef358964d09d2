//! `kvl_pool`, `kvl_free_blocks` and `kvl_rank`: a process's views of what lives in memory of the caller, themselves in
//! memory of the caller like everything else.
//!
//! The memory behind a view has no addresses inside, so that it may be mapped anywhere; a view has them, so that calls
//! need not work them out again. C holds a view in a struct of fixed size without knowing what is in it. It is written
//! once, by the call that makes it, and only read from then on: any number of threads may use it, it may be copied, and
//! nothing has to be done to let it go. A rank is the exception: it has a state of its own beside the view of its pool,
//! which its calls write, so one thread drives it.

use crate::answer::{KvlRefusal, POINTER, finish, ready, refuse, run};
use crate::claim::{In, InOut, Out, Output, meet};
use core::marker::PhantomData;
use core::mem::{MaybeUninit, align_of, needs_drop, size_of};
use kvledger_core::ranks::Rank;
use kvledger_core::{FreeBlocks, Pool, Refusal};

/// Bytes of a `kvl_pool`: more than a view has today, so that the ABI outlives a change of it.
pub const POOL_BYTES: usize = 4096;
/// Bytes of a `kvl_free_blocks`, for the same reason.
pub const FREE_BLOCKS_BYTES: usize = 512;
/// Bytes of a `kvl_rank`: a pool's, and what it remembers of a vote.
pub const RANK_BYTES: usize = POOL_BYTES + 512;

/// A view of a pool.
pub type KvlPool = View<Pool<'static>, { POOL_BYTES / 8 - 1 }>;
/// A view of a free list by itself.
pub type KvlFreeBlocks = View<FreeBlocks<'static>, { FREE_BLOCKS_BYTES / 8 - 1 }>;
/// One rank of a group.
pub type KvlRank = View<Rank<'static>, { RANK_BYTES / 8 - 1 }>;

const _: () = assert!(size_of::<KvlPool>() == POOL_BYTES);
const _: () = assert!(size_of::<KvlFreeBlocks>() == FREE_BLOCKS_BYTES);
const _: () = assert!(size_of::<KvlRank>() == RANK_BYTES);

/// What C may hold a view of. Nothing that has to be dropped: C copies views and forgets them.
pub trait Viewed {
    /// The first word of a view, which tells it from zeroed memory and from a view of something else.
    const MAGIC: u64;
}

impl Viewed for Pool<'static> {
    const MAGIC: u64 = u64::from_le_bytes(*b"kvl_pool");
}

impl Viewed for FreeBlocks<'static> {
    const MAGIC: u64 = u64::from_le_bytes(*b"kvl_free");
}

impl Viewed for Rank<'static> {
    const MAGIC: u64 = u64::from_le_bytes(*b"kvl_rank");
}

/// A `T` in a struct of C: the magic, then `WORDS` words that are C's to copy and ours to read.
#[repr(C)]
pub struct View<T, const WORDS: usize> {
    magic: u64,
    words: [MaybeUninit<u64>; WORDS],
    of: PhantomData<T>,
}

impl<T: Viewed, const WORDS: usize> View<T, WORDS> {
    /// A view of what Rust code has already, for a program that has both.
    pub fn new(value: T) -> Self {
        const {
            assert!(size_of::<T>() <= WORDS * 8, "raise the bytes of this view, and the header's");
            assert!(align_of::<T>() <= align_of::<Self>());
            assert!(!needs_drop::<T>());
        }
        let mut view = View { magic: T::MAGIC, words: [MaybeUninit::uninit(); WORDS], of: PhantomData };
        // SAFETY: `words` is large enough and aligned, as asserted above.
        unsafe { view.words.as_mut_ptr().cast::<T>().write(value) };
        view
    }
}

/// What is behind a view: `INVALID(Pointer)` if it is NULL, or was never written by the call that makes it.
#[inline(always)]
pub(crate) fn view<'a, T: Viewed, const WORDS: usize>(view: In<'a, View<T, WORDS>>) -> Result<&'a T, Refusal> {
    let view = view.given()?;
    if view.magic != T::MAGIC {
        return Err(POINTER);
    }
    // SAFETY: the magic is there, so `new` wrote a `T`; nobody writes to a view again.
    Ok(unsafe { &*view.words.as_ptr().cast::<T>() })
}

/// The same, to be changed.
#[inline(always)]
pub(crate) fn view_mut<'a, T: Viewed, const WORDS: usize>(
    view: InOut<'a, View<T, WORDS>>,
) -> Result<&'a mut T, Refusal> {
    let view = view.given()?;
    if view.magic != T::MAGIC {
        return Err(POINTER);
    }
    // SAFETY: the magic is there, so `new` wrote a `T`; C gives it to one call at a time.
    Ok(unsafe { &mut *view.words.as_mut_ptr().cast::<T>() })
}

/// Run a call on a view that has no output. `refusal` over the view would destroy it, and what the next call would follow:
/// it is answered by the status alone. (`call` is handed on as it is: within another closure its arguments went through memory,
/// and an advance took 7 ns longer in `benches/over_rust.rs`.)
#[inline(always)]
pub(crate) fn tell<T, const WORDS: usize>(
    of: In<'_, View<T, WORDS>>,
    refusal: Out<'_, KvlRefusal>,
    call: impl FnOnce() -> Result<(), Refusal>,
) -> u32 {
    if meet(of.range(), refusal.range()) { POINTER.code() } else { run(refusal, call) }
}

/// The same of a call with an output, which may not lie over the view either.
#[inline(always)]
pub(crate) fn ask<T, const WORDS: usize, O: Output>(
    of: In<'_, View<T, WORDS>>,
    output: O,
    mut refusal: Out<'_, KvlRefusal>,
    call: impl FnOnce() -> Result<O::Value, Refusal>,
) -> u32 {
    if meet(of.range(), refusal.range()) {
        return POINTER.code();
    }
    if let Err(status) = ready(&output, &mut refusal) {
        return status;
    }
    if meet(of.range(), output.range()) {
        return refuse(refusal, POINTER);
    }
    finish(output, refusal, call())
}
