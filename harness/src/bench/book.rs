//! What one thread of a load holds, and what it does next.

use super::allocator::Worker;
use super::load::{Batches, Load};
use kvledger_core::model::Random;
use kvledger_core::{BlockId, Hint};
use std::time::{Duration, Instant};

/// A call that can be timed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// Blocks are taken.
    Take,
    /// A batch is given back.
    Give,
}

/// Who looks at the clock around a call, if anybody does.
pub trait Watch {
    /// Makes the call.
    fn time<T>(&mut self, call: Call, make: impl FnOnce() -> T) -> T;
}

/// Nobody.
pub struct Unwatched;

impl Watch for Unwatched {
    #[inline(always)]
    fn time<T>(&mut self, _: Call, make: impl FnOnce() -> T) -> T {
        make()
    }
}

/// Somebody who tells the time that each call took.
pub struct Watched<F: FnMut(Call, Duration)>(pub F);

impl<F: FnMut(Call, Duration)> Watch for Watched<F> {
    #[inline(always)]
    fn time<T>(&mut self, call: Call, make: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let made = make();
        (self.0)(call, start.elapsed());
        made
    }
}

/// The batches of one thread.
pub struct Book {
    batches: Batches,
    quota: usize,
    held: usize,
    ids: Vec<BlockId>,
    /// Places in `ids` for each batch.
    stride: usize,
    lengths: Vec<u16>,
    /// Places that hold a batch.
    live: Vec<usize>,
    spare: Vec<usize>,
    /// Batches given back so far.
    given: u64,
}

impl Book {
    /// An empty one.
    pub fn new(load: &Load) -> Book {
        let (slots, stride) = (load.batches_per_thread() as usize, load.batches.longest() as usize);
        Book {
            batches: load.batches,
            quota: load.quota() as usize,
            held: 0,
            ids: vec![BlockId::NULL; slots * stride],
            stride,
            lengths: vec![0; slots],
            live: Vec::with_capacity(slots),
            spare: (0..slots).rev().collect(),
            given: 0,
        }
    }

    fn part(&mut self, slot: usize, from: usize, to: usize) -> &mut [BlockId] {
        &mut self.ids[slot * self.stride..][from..to]
    }

    /// Takes until something had to be given back for it.
    pub fn fill(&mut self, worker: &mut dyn Worker, random: &mut Random) {
        for _ in 0..self.quota + self.lengths.len() {
            if self.given > 0 {
                break;
            }
            self.turn(worker, random, &mut Unwatched);
        }
    }

    /// How many batches there are now.
    pub fn batches(&self) -> usize {
        self.live.len()
    }

    /// One turn of the load: one take, and what must be given back before. Whether the blocks were there.
    #[inline]
    pub fn turn(&mut self, worker: &mut dyn Worker, random: &mut Random, watch: &mut impl Watch) -> bool {
        if self.batches == Batches::Growing && !self.live.is_empty() && self.held < self.quota && random.below(10) != 0
        {
            let slot = self.live[random.below(self.live.len() as u32) as usize];
            if usize::from(self.lengths[slot]) < self.stride {
                return self.grow(slot, worker, watch);
            }
        }
        let count = self.batches.next(random) as usize;
        while self.held + count > self.quota || self.spare.is_empty() {
            self.give_one(worker, random, watch);
        }
        self.begin(count, worker, watch)
    }

    #[inline]
    fn grow(&mut self, slot: usize, worker: &mut dyn Worker, watch: &mut impl Watch) -> bool {
        let length = usize::from(self.lengths[slot]);
        let hint = Hint::After(self.ids[slot * self.stride + length - 1].0);
        let place = self.part(slot, length, length + 1);
        let found = watch.time(Call::Take, || worker.take(slot, hint, place));
        if found {
            self.lengths[slot] += 1;
            self.held += 1;
        }
        found
    }

    #[inline]
    fn begin(&mut self, count: usize, worker: &mut dyn Worker, watch: &mut impl Watch) -> bool {
        let Some(slot) = self.spare.pop() else { return false };
        let hint = if self.batches == Batches::Growing { Hint::Opens } else { Hint::Any };
        let places = self.part(slot, 0, count);
        let found = watch.time(Call::Take, || worker.take(slot, hint, places));
        if found {
            self.lengths[slot] = count as u16;
            self.held += count;
            self.live.push(slot);
        } else {
            self.spare.push(slot);
        }
        found
    }

    #[inline]
    fn give_one(&mut self, worker: &mut dyn Worker, random: &mut Random, watch: &mut impl Watch) {
        let slot = self.live.swap_remove(random.below(self.live.len() as u32) as usize);
        let length = usize::from(self.lengths[slot]);
        let batch = self.part(slot, 0, length);
        watch.time(Call::Give, || worker.give(slot, batch));
        self.held -= length;
        self.spare.push(slot);
        self.given += 1;
    }

    /// The batches, for who wants to see what is in them.
    pub fn each(&mut self, worker: &mut dyn Worker, mut see: impl FnMut(&[BlockId])) {
        for index in 0..self.live.len() {
            let slot = self.live[index];
            let length = usize::from(self.lengths[slot]);
            let batch = self.part(slot, 0, length);
            worker.show(slot, batch);
            see(batch);
        }
    }
}
