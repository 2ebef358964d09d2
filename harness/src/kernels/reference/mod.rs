//! What kernels must come to, written the obvious way: binary64, loops, no tiles, no tricks.
//!
//! Attention and joins are computed as their definitions say and compared within tolerances; everything that copies,
//! converts or counts has one right answer, bit for bit.

mod append;
mod attend;
mod blocks;
mod gather;
mod joins;

pub use append::append;
pub use attend::{Attended, Report, attend};
pub use blocks::{checksum, copy_blocks, fill, rewrite};
pub use gather::{Gathered, gather};
pub use joins::{Joined, merge, merge_two};
