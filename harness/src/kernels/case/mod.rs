//! Cases: everything that one launch of a kernel is given, as plain data of the host, without a device.

mod append;
mod attend;
mod blocks;
mod gather;
mod joins;

pub use append::Append;
pub use attend::{Attend, Options, Rows};
pub use blocks::{Blocks, Checksum, CopyBlocks, Fill, Pieces, Rewrite};
pub use gather::Gather;
pub use joins::{Merge, MergeTwo, Parts};
