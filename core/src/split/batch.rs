//! What a plan is made of: the lengths of one batch, in the arrays that the kernel reads as well.

use super::shape::Checked;
use crate::answer::{Argument, Refusal};

/// One batch. Arrays that may be empty then mean what stands beside them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SplitBatch<'a> {
    /// Keys of each sequence, those of its query tokens included.
    pub lengths: &'a [u32],
    /// The first query token of each sequence, and the end of the last one's: one more than sequences. Empty: one each.
    pub query_starts: &'a [u32],
    /// The place of each query token in its sequence. Empty: they are the last ones of their sequences.
    pub query_positions: &'a [u32],
    /// The first key of each sequence that is attended to. Empty: 0. (The suffix of a cascade.)
    pub begins: &'a [u32],
    /// The end of the keys of each sequence that are attended to. Empty: its length. (The prefix of a cascade.)
    pub ends: &'a [u32],
}

/// One sequence of a batch.
#[derive(Clone, Copy)]
pub(super) struct Queries<'a> {
    pub(super) sequence: u32,
    /// Query tokens.
    pub(super) tokens: u32,
    /// Their places, or none if they are the last ones.
    positions: &'a [u32],
    length: u32,
    begin: u32,
    end: u32,
}

impl<'a> SplitBatch<'a> {
    /// `INVALID`: `Sequences`, `Tokens`, `Length` (more than the maximum), `Queries` (`query_starts` has another count than
    /// sequences and one, or descends; `query_positions` has fewer than query tokens), `Ranges` (`begins` or `ends` has
    /// another count than `lengths`).
    pub(super) fn check(&self, shape: &Checked) -> Result<(), Refusal> {
        let count = self.lengths.len();
        require(count <= shape.split.sequences_max as usize, Argument::Sequences)?;
        require(self.lengths.iter().all(|length| *length <= shape.split.keys_max), Argument::Length)?;
        let is_whole = |array: &[u32]| array.is_empty() || array.len() == count;
        require(is_whole(self.begins) && is_whole(self.ends), Argument::Ranges)?;

        let starts = self.query_starts;
        require(starts.is_empty() || starts.len().checked_sub(1) == Some(count), Argument::Queries)?;
        // Not `is_sorted`, which could panic for what the compiler knows.
        let ascends = starts.iter().zip(starts.iter().skip(1)).all(|(start, next)| start <= next);
        require(ascends, Argument::Queries)?;
        let (first, end) = match (starts.first(), starts.last()) {
            (Some(first), Some(end)) => (*first as usize, *end as usize),
            _ => (0, count),
        };
        require(end.saturating_sub(first) <= shape.split.query_tokens_max as usize, Argument::Tokens)?;
        require(self.query_positions.is_empty() || self.query_positions.len() >= end, Argument::Queries)
    }

    /// Each sequence of a batch that was checked.
    pub(super) fn sequences(self) -> impl Iterator<Item = Queries<'a>> {
        self.lengths.iter().zip(0u32..).map(move |(length, sequence)| self.queries(sequence, *length))
    }

    fn queries(self, sequence: u32, length: u32) -> Queries<'a> {
        let at = sequence as usize;
        let number = |array: &[u32], otherwise| array.get(at).copied().unwrap_or(otherwise);
        let first = number(self.query_starts, sequence);
        let end = self.query_starts.get(at.saturating_add(1)).copied().unwrap_or(first.saturating_add(1));
        let positions = self.query_positions.get(first as usize..end as usize).unwrap_or(&[]);
        let (begin, end_key) = (number(self.begins, 0), number(self.ends, length));
        Queries { sequence, tokens: end.saturating_sub(first), positions, length, begin, end: end_key.min(length) }
    }
}

impl Queries<'_> {
    /// The keys that any of these query tokens sees, from the first to the end: 0 and 0 if there is none. Keys between them
    /// that none sees may be there where tokens have positions.
    pub(super) fn seen(&self, first_token: u32, end_token: u32, window: i32) -> (u32, u32) {
        let given = self.positions.get(first_token as usize..end_token as usize).unwrap_or(&[]);
        if given.is_empty() {
            // They follow one another, and so does what they see. Below 0 where there are more of them than keys.
            let before = i64::from(self.length).saturating_sub(i64::from(self.tokens));
            let place = |token: u32| before.saturating_add(i64::from(token));
            return self.seen_from(place(first_token), place(end_token).saturating_sub(1), window);
        }
        given.iter().fold((0, 0), |(first, end), place| {
            let seen = self.seen_from(i64::from(*place), i64::from(*place), window);
            match (seen, end) {
                ((_, 0), _) => (first, end),
                (seen, 0) => seen,
                (seen, _) => (seen.0.min(first), seen.1.max(end)),
            }
        })
    }

    /// The same of tokens at all places from `low` to `high`.
    fn seen_from(&self, low: i64, high: i64, window: i32) -> (u32, u32) {
        // A window is at least 0 here, or −1 for none.
        let first = if window < 0 { 0 } else { low.saturating_sub(i64::from(window)) };
        let first = first.max(i64::from(self.begin));
        // The key of a query itself is seen.
        let end = high.saturating_add(1).min(i64::from(self.end));
        match (u32::try_from(first), u32::try_from(end)) {
            (Ok(first), Ok(end)) if first < end => (first, end),
            _ => (0, 0),
        }
    }
}

fn require(holds: bool, argument: Argument) -> Result<(), Refusal> {
    if holds { Ok(()) } else { Err(Refusal::invalid(argument)) }
}
