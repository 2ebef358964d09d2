//! Transfers: copies by somebody who is not a stream of the pool, a peer, a storage engine, a host thread. A transfer
//! grips its blocks until its end is known. Two may say that it is over, the one that made it (complete) and the one that
//! took the blocks away from it (revoke); only one of them may let go.
//!
//! ```text
//!          open              start               finish                  vacate
//!   Vacant ─────▶ Filling ──────────▶ Running ──────────────▶ Ending ────────────▶ Vacant, next generation
//!                    │                   │ quarantine            ▲
//!                    │                   ▼           doubted     │ finish
//!                    │                Doubting ─────────▶ Quarantined
//!                    └──────────────────────── vacate ─────────────────────────▶
//! ```
//!
//! 1. Who opens one has it alone while it names blocks ([`Transfers::add`]), a block twice counts once; nobody else has its
//!    handle before it is started.
//! 2. The end is one compare-exchange: who wins walks the blocks ([`Transfers::blocks`]) and vacates the slot. Everybody
//!    else is answered `STALE`.
//! 3. Quarantine says that the end will not be known soon. Its blocks are walked too, so that is a state of its own, in
//!    which an end is `BUSY`: two walks over one transfer would let go of what the other has not doubted yet.
//!
//! The word of a transfer: generation 56 | access 1 | state 7; 2^56 uses of one slot at 10,000 a second are 228,000 years.
//! Which blocks it grips is a bit map of its own, with a summary above it, so that its end costs what it grips and not what
//! the pool has: N/8 bytes a transfer, and 1/64 more.

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Cells, Span};
use crate::bits::{Places, WORD_BITS, bit_at, mask_of, word_of};
use crate::ids::Transfer;
use crate::slots::{Slots, SlotsLayout};
use crate::sync::{AcqRel, Acquire, AtomicU64, Plant, Relaxed, Release, planted};

/// What a transfer does with its blocks.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// It reads them: others may read too.
    Read = 0,
    /// It writes them: nobody is given them as a hit before it is over.
    Write = 1,
}

/// Where a transfer is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum State {
    /// The slot is nobody's.
    Vacant = 0,
    /// Blocks are being named; there is no handle yet.
    Filling = 1,
    /// It may touch its blocks.
    Running = 2,
    /// Somebody walks its blocks to quarantine them.
    Doubting = 3,
    /// It may touch its blocks, and nobody knows for how long.
    Quarantined = 4,
    /// Somebody walks its blocks to let go of them.
    Ending = 5,
}

const STATE_MASK: u64 = (1 << 7) - 1;
const WRITE: u64 = 1 << 7;
const GENERATION_SHIFT: u32 = 8;

const fn pack(generation: u64, access: Access, state: State) -> u64 {
    let access = match access {
        Access::Read => 0,
        Access::Write => WRITE,
    };
    generation << GENERATION_SHIFT | access | state as u64
}

const fn state_of(word: u64) -> State {
    match word & STATE_MASK {
        1 => State::Filling,
        2 => State::Running,
        3 => State::Doubting,
        4 => State::Quarantined,
        5 => State::Ending,
        _ => State::Vacant,
    }
}

const fn access_of(word: u64) -> Access {
    if word & WRITE == 0 { Access::Read } else { Access::Write }
}

const fn with_state(word: u64, state: State) -> u64 {
    word & !STATE_MASK | state as u64
}

/// Words of a bit map of the ids 0 ..= N.
const fn words_for(blocks: u32) -> usize {
    word_of(blocks) + 1
}

/// Words of its summary: a bit for each of its words.
const fn shown_for(blocks: u32) -> usize {
    words_for(blocks).div_ceil(WORD_BITS as usize)
}

/// Where the parts are.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    states: Span<AtomicU64>,
    words: Span<AtomicU64>,
    shown: Span<AtomicU64>,
    vacant: SlotsLayout,
}

/// All transfers of a pool.
#[derive(Clone, Copy)]
pub(crate) struct Transfers<'m> {
    states: Cells<'m, AtomicU64>,
    words: Cells<'m, AtomicU64>,
    shown: Cells<'m, AtomicU64>,
    vacant: Slots<'m>,
    count: u32,
    blocks: u32,
    pool: u32,
}

impl<'m> Transfers<'m> {
    /// `count` transfers over the ids 1 ..= `blocks`.
    pub(crate) const fn layout(carve: &mut Carve, count: u32, blocks: u32) -> Layout {
        Layout {
            states: carve.region(count as usize),
            words: carve.region((count as usize).saturating_mul(words_for(blocks))),
            shown: carve.region((count as usize).saturating_mul(shown_for(blocks))),
            vacant: Slots::layout(carve, count),
        }
    }

    /// None is vacant if the arena is fresh.
    pub(crate) fn view(
        arena: &mut Arena<'m>,
        layout: &Layout,
        count: u32,
        blocks: u32,
        pool: u32,
    ) -> Result<Self, Refusal> {
        let (states, words) = (arena.cells(layout.states)?, arena.cells(layout.words)?);
        let shown = arena.cells(layout.shown)?;
        Ok(Transfers { states, words, shown, vacant: Slots::view(arena, &layout.vacant)?, count, blocks, pool })
    }

    /// At init: every slot is vacant, in its first generation.
    pub(crate) fn fill(&self) {
        for slot in 0..self.count {
            self.state(slot).store(pack(1, Access::Read, State::Vacant), Relaxed);
            self.vacant.put(slot);
        }
    }

    /// A transfer that grips nothing yet and is only the caller's. Errors: `FULL`. Lock-free.
    pub(crate) fn open(&self, access: Access) -> Result<Transfer, Refusal> {
        let slot = self.vacant.take().ok_or(Refusal::Full)?;
        // Whoever vacated the slot had written the word before he put it (O10).
        let generation = self.state(slot).load(Relaxed) >> GENERATION_SHIFT;
        self.state(slot).store(pack(generation, access, State::Filling), Relaxed);
        Ok(Transfer { slot, pool: self.pool, generation })
    }

    /// Name a block, 1 ..= N. False: it was named before, or there is none of this number. Only by who opened the transfer,
    /// before he starts it.
    pub(crate) fn add(&self, slot: u32, id: u32) -> bool {
        debug_assert_eq!(state_of(self.state(slot).load(Relaxed)), State::Filling, "only who opened it names blocks");
        if id == 0 || id > self.blocks {
            return false;
        }
        // Relaxed: the transfer is one thread's until it is started.
        let (word, mask) = (self.word(slot, word_of(id)), mask_of(id));
        let before = word.load(Relaxed);
        if before & mask != 0 {
            return false;
        }
        word.store(before | mask, Relaxed);
        let (number, shown) = (word_of(id) as u32, self.shown(slot, word_of(word_of(id) as u32)));
        shown.store(shown.load(Relaxed) | mask_of(number), Relaxed);
        true
    }

    /// It may touch its blocks from now on. Only by who opened it.
    pub(crate) fn start(&self, transfer: Transfer) {
        let state = self.state(transfer.slot);
        let word = state.load(Relaxed);
        debug_assert!(word >> GENERATION_SHIFT == transfer.generation && state_of(word) == State::Filling);
        // O32 release, pairs with O32 acquire in `find` and `change`: the blocks that it named.
        state.store(with_state(word, State::Running), Release);
    }

    /// The transfer is over: the caller, and nobody else, is to let go of its blocks and to vacate it. Lock-free.
    ///
    /// Errors: `STALE` if it is late, repeated or foreign; `BUSY` while its blocks are being quarantined.
    pub(crate) fn finish(&self, transfer: Transfer) -> Result<Access, Refusal> {
        self.change(transfer, |state| match state {
            State::Running | State::Quarantined => Ok(State::Ending),
            State::Doubting if planted(Plant::FinishWhileDoubted) => Ok(State::Ending),
            State::Doubting => Err(Refusal::Busy),
            State::Vacant | State::Filling | State::Ending => Err(Refusal::Stale),
        })
    }

    /// Its end will not be known soon: the caller, and nobody else, is to walk its blocks, and then to say so with
    /// [`Transfers::doubted`]. Lock-free.
    ///
    /// Errors: `STALE` if it is late, repeated or foreign; so is a transfer that is quarantined already. `BUSY` while that
    /// is being done.
    pub(crate) fn quarantine(&self, transfer: Transfer) -> Result<Access, Refusal> {
        self.change(transfer, |state| match state {
            State::Running => Ok(State::Doubting),
            State::Doubting => Err(Refusal::Busy),
            State::Vacant | State::Filling | State::Quarantined | State::Ending => Err(Refusal::Stale),
        })
    }

    /// Its blocks are quarantined. Only by who was answered by `quarantine`.
    pub(crate) fn doubted(&self, transfer: Transfer) {
        let state = self.state(transfer.slot);
        let word = state.load(Relaxed);
        debug_assert!(planted(Plant::FinishWhileDoubted) || state_of(word) == State::Doubting);
        // O33 release, pairs with O33 acquire in `change`: what became of its blocks, before somebody lets go of them.
        state.store(with_state(word, State::Quarantined), Release);
    }

    /// The words of block ids that it grips, by increasing number, and their bits: for who won it, or opened it.
    pub(crate) fn blocks(&self, slot: u32) -> impl Iterator<Item = (usize, u64)> + use<'m> {
        let table = *self;
        (0..shown_for(table.blocks))
            .flat_map(move |above| {
                Places(table.shown(slot, above).load(Relaxed)).map(move |place| bit_at(above, place) as usize)
            })
            .map(move |word| (word, table.word(slot, word).load(Relaxed)))
    }

    /// The slot is nobody's again, and the handle is over. Only by who won it; or, if it never started, by who opened it.
    /// Cost: O(N/4,096 + words gripped).
    pub(crate) fn vacate(&self, transfer: Transfer) {
        let slot = transfer.slot;
        for above in 0..shown_for(self.blocks) {
            let shown = self.shown(slot, above);
            for place in Places(shown.load(Relaxed)) {
                self.word(slot, bit_at(above, place) as usize).store(0, Relaxed);
            }
            shown.store(0, Relaxed);
        }
        // Release by the slot's bit (O10), which the next opener takes.
        let generation = transfer.generation.wrapping_add(1);
        self.state(slot).store(pack(generation, Access::Read, State::Vacant), Relaxed);
        self.vacant.put(slot);
    }

    /// The transfer that is being opened does not grip a block after all.
    pub(crate) fn remove(&self, slot: u32, id: u32) {
        if id != 0 && id <= self.blocks {
            self.word(slot, word_of(id)).fetch_and(!mask_of(id), Relaxed);
        }
    }

    /// Whether nobody knows when the transfer in a slot will end.
    pub(crate) fn doubts(&self, slot: u32) -> bool {
        matches!(self.look(slot), Some((State::Doubting | State::Quarantined, _)))
    }

    /// Whether this very transfer has been quarantined already.
    pub(crate) fn is_quarantined(&self, transfer: Transfer) -> bool {
        self.find(transfer).is_ok_and(|word| state_of(word) == State::Quarantined)
    }

    /// Whether the transfer in a slot grips the block, as far as is known at this moment.
    pub(crate) fn grips(&self, slot: u32, id: u32) -> bool {
        id <= self.blocks && self.word(slot, word_of(id)).load(Relaxed) & mask_of(id) != 0
    }

    /// Where the transfer in a slot is, and what it does; nothing for a slot that there is not.
    pub(crate) fn look(&self, slot: u32) -> Option<(State, Access)> {
        let word = (slot < self.count).then(|| self.state(slot).load(Acquire))?;
        Some((state_of(word), access_of(word)))
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// The word, if the handle is good.
    fn find(&self, transfer: Transfer) -> Result<u64, Refusal> {
        if transfer.generation == 0 || transfer.pool != self.pool || transfer.slot >= self.count {
            return Err(Refusal::Stale);
        }
        // O32, O33 acquire.
        let word = self.state(transfer.slot).load(Acquire);
        if word >> GENERATION_SHIFT == transfer.generation { Ok(word) } else { Err(Refusal::Stale) }
    }

    /// One transition: whoever makes it has the transfer. A failed exchange is another's success, and the states only go
    /// forward, so this tries twice at most between the openings of a slot.
    fn change(&self, transfer: Transfer, next: impl Fn(State) -> Result<State, Refusal>) -> Result<Access, Refusal> {
        let mut word = self.find(transfer)?;
        loop {
            let changed = with_state(word, next(state_of(word))?);
            let state = self.state(transfer.slot);
            if planted(Plant::FinishInTwoSteps) {
                state.store(changed, Release);
                return Ok(access_of(word));
            }
            match state.compare_exchange(word, changed, AcqRel, Acquire) {
                Ok(_) => return Ok(access_of(word)),
                Err(_) => word = self.find(transfer)?,
            }
        }
    }

    #[inline(always)]
    fn state(&self, slot: u32) -> &'m AtomicU64 {
        self.states.at(slot as usize)
    }

    #[inline(always)]
    fn word(&self, slot: u32, word: usize) -> &'m AtomicU64 {
        self.words.at(slot as usize * words_for(self.blocks) + word)
    }

    #[inline(always)]
    fn shown(&self, slot: u32, above: usize) -> &'m AtomicU64 {
        self.shown.at(slot as usize * shown_for(self.blocks) + above)
    }
}
