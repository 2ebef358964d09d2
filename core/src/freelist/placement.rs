//! Where the blocks of a batch are looked for, and in what order. All of it is preference but the last step.
//!
//! Only the caller knows whether a batch will grow, so it says so:
//!
//! | hint | tried in turn |
//! |---|---|
//! | `After(id)` | what is free right behind `id`; for the rest as `Opens` |
//! | `Opens` | whole free words, so that there is room to grow; right behind them; lanes; anything |
//! | `Any`, one block | the cursor's word (`FreeList::take_one`); anything |
//! | `Any`, several | the hole that the last return left; a run in the cursor's word; whole words for whole words' worth, and right behind them; lanes; anything |
//!
//! "Lanes" are 16 free blocks side by side in a word that is not free altogether, then in one that is: what is whole
//! is kept whole as long as there is something else. "Anything" is the words that the summary shows, from the cursor on and twice round, and after that every word until
//! a pass finds nothing. Blocks are kept as they are found; nothing is put back.

use super::FreeList;
use super::cursor::{Cursor, Position};
use super::runs::{Run, Runs};
use super::summary::Summary;
use super::word::{Pieces, WORD_BITS, lane_run, lowest, ones, run_from, run_of, word_of};

/// Where a batch would like to be. Advice; any value is allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hint {
    /// Nothing is known of it.
    Any,
    /// It begins something that will grow.
    Opens,
    /// It continues something whose last block has this id.
    After(u32),
}

/// Words in vain before advice is no longer followed.
const STALE_MAX: u32 = 8;

/// Times that the summary is searched from the beginning again.
const ROUNDS: u32 = 2;

/// One batch in the making.
pub(super) struct Search<'a, 'm, 's, S: FnMut(Run)> {
    list: &'a FreeList<'m>,
    count: u32,
    left: u32,
    word: usize,
    hole: u32,
    runs: Runs<'s, S>,
}

impl<'a, 'm, 's, S: FnMut(Run)> Search<'a, 'm, 's, S> {
    #[inline(always)]
    pub(super) fn new(list: &'a FreeList<'m>, count: u32, position: Position, sink: &'s mut S) -> Self {
        let word = position.word as usize;
        let word = if word < list.map.words() { word } else { 0 };
        Search { list, count, left: count, word, hole: position.hole, runs: Runs::new(sink) }
    }

    /// Look everywhere in the order of `hint`. Returns the number of blocks found.
    #[inline(always)]
    pub(super) fn run(mut self, hint: Hint, cursor: &Cursor) -> u32 {
        match hint {
            Hint::After(id) => self.grow(id),
            Hint::Opens => self.open(),
            // `take_one` has been there.
            Hint::Any if self.count == 1 => {}
            Hint::Any => self.fill_hole(),
        }
        if self.left > 0 && (hint != Hint::Any || self.count > 1) {
            self.advised(&self.list.lane, 0, lane_run);
            self.advised(&self.list.full, 0, lane_run);
        }
        if self.left > 0 {
            self.anywhere();
        }
        if hint == Hint::Any && self.count > 1 {
            // A batch that will not grow is followed by the next one.
            self.hole = self.runs.end().unwrap_or(self.hole);
        }
        self.runs.flush();
        cursor.store(Position { word: self.word as u32, hole: self.hole });
        self.count - self.left
    }

    /// Claim in one word. What was found; 0 if `pick` chose nothing.
    #[inline(always)]
    fn claim(&mut self, word: usize, pick: impl FnMut(u64) -> u64) -> u64 {
        let taken = self.list.claim(word, pick);
        if taken != 0 {
            self.left -= self.runs.push(word, taken);
        }
        taken
    }

    /// What is free right behind `id`, then as something that opens.
    #[inline(always)]
    fn grow(&mut self, id: u32) {
        let mut at = id.saturating_add(1);
        while self.left > 0 && word_of(at) < self.list.map.words() {
            let (bit, left) = (at & (WORD_BITS - 1), self.left);
            let taken = self.claim(word_of(at), |word| run_from(word, bit, left));
            at = at.saturating_add((taken >> bit).trailing_ones());
            // Goes on only across the border of a word that was free up to its end.
            if taken == 0 || at & (WORD_BITS - 1) != 0 {
                break;
            }
        }
        if self.left > 0 {
            self.open();
        }
    }

    /// Whole words for all of a short batch, since it will grow; for whole words' worth of a long one.
    #[inline(never)]
    fn open(&mut self) {
        self.whole_words(if self.left < WORD_BITS { 0 } else { self.left & (WORD_BITS - 1) });
    }

    /// Several blocks that will not grow: where the last batch came from.
    #[inline(always)]
    fn fill_hole(&mut self) {
        self.exactly_at(self.hole);
        let count = self.count;
        if self.left == count && count <= WORD_BITS {
            self.claim_here(|word| run_of(word, count));
        }
        if self.left >= WORD_BITS {
            self.whole_words(self.left & (WORD_BITS - 1));
        }
    }

    /// Whole free words until `keep` blocks are left to find, and those right behind.
    fn whole_words(&mut self, keep: u32) {
        self.advised(&self.list.full, keep, |word, need| if word == u64::MAX { ones(need) } else { 0 });
        if self.left > 0
            && let Some(end) = self.runs.end()
        {
            self.exactly_at(end);
        }
    }

    /// Claim in the cursor's word.
    #[inline(always)]
    fn claim_here(&mut self, pick: impl FnMut(u64) -> u64) {
        self.claim(self.word, pick);
    }

    /// All the blocks that are left to find from `at` on if all of them look free; what comes before a lost race then.
    #[inline(always)]
    fn exactly_at(&mut self, at: u32) {
        let map = &self.list.map;
        let is_free = |(word, mask)| word < map.words() && map.load(word) & mask == mask;
        if !Pieces::new(at, self.left).all(is_free) {
            return;
        }
        for (word, mask) in Pieces::new(at, self.left) {
            if self.claim(word, |seen| if seen & mask == mask { mask } else { 0 }) == 0 {
                break;
            }
        }
    }

    /// Follow the advice of `summary` until `keep` blocks are left to find. `fit` chooses up to so many blocks of a
    /// word, none if the advice was wrong.
    #[inline(always)]
    fn advised(&mut self, summary: &Summary, keep: u32, fit: impl Fn(u64, u32) -> u64) {
        if !summary.is_bare() {
            self.follow(summary, keep, fit);
        }
    }

    #[inline(never)]
    fn follow(&mut self, summary: &Summary, keep: u32, fit: impl Fn(u64, u32) -> u64) {
        let mut from = self.word;
        let mut in_vain = 0;
        let mut is_second_round = false;
        while self.left > keep && in_vain < STALE_MAX {
            let Some(word) = summary.next(from) else {
                if is_second_round {
                    break;
                }
                (is_second_round, from) = (true, 0);
                continue;
            };
            let need = self.left - keep;
            if self.claim(word, |seen| fit(seen, need)) != 0 {
                (self.word, from) = (word, word);
                continue;
            }
            summary.hide(word);
            if fit(self.list.map.load(word), 1) != 0 {
                summary.suggest(word);
            }
            in_vain += 1;
            from = word + 1;
        }
    }

    /// Whatever is free, wherever it is.
    #[inline(never)]
    fn anywhere(&mut self) {
        let mut from = self.word;
        let mut rounds = 0;
        while self.left > 0 && rounds <= ROUNDS {
            let Some(word) = self.list.map.next(from) else {
                (rounds, from) = (rounds + 1, 0);
                continue;
            };
            if !self.claim_lowest(word) {
                self.list.map.tidy(word);
            }
            from = word + 1;
        }
        while self.left > 0 && self.everywhere() {}
    }

    /// One pass over all words, whatever the summary says: it may hide a word while another thread stands still between
    /// a put and the showing, or between hiding and looking again. Whether anything was found.
    #[cold]
    pub(super) fn everywhere(&mut self) -> bool {
        let before = self.left;
        for word in 0..self.list.map.words() {
            if self.left == 0 {
                break;
            }
            self.claim_lowest(word);
        }
        self.left < before
    }

    #[inline(always)]
    fn claim_lowest(&mut self, word: usize) -> bool {
        let left = self.left;
        let is_found = self.claim(word, |seen| lowest(seen, left)) != 0;
        if is_found {
            self.word = word;
        }
        is_found
    }
}
