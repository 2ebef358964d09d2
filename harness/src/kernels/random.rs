//! Random numbers by seed: the same on every machine, for ever, because a failure is repeated by its seed.

/// A sequence of numbers (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// 0 to `bound` − 1; 0 for a bound of 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        (((self.number() >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// `low` to `high`, both included.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    /// One of these. Panics if there is none.
    pub fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }

    /// True once in `of` times.
    pub fn once_in(&mut self, of: u32) -> bool {
        self.below(of) == 0
    }

    /// From 0 on, below 1.
    pub fn fraction(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Normal, mean 0 and deviation 1, but for the tails: the sum of twelve.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.fraction()).sum::<f64>() - 6.0
    }

    /// The numbers 1 to `count` in some order, without repetition.
    pub fn shuffled(&mut self, count: u32) -> Vec<u32> {
        let mut numbers: Vec<u32> = (1..=count).collect();
        for last in (1..numbers.len()).rev() {
            let other = self.below(last as u32 + 1) as usize;
            numbers.swap(last, other);
        }
        numbers
    }
}
