//! `open`, `cancel`, `end`, `preempt`: the handle, and the road home of everything that a sequence has.

use super::leave::{Gone, Why};
use super::{Counter, Pool};
use crate::accounts::Credit;
use crate::answer::{Place, Refusal};
use crate::balance;
use crate::calls::Released;
use crate::ids::{Group, Sequence, StreamSet};
use crate::recorder::Call;
use crate::sequence::{Driver, Event, Extent};
use crate::sync::{AcqRel, Plant, Relaxed, planted, point};

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
                self.uncharge(group.unwrap_or(Group(0)), 0, balance);
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
        let (released, lost) = self.let_go(&driver, balance, Why::End);
        driver.take_long_way(false);
        let slot = driver.slot;
        driver.succeed();
        drop(driver);
        point("end: generation over");
        self.sequences.vacate(slot);
        Self::unless_lost(released, lost)
    }

    /// Preempt by recompute: as `end`, but the handle stays, opened, to be admitted again with what it had generated
    /// counted into the prompt. The answer says what is free now and after which epoch the rest is. (Blocks that were coming
    /// back to the sequence before, out of its window say, come back to the account of the opened sequence: R until it ends, or is
    /// admitted and takes them.)
    ///
    /// Errors: `STALE`, `BUSY`, `CANCELLED`; `INVALID(Sequence)` if it is not admitted; `CORRUPT` as in `end`.
    /// Threads: its driver. Lock-free. Cost: O(blocks held).
    pub fn preempt(&self, sequence: Sequence) -> Result<Released, Refusal> {
        self.recorded(Call::Preempt { sequence }, |pool| pool.preempt_as(sequence, Why::End))
    }

    pub(super) fn preempt_as(&self, sequence: Sequence, why: Why) -> Result<Released, Refusal> {
        let mut driver = self.sequences.drive(sequence, Event::Preempt)?;
        let emptied = driver.record.balance().debit_up_to(driver.generation, u32::MAX);
        let balance = emptied.map_err(|_| Refusal::Cancelled)?;
        let (released, lost) = self.let_go(&driver, balance, why);
        driver.take_long_way(false);
        driver.succeed();
        Self::unless_lost(released, lost)
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

    pub(super) fn unless_lost(released: Released, lost: u32) -> Result<Released, Refusal> {
        if lost == 0 { Ok(released) } else { Err(Refusal::Corrupt { place: Place::Table }) }
    }

    /// Everything that an admitted or pinned sequence has goes home: `balance` has left its account, its blocks leave
    /// its row. Bits first, then the words (O1).
    pub(super) fn let_go(&self, driver: &Driver<'_>, balance: u32, why: Why) -> (Released, u32) {
        let (record, group) = (driver.record, self.group_of(driver));
        if planted(Plant::WordBeforeBits) {
            self.uncharge(group, record.extent().held, balance);
        }
        let gone = self.let_go_blocks(driver, why);
        if !planted(Plant::WordBeforeBits) {
            self.uncharge(group, gone.free, balance);
        }
        let credit = record.shared();
        if !credit.is_none() {
            self.accounts.detach(credit);
            record.set_shared(Credit::NONE);
        }
        (gone.released(balance), gone.lost)
    }

    /// Its blocks leave its row, and so does a copy that was never submitted. What they free stays in A for the caller to
    /// release.
    pub(super) fn let_go_blocks(&self, driver: &Driver<'_>, why: Why) -> Gone {
        let record = driver.record;
        let held = record.extent().held.min(self.table.width);
        let first = record.holes().recycled.min(held);
        self.drop_order(driver);
        let mut gone = self.leave(driver, why, first, held - first);
        // A null block where none should be: what the entry named cannot be known, and stays in A.
        let holes = record.holes().count.saturating_sub(first);
        if let nulled @ 1.. = gone.nulls.saturating_sub(holes) {
            self.counter(Counter::Quarantined).fetch_add(u64::from(nulled), AcqRel);
            gone.lost += nulled;
        }
        if held > 0 {
            self.clear_row(driver, held);
        }
        record.set_extent(Extent::default());
        record.clear_rest();
        gone
    }

    /// `committed` blocks and `promised` promises leave the pool's word and then the group's.
    pub(super) fn uncharge(&self, group: Group, committed: u32, promised: u32) {
        if committed + promised > 0 {
            self.ledger.release(committed, promised);
            self.group_word(group).release(committed + promised);
            self.returned();
        }
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
