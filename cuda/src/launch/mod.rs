//! Launches of all kernels: parameters, what is refused before anything is enqueued, and which memory is touched.
//!
//! A kernel is given the parameters of `cuda/kernels/kvk.h` as they are, and beside them what the host knows and they do
//! not say: how long arrays in device memory are. From both follows how far each pointer reaches.
//!
//! 1. A launch is a structure with public fields, one file each. [`Launch`] is any of them.
//! 2. [`Launch::check`] refuses what no kernel can do: shapes, strides, alignment, types, heads, tables that are too
//!    short, plans without room. The [`Refusal`] names the field and how to mend it.
//! 3. What is in device memory is checked where it comes from, on the host: [`Append::check_slots`],
//!    [`Attend::check_batch`], [`CopyBlocks::check_pairs`] and their like take the lists before they are copied.
//! 4. A device looks every pointer up: too short memory and the wrong kind are refused too. Of memory that it has not handed
//!    out the CPU device refuses all; a GPU cannot tell what it is, and takes it.

mod append;
mod attend;
mod cascade;
mod check;
mod checksum;
mod copy_blocks;
mod fill;
mod gather;
mod merge_two;
mod pointers;
#[cfg(test)]
mod pointers_tests;
mod refusal;
mod rewrite;

pub use append::Append;
pub use attend::{Attend, key_tile};
pub use cascade::Cascade;
pub use checksum::Checksum;
pub use copy_blocks::{CopyBlocks, shape_bytes};
pub use fill::Fill;
pub use gather::Gather;
pub use merge_two::MergeTwo;
pub use pointers::{Use, Where};
pub use refusal::{Refusal, Wrong};
pub use rewrite::Rewrite;

pub(crate) use check::block as check_block;
pub(crate) use copy_blocks::{check_shape, writers};
pub(crate) use pointers::See;

/// Calls the C function of a launch with its parameters and one more argument: a device names its functions.
///
/// An unsafe block each, whose promise is that of who expands it: the parameters are there for the length of the call, and
/// what they point to is as [`Launch`] says.
macro_rules! dispatch {
    ($launch:expr, $argument:expr, { $($kernel:ident => $function:path),* $(,)? }) => {
        match $launch {
            $(Launch::$kernel(launch) => {
                // SAFETY: promised where this is expanded.
                unsafe { $function(&raw const launch.params, $argument) }
            })*
        }
    };
}
pub(crate) use dispatch;

/// Any kernel with its parameters.
#[derive(Clone, Copy, Debug)]
pub enum Launch {
    /// New keys and values into their blocks.
    Append(Append),
    /// Attention through a plan.
    Attend(Attend),
    /// Joins what the plan cut, with the parameters of the attention before it.
    Merge(Attend),
    /// Joins two results.
    MergeTwo(MergeTwo),
    /// Blocks to blocks.
    CopyBlocks(CopyBlocks),
    /// Blocks that become one pattern.
    Fill(Fill),
    /// Sums of blocks.
    Checksum(Checksum),
    /// Block ids of a table become others.
    Rewrite(Rewrite),
    /// Keys and values out of their blocks.
    Gather(Gather),
}

// SAFETY: pointers of a launch are addresses of device memory: nobody follows them but the device, which has looked them
// up and keeps what they point to.
unsafe impl Send for Launch {}
// SAFETY: as above.
unsafe impl Sync for Launch {}

impl Launch {
    /// The kernel's name, as the C header has it.
    pub fn name(&self) -> &'static str {
        match self {
            Launch::Append(_) => "append",
            Launch::Attend(_) => "attend",
            Launch::Merge(_) => "merge",
            Launch::MergeTwo(_) => "merge_two",
            Launch::CopyBlocks(_) => "copy_blocks",
            Launch::Fill(_) => "fill",
            Launch::Checksum(_) => "checksum",
            Launch::Rewrite(_) => "rewrite",
            Launch::Gather(_) => "gather",
        }
    }

    /// Whether a kernel can be given these parameters. Cost: O(1).
    pub fn check(&self) -> Result<(), Refusal> {
        match self {
            Launch::Append(launch) => launch.check(),
            Launch::Attend(launch) | Launch::Merge(launch) => launch.check(),
            Launch::MergeTwo(launch) => launch.check(),
            Launch::CopyBlocks(launch) => launch.check(),
            Launch::Fill(launch) => launch.check(),
            Launch::Checksum(launch) => launch.check(),
            Launch::Rewrite(launch) => launch.check(),
            Launch::Gather(launch) => launch.check(),
        }
    }

    /// The same launch, with each pointer as `see` answers. Of parameters that were checked.
    pub(crate) fn seen(mut self, see: &mut See<'_>) -> Result<Launch, Refusal> {
        match &mut self {
            Launch::Append(launch) => launch.see(see),
            Launch::Attend(launch) => launch.see(see),
            Launch::Merge(launch) => launch.see_merge(see),
            Launch::MergeTwo(launch) => launch.see(see),
            Launch::CopyBlocks(launch) => launch.see(see),
            Launch::Fill(launch) => launch.see(see),
            Launch::Checksum(launch) => launch.see(see),
            Launch::Rewrite(launch) => launch.see(see),
            Launch::Gather(launch) => launch.see(see),
        }?;
        Ok(self)
    }
}
