//! Equal prefixes of requests: who may share with whom (rule G), and which blocks are equal (rule K).
//!
//! 1. [`GroupRule`] says which trust group a request is in.
//! 2. [`Identities`] gives every identified block of its prompt a name: equal names, equal prefixes.
//! 3. [`Parents`] looks at the ids of a trace by themselves: an id with one parent stands for a whole prefix.
//!
//! The labels are those of `harness/RULES.md`.

mod group;
mod identities;
mod parents;

pub use group::GroupRule;
pub use identities::{BlockName, Identities, NAMES_MAX, Named, TooMany, dense};
pub use parents::Parents;
