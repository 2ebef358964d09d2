//! Records of what a pool was asked: written to files, put into words, made again.
//!
//! 1. A replay through a handle with a ring ([`Prepared::run_recorded`](crate::replay::Prepared::run_recorded)), a failed
//!    verification, or a serving stack's own ring: each leaves words, which [`write()`] puts in a file as they are.
//! 2. [`read`] takes them back, and says what is wrong with a file that is no dump.
//! 3. [`Rerun`] makes the calls again and keeps what differs; `describe` puts a record in words.

mod again;
mod describe;
mod file;

pub use again::{Difference, Rerun, rerun};
pub use describe::{describe, outcome, under_way};
pub use file::{read, words, write};
