//! SIEVE and S3-FIFO against the same algorithms on rows.

use super::support::{Rng, SIZES, arena};
use crate::arena::Carve;
use crate::cache::ghosts::Ghosts;
use crate::cache::s3fifo::S3Fifo as Queues;
use crate::cache::{Look, Order, Policy};
use crate::identity::Identity;
use std::collections::VecDeque;
use std::vec::Vec;

/// What a block is at present.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Nobodys,
    Held,
    Idle,
    Retiring,
}

/// The blocks, and what every policy counts.
struct Blocks {
    states: Vec<State>,
    hits: Vec<u32>,
    names: Vec<u64>,
    is_new: Vec<bool>,
}

impl Blocks {
    fn new(blocks: u32) -> Blocks {
        let len = blocks as usize + 1;
        Blocks {
            states: std::vec![State::Nobodys; len],
            hits: std::vec![0; len],
            names: std::vec![0; len],
            is_new: std::vec![false; len],
        }
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

    fn take_hit(&mut self, id: u32) -> bool {
        let hits = &mut self.hits[id as usize];
        let had_one = *hits > 0;
        *hits -= u32::from(had_one);
        had_one
    }
}

/// The obvious way of a policy.
trait Model {
    const POLICY: Policy;
    const HITS_MAX: u32;
    fn new(blocks: u32) -> Self;
    fn append(&mut self, blocks: &mut Blocks, id: u32);
    fn pop(&mut self, blocks: &mut Blocks) -> Option<u32>;
}

/// The oldest first, and the place of the hand.
struct Sieve {
    row: Vec<u32>,
    hand: usize,
}

impl Model for Sieve {
    const POLICY: Policy = Policy::Sieve;
    const HITS_MAX: u32 = 1;

    fn new(_blocks: u32) -> Sieve {
        Sieve { row: Vec::new(), hand: 0 }
    }

    fn append(&mut self, blocks: &mut Blocks, id: u32) {
        let is_new = core::mem::replace(&mut blocks.is_new[id as usize], false);
        let place = self.row.iter().position(|other| *other == id);
        if let Some(place) = place.filter(|_| is_new) {
            self.row.remove(place);
            self.hand -= usize::from(place < self.hand);
        }
        if is_new || place.is_none() {
            self.row.push(id);
        }
    }

    fn pop(&mut self, blocks: &mut Blocks) -> Option<u32> {
        let mut rounds = 0;
        while rounds < 3 && !self.row.is_empty() {
            let id = self.row[self.hand];
            let look = if blocks.take_hit(id) { Look::Skip } else { blocks.look(id) };
            let leaves = matches!(look, Look::Take | Look::Drop);
            if leaves {
                self.row.remove(self.hand);
            } else {
                self.hand += 1;
            }
            if self.hand == self.row.len() {
                self.hand = 0;
                rounds += 1;
            }
            if look == Look::Take {
                return Some(id);
            }
        }
        None
    }
}

struct S3Fifo {
    small: VecDeque<u32>,
    main: VecDeque<u32>,
    /// Tested by itself, below.
    ghosts: Ghosts<'static>,
}

fn ghosts(remembered: u32) -> Ghosts<'static> {
    let mut carve = Carve::new();
    let layout = Ghosts::layout(&mut carve, remembered);
    Ghosts::view(&mut arena(&carve), &layout).expect("the memory is as long as stated")
}

/// As the table has it.
fn fingerprint(name: u64) -> u32 {
    (crate::cache::hash::hash(Identity { low: name, high: 0 }) >> 32) as u32
}

impl Model for S3Fifo {
    const POLICY: Policy = Policy::S3Fifo;
    const HITS_MAX: u32 = 3;

    fn new(blocks: u32) -> S3Fifo {
        S3Fifo { small: VecDeque::new(), main: VecDeque::new(), ghosts: ghosts(blocks - blocks / 10) }
    }

    fn append(&mut self, blocks: &mut Blocks, id: u32) {
        let is_new = core::mem::replace(&mut blocks.is_new[id as usize], false);
        if is_new {
            self.small.retain(|other| *other != id);
            self.main.retain(|other| *other != id);
            if self.ghosts.take(fingerprint(blocks.names[id as usize])) {
                self.main.push_back(id);
            } else {
                self.small.push_back(id);
            }
        } else if !self.small.contains(&id) && !self.main.contains(&id) {
            self.main.push_back(id);
        }
    }

    fn pop(&mut self, blocks: &mut Blocks) -> Option<u32> {
        for _ in 0..5 * (self.small.len() + self.main.len()) {
            let all = self.small.len() + self.main.len();
            if self.main.is_empty() || self.small.len() > (all / 10).max(1) {
                let id = self.small.pop_front()?;
                // One hit is not enough, and is not forgotten.
                if blocks.hits[id as usize] > 1 {
                    blocks.hits[id as usize] = 0;
                    self.main.push_back(id);
                    continue;
                }
                match blocks.look(id) {
                    Look::Take => {
                        self.ghosts.put(fingerprint(blocks.names[id as usize]));
                        return Some(id);
                    }
                    Look::Skip => self.small.push_back(id),
                    Look::Held | Look::Drop => {}
                }
            } else {
                let id = self.main.pop_front()?;
                if blocks.take_hit(id) {
                    self.main.push_back(id);
                    continue;
                }
                match blocks.look(id) {
                    Look::Take => return Some(id),
                    Look::Skip => self.main.push_back(id),
                    Look::Held | Look::Drop => {}
                }
            }
        }
        None
    }
}

/// Blocks are published, hit, given back and evicted at random; what goes is what goes on rows.
fn agrees<M: Model>() {
    for blocks in SIZES {
        let mut carve = Carve::new();
        let layout = Order::layout(&mut carve, blocks, M::POLICY);
        let order = Order::view(&mut arena(&carve), &layout).expect("the memory is as long as stated");
        // What blocks are is one and the same; the order is told of hits by itself.
        let (mut model, mut mine, mut rng) = (M::new(blocks), Blocks::new(blocks), Rng::new(u64::from(blocks)));
        let mut evicted = 0;
        for step in 0..40_000 {
            let id = 1 + rng.below(blocks).min(rng.below(blocks));
            let index = id as usize;
            match (rng.below(12), mine.states[index]) {
                (0..=7, State::Nobodys) => {
                    let name = u64::from(rng.below(3 * blocks));
                    (mine.names[index], mine.hits[index], mine.is_new[index]) = (name, 0, true);
                    mine.states[index] = State::Held;
                    order.published(id, Identity { low: name, high: 0 });
                }
                (0..=3, State::Held) => {
                    mine.states[index] = if rng.below(8) == 0 { State::Retiring } else { State::Idle };
                    model.append(&mut mine, id);
                    order.try_lock().expect("nobody has it").append(id);
                }
                (0..=7, State::Retiring) => mine.states[index] = State::Idle,
                (0..=7, _) => {
                    mine.states[index] = State::Held;
                    mine.hits[index] = (mine.hits[index] + 1).min(M::HITS_MAX);
                    order.hit(id);
                }
                (8, _) if rng.below(8) == 0 => mine.states[index] = State::Nobodys,
                (8, _) => {}
                _ => {
                    let mut guard = order.try_lock().expect("nobody has it");
                    for _ in 0..1 + rng.below(4) {
                        let mut states = mine.states.clone();
                        let expected = model.pop(&mut mine);
                        let got = guard.pop(|id| match states[id as usize] {
                            State::Nobodys => Look::Drop,
                            State::Held => Look::Held,
                            State::Retiring => Look::Skip,
                            State::Idle => {
                                states[id as usize] = State::Nobodys;
                                Look::Take
                            }
                        });
                        assert_eq!(got, expected, "{:?}, {blocks} blocks, step {step}", M::POLICY);
                        evicted += u32::from(got.is_some());
                    }
                }
            }
        }
        assert!(evicted > 1000, "{:?}: {evicted} evictions of {blocks} blocks", M::POLICY);
    }
}

#[test]
fn sieve_evicts_what_it_evicts_on_a_row() {
    agrees::<Sieve>();
}

#[test]
fn s3_fifo_evicts_what_it_evicts_on_rows() {
    agrees::<S3Fifo>();
}

/// Which of ten blocks goes, when half of them were hit while idle and one pass of new ones comes by.
#[test]
fn blocks_that_were_hit_outlive_blocks_that_were_not() {
    for policy in [Policy::Sieve, Policy::S3Fifo] {
        let mut carve = Carve::new();
        let layout = Order::layout(&mut carve, 100, policy);
        let order = Order::view(&mut arena(&carve), &layout).expect("the memory is as long as stated");
        let mut guard = order.try_lock().expect("nobody has it");
        for id in 1..=10 {
            order.published(id, Identity { low: u64::from(id), high: 0 });
            guard.append(id);
        }
        for id in [1, 3, 5, 7, 9] {
            order.hit(id);
            order.hit(id);
            guard.append(id);
        }
        let gone: Vec<u32> = (0..4).filter_map(|_| guard.pop(|_| Look::Take)).collect();
        assert_eq!(gone, [2, 4, 6, 8], "{policy:?}");
    }
}

/// Lengths that nobody has written: a block that is there is found, and where none can go nothing runs away.
#[test]
fn scrambled_lengths_do_no_harm() {
    for length in [0, 1, u64::MAX / 2, u64::MAX] {
        let mut carve = Carve::new();
        let layout = Queues::layout(&mut carve, 10);
        let queues = Queues::view(&mut arena(&carve), &layout).expect("the memory is as long as stated");
        queues.scramble(length);
        assert_eq!(queues.open().pop(|_| Look::Take), None, "{length}");
        let mut open = queues.open();
        open.append(7);
        open.close();
        queues.scramble(length);
        let mut open = queues.open();
        assert_eq!(open.pop(|_| Look::Skip), None, "{length}");
        open.close();
        queues.scramble(length);
        if length > 0 {
            assert_eq!(queues.open().pop(|_| Look::Take), Some(7), "{length}");
        }
    }
}

/// The last ones are known, earlier ones are not, and each comes back once.
#[test]
fn ghosts_are_remembered_for_a_while() {
    for remembered in [1, 3, 8, 9, 64, 900] {
        let ghosts = ghosts(remembered);
        assert!(!ghosts.take(0) && !ghosts.take(7));
        (0..5000).for_each(|name| ghosts.put(name));
        for name in 0..5000 {
            assert_eq!(ghosts.take(name), name >= 5000 - remembered, "{name}, {remembered} remembered");
            assert!(!ghosts.take(name), "it is back");
        }
    }
}
