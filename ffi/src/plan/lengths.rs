//! Blocks and slots of lengths: `plan::paged`, `plan::contiguous`, and the shares that they answer.

use crate::answer::{KvlRefusal, fill};
use crate::array::array;
use crate::claim::{In, Out};
use kvledger_core::plan::{Ratio, contiguous, paged};

/// `Ratio::to_f64`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_ratio_to_f64(ratio: In<'_, Ratio>, value: Out<'_, f64>, refusal: Out<'_, KvlRefusal>) -> u32 {
    fill(value, refusal, || Ok(ratio.given()?.to_f64()))
}

/// `paged::blocks_for`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_blocks_for(
    tokens: u64,
    block_tokens: u32,
    blocks: Out<'_, u64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(blocks, refusal, || paged::blocks_for(tokens, block_tokens))
}

/// `paged::growth_blocks`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_growth_blocks(
    tokens: u64,
    more_tokens: u64,
    block_tokens: u32,
    blocks: Out<'_, u64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(blocks, refusal, || paged::growth_blocks(tokens, more_tokens, block_tokens))
}

/// `paged::window_blocks`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_window_blocks(
    window_tokens: u32,
    steps_in_flight: u32,
    step_tokens: u32,
    block_tokens: u32,
    blocks: Out<'_, u64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(blocks, refusal, || paged::window_blocks(window_tokens, steps_in_flight, step_tokens, block_tokens))
}

/// `paged::paged_slots`.
///
/// # Safety
/// `lengths` is NULL or valid for `count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_paged_slots(
    lengths: *const u32,
    count: usize,
    block_tokens: u32,
    slots: Out<'_, u64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(slots, refusal, || {
        // SAFETY: the caller's promise.
        let lengths = unsafe { array(lengths, count) }?;
        paged::paged_slots(lengths, block_tokens)
    })
}

/// `paged::slack`.
///
/// # Safety
/// `lengths` is NULL or valid for `count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_slack(
    lengths: *const u32,
    count: usize,
    block_tokens: u32,
    share: Out<'_, Ratio>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(share, refusal, || {
        // SAFETY: the caller's promise.
        let lengths = unsafe { array(lengths, count) }?;
        paged::slack(lengths, block_tokens)
    })
}

/// `paged::group_blocks`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_group_blocks(
    requests: u64,
    prefix_tokens: u64,
    tokens_max: u64,
    block_tokens: u32,
    blocks: Out<'_, u64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(blocks, refusal, || paged::group_blocks(requests, prefix_tokens, tokens_max, block_tokens))
}

/// `paged::group_requests`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_group_requests(
    blocks: u64,
    prefix_tokens: u64,
    tokens_max: u64,
    block_tokens: u32,
    requests: Out<'_, u64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(requests, refusal, || paged::group_requests(blocks, prefix_tokens, tokens_max, block_tokens))
}

/// `contiguous::reserved_slots`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_reserved_slots(
    sequences: u64,
    tokens_max: u32,
    slots: Out<'_, u64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(slots, refusal, || contiguous::reserved_slots(sequences, tokens_max))
}

/// `contiguous::used_slots`.
///
/// # Safety
/// `lengths` is NULL or valid for `count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_used_slots(
    lengths: *const u32,
    count: usize,
    tokens_max: u32,
    slots: Out<'_, u64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(slots, refusal, || {
        // SAFETY: the caller's promise.
        let lengths = unsafe { array(lengths, count) }?;
        contiguous::used_slots(lengths, tokens_max)
    })
}

/// `contiguous::waste_fraction`.
///
/// # Safety
/// `lengths` is NULL or valid for `count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_waste_fraction(
    lengths: *const u32,
    count: usize,
    tokens_max: u32,
    share: Out<'_, Ratio>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(share, refusal, || {
        // SAFETY: the caller's promise.
        let lengths = unsafe { array(lengths, count) }?;
        contiguous::waste_fraction(lengths, tokens_max)
    })
}

/// `contiguous::extra_reservations`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_extra_reservations(
    pool_slots: u64,
    tokens_max: u32,
    running: u64,
    reservations: Out<'_, u64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(reservations, refusal, || contiguous::extra_reservations(pool_slots, tokens_max, running))
}
