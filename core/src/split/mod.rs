//! How the attention of a batch is cut into equal pieces of work: the plan that `attend` and `merge` of `cuda/kernels`
//! work through.
//!
//! The problem: a batch has one sequence of 128K keys and thirty of 500. One thread block a sequence is then as slow as
//! the longest one; a fixed number of cuts is too many for most and too few for one. So every thread block gets one
//! contiguous run of key tiles, all of equal cost, and a row tile is cut where a thread block's share ends. What was cut
//! is joined by a second launch. With G thread blocks that is at most `row tiles + G − 1` items and `2(G − 1)` partial
//! results, whatever the lengths are: so buffers of a fixed size are always enough, and one captured graph serves every
//! batch.
//!
//! 1. [`Split`]: everything that does not change from batch to batch: heads, tiles, thread blocks, and the most
//!    sequences, query tokens and keys there will be. [`Split::layout`] says how many bytes a plan takes and where each
//!    array is.
//! 2. [`Split::plan`] writes the plan of one batch into the caller's words, which are copied to the device as they are.
//!    Everything beyond what a batch needs is written to empty, each time.
//! 3. [`Split::read`] checks words that claim to be a plan; [`Split::validate`] looks at each item, against the batch.
//!
//! Two modes. *Balanced* (`chunk_keys` 0) is the one above. *Fixed* cuts at multiples of `chunk_keys` and nowhere else,
//! so that which keys are summed up together depends on the sequence's own length only: results are then the same, bit
//! for bit, whoever is in the batch. It has more parts, and its shares are as equal as whole chunks allow.
//!
//! Everything is a pure function of its arguments: no atomics, no allocation, no unsafe, no panic. Words are `u32` because
//! that is what a device reads; the layouts are those of `cuda/kernels/attend.h`, and asserted here.

mod batch;
mod cut;
mod layout;
mod plan;
mod rows;
mod shape;
mod validate;
mod write;

pub use batch::SplitBatch;
pub use cut::SplitCounts;
pub use layout::{SplitHeader, SplitItem, SplitJoin, SplitLayout};
pub use plan::SplitPlan;
pub use shape::{
    CHUNK_KEYS_MAX, DECODE_ROWS, HEADS_MAX, OVERHEAD_TILES_MAX, PREFILL_ROWS, Split, THREAD_BLOCKS_MAX, WHOLE,
};
pub use validate::SplitFault;

/// What the words of a plan begin with: the version of their layout. Changes whenever the layout does.
pub const SPLIT_VERSION: u32 = 0x4B56_5301;
