//! `kvledger verify`: random operations against the pool and against its obvious model, every observer compared after
//! each. Episodes with a small random configuration each, shared out to the cores; a failure is made short.
//!
//! 1. [`run`] hands out episodes; episode i has seed + i, which decides its pool and its operations.
//! 2. Each goes through the comparison. A panic of the pool (a debug assertion) is a difference like any other.
//! 3. After the first difference no new episode is begun; those under way end. The one with the lowest number is the
//!    result, so that threads make no difference, and `shorten` leaves out of it what does not matter.
//! 4. Otherwise the operations that were done are counted against those that were asked for.

mod answers;
mod failure;
mod shorten;

use kvledger_core::PoolConfig;
use kvledger_core::model::{Difference, Operation, Tally, configuration, operations};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

pub use answers::{answers, counted};
pub use failure::{Failure, Shortened};

/// Operations of one episode, after which a new pool is made.
pub const EPISODE: u64 = 1_000;

/// No episode has this number.
const NONE: u64 = u64::MAX;

/// What to verify.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Operations in all; the last episode has what is left.
    pub operations: u64,
    /// The first episode's seed; the others follow from it.
    pub seed: u64,
    /// Threads, each with its own pools.
    pub threads: usize,
}

/// What has been shown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Verified {
    /// Operations after which pool and model said the same.
    pub operations: u64,
    /// What they answered.
    pub tally: Tally,
}

/// Run them all. `compare` applies operations to a pool of a configuration and to its model:
/// [`Comparison::run`](kvledger_core::model::Comparison::run), or in a test one that is wrong on purpose. `progress` is
/// told how many operations are done, from any thread.
pub fn run<C>(settings: Settings, compare: C, progress: impl Fn(u64) + Sync) -> Result<Verified, Failure>
where
    C: Fn(&PoolConfig, &[Operation]) -> Result<Tally, Difference> + Sync,
{
    let round = Round { settings, next: AtomicU64::new(0), failed: AtomicU64::new(NONE), done: AtomicU64::new(0) };
    let mut all = Verified::default();
    let mut has_died = false;
    thread::scope(|scope| {
        let work = || round.work(&compare, &progress);
        let workers: Vec<_> = (0..settings.threads.max(1)).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            match worker.join() {
                Ok(part) => all.add(&part),
                Err(_) => has_died = true,
            }
        }
    });
    match round.failed.into_inner() {
        NONE if has_died => Err(Failure::Died),
        NONE if all.operations != settings.operations => {
            Err(Failure::Miscounted { asked: settings.operations, done: all.operations })
        }
        NONE => Ok(all),
        episode => Err(Failure::Differs(Box::new(shorten::shorten(&compare, settings.seed.wrapping_add(episode))))),
    }
}

impl Verified {
    /// Both together.
    fn add(&mut self, part: &Verified) {
        self.operations += part.operations;
        self.tally.add(&part.tally);
    }
}

/// What the threads of a run share.
struct Round {
    settings: Settings,
    /// The next episode.
    next: AtomicU64,
    /// The lowest episode that failed.
    failed: AtomicU64,
    /// Operations done.
    done: AtomicU64,
}

impl Round {
    /// Episodes, until there are no more or one has failed. What has been shown by them.
    fn work<C>(&self, compare: &C, progress: &impl Fn(u64)) -> Verified
    where
        C: Fn(&PoolConfig, &[Operation]) -> Result<Tally, Difference>,
    {
        let mut shown = Verified::default();
        while self.failed.load(Ordering::Relaxed) == NONE {
            let episode = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(left) =
                self.settings.operations.checked_sub(episode.saturating_mul(EPISODE)).filter(|&left| left > 0)
            else {
                break;
            };
            let count = left.min(EPISODE);
            let seed = self.settings.seed.wrapping_add(episode);
            match attempt(compare, &configuration(seed), &operations(seed, count as usize)) {
                Ok(tally) => shown.add(&Verified { operations: count, tally }),
                Err(_) => _ = self.failed.fetch_min(episode, Ordering::Relaxed),
            }
            progress(self.done.fetch_add(count, Ordering::Relaxed) + count);
        }
        shown
    }
}

/// One episode.
fn attempt<C>(compare: &C, config: &PoolConfig, list: &[Operation]) -> Result<Tally, String>
where
    C: Fn(&PoolConfig, &[Operation]) -> Result<Tally, Difference>,
{
    match catch_unwind(AssertUnwindSafe(|| compare(config, list))) {
        Ok(outcome) => outcome.map_err(|difference| difference.to_string()),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            Err(format!("panic: {}", text.unwrap_or("without a message")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvledger_core::model::Comparison;
    use std::sync::Mutex;

    const SETTINGS: Settings = Settings { operations: 2 * EPISODE + 17, seed: 5, threads: 2 };

    #[test]
    fn threads_make_no_difference_and_the_count_is_exact() {
        let seen = Mutex::new(Vec::new());
        let two = run(SETTINGS, Comparison::run, |done| seen.lock().expect("no panic").push(done)).expect("they agree");
        let one = run(Settings { threads: 1, ..SETTINGS }, Comparison::run, |_| {}).expect("they agree");
        assert_eq!((&two, two.operations), (&one, SETTINGS.operations));
        assert_eq!(seen.into_inner().expect("no panic").iter().max(), Some(&SETTINGS.operations));
    }

    #[test]
    fn a_panic_of_the_pool_is_a_difference() {
        let panics = |_: &PoolConfig, list: &[Operation]| {
            assert!(list.len() < 3, "three at once");
            Ok(Tally::default())
        };
        let Err(Failure::Differs(short)) = run(SETTINGS, panics, |_| {}) else { panic!("it must fail") };
        assert_eq!((short.seed, short.operations.len(), short.what.as_str()), (5, 3, "panic: three at once"));
    }

    #[test]
    fn a_thread_that_dies_is_not_passed_over() {
        let died = run(SETTINGS, Comparison::run, |_| panic!("on purpose"));
        assert!(matches!(died, Err(Failure::Died)), "{died:?}");
        let one = run(SETTINGS, Comparison::run, |done| assert!(done != EPISODE, "on purpose, one of two"));
        assert!(matches!(one, Err(Failure::Died)), "{one:?}");
    }
}
