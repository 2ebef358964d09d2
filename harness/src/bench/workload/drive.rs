//! Runs a manager: each thread takes its requests, frees its oldest, and counts.

use super::Shape;
use super::jobs::{Job, Jobs};
use crate::replay::Failure;
use kvledger_core::identity::Identity;
use std::collections::VecDeque;
use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// Who manages blocks. All calls may come from several threads at once.
pub trait Manager: Sync {
    /// A request's blocks.
    type Live: Send;

    /// Attaches the blocks of a request, whose prompt has these keys; how many of them were hits. Errors: what went wrong.
    fn begin(&self, job: &Job, keys: &[Identity]) -> Result<(Self::Live, u32), String>;

    /// Frees them.
    fn end(&self, live: Self::Live) -> Result<(), String>;
}

/// What the threads counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counted {
    /// Blocks that were attached, hits and new ones.
    pub blocks: u64,
    /// Hits.
    pub hits: u64,
}

/// Runs the workload with so many threads; what they counted, and the time from when all were ready until all were
/// through. Errors: the manager's.
pub fn run(manager: &impl Manager, jobs: &Jobs, shape: &Shape, threads: u32) -> Result<(Counted, Duration), Failure> {
    let part = Shape { live: (shape.live / threads).max(1), blocks: shape.blocks / threads, ..*shape };
    let (gate, start) = (Barrier::new(threads as usize), OnceLock::new());
    let work = |first: usize| {
        let mine = || jobs.all().iter().skip(first).step_by(threads as usize);
        gate.wait();
        start.get_or_init(Instant::now);
        (take_all(manager, jobs, mine(), &part), Instant::now())
    };
    let parts: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads as usize).map(|first| scope.spawn(move || work(first))).collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    let (mut sum, start) = (Counted::default(), start.get().copied().unwrap_or_else(Instant::now));
    let mut wall = Duration::ZERO;
    for (counted, end) in parts {
        let counted = counted.map_err(Failure::Workload)?;
        sum = Counted { blocks: sum.blocks + counted.blocks, hits: sum.hits + counted.hits };
        wall = wall.max(end.duration_since(start));
    }
    Ok((sum, wall))
}

/// One thread's part.
fn take_all<'a, M: Manager>(
    manager: &M,
    jobs: &Jobs,
    mine: impl Iterator<Item = &'a Job>,
    part: &Shape,
) -> Result<Counted, String> {
    let mut live: VecDeque<(M::Live, u32)> = VecDeque::with_capacity(part.live as usize);
    let (mut sum, mut counted) = (0, Counted::default());
    for job in mine {
        while live.len() >= part.live as usize || sum + job.blocks > part.blocks {
            let Some((oldest, blocks)) = live.pop_front() else { break };
            manager.end(oldest)?;
            sum -= blocks;
        }
        let (begun, hits) = manager.begin(job, jobs.keys(job))?;
        live.push_back((begun, job.blocks));
        sum += job.blocks;
        counted.blocks += u64::from(job.blocks);
        counted.hits += u64::from(hits);
    }
    live.into_iter().try_for_each(|(oldest, _)| manager.end(oldest))?;
    Ok(counted)
}
