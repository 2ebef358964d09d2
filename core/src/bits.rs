//! Which bit of a row of 64-bit words stands for a number, and the bits of one word in order.

/// Bits in a word.
pub(crate) const WORD_BITS: u32 = u64::BITS;

/// The word that holds a bit.
#[inline(always)]
pub(crate) const fn word_of(bit: u32) -> usize {
    (bit / WORD_BITS) as usize
}

/// A bit's place in its word, as a mask.
#[inline(always)]
pub(crate) const fn mask_of(bit: u32) -> u64 {
    1 << (bit % WORD_BITS)
}

/// The number of bit `place` of word `word`.
#[inline(always)]
pub(crate) const fn bit_at(word: usize, place: u32) -> u32 {
    (word as u32).wrapping_mul(WORD_BITS).wrapping_add(place)
}

/// The places of the set bits of a word, from the lowest.
#[derive(Clone, Copy)]
pub(crate) struct Places(pub(crate) u64);

impl Iterator for Places {
    type Item = u32;

    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        if self.0 == 0 {
            return None;
        }
        let lowest = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(lowest)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_its_word_and_place() {
        for bit in [0, 1, 63, 64, 4095, 4096, (1 << 31) - 2] {
            let place = mask_of(bit).trailing_zeros();
            assert_eq!(bit_at(word_of(bit), place), bit);
        }
        assert!(Places(1 | 1 << 7 | 1 << 63).eq([0, 7, 63]));
        assert_eq!(Places(0).next(), None);
    }
}
