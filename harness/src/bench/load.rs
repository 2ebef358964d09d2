//! The loads: random replacement. Each thread holds batches up to its quota; while there is no room for the next one it
//! gives back a random batch of its own; then it takes one. The quotas together are the occupancy, so an exact allocator
//! never fails, and every failure is counted.

use super::allocator::Shape;
use kvledger_core::model::Random;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What is done to an allocator.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Load {
    /// N.
    pub blocks: u32,
    /// How large batches are.
    pub batches: Batches,
    /// Threads.
    pub threads: u32,
    /// Part of N that is held, in thousandths.
    pub occupancy: Occupancy,
}

/// How large batches are, and whether they grow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Batches {
    /// Always so many blocks.
    Fixed(u32),
    /// Half of them 1 block, three in ten 17, one in ten 128, one in ten 145.
    Mixed,
    /// Sequences: nine steps in ten add one block to one of them, one in ten begins one with 9 to 136 blocks.
    Growing,
}

/// Thousandths of N that are held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Occupancy(pub u32);

/// Longest sequence that grows.
const GROWN_MAX: u32 = 256;

impl Batches {
    /// Blocks of the longest batch.
    pub const fn longest(self) -> u32 {
        match self {
            Batches::Fixed(blocks) => blocks,
            Batches::Mixed => 145,
            Batches::Growing => GROWN_MAX,
        }
    }

    /// Fewer blocks than a batch has on average: there are never more batches than the quota by this.
    const fn few(self) -> u32 {
        match self {
            Batches::Fixed(blocks) => blocks,
            Batches::Mixed => 24,
            Batches::Growing => 48,
        }
    }

    /// Blocks of a new batch.
    #[inline(always)]
    pub fn next(self, random: &mut Random) -> u32 {
        match self {
            Batches::Fixed(blocks) => blocks,
            Batches::Mixed => match random.below(10) {
                0..5 => 1,
                5..8 => 17,
                8 => 128,
                _ => 145,
            },
            Batches::Growing => 9 + random.below(128),
        }
    }
}

impl fmt::Display for Batches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Batches::Fixed(blocks) => write!(f, "{blocks}"),
            Batches::Mixed => f.write_str("mixed"),
            Batches::Growing => f.write_str("growing"),
        }
    }
}

impl FromStr for Batches {
    type Err = String;

    fn from_str(text: &str) -> Result<Batches, String> {
        match text {
            "mixed" => Ok(Batches::Mixed),
            "growing" => Ok(Batches::Growing),
            _ => text
                .parse()
                .ok()
                .filter(|blocks| (1..=1024).contains(blocks))
                .map(Batches::Fixed)
                .ok_or_else(|| "give 1 to 1024 blocks a batch, `mixed` or `growing`".to_string()),
        }
    }
}

impl From<Batches> for String {
    fn from(batches: Batches) -> String {
        batches.to_string()
    }
}

impl TryFrom<String> for Batches {
    type Error = String;

    fn try_from(text: String) -> Result<Batches, String> {
        text.parse()
    }
}

impl fmt::Display for Occupancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 10, self.0 % 10) {
            (percent, 0) => write!(f, "{percent} %"),
            (percent, tenth) => write!(f, "{percent}.{tenth} %"),
        }
    }
}

impl FromStr for Occupancy {
    type Err = String;

    /// Per cent, with at most one decimal.
    fn from_str(text: &str) -> Result<Occupancy, String> {
        let (percent, tenth) = text.split_once('.').unwrap_or((text, "0"));
        let is_plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let thousandths = (tenth.len() == 1 && is_plain(percent) && is_plain(tenth))
            .then(|| Some(percent.parse::<u32>().ok()?.checked_mul(10)? + tenth.parse::<u32>().ok()?))
            .flatten();
        let fits = thousandths.filter(|thousandths| (1..=1000).contains(thousandths));
        fits.map(Occupancy).ok_or_else(|| "give per cent from 0.1 to 100, with at most one decimal".to_string())
    }
}

impl Load {
    /// Blocks that one thread may hold.
    pub fn quota(&self) -> u32 {
        (u64::from(self.blocks) * u64::from(self.occupancy.0) / 1000 / u64::from(self.threads)) as u32
    }

    /// Most batches of one thread.
    pub fn batches_per_thread(&self) -> u32 {
        self.quota() / self.batches.few() + u32::from(!matches!(self.batches, Batches::Fixed(_))) * 8
    }

    /// Whether each thread has at least two batches, so that there is something to replace.
    pub fn is_possible(&self) -> bool {
        self.quota() / 2 >= self.batches.longest()
    }

    /// What the allocator must be prepared for: one batch a thread is refused when all others are out.
    pub fn shape(&self) -> Shape {
        let batches = (self.batches_per_thread() + 1) * self.threads;
        Shape { blocks: self.blocks, batch_max: self.batches.longest(), batches }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_named_as_they_are_given() {
        for name in ["1", "17", "145", "mixed", "growing"] {
            assert_eq!(name.parse::<Batches>().map(|batches| batches.to_string()), Ok(name.to_string()));
        }
        for bad in ["0", "-1", "1025", "serve", ""] {
            assert!(bad.parse::<Batches>().is_err(), "{bad}");
        }
        for (text, name) in [("50", "50 %"), ("99.9", "99.9 %"), ("100", "100 %"), ("0.1", "0.1 %")] {
            assert_eq!(text.parse::<Occupancy>().map(|held| held.to_string()), Ok(name.to_string()));
        }
        for bad in ["0", "101", "99.99", "-1", "+5", "half", "", "50.", "4294967295"] {
            assert!(bad.parse::<Occupancy>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_load_without_two_batches_a_thread_is_none() {
        let load =
            |batch, threads| Load { blocks: 1024, batches: Batches::Fixed(batch), threads, occupancy: Occupancy(500) };
        assert!(load(145, 1).is_possible() && !load(145, 2).is_possible() && load(17, 8).is_possible());
    }
}
