//! The word of a block, and its transitions as pure functions `word -> Option<word>`. Who applies them, and with which
//! atomics, is said in `blocks.rs`.
//!
//! ```text
//!             take                last holder leaves             claim                free
//!    Free ───────────▶ Held ───────────────────────▶ Retiring ─────────▶ Reclaiming ───────▶ Free
//!     ▲    join, leave │  ▲                             │  ▲                 │  │
//!     │   (1, 2, … holders)│        revive (a hit)      │  └──── unclaim ────┘  │ rest (its name lives)
//!     │                │  └─────────────────────────────┘                       ▼
//!     │                └─── last holder leaves, nothing in flight ──────────▶ Idle ─── wake (a hit) ───▶ Held
//!     └──── the same, without a name                                            └──── evict ──────────▶ Held
//! ```
//!
//! kind 3 | flags 7 | holders 10 | holds 4 | version 40. The version changes each time a holder or a hold leaves and each
//! time a name is taken away, so that whoever read an older tag or an older name finds another word (I5, I7): what a grip
//! that came and went left behind in the tag is not missed by who read the tag before. 2^40 at 10,000 leaves of one
//! block a second are 3.5 years. Up to 1,023 holders and 15 holds: one beyond is a miss for who asks by name, `FULL` for a
//! fork, and `BUSY` for a hold or a copy.

/// What a block is. The numbers are in the word; a zeroed word is a free block of version 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Nobody's; its bit in the free list is set, or about to be, or has just been claimed.
    Free = 0,
    /// Held by one or more sequences.
    Held = 1,
    /// No holder, but submitted work may still touch it (the tag says until when), or a transfer grips it.
    Retiring = 2,
    /// A reclaimer looks at it: the only state in which the tag is trusted.
    Reclaiming = 3,
    /// Out of circulation.
    Quarantined = 4,
    /// No holder, nothing pending, and a name under which it can be found; or a name that has died since.
    Idle = 5,
}

/// What is known of a block besides its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub(crate) enum Flag {
    /// It has a live identity.
    Named = 1 << 3,
    /// With a name: the name outlives the last holder. Without one: a shared writable tail.
    Keep = 1 << 4,
    /// A second copy of what another block is found under.
    Spare = 1 << 5,
    /// Its tag cells are live, and others than its holder may know it.
    Shared = 1 << 6,
    /// Its holder has been told that it comes back to him: each grip beyond the first carries a promise.
    Owed = 1 << 7,
    /// A transfer writes it: no hit.
    Writing = 1 << 8,
    /// A transfer whose end is unknown grips it.
    Doubt = 1 << 9,
}

const KIND_BITS: u32 = 3;
const FLAG_BITS: u32 = 7;
const HOLDER_BITS: u32 = 10;
const HOLD_BITS: u32 = 4;
const VERSION_BITS: u32 = 40;
const _: () = assert!(KIND_BITS + FLAG_BITS + HOLDER_BITS + HOLD_BITS + VERSION_BITS == 64);
const _: () = assert!(Flag::Named as u64 == 1 << KIND_BITS && Flag::Doubt as u64 == 1 << (KIND_BITS + FLAG_BITS - 1));

const HOLDER_SHIFT: u32 = KIND_BITS + FLAG_BITS;
const HOLD_SHIFT: u32 = HOLDER_SHIFT + HOLDER_BITS;
const VERSION_SHIFT: u32 = HOLD_SHIFT + HOLD_BITS;

const KIND_MASK: u64 = (1 << KIND_BITS) - 1;
const HOLDERS_MAX: u64 = (1 << HOLDER_BITS) - 1;
const HOLDS_MAX: u64 = (1 << HOLD_BITS) - 1;
const ONE_HOLDER: u64 = 1 << HOLDER_SHIFT;
const ONE_HOLD: u64 = 1 << HOLD_SHIFT;
const VERSION_MASK: u64 = !0 << VERSION_SHIFT;
/// The flags of a name.
const NAME: u64 = Flag::Named as u64 | Flag::Keep as u64 | Flag::Spare as u64;

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
            5 => Some(Kind::Idle),
            _ => None,
        }
    }

    #[inline(always)]
    pub(crate) const fn is(self, kind: Kind) -> bool {
        self.0 & KIND_MASK == kind as u64
    }

    #[inline(always)]
    pub(crate) const fn has(self, flag: Flag) -> bool {
        self.0 & flag as u64 != 0
    }

    pub(crate) const fn holders(self) -> u32 {
        (self.0 >> HOLDER_SHIFT & HOLDERS_MAX) as u32
    }

    pub(crate) const fn holds(self) -> u32 {
        (self.0 >> HOLD_SHIFT & HOLDS_MAX) as u32
    }

    /// Holders and holds: who grips it.
    pub(crate) const fn grips(self) -> u32 {
        self.holders() + self.holds()
    }

    /// A name that a hit may go by: it lives, and no transfer writes the block.
    pub(crate) const fn may_be_hit(self) -> bool {
        self.has(Flag::Named) && !self.has(Flag::Writing)
    }

    /// A shared writable tail.
    pub(crate) const fn is_tail(self) -> bool {
        self.0 & (Flag::Named as u64 | Flag::Keep as u64) == Flag::Keep as u64
    }

    /// Promises that stand behind this block: of a tail, one for each holder beyond the first (tail rule); of an owed block,
    /// one for each grip beyond the first (owed rule).
    pub(crate) const fn promises(self) -> u32 {
        let of_tail = if self.is_tail() { self.holders().saturating_sub(1) } else { 0 };
        let of_owed = if self.has(Flag::Owed) { self.grips().saturating_sub(1) } else { 0 };
        of_tail + of_owed
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

    const fn renewed(self) -> Word {
        Word(self.state() | self.next_version())
    }

    const fn with(self, flag: Flag) -> Word {
        Word(self.0 | flag as u64)
    }

    const fn without(self, flags: u64) -> Word {
        Word(self.0 & !flags)
    }

    const fn of_kind(self, kind: Kind) -> Word {
        Word(self.0 & !KIND_MASK | kind as u64)
    }

    /// A free block gets its first holder.
    #[inline(always)]
    pub(crate) const fn take(self) -> Option<Word> {
        match self.state() {
            state if state == Kind::Free as u64 => Some(Word(self.version() | ONE_HOLDER | Kind::Held as u64)),
            _ => None,
        }
    }

    /// Whether exactly one sequence holds it, and nothing else knows it: no flag, no hold.
    #[inline(always)]
    pub(crate) const fn is_private(self) -> bool {
        self.state() == ONE_HOLDER | Kind::Held as u64
    }

    /// The only holder of a private block leaves, and no work in flight can touch it.
    #[inline(always)]
    pub(crate) const fn give_back(self) -> Option<Word> {
        if self.is_private() { Some(Word(self.next_version() | Kind::Free as u64)) } else { None }
    }

    /// The only holder of a private block leaves, and work in flight may still touch it.
    pub(crate) const fn retire(self) -> Option<Word> {
        if self.is_private() { Some(Word(self.next_version() | Kind::Retiring as u64)) } else { None }
    }

    /// One more holder of a held block. `None` if there is no room for one: a miss.
    pub(crate) const fn join(self) -> Option<Word> {
        match self.is(Kind::Held) && (self.holders() as u64) < HOLDERS_MAX {
            true => Some(Word(self.0 + ONE_HOLDER).with(Flag::Shared)),
            false => None,
        }
    }

    /// One more holder of what the last token stands in, and may be written by each.
    pub(crate) const fn join_tail(self) -> Option<Word> {
        match self.join() {
            Some(word) if !word.has(Flag::Named) => Some(word.with(Flag::Keep)),
            _ => None,
        }
    }

    /// A retiring or an idle block gets a holder again: a hit.
    pub(crate) const fn revive(self) -> Option<Word> {
        match self.is(Kind::Retiring) || self.is(Kind::Idle) {
            true => Some(Word(self.of_kind(Kind::Held).0 + ONE_HOLDER)),
            false => None,
        }
    }

    /// It comes back to its one holder: the hit of a windowed sequence.
    pub(crate) const fn owe(self) -> Option<Word> {
        if self.is(Kind::Held) && self.grips() == 1 { Some(self.with(Flag::Owed).with(Flag::Shared)) } else { None }
    }

    /// One of several holders leaves. Of two sharers of a writable tail the other may then write at once.
    pub(crate) const fn leave(self) -> Option<Word> {
        if !self.is(Kind::Held) || self.holders() < 2 {
            return None;
        }
        let word = Word(self.0 - ONE_HOLDER).renewed();
        Some(if word.is_tail() && word.holders() < 2 { word.without(Flag::Keep as u64) } else { word })
    }

    /// One of several sharers of a writable tail leaves it and reads it once more, to copy it. `None`: it is not shared, or
    /// there is no room for another hold.
    pub(crate) const fn leave_copying(self) -> Option<Word> {
        match self.is_tail() && (self.holds() as u64) < HOLDS_MAX {
            true => match self.leave() {
                Some(word) => Some(Word(word.0 + ONE_HOLD)),
                None => None,
            },
            false => None,
        }
    }

    /// The last holder leaves for `kind`. A name that is not kept dies with it; so does what was owed.
    pub(crate) const fn leave_last(self, kind: Kind) -> Option<Word> {
        if !self.is(Kind::Held) || self.holders() != 1 {
            return None;
        }
        let keeps = self.has(Flag::Named) && self.has(Flag::Keep);
        let dying = Flag::Owed as u64 | if keeps { 0 } else { NAME };
        let rest = self.without(dying | KIND_MASK | VERSION_MASK).0 - ONE_HOLDER;
        match kind {
            Kind::Retiring => Some(Word(rest | self.next_version() | Kind::Retiring as u64)),
            Kind::Idle if keeps && self.holds() == 0 => Some(Word(rest | self.next_version() | Kind::Idle as u64)),
            Kind::Free if self.holds() == 0 => Some(Word(self.next_version() | Kind::Free as u64)),
            _ => None,
        }
    }

    /// The only holder of a block with a kept name leaves, nobody else grips it, and nothing was owed: what nearly every
    /// cached block is when its request ends. As [`Word::leave_last`] to idle.
    #[inline(always)]
    pub(crate) const fn rest_at_once(self) -> Option<Word> {
        const USUAL: u64 =
            ONE_HOLDER | Kind::Held as u64 | Flag::Named as u64 | Flag::Keep as u64 | Flag::Shared as u64;
        const IDLE: u64 = Kind::Idle as u64 | Flag::Named as u64 | Flag::Keep as u64 | Flag::Shared as u64;
        if self.state() == USUAL { Some(Word(self.next_version() | IDLE)) } else { None }
    }

    /// An idle block loses its name, if it still has one, and gets a new holder.
    #[inline(always)]
    pub(crate) const fn evict(self) -> Option<Word> {
        match self.is(Kind::Idle) {
            true => Some(Word(self.next_version() | ONE_HOLDER | Kind::Held as u64)),
            false => None,
        }
    }

    /// A full block gets a name.
    pub(crate) const fn publish(self, keep: bool, spare: bool) -> Option<Word> {
        if !self.is(Kind::Held) || self.has(Flag::Named) || self.is_tail() {
            return None;
        }
        let mut word = self.with(Flag::Named).with(Flag::Shared);
        if keep {
            word = word.with(Flag::Keep);
        }
        Some(if spare { word.with(Flag::Spare) } else { word })
    }

    /// A second copy is found from now on. `None`: it is found already.
    pub(crate) const fn come_first(self) -> Option<Word> {
        if self.has(Flag::Spare) { Some(self.without(Flag::Spare as u64)) } else { None }
    }

    /// Its name dies. Whoever found it by that name and did not get it yet finds another word.
    pub(crate) const fn unname(self) -> Option<Word> {
        match self.has(Flag::Named) {
            true => Some(Word(self.without(NAME | VERSION_MASK).0 | self.next_version())),
            false => None,
        }
    }

    /// A transfer grips it; what was idle is committed again. `None`: not a block with contents, or no room.
    pub(crate) const fn hold(self, writes: bool) -> Option<Word> {
        let idle = self.is(Kind::Idle);
        if !(idle || self.is(Kind::Held) || self.is(Kind::Retiring)) || self.holds() as u64 >= HOLDS_MAX {
            return None;
        }
        if writes && self.has(Flag::Writing) {
            return None;
        }
        let word = if idle { self.of_kind(Kind::Retiring) } else { self };
        let word = Word(word.0 + ONE_HOLD).with(Flag::Shared);
        Some(if writes { word.with(Flag::Writing) } else { word })
    }

    /// A transfer lets it go.
    pub(crate) const fn unhold(self, writes: bool) -> Option<Word> {
        if self.holds() == 0 {
            return None;
        }
        let word = Word(self.0 - ONE_HOLD).renewed();
        Some(if writes { word.without(Flag::Writing as u64) } else { word })
    }

    /// A transfer that grips it is in doubt, or no longer.
    pub(crate) const fn doubt(self, doubted: bool) -> Word {
        if doubted { self.with(Flag::Doubt) } else { self.without(Flag::Doubt as u64) }
    }

    /// A reclaimer takes a retiring block that no transfer grips, to look at it.
    pub(crate) const fn claim(self) -> Option<Word> {
        if self.is(Kind::Retiring) && self.holds() == 0 { Some(self.of_kind(Kind::Reclaiming)) } else { None }
    }

    /// The reclaimer found that its epoch is not over.
    pub(crate) const fn unclaim(self) -> Option<Word> {
        if self.is(Kind::Reclaiming) { Some(self.of_kind(Kind::Retiring)) } else { None }
    }

    /// The reclaimer found that its epoch is over.
    pub(crate) const fn free(self) -> Option<Word> {
        if self.is(Kind::Reclaiming) { Some(Word(self.version() | Kind::Free as u64)) } else { None }
    }

    /// The same, for a block that can be found.
    pub(crate) const fn rest(self) -> Option<Word> {
        match self.is(Kind::Reclaiming) && self.has(Flag::Named) {
            true => Some(self.of_kind(Kind::Idle)),
            false => None,
        }
    }

    /// Its state cannot be trusted.
    pub(crate) const fn quarantine(self) -> Word {
        Word(self.next_version() | Kind::Quarantined as u64)
    }
}

#[cfg(all(test, not(loom)))]
#[path = "block_tests.rs"]
mod tests;
