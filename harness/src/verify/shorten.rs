//! A failed episode, made short.

use super::failure::Shortened;
use super::{EPISODE, attempt};
use crate::recording;
use kvledger_core::model::{Comparison, Difference, Operation, Tally, configuration, operations, shrink};
use kvledger_core::{Line, PoolConfig};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

/// The episode of `seed` with as few operations, and numbers as small, as `compare` still fails for.
pub fn shorten<C>(compare: &C, seed: u64) -> Shortened
where
    C: Fn(&PoolConfig, &[Operation]) -> Result<Tally, Difference>,
{
    let config = configuration(seed);
    quietly(|| {
        let short = shrink(&operations(seed, EPISODE as usize), |list| attempt(compare, &config, list).is_err());
        let what = attempt(compare, &config, &short).err();
        let what = what.unwrap_or_else(|| "not again: the same operations agreed the second time".to_string());
        let record = record(&config, &short);
        Shortened { seed, config, operations: short, what, record }
    })
}

/// The calls that `operations` become, as words of a dump; the last one may have panicked.
fn record(config: &PoolConfig, operations: &[Operation]) -> Vec<u64> {
    let mut ring = vec![Line::ZERO; Comparison::ring_lines(operations.len())];
    let run = || Comparison::run_recorded(config, operations, &mut ring).map(drop);
    // That it fails is why it is recorded.
    let _failed = panic::catch_unwind(AssertUnwindSafe(run));
    recording::words(&ring)
}

/// Does `work` without the messages of panics: a list that still panics is tried hundreds of times. The hook is the
/// process's, so one at a time.
fn quietly<T>(work: impl FnOnce() -> T) -> T {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let loud = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let result = work();
    panic::set_hook(loud);
    result
}
