//! What came of replays: a table for people, a document for programs, and the name of each case in both; the
//! same for the census of a trace, and a picture of it.

mod census;
mod columns;
mod document;
mod label;
mod number;
mod picture;
mod prefixes;
mod prose;
mod sharing;
mod table;

pub use census::census;
pub use columns::Columns;
pub use document::{Case, Document};
pub use label::label;
pub(crate) use number::grouped;
pub use picture::picture;
pub use prefixes::{Prefixes, hits_by_capacity, prefixes};
pub use prose::{go_on, prose};
pub use table::{Heading, render};
