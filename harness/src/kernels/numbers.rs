//! The number types of caches, by their definition: a sign, an exponent, a mantissa. The kernels convert by bit tricks and
//! instructions; here a value is looked for among those that the type has, in binary64, which holds them all exactly.

use kvledger_cuda::raw::{KVK_BF16, KVK_E4M3, KVK_E5M2, KVK_F16, KVK_INT8};

/// A type of numbers in a cache; queries and outputs have one of [`Element::WIDE`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    /// IEEE binary16.
    F16,
    /// The upper half of binary32.
    Bf16,
    /// 8 bits, 3 of mantissa; no infinities.
    E4m3,
    /// 8 bits, 2 of mantissa.
    E5m2,
    /// Two's complement, -127 to 127.
    Int8,
}

/// How a floating type is made of bits.
struct Format {
    exponent_bits: u32,
    mantissa_bits: u32,
    /// Whether the highest exponent is infinity and NaN only. Without, it has numbers, and one NaN.
    is_ieee: bool,
}

impl Element {
    /// All of them.
    pub const ALL: [Element; 5] = [Element::F16, Element::Bf16, Element::E4m3, Element::E5m2, Element::Int8];
    /// Those of 16 bits.
    pub const WIDE: [Element; 2] = [Element::F16, Element::Bf16];

    /// `KVK_…`.
    pub const fn number(self) -> u32 {
        match self {
            Element::F16 => KVK_F16,
            Element::Bf16 => KVK_BF16,
            Element::E4m3 => KVK_E4M3,
            Element::E5m2 => KVK_E5M2,
            Element::Int8 => KVK_INT8,
        }
    }

    /// Bytes of one.
    pub const fn bytes(self) -> usize {
        if self.is_wide() { 2 } else { 1 }
    }

    /// Whether it has 16 bits.
    pub const fn is_wide(self) -> bool {
        matches!(self, Element::F16 | Element::Bf16)
    }

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Element::F16 => "f16",
            Element::Bf16 => "bf16",
            Element::E4m3 => "e4m3",
            Element::E5m2 => "e5m2",
            Element::Int8 => "int8",
        }
    }

    /// The byte that memory nobody has written is full of: NaN where the type has one, else far from every mean.
    pub const fn poison(self) -> u8 {
        if matches!(self, Element::Int8) { 127 } else { 0xFF }
    }

    /// The largest finite value.
    pub fn largest(self) -> f64 {
        match self.format() {
            None => 127.0,
            Some(format) => format.largest(),
        }
    }

    /// What bits stand for. Bits beyond the type's are not looked at.
    pub fn value(self, bits: u16) -> f64 {
        match self.format() {
            None => f64::from(bits as u8 as i8),
            Some(format) => format.value(bits),
        }
    }

    /// The nearest number of the type, of two the one with an even mantissa. What is too large becomes infinity where
    /// there are 16 bits, and else the largest number; NaN stays NaN, and 0 where there is none.
    pub fn nearest(self, value: f64) -> u16 {
        match self.format() {
            None if value.is_nan() => 0,
            None => u16::from(value.round_ties_even().clamp(-127.0, 127.0) as i8 as u8),
            Some(format) => format.nearest(value, self.is_wide()),
        }
    }

    const fn format(self) -> Option<Format> {
        Some(match self {
            Element::F16 => Format { exponent_bits: 5, mantissa_bits: 10, is_ieee: true },
            Element::Bf16 => Format { exponent_bits: 8, mantissa_bits: 7, is_ieee: true },
            Element::E4m3 => Format { exponent_bits: 4, mantissa_bits: 3, is_ieee: false },
            Element::E5m2 => Format { exponent_bits: 5, mantissa_bits: 2, is_ieee: true },
            Element::Int8 => return None,
        })
    }
}

impl Format {
    const fn bias(&self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// The highest exponent, all ones.
    const fn top(&self) -> u16 {
        (1 << self.exponent_bits) - 1
    }

    const fn mantissas(&self) -> u16 {
        1 << self.mantissa_bits
    }

    /// Exponent and mantissa of the largest finite number.
    const fn largest_bits(&self) -> u16 {
        let infinity = self.top() << self.mantissa_bits;
        if self.is_ieee { infinity - 1 } else { infinity | (self.mantissas() - 2) }
    }

    fn largest(&self) -> f64 {
        self.value(self.largest_bits())
    }

    fn value(&self, bits: u16) -> f64 {
        let sign = if bits >> (self.exponent_bits + self.mantissa_bits) & 1 == 1 { -1.0 } else { 1.0 };
        let exponent = bits >> self.mantissa_bits & self.top();
        let mantissa = bits & (self.mantissas() - 1);
        if exponent == self.top() && self.is_ieee {
            return if mantissa == 0 { sign * f64::INFINITY } else { f64::NAN };
        }
        if exponent == self.top() && mantissa == self.mantissas() - 1 {
            return f64::NAN;
        }
        let whole = f64::from(mantissa) + if exponent == 0 { 0.0 } else { f64::from(self.mantissas()) };
        sign * whole * self.unit(i32::from(exponent.max(1)))
    }

    /// The distance of neighbouring numbers of this exponent.
    fn unit(&self, exponent: i32) -> f64 {
        2f64.powi(exponent - self.bias() - self.mantissa_bits as i32)
    }

    fn nearest(&self, value: f64, overflows: bool) -> u16 {
        let sign = u16::from(value.is_sign_negative()) << (self.exponent_bits + self.mantissa_bits);
        let infinity = self.top() << self.mantissa_bits;
        if value.is_nan() {
            return sign | infinity | (self.mantissas() - 1);
        }
        let magnitude = value.abs();
        // Half a unit beyond the largest is where the next number would be nearer, or even.
        let last = self.largest_bits() >> self.mantissa_bits;
        if magnitude >= self.largest() + self.unit(i32::from(last)) / 2.0 {
            return sign | if overflows { infinity } else { self.largest_bits() };
        }
        // The exponent of the value itself, but no lower than that of subnormals.
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023 + self.bias()).max(1);
        let units = (magnitude / self.unit(exponent)).round_ties_even() as u32;
        // A mantissa that is rounded up to the next power of two carries into the exponent, as it should.
        let below = if exponent == 1 { 0 } else { (exponent as u32 - 1) << self.mantissa_bits };
        let bits = below + units;
        sign | (bits as u16).min(self.largest_bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(element: Element) -> impl Iterator<Item = u16> {
        0..=(if element.is_wide() { u16::MAX } else { 255 })
    }

    #[test]
    fn every_number_is_its_own_nearest() {
        for element in Element::ALL {
            for bits in codes(element).filter(|bits| !(element == Element::Int8 && *bits == 128)) {
                let value = element.value(bits);
                let nearest = element.nearest(value);
                if value.is_nan() {
                    assert!(element.value(nearest).is_nan());
                } else if value.is_infinite() && !element.is_wide() {
                    assert_eq!(element.value(nearest).abs(), element.largest(), "eight bits saturate");
                } else {
                    assert_eq!(nearest, bits, "{} {bits:#x} = {value}", element.name());
                }
            }
        }
    }

    /// Between two neighbours: the middle goes to the even one, what is beside it to its own side.
    #[test]
    fn the_middle_goes_to_the_even_one() {
        for element in Element::ALL {
            for bits in codes(element) {
                let (low, high) = (element.value(bits), element.value(bits.wrapping_add(1)));
                let is_pair = high > low && high.is_finite() && low.is_finite() && low >= 0.0;
                if !is_pair {
                    continue;
                }
                let middle = low + (high - low) / 2.0;
                let even = if bits % 2 == 0 { bits } else { bits + 1 };
                assert_eq!(element.nearest(middle), even, "{} {middle}", element.name());
                assert_eq!(element.nearest(middle * (1.0 - 1e-9)), bits);
                assert_eq!(element.nearest(middle * (1.0 + 1e-9)), bits + 1);
            }
        }
    }

    /// Against known codes, so that a mistake in the definition does not hide in both directions.
    #[test]
    fn known_codes() {
        for (element, bits, value) in [
            (Element::F16, 0x3C00, 1.0),
            (Element::F16, 0x7BFF, 65_504.0),
            (Element::F16, 0x0001, 5.960_464_477_539_063e-8),
            (Element::Bf16, 0x3F80, 1.0),
            (Element::Bf16, 0xC2C8, -100.0),
            (Element::E4m3, 0x38, 1.0),
            (Element::E4m3, 0x7E, 448.0),
            (Element::E4m3, 0x01, 0.001_953_125),
            (Element::E5m2, 0x3C, 1.0),
            (Element::E5m2, 0x7B, 57_344.0),
            (Element::Int8, 0x81, -127.0),
        ] {
            assert_eq!((element.value(bits), element.nearest(value)), (value, bits), "{}", element.name());
        }
        assert!(Element::E4m3.value(0x7F).is_nan() && Element::E5m2.value(0x7F).is_nan());
        assert_eq!(Element::F16.nearest(65_520.0), 0x7C00, "infinity");
        assert_eq!(Element::F16.nearest(65_519.9), 0x7BFF);
        assert_eq!(Element::E4m3.nearest(1e9), 0x7E);
        assert_eq!(Element::E5m2.nearest(f64::NEG_INFINITY), 0xFB);
        assert_eq!((Element::Int8.nearest(127.5), Element::Int8.nearest(f64::NAN)), (127, 0));
    }

    /// The upper half of binary32, rounded: with the host's own binary32.
    #[test]
    fn bf16_is_half_of_binary32() {
        let mut bits = 1u32;
        for _ in 0..200_000 {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let value = f32::from_bits(bits);
            if value.is_nan() {
                continue;
            }
            let rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
            assert_eq!(u32::from(Element::Bf16.nearest(f64::from(value))), rounded, "{value}");
        }
    }
}
