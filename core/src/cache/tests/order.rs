//! The order against a row in which a block that comes moves to the end.

use super::support::{Rng, SIZES, arena};
use crate::arena::Carve;
use crate::cache::{Look, Order, Policy};
use crate::identity::Identity;
use std::vec::Vec;

fn order(blocks: u32) -> Order<'static> {
    order_by(blocks, Policy::Lru)
}

fn order_by(blocks: u32, policy: Policy) -> Order<'static> {
    let mut carve = Carve::new();
    let layout = Order::layout(&mut carve, blocks, policy);
    Order::view(&mut arena(&carve), &layout).expect("the memory is as long as stated")
}

/// What a block is at present, and so what the order is told about it.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Nobodys,
    Held,
    Idle,
    Retiring,
}

/// Blocks and their order, the obvious way.
struct Model {
    states: Vec<State>,
    row: Vec<u32>,
}

impl Model {
    fn append(&mut self, id: u32) {
        self.row.retain(|other| *other != id);
        self.row.push(id);
    }

    fn look(&mut self, id: u32) -> Look {
        match self.states[id as usize] {
            State::Nobodys => Look::Drop,
            State::Held => Look::Held,
            State::Retiring => Look::Skip,
            State::Idle => {
                self.states[id as usize] = State::Nobodys;
                Look::Take
            }
        }
    }

    /// The next one that may go, from place `at` of the row on.
    fn pop(&mut self, at: &mut usize, asked: &mut Vec<u32>) -> Option<u32> {
        while *at < self.row.len() {
            let id = self.row[*at];
            asked.push(id);
            match self.look(id) {
                Look::Skip => *at += 1,
                Look::Take => return Some(self.row.remove(*at)),
                Look::Held | Look::Drop => {
                    self.row.remove(*at);
                }
            }
        }
        None
    }
}

/// One of each: published and released, hit, released again, evicted a few at a time, put by somebody without the lock.
fn step(order: &Order<'_>, model: &mut Model, waiting: &mut Vec<u32>, rng: &mut Rng, blocks: u32) {
    let id = 1 + rng.below(blocks);
    let state = &mut model.states[id as usize];
    match rng.below(10) {
        0..=5 => {
            *state = if rng.below(4) == 0 { State::Retiring } else { State::Idle };
            if rng.below(10) == 0 {
                order.put_unordered(id);
                waiting.push(id);
                assert!(order.has_unordered());
            } else {
                order.try_lock().expect("nobody has it").append(id);
                model.append(id);
            }
        }
        6 | 7 => *state = State::Held,
        8 if *state == State::Retiring => *state = State::Idle,
        8 => *state = State::Nobodys,
        _ => {
            let mut guard = order.lock_soon().expect("nobody has it");
            assert!(order.try_lock().is_none() && order.lock_soon().is_none());
            waiting.sort_unstable();
            waiting.dedup();
            waiting.drain(..).for_each(|id| model.append(id));
            guard.adopt();
            assert!(!order.has_unordered());
            let (mut at, before) = (0, model.states.clone());
            let (mut expected, mut asked, mut really_asked, mut got) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for _ in 0..1 + rng.below(5) {
                expected.push(model.pop(&mut at, &mut asked));
            }
            let mut before = Model { states: before, row: Vec::new() };
            for _ in 0..expected.len() {
                got.push(guard.pop(|id| {
                    really_asked.push(id);
                    before.look(id)
                }));
            }
            assert_eq!((got, really_asked), (expected, asked));
        }
    }
}

#[test]
fn blocks_go_in_the_order_in_which_they_came() {
    for blocks in SIZES {
        let (order, mut rng, mut waiting) = (order(blocks), Rng::new(u64::from(blocks)), Vec::new());
        let mut model = Model { states: std::vec![State::Nobodys; blocks as usize + 1], row: Vec::new() };
        for _ in 0..20_000 {
            step(&order, &mut model, &mut waiting, &mut rng, blocks);
        }
        assert!(model.row.len() > blocks as usize / 4, "few blocks were in the order at a time");
    }
}

/// A block that is appended between two pops under one guard comes after all others, and skipped ones are not asked again.
#[test]
fn one_guard_goes_on_where_it_was() {
    let order = order(8);
    let mut guard = order.try_lock().expect("nobody has it");
    (1..=5).for_each(|id| guard.append(id));
    let mut asked = Vec::new();
    let mut pop = |guard: &mut crate::cache::OrderGuard<'_, '_>| {
        guard.pop(|id| {
            asked.push(id);
            if id < 3 { Look::Skip } else { Look::Take }
        })
    };
    assert_eq!(pop(&mut guard), Some(3));
    guard.append(6);
    assert_eq!((pop(&mut guard), pop(&mut guard), pop(&mut guard)), (Some(4), Some(5), Some(6)));
    assert_eq!(pop(&mut guard), None);
    assert_eq!(asked, [1, 2, 3, 4, 5, 6]);
    drop(guard);
    let mut guard = order.try_lock().expect("it was given back");
    assert_eq!((guard.pop(|_| Look::Take), guard.pop(|_| Look::Take)), (Some(1), Some(2)));
    assert_eq!(guard.pop(|_| Look::Take), None);
}

/// Threads that append, evict and put without the lock: at the end every block that is idle is known, and known once.
#[test]
fn threads_lose_no_block() {
    for policy in [Policy::Lru, Policy::Sieve, Policy::S3Fifo] {
        no_block_is_lost(&order_by(BLOCKS, policy));
    }
}

const BLOCKS: u32 = 500;

fn no_block_is_lost(order: &Order<'_>) {
    use std::sync::Mutex;
    let pool = Mutex::new((1..=BLOCKS).collect::<Vec<u32>>());
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let pool = &pool;
            scope.spawn(move || {
                let mut rng = Rng::new(seed);
                for _ in 0..20_000 {
                    if rng.below(2) == 0 {
                        let Some(id) = pool.lock().expect("no panic").pop() else { continue };
                        order.published(id, Identity { low: u64::from(rng.below(2 * BLOCKS)), high: 0 });
                        (0..rng.below(3)).for_each(|_| order.hit(id));
                        match order.try_lock() {
                            Some(mut guard) => guard.append(id),
                            None => order.put_unordered(id),
                        }
                    } else if let Some(mut guard) = order.lock_soon() {
                        guard.adopt();
                        let taken: Vec<u32> = (0..1 + rng.below(3)).filter_map(|_| guard.pop(|_| Look::Take)).collect();
                        drop(guard);
                        pool.lock().expect("no panic").extend(taken);
                    }
                }
            });
        }
    });
    let mut all = pool.into_inner().expect("no panic");
    let mut guard = order.try_lock().expect("nobody has it");
    guard.adopt();
    all.extend(core::iter::from_fn(|| guard.pop(|_| Look::Take)));
    all.sort_unstable();
    assert!(all.iter().copied().eq(1..=BLOCKS));
}
