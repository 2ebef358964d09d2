//! Words in and out: a record is a row of 64-bit words, and everything in it is one of a few shapes.

use crate::arena::Cells;
use crate::ids::{Account, Sequence};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Where words go.
pub(super) trait Put {
    /// One more word.
    fn word(&mut self, word: u64);

    /// The next `count` places, in one or two rows, for who fills them himself.
    fn places(&mut self, count: usize) -> [&[AtomicU64]; 2];

    /// Two halves: the first is the low one.
    fn pair(&mut self, low: u32, high: u32) {
        self.word(u64::from(low) | u64::from(high) << 32);
    }

    fn sequence(&mut self, sequence: Sequence) {
        self.pair(sequence.slot, sequence.pool);
        self.word(sequence.generation);
    }

    fn account(&mut self, account: Account) {
        self.pair(account.slot, account.pool);
        self.word(account.generation);
    }
}

/// Writes words, around the end of the ring.
pub(super) struct Pen<'m> {
    pub(super) records: Cells<'m, AtomicU64>,
    /// The place of the next word.
    pub(super) next: usize,
    /// Words so far.
    pub(super) words: u64,
}

impl Put for Pen<'_> {
    #[inline(always)]
    fn word(&mut self, word: u64) {
        self.records.at(self.next).store(word, Relaxed);
        self.next = if self.next + 1 < self.records.len() { self.next + 1 } else { 0 };
        self.words += 1;
    }

    #[inline(always)]
    fn places(&mut self, count: usize) -> [&[AtomicU64]; 2] {
        let (before, from_here) = self.records.all().split_at_checked(self.next).unwrap_or((&[], &[]));
        let (first, _) = from_here.split_at_checked(count).unwrap_or((from_here, &[]));
        let rest = before.get(..count - first.len()).unwrap_or(&[]);
        self.next = if rest.is_empty() && first.len() < from_here.len() { self.next + count } else { rest.len() };
        self.words += count as u64;
        [first, rest]
    }
}

/// The low half and the high half.
pub(super) const fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

/// Where words come from: a dump, which is a claim until it is checked. `None`: there are no more.
pub(super) struct Take<'a> {
    words: &'a [u64],
}

impl<'a> Take<'a> {
    pub(super) fn new(words: &'a [u64]) -> Take<'a> {
        Take { words }
    }

    pub(super) fn word(&mut self) -> Option<u64> {
        let (&first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    pub(super) fn pair(&mut self) -> Option<(u32, u32)> {
        self.word().map(halves)
    }

    pub(super) fn sequence(&mut self) -> Option<Sequence> {
        let (slot, pool) = self.pair()?;
        Some(Sequence { slot, pool, generation: self.word()? })
    }

    pub(super) fn account(&mut self) -> Option<Account> {
        let (slot, pool) = self.pair()?;
        Some(Account { slot, pool, generation: self.word()? })
    }

    /// The next `count` words, as they are.
    pub(super) fn words(&mut self, count: usize) -> Option<&'a [u64]> {
        let (first, rest) = self.words.split_at_checked(count)?;
        self.words = rest;
        Some(first)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}
