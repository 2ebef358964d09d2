//! What came of replays: a table for people, a document for programs, and the name of each case in both.

mod document;
mod label;
mod number;
mod table;

pub use document::{Case, Document};
pub use label::label;
pub(crate) use number::grouped;
pub use table::{Heading, render};
