//! A script of operations through a real pool, and what the ledger says after each.
//!
//! 1. [`Script::parse`] reads lines ([`command`](Command)): each is an operation with names that the user chose, a comment, or
//!    an expectation. A line that is not understood is named, with what would be.
//! 2. [`Script::run`] makes the operations on a pool of [`kvledger_core`], one after the other. A refusal is an answer like
//!    any other; an expectation that does not hold is a failure.
//! 3. [`Run::text`] shows the counts after each as numbers and as a bar.

mod command;
mod machine;
mod run;
mod script;

pub use command::{Command, Key};
pub use run::{Run, Step};
pub use script::{Script, ScriptError};

/// The story of the forty blocks.
pub const STORY: &str = include_str!("story.txt");
