//! A share with both of its numbers, because a percentage without its denominator says nothing.

/// `numerator / denominator`, exact and not reduced: 235/300 stays 235/300, so both can be shown. The functions that
/// make one never give a denominator of 0 and say what the denominator counts.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ratio {
    /// The part.
    pub numerator: u64,
    /// The whole.
    pub denominator: u64,
}

impl Ratio {
    /// The nearest that a double can do: exact up to 2^53 on both sides, else within two roundings.
    pub const fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}
