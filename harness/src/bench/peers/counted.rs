//! A bit map under counters on two levels: blocks are reserved in the counter of 512 first, then their bits are found, which
//! cannot fail. A counter for 64 such leaves says where to look.

use super::bitmaps::{by_word, emit, legal, lowest, start, words_for};
use super::double_free;
use crate::bench::allocator::{Allocator, Shape, User, Worker};
use kvledger_core::{BlockId, Hint};
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

const WORDS_A_LEAF: usize = 8;
const LEAVES_A_GROUP: usize = 64;

struct Counted {
    words: Vec<AtomicU64>,
    leaves: Vec<AtomicU32>,
    groups: Vec<AtomicU32>,
}

struct CountedWorker<'a> {
    map: &'a Counted,
    /// The word that was used last.
    at: usize,
}

/// Reserved by count, then found by bit.
pub fn counted_bitmap(shape: Shape, user: User<'_>) {
    let masks: Vec<u64> = (0..words_for(shape.blocks)).map(|word| legal(word, shape.blocks)).collect();
    let leaves: Vec<u32> =
        masks.chunks(WORDS_A_LEAF).map(|words| words.iter().map(|word| word.count_ones()).sum()).collect();
    let groups = leaves.chunks(LEAVES_A_GROUP).map(|leaves| AtomicU32::new(leaves.iter().sum())).collect();
    let words = masks.into_iter().map(AtomicU64::new).collect();
    user(&Counted { words, leaves: leaves.into_iter().map(AtomicU32::new).collect(), groups });
}

impl Allocator for Counted {
    fn worker(&self, index: usize, workers: usize) -> Box<dyn Worker + '_> {
        Box::new(CountedWorker { map: self, at: start(self.words.len(), index, workers) })
    }
}

impl Counted {
    /// Up to `want` blocks of a leaf are the caller's, wherever they are in it. How many.
    fn reserve(&self, leaf: usize, want: usize) -> usize {
        let take = |count: u32| (count > 0).then(|| count - count.min(want as u32));
        match self.leaves[leaf].fetch_update(Acquire, Relaxed, take) {
            Ok(count) => count.min(want as u32) as usize,
            Err(_) => 0,
        }
    }

    fn give(&self, ids: &[BlockId]) {
        by_word(ids, |word, mask| {
            let twice = self.words[word].fetch_or(mask, Release) & mask;
            if twice != 0 {
                double_free(word as u32 * 64 + twice.trailing_zeros());
            }
        });
        let leaf_of = |id: &BlockId| id.0 as usize / 64 / WORDS_A_LEAF;
        for group in ids.chunk_by(|one, next| leaf_of(one) == leaf_of(next)) {
            let leaf = leaf_of(&group[0]);
            self.leaves[leaf].fetch_add(group.len() as u32, Release);
            self.groups[leaf / LEAVES_A_GROUP].fetch_add(group.len() as u32, Release);
        }
    }
}

impl CountedWorker<'_> {
    /// The bits of `count` blocks that were reserved in a leaf: they are there, or are about to be.
    fn collect(&mut self, leaf: usize, count: usize, ids: &mut [BlockId]) {
        let first = leaf * WORDS_A_LEAF;
        let words = self.map.words.len().min(first + WORDS_A_LEAF) - first;
        let mut offset = if self.at / WORDS_A_LEAF == leaf { self.at % WORDS_A_LEAF } else { 0 };
        let mut found = 0;
        loop {
            let word = &self.map.words[first + offset];
            let mut seen = word.load(Relaxed);
            while seen != 0 {
                let mask = lowest(seen, count - found);
                match word.compare_exchange_weak(seen, seen & !mask, Acquire, Relaxed) {
                    Ok(_) => {
                        found += emit(first + offset, mask, &mut ids[found..]);
                        break;
                    }
                    Err(now) => seen = now,
                }
            }
            if found == count {
                break;
            }
            offset = if offset + 1 == words { 0 } else { offset + 1 };
        }
        self.at = first + offset;
    }
}

impl Worker for CountedWorker<'_> {
    fn take(&mut self, _: usize, _: Hint, ids: &mut [BlockId]) -> bool {
        let leaves = self.map.leaves.len();
        let (mut found, mut leaf, mut looked) = (0, self.at / WORDS_A_LEAF, 0);
        while looked <= 2 * leaves {
            let group = leaf / LEAVES_A_GROUP;
            if self.map.groups[group].load(Relaxed) == 0 {
                let next = ((group + 1) * LEAVES_A_GROUP).min(leaves);
                looked += next - leaf;
                leaf = if next == leaves { 0 } else { next };
                continue;
            }
            let reserved = self.map.reserve(leaf, ids.len() - found);
            if reserved > 0 {
                self.map.groups[group].fetch_sub(reserved as u32, Relaxed);
                self.collect(leaf, reserved, &mut ids[found..]);
                found += reserved;
                if found == ids.len() {
                    return true;
                }
            }
            leaf = if leaf + 1 == leaves { 0 } else { leaf + 1 };
            looked += 1;
        }
        self.map.give(&ids[..found]);
        false
    }

    fn give(&mut self, _: usize, ids: &[BlockId]) {
        self.map.give(ids);
        if let Some(first) = ids.first() {
            self.at = first.0 as usize / 64;
        }
    }
}
