//! A trace as the workload takes it: lengths, and the names of prompts' blocks. All of it is made before the clock starts.

use super::Shape;
use crate::cache::{Accesses, Name};
use crate::prefix::GroupRule;
use crate::replay::Failure;
use crate::trace::Trace;
use kvledger_core::identity::Identity;

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// P.
    pub prompt: u32,
    /// O.
    pub output: u32,
    /// Its blocks.
    pub blocks: u32,
    /// Its place in the trace.
    index: usize,
    /// Where its keys begin.
    keys_from: usize,
}

/// All requests.
pub struct Jobs {
    jobs: Vec<Job>,
    accesses: Accesses,
    /// The names as keys, those of one request after the other.
    keys: Vec<Identity>,
    left_out: u64,
}

impl Jobs {
    /// Those of `trace`, all in one trust group, that a part of N, one of `threads`, has room for. Errors: there are too many
    /// different blocks.
    pub fn of(trace: &Trace, shape: &Shape, threads: u32) -> Result<Jobs, Failure> {
        let accesses = Accesses::new(trace, shape.block_tokens, GroupRule::One);
        let accesses = accesses.map_err(|many| Failure::Settings(many.to_string()))?;
        let most = u64::from(shape.blocks / threads.max(1));
        let (mut jobs, mut keys, mut left_out) = (Vec::new(), Vec::new(), 0);
        for (index, request) in trace.requests.iter().enumerate() {
            let tokens = u64::from(request.prompt) + u64::from(request.output);
            let blocks = tokens.div_ceil(shape.block_tokens.get().into());
            if blocks > most || tokens > u64::from(u32::MAX) {
                left_out += 1;
                continue;
            }
            let (prompt, output, keys_from) = (request.prompt, request.output, keys.len());
            jobs.push(Job { prompt, output, blocks: blocks as u32, index, keys_from });
            keys.extend(accesses.request(index).iter().map(|&name| key(name)));
        }
        Ok(Jobs { jobs, accesses, keys, left_out })
    }

    /// How many requests.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// All of them, in order.
    pub fn all(&self) -> &[Job] {
        &self.jobs
    }

    /// The names of a request's blocks, from block 0 on.
    pub fn names(&self, job: &Job) -> &[Name] {
        self.accesses.request(job.index)
    }

    /// The same as keys.
    pub fn keys(&self, job: &Job) -> &[Identity] {
        self.keys.get(job.keys_from..job.keys_from + self.names(job).len()).unwrap_or(&[])
    }

    /// Every name is below this.
    pub fn names_end(&self) -> usize {
        self.accesses.names()
    }

    /// Blocks with names, over all requests.
    pub fn identified(&self) -> u64 {
        self.keys.len() as u64
    }

    /// Most blocks of a request.
    pub fn longest(&self) -> u32 {
        self.jobs.iter().map(|job| job.blocks).max().unwrap_or(1)
    }

    /// Requests without room.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// A key as a server has it: 128 bits that look drawn. Another name has another key, because either half is a bijection of
/// it.
fn key(name: Name) -> Identity {
    Identity { low: mixed(name.into()), high: mixed(u64::from(name) | 1 << 32) }
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}
