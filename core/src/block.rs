//! The word of a block, and its transitions as pure functions `word -> Option<word>`. Who applies them, and with which
//! atomics, is said in `blocks.rs`.
//!
//! ```text
//!            take                 retire                 claim                 free
//!   Free ──────────▶ Held ─────────────────▶ Retiring ──────────▶ Reclaiming ────────▶ Free
//!     ▲                │                          ▲                    │
//!     └── give back ───┘ (nothing in flight)      └────── unclaim ─────┘ (not over yet)
//! ```
//!
//! kind 3 | flags 5 | holders 12 | holds 4 | version 40. The version changes each time the last holder leaves, so that
//! whoever read an older tag or an older identity finds another word (I7). 2^40 at 10,000 reuses of one block a second
//! are 3.5 years. Up to 4,095 holders and 15 holds: the one beyond is a miss for the asker, not an error.

/// What a block is. The numbers are in the word; a zeroed word is a free block of version 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Nobody's; its bit in the free list is set, or about to be, or has just been claimed.
    Free = 0,
    /// Held by one or more sequences.
    Held = 1,
    /// No holder, but submitted work may still touch it. The tag says until when.
    Retiring = 2,
    /// A reclaimer looks at it: the only state in which the tag is trusted.
    Reclaiming = 3,
    /// Out of circulation.
    Quarantined = 4,
}

const KIND_BITS: u32 = 3;
const FLAG_BITS: u32 = 5;
const HOLDER_BITS: u32 = 12;
const HOLD_BITS: u32 = 4;
const VERSION_BITS: u32 = 40;
const _: () = assert!(KIND_BITS + FLAG_BITS + HOLDER_BITS + HOLD_BITS + VERSION_BITS == 64);

const FLAG_SHIFT: u32 = KIND_BITS;
const HOLDER_SHIFT: u32 = FLAG_SHIFT + FLAG_BITS;
const HOLD_SHIFT: u32 = HOLDER_SHIFT + HOLDER_BITS;
const VERSION_SHIFT: u32 = HOLD_SHIFT + HOLD_BITS;

const KIND_MASK: u64 = (1 << KIND_BITS) - 1;
const ONE_HOLDER: u64 = 1 << HOLDER_SHIFT;
const VERSION_MASK: u64 = !0 << VERSION_SHIFT;

/// A block's word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Word(pub(crate) u64);

impl Word {
    /// `None` for a pattern that no transition makes.
    pub(crate) const fn kind(self) -> Option<Kind> {
        match self.0 & KIND_MASK {
            0 => Some(Kind::Free),
            1 => Some(Kind::Held),
            2 => Some(Kind::Retiring),
            3 => Some(Kind::Reclaiming),
            4 => Some(Kind::Quarantined),
            _ => None,
        }
    }

    pub(crate) const fn is(self, kind: Kind) -> bool {
        self.0 & KIND_MASK == kind as u64
    }

    /// Everything below the version: kind, flags, holders, holds.
    const fn state(self) -> u64 {
        self.0 & !VERSION_MASK
    }

    const fn version(self) -> u64 {
        self.0 & VERSION_MASK
    }

    /// I7: whoever remembers the version before finds another word.
    const fn next_version(self) -> u64 {
        self.0.wrapping_add(1 << VERSION_SHIFT) & VERSION_MASK
    }

    /// A free block gets its first holder.
    pub(crate) const fn take(self) -> Option<Word> {
        match self.state() {
            state if state == Kind::Free as u64 => Some(Word(self.version() | ONE_HOLDER | Kind::Held as u64)),
            _ => None,
        }
    }

    /// Whether exactly one sequence holds it, and nothing else knows it: no flag, no hold.
    pub(crate) const fn is_private(self) -> bool {
        self.state() == ONE_HOLDER | Kind::Held as u64
    }

    /// The only holder of a private block leaves, and no work in flight can touch it.
    pub(crate) const fn give_back(self) -> Option<Word> {
        if self.is_private() { Some(Word(self.next_version() | Kind::Free as u64)) } else { None }
    }

    /// The last holder leaves, and work in flight may still touch it.
    pub(crate) const fn retire(self) -> Option<Word> {
        if self.is_private() { Some(Word(self.next_version() | Kind::Retiring as u64)) } else { None }
    }

    /// A reclaimer takes a retiring block to look at it.
    pub(crate) const fn claim(self) -> Option<Word> {
        if self.is(Kind::Retiring) { Some(Word(self.version() | Kind::Reclaiming as u64)) } else { None }
    }

    /// The reclaimer found that its epoch is not over.
    pub(crate) const fn unclaim(self) -> Option<Word> {
        if self.is(Kind::Reclaiming) { Some(Word(self.version() | Kind::Retiring as u64)) } else { None }
    }

    /// The reclaimer found that its epoch is over.
    pub(crate) const fn free(self) -> Option<Word> {
        if self.is(Kind::Reclaiming) { Some(Word(self.version() | Kind::Free as u64)) } else { None }
    }

    /// Its state cannot be trusted.
    pub(crate) const fn quarantine(self) -> Word {
        Word(self.next_version() | Kind::Quarantined as u64)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn i7_every_way_back_changes_the_version() {
        let held = Word(0).take().expect("a zeroed word is free");
        assert!(held.is_private());
        assert_ne!(held.give_back().expect("private").version(), held.version());
        let retiring = held.retire().expect("private");
        assert_ne!(retiring.version(), held.version());
        assert_eq!(retiring.claim().and_then(Word::unclaim), Some(retiring));
        assert!(retiring.claim().and_then(Word::free).is_some_and(|word| word.is(Kind::Free)));
    }

    #[test]
    fn no_transition_leaves_a_state_that_it_is_not_for() {
        let free = Word(0);
        let held = free.take().expect("free");
        let retiring = held.retire().expect("private");
        let reclaiming = retiring.claim().expect("retiring");
        for (word, allowed) in [
            (free, [true, false, false, false, false, false]),
            (held, [false, true, true, false, false, false]),
            (retiring, [false, false, false, true, false, false]),
            (reclaiming, [false, false, false, false, true, true]),
            (held.quarantine(), [false; 6]),
        ] {
            let got = [word.take(), word.give_back(), word.retire(), word.claim(), word.unclaim(), word.free()];
            assert_eq!(got.map(|next| next.is_some()), allowed, "{word:?}");
        }
    }

    #[test]
    fn unknown_kinds_and_other_flags_are_nobodys() {
        assert_eq!(Word(5).kind(), None);
        assert_eq!(Word(1 << FLAG_SHIFT).take(), None, "a flagged word is not a free one");
        let two_holders = Word((2 * ONE_HOLDER) | Kind::Held as u64);
        assert_eq!(two_holders.give_back(), None);
        assert_eq!(two_holders.retire(), None);
    }

    #[test]
    fn the_version_wraps_into_nothing_else() {
        let last = Word(VERSION_MASK | ONE_HOLDER | Kind::Held as u64);
        assert_eq!(last.give_back(), Some(Word(0)));
    }
}
