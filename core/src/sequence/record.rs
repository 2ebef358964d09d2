//! The record of a sequence: two cache lines. Two of its words are for everybody (who drives it, its account); the
//! others are the driver's, atomics only so that a snapshot may look at them. The second line is for what only some
//! sequences have: a window, unaccepted tokens, a copy order.
//!
//! The driver's word: generation 48 | unused 6 | long way 1 | busy 1 | state 8. *Long way*: adding a token may be more than
//! adding a token (its tail may be shared, its blocks go out of a window), so a batch must not take the short one. A driver sets *busy* with a compare-exchange (O7
//! acquire) and stores the word without it when it is done (O7 release), so what one driver left the next one finds.
//! 2^48 uses of one slot at 10,000 a second are 892 years.

use super::state::State;
use crate::accounts::Credit;
use crate::arena::Cell;
use crate::balance::Balance;
use crate::ids::{Epoch, Group, StreamSet};
use crate::sync::{Acquire, AtomicU64, Relaxed, Release};
use core::sync::atomic::AtomicU64 as Guarded;

pub(super) const BUSY: u64 = 1 << 8;
pub(super) const LONG_WAY: u64 = 1 << 9;
pub(super) const STATE_MASK: u64 = BUSY - 1;
pub(super) const GENERATION_SHIFT: u32 = 16;
/// A group that no admission can name: not admitted yet.
const NO_GROUP: u32 = u32::MAX;

pub(super) const fn pack(generation: u64, state: State) -> u64 {
    generation << GENERATION_SHIFT | state as u64
}

pub(super) const fn state_of(word: u64) -> State {
    match word & STATE_MASK {
        1 => State::Opened,
        2 => State::Admitted,
        3 => State::Pinned,
        _ => State::Vacant,
    }
}

/// Tokens and blocks of a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Extent {
    pub(crate) tokens: u32,
    /// Entries of its row that are in use, the holes among them included.
    pub(crate) held: u32,
}

/// What has become of the first entries of a row, and of some in its middle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Holes {
    /// Entries in use that the sequence does not hold any more.
    pub(crate) count: u32,
    /// The first entries: out of the window. Those from `nulled` on still have their numbers.
    pub(crate) recycled: u32,
    /// The first entries that are null blocks.
    pub(crate) nulled: u32,
}

/// A copy that is to be made and has not been submitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Order {
    /// The block to read; 0: no order.
    pub(crate) source: u32,
    /// The place of the block to write in the row.
    pub(crate) place: u32,
    /// Token slots to copy, from the first.
    pub(crate) slots: u32,
}

/// One sequence.
#[repr(C, align(64))]
pub(crate) struct Record {
    pub(super) word: AtomicU64,
    balance: AtomicU64,
    extent: AtomicU64,
    shared: Guarded,
    /// group 32 | which of two rows 32.
    place: Guarded,
    streams: Guarded,
    row_version: Guarded,
    /// The generation that a batch drives; 0: none.
    pub(super) mark: AtomicU64,
    /// Window in tokens 32 | unaccepted tokens 32.
    reach: Guarded,
    /// Holes 32 | entries recycled 32.
    holes: Guarded,
    /// The first entries nulled 32 | place of the order's destination 32.
    nulled: Guarded,
    /// Source of the copy order 32 | its slots 32.
    order: Guarded,
    /// The newest epoch that may read recycled entries.
    recycled_at: Guarded,
    /// The reset number under which it was admitted.
    stamp: Guarded,
    /// The newest epoch under which what it shared at its fork may still be written.
    waits_for: Guarded,
    /// Most blocks that its window holds.
    bound: Guarded,
}

// SAFETY: all fields are atomic integers, so the record is `Sync` and has no invalid bit pattern; it is aligned to a
// line.
unsafe impl Cell for Record {
    fn zero() -> Record {
        Record {
            word: AtomicU64::new(0),
            balance: AtomicU64::new(0),
            extent: AtomicU64::new(0),
            shared: Guarded::new(0),
            place: Guarded::new(0),
            streams: Guarded::new(0),
            row_version: Guarded::new(0),
            mark: AtomicU64::new(0),
            reach: Guarded::new(0),
            holes: Guarded::new(0),
            nulled: Guarded::new(0),
            order: Guarded::new(0),
            recycled_at: Guarded::new(0),
            stamp: Guarded::new(0),
            waits_for: Guarded::new(0),
            bound: Guarded::new(0),
        }
    }
}

/// Two numbers in a cell.
fn read_pair(cell: &Guarded) -> (u32, u32) {
    let raw = cell.load(Relaxed);
    (raw as u32, (raw >> 32) as u32)
}

fn write_pair(cell: &Guarded, first: u32, second: u32) {
    cell.store(u64::from(first) | u64::from(second) << 32, Relaxed);
}

impl Record {
    /// Generation and state, whoever drives it.
    pub(crate) fn look(&self) -> (u64, State) {
        let word = self.word.load(Acquire);
        (word >> GENERATION_SHIFT, state_of(word))
    }

    pub(crate) fn balance(&self) -> Balance<'_> {
        Balance(&self.balance)
    }

    pub(crate) fn extent(&self) -> Extent {
        let raw = self.extent.load(Relaxed);
        Extent { tokens: raw as u32, held: (raw >> 32) as u32 }
    }

    pub(crate) fn set_extent(&self, extent: Extent) {
        self.extent.store(extent.tokens as u64 | (extent.held as u64) << 32, Relaxed);
    }

    /// How far back its tokens look; 0: to the first.
    pub(crate) fn window(&self) -> u32 {
        read_pair(&self.reach).0
    }

    /// Tokens at its end that may be taken back.
    pub(crate) fn unaccepted(&self) -> u32 {
        read_pair(&self.reach).1
    }

    pub(crate) fn set_reach(&self, window: u32, unaccepted: u32) {
        write_pair(&self.reach, window, unaccepted);
    }

    pub(crate) fn holes(&self) -> Holes {
        let ((count, recycled), (nulled, _)) = (read_pair(&self.holes), read_pair(&self.nulled));
        Holes { count, recycled, nulled }
    }

    pub(crate) fn set_holes(&self, holes: Holes) {
        write_pair(&self.holes, holes.count, holes.recycled);
        write_pair(&self.nulled, holes.nulled, read_pair(&self.nulled).1);
    }

    /// Blocks that it holds.
    pub(crate) fn blocks_held(&self) -> u32 {
        self.extent().held.saturating_sub(self.holes().count)
    }

    pub(crate) fn order(&self) -> Order {
        let (source, slots) = read_pair(&self.order);
        Order { source, slots, place: read_pair(&self.nulled).1 }
    }

    pub(crate) fn set_order(&self, order: Order) {
        write_pair(&self.order, order.source, order.slots);
        write_pair(&self.nulled, read_pair(&self.nulled).0, order.place);
    }

    /// The newest epoch that may read entries which were recycled.
    pub(crate) fn recycled_at(&self) -> Epoch {
        Epoch(self.recycled_at.load(Relaxed))
    }

    pub(crate) fn set_recycled_at(&self, epoch: Epoch) {
        self.recycled_at.store(epoch.0, Relaxed);
    }

    /// The reset number under which it was admitted.
    pub(crate) fn stamp(&self) -> u64 {
        self.stamp.load(Relaxed)
    }

    pub(crate) fn set_stamp(&self, stamp: u64) {
        self.stamp.store(stamp, Relaxed);
    }

    /// The newest epoch under which what it shared at its fork may still be written.
    pub(crate) fn waits_for(&self) -> Epoch {
        Epoch(self.waits_for.load(Relaxed))
    }

    pub(crate) fn set_waits_for(&self, epoch: Epoch) {
        self.waits_for.store(epoch.0, Relaxed);
    }

    /// Most blocks that its window holds.
    pub(crate) fn window_bound(&self) -> u32 {
        self.bound.load(Relaxed) as u32
    }

    pub(crate) fn set_window_bound(&self, blocks: u32) {
        self.bound.store(u64::from(blocks), Relaxed);
    }

    /// Nothing of what only some sequences have.
    pub(crate) fn clear_rest(&self) {
        self.set_reach(0, 0);
        self.set_holes(Holes::default());
        self.set_order(Order::default());
        self.set_recycled_at(Epoch::NONE);
        self.set_waits_for(Epoch::NONE);
        self.set_window_bound(0);
    }

    /// The shared account that it draws on, or `NONE`.
    pub(crate) fn shared(&self) -> Credit {
        Credit::from_raw(self.shared.load(Relaxed))
    }

    pub(crate) fn set_shared(&self, account: Credit) {
        self.shared.store(account.raw(), Relaxed);
    }

    /// The group that it was admitted to, once it was.
    pub(crate) fn group(&self) -> Option<Group> {
        match self.place.load(Relaxed) as u32 {
            NO_GROUP => None,
            group => Some(Group(group)),
        }
    }

    /// Add tokens to a sequence that this batch has marked, if nothing but its length changes: it is admitted, nobody else
    /// drives it, it is not cancelled, and it holds the slots. False: nothing happened, and the long way says why.
    #[inline(always)]
    pub(crate) fn put_into_slots(&self, generation: u64, tokens: u32, block_tokens: u32) -> bool {
        // O7 acquire, pairs with O7 release in `Driver::drop`. One comparison for generation, state and busy bit.
        if self.word.load(Acquire) != pack(generation, State::Admitted) || self.balance().is_closed() || tokens == 0 {
            return false;
        }
        let extent = self.extent();
        match extent.tokens.checked_add(tokens) {
            Some(tokens) if u64::from(tokens) <= u64::from(extent.held) * u64::from(block_tokens) => {
                self.set_extent(Extent { tokens, ..extent });
                true
            }
            _ => false,
        }
    }

    /// The batch that marked this sequence is through with it.
    #[inline(always)]
    pub(crate) fn unmark(&self) {
        // O21 release: a driver that finds no mark finds what the batch did.
        self.mark.store(0, Release);
    }

    /// Which of its rows is in use: 0 or 1.
    pub(crate) fn turn(&self) -> u32 {
        (self.place.load(Relaxed) >> 32) as u32 & 1
    }

    pub(crate) fn set_place(&self, group: Option<Group>, turn: u32) {
        let group = group.map_or(NO_GROUP, |group| group.0);
        self.place.store(group as u64 | (turn as u64) << 32, Relaxed);
    }

    pub(crate) fn streams(&self) -> StreamSet {
        StreamSet(self.streams.load(Relaxed))
    }

    pub(crate) fn set_streams(&self, streams: StreamSet) {
        self.streams.store(streams.0, Relaxed);
    }

    pub(crate) fn row_version(&self) -> u64 {
        self.row_version.load(Relaxed)
    }

    /// The row has changed. The version goes on over reuses of the slot.
    pub(crate) fn touch_row(&self) {
        self.row_version.store(self.row_version() + 1, Relaxed);
    }
}
