//! Arithmetic before anything exists: `kvledger_core::plan`.

mod budget;
mod forecast;
mod geometry;
mod lengths;

pub use budget::*;
pub use forecast::*;
pub use geometry::*;
pub use lengths::*;
