//! The arithmetic, to be tried by hand: each lab computes a document from a few numbers, with the functions that the
//! pool's users call, and puts it in words.
//!
//! - [`Forecast`]: how often a length that is exceeded one time in twenty is exceeded by one of twenty.
//! - [`ledger`]: a script of operations through a real pool, and what A, R and S are after each.
//! - [`Prefix`]: what requests with a common beginning hold, by trust group, and which of them fit.
//! - [`Contiguous`]: one region of the longest length for each sequence, and what paging makes of it.

mod bar;
mod contiguous;
mod forecast;
pub mod ledger;
mod prefix;

pub use contiguous::Contiguous;
pub use forecast::Forecast;
pub use prefix::{Prefix, Question};
