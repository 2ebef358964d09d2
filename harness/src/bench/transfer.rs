//! How long a cache line takes from one core to the other. A virtual machine may have its cores side by side or far
//! apart, and be moved between runs: figures of two threads can only be read beside this.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Instant;

/// Hand-overs in a measurement.
const HAND_OVERS: u32 = 20_000;

/// Looks before a waiting thread gives its core away, in case the other one has none.
const LOOKS: u32 = 10_000;

/// Nanoseconds from the write on one core to its being seen on the other.
pub fn measure() -> f64 {
    let ball = AtomicU32::new(0);
    let start = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| play(&ball, 1));
        play(&ball, 0);
    });
    start.elapsed().as_secs_f64() * 1e9 / f64::from(HAND_OVERS)
}

/// Waits for every second number, and writes the next one.
fn play(ball: &AtomicU32, first: u32) {
    for turn in (first..HAND_OVERS).step_by(2) {
        let mut looks = 0;
        while ball.load(Ordering::Acquire) != turn {
            looks += 1;
            if looks % LOOKS == 0 { thread::yield_now() } else { std::hint::spin_loop() }
        }
        ball.store(turn + 1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ball_comes_back() {
        assert!(measure() > 0.0);
    }
}
