//! The admission word: one 64-bit atomic that decides every admission (I1).
//!
//! Problem: two admissions that both look at a free count can each look safe and overcommit together. So what the
//! decision reads is one word, and the decision is one compare-exchange on it.
//!
//! The word has two 32-bit halves, committed (A) and spoken for (R + S: the safety margin is a promise to nobody). The
//! third, headroom = N − A − R − S, follows. Neither half can borrow from the other: A + R + S ≤ N < 2^31 holds at
//! every step, and each half only falls by what was added to it before (I10).
//!
//! 1. *promise* k: R += k, if A + R + S + k + watermark ≤ N. A compare-exchange loop: lock-free.
//! 2. *materialize* k of an existing promise: A += k, R −= k in one wait-free addition that cannot fail.
//! 3. *release*: A −= a, R −= r in one wait-free subtraction, after the blocks are back in the free list.
//!
//! Supply argument (`ARCHITECTURE.md`). When A grows the word changes first and blocks are taken after; when A shrinks blocks
//! are put back first and the word changes after. So F + E ≥ N − A ≥ R + S at every moment, and whoever holds a
//! promise finds its block. The orderings are O1 (release, publishes the bits) and O2 (acquire, sees them).

use crate::sync::{AcqRel, Acquire, AtomicU64, Plant, planted};

/// The two halves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Word {
    /// A.
    pub(crate) committed: u32,
    /// R + S.
    pub(crate) spoken: u32,
}

impl Word {
    const fn unpack(raw: u64) -> Word {
        Word { committed: raw as u32, spoken: (raw >> 32) as u32 }
    }

    #[cfg(test)]
    const fn pack(self) -> u64 {
        self.committed as u64 | (self.spoken as u64) << 32
    }

    /// A + R + S.
    pub(crate) const fn used(self) -> u64 {
        self.committed as u64 + self.spoken as u64
    }

    /// How many blocks are missing for `count` more above `watermark`; 0 if it fits.
    const fn short_by(self, blocks: u32, count: u32, watermark: u32) -> u64 {
        (self.used() + count as u64 + watermark as u64).saturating_sub(blocks as u64)
    }
}

/// What an admission asks for, decided as one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Need {
    /// Blocks that are taken now: to A, a promise and its materialization in one step.
    pub(crate) committed: u32,
    /// Blocks that are taken later: to R.
    pub(crate) promised: u32,
}

impl Need {
    pub(crate) const fn promised(count: u32) -> Need {
        Need { committed: 0, promised: count }
    }

    pub(crate) const fn committed(count: u32) -> Need {
        Need { committed: count, promised: 0 }
    }

    /// Both together; at most N + a promise, far below 2^64, and cut to 32 bits where it could not be granted anyway.
    pub(crate) const fn blocks(self) -> u32 {
        self.committed.saturating_add(self.promised)
    }

    const fn pack(self) -> u64 {
        self.committed as u64 | (self.promised as u64) << 32
    }
}

/// The word and what it is measured against.
#[derive(Clone, Copy)]
pub(crate) struct Ledger<'m> {
    word: &'m AtomicU64,
    blocks: u32,
}

impl<'m> Ledger<'m> {
    pub(crate) fn new(word: &'m AtomicU64, blocks: u32) -> Ledger<'m> {
        Ledger { word, blocks }
    }

    /// N.
    pub(crate) fn blocks(&self) -> u32 {
        self.blocks
    }

    /// One load, always consistent.
    pub(crate) fn load(&self) -> Word {
        Word::unpack(self.word.load(Acquire))
    }

    /// Admit `need` if it fits above `watermark`; else how many blocks are missing (at least 1). I1.
    #[inline]
    pub(crate) fn admit(&self, need: Need, watermark: u32) -> Result<(), u32> {
        let mut raw = self.word.load(Acquire);
        loop {
            let short = Word::unpack(raw).short_by(self.blocks, need.blocks(), watermark);
            if short > 0 {
                return Err(u32::try_from(short).unwrap_or(u32::MAX));
            }
            let next = raw + need.pack();
            debug_assert!(Word::unpack(next).used() <= self.blocks as u64, "I1: A + R + S <= N");
            if planted(Plant::AdmitInTwoSteps) {
                self.word.fetch_add(need.pack(), AcqRel);
                return Ok(());
            }
            // O2 acquire, pairs with O1 release in `release` and `credit`: the blocks that made room are seen as free.
            match self.word.compare_exchange_weak(raw, next, AcqRel, Acquire) {
                Ok(_) => return Ok(()),
                Err(now) => raw = now,
            }
        }
    }

    /// How many blocks are missing at this moment; 0 if `count` fits above `watermark`.
    pub(crate) fn short_by(&self, count: u32, watermark: u32) -> u32 {
        u32::try_from(self.load().short_by(self.blocks, count, watermark)).unwrap_or(u32::MAX)
    }

    /// `count` blocks of a promise become committed: I8, the sum is unchanged. Wait-free, cannot fail (I3).
    #[inline]
    pub(crate) fn materialize(&self, count: u32) {
        let delta = (count as u64).wrapping_sub((count as u64) << 32);
        let before = Word::unpack(self.word.fetch_add(delta, AcqRel));
        debug_assert!(before.spoken >= count, "I10: R never wraps");
    }

    /// `committed` blocks leave A and `promised` leave R. The blocks are back already. Wait-free.
    #[inline]
    pub(crate) fn release(&self, committed: u32, promised: u32) {
        // O1 release, pairs with O2 acquire in `admit`: bits first, then the word.
        let before = Word::unpack(self.word.fetch_sub(committed as u64 | (promised as u64) << 32, AcqRel));
        debug_assert!(before.committed >= committed && before.spoken >= promised, "I10: no half wraps");
    }

    /// `count` blocks leave A for the balance of the account that paid for them, or a hit that was paid for is gone: A −= k,
    /// R += k, the sum unchanged.
    #[inline]
    pub(crate) fn credit(&self, count: u32) {
        let delta = ((count as u64) << 32).wrapping_sub(count as u64);
        // O1 release, as above.
        let before = Word::unpack(self.word.fetch_add(delta, AcqRel));
        debug_assert!(before.committed >= count, "I10: A never wraps");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i8_words_pack_and_unpack() {
        for word in [Word { committed: 0, spoken: 0 }, Word { committed: u32::MAX, spoken: 7 }] {
            assert_eq!(Word::unpack(word.pack()), word);
        }
    }
}
