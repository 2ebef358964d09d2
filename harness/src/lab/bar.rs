//! Bars, in characters that every terminal has.

/// `#` in proportion: `part` of `whole` on `width` characters, rounded to the nearest; what is not nothing has one.
pub fn bar(part: f64, whole: f64, width: usize) -> String {
    if !(part > 0.0 && whole > 0.0) {
        return String::new();
    }
    let length = (part / whole * width as f64).round() as usize;
    "#".repeat(length.clamp(1, width.max(1)))
}

/// A line of `width` characters divided among `parts` in proportion to their counts, and dots for the rest of `whole`.
/// Ends of parts are rounded, so that the line is never too long.
pub fn divided(parts: &[(char, u64)], whole: u64, width: usize) -> String {
    let mut line = String::new();
    let (mut sum, mut end) = (0u128, 0);
    for &(mark, count) in parts {
        sum += u128::from(count);
        let next = (sum * width as u128 / u128::from(whole.max(1))).min(width as u128) as usize;
        line.extend(std::iter::repeat_n(mark, next - end));
        end = next;
    }
    line.extend(std::iter::repeat_n('.', width - end));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_in_proportion_and_never_too_long() {
        assert_eq!((bar(1.0, 2.0, 10).len(), bar(2.0, 2.0, 10).len(), bar(1e-9, 1.0, 10).len()), (5, 10, 1));
        assert_eq!((bar(0.0, 1.0, 10), bar(1.0, 0.0, 10), bar(f64::NAN, 1.0, 10)), Default::default());
        assert_eq!(divided(&[('#', 18), ('+', 10), ('!', 4)], 40, 40), "##################++++++++++!!!!........");
        assert_eq!(divided(&[('#', u64::MAX), ('+', u64::MAX)], u64::MAX, 7), "#######");
        assert_eq!(divided(&[('#', 1)], 3, 4), "#...");
        assert_eq!(divided(&[], 0, 3), "...");
    }
}
