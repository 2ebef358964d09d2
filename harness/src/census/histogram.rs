//! Requests in bins: lengths by powers of two, arrivals by equal times.

use crate::replay::Ranked;
use crate::trace::Trace;
use serde::Serialize;

/// At most so many bins of arrivals, and at least two fifths of it.
const ARRIVAL_BINS: u64 = 60;

/// Bins that cover all values, in ascending order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Histogram(pub Vec<Bin>);

/// The requests from one value to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Bin {
    /// The least value in it.
    pub from: u64,
    /// The greatest.
    pub to: u64,
    /// How many.
    pub requests: u64,
}

impl Histogram {
    /// Lengths, from 2^k to 2^(k + 1) − 1 in a bin, from the shortest to the longest.
    pub fn of_lengths(lengths: &Ranked) -> Histogram {
        let all = lengths.values();
        let (Some(&least), Some(&most)) = (all.first(), all.last()) else { return Histogram(Vec::new()) };
        let bin = |power: u32| {
            let (from, to) = (1u64 << power, (2u64 << power) - 1);
            let up_to = |value: u64| all.partition_point(|&length| u64::from(length) <= value) as u64;
            Bin { from, to, requests: up_to(to) - up_to(from - 1) }
        };
        Histogram((least.max(1).ilog2()..=most.max(1).ilog2()).map(bin).collect())
    }

    /// Arrivals since the first, in bins of equal and round length; fewer where there are fewer microseconds.
    pub fn of_arrivals(trace: &Trace) -> Histogram {
        let times = || trace.requests.iter().map(|request| request.arrival_us);
        let (Some(first), Some(last)) = (times().next(), times().next_back()) else { return Histogram(Vec::new()) };
        let width = round_up((last - first + 1).div_ceil(ARRIVAL_BINS));
        let count = (last - first) / width + 1;
        let empty = |number| Bin { from: number * width, to: (number + 1) * width - 1, requests: 0 };
        let mut bins: Vec<Bin> = (0..count).map(empty).collect();
        for time in times() {
            if let Some(bin) = bins.get_mut(((time - first) / width) as usize) {
                bin.requests += 1;
            }
        }
        Histogram(bins)
    }

    /// The largest count of a bin.
    pub fn most(&self) -> u64 {
        self.0.iter().map(|bin| bin.requests).max().unwrap_or(0)
    }

    /// The bins put together so that there are at most `bins` of them, which is at least 1.
    pub fn at_most(&self, bins: usize) -> Histogram {
        let together = self.0.len().div_ceil(bins.max(1)).max(1);
        let joined = |part: &[Bin]| {
            let (first, last) = (part.first()?, part.last()?);
            Some(Bin { from: first.from, to: last.to, requests: part.iter().map(|bin| bin.requests).sum() })
        };
        Histogram(self.0.chunks(together).filter_map(joined).collect())
    }
}

/// The next of 1, 2, 5, 10, 20, ... from `least` on.
fn round_up(least: u64) -> u64 {
    let mut ten: u64 = 1;
    loop {
        let found = [1, 2, 5].into_iter().map(|times| ten.saturating_mul(times)).find(|&round| round >= least);
        match found {
            Some(round) => return round,
            None => ten = ten.saturating_mul(10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Normalise, load_text};

    #[test]
    fn lengths_go_by_powers_of_two() {
        let histogram = Histogram::of_lengths(&Ranked::new(vec![3, 4, 7, 8, 40]));
        let bins: Vec<_> = histogram.0.iter().map(|bin| (bin.from, bin.to, bin.requests)).collect();
        assert_eq!(bins, [(2, 3, 1), (4, 7, 2), (8, 15, 1), (16, 31, 0), (32, 63, 1)]);
        assert_eq!(histogram.most(), 2);
        assert_eq!(Histogram::of_lengths(&Ranked::new(vec![])).0, []);
        assert_eq!(Histogram::of_lengths(&Ranked::new(vec![u32::MAX])).most(), 1);
    }

    #[test]
    fn arrivals_go_by_equal_times_and_none_is_lost() {
        let rows: Vec<String> = (0..601).map(|time| format!("{},1,1", 50 + time)).collect();
        let text = format!("arrival_us,prompt_tokens,output_tokens\n{}\n", rows.join("\n"));
        let trace = load_text("t", &text, None, Normalise::default()).expect("a trace");
        let histogram = Histogram::of_arrivals(&trace);
        assert_eq!(histogram.0.iter().map(|bin| bin.requests).sum::<u64>(), 601);
        assert_eq!(histogram.0[0], Bin { from: 0, to: 19, requests: 20 });
        assert_eq!([1, 3, 11, 50, 51, u64::MAX].map(round_up), [1, 5, 20, 50, 100, u64::MAX]);
        let joined = histogram.at_most(10);
        assert!(joined.0.len() <= 10 && joined.0.iter().map(|bin| bin.requests).sum::<u64>() == 601);
        assert_eq!(joined.0[0].from, 0);
    }
}
