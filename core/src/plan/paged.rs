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
