//! Blocks out of the free list, under a charge: into the block words and the table row.

use super::{Counter, Pool};
use crate::accounts::Credit;
use crate::answer::{Place, Refusal};
use crate::block::Word;
use crate::blocks::Blocks;
use crate::freelist::{Cursor, Hint, Run};
use crate::ledger::Need;
use crate::sequence::{Driver, Extent};
use crate::sync::{AcqRel, Acquire, Relaxed, point};

/// Looks at the whole free list in vain, in a row and with an unchanged release number, after which the free list is
/// taken to have lost blocks. A look in vain under a charge means that others put back and took meanwhile (supply
/// argument); to do that so often without a call that puts back getting to its end takes an adversary.
const LOOKS_MAX: u32 = 1024;

impl Pool<'_> {
    /// Take `count` blocks, which are charged in A already, to the end of the driver's row. I3: it loops, keeps what it
    /// has, and goes on. Lock-free: see `freelist`.
    ///
    /// `CORRUPT` if the free list does not hold what the ledger says; what was taken stays in the row, and the charge of
    /// the missing ones stays in A as quarantined.
    #[inline]
    pub(super) fn take_blocks(&self, driver: &Driver<'_>, extent: &mut Extent, count: u32) -> Result<(), Refusal> {
        let record = driver.record;
        let row = self.table.row(self.table.row_number(driver.slot, record.turn()));
        let hint = match extent.held {
            0 => Hint::Opens,
            held => Hint::After(row.at(held as usize - 1).load(Relaxed)),
        };
        let windowed = record.window() > 0 && record.shared().is_none();
        let group = self.group_of(driver);
        let mut held = extent.held;
        let mut put = |id: u32| {
            if windowed {
                // It comes back while the sequence runs: others who want it pay for their place.
                self.begin_sharing(id, group, Credit::NONE);
                self.blocks.alone(id, Word::owe);
            }
            row.at(held as usize).store(id, Relaxed);
            held += 1;
        };
        let taken = self.take_each(driver, count, hint, &mut put);
        extent.held = held;
        record.touch_row();
        taken
    }

    /// The same, to wherever `put` puts them.
    #[inline]
    pub(super) fn take_each(
        &self,
        driver: &Driver<'_>,
        count: u32,
        hint: Hint,
        put: &mut impl FnMut(u32),
    ) -> Result<(), Refusal> {
        let cursor = self.cursor(driver.slot);
        let (mut looks, mut returns, mut missing) = (0, 0, count);
        while missing > 0 {
            let found = self.take_some(missing, hint, &cursor, put);
            missing = missing.saturating_sub(found);
            if found > 0 {
                continue;
            }
            let now = self.release_number();
            looks = if now == returns { looks + 1 } else { 0 };
            returns = now;
            if looks > LOOKS_MAX {
                self.counter(Counter::Quarantined).fetch_add(u64::from(missing), AcqRel);
                return Err(Refusal::Corrupt { place: Place::FreeList });
            }
            core::hint::spin_loop();
        }
        Ok(())
    }

    /// Some of `missing` blocks, which are charged in A already: dead ones first, then free ones, then idle ones, which are
    /// evicted. 0: none was found, but others may be moving some.
    #[inline]
    fn take_some(&self, missing: u32, hint: Hint, cursor: &Cursor<'_>, put: &mut impl FnMut(u32)) -> u32 {
        let idle = if self.config.cache == 0 { 0 } else { self.idle() };
        if idle == 0 && (self.config.cache == 0 || self.order.dead() == 0) {
            return self.take_free(missing, hint, cursor, put);
        }
        let dead = self.take_dead(missing, &mut |id| self.note_and_put(id, put));
        if dead > 0 {
            return dead;
        }
        // What is free by the counts: asking an empty free list means a walk over all of it.
        let committed = self.ledger.load().committed.saturating_sub(missing);
        let free = self.config.blocks.saturating_sub(committed).saturating_sub(idle).min(missing);
        let found = if free > 0 { self.take_free(free, hint, cursor, put) } else { 0 };
        if found > 0 {
            return found;
        }
        match self.take_idle(missing, &mut |id| self.note_and_put(id, put)) {
            0 => self.take_free(missing, hint, cursor, put),
            found => found,
        }
    }

    #[inline]
    fn note_and_put(&self, id: u32, put: &mut impl FnMut(u32)) {
        if let Some(ring) = self.recorder.ring() {
            ring.note_taken(id, 1);
        }
        put(id);
    }

    #[inline]
    fn take_free(&self, count: u32, hint: Hint, cursor: &Cursor<'_>, put: &mut impl FnMut(u32)) -> u32 {
        let mut good = 0;
        self.free.take(count, hint, cursor, &mut |run: Run| {
            if let Some(ring) = self.recorder.ring() {
                ring.note_taken(run.start, run.len);
            }
            for (id, word) in (run.start..).zip(self.blocks.run(run.start, run.len)) {
                if Blocks::take_word(word) {
                    put(id);
                    good += 1;
                } else {
                    self.quarantine_found(id);
                }
            }
        });
        point("take: blocks claimed");
        good
    }

    /// The free list held a block that is not free. It stays out of circulation, and what can be charged for it is
    /// charged, to the headroom first and to S then: what is promised to sequences is touched last, that is, never.
    #[cold]
    fn quarantine_found(&self, id: u32) {
        self.blocks.quarantine(id);
        let charged = self.ledger.admit(Need::committed(1), 0).is_ok() || self.charge_safety();
        if charged {
            self.counter(Counter::Quarantined).fetch_add(1, AcqRel);
        }
    }

    /// Move one block from S to A.
    fn charge_safety(&self) -> bool {
        let safety = self.counter(Counter::Safety);
        let lowered = safety.fetch_update(AcqRel, Acquire, |now| now.checked_sub(1)).is_ok();
        if lowered {
            self.ledger.materialize(1);
        }
        lowered
    }
}
