//! What kernels read.

use crate::answer::{KvlRefusal, fill_apart};
use crate::array::{array, array_mut, span};
use crate::claim::{In, Out};
use crate::handle::{KvlPool, ask, view};
use kvledger_core::{Epoch, RowView, Sequence};

/// `Pool::row`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_row(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    row: Out<'_, RowView>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, row, refusal, || view(pool)?.row(sequence))
}

/// `Pool::launch_row`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_launch_row(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    epoch: u64,
    row: Out<'_, RowView>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, row, refusal, || view(pool)?.launch_row(sequence, Epoch(epoch)))
}

/// `Pool::export_row`.
///
/// # Safety
/// `blocks` is NULL or valid for `blocks_max` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_export_row(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    blocks: *mut u32,
    blocks_max: usize,
    count: Out<'_, u32>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill_apart(count, refusal, &[span(blocks, blocks_max)], &[pool.range()], || {
        // SAFETY: the caller's promise.
        let blocks = unsafe { array_mut(blocks, blocks_max) }?;
        view(pool)?.export_row(sequence, blocks)
    })
}

/// `Pool::export_csr`. `indptr` has `sequence_count` + 1 entries, `last_block_tokens` `sequence_count`.
///
/// # Safety
/// Each array is NULL or valid for as many entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_export_csr(
    pool: In<'_, KvlPool>,
    sequences: *const Sequence,
    sequence_count: usize,
    indptr: *mut u32,
    indices: *mut u32,
    indices_max: usize,
    last_block_tokens: *mut u32,
    count: Out<'_, u32>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    let starts = span(indptr, sequence_count.saturating_add(1));
    let written = [starts, span(indices, indices_max), span(last_block_tokens, sequence_count)];
    fill_apart(count, refusal, &written, &[span(sequences, sequence_count), pool.range()], || {
        // SAFETY: the caller's promise.
        let sequences = unsafe { array(sequences, sequence_count) }?;
        // SAFETY: the caller's promise.
        let indptr = unsafe { array_mut(indptr, sequence_count.saturating_add(1)) }?;
        // SAFETY: the caller's promise.
        let indices = unsafe { array_mut(indices, indices_max) }?;
        // SAFETY: the caller's promise.
        let last = unsafe { array_mut(last_block_tokens, sequence_count) }?;
        view(pool)?.export_csr(sequences, indptr, indices, last)
    })
}
