//! One value of one row: the text as it stands in the file, and where it stands. All readers take their numbers
//! through here, so that every format refuses the same things with the same words.

use super::decimal::{self, Decimal};
use super::error::{Place, TraceError, excerpt};

/// Most tokens of a prompt or an output: 2^31 − 1, so that the two together fit in 32 bits.
pub const TOKENS_MAX: u64 = (1 << 31) - 1;
/// Latest arrival: 2^53 microseconds, about 285 years.
pub const ARRIVAL_US_MAX: u64 = 1 << 53;

/// A value of a row.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// The row.
    pub place: Place<'a>,
    /// The column or key.
    pub name: &'a str,
    /// The value as it stands there.
    pub text: &'a str,
}

/// What a time is counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl Unit {
    /// The power of ten that takes it to microseconds.
    const fn microseconds_exponent(self) -> i32 {
        match self {
            Unit::Seconds => 6,
            Unit::Milliseconds => 3,
            Unit::Microseconds => 0,
            Unit::Nanoseconds => -3,
        }
    }
}

impl<'a> Field<'a> {
    /// What to answer when the value is not what `want` says.
    pub fn refuse(&self, want: &str) -> TraceError {
        TraceError::new(self.place, format!("field `{}`: found {}", self.name, excerpt(self.text)), want)
    }

    /// A whole number from 0 to `max`. A decimal point is taken if only zeros follow it.
    pub fn whole(&self, max: u64) -> Result<u64, TraceError> {
        let value = Decimal::parse(self.text).and_then(|decimal| decimal.whole());
        value.filter(|&value| value <= max).ok_or_else(|| self.refuse(&format!("give a whole number from 0 to {max}")))
    }

    /// A count of tokens. 0 is a value: N8 drops and counts such rows.
    pub fn tokens(&self) -> Result<u32, TraceError> {
        self.whole(TOKENS_MAX).map(|tokens| tokens as u32)
    }

    /// A time, read as a decimal and floored to microseconds.
    pub fn time_us(&self, unit: Unit) -> Result<u64, TraceError> {
        let exponent = unit.microseconds_exponent();
        let value = Decimal::parse(self.text).and_then(|decimal| decimal.floor_scaled(exponent));
        let (whole, tenths) = decimal::shifted(ARRIVAL_US_MAX, -exponent);
        let want = || format!("give a decimal number of {unit:?} from 0 to {whole}{tenths}").to_lowercase();
        value.filter(|&us| us <= ARRIVAL_US_MAX).ok_or_else(|| self.refuse(&want()))
    }

    /// A list of whole numbers: JSON's `[1, 2]`, or in a CSV cell separated by spaces.
    pub fn ids(&self) -> Result<Vec<u64>, TraceError> {
        let text = self.text.trim();
        let (inner, separator) = match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            Some(inner) => (inner, ','),
            None => (text, ' '),
        };
        let parts = inner.split(separator).map(str::trim).filter(|part| !part.is_empty());
        let bad = |part| Field { text: part, ..*self }.refuse("give a list of whole numbers from 0 to 2^64 - 1");
        parts.map(|part| part.parse().map_err(|_| bad(part))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(text: &str) -> Field<'_> {
        Field { place: Place { file: "t.csv", line: 7 }, name: "n", text }
    }

    #[test]
    fn token_counts_end_at_two_to_the_31() {
        assert_eq!(field("2147483647").tokens(), Ok(u32::MAX >> 1));
        assert_eq!(field("12.0").tokens(), Ok(12));
        for bad in
            ["2147483648", "-1", "1.5", "", "x", "\"3\"", "NaN", "1e99", "99999999999999999999999999999999999999999"]
        {
            let message = field(bad).tokens().expect_err(bad).to_string();
            assert!(message.starts_with("t.csv, line 7: field `n`: found `"), "{message}");
            assert!(message.ends_with("give a whole number from 0 to 2147483647"), "{message}");
        }
    }

    #[test]
    fn times_are_floored_to_microseconds() {
        assert_eq!(field("1.2345678").time_us(Unit::Seconds), Ok(1_234_567));
        assert_eq!(field("1.2345678").time_us(Unit::Milliseconds), Ok(1_234));
        assert_eq!(field("999.9").time_us(Unit::Microseconds), Ok(999));
        assert_eq!(field("46926808").time_us(Unit::Nanoseconds), Ok(46_926));
        assert_eq!(field("3e3").time_us(Unit::Milliseconds), Ok(3_000_000));
        assert_eq!(
            field("-3").time_us(Unit::Seconds).expect_err("negative").to_string(),
            "t.csv, line 7: field `n`: found `-3`; give a decimal number of seconds from 0 to 9007199254.740992"
        );
        assert!(field("9007199254.741").time_us(Unit::Seconds).is_err());
    }

    #[test]
    fn ids_come_as_json_or_separated_by_spaces() {
        assert_eq!(field("[1, 2,3]").ids(), Ok(vec![1, 2, 3]));
        assert_eq!(field("1 2  3").ids(), Ok(vec![1, 2, 3]));
        assert_eq!(field("[]").ids(), Ok(vec![]));
        assert!(field("[1, -2]").ids().expect_err("negative").to_string().contains("found `-2`"));
    }
}
