//! The sequences of a pool, and the right to drive one of them.
//!
//! A batch (`pool/batch.rs`) drives many sequences and would pay a compare-exchange for each. It *marks* them instead with
//! plain stores, then one fence for all, then looks whether somebody else drives them; a single driver sets *busy* and
//! then looks for a mark. Both may see each other and answer `BUSY`; that both miss each other the fence excludes (O21):
//!
//! ```text
//!   batch                          single driver
//!   mark = generation              busy (compare-exchange)
//!   ── fence ──                    ── the exchange is one ──
//!   busy? then BUSY                mark = my generation? then BUSY
//! ```

use super::record::{BUSY, Extent, GENERATION_SHIFT, LONG_WAY, Record, STATE_MASK, pack, state_of};
use super::state::{Event, State, next};
use crate::accounts::Credit;
use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Cells, Span};
use crate::balance;
use crate::ids::Sequence;
use crate::slots::{Slots, SlotsLayout};
use crate::sync::{
    Acquire, AtomicU64, PAIR_LOAD, PAIR_WRITE, Plant, Relaxed, Release, planted, point, store_load_fence,
};

/// Where the parts are.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    records: Span<Record>,
    vacant: SlotsLayout,
    batch_lock: Span<AtomicU64>,
}

/// All sequences of a pool.
#[derive(Clone, Copy)]
pub(crate) struct Sequences<'m> {
    records: Cells<'m, Record>,
    vacant: Slots<'m>,
    batch_lock: Cells<'m, AtomicU64>,
    count: u32,
    pool: u32,
}

impl<'m> Sequences<'m> {
    pub(crate) const fn layout(carve: &mut Carve, count: u32) -> Layout {
        Layout {
            records: carve.region(count as usize),
            vacant: Slots::layout(carve, count),
            batch_lock: carve.region(1),
        }
    }

    pub(crate) fn view(arena: &mut Arena<'m>, layout: &Layout, count: u32, pool: u32) -> Result<Self, Refusal> {
        let records = arena.cells(layout.records)?;
        let vacant = Slots::view(arena, &layout.vacant)?;
        Ok(Sequences { records, vacant, batch_lock: arena.cells(layout.batch_lock)?, count, pool })
    }

    /// At init: every slot is vacant, in its first generation.
    pub(crate) fn fill(&self) {
        for slot in 0..self.count {
            self.record(slot).word.store(pack(1, State::Vacant), Relaxed);
            self.vacate(slot);
        }
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    #[inline(always)]
    pub(crate) fn record(&self, slot: u32) -> &'m Record {
        self.records.at(slot as usize)
    }

    /// Take a vacant slot and open a sequence in it.
    pub(crate) fn open(&self) -> Result<Sequence, Refusal> {
        let slot = self.vacant.take().ok_or(Refusal::Full)?;
        point("open: slot taken");
        let record = self.record(slot);
        let (generation, _) = record.look();
        record.set_extent(Extent::default());
        record.set_shared(Credit::NONE);
        record.set_place(None, record.turn());
        record.clear_rest();
        record.balance().open(generation, 0);
        record.word.store(pack(generation, State::Opened), Release);
        Ok(Sequence { slot, pool: self.pool, generation })
    }

    /// The record that the handle names, if it is open in this generation.
    pub(crate) fn find(&self, sequence: Sequence) -> Result<&'m Record, Refusal> {
        if sequence.pool != self.pool || sequence.slot >= self.count {
            return Err(Refusal::Stale);
        }
        let record = self.record(sequence.slot);
        match record.look() {
            (generation, State::Opened | State::Admitted | State::Pinned) if generation == sequence.generation => {
                Ok(record)
            }
            _ => Err(Refusal::Stale),
        }
    }

    /// Become the driver, for one event. `STALE`, `BUSY`, `CANCELLED`, or what the state table says.
    #[inline]
    pub(crate) fn drive(&self, sequence: Sequence, event: Event) -> Result<Driver<'m>, Refusal> {
        if sequence.pool != self.pool || sequence.slot >= self.count {
            return Err(Refusal::Stale);
        }
        let record = self.record(sequence.slot);
        let word = record.word.load(Acquire);
        let state = state_of(word);
        if word >> GENERATION_SHIFT != sequence.generation || state == State::Vacant {
            return Err(Refusal::Stale);
        }
        // O7 acquire, pairs with O7 release in `Driver::drop`. Not in a loop: a failure is another driver's success.
        if word & BUSY != 0 || record.word.compare_exchange(word, word | BUSY, PAIR_WRITE, Relaxed).is_err() {
            return Err(self.find(sequence).map_or_else(|stale| stale, |_| Refusal::Busy));
        }
        let driver = Driver {
            record,
            slot: sequence.slot,
            generation: sequence.generation,
            state,
            next: state,
            long_way: word & LONG_WAY != 0,
            grip: Grip::Busy,
        };
        store_load_fence();
        // O21 load, after the exchange above. Acquire: what a batch left is seen when its mark is gone.
        if record.mark.load(PAIR_LOAD) == sequence.generation {
            return Err(Refusal::Busy);
        }
        driver.check(event)
    }

    /// Say that a batch is going to drive this sequence: a plain store, and nothing if the handle is late, which would
    /// take the mark of another row with the same slot.
    #[inline(always)]
    pub(crate) fn mark(&self, sequence: Sequence) -> Option<&'m Record> {
        if sequence.pool != self.pool || sequence.slot >= self.count {
            return None;
        }
        let record = self.record(sequence.slot);
        let word = record.word.load(Acquire);
        if word >> GENERATION_SHIFT != sequence.generation || word & STATE_MASK == State::Vacant as u64 {
            return None;
        }
        record.mark.store(sequence.generation, Relaxed);
        Some(record)
    }

    /// Drive a sequence whose `record` this batch has marked, before its fence.
    pub(crate) fn drive_marked(
        &self,
        sequence: Sequence,
        record: &'m Record,
        event: Event,
    ) -> Result<Driver<'m>, Refusal> {
        // O7 acquire, pairs with O7 release in `Driver::drop`.
        let word = record.word.load(Acquire);
        // The driver that was at work when the mark was set may have ended the sequence since, and the slot may be
        // another's: the mark keeps away drivers of this generation only (I12).
        let is_late = word >> GENERATION_SHIFT != sequence.generation || state_of(word) == State::Vacant;
        if is_late && !planted(Plant::LateMark) {
            return Err(Refusal::Stale);
        }
        if word & BUSY != 0 || record.mark.load(Relaxed) != sequence.generation {
            return Err(Refusal::Busy);
        }
        let (Sequence { slot, generation, .. }, state) = (sequence, state_of(word));
        let long_way = word & LONG_WAY != 0;
        let driver = Driver { record, slot, generation, state, next: state, long_way, grip: Grip::Mark };
        driver.check(event)
    }

    /// Become the one batch of this pool. `None` while another is: two batches could not tell whose a mark is.
    pub(crate) fn lock_batch(&self) -> Option<BatchLock<'m>> {
        let lock = self.batch_lock.at(0);
        // Lazily: a lock that is made and dropped unlocks.
        lock.compare_exchange(0, 1, Acquire, Relaxed).is_ok().then(|| BatchLock(lock))
    }

    /// The slot is nobody's again. After the record says so.
    pub(crate) fn vacate(&self, slot: u32) {
        self.vacant.put(slot);
    }
}

/// The right to be the one batch of a pool.
pub(crate) struct BatchLock<'m>(&'m AtomicU64);

impl Drop for BatchLock<'_> {
    fn drop(&mut self) {
        self.0.store(0, Release);
    }
}

/// By what a driver keeps others away.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grip {
    /// The busy bit, which it takes out again.
    Busy,
    /// The mark of its batch, which the batch takes away.
    Mark,
}

/// The right to drive one sequence. Given back when it is dropped, with the state that it then has.
pub(crate) struct Driver<'m> {
    pub(crate) record: &'m Record,
    pub(crate) slot: u32,
    pub(crate) generation: u64,
    /// The state that the sequence has when the driver is dropped.
    state: State,
    /// The state that it has if the event succeeds.
    next: State,
    /// Whether adding a token may be more than that.
    long_way: bool,
    grip: Grip,
}

impl Driver<'_> {
    /// Whether the event may happen: `CANCELLED`, or what the state table says.
    #[inline(always)]
    fn check(mut self, event: Event) -> Result<Self, Refusal> {
        if event != Event::End && self.record.balance().load(self.generation) == balance::State::Closed {
            return Err(Refusal::Cancelled);
        }
        self.next = next(self.state, event)?;
        Ok(self)
    }

    /// The event has succeeded: the table says where that leads.
    pub(crate) fn succeed(&mut self) {
        self.state = self.next;
    }

    /// Whether adding a token may be more than that.
    pub(crate) fn goes_long_way(&self) -> bool {
        self.long_way
    }

    /// From now on adding a token may be more than that; or no longer. Only a single driver may say so: a batch leaves the
    /// word alone.
    pub(crate) fn take_long_way(&mut self, long_way: bool) {
        if self.grip == Grip::Busy {
            self.long_way = long_way;
        }
    }
}

impl Drop for Driver<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.grip == Grip::Mark {
            // A batch only advances: the state is what it was.
            return;
        }
        // Who ends a sequence also ends the generation: every handle to it is late from here on (I12).
        let generation = self.generation + u64::from(self.state == State::Vacant);
        // O7 release.
        let long_way = if self.long_way { LONG_WAY } else { 0 };
        self.record.word.store(pack(generation, self.state) | long_way, Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::arena::Line;
    use std::vec;

    fn sequences(count: u32) -> Sequences<'static> {
        let mut carve = Carve::new();
        let layout = Sequences::layout(&mut carve, count);
        let memory = vec![Line::ZERO; carve.bytes().div_ceil(size_of::<Line>())].leak();
        let all =
            Sequences::view(&mut Arena::fresh(memory), &layout, count, 0).expect("the memory is as long as stated");
        all.fill();
        all
    }

    #[test]
    fn who_does_not_get_the_batch_lock_leaves_it_alone() {
        let all = sequences(1);
        let first = all.lock_batch();
        assert!(first.is_some());
        assert!(all.lock_batch().is_none());
        assert!(all.lock_batch().is_none(), "the refusal before must not have unlocked it");
        drop(first);
        assert!(all.lock_batch().is_some());
    }

    /// I12: a batch has marked a sequence whose driver was at work and ends it; the slot has a new owner when the batch
    /// gets to it.
    #[test]
    fn i12_a_late_mark_does_not_drive_the_next_owner() {
        let all = sequences(1);
        let old = all.open().expect("a slot");
        assert!(all.mark(old).is_some());
        // As if by the driver that was busy when the mark was set: it does not look at marks again.
        let record = all.record(old.slot);
        record.word.store(pack(old.generation + 1, State::Admitted), Release);
        assert_eq!(all.drive_marked(old, record, Event::Use).map(drop), Err(Refusal::Stale));
        assert!(!record.put_into_slots(old.generation, 1, 16));
    }
}
