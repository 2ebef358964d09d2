//! Numbers from a seed: the same ones every time.

/// Splitmix64, by Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// Another sequence for each seed.
    pub const fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number.
    pub const fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// One of 0 up to `end`, which is above 0.
    pub const fn below(&mut self, end: u64) -> u64 {
        ((self.number() as u128 * end as u128) >> 64) as u64
    }
}
