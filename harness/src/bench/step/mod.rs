//! A scheduler step: every running sequence makes one token, and about one in sixteen needs a block for it.
//!
//! Four things are timed, each by itself so that none disturbs the caches of another: the call, `advance_many`; the whole
//! turn around it, with `submit`, `complete` and the sequences that ended replaced; the table on its way to a device, as
//! the rows that changed, and packed whole; and the call through a handle that records it, and through one that does not,
//! in turn.

mod server;

pub use server::{BLOCK_TOKENS, Server, config};

use super::figure::tidy;
use super::{Follow, median, quantile};
use kvledger_core::{Line, Pool, entries, lines};
use serde::{Deserialize, Serialize};
use server::WARM_STEPS;
use std::time::{Duration, Instant};

/// Running sequences that are measured.
pub const RUNNING: [u32; 4] = [64, 256, 1024, 4096];

/// For these a goal is set.
pub const JUDGED_RUNNING: u32 = 1024;

/// What steps took.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StepFigures {
    /// Running sequences.
    pub sequences: u32,
    /// B.
    pub block_tokens: u32,
    /// Steps that were timed.
    pub steps: u32,
    /// Blocks that a step took, on average.
    pub blocks_mean: f64,
    /// `advance_many` over all sequences, in µs: the middle step.
    pub advance_median_us: f64,
    /// The same; one step in a hundred took longer.
    pub advance_p99_us: f64,
    /// With `submit` and `complete`, and with the sequences that ended in it replaced (`end`, `open`, `admit`, and
    /// `advance` by the prompt): the middle step.
    pub turn_median_us: f64,
    /// Sequences that were replaced in a step, on average.
    pub replaced_mean: f64,
    /// `export_row` of each row that changed in a step, in µs: the middle step.
    pub export_changed_median_us: f64,
    /// `export_csr` of all rows, in µs: the middle step.
    pub export_all_median_us: f64,
    /// Blocks in all rows, on average.
    pub indices_mean: f64,
    /// `advance_many` through a handle that records, in µs: the middle step.
    pub recorded_median_us: f64,
    /// The same through one that does not, in turn with it.
    pub unrecorded_median_us: f64,
}

struct Turn {
    taken: u32,
    replaced: u32,
    advance_us: f64,
    turn_us: f64,
}

struct Export {
    changed_us: f64,
    all_us: f64,
    indices: u32,
}

struct Pair {
    recorded_us: f64,
    unrecorded_us: f64,
}

/// Of the recorder: 256 KiB, many steps.
const RING_LINES: usize = 4096;

/// Times `steps` steps of each number of sequences, and fewer exports.
pub fn measure(steps: u32, follow: Follow<'_>) -> Vec<StepFigures> {
    RUNNING
        .iter()
        .map(|&running| {
            follow(takes_one(running, steps), &format!("steps over {running} sequences"));
            figures(running, steps)
        })
        .collect()
}

/// About how long it takes.
pub fn takes(steps: u32) -> Duration {
    RUNNING.iter().map(|&running| takes_one(running, steps)).sum()
}

fn takes_one(running: u32, steps: u32) -> Duration {
    Duration::from_nanos(u64::from(running) * u64::from(steps + WARM_STEPS) * 60)
}

/// A tenth of the steps.
fn exports(steps: u32) -> u32 {
    steps.div_ceil(10)
}

fn figures(running: u32, steps: u32) -> StepFigures {
    let config = config(running);
    let (mut memory, mut table) = (vec![Line::ZERO; lines(&config)], vec![0; entries(&config)]);
    let pool = Pool::init(&mut memory, &mut table, &config).expect("the memory is as long as the pool says");
    let mut ring = vec![Line::ZERO; RING_LINES];
    let mut server = Server::new(pool);
    for _ in 0..WARM_STEPS {
        turn(&mut server);
    }
    let turns: Vec<Turn> = (0..steps).map(|_| turn(&mut server)).collect();
    let exports: Vec<Export> = (0..exports(steps)).map(|_| export(&mut server)).collect();
    server.record_in(&mut ring);
    let pairs: Vec<Pair> = (0..steps.div_ceil(2)).map(|_| pair(&mut server)).collect();
    StepFigures {
        sequences: running,
        block_tokens: BLOCK_TOKENS,
        steps,
        blocks_mean: mean(&turns, |turn| f64::from(turn.taken)),
        advance_median_us: middle(&turns, |turn| turn.advance_us),
        advance_p99_us: tidy(quantile(&all(&turns, |turn| turn.advance_us), 0.99)),
        turn_median_us: middle(&turns, |turn| turn.turn_us),
        replaced_mean: mean(&turns, |turn| f64::from(turn.replaced)),
        export_changed_median_us: middle(&exports, |export| export.changed_us),
        export_all_median_us: middle(&exports, |export| export.all_us),
        indices_mean: mean(&exports, |export| f64::from(export.indices)),
        recorded_median_us: middle(&pairs, |pair| pair.recorded_us),
        unrecorded_median_us: middle(&pairs, |pair| pair.unrecorded_us),
    }
}

/// A whole step: submitted, advanced, replaced, completed.
fn turn(server: &mut Server<'_>) -> Turn {
    let begin = Instant::now();
    let epoch = server.submit();
    let before = Instant::now();
    let (taken, _) = server.advance();
    let advance_us = micros(before);
    let replaced = server.replace();
    server.complete(epoch);
    Turn { taken, replaced, advance_us, turn_us: micros(begin) }
}

/// A step, and what a device is sent after it.
fn export(server: &mut Server<'_>) -> Export {
    let (_, changed) = server.advance();
    let before = Instant::now();
    server.export_changed(changed);
    let changed_us = micros(before);
    let before = Instant::now();
    let indices = server.export_csr();
    let all_us = micros(before);
    server.replace();
    Export { changed_us, all_us, indices }
}

/// Two steps: one that is recorded, one that is not.
fn pair(server: &mut Server<'_>) -> Pair {
    let before = Instant::now();
    server.advance_recorded();
    let recorded_us = micros(before);
    server.replace();
    let before = Instant::now();
    server.advance();
    let unrecorded_us = micros(before);
    server.replace();
    Pair { recorded_us, unrecorded_us }
}

fn micros(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e6
}

fn all<T>(of: &[T], figure: impl Fn(&T) -> f64) -> Vec<f64> {
    of.iter().map(figure).collect()
}

fn middle<T>(of: &[T], figure: impl Fn(&T) -> f64) -> f64 {
    tidy(median(&all(of, figure)))
}

fn mean<T>(of: &[T], figure: impl Fn(&T) -> f64) -> f64 {
    tidy(all(of, figure).iter().sum::<f64>() / of.len().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_takes_about_a_block_for_sixteen_sequences() {
        let figures = figures(1024, 64);
        let expected = f64::from(1024 / BLOCK_TOKENS);
        assert!((figures.blocks_mean - expected).abs() < expected / 4.0, "{figures:?}");
        assert!(figures.advance_median_us > 0.0 && figures.turn_median_us >= figures.advance_median_us, "{figures:?}");
        assert!(figures.export_changed_median_us > 0.0 && figures.indices_mean > 1024.0, "{figures:?}");
    }
}
