//! Admission under contention: threads that promise and let go on one pool, where one word decides. Beside it a word with
//! the ledger's arithmetic and nothing around it, and the same two counts under a lock.

use super::Follow;
use super::figure::{Figure, tidy};
use kvledger_core::{Admission, Line, Pool, PoolConfig, entries, lines};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// One number of threads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Contention {
    /// Threads.
    pub threads: u32,
    /// One a way to do it.
    pub figures: Vec<Figure>,
}

const BLOCKS: u32 = 65_536;
const BLOCK_TOKENS: u32 = 16;
/// Blocks that each admission asks for: all threads together ask for less than there is.
const BATCH: u32 = 145;

/// A thread's work, again and again.
type Cycle<'a> = &'a (dyn Fn() + Sync);

/// Who borrows a cycle.
type User<'u> = &'u mut dyn FnMut(Cycle<'_>);

/// A way to do it: lends its cycle.
struct Way {
    name: &'static str,
    lend: fn(User<'_>),
}

/// What the pool's row is called.
pub const ON_A_POOL: &str = "open, admit, end";

const WAYS: [Way; 3] = [
    Way { name: "the word alone", lend: word },
    Way { name: "Mutex<(A, R)>", lend: locked },
    Way { name: ON_A_POOL, lend: pool },
];

/// Promised, materialized and released: the pool's word, A below and R above.
fn word(user: User<'_>) {
    let word = AtomicU64::new(0);
    user(&|| {
        let (promise, batch) = (u64::from(BATCH) << 32, u64::from(BATCH));
        let fits = |now: u64| ((now >> 32) + (now & 0xffff_ffff) + batch <= u64::from(BLOCKS)).then(|| now + promise);
        if word.fetch_update(AcqRel, Acquire, fits).is_ok() {
            word.fetch_add(batch.wrapping_sub(promise), AcqRel);
            word.fetch_sub(batch, AcqRel);
        }
    });
}

fn locked(user: User<'_>) {
    let counts = Mutex::new((0u32, 0u32));
    let lock = || counts.lock().unwrap_or_else(PoisonError::into_inner);
    user(&|| {
        {
            let mut counts = lock();
            if counts.0 + counts.1 + BATCH > BLOCKS {
                return;
            }
            counts.1 += BATCH;
        }
        {
            let mut counts = lock();
            (counts.0, counts.1) = (counts.0 + BATCH, counts.1 - BATCH);
        }
        lock().0 -= BATCH;
    });
}

/// The whole of it: a sequence's slot, its group's word, the pool's word, and back.
fn pool(user: User<'_>) {
    let config = PoolConfig::new(BLOCKS, BLOCK_TOKENS, 64, BATCH);
    let (mut memory, mut table) = (vec![Line::ZERO; lines(&config)], vec![0; entries(&config)]);
    let pool = Pool::init(&mut memory, &mut table, &config).expect("the memory is as long as the pool says");
    let admission = Admission::full(BATCH * BLOCK_TOKENS, 0);
    user(&|| {
        let sequence = pool.open().expect("there are more slots than threads");
        pool.admit(sequence, &admission).expect("there are blocks for all threads");
        pool.end(sequence).expect("it was opened here");
    });
}

/// Measures each way with each number of threads, round after round.
pub fn measure(threads: &[u32], rounds: u32, slice: Duration, cores: u32, follow: Follow<'_>) -> Vec<Contention> {
    let mut all = Vec::new();
    for &threads in threads {
        let mut figures = WAYS.map(|way| Figure::new(way.name));
        for _ in 0..rounds {
            for (way, figure) in WAYS.iter().zip(&mut figures) {
                follow(slice, &format!("admission, {threads} threads"));
                (way.lend)(&mut |cycle| {
                    let (wall, cycles) = run(cycle, threads, slice);
                    let core_ns = wall.as_secs_f64() * 1e9 * f64::from(threads.min(cores));
                    figure.rounds_ns.push(tidy(core_ns / cycles.max(1) as f64));
                });
            }
        }
        all.push(Contention { threads, figures: figures.to_vec() });
    }
    all
}

/// About how long it takes.
pub fn takes(threads: &[u32], rounds: u32, slice: Duration) -> Duration {
    slice * rounds * (threads.len() * WAYS.len()) as u32
}

const TURNS: u64 = 16;

fn run(cycle: Cycle<'_>, threads: u32, slice: Duration) -> (Duration, u64) {
    let (gate, is_over) = (Barrier::new(threads as usize + 1), AtomicBool::new(false));
    let work = || {
        let mut cycles = 0;
        gate.wait();
        while !is_over.load(Relaxed) {
            (0..TURNS).for_each(|_| cycle());
            cycles += TURNS;
        }
        cycles
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        gate.wait();
        let start = Instant::now();
        thread::sleep(slice);
        is_over.store(true, Relaxed);
        let wall = start.elapsed();
        let cycles = workers.into_iter().map(|worker| worker.join().expect("a worker does not panic"));
        (wall, cycles.sum())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_has_a_figure_for_every_round() {
        let all = measure(&[1, 3], 2, Duration::from_millis(1), 2, &|_, _| ());
        assert_eq!(all.len(), 2);
        for contention in &all {
            assert!(contention.figures.iter().all(|figure| figure.rounds_ns.len() == 2 && figure.best_ns() > 0.0));
        }
    }
}
