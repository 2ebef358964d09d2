//! The ring of events: many producers, any number of readers, the oldest event is overwritten.
//!
//! Problem: a producer is in the middle of a transition and may not wait, for a reader or for another producer; a reader
//! must get whole events in the order of their numbers, or be told that he did not.
//!
//! ```text
//! slot   state, block and group, identity (2), lost      a cache line; event n is in slot n mod capacity
//! state  number 61 | phase 3                             phase: a kind, nothing (0), or being written
//! ```
//!
//! 1. A producer claims the slot of his number with one compare-exchange, from an *older and finished* state only, writes
//!    the words, and then says in the state what they are.
//! 2. A reader looks at the state, reads the words, and looks again: unchanged, they are one event.
//!
//! Two producers of one slot are at least a whole ring apart. Who comes with the older number finds a newer state and
//! leaves it alone; who finds the slot still being written by an older one loses his event, since the words are the
//! other's to write, and says so in `lost`, so that readers need not wait for it:
//!
//! ```text
//!   producer of 3                       producer of 3 + capacity
//!   state = 3, writing
//!   block = …                           state = 3 + capacity, writing?   ✗ both write words, a reader sees a mixture
//!   identity = …                        ✓ 3 is being written: lost = 3 + capacity
//!   state = 3, stored
//! ```
//!
//! A producer that stops for ever with a slot claimed costs readers that event once the ring has lapped it, and one more
//! in every lap. 2^61 numbers at a thousand million a second are 73 years.

use super::{Event, EventCursor, EventKind, EventsRead};
use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Cells, LINE_BYTES, Span};
use crate::identity::Identity;
use crate::ids::{BlockId, Group};
use crate::sync::{Acquire, AtomicU64, Plant, Relaxed, Release, planted, point};

const PHASE_BITS: u32 = 3;
const PHASE_MASK: u64 = (1 << PHASE_BITS) - 1;
/// Nothing happened at this number. Zeroed memory says so of number 0, which no event has.
const VOID: u64 = 0;
const WRITING: u64 = PHASE_MASK;
const _: () = assert!(EventKind::Stored as u64 != VOID && (EventKind::Cleared as u64) < WRITING);

const fn state_of(number: u64, phase: u64) -> u64 {
    number << PHASE_BITS | phase
}

const fn number_of(state: u64) -> u64 {
    state >> PHASE_BITS
}

const fn phase_of(state: u64) -> u64 {
    state & PHASE_MASK
}

/// Cells of a slot: a line, because neighbours are written by different threads at the same time.
const CELLS: usize = LINE_BYTES / 8;
const STATE: usize = 0;
const PLACE: usize = 1;
const LOW: usize = 2;
const HIGH: usize = 3;
/// The newest number whose producer found the slot being written by an older one.
const LOST: usize = 4;

/// Slots of a ring that was asked for with `entries`.
const fn capacity(entries: u32) -> u64 {
    if entries == 0 { 0 } else { (entries as u64).next_power_of_two() }
}

/// Where the parts are.
#[derive(Clone, Copy)]
pub(crate) struct EventsLayout {
    slots: Span<AtomicU64>,
    issued: Span<AtomicU64>,
}

/// The ring of a pool, or none.
#[derive(Clone, Copy)]
pub(crate) struct Events<'m> {
    slots: Cells<'m, AtomicU64>,
    /// The newest number that was drawn.
    issued: Cells<'m, AtomicU64>,
    /// A power of two, or 0: no ring.
    capacity: u64,
}

/// What a reader finds at a number.
enum Found {
    Event(Event),
    /// Nothing happened there.
    Void,
    /// Its event is not there any more, or never will be.
    Gone,
    /// Its producer is not through with it.
    NotYet,
}

impl<'m> Events<'m> {
    /// Room for `entries` events, rounded up to a power of two; 0: no ring.
    pub(crate) const fn layout(carve: &mut Carve, entries: u32) -> EventsLayout {
        let cells = (capacity(entries) as usize).saturating_mul(CELLS);
        EventsLayout { slots: carve.region(cells), issued: carve.region(CELLS) }
    }

    /// No event has happened if the arena is fresh.
    pub(crate) fn view(arena: &mut Arena<'m>, layout: &EventsLayout, entries: u32) -> Result<Self, Refusal> {
        let (slots, issued) = (arena.cells(layout.slots)?, arena.cells(layout.issued)?);
        Ok(Events { slots, issued, capacity: capacity(entries) })
    }

    /// Whether anybody can hear of events.
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        self.capacity != 0
    }

    /// The next number; 0 if there is no ring. It must be filled or voided: until then readers stop before it, at most
    /// until the ring has lapped it. Wait-free.
    #[inline(always)]
    pub(crate) fn ticket(&self) -> u64 {
        if !self.is_on() {
            return 0;
        }
        // Relaxed: who is ordered after another transition draws a later number, since all draw from one word.
        self.issued.at(0).fetch_add(1, Relaxed) + 1
    }

    /// The event of a ticket, which is its `number`. Of number 0: nothing to do. Wait-free: one compare-exchange.
    #[inline]
    pub(crate) fn fill(&self, event: &Event) {
        let number = event.number;
        if number == 0 || !self.is_on() || !self.claim(number, WRITING) {
            return;
        }
        point("events: claimed");
        // O35 release, pairs with O35 acquire in `look`: who sees one of these words sees that the slot was claimed.
        let place = u64::from(event.block.0) | u64::from(event.group.0) << 32;
        self.cell(number, PLACE).store(place, Release);
        self.cell(number, LOW).store(event.identity.low, Release);
        self.cell(number, HIGH).store(event.identity.high, Release);
        // O34 release, pairs with O34 acquire in `look`: the words are there.
        self.cell(number, STATE).store(state_of(number, event.kind as u64), Release);
    }

    /// Nothing happened at this ticket: readers pass over it. Wait-free: one compare-exchange.
    #[inline]
    pub(crate) fn void(&self, number: u64) {
        if number != 0 && self.is_on() {
            self.claim(number, VOID);
        }
    }

    /// The slot of `number`, from an older event that is finished to `phase` of this one. False: the event is lost.
    #[inline]
    fn claim(&self, number: u64, phase: u64) -> bool {
        let (cell, claimed) = (self.cell(number, STATE), state_of(number, phase));
        let mut seen = cell.load(Relaxed);
        if planted(Plant::EventOverNewer) {
            cell.store(claimed, Release);
            return true;
        }
        if number_of(seen) < number && phase_of(seen) != WRITING {
            // O34 acquire, pairs with O34 release in `fill`: our words lie over those of the older event, in every order of
            // stores. (loom keeps stores in the order in which they ran, so it cannot see this one missing.)
            match cell.compare_exchange(seen, claimed, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        // Newer: readers see by the state that this one was overtaken.
        if number_of(seen) < number {
            // Relaxed: nothing comes with it. Its own number says that it is lost, a newer one that it was lapped.
            self.cell(number, LOST).fetch_max(number, Relaxed);
        }
        false
    }

    /// Before the next event: where a reader begins who does not care for the past.
    pub(crate) fn now(&self) -> EventCursor {
        EventCursor { next: self.issued.at(0).load(Relaxed) + 1 }
    }

    /// The events from the cursor on, as many as are there and as `out` has room for. Whole events only, by increasing
    /// numbers; those that were overwritten are counted, and so are the void ones among them. Wait-free. Cost: O(events
    /// and void numbers passed), at most the capacity.
    pub(crate) fn read(&self, cursor: &mut EventCursor, out: &mut [Event]) -> EventsRead {
        let mut answer = EventsRead::default();
        if !self.is_on() {
            return answer;
        }
        let issued = self.issued.at(0).load(Relaxed);
        let oldest = issued.saturating_sub(self.capacity) + 1;
        let mut next = cursor.next.max(1);
        answer.dropped = oldest.saturating_sub(next);
        next = next.max(oldest);
        let mut room = out.iter_mut();
        while next <= issued {
            match self.look(next) {
                Found::Void => {}
                Found::Gone => answer.dropped += 1,
                Found::NotYet => break,
                Found::Event(event) => match room.next() {
                    Some(place) => {
                        *place = event;
                        answer.count = answer.count.saturating_add(1);
                    }
                    None => break,
                },
            }
            next += 1;
        }
        cursor.next = next;
        answer
    }

    fn look(&self, number: u64) -> Found {
        // O34 acquire, pairs with O34 release in `fill`.
        let state = self.cell(number, STATE).load(Acquire);
        if number_of(state) < number {
            let lost = self.cell(number, LOST).load(Relaxed) >= number;
            return if lost { Found::Gone } else { Found::NotYet };
        }
        if number_of(state) > number {
            return Found::Gone;
        }
        let kind = match phase_of(state) {
            1 => EventKind::Stored,
            2 => EventKind::Removed,
            3 => EventKind::Cleared,
            VOID => return Found::Void,
            _ => return Found::NotYet,
        };
        // O35 acquire, pairs with O35 release in `fill`: a word of a newer event brings its claim with it.
        let place = self.cell(number, PLACE).load(Acquire);
        let identity =
            Identity { low: self.cell(number, LOW).load(Acquire), high: self.cell(number, HIGH).load(Acquire) };
        if !planted(Plant::NoSecondLookAtEvent) && self.cell(number, STATE).load(Relaxed) != state {
            return Found::Gone;
        }
        let (block, group) = (BlockId(place as u32), Group((place >> 32) as u32));
        Found::Event(Event { number, kind, block, group, identity })
    }

    #[inline(always)]
    fn cell(&self, number: u64, which: usize) -> &'m AtomicU64 {
        // `self.capacity` is not 0 here.
        let slot = number & self.capacity.wrapping_sub(1);
        self.slots.at(slot as usize * CELLS + which)
    }
}
