//! Decimal numbers read exactly. A time such as 1700000000.123456 has more digits than a double keeps, and rule N asks
//! for the floor of the number that is written, not of its neighbour in base 2.

/// `digits · 10^exponent`. Never negative: no field of a trace may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decimal {
    digits: u128,
    exponent: i32,
}

/// Most significant digits that are taken: they fit in 128 bits.
const DIGITS_MAX: u32 = 30;

impl Decimal {
    /// Reads digits with at most one point and at most one exponent. `None` for anything else, for a negative number,
    /// and for more digits than any field can need.
    pub fn parse(text: &str) -> Option<Decimal> {
        let text = text.trim();
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i16>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let mut digits = 0u128;
        let mut count = 0;
        for byte in whole.bytes().chain(fraction.bytes()) {
            if !byte.is_ascii_digit() {
                return None;
            }
            digits = digits * 10 + u128::from(byte - b'0');
            count += u32::from(digits > 0);
            if count > DIGITS_MAX {
                return None;
            }
        }
        let fraction_len = i32::try_from(fraction.len()).ok()?;
        Some(Decimal { digits, exponent: i32::from(exponent).checked_sub(fraction_len)? })
    }

    /// The number, if it is a whole one of 64 bits.
    pub fn whole(self) -> Option<u64> {
        let floor = self.floor_scaled(0)?;
        let exact = self.exponent >= 0
            || 10u128.checked_pow(self.exponent.unsigned_abs()).is_some_and(|unit| self.digits.is_multiple_of(unit));
        (exact || self.digits == 0).then_some(floor)
    }

    /// `⌊number · 10^power⌋`, if it fits in 64 bits.
    pub fn floor_scaled(self, power: i32) -> Option<u64> {
        let exponent = self.exponent.checked_add(power)?;
        let unit = 10u128.checked_pow(exponent.unsigned_abs());
        let scaled = match (self.digits, exponent, unit) {
            (0, ..) => 0,
            (digits, 0.., Some(unit)) => digits.checked_mul(unit)?,
            (_, 0.., None) => return None,
            (digits, _, Some(unit)) => digits / unit,
            (_, _, None) => 0,
        };
        u64::try_from(scaled).ok()
    }
}

/// `value · 10^power` written out: the whole part, and the fraction with its point (empty if there is none).
pub fn shifted(value: u64, power: i32) -> (u128, String) {
    let unit = 10u128.pow(power.unsigned_abs().min(12));
    let value = u128::from(value);
    if power >= 0 {
        return (value * unit, String::new());
    }
    let width = power.unsigned_abs() as usize;
    (value / unit, format!(".{:0width$}", value % unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_refused() {
        for bad in ["", ".", "-1", "+1", "1.2.3", "1e", "e3", "0x10", "1 2", "inf", "1e99999"] {
            assert_eq!(Decimal::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn digits_are_kept_that_a_double_would_lose() {
        let time = Decimal::parse("1700000000.1234567").expect("a decimal");
        assert_eq!(time.floor_scaled(6), Some(1_700_000_000_123_456));
        assert_eq!(time.floor_scaled(7), Some(17_000_000_001_234_567));
        assert_eq!(time.whole(), None);
        assert_eq!(Decimal::parse("9007199254740993").expect("2^53 + 1").whole(), Some(9_007_199_254_740_993));
    }

    #[test]
    fn exponents_far_out_neither_overflow_nor_hang() {
        assert_eq!(Decimal::parse("1e300").expect("a decimal").floor_scaled(6), None);
        assert_eq!(Decimal::parse("1e-300").expect("a decimal").floor_scaled(6), Some(0));
        assert_eq!(Decimal::parse("1e-300").expect("a decimal").whole(), None);
        assert_eq!(Decimal::parse("0e300").expect("a decimal").whole(), Some(0));
        assert_eq!(Decimal::parse("12e2").expect("a decimal").whole(), Some(1200));
        assert_eq!(Decimal::parse("1200e-2").expect("a decimal").whole(), Some(12));
    }
}
