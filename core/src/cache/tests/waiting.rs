//! Blocks that wait, against a set.

use super::support::{Rng, SIZES, arena};
use crate::arena::Carve;
use crate::cache::waiting::Waiting;
use std::collections::BTreeSet;

#[test]
fn what_is_put_is_taken_once() {
    for blocks in SIZES {
        let mut carve = Carve::new();
        let layout = Waiting::layout(&mut carve, blocks);
        let waiting = Waiting::view(&mut arena(&carve), &layout).expect("the memory is as long as stated");
        let (mut rng, mut model) = (Rng::new(5), BTreeSet::new());
        for _ in 0..5000 {
            match rng.below(20) {
                0 => {
                    let mut all = std::vec::Vec::new();
                    waiting.drain(|id| all.push(id));
                    assert!(all.into_iter().eq(core::mem::take(&mut model)));
                }
                1..=9 => match waiting.take() {
                    Some(id) => assert!(model.remove(&id)),
                    None => assert!(model.is_empty()),
                },
                _ => {
                    let id = 1 + rng.below(blocks);
                    assert_eq!(waiting.put(id), model.insert(id));
                }
            }
            assert_eq!(waiting.count(), model.len() as u64);
        }
    }
}
