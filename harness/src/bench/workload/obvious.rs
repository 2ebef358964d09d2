//! What the workload must come to with one thread: names and counts only, no block has an id.

use super::Shape;
use super::drive::Counted;
use super::jobs::{Job, Jobs};
use crate::cache::{List, Name};
use std::collections::VecDeque;

/// Who holds what, and what is kept.
struct Books {
    /// By name.
    holders: Vec<u32>,
    /// By name: it is held, or kept.
    is_known: Vec<bool>,
    /// Names that nobody holds, the most recently freed in front.
    kept: List,
    free: u64,
}

impl Books {
    /// One block for `name`, or for what has none: a free one, or else that of the name that was freed least recently.
    fn take(&mut self, name: Option<Name>) {
        match self.kept.back() {
            Some(oldest) if self.free == 0 => {
                self.kept.remove(oldest);
                self.is_known[oldest as usize] = false;
            }
            // The caller has made room.
            _ => self.free -= 1,
        }
        if let Some(name) = name {
            self.is_known[name as usize] = true;
            self.holders[name as usize] = 1;
        }
    }

    fn hit(&mut self, name: Name) {
        if self.holders[name as usize] == 0 {
            self.kept.remove(name);
        }
        self.holders[name as usize] += 1;
    }

    fn free(&mut self, job: &Job, names: &[Name]) {
        self.free += u64::from(job.blocks) - names.len() as u64;
        for &name in names.iter().rev() {
            self.holders[name as usize] -= 1;
            if self.holders[name as usize] == 0 {
                self.kept.push_front(name);
            }
        }
    }
}

/// Blocks and hits of one thread.
pub fn count(jobs: &Jobs, shape: &Shape) -> Counted {
    let end = jobs.names_end();
    let mut books =
        Books { holders: vec![0; end], is_known: vec![false; end], kept: List::new(end), free: shape.blocks.into() };
    let (mut live, mut sum, mut counted): (VecDeque<&Job>, u64, Counted) = Default::default();
    for job in jobs.all() {
        let blocks = u64::from(job.blocks);
        while live.len() >= shape.live as usize || sum + blocks > u64::from(shape.blocks) {
            let Some(oldest) = live.pop_front() else { break };
            sum -= u64::from(oldest.blocks);
            books.free(oldest, jobs.names(oldest));
        }
        let names = jobs.names(job);
        let hits = names.iter().take_while(|name| books.is_known[**name as usize]).count();
        names[..hits].iter().for_each(|&name| books.hit(name));
        (hits..job.blocks as usize).for_each(|place| books.take(names.get(place).copied()));
        live.push_back(job);
        sum += blocks;
        counted.blocks += blocks;
        counted.hits += hits as u64;
    }
    counted
}
