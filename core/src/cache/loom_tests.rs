//! Every interleaving and every reordering that loom knows. Each test is run once as the code is and once with a mistake
//! planted, which must be found, so that the test is known to look.

use super::{Index, Look, Order, Policy};
use crate::arena::{Arena, Carve, LINE_BYTES, Line};
use crate::identity::Identity;
use crate::race::holds_and_notices;
use crate::sync::Plant;
use loom::cell::UnsafeCell;
use loom::thread;
use std::boxed::Box;
use std::sync::Arc;
use std::vec;
use std::vec::Vec;

/// An arena of its own. loom's cells are larger than words.
fn arena(carve: &Carve) -> Arena<'static> {
    Arena::fresh(Box::leak(vec![Line::ZERO; carve.bytes().div_ceil(LINE_BYTES)].into_boxed_slice()))
}

const NAME: Identity = Identity { low: 7, high: 0 };

fn index() -> Index<'static> {
    let mut carve = Carve::new();
    let layout = Index::layout(&mut carve, 1);
    Index::view(&mut arena(&carve), &layout).expect("the memory is as long as stated")
}

/// An index in which the first bucket of the name is full.
fn crowded() -> Index<'static> {
    let index = index();
    (1..=7).for_each(|id| assert!(insert(&index, id)));
    index
}

fn insert(index: &Index<'_>, id: u32) -> bool {
    index.insert(NAME, id, |_| Some(NAME))
}

fn has(index: &Index<'_>, id: u32) -> bool {
    index.find(NAME, |found| found == id).is_some()
}

/// O30: who finds an entry finds the block as it was published.
#[test]
fn insert_against_find() {
    holds_and_notices(None, &[Plant::RelaxedEntry], || {
        let index = index();
        let block = Arc::new(UnsafeCell::new(0));
        let found = block.clone();
        let finder = thread::spawn(move || {
            if let Some(id) = index.find(NAME, |_| true) {
                // SAFETY: who finds the block may read it; loom checks exactly that.
                assert_eq!((id, found.with(|block| unsafe { *block })), (3, 9));
            }
        });
        // SAFETY: nobody finds the block yet; loom checks that too.
        block.with_mut(|block| unsafe { *block = 9 });
        assert!(insert(&index, 3));
        finder.join().unwrap();
        assert!(has(&index, 3));
    });
}

/// Two store into one bucket: one of them may be lost, and nothing else is there.
#[test]
fn insert_against_insert() {
    holds_and_notices(None, &[], || {
        let index = index();
        let other = thread::spawn(move || assert!(insert(&index, 3)));
        assert!(insert(&index, 4));
        other.join().unwrap();
        assert!(has(&index, 3) || has(&index, 4));
        let (first, second, counted) = index.census();
        assert!(matches!(first, 1 | 2) && (second, counted) == (0, 0));
    });
}

/// Two take away one entry of a second bucket: it is counted once.
#[test]
fn remove_against_remove() {
    holds_and_notices(None, &[Plant::ChangeInTwoSteps], || {
        let index = crowded();
        assert!(insert(&index, 8) && insert(&index, 9));
        let other = thread::spawn(move || index.remove(NAME, 9));
        let mine = index.remove(NAME, 9);
        assert!(mine != other.join().unwrap(), "one of the two took it away");
        assert_eq!(index.census(), (7, 1, 1));
        assert!(has(&index, 8));
    });
}

/// Two entries go to one second bucket while a third is taken away from there: none is lost, and the count is right.
#[test]
fn a_second_bucket_loses_nothing() {
    holds_and_notices(Some(3), &[Plant::ChangeInTwoSteps], || {
        let index = crowded();
        assert!(insert(&index, 8));
        let second = thread::spawn(move || assert!(insert(&index, 9)));
        let third = thread::spawn(move || assert!(index.remove(NAME, 8)));
        assert!(insert(&index, 10));
        second.join().unwrap();
        third.join().unwrap();
        assert!(has(&index, 9) && has(&index, 10) && !has(&index, 8));
        assert_eq!(index.census(), (7, 2, 2));
    });
}

fn order(blocks: u32) -> Order<'static> {
    let mut carve = Carve::new();
    let layout = Order::layout(&mut carve, blocks, Policy::Lru);
    Order::view(&mut arena(&carve), &layout).expect("the memory is as long as stated")
}

/// A block has become idle.
fn give(order: &Order<'_>, id: u32) {
    match order.try_lock() {
        Some(mut guard) => guard.append(id),
        None => order.put_unordered(id),
    }
}

/// All blocks that are known, whoever put them where.
fn all(order: &Order<'_>) -> Vec<u32> {
    let mut guard = order.try_lock().expect("nobody has it");
    guard.adopt();
    let mut found: Vec<_> = core::iter::from_fn(|| guard.pop(|_| Look::Take)).collect();
    found.sort_unstable();
    found
}

/// O31: two append, in whatever way they can; both blocks are there, and each once.
#[test]
fn append_against_append() {
    holds_and_notices(Some(3), &[Plant::RelaxedUnlock], || {
        let order = order(2);
        let other = thread::spawn(move || give(&order, 1));
        give(&order, 2);
        other.join().unwrap();
        assert_eq!(all(&order), [1, 2]);
    });
}

/// Two take, one block each at most, from one that is in the order and one that waits to be; what they leave is there.
#[test]
fn pop_against_adopt() {
    holds_and_notices(Some(3), &[Plant::RelaxedUnlock], || {
        let order = order(2);
        give(&order, 1);
        order.put_unordered(2);
        let take = move || {
            let mut guard = order.try_lock()?;
            guard.adopt();
            guard.pop(|_| Look::Take)
        };
        let other = thread::spawn(take);
        let mut found: Vec<_> = [take(), other.join().unwrap()].into_iter().flatten().chain(all(&order)).collect();
        found.sort_unstable();
        assert_eq!(found, [1, 2]);
    });
}

/// A dead block is taken once, and its taker is not told that there is none while one is there that nobody else takes.
#[test]
fn take_dead_against_put_dead() {
    holds_and_notices(Some(3), &[Plant::ClaimInTwoSteps], || {
        let order = order(2);
        assert!(order.put_dead(1));
        let other = thread::spawn(move || order.take_dead());
        let put = thread::spawn(move || order.put_dead(2));
        let mine = order.take_dead();
        assert!(put.join().unwrap());
        let mut found: Vec<_> = [mine, other.join().unwrap()].into_iter().flatten().collect();
        found.extend(core::iter::from_fn(|| order.take_dead()));
        found.sort_unstable();
        assert_eq!(found, [1, 2]);
        assert_eq!(order.dead(), 0);
    });
}
