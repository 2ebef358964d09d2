//! The policy that paging replaces: one contiguous region of the longest length for each sequence. It is here so that
//! it can be compared with, in the same units and with its denominator said.

use super::{Ratio, product, sum};
use crate::answer::{Argument, Refusal};

/// Token slots reserved when each of `sequences` gets a region of `tokens_max`.
///
/// `INVALID(Overflow)` if that does not fit in 64 bits.
pub const fn reserved_slots(sequences: u64, tokens_max: u32) -> Result<u64, Refusal> {
    product(sequences, tokens_max as u64)
}

/// Token slots that hold a token: the sum of the lengths.
///
/// `INVALID(Length)` if a length is above `tokens_max` (`u32::MAX`: no maximum), `INVALID(Overflow)` if the sum does
/// not fit in 64 bits. Cost: one pass over the lengths.
pub const fn used_slots(lengths: &[u32], tokens_max: u32) -> Result<u64, Refusal> {
    let mut used = 0u64;
    let mut rest = lengths;
    while let [length, after @ ..] = rest {
        if *length > tokens_max {
            return Err(Refusal::invalid(Argument::Length));
        }
        used = attempt!(sum(used, *length as u64));
        rest = after;
    }
    Ok(used)
}

/// The share of the *reserved* slots that hold no token: (reserved − used) / reserved.
///
/// `INVALID(Tokens)` if nothing is reserved (no lengths, or a maximum of 0), which has no share; else as
/// [`used_slots`] and [`reserved_slots`].
pub const fn waste_fraction(lengths: &[u32], tokens_max: u32) -> Result<Ratio, Refusal> {
    let used = attempt!(used_slots(lengths, tokens_max));
    let reserved = attempt!(reserved_slots(lengths.len() as u64, tokens_max));
    if reserved == 0 {
        return Err(Refusal::invalid(Argument::Tokens));
    }
    // No length is above the maximum, so used <= reserved.
    Ok(Ratio { numerator: reserved.saturating_sub(used), denominator: reserved })
}

/// Further regions of `tokens_max` that fit into a pool of `pool_slots` beside the `running` ones: a whole number,
/// rounded down; 0 when the running ones are as many as fit or more.
///
/// `INVALID(Tokens)` if `tokens_max` is 0.
pub const fn extra_reservations(pool_slots: u64, tokens_max: u32, running: u64) -> Result<u64, Refusal> {
    match pool_slots.checked_div(tokens_max as u64) {
        Some(regions) => Ok(regions.saturating_sub(running)),
        None => Err(Refusal::invalid(Argument::Tokens)),
    }
}
