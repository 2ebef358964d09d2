//! The block table: fixed rows of block ids in the caller's memory, padded with the null block, exactly what paged
//! attention kernels read. A row is also the pool's own list of what a sequence holds, checked against the block words
//! whenever it is read back.
//!
//! With one row a sequence the table is the scheduler's copy; a step reads what was exported at its submit. With two
//! rows a device reads rows in place: `launch_row` marks the current one as read until an epoch is over, appending to
//! it stays allowed (the step does not read so far), and a call that must replace entries turns to the other row, or
//! answers `BUSY` while both are in flight.

use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Cells, Span};
use crate::config::PoolConfig;
use crate::ids::{Epoch, StreamSet};
use crate::sync::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};

/// The entries of one row.
pub(crate) type Row<'m> = Cells<'m, AtomicU32>;

/// Cells of one row in flight: epoch and streams.
const IN_FLIGHT_CELLS: usize = 2;

/// The table and what is known of its rows.
#[derive(Clone, Copy)]
pub(crate) struct Table<'m> {
    entries: Cells<'m, AtomicU32>,
    /// The epoch that reads each row in place, and on which streams; only with two rows.
    in_flight: Cells<'m, AtomicU64>,
    pub(crate) width: u32,
    rows: u32,
}

impl<'m> Table<'m> {
    pub(crate) const fn layout(carve: &mut Carve, config: &PoolConfig) -> Span<AtomicU64> {
        carve.region(if config.rows == 2 { config.sequences as usize * 2 * IN_FLIGHT_CELLS } else { 0 })
    }

    pub(crate) fn view(
        arena: &mut Arena<'m>,
        layout: Span<AtomicU64>,
        entries: Cells<'m, AtomicU32>,
        config: &PoolConfig,
    ) -> Result<Self, Refusal> {
        Ok(Table { entries, in_flight: arena.cells(layout)?, width: config.table_width, rows: config.rows })
    }

    /// At init: the null block everywhere.
    pub(crate) fn clear(&self) {
        for index in 0..self.entries.len() {
            self.entries.at(index).store(0, Relaxed);
        }
    }

    pub(crate) fn has_two_rows(&self) -> bool {
        self.rows == 2
    }

    /// The number of a sequence's row.
    #[inline(always)]
    pub(crate) fn row_number(&self, slot: u32, turn: u32) -> u32 {
        slot * self.rows + (turn & (self.rows - 1))
    }

    /// A row.
    #[inline(always)]
    pub(crate) fn row(&self, number: u32) -> Row<'m> {
        self.entries.part(number as usize * self.width as usize, self.width as usize)
    }

    /// The newest epoch that reads the row in place, and on which streams; `NONE` if none does.
    pub(crate) fn in_flight(&self, number: u32) -> (Epoch, StreamSet) {
        if !self.has_two_rows() {
            return (Epoch::NONE, StreamSet(0));
        }
        let [epoch, streams] = self.in_flight_cells(number);
        (Epoch(epoch.load(Relaxed)), StreamSet(streams.load(Relaxed)))
    }

    /// `epoch` reads the row in place, on one of `streams`.
    pub(crate) fn launch(&self, number: u32, epoch: Epoch, streams: StreamSet) {
        let (before, others) = self.in_flight(number);
        self.set_in_flight(number, before.max(epoch), others.with(streams));
    }

    /// Nothing reads the row any more.
    pub(crate) fn land(&self, number: u32) {
        self.set_in_flight(number, Epoch::NONE, StreamSet(0));
    }

    fn set_in_flight(&self, number: u32, epoch: Epoch, streams: StreamSet) {
        if self.has_two_rows() {
            let cells = self.in_flight_cells(number);
            cells[0].store(epoch.0, Relaxed);
            cells[1].store(streams.0, Relaxed);
        }
    }

    fn in_flight_cells(&self, number: u32) -> [&'m AtomicU64; IN_FLIGHT_CELLS] {
        let first = number as usize * IN_FLIGHT_CELLS;
        [self.in_flight.at(first), self.in_flight.at(first + 1)]
    }
}
