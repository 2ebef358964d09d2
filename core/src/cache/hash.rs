//! A name as 64 well mixed bits.
//!
//! Names that the pool's own key made are random already, but a caller may name blocks by counters, so every bit of a name
//! must reach every bit of the result. The mixer is the finalizer of SplitMix64 (Steele, Lea, Flood: Fast Splittable
//! Pseudorandom Number Generators, OOPSLA 2014) with the constants of David Stafford's variant 13. It is no secret: who
//! chooses names can choose them to meet in one bucket, and gets lost hits of his own names' for it.

use crate::identity::Identity;

/// 2^64 divided by the golden ratio, odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Equal for equal names; otherwise as if drawn.
#[inline(always)]
pub(super) const fn hash(name: Identity) -> u64 {
    // A bijection of either half with the other one fixed, so names that differ in one half only never become one here.
    let mut bits = name.low ^ name.high.wrapping_mul(GOLDEN).rotate_left(32);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}
