//! What comes back to a sequence while it runs: blocks out of its window, and blocks of tokens that were not accepted
//! (`speculate`, `accept`).
//!
//! A block that comes back retires with a credit: when nothing can touch it any more it leaves A for the balance of the
//! sequence, the sum unchanged. While somebody else grips it, it does not come back: the promise that stands behind it
//! (owed rule) goes to the balance at once, and the block stays with the others.

use super::leave::Why;
use super::prefix::{clear_from, entries_in};
use super::{Pool, Row};
use crate::answer::{Argument, Refusal};
use crate::block::Flag;
use crate::calls::{Advanced, Released};
use crate::ids::{Epoch, Sequence};
use crate::recorder::Call;
use crate::sequence::{Driver, Event, Extent};
use crate::sync::{Relaxed, point};

impl<'m> Pool<'m> {
    /// Add `tokens` proposed tokens to a sequence: a step computes them all, and `accept` says which prefix of them stays.
    /// Blocks are taken as by `advance`; the promise has to cover them (`Admission::speculative_tokens`).
    ///
    /// Errors: as `advance`. Threads, progress, cost: as `advance`.
    pub fn speculate(&self, sequence: Sequence, tokens: u32) -> Result<Advanced, Refusal> {
        self.recorded(Call::Speculate { sequence, tokens }, |pool| {
            if tokens == 0 {
                return Err(Refusal::invalid(Argument::Tokens));
            }
            let mut driver = pool.sequences.drive(sequence, Event::Use)?;
            let advanced = pool.advance_driven(&mut driver, tokens, None)?;
            driver.record.set_reach(driver.record.window(), tokens);
            driver.take_long_way(true);
            Ok(advanced)
        })
    }

    /// The first `tokens` of the proposed tokens stay, the others never were. Blocks that only they needed stay attached
    /// for the next step, or are given back: then they come back to the sequence's balance, at once or when the work in
    /// flight is over (A + R never rises).
    ///
    /// Errors: `INVALID` (`Tokens`: more than were proposed; `Sequence`: not admitted, or nothing was proposed), `STALE`,
    /// `CANCELLED`; `BUSY` (driven by another thread; or both rows are being read); `CORRUPT` as in `end`. Threads: its driver.
    /// Lock-free. Cost: O(1) + O(blocks given back).
    pub fn accept(&self, sequence: Sequence, tokens: u32, give_back: bool) -> Result<Released, Refusal> {
        self.recorded(Call::Accept { sequence, tokens, give_back }, |pool| {
            let mut driver = pool.sequences.drive(sequence, Event::Use)?;
            let record = driver.record;
            let (extent, unaccepted) = (record.extent(), record.unaccepted());
            if unaccepted == 0 {
                return Err(Refusal::invalid(Argument::Sequence));
            }
            if tokens > unaccepted {
                return Err(Refusal::invalid(Argument::Tokens));
            }
            let extent = Extent { tokens: extent.tokens - (unaccepted - tokens), ..extent };
            let needed = pool.needed_after(&driver, &extent);
            let surplus = if give_back { extent.held.saturating_sub(needed) } else { 0 };
            let row = if surplus > 0 { Some(pool.writable_row(&driver)?) } else { None };
            record.set_reach(record.window(), 0);
            record.set_extent(extent);
            driver.take_long_way(record.window() > 0 || pool.must_copy(&driver, &extent).is_some());
            let Some(row) = row else { return Ok(Released::default()) };
            let (released, lost) = pool.take_back(&driver, Why::RollBack, needed, surplus);
            clear_from(row, needed, extent.held);
            record.set_extent(Extent { held: needed, ..extent });
            record.touch_row();
            Self::unless_lost(released, lost)
        })
    }

    /// Entries that a sequence of so many tokens needs. (With blocks of one token it may hold the block of its last prompt
    /// token, which was found, before it has that token.)
    fn needed_after(&self, driver: &Driver<'_>, extent: &Extent) -> u32 {
        let (row, needed) = (self.row_of(driver), self.blocks_for(extent.tokens));
        let is_named = |place: u32| self.blocks.word(row.at(place as usize).load(Relaxed)).has(Flag::Named);
        if needed < extent.held && is_named(needed) { needed + 1 } else { needed }
    }

    /// Blocks come back to the sequence: `count` entries of its row from `from` on. What they free and do not pay leaves A.
    fn take_back(&self, driver: &Driver<'_>, why: Why, from: u32, count: u32) -> (Released, u32) {
        let gone = self.leave(driver, why, from, count);
        self.uncharge(self.group_of(driver), gone.free, 0);
        (gone.released(0), gone.lost)
    }

    /// Blocks that no later token looks back to come back. Their entries keep their numbers until no step in flight reads
    /// them; then they are null blocks.
    pub(super) fn recycle(&self, driver: &Driver<'_>) {
        let (record, extent) = (driver.record, driver.record.extent());
        let before = u64::from(extent.tokens) + 1;
        let out = before.saturating_sub(u64::from(record.window())) / u64::from(self.block_tokens.get());
        let out = (out as u32).min(extent.held);
        let mut holes = record.holes();
        if out > holes.recycled {
            let row = self.row_of(driver);
            holes.count += entries_in(row, holes.recycled, out);
            // (An entry that names no block is counted as quarantined; the tokens are added all the same.)
            self.take_back(driver, Why::Recycle, holes.recycled, out - holes.recycled);
            holes.recycled = out;
            record.set_holes(holes);
            record.set_recycled_at(self.streams.tag(record.streams()));
        }
        self.null_recycled(driver);
        point("window: recycled");
    }

    fn null_recycled(&self, driver: &Driver<'_>) {
        let (record, mut holes) = (driver.record, driver.record.holes());
        let at = record.recycled_at();
        if holes.nulled < holes.recycled && (at == Epoch::NONE || self.streams.is_over(at, record.streams())) {
            clear_from(self.row_of(driver), holes.nulled, holes.recycled);
            holes.nulled = holes.recycled;
            record.set_holes(holes);
            record.touch_row();
        }
    }

    /// The row of a sequence, of which an entry is to be replaced: the one in use, or, if that is being read in place, the
    /// other one, with the same entries. `BUSY` if both are.
    pub(super) fn writable_row(&self, driver: &Driver<'_>) -> Result<Row<'m>, Refusal> {
        let record = driver.record;
        let (turn, row) = (record.turn(), self.row_of(driver));
        if self.row_is_free(self.table.row_number(driver.slot, turn)) {
            return Ok(row);
        }
        let other = self.table.row_number(driver.slot, 1 - turn);
        if !self.row_is_free(other) {
            return Err(Refusal::Busy);
        }
        self.table.land(other);
        let copy = self.table.row(other);
        copy.all().iter().zip(row.all()).for_each(|(to, from)| to.store(from.load(Relaxed), Relaxed));
        record.set_place(record.group(), 1 - turn);
        record.touch_row();
        Ok(copy)
    }
}
