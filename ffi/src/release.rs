//! Blocks that a sequence gives up while it runs: `release`, which is `kvl_release_blocks` beside
//! `kvl_release_tokens`, `release_tokens`, `trim`.

use crate::answer::KvlRefusal;
use crate::array::array;
use crate::claim::{In, Out};
use crate::handle::{KvlPool, ask, view};
use kvledger_core::{BlockId, Released, Sequence};

/// `Pool::release`.
///
/// # Safety
/// `blocks` is NULL or valid for `count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_release_blocks(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    blocks: *const BlockId,
    count: usize,
    released: Out<'_, Released>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, released, refusal, || {
        let pool = view(pool)?;
        // SAFETY: the caller's promise.
        pool.release(sequence, unsafe { array(blocks, count) }?)
    })
}

/// `Pool::release_tokens`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_release_tokens(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    from: u32,
    to: u32,
    released: Out<'_, Released>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, released, refusal, || view(pool)?.release_tokens(sequence, from, to))
}

/// `Pool::trim`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_trim(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    tokens: u32,
    released: Out<'_, Released>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, released, refusal, || view(pool)?.trim(sequence, tokens))
}
