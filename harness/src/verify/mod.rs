//! `kvledger verify`: random operations against the pool and against its obvious model, every observer compared after
//! each. Episodes with a small random configuration each, shared out to the cores; a failure is made short.

mod answers;

use kvledger_core::PoolConfig;
use kvledger_core::model::{Comparison, Difference, Operation, Tally, configuration, operations, shrink};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

pub use answers::write_tally;

/// Operations of one episode, after which a new pool is made.
const EPISODE: u64 = 1_000;

/// What to verify.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Operations in all.
    pub operations: u64,
    /// The first episode's seed; the others follow from it.
    pub seed: u64,
    /// Threads, each with its own pools.
    pub threads: usize,
}

/// A failure, as short as it could be made.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The seed of the episode.
    pub seed: u64,
    /// Its configuration.
    pub config: PoolConfig,
    /// The operations that are left.
    pub operations: Vec<Operation>,
    /// What differs after the last of them.
    pub what: String,
}

/// Run them all. `progress` is told how many operations are done, from any thread. `Err`: the first failure, shortened.
pub fn run(settings: Settings, progress: impl Fn(u64) + Sync) -> Result<Tally, Box<Failure>> {
    let episodes = settings.operations.div_ceil(EPISODE);
    let (next, failed) = (AtomicU64::new(0), Mutex::new(None));
    let work = || {
        let mut tally = Tally::default();
        loop {
            let episode = next.fetch_add(1, Ordering::Relaxed);
            if episode >= episodes || failed.lock().is_ok_and(|failed| failed.is_some()) {
                return tally;
            }
            let seed = settings.seed.wrapping_add(episode);
            match attempt(&configuration(seed), &operations(seed, EPISODE as usize)) {
                Ok(part) => tally.add(&part),
                Err(_) => *failed.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(seed),
            }
            progress((episode + 1) * EPISODE);
        }
    };
    let mut tally = Tally::default();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..settings.threads.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).for_each(|part| tally.add(&part));
    });
    match failed.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        None => Ok(tally),
        Some(seed) => Err(Box::new(shorten(seed))),
    }
}

/// One episode. A panic of the pool (a debug assertion) is a failure like any other.
fn attempt(config: &PoolConfig, list: &[Operation]) -> Result<Tally, String> {
    let run = AssertUnwindSafe(|| Comparison::run(config, list));
    match catch_unwind(run) {
        Ok(outcome) => outcome.map_err(|difference: Difference| difference.to_string()),
        Err(panic) => Err(panic.downcast_ref::<String>().map_or_else(
            || panic.downcast_ref::<&str>().map_or_else(|| "a panic".to_owned(), |text| format!("panic: {text}")),
            |text| format!("panic: {text}"),
        )),
    }
}

fn shorten(seed: u64) -> Failure {
    let config = configuration(seed);
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let short = shrink(&operations(seed, EPISODE as usize), |list| attempt(&config, list).is_err());
    let what = attempt(&config, &short).err().unwrap_or_default();
    std::panic::set_hook(quiet);
    Failure { seed, config, operations: short, what }
}
