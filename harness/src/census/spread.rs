//! How values are spread: percentiles, and their mean.

use crate::replay::Ranked;
use serde::Serialize;

/// Percentiles as in X: each is one of the values.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Spread {
    /// The least.
    pub min: u64,
    /// The sum over the count; 0 of no values.
    pub mean: f64,
    /// Half of them are at most this.
    pub p50: u64,
    /// 90 % are at most this.
    pub p90: u64,
    /// 95 % are at most this.
    pub p95: u64,
    /// 99 % are at most this.
    pub p99: u64,
    /// The greatest.
    pub p100: u64,
}

impl Spread {
    /// The spread of `values`; zeros if there are none.
    pub fn of<T: Copy + Ord + Default + Into<u64>>(values: &Ranked<T>) -> Spread {
        let all = values.values();
        let sum: u128 = all.iter().map(|&value| u128::from(value.into())).sum();
        let percentile = |percent| values.percentile(percent).into();
        Spread {
            min: all.first().map_or(0, |&value| value.into()),
            mean: if all.is_empty() { 0.0 } else { sum as f64 / all.len() as f64 },
            p50: percentile(50),
            p90: percentile(90),
            p95: percentile(95),
            p99: percentile(99),
            p100: percentile(100),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_and_the_mean_is_not() {
        let spread = Spread::of(&Ranked::new(vec![9u32, 1, 2, 2]));
        assert_eq!((spread.min, spread.mean, spread.p50, spread.p90, spread.p100), (1, 3.5, 2, 9, 9));
        let none = Spread::of(&Ranked::<u64>::new(vec![]));
        assert_eq!((none.min, none.mean, none.p99), (0, 0.0, 0));
    }
}
