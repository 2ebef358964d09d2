//! Cases on a device: what a case says is put into the device's memory, launched, read back, and compared with what it must
//! come to. All memory that is written is poisoned first; what nobody may write is compared as well.

mod append;
mod attend;
mod bench;
mod blocks;
mod gather;
mod joins;
mod pool;

pub use attend::{LSE_TOLERANCE, Prepared as PreparedAttend, tolerance};
pub use bench::Bench;
pub use pool::DevicePool;

use super::case::{Append, Attend, Checksum, CopyBlocks, Fill, Gather, Merge, MergeTwo, Rewrite};
use super::compare::Mismatch;
use kvledger_cuda::Error;
use std::fmt;

/// What came of a case that is right.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Right {
    /// The largest error, as a share of what is allowed; 0 where there is one right answer.
    pub share: f64,
    /// Numbers that were compared.
    pub compared: u64,
}

/// Why a case is not right.
#[derive(Clone, PartialEq, Debug)]
pub enum Wrong {
    /// What the kernel wrote is not what it must be.
    Mismatch(Mismatch),
    /// The device refused something, or was lost.
    Device(Error),
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Mismatch(mismatch) => mismatch.fmt(f),
            Wrong::Device(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Wrong {}

impl From<Mismatch> for Wrong {
    fn from(mismatch: Mismatch) -> Wrong {
        Wrong::Mismatch(mismatch)
    }
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Wrong {
        Wrong::Device(error)
    }
}

/// Any case.
#[derive(Clone, Debug)]
pub enum Case {
    /// New keys and values into their blocks.
    Append(Append),
    /// Attention, and the join of its parts.
    Attend(Box<Attend>),
    /// The join of parts by itself.
    Merge(Merge),
    /// The join of two results.
    MergeTwo(MergeTwo),
    /// Blocks to blocks.
    CopyBlocks(CopyBlocks),
    /// Blocks that become one pattern.
    Fill(Fill),
    /// Sums of blocks.
    Checksum(Checksum),
    /// Ids of a table that become others.
    Rewrite(Rewrite),
    /// Keys and values out of their blocks.
    Gather(Gather),
}

impl Case {
    /// What it is about.
    pub fn title(&self) -> &str {
        match self {
            Case::Append(case) => &case.title,
            Case::Attend(case) => &case.title,
            Case::Merge(case) => &case.title,
            Case::MergeTwo(case) => &case.title,
            Case::CopyBlocks(case) => &case.title,
            Case::Fill(case) => &case.title,
            Case::Checksum(case) => &case.title,
            Case::Rewrite(case) => &case.title,
            Case::Gather(case) => &case.title,
        }
    }

    /// Runs it, and compares.
    pub fn run(&self, bench: &Bench) -> Result<Right, Wrong> {
        match self {
            Case::Append(case) => append::run(case, bench),
            Case::Attend(case) => attend::run(case, bench),
            Case::Merge(case) => joins::merge(case, bench),
            Case::MergeTwo(case) => joins::merge_two(case, bench),
            Case::CopyBlocks(case) => blocks::copy_blocks(case, bench),
            Case::Fill(case) => blocks::fill(case, bench),
            Case::Checksum(case) => blocks::checksum(case, bench),
            Case::Rewrite(case) => blocks::rewrite(case, bench),
            Case::Gather(case) => gather::run(case, bench),
        }
    }
}
