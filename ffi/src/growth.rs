//! Promises and blocks of an admitted sequence: `advance` and its kin, `extend`, `shrink`.

use crate::answer::{KvlRefusal, fill_apart};
use crate::array::{array, array_mut, span};
use crate::claim::{In, Out};
use crate::handle::{KvlPool, ask, tell, view};
use kvledger_core::{Advanced, Batch, Sequence, Step};

/// `Pool::advance`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_advance(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    tokens: u32,
    advanced: Out<'_, Advanced>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, advanced, refusal, || view(pool)?.advance(sequence, tokens))
}

/// `Pool::advance_growing`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_advance_growing(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    tokens: u32,
    watermark: u32,
    advanced: Out<'_, Advanced>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, advanced, refusal, || view(pool)?.advance_growing(sequence, tokens, watermark))
}

/// `Pool::advance_many`. `answers` and `changed` have `count` entries each.
///
/// # Safety
/// `steps`, `answers` and `changed` are NULL or valid for `count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_advance_many(
    pool: In<'_, KvlPool>,
    steps: *const Step,
    count: usize,
    answers: *mut u32,
    changed: *mut u32,
    batch: Out<'_, Batch>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    let written = [span(answers, count), span(changed, count)];
    fill_apart(batch, refusal, &written, &[span(steps, count), pool.range()], || {
        // SAFETY: the caller's promise.
        let steps = unsafe { array(steps, count) }?;
        // SAFETY: the caller's promise.
        let answers = unsafe { array_mut(answers, count) }?;
        // SAFETY: the caller's promise.
        let changed = unsafe { array_mut(changed, count) }?;
        view(pool)?.advance_many(steps, answers, changed)
    })
}

/// `Pool::materialize`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_materialize(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    blocks: u32,
    advanced: Out<'_, Advanced>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, advanced, refusal, || view(pool)?.materialize(sequence, blocks))
}

/// `Pool::extend`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_extend(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    blocks: u32,
    watermark: u32,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    tell(pool, refusal, || view(pool)?.extend(sequence, blocks, watermark))
}

/// `Pool::shrink`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_shrink(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    blocks: u32,
    returned: Out<'_, u32>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, returned, refusal, || view(pool)?.shrink(sequence, blocks))
}

/// `Pool::draw_safety`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_draw_safety(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    blocks: u32,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    tell(pool, refusal, || view(pool)?.draw_safety(sequence, blocks))
}
