//! Sizes and counts as people write them: `80GiB`, `79.1GB`, `8.03B`, `5%`. Read as decimals and in whole numbers: what is
//! written is what is meant, to the byte.

use std::fmt;
use std::str::FromStr;

/// Parts of a whole: a billionth each.
pub const WHOLE: u64 = 1_000_000_000;

/// Most digits after the point that are read.
const DECIMALS_MAX: usize = 18;

/// `text` times `scale`, rounded down; `None` if it is no plain decimal number or does not fit.
fn scaled(text: &str, scale: u64) -> Option<u64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(decimals) || decimals.len() > DECIMALS_MAX {
        return None;
    }
    let number: u128 = format!("{whole}{decimals}").parse().ok()?;
    let product = number.checked_mul(u128::from(scale))?;
    u64::try_from(product / 10u128.pow(decimals.len() as u32)).ok()
}

/// Bytes: a number and a unit, or a whole number alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Bytes(pub u64);

const UNITS: [(&str, u64); 9] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
];

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Bytes, String> {
        let text = text.trim();
        let unit = UNITS.iter().find_map(|&(unit, scale)| Some((text.strip_suffix(unit)?.trim_end(), scale)));
        let bytes = match unit {
            Some((number, scale)) => scaled(number, scale),
            None if text.contains('.') => None,
            None => scaled(text, 1),
        };
        bytes.map(Bytes).ok_or_else(|| {
            "give bytes, or a number with KiB, MiB, GiB, TiB, KB, MB, GB or TB, below 16 EiB".to_string()
        })
    }
}

impl fmt::Display for Bytes {
    /// With three digits and the binary unit that leaves less than 1,024 of it; exact below a KiB.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let binary = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
        match binary.into_iter().find(|&(_, shift)| self.0 >> shift > 0) {
            None => write!(f, "{} B", self.0),
            Some((unit, shift)) if self.0.is_multiple_of(1 << shift) => {
                write!(f, "{} {unit}", crate::report::grouped(self.0 >> shift))
            }
            // For show only: the exact number of bytes is in the document.
            Some((unit, shift)) => write!(f, "{:.2} {unit}", self.0 as f64 / (1u64 << shift) as f64),
        }
    }
}

/// How much of a device: bytes, or a share of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amount {
    /// So many bytes.
    Bytes(u64),
    /// So many of `WHOLE`.
    Share(u64),
}

impl Amount {
    /// In bytes of a device, rounded down.
    pub fn of(self, device_bytes: u64) -> u64 {
        match self {
            Amount::Bytes(bytes) => bytes,
            // At most the device, as the share is at most the whole.
            Amount::Share(parts) => (u128::from(device_bytes) * u128::from(parts) / u128::from(WHOLE)) as u64,
        }
    }
}

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Amount, String> {
        let text = text.trim();
        let share = match text.strip_suffix('%') {
            Some(percent) => scaled(percent.trim_end(), WHOLE / 100),
            None if text.contains('.') => scaled(text, WHOLE),
            None => None,
        };
        match share {
            Some(parts) if parts <= WHOLE => Ok(Amount::Share(parts)),
            Some(_) => Err("a share is at most 1.0, or 100%".to_string()),
            None => text
                .parse()
                .map(|Bytes(bytes)| Amount::Bytes(bytes))
                .map_err(|_| "give a size (2GiB, 500MB, bytes) or a share of the device (0.05, 5%)".to_string()),
        }
    }
}

/// A count with K, M, B (a thousand million) or T behind it, or a whole number alone.
pub fn count(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let units = [("K", 1_000), ("M", 1_000_000), ("B", 1_000_000_000), ("T", 1_000_000_000_000)];
    let unit = units.iter().find_map(|&(unit, scale)| Some((text.strip_suffix(unit)?, scale)));
    let count = match unit {
        Some((number, scale)) => scaled(number, scale),
        None if text.contains('.') => None,
        None => scaled(text, 1),
    };
    count
        .filter(|&count| count > 0)
        .ok_or_else(|| "give a number from 1 on, or one with K, M, B or T as in 8.03B".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_exact() {
        let bytes = |text: &str| text.parse().map(|Bytes(bytes)| bytes);
        assert_eq!(bytes("80GiB"), Ok(80 << 30));
        assert_eq!(bytes("80GB"), Ok(80_000_000_000));
        assert_eq!(bytes(" 79.1 GiB "), Ok(84_932_978_278), "79.1 GiB is 84,932,978,278.4 bytes");
        assert_eq!(bytes("512"), Ok(512));
        assert_eq!(bytes("512B"), Ok(512));
        assert_eq!(bytes("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(bytes("0"), Ok(0));
        for bad in [
            "",
            "GiB",
            "-1",
            "1.5",
            "80G",
            "80 gib",
            "1e9",
            "16777216TiB",
            "18446744073709551616",
            ".5GiB",
            "0x10",
            "1.GiBB",
            "NaN",
        ] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn shares_are_told_from_sizes_by_their_point_or_percent() {
        assert_eq!("0.05".parse(), Ok(Amount::Share(50_000_000)));
        assert_eq!("5%".parse(), Ok(Amount::Share(50_000_000)));
        assert_eq!("1.0".parse(), Ok(Amount::Share(WHOLE)));
        assert_eq!("1".parse(), Ok(Amount::Bytes(1)));
        assert_eq!("2.5GiB".parse(), Ok(Amount::Bytes(5 << 29)));
        assert_eq!(Amount::Share(WHOLE).of(u64::MAX), u64::MAX);
        assert_eq!(Amount::Share(50_000_000).of(1_001), 50);
        for bad in ["1.1", "101%", "-5%", "half", "", "%", "5 %%"] {
            assert!(bad.parse::<Amount>().is_err(), "{bad}");
        }
    }

    #[test]
    fn counts_have_the_units_of_parameters() {
        assert_eq!(count("8.03B"), Ok(8_030_000_000));
        assert_eq!(count("8030261248"), Ok(8_030_261_248));
        assert_eq!(count("1T"), Ok(1_000_000_000_000));
        for bad in ["0", "", "8.5", "8G", "-1B", "99999999999T"] {
            assert!(count(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn bytes_are_shown_with_the_unit_that_fits() {
        let shown = |bytes| Bytes(bytes).to_string();
        assert_eq!([0, 1_023, 2 << 20, 512 << 20, 1 << 30].map(shown), ["0 B", "1023 B", "2 MiB", "512 MiB", "1 GiB"]);
        assert_eq!(shown((1 << 30) + (1 << 29)), "1.50 GiB");
        assert_eq!(shown(u64::MAX), "16777216.00 TiB");
    }
}
