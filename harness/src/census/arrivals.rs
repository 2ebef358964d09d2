//! When requests arrive.

use super::spread::Spread;
use crate::replay::Ranked;
use crate::trace::Trace;
use serde::Serialize;

const SECOND_US: u64 = 1_000_000;

/// When requests arrive.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Arrivals {
    /// The first, microseconds from the trace's zero.
    pub first_us: u64,
    /// The last.
    pub last_us: u64,
    /// From the first to the last.
    pub span_us: u64,
    /// Gaps between neighbours over their sum; nothing if all arrive at once.
    pub per_second: Option<f64>,
    /// Most arrivals in one second, of those that are counted from the first arrival on.
    pub busiest_second: u64,
    /// Microseconds between neighbours.
    pub gap_us: Spread,
}

impl Arrivals {
    /// The arrivals of `trace`, which is in order of arrival.
    pub fn of(trace: &Trace) -> Arrivals {
        let times = || trace.requests.iter().map(|request| request.arrival_us);
        let (first_us, last_us) = (times().next().unwrap_or(0), times().next_back().unwrap_or(0));
        let span_us = last_us.saturating_sub(first_us);
        let gaps: Vec<u64> = times().zip(times().skip(1)).map(|(before, after)| after - before).collect();
        let per_second = (span_us > 0).then(|| gaps.len() as f64 * SECOND_US as f64 / span_us as f64);
        let busiest_second = busiest(times().map(|time| (time - first_us) / SECOND_US));
        Arrivals { first_us, last_us, span_us, per_second, busiest_second, gap_us: Spread::of(&Ranked::new(gaps)) }
    }
}

/// How often the most frequent of ascending values comes.
fn busiest(values: impl Iterator<Item = u64>) -> u64 {
    let (mut most, mut run, mut last) = (0, 0, None);
    for value in values {
        run = if last == Some(value) { run + 1 } else { 1 };
        last = Some(value);
        most = most.max(run);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Normalise, load_text};

    fn arrivals(times_ms: &[u64]) -> Arrivals {
        let rows: Vec<String> = times_ms.iter().map(|time| format!("{time},1,1")).collect();
        let text = format!("arrival_ms,prompt_tokens,output_tokens\n{}\n", rows.join("\n"));
        Arrivals::of(&load_text("t", &text, None, Normalise::default()).expect("a trace"))
    }

    #[test]
    fn rates_are_gaps_over_the_span() {
        let found = arrivals(&[500, 900, 1400, 2500]);
        assert_eq!((found.first_us, found.last_us, found.span_us), (500_000, 2_500_000, 2_000_000));
        assert_eq!((found.per_second, found.busiest_second), (Some(1.5), 3));
        assert_eq!((found.gap_us.min, found.gap_us.p50, found.gap_us.p100), (400_000, 500_000, 1_100_000));
    }

    #[test]
    fn one_arrival_has_no_rate() {
        let found = arrivals(&[7]);
        assert_eq!((found.per_second, found.busiest_second, found.gap_us.p100), (None, 1, 0));
        assert_eq!(arrivals(&[7, 7, 7]).per_second, None);
    }
}
