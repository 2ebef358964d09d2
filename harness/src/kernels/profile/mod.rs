//! `kvledger profile`: what a kernel moves and does, against what it would have to at least.
//!
//! The problem: without a GPU nothing can be said about time, but much about what decides it: bytes that are read more than
//! once, bank conflicts, barriers. They are counted exactly by the CPU device. With a GPU the same shapes are timed, beside
//! the copy that the same device does of plain memory.
//!
//! 1. [`shapes`]: the work, at the size of a server. [`Shape::small`] is the same with few sequences, short, for counting.
//! 2. `floor`: bytes and operations that the work takes at least, and what that is in time for a bandwidth.
//! 3. [`Loaded`]: the work in a device's memory, to be launched.
//! 4. [`count`] runs it once on the CPU device; `time` again and again on a GPU.

mod count;
mod floor;
mod load;
mod nvtx;
mod shapes;
mod time;

pub use count::{Counted, count};
pub use floor::{Floor, Rates, floor};
pub use load::Loaded;
pub use nvtx::Ranges;
pub use shapes::{Attention, Batch, Shape, Work, shapes};
pub use time::{Timed, ceiling, time};
