//! What comes back to a sequence while it runs: blocks out of its window; and, in the same way, blocks of tokens that were not
//! accepted (`speculation.rs`).
//!
//! A block that comes back retires with a credit: when nothing can touch it any more it leaves A for the balance of the
//! sequence, the sum unchanged. While somebody else grips it, it does not come back: the promise that stands behind it
//! (owed rule) goes to the balance at once, and the block stays with the others.

use super::Pool;
use super::leave::Why;
use super::prefix::{clear_from, entries_in};
use crate::calls::Released;
use crate::ids::Epoch;
use crate::sequence::Driver;
use crate::sync::point;

impl Pool<'_> {
    /// Blocks come back to the sequence: `count` entries of its row from `from` on. What they free and do not pay leaves A.
    pub(super) fn take_back(&self, driver: &Driver<'_>, why: Why, from: u32, count: u32) -> (Released, u32) {
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
            if record.order().place < out {
                // What the copy was to write is read by nobody any more.
                self.drop_order(driver);
            }
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
}
