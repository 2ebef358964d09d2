//! Rule N8: what is the same for all formats. Rows without tokens are dropped and counted, the rest is sorted by arrival
//! (equal arrivals keep their order), cut, and its clock is scaled.

use super::Request;
use super::error::TraceError;
use super::field::ARRIVAL_US_MAX;
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

/// Applies the rule, except for dropping, to `requests` of the trace `name`. Says how many `first` left out. Errors: an
/// arrival that is past the clock when it is scaled.
pub(super) fn normalise(name: &str, requests: &mut Vec<Request>, wanted: Normalise) -> Result<usize, TraceError> {
    requests.sort_by_key(|request| request.arrival_us);
    let all = requests.len();
    requests.truncate(wanted.first.unwrap_or(usize::MAX));
    for request in requests.iter_mut() {
        let scaled = wanted.time_scale.scale(request.arrival_us).filter(|&us| us <= ARRIVAL_US_MAX);
        request.arrival_us = scaled.ok_or_else(|| {
            let found = format!("--time-scale {} moves an arrival past {ARRIVAL_US_MAX} us", wanted.time_scale);
            TraceError::new(name, found, "give a smaller --time-scale")
        })?;
    }
    Ok(all - requests.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_two_whole_numbers() {
        assert_eq!("1/8".parse(), Ok(TimeScale { num: 1, den: 8 }));
        assert_eq!("3".parse(), Ok(TimeScale { num: 3, den: 1 }));
        for bad in ["0/1", "1/0", "x", "1/", "/2", "0.5", "-1/2", "1/2/3", ""] {
            assert!(bad.parse::<TimeScale>().is_err(), "{bad}");
        }
    }
}
