//! What kernels read: table rows, whole (padded with the null block) or packed (CSR: indptr, indices, last length).

use super::{Pool, Row};
use crate::answer::{Argument, Refusal};
use crate::ids::{Epoch, Sequence};
use crate::recorder::Call;
use crate::sequence::{Driver, Event};
use crate::sync::Relaxed;

/// Where the blocks of a sequence stand.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RowView {
    /// The row: its entries begin at row × table width.
    pub row: u32,
    /// Entries in use; the rest are null blocks, and so are, among these, blocks that have left the window or were released.
    pub entries: u32,
    /// Tokens of the sequence.
    pub tokens: u32,
    /// Changes whenever the row did: who exported this version before need not do it again.
    pub version: u64,
}

impl<'m> Pool<'m> {
    /// Which row a sequence has, and what is in it.
    ///
    /// Errors: `STALE`, `BUSY`, `CANCELLED`, `INVALID(Sequence)` if it is neither admitted nor pinned. Threads: its driver. Cost: O(1).
    pub fn row(&self, sequence: Sequence) -> Result<RowView, Refusal> {
        Ok(self.view_of(&self.sequences.drive(sequence, Event::Look)?))
    }

    /// Copy the entries of a sequence's row that are in use to the front of `out`; how many they are. The rest of `out` is
    /// left alone.
    ///
    /// Errors: as `row`; `INVALID(Output)` if `out` is shorter than that, and then nothing was written.
    /// Threads: its driver. Cost: O(entries).
    pub fn export_row(&self, sequence: Sequence, out: &mut [u32]) -> Result<u32, Refusal> {
        let driver = self.sequences.drive(sequence, Event::Look)?;
        let view = self.view_of(&driver);
        if out.len() < view.entries as usize {
            return Err(Refusal::invalid(Argument::Output));
        }
        self.copy_row(&view, out.iter_mut());
        Ok(view.entries)
    }

    /// Pack the rows of several sequences: `indices[indptr[i] .. indptr[i + 1]]` are the entries of sequence i that have
    /// tokens (the null block where they have left its window or were released), and `last_block_tokens[i]` says how many
    /// tokens are in the last one (B if it is full, 0 if there is none). Returns the indices used. The form that
    /// FlashInfer's paged kernels take.
    ///
    /// Errors: as `row`, for the first sequence that is refused; `INVALID(Output)` if `indptr` is shorter than
    /// sequences + 1, `last_block_tokens` than sequences, or `indices` than the blocks. What was written before a
    /// refusal means nothing. Threads: the driver of all of them. Cost: O(blocks).
    pub fn export_csr(
        &self,
        sequences: &[Sequence],
        indptr: &mut [u32],
        indices: &mut [u32],
        last_block_tokens: &mut [u32],
    ) -> Result<u32, Refusal> {
        const SHORT: Refusal = Refusal::invalid(Argument::Output);
        if indptr.len() <= sequences.len() || last_block_tokens.len() < sequences.len() {
            return Err(SHORT);
        }
        let (mut used, room) = (0u32, indices.len());
        let mut indices = indices.iter_mut();
        let mut starts = indptr.iter_mut();
        for (&sequence, last) in sequences.iter().zip(last_block_tokens) {
            let driver = self.sequences.drive(sequence, Event::Look)?;
            let view = self.view_of(&driver);
            if let Some(start) = starts.next() {
                *start = used;
            }
            // Blocks may be held ahead of tokens; kernels take the last index for the block of the last token.
            let view = RowView { entries: view.entries.min(self.blocks_for(view.tokens)), ..view };
            used = used.checked_add(view.entries).filter(|&used| used as usize <= room).ok_or(SHORT)?;
            self.copy_row(&view, indices.by_ref().take(view.entries as usize));
            *last = self.tokens_in_last_block(&view);
        }
        if let Some(end) = starts.next() {
            *end = used;
        }
        Ok(used)
    }

    /// The work of `epoch` reads the row in place. With two rows a sequence, the row then stays as it is, but for blocks
    /// that are appended, until the epoch is over on the sequence's streams. With one row the table is the scheduler's copy,
    /// and this is `row`.
    ///
    /// Errors: as `row`; `INVALID(Epoch)` if it was not handed out. Threads: its driver. Cost: O(1).
    pub fn launch_row(&self, sequence: Sequence, epoch: Epoch) -> Result<RowView, Refusal> {
        self.recorded(Call::LaunchRow { sequence, epoch }, |pool| {
            if epoch == Epoch::NONE || epoch > pool.streams.newest() {
                return Err(Refusal::invalid(Argument::Epoch));
            }
            let driver = pool.sequences.drive(sequence, Event::Use)?;
            let view = pool.view_of(&driver);
            pool.table.launch(view.row, epoch, driver.record.streams());
            Ok(view)
        })
    }

    /// Whether no device reads the row in place.
    pub(super) fn row_is_free(&self, number: u32) -> bool {
        let (epoch, streams) = self.table.in_flight(number);
        self.streams.is_over(epoch, streams)
    }

    /// The row that a new admission writes to, emptied: the one in use, or the other one while that is in flight.
    pub(super) fn free_turn(&self, driver: &Driver<'_>) -> Result<u32, Refusal> {
        let turn = driver.record.turn();
        if !self.table.has_two_rows() {
            return Ok(turn);
        }
        for turn in [turn, 1 - turn] {
            let number = self.table.row_number(driver.slot, turn);
            if self.row_is_free(number) {
                self.table.land(number);
                self.empty(number);
                return Ok(turn);
            }
        }
        Err(Refusal::Busy)
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

    /// All of it: there may be null blocks between others.
    fn empty(&self, number: u32) {
        self.table.row(number).all().iter().for_each(|entry| entry.store(0, Relaxed));
    }

    fn view_of(&self, driver: &Driver<'_>) -> RowView {
        let extent = driver.record.extent();
        RowView {
            row: self.table.row_number(driver.slot, driver.record.turn()),
            entries: extent.held.min(self.table.width),
            tokens: extent.tokens,
            version: driver.record.row_version(),
        }
    }

    fn copy_row<'a>(&self, view: &RowView, out: impl Iterator<Item = &'a mut u32>) {
        let row = self.table.row(view.row);
        for (index, entry) in (0..view.entries as usize).zip(out) {
            *entry = row.at(index).load(Relaxed);
        }
    }

    fn tokens_in_last_block(&self, view: &RowView) -> u32 {
        match view.tokens {
            0 => 0,
            tokens => (tokens - 1) % self.block_tokens + 1,
        }
    }
}
