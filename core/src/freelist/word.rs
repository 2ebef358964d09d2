//! What can be read off one 64-bit word of a bit map: pure functions, no atomics, total for every argument.

pub(super) use crate::bits::{WORD_BITS, mask_of, word_of};

/// log2 of [`WORD_BITS`].
pub(super) const WORD_SHIFT: u32 = 6;

/// The lowest `count` bits set; all of them from 64 on.
#[inline(always)]
pub(super) const fn ones(count: u32) -> u64 {
    if count == 0 { 0 } else { u64::MAX >> WORD_BITS.saturating_sub(count) }
}

/// `count` bits set from bit `at` (0 ..= 63) on.
#[inline(always)]
pub(super) const fn ones_at(at: u32, count: u32) -> u64 {
    ones(count) << (at & (WORD_BITS - 1))
}

/// The lowest `count` set bits of `word`; all of them if there are fewer.
#[inline(always)]
pub(super) const fn lowest(word: u64, count: u32) -> u64 {
    if count == 1 {
        return word & word.wrapping_neg();
    }
    if count >= word.count_ones() {
        return word;
    }
    let mut rest = word;
    let mut left = count;
    while left > 0 {
        rest &= rest.wrapping_sub(1);
        left -= 1;
    }
    word ^ rest
}

/// Up to `count` set bits of `word` that follow one another from bit `at` on; none if bit `at` is clear.
#[inline(always)]
pub(super) const fn run_from(word: u64, at: u32, count: u32) -> u64 {
    let at = at & (WORD_BITS - 1);
    let found = (word >> at).trailing_ones();
    ones_at(at, if found < count { found } else { count })
}

/// The lowest `count` neighbouring set bits of `word`, or none. `count` is 1 ..= 64.
#[inline(always)]
pub(super) const fn run_of(word: u64, count: u32) -> u64 {
    if count > WORD_BITS {
        return 0;
    }
    // After the loop a bit is set where `count` ones start: each step joins runs of `have` to runs of `have + step`.
    let mut starts = word;
    let mut have = 1;
    while have < count {
        let step = if have < count - have { have } else { count - have };
        starts &= starts >> step;
        have += step;
    }
    if starts == 0 { 0 } else { ones_at(starts.trailing_zeros(), count) }
}

/// Bits in a lane: a quarter of a word, the least room that is worth looking for.
const LANE_BITS: u32 = 16;

/// The lowest bit of each aligned lane that is set throughout.
#[inline(always)]
pub(super) const fn lanes(word: u64) -> u64 {
    let mut all = word & (word >> (LANE_BITS / 2));
    all &= all >> (LANE_BITS / 4);
    all &= all >> (LANE_BITS / 8);
    all &= all >> (LANE_BITS / 16);
    all & 0x0001_0001_0001_0001
}

/// Up to `count` neighbouring set bits from the first lane on that is set throughout, or none.
#[inline(always)]
pub(super) const fn lane_run(word: u64, count: u32) -> u64 {
    let lanes = lanes(word);
    if lanes == 0 { 0 } else { run_from(word, lanes.trailing_zeros(), count) }
}

/// The words and masks that bits `at .. at + count` fall into.
pub(super) struct Pieces {
    at: u32,
    left: u32,
}

impl Pieces {
    #[inline(always)]
    pub(super) const fn new(at: u32, count: u32) -> Pieces {
        // Bit numbers are 32-bit: what lies beyond is no bit of any map.
        let behind = u32::MAX - at;
        Pieces { at, left: if count > behind { behind.saturating_add(1) } else { count } }
    }
}

impl Iterator for Pieces {
    type Item = (usize, u64);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, u64)> {
        if self.left == 0 {
            return None;
        }
        let bit = self.at & (WORD_BITS - 1);
        let count = self.left.min(WORD_BITS - bit);
        let piece = (word_of(self.at), ones_at(bit, count));
        self.at = self.at.wrapping_add(count);
        self.left -= count;
        Some(piece)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Words of every density, from a fixed seed, and the extremes.
    fn samples() -> Vec<u64> {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut words = std::vec![0, 1, u64::MAX, 1 << 63, u64::MAX - 1, u64::MAX >> 1, 0xFFFF_0000_FFFF_0000];
        for _ in 0..500 {
            let (a, b, c) = (next(), next(), next());
            words.extend([a, a & b, a | b, a & b & c, a | b | c]);
        }
        words
    }

    fn bit(word: u64, at: u32) -> bool {
        at < 64 && word >> at & 1 == 1
    }

    #[test]
    fn lowest_is_the_first_set_bits() {
        for word in samples() {
            for count in 0..=65 {
                let slow = (0..64).filter(|&at| bit(word, at)).take(count as usize).fold(0, |mask, at| mask | 1 << at);
                assert_eq!(lowest(word, count), slow, "{word:#x}, {count}");
            }
        }
    }

    #[test]
    fn runs_are_found_where_they_are() {
        for word in samples() {
            for count in 1..=64 {
                let at = (0..64).find(|&at| (at..at + count).all(|at| bit(word, at)));
                assert_eq!(run_of(word, count), at.map_or(0, |at| ones_at(at, count)), "{word:#x}, {count}");
                let from = (count * 7) % 64;
                let len = (from..64).take_while(|&at| bit(word, at)).count().min(count as usize);
                assert_eq!(run_from(word, from, count), ones_at(from, len as u32), "{word:#x}, {from}, {count}");
            }
            assert_eq!(run_of(word, 65), 0);
        }
    }

    #[test]
    fn lanes_are_the_aligned_sixteens() {
        for word in samples() {
            let slow =
                (0..4).filter(|lane| word >> (16 * lane) & 0xFFFF == 0xFFFF).fold(0, |m, lane| m | 1 << (16 * lane));
            assert_eq!(lanes(word), slow, "{word:#x}");
        }
    }

    #[test]
    fn pieces_cover_the_bits_once() {
        for (at, count) in [
            (0, 0),
            (0, 64),
            (1, 64),
            (63, 1),
            (63, 2),
            (5, 500),
            (64, 128),
            (u32::MAX - 70, 200),
            (u32::MAX, 1),
            (u32::MAX, 2),
        ] {
            let bits: u64 = Pieces::new(at, count).map(|(_, mask)| u64::from(mask.count_ones())).sum();
            assert_eq!(bits, u64::from(count).min((1 << 32) - u64::from(at)));
            let mut last = None;
            for (word, mask) in Pieces::new(at, count) {
                assert!(mask != 0 && last.is_none_or(|last| last < word));
                last = Some(word);
            }
        }
    }
}
