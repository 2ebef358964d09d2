//! What requests need in blocks: rounding up to whole blocks, growth, slack, and a prefix that a trust group shares.

use super::{Ratio, product, sum};
use crate::answer::{Argument, Refusal};

/// Blocks that hold `tokens`: ⌈tokens/B⌉. The last one may be almost empty and is a whole block all the same.
///
/// `INVALID(BlockTokens)` if `block_tokens` is 0.
pub const fn blocks_for(tokens: u64, block_tokens: u32) -> Result<u64, Refusal> {
    if block_tokens == 0 {
        return Err(Refusal::invalid(Argument::BlockTokens));
    }
    Ok(tokens.div_ceil(block_tokens as u64))
}

/// Further blocks when `more_tokens` follow `tokens`: ⌈(a+b)/B⌉ − ⌈a/B⌉. Right for a sequence that shares nothing it
/// writes to: a shared writable tail costs one block more, for its copy.
///
/// `INVALID(BlockTokens)` if `block_tokens` is 0, `INVALID(Overflow)` if the sum does not fit in 64 bits.
pub const fn growth_blocks(tokens: u64, more_tokens: u64, block_tokens: u32) -> Result<u64, Refusal> {
    let now = attempt!(blocks_for(tokens, block_tokens));
    let then = attempt!(blocks_for(attempt!(sum(tokens, more_tokens)), block_tokens));
    Ok(then.saturating_sub(now))
}

/// Most blocks that a sequence holds in layers that look back `window_tokens` at most, W: ⌈(W − 1 + (d + 1) · chunk)/B⌉ + 1.
/// d = `steps_in_flight`, its own steps in flight when a step is prepared; `step_tokens` is the most that a step adds to
/// it, the chunk, speculation included. The last term is for a window that begins in the middle of a block. A sequence
/// that is shorter holds [`blocks_for`] its tokens, which is then the smaller of the two.
///
/// `INVALID(BlockTokens)` if `block_tokens` is 0, `INVALID(Tokens)` if the window is 0. The answer always fits: with the
/// largest arguments it is 2^64 − 1.
pub const fn window_blocks(
    window_tokens: u32,
    steps_in_flight: u32,
    step_tokens: u32,
    block_tokens: u32,
) -> Result<u64, Refusal> {
    if block_tokens == 0 {
        return Err(Refusal::invalid(Argument::BlockTokens));
    }
    let Some(before) = window_tokens.checked_sub(1) else {
        return Err(Refusal::invalid(Argument::Tokens));
    };
    let steps = attempt!(product(steps_in_flight as u64 + 1, step_tokens as u64));
    let whole = attempt!(blocks_for(attempt!(sum(before as u64, steps)), block_tokens));
    sum(whole, 1)
}

/// Token slots that the blocks of sequences with these lengths have, shared blocks counted for each.
///
/// `INVALID(BlockTokens)` if `block_tokens` is 0, `INVALID(Overflow)` if the sum does not fit in 64 bits. Cost: one
/// pass over the lengths.
pub const fn paged_slots(lengths: &[u32], block_tokens: u32) -> Result<u64, Refusal> {
    let mut blocks = 0u64;
    let mut rest = lengths;
    while let [length, after @ ..] = rest {
        blocks = attempt!(sum(blocks, attempt!(blocks_for(*length as u64, block_tokens))));
        rest = after;
    }
    product(blocks, block_tokens as u64)
}

/// The share of the *allocated* slots ([`paged_slots`]) that hold no token. The denominator is these sequences' own
/// allocation: not the pool, and not the device's memory.
///
/// `INVALID(Tokens)` if nothing is allocated, which has no share; else as [`paged_slots`].
pub const fn slack(lengths: &[u32], block_tokens: u32) -> Result<Ratio, Refusal> {
    let slots = attempt!(paged_slots(lengths, block_tokens));
    let used = attempt!(super::contiguous::used_slots(lengths, u32::MAX));
    if slots == 0 {
        return Err(Refusal::invalid(Argument::Tokens));
    }
    // Rounding up only adds slots, so used <= slots.
    Ok(Ratio { numerator: slots.saturating_sub(used), denominator: slots })
}

/// Blocks of `requests` of one trust group, each `tokens_max` long at its longest, whose first `prefix_tokens` are the
/// same: the ⌊prefix/B⌋ whole blocks once, everything else for each. Requests of different trust groups share nothing:
/// ask for each group.
///
/// `INVALID(BlockTokens)` if `block_tokens` is 0, `INVALID(Length)` if the prefix is longer than the request,
/// `INVALID(Overflow)` if the answer does not fit in 64 bits.
pub const fn group_blocks(
    requests: u64,
    prefix_tokens: u64,
    tokens_max: u64,
    block_tokens: u32,
) -> Result<u64, Refusal> {
    let split = attempt!(split(prefix_tokens, tokens_max, block_tokens));
    if requests == 0 {
        return Ok(0);
    }
    sum(split.shared, attempt!(product(requests, split.private)))
}

/// The most requests for which [`group_blocks`] is at most `blocks`; `u64::MAX` if they share all they have and that
/// fits.
///
/// `INVALID(BlockTokens)` and `INVALID(Length)` as [`group_blocks`].
pub const fn group_requests(
    blocks: u64,
    prefix_tokens: u64,
    tokens_max: u64,
    block_tokens: u32,
) -> Result<u64, Refusal> {
    let split = attempt!(split(prefix_tokens, tokens_max, block_tokens));
    match blocks.checked_sub(split.shared) {
        None => Ok(0),
        Some(left) => Ok(match left.checked_div(split.private) {
            Some(requests) => requests,
            None => u64::MAX,
        }),
    }
}

/// A request's blocks: those its group shares and those it has alone.
struct Split {
    shared: u64,
    private: u64,
}

const fn split(prefix_tokens: u64, tokens_max: u64, block_tokens: u32) -> Result<Split, Refusal> {
    let all = attempt!(blocks_for(tokens_max, block_tokens));
    if prefix_tokens > tokens_max {
        return Err(Refusal::invalid(Argument::Length));
    }
    let shared = match prefix_tokens.checked_div(block_tokens as u64) {
        Some(whole) => whole,
        None => 0,
    };
    Ok(Split { shared, private: all.saturating_sub(shared) })
}
