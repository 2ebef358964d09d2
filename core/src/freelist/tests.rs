//! The free list on one thread against a plain model, and with threads against a table of owners. What only a model
//! checker can find is in `loom_tests.rs`.

mod contiguity;
mod model;
mod support;
mod threads;

use super::*;
use crate::ids::BlockId;
use support::{Rng, give, list, taken};

/// The figure that `mod.rs` and the README state.
#[test]
fn memory_is_below_015_bytes_a_block() {
    for blocks in [1, 63, 64, 1000, 8192, 65_536, 1 << 20, (1 << 24) + 5, (1 << 31) - 2] {
        let bytes = FreeBlocks::bytes(blocks) as f64;
        assert!(bytes <= 0.15 * f64::from(blocks) + 700.0, "{blocks} blocks take {bytes} bytes");
    }
}

#[test]
fn all_blocks_are_there_and_the_null_block_is_not() {
    for blocks in [1, 2, 62, 63, 64, 65, 127, 128, 4095, 4096, 4097] {
        let list = list(blocks);
        assert_eq!(list.count(), u64::from(blocks));
        assert!(!list.is_free(0) && list.is_free(1) && list.is_free(blocks) && !list.is_free(blocks + 1));
        let mut all = taken(&list, blocks + 10, Hint::Any);
        all.sort_unstable();
        assert!(all.iter().copied().eq(1..=blocks));
        assert_eq!(list.count(), 0);
        assert!(taken(&list, 1, Hint::Opens).is_empty());
    }
}

#[test]
fn a_batch_comes_back_short_only_when_nothing_is_left() {
    let list = list(100);
    assert_eq!(taken(&list, 97, Hint::Opens).len(), 97);
    assert_eq!(taken(&list, 5, Hint::After(3)).len(), 3);
}

#[test]
fn wild_arguments_do_no_harm() {
    let list = list(1000);
    for id in [0, 1001, 1023, 1024, 4096, u32::MAX] {
        let (word, mask) = (word::word_of(id), word::mask_of(id));
        assert!(!list.is_free(id) && list.put_mask(word, mask) == mask, "{id}");
        assert_eq!(give(&list, id, 1), 1);
        let mut gather = list.gather();
        gather.push(id);
        assert_eq!(gather.finish(), 1);
    }
    assert_eq!(list.put_mask(usize::MAX, 5), 5);
    assert_eq!(list.put_mask(0, u64::MAX), u64::MAX);
    assert_eq!(list.count(), 1000);
    for hint in [Hint::After(0), Hint::After(1000), Hint::After(1023), Hint::After(u32::MAX)] {
        assert_eq!(taken(&list, 40, hint).len(), 40);
    }
    assert_eq!(taken(&list, 0, Hint::Any).len(), 0);
    assert_eq!(taken(&list, u32::MAX, Hint::Opens).len(), 840);
}

#[test]
fn a_double_free_is_refused_exactly() {
    let list = list(200);
    let held = taken(&list, 150, Hint::Any);
    assert_eq!(give(&list, held[10], 5), 0);
    let before = list.count();
    // Of ten blocks five are free already, and one is named twice.
    let mut gather = list.gather();
    held[10..20].iter().chain(&held[15..16]).for_each(|&id| gather.push(id));
    assert_eq!(gather.finish(), 6);
    assert_eq!(list.count(), before + 5);
}

/// The advice is never relied on: with any content of it, of the cursor and of the hint, everything is found.
#[test]
fn scrambled_advice_costs_no_block() {
    let mut rng = Rng::new(7);
    for round in 0..200 {
        let blocks = 1 + rng.below(9000);
        let list = list(blocks);
        let held = taken(&list, rng.below(blocks + 1), Hint::Any);
        for word in 0..list.map.words() {
            for summary in [&list.lane, &list.full] {
                if rng.below(2) == 0 { summary.hide(word) } else { summary.show(word) }
            }
        }
        let cell = crate::sync::AtomicU64::new(rng.next());
        let hint = [Hint::Any, Hint::Opens, Hint::After(rng.next() as u32)][rng.below(3) as usize];
        let left = blocks - held.len() as u32;
        let mut found = 0;
        while found < left {
            let count = 1 + rng.below(left - found);
            let got = list.take(count, hint, &Cursor::new(&cell), &mut |_| {});
            assert_eq!(got, count, "round {round}: {blocks} blocks, {left} free, {hint:?}");
            found += got;
        }
        assert_eq!(list.count(), 0);
    }
}

/// Neighbours are handed over in one piece, also across the border of a word.
#[test]
fn runs_are_maximal_where_blocks_are_found_in_order() {
    let list = list(10_000);
    let cell = crate::sync::AtomicU64::new(0);
    let mut runs = std::vec::Vec::new();
    assert_eq!(list.take(145, Hint::Opens, &Cursor::new(&cell), &mut |run| runs.push(run)), 145);
    assert_eq!(runs.len(), 1, "{runs:?}");
    let after = Hint::After(runs[0].end() - 1);
    assert_eq!(list.take(200, after, &Cursor::new(&cell), &mut |run| runs.push(run)), 200);
    assert_eq!((runs.len(), runs[1].start), (2, runs[0].end()), "{runs:?}");
}

#[test]
fn the_public_list_takes_all_or_nothing() {
    let mut memory = std::vec![crate::arena::Line::ZERO; FreeBlocks::bytes(50).div_ceil(64)];
    assert!(FreeBlocks::init(&mut memory[..1], 50).is_err());
    assert!(FreeBlocks::init(&mut memory, 0).is_err() && FreeBlocks::init(&mut memory, u32::MAX).is_err());
    let list = FreeBlocks::init(&mut memory, 50).expect("the memory is as long as stated");
    let mut cursor = FreeCursor::default();
    let mut most = [BlockId::NULL; 40];
    assert!(list.take(&mut cursor, Hint::Any, &mut most));
    assert!(!list.take(&mut cursor, Hint::Any, &mut [BlockId::NULL; 11]));
    assert_eq!(list.count(), 10);
    most.reverse();
    assert_eq!(list.give(&mut cursor, &most), Ok(()));
    assert_eq!(list.give(&mut cursor, &[most[0], BlockId::NULL, BlockId(51)]), Err(GivenTwice { blocks: 3 }));
    assert_eq!(list.count(), 50);
}

/// Ids that count up past the last 32-bit number, and on from 0: all refused but those that are held.
#[test]
fn a_run_of_ids_does_not_wrap() {
    let mut memory = std::vec![crate::arena::Line::ZERO; FreeBlocks::bytes(50).div_ceil(64)];
    let list = FreeBlocks::init(&mut memory, 50).expect("the memory is as long as stated");
    let mut cursor = FreeCursor::default();
    assert!(list.take(&mut cursor, Hint::Any, &mut [BlockId::NULL; 50]));
    let ids: std::vec::Vec<BlockId> = (0..24).map(|index| BlockId((u32::MAX - 9).wrapping_add(index))).collect();
    assert_eq!(list.give(&mut cursor, &ids), Err(GivenTwice { blocks: 11 }));
    assert_eq!(list.count(), 13);
}
