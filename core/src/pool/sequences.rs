//! `open`, `cancel`, `end`, `preempt`: the handle, and the road home of everything that a sequence has.

use super::{Counter, Pool};
use crate::accounts::Credit;
use crate::answer::{Place, Refusal};
use crate::balance;
use crate::blocks::Tag;
use crate::calls::Released;
use crate::freelist::Gather;
use crate::ids::{Epoch, Group, Sequence, StreamSet};
use crate::recorder::Call;
use crate::sequence::{Driver, Event, Extent};
use crate::sync::{AcqRel, Plant, Relaxed, full_fence, planted, point};
use crate::table::Row;

/// What became of the blocks of a row.
#[derive(Default)]
struct Gone {
    free: u32,
    retiring: u32,
    after: Epoch,
    /// Entries that named no block that the sequence can hold.
    lost: u32,
}

impl Pool<'_> {
    /// A handle, so that everything from here on can be cancelled. It has neither promise nor blocks yet.
    ///
    /// Errors: `FULL` when `sequences` are open. Threads: any. Lock-free. Cost: O(1) while slots are left.
    pub fn open(&self) -> Result<Sequence, Refusal> {
        self.recorded(Call::Open, |pool| pool.sequences.open())
    }

    /// Cancel a sequence, from any thread, at any moment: its account is closed in one compare-exchange, and what was
    /// left of its promise is everybody's again when this returns. Every later call of its driver but `end` answers
    /// `CANCELLED`; its blocks and its slot go by `end`, when the driver gets there.
    ///
    /// Twice is `OK`. Errors: `STALE` after `end`. Threads: any, also while another drives the sequence. Lock-free.
    pub fn cancel(&self, sequence: Sequence) -> Result<(), Refusal> {
        self.recorded(Call::Cancel { sequence }, |pool| pool.cancel_one(sequence))
    }

    fn cancel_one(&self, sequence: Sequence) -> Result<(), Refusal> {
        let record = self.sequences.find(sequence)?;
        // The group is fixed before the first promise is credited, so the one read beside a balance is that of the
        // balance, even if the slot has been reused when we come to pay.
        match record.balance().close(sequence.generation, || record.group()) {
            Ok((balance, group)) => {
                point("cancel: closed");
                // I8: the one who closed the account gives back what was in it.
                self.release(group.unwrap_or(Group(0)), 0, balance);
                Ok(())
            }
            Err(balance::State::Closed) => Ok(()),
            Err(_) => Err(Refusal::Stale),
        }
    }

    /// End a sequence: what is left of its promise goes back at once, its blocks when no submitted work can touch them
    /// any more (I5), its handle is dead (I12).
    ///
    /// Errors: `STALE`; `BUSY` (another thread drives it); `CORRUPT` if its table row names blocks that it cannot hold:
    /// the sequence has ended all the same, what those entries stood for stays in A as quarantined.
    /// Threads: its driver. Lock-free. Cost: O(blocks held).
    pub fn end(&self, sequence: Sequence) -> Result<Released, Refusal> {
        self.recorded(Call::End { sequence }, |pool| pool.end_one(sequence))
    }

    fn end_one(&self, sequence: Sequence) -> Result<Released, Refusal> {
        let mut driver = self.sequences.drive(sequence, Event::End)?;
        // Closed by a cancellation: its balance is gone already.
        let closed = driver.record.balance().close(driver.generation, || ());
        let balance = closed.map_or(0, |(balance, ())| balance);
        point("end: account closed");
        let (released, lost) = self.let_go(&driver, balance);
        let slot = driver.slot;
        driver.succeed();
        drop(driver);
        point("end: generation over");
        self.sequences.vacate(slot);
        Self::unless_lost(released, lost)
    }

    /// Preempt by recompute: as `end`, but the handle stays, opened, to be admitted again with what it had generated
    /// counted into the prompt. The answer says what is free now and after which epoch the rest is.
    ///
    /// Errors: `STALE`, `BUSY`, `CANCELLED`; `INVALID(Sequence)` if it is not admitted; `CORRUPT` as in `end`.
    /// Threads: its driver. Lock-free. Cost: O(blocks held).
    pub fn preempt(&self, sequence: Sequence) -> Result<Released, Refusal> {
        self.recorded(Call::Preempt { sequence }, |pool| {
            let mut driver = pool.sequences.drive(sequence, Event::Preempt)?;
            let emptied = driver.record.balance().debit_up_to(driver.generation, u32::MAX);
            let balance = emptied.map_err(|_| Refusal::Cancelled)?;
            let (released, lost) = pool.let_go(&driver, balance);
            driver.succeed();
            Self::unless_lost(released, lost)
        })
    }

    /// Let other streams touch the blocks of a sequence too: before work with them is submitted there.
    ///
    /// Errors: `INVALID(Stream)` for an empty set, `INVALID(Sequence)` if it is not admitted, `STALE`, `BUSY`,
    /// `CANCELLED`. Threads: its driver. Cost: O(1).
    pub fn use_streams(&self, sequence: Sequence, streams: StreamSet) -> Result<(), Refusal> {
        self.recorded(Call::UseStreams { sequence, streams }, |pool| {
            let streams = pool.streams.known(streams)?;
            let driver = pool.sequences.drive(sequence, Event::Use)?;
            driver.record.set_streams(driver.record.streams().with(streams));
            Ok(())
        })
    }

    fn unless_lost(released: Released, lost: u32) -> Result<Released, Refusal> {
        if lost == 0 { Ok(released) } else { Err(Refusal::Corrupt { place: Place::Table }) }
    }

    /// Everything that an admitted or opened sequence has goes home: `balance` has left its account, its blocks leave
    /// its row. Bits first, then the words (O1).
    fn let_go(&self, driver: &Driver<'_>, balance: u32) -> (Released, u32) {
        let record = driver.record;
        let credit = record.shared();
        let group = self.group_of(driver);
        if planted(Plant::WordBeforeBits) {
            self.release(group, record.extent().held, balance);
        }
        let gone = self.empty_row(driver, group, credit);
        point("let go: blocks are back");
        if gone.lost > 0 {
            self.counter(Counter::Quarantined).fetch_add(u64::from(gone.lost), AcqRel);
        }
        if planted(Plant::WordBeforeBits) {
            // Done already, too early.
        } else if credit.is_none() {
            self.release(group, gone.free, balance);
        } else {
            self.release(group, 0, balance);
            self.settle(group, credit, gone.free);
            self.accounts.detach(credit);
            record.set_shared(Credit::NONE);
        }
        if gone.retiring > 0 {
            // The late push (`retire.rs`): what completed between the tag and the push may have drained without these.
            // O20, pairs with O20 in `reclaim`: either the reclaimer sees the bits, or we see what completed.
            full_fence();
            if self.streams.is_over(gone.after, record.streams()) {
                self.look_again(gone.after);
            }
        }
        record.set_extent(Extent::default());
        let after = if gone.retiring > 0 { gone.after } else { Epoch::NONE };
        (Released { promised: balance, free: gone.free, retiring: gone.retiring, after }, gone.lost)
    }

    /// `committed` blocks and `promised` promises leave the pool's word and then the group's.
    pub(super) fn release(&self, group: Group, committed: u32, promised: u32) {
        if committed + promised > 0 {
            self.ledger.release(committed, promised);
            self.group_word(group).release(committed + promised);
            self.returned();
        }
    }

    /// The blocks of a row, to the free list if nothing in flight can touch them, else to the bucket of their epoch.
    fn empty_row(&self, driver: &Driver<'_>, group: Group, credit: Credit) -> Gone {
        let record = driver.record;
        let held = record.extent().held.min(self.table.width);
        if held == 0 {
            return Gone::default();
        }
        let epoch = self.streams.tag(record.streams());
        let gone = if epoch == Epoch::NONE {
            self.give_back(driver, held)
        } else {
            self.retire(driver, held, &Tag { epoch, streams: record.streams(), group, credit })
        };
        self.clear_row(driver, held);
        gone
    }

    fn give_back(&self, driver: &Driver<'_>, held: u32) -> Gone {
        let row = self.table.row(self.table.row_number(driver.slot, driver.record.turn()));
        // The next sequence begins where this one was: its words are warm.
        let first = row.at(0).load(Relaxed);
        if self.blocks.exists(first) {
            self.cursor(driver.slot).aim(first);
        }
        // A bit that was set already is a block that the free list has twice: its word said held, so nobody took it.
        let lost = self.leave_row(row, held, |id| self.blocks.give_back(id), self.free.gather());
        Gone { free: held - lost, lost, ..Gone::default() }
    }

    fn retire(&self, driver: &Driver<'_>, held: u32, tag: &Tag) -> Gone {
        let row = self.table.row(self.table.row_number(driver.slot, driver.record.turn()));
        let bucket = Gather::new(|word, mask| self.retiring.push(tag.epoch, word, mask));
        let lost = self.leave_row(row, held, |id| self.blocks.retire(id, tag), bucket);
        Gone { retiring: held - lost, after: tag.epoch, lost, ..Gone::default() }
    }

    /// The blocks of a row lose their holder and go where `gather` brings them, word by word. How many could not: the
    /// entry names no block, or one that the sequence cannot hold, or one that is there already.
    #[inline(always)]
    fn leave_row<P: FnMut(usize, u64) -> u64>(
        &self,
        row: Row<'_>,
        held: u32,
        leave: impl Fn(u32) -> bool,
        mut gather: Gather<P>,
    ) -> u32 {
        let mut lost = 0;
        for entry in row.part(0, held as usize).all() {
            let id = entry.load(Relaxed);
            if self.blocks.exists(id) && leave(id) {
                gather.push(id);
            } else {
                lost += 1;
            }
        }
        point("let go: holders are gone");
        lost + gather.finish() as u32
    }

    /// Null blocks where the row named blocks, unless a device still reads the row in place: then the next admission
    /// turns to the other row.
    fn clear_row(&self, driver: &Driver<'_>, held: u32) {
        let number = self.table.row_number(driver.slot, driver.record.turn());
        if self.row_is_free(number) {
            self.table.row(number).part(0, held as usize).all().iter().for_each(|entry| entry.store(0, Relaxed));
        }
        driver.record.touch_row();
    }
}
