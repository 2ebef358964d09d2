//! How long the runs of a serving load are: sequences that open with 9 to 136 blocks, grow one block at a time in turn
//! with all others, end at random, and are replaced when room is needed. One thread and a fixed seed: exact figures.

use super::support::{Rng, ids, list};
use crate::freelist::{Cursor, FreeList, Hint};
use crate::sync::AtomicU64;
use std::vec::Vec;

const BLOCKS: u32 = 65_536;
const SEQUENCE_BLOCKS_MAX: usize = 256;

struct Serving {
    list: FreeList<'static>,
    cursor: AtomicU64,
    rng: Rng,
    running: Vec<Vec<u32>>,
    held: usize,
    quota: usize,
}

impl Serving {
    fn new(percent: u32) -> Serving {
        let quota = BLOCKS as usize * percent as usize / 100;
        let cursor = AtomicU64::new(0);
        Serving { list: list(BLOCKS), cursor, rng: Rng::new(1), running: Vec::new(), held: 0, quota }
    }

    fn take(&mut self, into: &mut Vec<u32>, count: u32, hint: Hint) {
        let got = self.list.take(count, hint, &Cursor::new(&self.cursor), &mut |run| into.extend(ids(run)));
        assert_eq!(got, count, "the quota is below N, so there are blocks");
        self.held += count as usize;
    }

    fn end_one(&mut self) {
        let at = self.rng.below(self.running.len() as u32) as usize;
        let ended = self.running.swap_remove(at);
        let mut gather = self.list.gather();
        ended.iter().for_each(|&id| gather.push(id));
        assert_eq!(gather.finish(), 0);
        Cursor::new(&self.cursor).aim(ended[0]);
        self.held -= ended.len();
    }

    fn open_one(&mut self) {
        let count = 9 + self.rng.below(128);
        while self.held + count as usize > self.quota {
            self.end_one();
        }
        let mut blocks = Vec::new();
        self.take(&mut blocks, count, Hint::Opens);
        self.running.push(blocks);
    }

    fn step(&mut self) {
        if self.rng.below(10) == 0 || self.running.is_empty() {
            return self.open_one();
        }
        let at = self.rng.below(self.running.len() as u32) as usize;
        let len = self.running[at].len();
        if len == SEQUENCE_BLOCKS_MAX || self.held == self.quota || (len >= 32 && self.rng.below(100) == 0) {
            return self.open_one();
        }
        let mut blocks = core::mem::take(&mut self.running[at]);
        let last = blocks[len - 1];
        self.take(&mut blocks, 1, Hint::After(last));
        self.running[at] = blocks;
    }

    /// Blocks a run, over everything that is held.
    fn mean_run(&self) -> f64 {
        let mut runs = 0;
        for blocks in &self.running {
            let mut sorted = blocks.clone();
            sorted.sort_unstable();
            runs += 1 + sorted.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
        }
        self.held as f64 / runs as f64
    }
}

#[test]
fn growing_sequences_stay_in_one_piece() {
    for (percent, least) in [(50, 40.0), (80, 25.0), (90, 12.0)] {
        let mut serving = Serving::new(percent);
        for _ in 0..200_000 {
            serving.step();
        }
        let mean = serving.mean_run();
        std::println!("{percent} % held: {mean:.1} blocks a run");
        assert!(mean >= least, "{percent} % held: {mean:.1} blocks a run, expected at least {least}");
    }
}
