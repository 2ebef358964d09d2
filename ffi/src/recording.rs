//! The flight recorder of a handle: `Pool::recording`, `ring`, `dump`.

use crate::answer::{KvlRefusal, fill_apart};
use crate::array::{array_mut, span};
use crate::claim::{In, Out};
use crate::handle::{KvlPool, ask, view};
use crate::memory::memory_lines;
use core::ffi::c_void;
use kvledger_core::recorder::RingState;

/// `Pool::recording`.
///
/// # Safety
/// `ring` is NULL or valid for as many bytes, and the handle's alone from now on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_recording(
    pool: In<'_, KvlPool>,
    ring: *mut c_void,
    ring_bytes: usize,
    recording: Out<'_, KvlPool>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill_apart(recording, refusal, &[span(ring.cast::<u8>(), ring_bytes)], &[pool.range()], || {
        let pool = view(pool)?;
        // SAFETY: the caller's promise.
        let ring = unsafe { memory_lines(ring, ring_bytes) }?;
        Ok(KvlPool::new(pool.recording(ring)?))
    })
}

/// `Pool::ring`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_ring(pool: In<'_, KvlPool>, state: Out<'_, RingState>, refusal: Out<'_, KvlRefusal>) -> u32 {
    ask(pool, state, refusal, || Ok(view(pool)?.ring()))
}

/// `Pool::dump`.
///
/// # Safety
/// `words` is NULL or valid for `words_max` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_dump(
    pool: In<'_, KvlPool>,
    words: *mut u64,
    words_max: usize,
    count: Out<'_, usize>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill_apart(count, refusal, &[span(words, words_max)], &[pool.range()], || {
        let pool = view(pool)?;
        // SAFETY: the caller's promise.
        pool.dump(unsafe { array_mut(words, words_max) }?)
    })
}
