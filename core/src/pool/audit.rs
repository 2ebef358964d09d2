//! Every structure against every other: what tests and `kvledger replay --audit` call after each step. Exact while no
//! call is in progress; slow on purpose.

use super::{Counter, Pool};
use crate::accounts::Credit;
use crate::block::{Flag, Kind};
use crate::ids::Group;
use crate::sequence::{Record, State};
use crate::sync::{Acquire, Relaxed};
use core::fmt;

/// A sum that does not come out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The invariant that is broken (numbered as in `core/ARCHITECTURE.md`).
    pub invariant: u32,
    /// What does not agree.
    pub what: &'static str,
    /// What it should be.
    pub expected: u64,
    /// What it is.
    pub found: u64,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "I{}: {}: expected {}, found {}", self.invariant, self.what, self.expected, self.found)
    }
}

impl core::error::Error for Fault {}

fn equal(invariant: u32, what: &'static str, expected: u64, found: u64) -> Result<(), Fault> {
    if expected == found { Ok(()) } else { Err(Fault { invariant, what, expected, found }) }
}

/// Counts of block words by kind, and sums of mixed ids that tell sets of the same size apart.
#[derive(Default)]
struct Words {
    free: u64,
    held: u64,
    /// Holders of all held blocks, and their ids as often.
    holders: u64,
    held_ids: u64,
    retiring: u64,
    /// Of these, blocks that a transfer grips; of these, such that are in doubt.
    gripped: u64,
    doubted: u64,
    quarantined: u64,
    /// Idle with a live name, and with a dead one.
    idle: u64,
    dead: u64,
    /// Promises that stand behind blocks.
    promises: u64,
}

/// Scrambles an id, so that sums of different sets differ (the finalizer of SplitMix64, Steele et al. 2014).
const fn mix(id: u32) -> u64 {
    let mut x = (id as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Pool<'_> {
    /// Compare all counts, cheap and dear, with one another. `Ok` means that I1, I2, I4 and I8 hold as far as
    /// memory shows. Only meaningful at rest: while no other call is in progress.
    ///
    /// Never panics. Cost: O(sequences × width + (groups + accounts) × (N + sequences)).
    pub fn validate(&self) -> Result<(), Fault> {
        let word = self.ledger.load();
        let blocks = u64::from(self.ledger.blocks());
        if word.used() > blocks {
            return Err(Fault { invariant: 1, what: "A + R + S within N", expected: blocks, found: word.used() });
        }
        let words = self.count_words()?;
        let quarantined = self.counter(Counter::Quarantined).load(Acquire);
        let committed = u64::from(word.committed);
        let idle = words.idle + words.dead;
        equal(2, "A + E + F = N", blocks, committed + idle + self.free.count())?;
        equal(2, "E", words.idle, u64::from(self.idle()))?;
        equal(2, "free words and free bits", words.free, self.free.count())?;
        equal(2, "retiring words and bucket bits", words.retiring - words.gripped, self.retiring.count_bits())?;
        equal(2, "bucket bits and bucket counts", self.retiring.count_bits(), self.retiring.count())?;
        equal(2, "gripped words and their count", words.gripped - words.doubted, self.count_of(Counter::Gripped))?;
        equal(2, "doubted words and their count", words.doubted, self.count_of(Counter::Doubted))?;
        equal(2, "A = held + retiring + quarantined", committed, words.held + words.retiring + words.quarantined)?;
        equal(2, "quarantined words and their count", words.quarantined, quarantined)?;
        self.check_rows(&words)?;
        self.check_promises(&words, u64::from(word.spoken))?;
        self.check_groups()
    }

    fn count_words(&self) -> Result<Words, Fault> {
        let mut words = Words::default();
        for id in 1..=self.ledger.blocks() {
            let word = self.blocks.word(id);
            let in_list = self.free.is_free(id);
            match word.kind() {
                Some(Kind::Free) => words.free += 1,
                Some(Kind::Held) => {
                    words.held += 1;
                    words.holders += u64::from(word.holders());
                    words.held_ids = words.held_ids.wrapping_add(mix(id).wrapping_mul(u64::from(word.holders())));
                }
                Some(Kind::Retiring) => {
                    words.retiring += 1;
                    words.gripped += u64::from(word.holds() > 0);
                    words.doubted += u64::from(word.holds() > 0 && word.has(Flag::Doubt));
                }
                Some(Kind::Idle) if word.has(Flag::Named) => words.idle += 1,
                Some(Kind::Idle) => words.dead += 1,
                Some(Kind::Quarantined) => words.quarantined += 1,
                Some(Kind::Reclaiming) | None => {
                    return Err(Fault {
                        invariant: 2,
                        what: "a block at rest is in one state",
                        expected: 0,
                        found: word.0,
                    });
                }
            }
            words.promises += u64::from(word.promises());
            if in_list && !word.is(Kind::Free) {
                return Err(Fault {
                    invariant: 2,
                    what: "a block in the free list is free",
                    expected: 0,
                    found: word.0,
                });
            }
        }
        equal(2, "the null block is never free", 0, u64::from(self.free.is_free(0)))?;
        Ok(words)
    }

    /// Every entry of every row, but for holes, is a held block, every held block is in as many rows as it has holders
    /// (I4), and what follows is null blocks.
    fn check_rows(&self, words: &Words) -> Result<(), Fault> {
        let (mut entries, mut ids) = (0u64, 0u64);
        for slot in 0..self.sequences.count() {
            let record = self.sequences.record(slot);
            let held = if record.look().1 == State::Vacant { 0 } else { record.extent().held };
            let holes = record.holes();
            let row = self.table.row(self.table.row_number(slot, record.turn()));
            let mut missing = 0;
            for index in 0..row.len() {
                let id = row.at(index).load(Relaxed);
                if index >= held as usize {
                    // A row that a device still reads in place keeps its numbers.
                    let kept = self.table.has_two_rows() && held == 0;
                    equal(2, "a row is padded with null blocks", 0, u64::from(if kept { 0 } else { id }))?;
                    continue;
                }
                if index < holes.recycled as usize {
                    missing += 1;
                    let nulled = index < holes.nulled as usize;
                    equal(2, "a recycled entry that is over is null", 0, u64::from(if nulled { id } else { 0 }))?;
                    continue;
                }
                if id == 0 {
                    missing += 1;
                    continue;
                }
                let good = self.blocks.exists(id) && self.blocks.word(id).is(Kind::Held);
                equal(2, "a row entry is a held block", 1, u64::from(good))?;
                entries += 1;
                ids = ids.wrapping_add(mix(id));
            }
            equal(2, "holes of a row", u64::from(if held == 0 { 0 } else { holes.count }), missing)?;
        }
        equal(4, "holders and row entries", words.holders, entries)?;
        equal(4, "the held blocks are the row entries", words.held_ids, ids)
    }

    /// R + S = all balances + promises behind blocks + S; the total of an account = balance + its blocks in A.
    fn check_promises(&self, words: &Words, spoken: u64) -> Result<(), Fault> {
        let sequences: u64 =
            (0..self.sequences.count()).map(|slot| u64::from(self.sequences.record(slot).balance().blocks())).sum();
        let mut accounts = 0;
        for slot in 0..self.accounts.count() {
            if let Some(account) = self.accounts.opened(slot) {
                let balance = u64::from(self.accounts.balance(slot).blocks());
                accounts += balance;
                let taken = self.taken_by(account);
                equal(8, "an account's total", u64::from(self.accounts.total(slot)), balance + taken)?;
            }
        }
        equal(8, "R + S", sequences + accounts + words.promises + u64::from(self.safety()), spoken)
    }

    /// Blocks that the sequences of an account took and that have not left A.
    fn taken_by(&self, account: crate::ids::Account) -> u64 {
        let credit = Credit::to(account);
        let private = self.count_private(|record| record.shared() == credit);
        private + self.count_committed(|_, tag| tag.credit == credit)
    }

    /// Private blocks in the rows of these sequences.
    fn count_private(&self, counts: impl Fn(&Record) -> bool) -> u64 {
        (0..self.sequences.count())
            .map(|slot| (slot, self.sequences.record(slot)))
            .filter(|(_, record)| record.look().1 != State::Vacant && record.extent().held > 0 && counts(record))
            .map(|(slot, record)| {
                let row = self.table.row(self.table.row_number(slot, record.turn()));
                let entries = row.all().iter().take(record.extent().held as usize);
                let first = record.holes().recycled as usize;
                entries.skip(first).filter(|entry| self.blocks.word(entry.load(Relaxed)).is_private()).count() as u64
            })
            .sum()
    }

    /// Blocks in A whose tags are live and count: retiring ones, and those that others than their holder may know.
    fn count_committed(&self, counts: impl Fn(u32, &crate::blocks::Tag) -> bool) -> u64 {
        let committed = |id: &u32| {
            let word = self.blocks.word(*id);
            word.is(Kind::Retiring) || (word.is(Kind::Held) && word.has(Flag::Shared))
        };
        (1..=self.ledger.blocks()).filter(committed).filter(|&id| counts(id, &self.blocks.tag(id))).count() as u64
    }

    /// The use of a group = what its sequences and accounts are promised, what stands behind its blocks, and its blocks in A,
    /// each once.
    fn check_groups(&self) -> Result<(), Fault> {
        let mut all = 0;
        for index in 0..self.config.groups {
            let group = Group(index);
            let balances: u64 = (0..self.sequences.count())
                .map(|slot| self.sequences.record(slot))
                .filter(|record| record.look().1 != State::Vacant && record.group() == Some(group))
                .map(|record| u64::from(record.balance().blocks()))
                .sum();
            let accounts: u64 = (0..self.accounts.count())
                .filter(|&slot| self.accounts.opened(slot).is_some() && self.accounts.group(slot) == group)
                .map(|slot| u64::from(self.accounts.balance(slot).blocks()))
                .sum();
            let private = self.count_private(|record| record.group() == Some(group));
            let known = self.count_committed(|_, tag| tag.group == group);
            let promises: u64 = (1..=self.ledger.blocks())
                .map(|id| (id, self.blocks.word(id).promises()))
                .filter(|&(id, promises)| promises > 0 && self.blocks.group(id) == group)
                .map(|(_, promises)| u64::from(promises))
                .sum();
            let used = u64::from(self.group_word(group).load().used);
            equal(1, "what a group uses", balances + accounts + private + known + promises, used)?;
            all += used;
        }
        let word = self.ledger.load();
        let lost = self.counter(Counter::Quarantined).load(Acquire);
        if lost == 0 {
            equal(1, "all groups together and S", word.used(), all + u64::from(self.safety()))?;
        }
        Ok(())
    }
}
