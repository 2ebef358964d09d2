//! How long calls took: counts of durations, in steps of a thirty-second of an octave.

use serde::{Deserialize, Serialize};
use std::time::Duration;

const STEPS_LOG2: u32 = 5;
const STEPS: u64 = 1 << STEPS_LOG2;

/// Counts of nanoseconds.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

/// What half, 99 % and 99.9 % of the calls did not exceed, in ns.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Quantiles(pub f64, pub f64, pub f64);

impl Histogram {
    /// An empty one.
    pub fn new() -> Histogram {
        Histogram { counts: vec![0; ((64 - STEPS_LOG2) as usize + 1) << STEPS_LOG2], total: 0 }
    }

    /// One more call.
    #[inline(always)]
    pub fn add(&mut self, took: Duration) {
        self.counts[place(took.as_nanos() as u64)] += 1;
        self.total += 1;
    }

    /// All calls of another one.
    pub fn merge(&mut self, other: &Histogram) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.total += other.total;
    }

    /// The three figures; none of no calls.
    pub fn quantiles(&self) -> Option<Quantiles> {
        (self.total > 0).then(|| Quantiles(self.within(0.5), self.within(0.99), self.within(0.999)))
    }

    /// The smallest step that this part of the calls does not exceed.
    fn within(&self, part: f64) -> f64 {
        let rank = (self.total as f64 * part).ceil().max(1.0) as u64;
        let mut below = 0;
        for (place, count) in self.counts.iter().enumerate() {
            below += count;
            if below >= rank {
                return value(place);
            }
        }
        0.0
    }
}

fn place(ns: u64) -> usize {
    if ns < STEPS {
        return ns as usize;
    }
    let octave = ns.ilog2() - STEPS_LOG2;
    (((u64::from(octave) + 1) << STEPS_LOG2) + ((ns >> octave) & (STEPS - 1))) as usize
}

/// The smallest duration of a place.
fn value(place: usize) -> f64 {
    let (octave, step) = (place as u64 >> STEPS_LOG2, place as u64 & (STEPS - 1));
    if octave == 0 { step as f64 } else { ((STEPS + step) << (octave - 1)) as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_begins_where_the_one_before_ends() {
        for ns in (0..5000).chain([1 << 20, (1 << 40) + 12345, u64::MAX]) {
            let (low, high) = (value(place(ns)), if ns < 5000 { value(place(ns) + 1) } else { f64::INFINITY });
            assert!(low <= ns as f64 && (ns as f64) < high, "{ns}: {low} to {high}");
            assert!(low >= ns as f64 * 31.0 / 32.0, "{ns}: {low}");
        }
        assert!(place(u64::MAX) < Histogram::new().counts.len());
    }

    #[test]
    fn quantiles_are_of_all_calls() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.quantiles(), None);
        (0..990).for_each(|_| histogram.add(Duration::from_nanos(10)));
        let mut late = Histogram::new();
        (0..9).for_each(|_| late.add(Duration::from_nanos(20)));
        late.add(Duration::from_nanos(30));
        histogram.merge(&late);
        assert_eq!(histogram.quantiles(), Some(Quantiles(10.0, 10.0, 20.0)));
    }
}
