//! Several replays of one trace, side by side on the cores.

use super::failure::Failure;
use super::prepared::{Prepared, Replayed};
use super::settings::Settings;
use crate::trace::Trace;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Replays `trace` with each of `settings`, on at most `threads` threads, one pool each; results in the order of
/// `settings`. `through[i]` counts the requests that case i is through with. Each case is run `runs` times (at least
/// once) in the same memory; the run that took the least time is the result, they only differ in that.
pub fn replay_all(
    trace: &Trace,
    settings: &[Settings],
    threads: usize,
    runs: u32,
    through: &[AtomicU64],
) -> Vec<Result<Replayed, Failure>> {
    assert_eq!(settings.len(), through.len(), "one count a case");
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<Replayed, Failure>>>> = settings.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let case = next.fetch_add(1, Ordering::Relaxed);
            let Some(settings) = settings.get(case) else { return };
            let result = Prepared::new(trace, settings).and_then(|prepared| best_of(prepared, runs, &through[case]));
            *results[case].lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(result);
        }
    };
    if threads <= 1 || settings.len() <= 1 {
        work();
    } else {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads.min(settings.len())).map(|_| scope.spawn(work)).collect();
            // One that dies leaves its case without a result, which is a failure of that case; the others go on.
            workers.into_iter().for_each(|worker| drop(worker.join()));
        });
    }
    let inner = |cell: Mutex<Option<_>>| cell.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    results.into_iter().map(|cell| inner(cell).unwrap_or(Err(Failure::Died))).collect()
}

fn best_of(mut prepared: Prepared, runs: u32, through: &AtomicU64) -> Result<Replayed, Failure> {
    let mut best = prepared.run(through)?;
    for _ in 1..runs {
        through.store(0, Ordering::Relaxed);
        let again = prepared.run(through)?;
        if again.elapsed < best.elapsed {
            best = again;
        }
    }
    Ok(best)
}
