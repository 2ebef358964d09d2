//! Where blocks are that keep their content while nobody holds them: found by name, and in the order in which they go.
//!
//! Problem: a finished request leaves blocks behind that the next one with the same prefix can use. They must be found by
//! the name of the prefix in a few nanoseconds, from any thread, and they must be given up in a sensible order when blocks
//! are needed; both on the hot path of every publish, hit and eviction, without a heap and without anybody to wait for.
//!
//! 1. [`Index`] says which blocks may have a name. It is a hint: the block's own word and name decide.
//! 2. [`Order`] says which idle block goes first. It is a preference: the block's own word decides whether it may go.
//!
//! Neither of the two owns a block, so neither can lose one: a lost entry of the index is a lost hit, and a block that the
//! order does not know is found by a walk over the words. That is what keeps both of them simple and fast.

mod ghosts;
mod hash;
mod index;
#[cfg(all(test, loom))]
mod loom_tests;
mod order;
mod queue;
mod ring;
mod s3fifo;
mod sieve;
#[cfg(all(test, not(loom)))]
mod tests;
mod uses;
mod waiting;

pub(crate) use index::{Index, Layout as IndexLayout};
pub(crate) use order::{Layout as OrderLayout, Order, OrderGuard};
pub(crate) use queue::{Look, Policy};
