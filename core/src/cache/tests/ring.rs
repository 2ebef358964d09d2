//! The ring alone: it never fills up, whatever is pushed, and keeps the order exactly.

use super::support::{Rng, SIZES, arena};
use crate::arena::Carve;
use crate::cache::ring::{OpenRing, Ring};
use std::vec::Vec;

fn ring(blocks: u32) -> Ring<'static> {
    let mut carve = Carve::new();
    let layout = Ring::layout(&mut carve, blocks);
    Ring::view(&mut arena(&carve), &layout).expect("the memory is as long as stated")
}

/// The capacity that the module promises at least.
fn capacity(blocks: u32) -> u64 {
    (u64::from(blocks) * 4).next_power_of_two().max(64)
}

/// All good entries, without taking any out.
fn order(ring: &mut OpenRing<'_>) -> Vec<u32> {
    ring.rewind();
    core::iter::from_fn(|| ring.next()).map(|(_, id)| id).collect()
}

/// Push so that some pattern is followed, and hold the ring against a row in which the pushed moves to the end.
fn pushed(blocks: u32, pushes: u32, mut which: impl FnMut(u32) -> u32) {
    let ring = ring(blocks);
    let (mut row, mut most) = (Vec::new(), 0);
    for push in 0..pushes {
        let id = which(push);
        row.retain(|other| *other != id);
        row.push(id);
        let mut open = ring.open();
        open.push(id);
        most = most.max(open.used());
        open.close();
        if push % 97 == 0 || push + 1 == pushes {
            assert_eq!(order(&mut ring.open()), row, "{blocks} blocks, push {push}");
        }
        assert!(ring.open().has(id));
    }
    let capacity = capacity(blocks);
    assert!(most <= capacity * 15 / 16 + 3, "{most} of {capacity} entries");
    assert!(pushes < 2 * capacity as u32 || blocks == 1 || most > capacity / 2, "no compaction was needed: {most}");
}

#[test]
fn one_block_is_pushed_forever() {
    for blocks in SIZES {
        // The others stand at the head, so that nothing stale can be dropped there.
        pushed(blocks, 20 * blocks + 2000, |push| if push < blocks { push + 1 } else { blocks });
    }
}

#[test]
fn all_blocks_are_pushed_in_turn() {
    for blocks in SIZES {
        pushed(blocks, 20 * blocks + 2000, |push| 1 + push % blocks);
    }
}

#[test]
fn all_but_one_block_are_pushed_in_turn() {
    for blocks in SIZES.into_iter().filter(|blocks| *blocks > 1) {
        pushed(blocks, 20 * blocks + 2000, |push| if push == 0 { 1 } else { 2 + push % (blocks - 1) });
    }
}

#[test]
fn blocks_are_pushed_to_and_fro() {
    for blocks in SIZES {
        pushed(blocks, 20 * blocks + 2000, |push| {
            let (turn, step) = (push / blocks, push % blocks);
            if turn % 2 == 0 { 1 + step } else { blocks - step }
        });
    }
}

#[test]
fn blocks_are_pushed_at_random() {
    for blocks in SIZES {
        let mut rng = Rng::new(u64::from(blocks));
        pushed(blocks, 20 * blocks + 2000, |_| 1 + rng.below(blocks));
        // A few are hot.
        pushed(blocks, 20 * blocks + 2000, |_| 1 + rng.below(blocks).min(rng.below(blocks)).min(rng.below(blocks)));
    }
}

/// The hand stays between the entry that it has passed and the one that comes next, whatever is pushed and taken out.
#[test]
fn the_hand_keeps_its_place() {
    for blocks in SIZES {
        let (ring, mut rng) = (ring(blocks), Rng::new(3));
        // In front of the hand, and behind it.
        let (mut passed, mut coming): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        for _ in 0..30_000 {
            let mut open = ring.open();
            match rng.below(8) {
                0..=4 => {
                    let id = 1 + rng.below(blocks);
                    passed.retain(|other| *other != id);
                    coming.retain(|other| *other != id);
                    coming.push(id);
                    open.push(id);
                }
                5 | 6 => match open.next() {
                    None => assert!(coming.is_empty()),
                    Some((position, id)) => {
                        assert_eq!(id, coming.remove(0));
                        if rng.below(2) == 0 {
                            open.clear(position);
                            assert!(!open.has(id));
                        } else {
                            passed.push(id);
                        }
                    }
                },
                _ if rng.below(blocks) == 0 => {
                    open.rewind();
                    passed.append(&mut coming);
                    core::mem::swap(&mut passed, &mut coming);
                }
                _ => {}
            }
            open.close();
        }
        let left: Vec<u32> = core::iter::from_fn({
            let mut open = ring.open();
            move || open.next()
        })
        .map(|(_, id)| id)
        .collect();
        assert_eq!(left, coming);
        passed.extend(coming);
        assert_eq!(order(&mut ring.open()), passed);
    }
}

/// Ends that nobody has written: the ring is of use all the same, and nothing runs away.
#[test]
fn scrambled_ends_do_no_harm() {
    let mut rng = Rng::new(17);
    for _ in 0..500 {
        let ring = ring(7);
        let mut open = ring.open();
        (1..=7).for_each(|id| open.push(id));
        open.close();
        // A ring of 64 that seems to be fuller than this would seem to be past what compaction can mend.
        let base = u64::from([0, u32::MAX - 20, rng.next() as u32][rng.below(3) as usize]);
        ring.scramble(|| base + u64::from(rng.below(40)));
        for push in 0..200 {
            let mut open = ring.open();
            open.push(1 + push % 7);
            let found = order(&mut open);
            assert!(found.len() <= 7 && found.last() == Some(&(1 + push % 7)), "{found:?}");
            open.close();
        }
        assert_eq!(order(&mut ring.open()), [5, 6, 7, 1, 2, 3, 4]);
    }
}

/// The bound is tight enough that it needs the steps it states: what is live, and the worst order of events for it.
#[test]
fn no_push_does_much_work() {
    // A compaction of a ring that is 3/4 full of N good entries and stale ones takes that many pushes by four, no fewer.
    let ring = ring(1000);
    let mut open = ring.open();
    (1..=1000).for_each(|id| open.push(id));
    let limit = capacity(1000) * 3 / 4;
    while open.used() <= limit {
        open.push(7);
    }
    let began = open.used();
    let mut pushes = 0;
    while open.used() > limit {
        open.push(7);
        pushes += 1;
    }
    assert!((began / 4 - 2..=began / 4 + 2).contains(&pushes), "{pushes} pushes for {began} entries");
    assert_eq!(open.used(), 1000 + pushes, "the 1000 good ones, and what was pushed meanwhile");
}
