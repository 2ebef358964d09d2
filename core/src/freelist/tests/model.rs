//! Random calls on a list and on a `Vec<bool>`, compared after each.

use super::support::{Rng, ids, list, memory};
use crate::arena::{Arena, Carve};
use crate::freelist::{Bitmap, Cursor, FreeList, Hint};
use crate::sync::AtomicU64;
use std::collections::BTreeMap;
use std::vec::Vec;

struct Pair {
    list: FreeList<'static>,
    is_free: Vec<bool>,
    held: Vec<u32>,
    cursor: AtomicU64,
}

impl Pair {
    fn new(blocks: u32) -> Pair {
        let mut is_free = std::vec![true; blocks as usize + 1];
        is_free[0] = false;
        Pair { list: list(blocks), is_free, held: Vec::new(), cursor: AtomicU64::new(0) }
    }

    fn take(&mut self, count: u32, hint: Hint) {
        let mut got = 0;
        let free = self.is_free.iter().filter(|&&free| free).count() as u32;
        let answer = self.list.take(count, hint, &Cursor::new(&self.cursor), &mut |run| {
            for id in ids(run) {
                assert!(core::mem::take(&mut self.is_free[id as usize]), "block {id} was not free");
                self.held.push(id);
                got += 1;
            }
        });
        assert_eq!((answer, got), (count.min(free), count.min(free)));
    }

    fn give(&mut self, count: usize, rng: &mut Rng) {
        let mut gather = self.list.gather();
        for _ in 0..count.min(self.held.len()) {
            let at = if rng.below(4) == 0 { rng.below(self.held.len() as u32) as usize } else { self.held.len() - 1 };
            let id = self.held.swap_remove(at);
            assert!(!core::mem::replace(&mut self.is_free[id as usize], true));
            gather.push(id);
        }
        assert_eq!(gather.finish(), 0);
    }

    fn give_again(&mut self, id: u32) {
        let mask = 1 << (id % 64);
        let refused = self.list.put_mask(id as usize / 64, mask);
        if self.is_free[id as usize] {
            assert_eq!(refused, mask);
        } else if refused == 0 {
            self.is_free[id as usize] = true;
            self.held.retain(|&held| held != id);
        } else {
            assert_eq!(id, 0);
        }
    }

    fn compare(&self) {
        let free = self.is_free.iter().filter(|&&free| free).count() as u64;
        assert_eq!(self.list.count(), free);
        assert!(self.is_free.iter().zip(0..).all(|(&free, id)| self.list.is_free(id) == free));
        assert!(self.list.map.is_shown_at_rest());
    }
}

#[test]
fn the_list_agrees_with_a_plain_model() {
    for (seed, blocks) in [(1, 1), (2, 2), (3, 63), (4, 64), (5, 65), (6, 129), (7, 4095), (8, 4096), (9, 9000)] {
        let mut rng = Rng::new(seed);
        let mut pair = Pair::new(blocks);
        for step in 0..600 {
            let count = [1, 2, 17, 64, 145, 1000][rng.below(6) as usize];
            let near = pair.held.last().copied().unwrap_or(0);
            match rng.below(8) {
                0 => pair.take(count, Hint::Any),
                1 => pair.take(count, Hint::Opens),
                2 => pair.take(count, Hint::After(near)),
                3 => pair.take(1, Hint::After(near)),
                4 => pair.give_again(rng.below(blocks + 1)),
                _ => pair.give(count as usize, &mut rng),
            }
            if step % 16 == 0 {
                pair.compare();
            }
        }
        pair.compare();
    }
}

/// Bits in all three levels: 300 zones, so five words in the middle and one at the top.
#[test]
fn a_sparse_map_agrees_with_a_set() {
    const BITS: u32 = 300 * 4096 - 77;
    let mut carve = Carve::new();
    let layout = Bitmap::layout(&mut carve, BITS as usize);
    let map = Bitmap::view(&mut Arena::fresh(memory(&carve)), &layout).expect("the memory is as long as stated");
    let mut model: BTreeMap<usize, u64> = BTreeMap::new();
    let mut rng = Rng::new(3);
    for step in 0..20_000 {
        let bit = rng.below(BITS);
        let (word, mask) = (bit as usize / 64, 1 << (bit % 64) | 1);
        if rng.below(2) == 0 {
            let before = model.entry(word).or_default();
            assert_eq!(map.put(word, mask), *before & mask);
            *before |= mask;
        } else if let Some(word) = map.next(word) {
            let expected = model.range(word..).next().map(|(&word, _)| word);
            // A word that is shown may be empty, but none that has bits may be passed over.
            assert!(expected.is_none_or(|expected| expected >= word), "step {step}");
            let got = map.take(word, |bits| bits);
            assert_eq!(got, model.remove(&word).unwrap_or(0));
            assert!(!map.tidy(word));
        }
    }
    let mut from = 0;
    while let Some(word) = map.next(from) {
        assert_eq!(map.take(word, |bits| bits), model.remove(&word).unwrap_or(0));
        from = word + 1;
    }
    assert!(model.is_empty());
    assert_eq!(map.count(), 0);
    assert_eq!(map.next(BITS as usize / 64), None);
    assert_eq!(map.next(usize::MAX), None);
}

#[test]
fn tidying_a_word_that_has_bits_shows_it_again() {
    let mut carve = Carve::new();
    let layout = Bitmap::layout(&mut carve, 10_000);
    let map = Bitmap::view(&mut Arena::fresh(memory(&carve)), &layout).expect("the memory is as long as stated");
    map.put(100, 6);
    assert!(map.tidy(100));
    assert_eq!(map.next(0), Some(100));
    assert_eq!(map.take(100, |bits| bits), 6);
    assert!(!map.tidy(100));
    assert_eq!(map.next(0), None);
}

/// A search that comes by an empty zone says so one level up, and the next one another level up.
#[test]
fn a_search_tidies_the_levels_above() {
    let mut carve = Carve::new();
    let layout = Bitmap::layout(&mut carve, 200 * 4096);
    let map = Bitmap::view(&mut Arena::fresh(memory(&carve)), &layout).expect("the memory is as long as stated");
    for zone in 1..200 {
        map.put(zone * 64, 1);
        map.take(zone * 64, |bits| bits);
        map.tidy(zone * 64);
    }
    assert!(!map.shown_for_test().is_bare(), "words are hidden, their zones are not yet");
    assert_eq!((map.next(0), map.next(0)), (None, None));
    assert!(map.shown_for_test().is_bare());
}
