//! Rule N8: what is the same for all formats. Rows without tokens are dropped and counted, the rest is sorted by arrival
//! (equal arrivals keep their order), cut, and its clock is scaled.

use super::error::TraceError;
use super::field::ARRIVAL_US_MAX;
use super::format::Format;
use super::{Request, Trace};
use std::fmt;
use std::str::FromStr;

/// By how much times are multiplied: 1/8 makes a trace arrive eight times as fast.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeScale {
    /// Numerator, at least 1.
    pub num: u32,
    /// Denominator, at least 1.
    pub den: u32,
}

impl TimeScale {
    /// As recorded.
    pub const ONE: TimeScale = TimeScale { num: 1, den: 1 };

    /// `arrival_us · num div den`.
    fn scale(self, arrival_us: u64) -> Option<u64> {
        u64::try_from(u128::from(arrival_us) * u128::from(self.num) / u128::from(self.den)).ok()
    }
}

impl FromStr for TimeScale {
    type Err = String;

    fn from_str(text: &str) -> Result<TimeScale, String> {
        let want =
            || "give a fraction of two whole numbers from 1 on, such as 1/8, or one of them, such as 2".to_string();
        let (num, den) = text.split_once('/').unwrap_or((text, "1"));
        let part = |part: &str| part.trim().parse().ok().filter(|&part: &u32| part > 0).ok_or_else(want);
        Ok(TimeScale { num: part(num)?, den: part(den)? })
    }
}

impl fmt::Display for TimeScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.num, self.den)
    }
}

/// What the caller chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Normalise {
    /// Keep only so many requests, the first to arrive.
    pub first: Option<usize>,
    /// The time scale.
    pub time_scale: TimeScale,
}

impl Default for Normalise {
    fn default() -> Normalise {
        Normalise { first: None, time_scale: TimeScale::ONE }
    }
}

/// What a reader collects: rows in the order of the files.
#[derive(Debug, Default)]
pub struct Rows {
    requests: Vec<Request>,
    ids: Vec<u64>,
    dropped: usize,
}

impl Rows {
    /// Adds a row; one without tokens is only counted.
    pub fn push(&mut self, arrival_us: u64, prompt: u32, output: u32, tenant: u64, ids: &[u64]) {
        if prompt == 0 || output == 0 {
            self.dropped += 1;
            return;
        }
        let (ids_first, ids_count) = (self.ids.len(), ids.len());
        self.ids.extend_from_slice(ids);
        self.requests.push(Request { arrival_us, prompt, output, tenant, ids_first, ids_count });
    }

    /// Rows so far, dropped ones included.
    pub fn count(&self) -> usize {
        self.requests.len() + self.dropped
    }

    /// Applies N8. `name` is the trace, for messages.
    pub fn into_trace(
        mut self,
        name: &str,
        format: Format,
        id_tokens: u32,
        normalise: Normalise,
    ) -> Result<Trace, TraceError> {
        if self.requests.is_empty() {
            let found =
                format!("no request left ({} rows, {} without prompt or output tokens)", self.count(), self.dropped);
            return Err(TraceError::new(name, found, "give a trace with at least one request that has both"));
        }
        self.requests.sort_by_key(|request| request.arrival_us);
        self.requests.truncate(normalise.first.unwrap_or(usize::MAX));
        for request in &mut self.requests {
            let scaled = normalise.time_scale.scale(request.arrival_us).filter(|&us| us <= ARRIVAL_US_MAX);
            request.arrival_us = scaled.ok_or_else(|| {
                let found = format!("--time-scale {} moves an arrival past {ARRIVAL_US_MAX} us", normalise.time_scale);
                TraceError::new(name, found, "give a smaller --time-scale")
            })?;
        }
        Ok(Trace { format, requests: self.requests, dropped_rows: self.dropped, id_tokens, ids: self.ids })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Rows {
        let mut rows = Rows::default();
        rows.push(30, 1, 1, 0, &[7]);
        rows.push(20, 0, 5, 0, &[]);
        rows.push(11, 2, 1, 0, &[8, 9]);
        rows.push(30, 3, 1, 0, &[]);
        rows.push(5, 4, 0, 0, &[6]);
        rows
    }

    fn trace(normalise: Normalise) -> Result<Trace, TraceError> {
        rows().into_trace("t", Format::Mooncake, 512, normalise)
    }

    #[test]
    fn dropped_then_sorted_then_cut_then_scaled() {
        let trace = trace(Normalise { first: Some(2), time_scale: TimeScale { num: 1, den: 4 } }).expect("a trace");
        let seen: Vec<_> = trace.requests.iter().map(|r| (r.arrival_us, r.prompt)).collect();
        assert_eq!(seen, [(2, 2), (7, 1)], "equal arrivals keep their order, and scaling floors");
        assert_eq!(trace.dropped_rows, 2);
        assert_eq!(trace.ids(&trace.requests[0]), [8, 9]);
        assert_eq!(trace.ids(&trace.requests[1]), [7]);
    }

    #[test]
    fn a_trace_without_requests_is_refused() {
        let mut empty = Rows::default();
        empty.push(0, 0, 1, 0, &[]);
        let message = empty.into_trace("t.csv", Format::Azure, 1, Normalise::default()).expect_err("empty").to_string();
        assert!(message.starts_with("t.csv: no request left (1 rows, 1 without"), "{message}");
    }

    #[test]
    fn a_scale_that_leaves_the_clock_is_refused() {
        let mut late = Rows::default();
        late.push(ARRIVAL_US_MAX, 1, 1, 0, &[]);
        let normalise = Normalise { first: None, time_scale: TimeScale { num: 2, den: 1 } };
        assert!(late.into_trace("t", Format::Azure, 1, normalise).is_err());
    }

    #[test]
    fn fractions_are_two_whole_numbers() {
        assert_eq!("1/8".parse(), Ok(TimeScale { num: 1, den: 8 }));
        assert_eq!("3".parse(), Ok(TimeScale { num: 3, den: 1 }));
        for bad in ["0/1", "1/0", "x", "1/", "/2", "0.5", "-1/2", "1/2/3", ""] {
            assert!(bad.parse::<TimeScale>().is_err(), "{bad}");
        }
    }
}
