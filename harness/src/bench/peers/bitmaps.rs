//! Bit maps. The flat one: several bits of a word with one exchange, searched from where the thread was last. The same
//! under a lock. And the idea of Linux's sbitmap: each word on a line of its own, returns collected in a second word.

use super::double_free;
use crate::bench::allocator::{Allocator, Shape, User, Worker};
use kvledger_core::{BlockId, Hint};
use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

/// Words for ids `1 ..= blocks`; id 0 is none.
pub fn words_for(blocks: u32) -> usize {
    blocks as usize / 64 + 1
}

/// The bits of a word that are ids.
pub fn legal(word: usize, blocks: u32) -> u64 {
    let first = word as u64 * 64;
    let ids = (u64::from(blocks) + 1).saturating_sub(first).min(64);
    let below = if ids == 64 { u64::MAX } else { (1 << ids) - 1 };
    if word == 0 { below & !1 } else { below }
}

/// The lowest `count` bits that are set, or all.
#[inline(always)]
pub fn lowest(seen: u64, count: usize) -> u64 {
    if count >= seen.count_ones() as usize {
        return seen;
    }
    let mut rest = seen;
    for _ in 0..count {
        rest &= rest - 1;
    }
    seen ^ rest
}

/// The ids of `mask`, to the front of `ids`; how many.
#[inline(always)]
pub fn emit(word: usize, mut mask: u64, ids: &mut [BlockId]) -> usize {
    let count = mask.count_ones() as usize;
    for place in &mut ids[..count] {
        *place = BlockId(word as u32 * 64 + mask.trailing_zeros());
        mask &= mask.wrapping_sub(1);
    }
    count
}

/// Calls `put` once for each word's worth of neighbours.
#[inline(always)]
pub fn by_word(ids: &[BlockId], mut put: impl FnMut(usize, u64)) {
    for group in ids.chunk_by(|one, next| one.0 / 64 == next.0 / 64) {
        let mask = group.iter().fold(0, |mask, id| mask | 1u64 << (id.0 % 64));
        put(group[0].0 as usize / 64, mask);
    }
}

/// Where one of several threads begins.
pub fn start(words: usize, index: usize, workers: usize) -> usize {
    words * index / workers.max(1)
}

/// One bit an id, 1 is free.
struct Flat(Vec<AtomicU64>);

struct FlatWorker<'a> {
    words: &'a [AtomicU64],
    at: usize,
}

fn filled(blocks: u32) -> Vec<AtomicU64> {
    (0..words_for(blocks)).map(|word| AtomicU64::new(legal(word, blocks))).collect()
}

/// Searched from where the thread was last.
pub fn flat_bitmap(shape: Shape, user: User<'_>) {
    user(&Flat(filled(shape.blocks)));
}

impl Allocator for Flat {
    fn worker(&self, index: usize, workers: usize) -> Box<dyn Worker + '_> {
        Box::new(FlatWorker { words: &self.0, at: start(self.0.len(), index, workers) })
    }
}

impl Worker for FlatWorker<'_> {
    fn take(&mut self, slot: usize, _: Hint, ids: &mut [BlockId]) -> bool {
        let (mut found, mut looked) = (0, 0);
        loop {
            let word = &self.words[self.at];
            let mut seen = word.load(Relaxed);
            while seen != 0 {
                let mask = lowest(seen, ids.len() - found);
                match word.compare_exchange_weak(seen, seen & !mask, Acquire, Relaxed) {
                    Ok(_) => {
                        found += emit(self.at, mask, &mut ids[found..]);
                        break;
                    }
                    Err(now) => seen = now,
                }
            }
            if found == ids.len() {
                return true;
            }
            self.at = if self.at + 1 == self.words.len() { 0 } else { self.at + 1 };
            looked += 1;
            if looked > self.words.len() {
                self.give(slot, &ids[..found]);
                return false;
            }
        }
    }

    fn give(&mut self, _: usize, ids: &[BlockId]) {
        by_word(ids, |word, mask| {
            let twice = self.words[word].fetch_or(mask, Release) & mask;
            if twice != 0 {
                double_free(word as u32 * 64 + twice.trailing_zeros());
            }
        });
    }
}

/// The flat map under `parking_lot::Mutex`, searched from where anybody was last.
struct LockedMap(parking_lot::Mutex<(Vec<u64>, usize)>);

/// The same under a lock, which makes it exact.
pub fn locked_bitmap(shape: Shape, user: User<'_>) {
    let words = (0..words_for(shape.blocks)).map(|word| legal(word, shape.blocks)).collect();
    user(&LockedMap(parking_lot::Mutex::new((words, 0))));
}

impl Allocator for LockedMap {
    fn worker(&self, _: usize, _: usize) -> Box<dyn Worker + '_> {
        Box::new(self)
    }
}

impl Worker for &LockedMap {
    fn take(&mut self, _: usize, _: Hint, ids: &mut [BlockId]) -> bool {
        let mut map = self.0.lock();
        let (words, at) = &mut *map;
        let mut found = 0;
        for _ in 0..=words.len() {
            let mask = lowest(words[*at], ids.len() - found);
            words[*at] &= !mask;
            found += emit(*at, mask, &mut ids[found..]);
            if found == ids.len() {
                return true;
            }
            *at = if *at + 1 == words.len() { 0 } else { *at + 1 };
        }
        by_word(&ids[..found], |word, mask| words[word] |= mask);
        false
    }

    fn give(&mut self, _: usize, ids: &[BlockId]) {
        let mut map = self.0.lock();
        by_word(ids, |word, mask| {
            let twice = map.0[word] & mask;
            if twice != 0 {
                double_free(word as u32 * 64 + twice.trailing_zeros());
            }
            map.0[word] |= mask;
        });
    }
}

/// Two words, each on a line of its own.
#[repr(align(128))]
struct Pair {
    /// 1 is taken.
    taken: AtomicU64,
    cleared: OnALine,
}

#[repr(align(64))]
struct OnALine(AtomicU64);

struct Sbitmap(Vec<Pair>);

struct SbitmapWorker<'a> {
    pairs: &'a [Pair],
    at: usize,
}

/// After Linux's sbitmap: one bit an operation on the way out, a word's worth on the way in.
pub fn sbitmap(shape: Shape, user: User<'_>) {
    let pair = |word| Pair { taken: AtomicU64::new(!legal(word, shape.blocks)), cleared: OnALine(AtomicU64::new(0)) };
    user(&Sbitmap((0..words_for(shape.blocks)).map(pair).collect()));
}

impl Allocator for Sbitmap {
    fn worker(&self, index: usize, workers: usize) -> Box<dyn Worker + '_> {
        Box::new(SbitmapWorker { pairs: &self.0, at: start(self.0.len(), index, workers) })
    }
}

impl Pair {
    /// One free bit, if there is one; what was cleared is folded back when the word is full.
    fn take_one(&self) -> Option<u32> {
        loop {
            let seen = self.taken.load(Relaxed);
            if seen != u64::MAX {
                let bit = seen.trailing_ones();
                if self.taken.fetch_or(1 << bit, Acquire) >> bit & 1 == 0 {
                    return Some(bit);
                }
            } else if self.cleared.0.load(Relaxed) == 0 {
                return None;
            } else {
                let cleared = self.cleared.0.swap(0, AcqRel);
                self.taken.fetch_and(!cleared, AcqRel);
            }
        }
    }
}

impl Worker for SbitmapWorker<'_> {
    fn take(&mut self, slot: usize, _: Hint, ids: &mut [BlockId]) -> bool {
        for index in 0..ids.len() {
            let mut looked = 0;
            ids[index] = loop {
                if let Some(bit) = self.pairs[self.at].take_one() {
                    break BlockId(self.at as u32 * 64 + bit);
                }
                self.at = if self.at + 1 == self.pairs.len() { 0 } else { self.at + 1 };
                looked += 1;
                if looked > self.pairs.len() {
                    self.give(slot, &ids[..index]);
                    return false;
                }
            };
        }
        true
    }

    fn give(&mut self, _: usize, ids: &[BlockId]) {
        by_word(ids, |word, mask| {
            let pair = &self.pairs[word];
            // Looked at first: once the bits are in `cleared`, anybody may fold them back.
            let not_taken = !pair.taken.load(Relaxed);
            let twice = (pair.cleared.0.fetch_or(mask, Release) | not_taken) & mask;
            if twice != 0 {
                double_free(word as u32 * 64 + twice.trailing_zeros());
            }
        });
        if let Some(first) = ids.first() {
            self.at = first.0 as usize / 64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_hold_ids_from_1_to_n() {
        for blocks in [1, 62, 63, 64, 65, 1024] {
            let ids: u32 = (0..words_for(blocks)).map(|word| legal(word, blocks).count_ones()).sum();
            assert_eq!(ids, blocks);
        }
        assert_eq!((lowest(0b1011, 2), lowest(0b1011, 3), lowest(0b1011, 9), lowest(0b1011, 0)), (3, 11, 11, 0));
    }
}
