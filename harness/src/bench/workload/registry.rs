//! A peer, written as such managers are: a map from keys to blocks, a count of holders in each block, a doubly linked list
//! of kept blocks in the order in which they were freed, a stack of free ones, and one lock around all of it. It promises
//! nothing, has no handles and waits for no device: it does less than the pool.

use super::Shape;
use super::drive::{self, Counted, Manager};
use super::jobs::{Job, Jobs};
use crate::replay::Failure;
use kvledger_core::identity::Identity;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// No block.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Block {
    holders: u32,
    /// The next more recently freed one.
    newer: u32,
    older: u32,
    /// What the map has it under.
    key: Option<Identity>,
}

struct Books<S> {
    known: HashMap<Identity, u32, S>,
    blocks: Vec<Block>,
    free: Vec<u32>,
    newest: u32,
    oldest: u32,
}

impl<S: BuildHasher> Books<S> {
    fn new(blocks: u32, hasher: S) -> Books<S> {
        let fresh = Block { holders: 0, newer: NONE, older: NONE, key: None };
        Books {
            known: HashMap::with_capacity_and_hasher(blocks as usize, hasher),
            blocks: vec![fresh; blocks as usize],
            free: (0..blocks).rev().collect(),
            newest: NONE,
            oldest: NONE,
        }
    }

    fn block(&mut self, id: u32) -> &mut Block {
        &mut self.blocks[id as usize]
    }

    fn unlink(&mut self, id: u32) {
        let Block { newer, older, .. } = *self.block(id);
        if newer == NONE {
            self.newest = older
        } else {
            self.block(newer).older = older
        }
        if older == NONE { self.oldest = newer } else { self.block(older).newer = newer }
    }

    fn link_newest(&mut self, id: u32) {
        let older = self.newest;
        (self.block(id).newer, self.block(id).older) = (NONE, older);
        if older == NONE {
            self.oldest = id
        } else {
            self.block(older).newer = id
        }
        self.newest = id;
    }

    /// A hit has one more holder.
    fn touch(&mut self, id: u32) {
        if self.block(id).holders == 0 {
            self.unlink(id);
        }
        self.block(id).holders += 1;
    }

    /// A free block, or the one that was freed least recently.
    fn take(&mut self) -> Option<u32> {
        if let Some(id) = self.free.pop() {
            return Some(id);
        }
        let id = Some(self.oldest).filter(|&oldest| oldest != NONE)?;
        self.unlink(id);
        if let Some(key) = self.block(id).key.take() {
            self.known.remove(&key);
        }
        Some(id)
    }

    fn give(&mut self, id: u32) {
        let block = self.block(id);
        block.holders -= 1;
        match (block.holders, block.key) {
            (0, Some(_)) => self.link_newest(id),
            (0, None) => self.free.push(id),
            _ => {}
        }
    }

    fn begin(&mut self, job: &Job, keys: &[Identity]) -> Option<(Vec<u32>, u32)> {
        let mut row = Vec::with_capacity(job.blocks as usize);
        for key in keys {
            let Some(&id) = self.known.get(key) else { break };
            self.touch(id);
            row.push(id);
        }
        let hits = row.len();
        for place in hits..job.blocks as usize {
            let id = self.take()?;
            self.block(id).holders = 1;
            if let Some(&key) = keys.get(place) {
                self.block(id).key = Some(key);
                self.known.insert(key, id);
            }
            row.push(id);
        }
        Some((row, hits as u32))
    }
}

struct Registry<S>(Mutex<Books<S>>);

impl<S: BuildHasher + Send> Manager for Registry<S> {
    type Live = Vec<u32>;

    fn begin(&self, job: &Job, keys: &[Identity]) -> Result<(Vec<u32>, u32), String> {
        let begun = self.0.lock().unwrap_or_else(PoisonError::into_inner).begin(job, keys);
        begun.ok_or_else(|| "the registry has no block left".to_string())
    }

    fn end(&self, live: Vec<u32>) -> Result<(), String> {
        let mut books = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        live.iter().rev().for_each(|&id| books.give(id));
        Ok(())
    }
}

/// Keys are hashes already: half of one is its place in the map.
#[derive(Default)]
struct Given(u64);

impl Hasher for Given {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = self.0.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u64(&mut self, half: u64) {
        self.0 = half;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Runs the workload on a registry that takes keys for the hashes that they are.
pub fn run_with_given_hashes(jobs: &Jobs, shape: &Shape, threads: u32) -> Result<(Counted, Duration), Failure> {
    run(BuildHasherDefault::<Given>::default(), jobs, shape, threads)
}

/// The same with the map of the standard library as it comes.
pub fn run_with_its_own_hashes(jobs: &Jobs, shape: &Shape, threads: u32) -> Result<(Counted, Duration), Failure> {
    run(RandomState::new(), jobs, shape, threads)
}

fn run(
    hasher: impl BuildHasher + Send,
    jobs: &Jobs,
    shape: &Shape,
    threads: u32,
) -> Result<(Counted, Duration), Failure> {
    drive::run(&Registry(Mutex::new(Books::new(shape.blocks, hasher))), jobs, shape, threads)
}
