//! What a locked instruction costs on this core while nobody else wants the line: the unit in which the work of a
//! lock-free structure is counted. It differs between processors by a factor of four, and goals in nanoseconds with it.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The same on the core for which the goals were set: an EPYC of the fourth generation, quiet.
pub const WHERE_GOALS_WERE_SET_NS: f64 = 2.4;

const EXCHANGES: u64 = 100_000;
const ROUNDS: u32 = 9;

/// Nanoseconds of a load and a compare-exchange that succeeds, in the best round.
pub fn measure() -> f64 {
    (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min)
}

fn round() -> f64 {
    let word = black_box(AtomicU64::new(0));
    let mut lost = 0u64;
    let start = Instant::now();
    for _ in 0..EXCHANGES {
        let now = word.load(Ordering::Relaxed);
        // Counted in a register: a store in the loop would be waited for by the next exchange.
        lost += u64::from(word.compare_exchange(now, now + 1, Ordering::AcqRel, Ordering::Relaxed).is_err());
    }
    let elapsed = start.elapsed();
    black_box(lost);
    elapsed.as_secs_f64() * 1e9 / EXCHANGES as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_takes_some_time() {
        assert!(measure() > 0.0);
    }
}
