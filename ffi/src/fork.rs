//! Sequences that go on from one: `fork`, and the copy of a shared tail, `copy_order`, `copy_submitted`.

use crate::answer::KvlRefusal;
use crate::array::array;
use crate::claim::{In, Out};
use crate::handle::{KvlPool, ask, tell, view};
use kvledger_core::{CopyOrder, Epoch, Forked, Sequence};

/// `Pool::fork`.
///
/// # Safety
/// `children` is NULL or valid for `count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_fork(
    pool: In<'_, KvlPool>,
    parent: Sequence,
    children: *const Sequence,
    count: usize,
    output_tokens_max: u32,
    watermark: u32,
    forked: Out<'_, Forked>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, forked, refusal, || {
        let pool = view(pool)?;
        // SAFETY: the caller's promise.
        let children = unsafe { array(children, count) }?;
        pool.fork(parent, children, output_tokens_max, watermark)
    })
}

/// `Pool::copy_order`; all zeros if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_copy_order(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    copy: Out<'_, CopyOrder>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, copy, refusal, || Ok(view(pool)?.copy_order(sequence)?.unwrap_or_default()))
}

/// `Pool::copy_submitted`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_copy_submitted(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    epoch: u64,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    tell(pool, refusal, || view(pool)?.copy_submitted(sequence, Epoch(epoch)))
}
