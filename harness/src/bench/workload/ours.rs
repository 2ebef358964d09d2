//! Our manager: the pool with its ledger. A request is opened, admitted with the prefix that is known, advanced by the rest,
//! published and ended: every block word, table row and promise is kept as in a server.

use super::Shape;
use super::drive::{self, Counted, Manager};
use super::jobs::{Job, Jobs};
use crate::replay::Failure;
use kvledger_core::identity::Identity;
use kvledger_core::{Admission, Epoch, Line, Pool, PoolConfig, Prefix, Refusal, Sequence, Stream, entries, lines};
use std::time::Duration;

struct Ours<'m> {
    pool: Pool<'m>,
    /// All blocks are published under it. It is over, as a step is by the time its blocks are freed: nothing waits.
    written: Epoch,
}

/// Runs the workload on a fresh pool.
pub fn run(jobs: &Jobs, shape: &Shape, threads: u32) -> Result<(Counted, Duration), Failure> {
    // A thread frees before it begins, so K are open at most.
    let sequences = shape.live.max(threads);
    let config = PoolConfig::new(shape.blocks, shape.block_tokens.get(), sequences, jobs.longest()).sharing();
    let (mut memory, mut table) = (vec![Line::ZERO; lines(&config)], vec![0; entries(&config)]);
    let made = |refusal: Refusal| Failure::Settings(format!("no pool has this shape: {refusal}"));
    let pool = Pool::init(&mut memory, &mut table, &config).map_err(made)?;
    let written = pool.submit(Stream(0)).map_err(made)?;
    pool.complete(Stream(0), written, false).map_err(made)?;
    drive::run(&Ours { pool, written }, jobs, shape, threads)
}

impl Manager for Ours<'_> {
    type Live = Sequence;

    fn begin(&self, job: &Job, keys: &[Identity]) -> Result<(Sequence, u32), String> {
        let said = |call: &'static str| move |refusal: Refusal| format!("the pool answered `{refusal}` to {call}");
        let sequence = self.pool.open().map_err(said("open"))?;
        let admission = Admission::full(job.prompt, job.output);
        let found = self.pool.admit_prefix(sequence, &admission, &Prefix::of(keys)).map_err(said("admit_prefix"))?;
        let rest = job.prompt + job.output - found.cached_tokens;
        self.pool.advance(sequence, rest).map_err(said("advance"))?;
        let new = keys.get(found.hits as usize..).unwrap_or(&[]);
        if !new.is_empty() {
            let publish = self.pool.publish(sequence, found.hits, &Prefix::of(new), self.written, true, &mut []);
            publish.map_err(said("publish"))?;
        }
        Ok((sequence, found.hits))
    }

    fn end(&self, live: Sequence) -> Result<(), String> {
        self.pool.end(live).map(drop).map_err(|refusal| format!("the pool answered `{refusal}` to end"))
    }
}
