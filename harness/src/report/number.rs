//! Numbers as people read them.

/// Digits in groups of three.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `part / whole` to one decimal, rounded half up, in whole numbers.
pub fn mean(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_string();
    }
    let tenths = (u128::from(part) * 20 / u128::from(whole)).div_ceil(2);
    let (whole, tenth) = (tenths / 10, tenths % 10);
    format!("{}.{tenth}", grouped(u64::try_from(whole).unwrap_or(u64::MAX)))
}

/// `part / whole` in per cent, to one decimal.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_string();
    }
    format!("{:.1} %", part as f64 * 100.0 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_rounded() {
        assert_eq!([0, 12, 999, 1000, 1_234_567].map(grouped), ["0", "12", "999", "1,000", "1,234,567"]);
        assert_eq!(
            (mean(1, 3), mean(2, 3), mean(12_345, 1), mean(0, 0)),
            ("0.3".into(), "0.7".into(), "12,345.0".into(), "-".into())
        );
        assert_eq!(mean(5, 100), "0.1", "half up");
        assert_eq!((percent(1, 8), percent(0, 0)), ("12.5 %".into(), "-".into()));
    }
}
