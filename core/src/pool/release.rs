//! Parts of a sequence go home before the rest: `release`, `release_tokens`.

use super::leave::{Gone, Why};
use super::{Pool, Row};
use crate::answer::{Argument, Refusal};
use crate::calls::Released;
use crate::ids::{BlockId, Sequence};
use crate::recorder::{Call, Numbers};
use crate::sequence::{Driver, Event};
use crate::sync::Relaxed;

/// Set in an entry that is going to be released. No block id has this bit.
const LISTED: u32 = 1 << 31;

impl Pool<'_> {
    /// A sequence gives up blocks: each listed one loses this sequence as its holder, once. Their entries of the row are null
    /// blocks from now on. The block that the next token goes to cannot be given up. Its promise stays as it is: what is to
    /// be held in their place has to be promised (`extend`).
    ///
    /// Errors: `INVALID` (`Block`: not one of its full blocks, or named twice; `Sequence`), `STALE`, `CANCELLED`, `BUSY` (driven
    /// by another thread; a copy order that was not submitted writes one of them; both rows are being read). Then nothing was
    /// released. `CORRUPT` as in `end`. Threads: its driver. Lock-free. Cost:
    /// O(ids × blocks held).
    pub fn release(&self, sequence: Sequence, ids: &[BlockId]) -> Result<Released, Refusal> {
        self.recorded(Call::Release { sequence, ids: Numbers::of(ids) }, |pool| {
            let driver = pool.sequences.drive(sequence, Event::Use)?;
            let (first, last) = pool.full_entries(&driver);
            let row = pool.row_of(&driver);
            let entries = || row.all().iter().take(last as usize).skip(first as usize).map(|entry| entry.load(Relaxed));
            for (index, id) in ids.iter().enumerate() {
                // (With one name for several blocks of a prefix it holds one block several times.)
                let named_before = ids.iter().take(index).filter(|before| *before == id).count();
                let held = if id.0 == 0 { 0 } else { entries().filter(|&entry| entry == id.0).count() };
                if named_before >= held {
                    return Err(Refusal::invalid(Argument::Block));
                }
            }
            pool.check_order(&driver, |entry, _| ids.iter().any(|id| id.0 == entry))?;
            let row = pool.writable_row(&driver)?;
            for id in ids {
                let mut entries = row.all().iter().take(last as usize).skip(first as usize);
                if let Some(entry) = entries.find(|entry| entry.load(Relaxed) == id.0) {
                    entry.store(id.0 | LISTED, Relaxed);
                }
            }
            pool.release_entries(&driver, row, first, last, |entry| entry & LISTED != 0)
        })
    }

    /// The same for the blocks of tokens `from .. to`, counted from the first token of the sequence. Only wholly covered
    /// blocks: both ends are multiples of B.
    ///
    /// Errors: as `release`; `INVALID(Block)` if a block is covered in part, or the range is empty or ends behind the last
    /// full block. Threads, progress: as `release`. Cost: O(blocks).
    pub fn release_tokens(&self, sequence: Sequence, from: u32, to: u32) -> Result<Released, Refusal> {
        self.recorded(Call::ReleaseTokens { sequence, from, to }, |pool| {
            let driver = pool.sequences.drive(sequence, Event::Use)?;
            let whole = from.is_multiple_of(pool.block_tokens.get()) && to.is_multiple_of(pool.block_tokens.get());
            let (first, last) = (from / pool.block_tokens, to / pool.block_tokens);
            if !whole || first >= last || last > pool.full_entries(&driver).1 {
                return Err(Refusal::invalid(Argument::Block));
            }
            pool.check_order(&driver, |_, place| first <= place && place < last)?;
            let row = pool.writable_row(&driver)?;
            let first = first.max(driver.record.holes().recycled);
            pool.release_entries(&driver, row, first, last, |entry| entry != 0)
        })
    }

    /// `BUSY` if a copy that was not submitted is to write an entry that goes.
    fn check_order(&self, driver: &Driver<'_>, goes: impl Fn(u32, u32) -> bool) -> Result<(), Refusal> {
        let order = driver.record.order();
        let goes = order.source != 0 && goes(self.row_of(driver).at(order.place as usize).load(Relaxed), order.place);
        if goes { Err(Refusal::Busy) } else { Ok(()) }
    }

    /// The entries of full blocks of accepted tokens.
    fn full_entries(&self, driver: &Driver<'_>) -> (u32, u32) {
        let record = driver.record;
        let accepted = record.extent().tokens.saturating_sub(record.unaccepted());
        (record.holes().recycled, (accepted / self.block_tokens).min(record.extent().held))
    }

    /// Children before parents.
    fn release_entries(
        &self,
        driver: &Driver<'_>,
        row: Row<'_>,
        first: u32,
        last: u32,
        goes: impl Fn(u32) -> bool,
    ) -> Result<Released, Refusal> {
        let mut all = Gone::default();
        let mut holes = driver.record.holes();
        for place in (first..last).rev() {
            let entry = row.at(place as usize);
            let id = entry.load(Relaxed);
            if goes(id) {
                entry.store(id & !LISTED, Relaxed);
                all.add(&self.leave(driver, Why::End, place, 1));
                entry.store(0, Relaxed);
                holes.count += 1;
            }
        }
        driver.record.set_holes(holes);
        driver.record.touch_row();
        self.uncharge(self.group_of(driver), all.free, 0);
        Self::unless_lost(all.released(0), all.lost)
    }
}
