//! Cases by seed: shapes and options at random among those that matter, small enough that many fit into a minute. The same
//! seed makes the same case, for ever.

mod append;
mod attend;
mod blocks;
mod gather;
mod joins;
mod pool;

pub use attend::{Wanted, attend as attend_of};
pub use pool::{Order, PoolWanted, contents, layout_of, pool_of, table_of};

use super::random::Random;
use super::run::Case;
use std::fmt;
use std::str::FromStr;

/// A kernel, by what `--kernel` calls it: the name of its launch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kernel {
    /// New keys and values into their blocks.
    Append,
    /// Attention, and the join of its parts.
    Attend,
    /// The join of parts, which are made up.
    Merge,
    /// The join of two results.
    MergeTwo,
    /// Keys and values out of their blocks.
    Gather,
    /// Blocks to blocks.
    CopyBlocks,
    /// Blocks that become one pattern.
    Fill,
    /// Sums of blocks.
    Checksum,
    /// Ids of a table that become others.
    Rewrite,
}

impl Kernel {
    /// All, in the order in which they are run.
    pub const ALL: [Kernel; 9] = [
        Kernel::Append,
        Kernel::Attend,
        Kernel::Merge,
        Kernel::MergeTwo,
        Kernel::Gather,
        Kernel::CopyBlocks,
        Kernel::Fill,
        Kernel::Checksum,
        Kernel::Rewrite,
    ];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::Append => "append",
            Kernel::Attend => "attend",
            Kernel::Merge => "merge",
            Kernel::MergeTwo => "merge_two",
            Kernel::Gather => "gather",
            Kernel::CopyBlocks => "copy_blocks",
            Kernel::Fill => "fill",
            Kernel::Checksum => "checksum",
            Kernel::Rewrite => "rewrite",
        }
    }

    /// How much more of it there is to try than of the others: one case of a plain kernel for so many of this one.
    pub const fn weight(self) -> u32 {
        match self {
            Kernel::Attend => 4,
            Kernel::Append | Kernel::Gather | Kernel::CopyBlocks => 2,
            _ => 1,
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Kernel {
    type Err = String;

    fn from_str(text: &str) -> Result<Kernel, String> {
        let names = Kernel::ALL.map(Kernel::name).join(", ");
        Kernel::ALL.into_iter().find(|kernel| kernel.name() == text).ok_or(format!("give some of {names}"))
    }
}

/// The case of a seed.
pub fn case(kernel: Kernel, seed: u64) -> Case {
    let random = &mut Random::new(seed ^ (kernel as u64) << 56);
    match kernel {
        Kernel::Append => Case::Append(append::append(random)),
        Kernel::Attend => Case::Attend(Box::new(attend::random(random))),
        Kernel::Merge => Case::Merge(joins::merge(random)),
        Kernel::MergeTwo => Case::MergeTwo(joins::merge_two(random)),
        Kernel::Gather => Case::Gather(gather::gather(random)),
        Kernel::CopyBlocks => Case::CopyBlocks(blocks::copy_blocks(random)),
        Kernel::Fill => Case::Fill(blocks::fill(random)),
        Kernel::Checksum => Case::Checksum(blocks::checksum(random)),
        Kernel::Rewrite => Case::Rewrite(blocks::rewrite(random)),
    }
}
