//! Tokens that are proposed and may be taken back: `speculate`, `accept`.
//!
//! The promise covers the most tokens that are ever proposed, so proposing is an advance. What is not accepted leaves blocks
//! over: they stay for the next step, or come back to the sequence (`window.rs`).

use super::Pool;
use super::leave::Why;
use super::prefix::clear_from;
use crate::answer::{Argument, Refusal};
use crate::block::Flag;
use crate::calls::{Advanced, Released};
use crate::ids::Sequence;
use crate::recorder::Call;
use crate::sequence::{Driver, Event, Extent};
use crate::sync::Relaxed;

impl Pool<'_> {
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
}
