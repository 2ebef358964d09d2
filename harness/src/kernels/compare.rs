//! Whether what a kernel wrote is what it must be. Infinities and NaN are looked at first: a NaN is equal to nothing and
//! hides in every mean, and an infinity makes every error infinite. Then errors: of the whole, and of each row, so that
//! one wrong row among thousands is seen. What is wrong is said with the worst place, both numbers and their distance.

use super::numbers::Element;
use std::fmt;

/// How far a result may be off, as shares of the norm of what it must be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// Of everything together: √Σ(found − expected)² over √Σ expected².
    pub whole: f64,
    /// Of one row by itself.
    pub row: f64,
}

/// How far it is off.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Error {
    /// As [`Tolerance::whole`].
    pub whole: f64,
    /// The largest of a row.
    pub row: f64,
}

impl Error {
    /// The larger of the two, as a share of what is allowed: at most 1 for what is right.
    pub fn share(&self, tolerance: &Tolerance) -> f64 {
        (self.whole / tolerance.whole).max(self.row / tolerance.row)
    }
}

/// What does not agree.
#[derive(Clone, PartialEq, Debug)]
pub struct Mismatch(pub String);

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Numbers in rows of equal length, and what the places are called.
pub struct Numbers<'a> {
    /// What they are: "output", "LSE".
    pub what: &'a str,
    /// What they must be.
    pub expected: &'a [f64],
    /// What they are, in the same order.
    pub found: &'a [f64],
    /// Elements of a row.
    pub row: usize,
    /// The type that was written, for distances in units of its last place; `None` for binary32.
    pub element: Option<Element>,
    /// What a row is called: "token 3, head 2".
    pub name: &'a dyn Fn(usize) -> String,
}

impl Numbers<'_> {
    /// The error, if it is within the tolerance. A row that must be 0 must be 0; what is below the type's normal numbers
    /// may be off by as much.
    pub fn close(&self, tolerance: &Tolerance) -> Result<Error, Mismatch> {
        assert_eq!(self.expected.len(), self.found.len(), "{}", self.what);
        self.same_kinds()?;
        let (mut all, mut error) = (Norms::default(), Error::default());
        let mut worst_row = 0;
        for row in 0..self.expected.len() / self.row.max(1) {
            let range = row * self.row..(row + 1) * self.row;
            let norms = Norms::of(&self.expected[range.clone()], &self.found[range]);
            let least = if norms.expected == 0.0 { 0.0 } else { self.least() * (self.row as f64).sqrt() };
            let share = norms.share(least);
            all.add(&norms);
            if share > error.row {
                (error.row, worst_row) = (share, row);
            }
        }
        error.whole = all.share(self.least() * (self.expected.len() as f64).sqrt());
        if error.share(tolerance) <= 1.0 {
            return Ok(error);
        }
        let (said, limit, by) = match error.row > tolerance.row {
            true => (error.row, tolerance.row, "the worst row"),
            false => (error.whole, tolerance.whole, "all rows together"),
        };
        let place = self.worst(worst_row);
        Err(Mismatch(format!("{}: relative error {said:.2e} of {by}, {limit:.1e} is allowed; {place}", self.what)))
    }

    /// The error of numbers that are compared one by one: at most `limit` · max(1, |expected|). The largest share of it.
    pub fn each_close(&self, limit: f64) -> Result<f64, Mismatch> {
        assert_eq!(self.expected.len(), self.found.len(), "{}", self.what);
        self.same_kinds()?;
        let off = |at: usize| {
            let (expected, found) = (self.expected[at], self.found[at]);
            // Kinds are the same: what is not finite is right.
            if !expected.is_finite() { 0.0 } else { (found - expected).abs() / (limit * expected.abs().max(1.0)) }
        };
        let worst = (0..self.expected.len()).max_by(|a, b| off(*a).total_cmp(&off(*b)));
        let Some(worst) = worst else { return Ok(0.0) };
        match off(worst) {
            share if share <= 1.0 => Ok(share),
            share => Err(Mismatch(format!("{}: {share:.1} times what is allowed; {}", self.what, self.at(worst)))),
        }
    }

    /// Where numbers of the type lose their precision, and where exponentials end in binary32.
    fn least(&self) -> f64 {
        match self.element {
            Some(Element::F16) => 6.1e-5,
            _ => 1e-30,
        }
    }

    /// NaN where NaN is expected, infinities where they are, and nowhere else.
    fn same_kinds(&self) -> Result<(), Mismatch> {
        let kind = |number: f64| match number {
            number if number.is_nan() => 0,
            number if number == f64::INFINITY => 1,
            number if number == f64::NEG_INFINITY => 2,
            _ => 3,
        };
        let pairs = self.expected.iter().zip(self.found).enumerate();
        let mut other = pairs.filter(|(_, (expected, found))| kind(**expected) != kind(**found)).map(|(at, _)| at);
        let Some(first) = other.next() else { return Ok(()) };
        let more = other.count();
        let more = if more == 0 { String::new() } else { format!(", and {more} more like it") };
        Err(Mismatch(format!("{}: {}{more}", self.what, self.at(first))))
    }

    /// The worst element of a row.
    fn worst(&self, row: usize) -> String {
        let off = |at: usize| {
            let error = (self.found[at] - self.expected[at]).abs();
            if self.expected[at].is_finite() { error } else { 0.0 }
        };
        let range = row * self.row..(row + 1) * self.row;
        range.max_by(|a, b| off(*a).total_cmp(&off(*b))).map_or_else(String::new, |at| self.at(at))
    }

    /// One place, with both numbers.
    fn at(&self, at: usize) -> String {
        let (row, column) = (at / self.row, at % self.row);
        let (expected, found) = (self.expected[at], self.found[at]);
        let place = if self.row == 1 { (self.name)(row) } else { format!("{}, element {column}", (self.name)(row)) };
        let units = self.units(expected, found).map_or_else(String::new, |units| format!(", {units} units apart"));
        format!("{place}: expected {expected:.6}, found {found:.6}{units}")
    }

    /// Numbers of the type between the two.
    fn units(&self, expected: f64, found: f64) -> Option<u64> {
        if !(expected.is_finite() && found.is_finite()) {
            return None;
        }
        let place = |number: f64| match self.element {
            Some(element) => {
                let bits = element.nearest(number.abs());
                if number < 0.0 { -i64::from(bits) } else { i64::from(bits) }
            }
            None => {
                let bits = i64::from((number.abs() as f32).to_bits());
                if number < 0.0 { -bits } else { bits }
            }
        };
        Some(place(expected).abs_diff(place(found)))
    }
}

/// Sums of squares.
#[derive(Clone, Copy, Default)]
struct Norms {
    error: f64,
    expected: f64,
}

impl Norms {
    fn of(expected: &[f64], found: &[f64]) -> Norms {
        let mut norms = Norms::default();
        for (expected, found) in expected.iter().zip(found) {
            // Equal infinities, and NaN where it must be, are no error.
            if expected.is_finite() {
                norms.error += (found - expected).powi(2);
                norms.expected += expected.powi(2);
            }
        }
        norms
    }

    fn add(&mut self, other: &Norms) {
        self.error += other.error;
        self.expected += other.expected;
    }

    /// Of the expected norm, or of `least` where that is more.
    fn share(&self, least: f64) -> f64 {
        if self.error == 0.0 { 0.0 } else { self.error.sqrt() / self.expected.sqrt().max(least) }
    }
}

/// Bits that have one right answer; `element` says which are NaN, of which any will do. `name` says what a place is.
pub fn same_bits(
    what: &str,
    element: Element,
    expected: &[u16],
    found: &[u16],
    name: &dyn Fn(usize) -> String,
) -> Result<(), Mismatch> {
    let is_same = |expected: u16, found: u16| {
        expected == found || (element.value(expected).is_nan() && element.value(found).is_nan())
    };
    first_other(what, expected.len(), found.len(), name, |at| {
        let (expected, found) = (expected[at], found[at]);
        let shown = || {
            let (of, is) = (element.value(expected), element.value(found));
            format!("expected {expected:#06x} ({of}), found {found:#06x} ({is})")
        };
        (!is_same(expected, found)).then(shown)
    })
}

/// Anything that has one right answer.
pub fn same<T: PartialEq + fmt::Debug>(
    what: &str,
    expected: &[T],
    found: &[T],
    name: &dyn Fn(usize) -> String,
) -> Result<(), Mismatch> {
    first_other(what, expected.len(), found.len(), name, |at| {
        let (expected, found) = (&expected[at], &found[at]);
        (expected != found).then(|| format!("expected {expected:?}, found {found:?}"))
    })
}

fn first_other(
    what: &str,
    expected: usize,
    found: usize,
    name: &dyn Fn(usize) -> String,
    differs: impl Fn(usize) -> Option<String>,
) -> Result<(), Mismatch> {
    if expected != found {
        return Err(Mismatch(format!("{what}: {expected} expected, {found} found")));
    }
    let mut others = (0..expected).filter_map(|at| Some((at, differs(at)?)));
    let Some((at, shown)) = others.next() else { return Ok(()) };
    let more = others.count();
    let more = if more == 0 { String::new() } else { format!(", and {more} more that differ") };
    Err(Mismatch(format!("{what}: {}: {shown}{more}", name(at))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLERANCE: Tolerance = Tolerance { whole: 1e-3, row: 1e-2 };

    fn close(expected: &[f64], found: &[f64]) -> Result<Error, Mismatch> {
        let name = |row: usize| format!("row {row}");
        let numbers = Numbers { what: "output", expected, found, row: 4, element: Some(Element::F16), name: &name };
        numbers.close(&TOLERANCE)
    }

    fn said(answer: Result<Error, Mismatch>) -> String {
        answer.expect_err("it is wrong").to_string()
    }

    #[test]
    fn what_is_near_enough_is_right() {
        let expected = [1.0, -2.0, 3.0, 4.0];
        assert_eq!(close(&expected, &expected), Ok(Error::default()));
        let error = close(&expected, &[1.0, -2.0, 3.0, 4.001]).expect("near");
        assert!(error.share(&TOLERANCE) > 0.1 && error.share(&TOLERANCE) < 0.2, "{error:?}");
    }

    #[test]
    fn nan_and_infinity_are_seen_first() {
        let text = said(close(&[1.0, 2.0, 3.0, 4.0], &[1.0, f64::NAN, 3.0, 9.0]));
        assert_eq!(text, "output: row 0, element 1: expected 2.000000, found NaN");
        let text = said(close(&[0.0; 4], &[0.0, f64::INFINITY, f64::NEG_INFINITY, 0.0]));
        assert!(text.contains("element 1") && text.ends_with("and 1 more like it"), "{text}");
        assert!(close(&[f64::NEG_INFINITY; 4], &[f64::INFINITY; 4]).is_err());
        assert!(close(&[f64::NAN, f64::NEG_INFINITY, 0.0, 1.0], &[f64::NAN, f64::NEG_INFINITY, 0.0, 1.0]).is_ok());
    }

    /// One row of a thousand: small in the whole, and seen all the same.
    #[test]
    fn one_wrong_row_is_seen_among_many() {
        let expected: Vec<f64> = (0..4_000).map(|at| f64::from(at % 7) - 3.0).collect();
        let mut found = expected.clone();
        found[2_001] += 0.06;
        let text = said(close(&expected, &found));
        assert!(text.contains("of the worst row") && text.contains("row 500, element 1"), "{text}");
        assert!(text.contains("units apart"), "{text}");
    }

    #[test]
    fn a_row_that_must_be_nothing_is_nothing() {
        assert!(close(&[0.0; 4], &[0.0; 4]).is_ok());
        assert!(said(close(&[0.0; 4], &[0.0, 0.0, 1e-9, 0.0])).contains("element 2"));
    }

    #[test]
    fn single_numbers_are_compared_by_their_size() {
        let name = |row: usize| format!("row {row}");
        let of = |expected: &[f64], found: &[f64]| {
            Numbers { what: "LSE", expected, found, row: 1, element: None, name: &name }.each_close(1e-5)
        };
        assert_eq!(of(&[], &[]), Ok(0.0));
        assert!(of(&[-80_000.0, f64::NEG_INFINITY], &[-80_000.5, f64::NEG_INFINITY]).is_ok());
        assert_eq!(of(&[f64::NAN, 3.0, f64::INFINITY], &[f64::NAN, 3.0, f64::INFINITY]), Ok(0.0));
        assert!(of(&[f64::NAN, 2.0], &[f64::NAN, 2.1]).expect_err("too far").to_string().contains("row 1"));
        let text = of(&[1.0, 2.0], &[1.0, 2.1]).expect_err("too far").to_string();
        assert!(text.contains("row 1: expected 2.000000, found 2.100000"), "{text}");
    }

    #[test]
    fn bits_differ_unless_both_are_nan() {
        let name = |at: usize| format!("place {at}");
        assert_eq!(same_bits("keys", Element::F16, &[1, 0x7E01], &[1, 0xFFFF], &name), Ok(()));
        let text = same_bits("keys", Element::F16, &[1, 0x3C00, 2], &[1, 0x3C01, 3], &name).expect_err("not the same");
        assert!(text.0.starts_with("keys: place 1: expected 0x3c00 (1)") && text.0.ends_with("1 more that differ"));
        assert!(same("sums", &[1, 2], &[1], &name).is_err());
    }
}
