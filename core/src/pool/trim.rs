//! The end of a sequence is forgotten: `trim`.

use super::Pool;
use super::leave::Why;
use super::prefix::{clear_from, entries_in};
use crate::answer::{Argument, Refusal};
use crate::calls::Released;
use crate::ids::Sequence;
use crate::recorder::Call;
use crate::sequence::{Event, Extent, Holes};

impl Pool<'_> {
    /// Forget what comes after the first `tokens` tokens of a sequence, whole blocks of them: fewer cached tokens than its
    /// admission found, because another pool or rank has fewer; or a context that goes on from an earlier point. Blocks
    /// behind them lose this sequence as their holder. Its promise stays as it is: what is to follow has to be promised
    /// (`extend`).
    ///
    /// Errors: `INVALID` (`Tokens`: more than it has, or, if fewer, no multiple of B or less than what has left its window;
    /// `Sequence`), `STALE`, `CANCELLED`, `CORRUPT` as in `end`; `BUSY`
    /// (driven by another thread; unaccepted tokens or a copy order that was not submitted; both rows are being read).
    /// Threads: its driver. Lock-free. Cost: O(blocks that leave).
    pub fn trim(&self, sequence: Sequence, tokens: u32) -> Result<Released, Refusal> {
        self.recorded(Call::Trim { sequence, tokens }, |pool| {
            let driver = pool.sequences.drive(sequence, Event::Use)?;
            let (record, extent) = (driver.record, driver.record.extent());
            if record.unaccepted() > 0 || record.order().source != 0 {
                return Err(Refusal::Busy);
            }
            if tokens == extent.tokens {
                return Ok(Released::default());
            }
            let keep = tokens / pool.block_tokens;
            if tokens > extent.tokens
                || !tokens.is_multiple_of(pool.block_tokens.get())
                || keep < record.holes().recycled
            {
                return Err(Refusal::invalid(Argument::Tokens));
            }
            let row = pool.writable_row(&driver)?;
            let count = extent.held.saturating_sub(keep);
            let holes = record.holes();
            let kept = entries_in(row, holes.recycled, keep);
            let gone = pool.leave(&driver, Why::End, keep, count);
            clear_from(row, keep, extent.held);
            record.set_extent(Extent { tokens, held: keep });
            record.set_holes(Holes { count: keep - kept, ..holes });
            record.touch_row();
            pool.uncharge(pool.group_of(&driver), gone.free, 0);
            Self::unless_lost(gone.released(0), gone.lost)
        })
    }
}
