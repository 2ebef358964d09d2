//! A sequence: its states, its record, and the guard that lets one thread at a time drive it.

mod record;
mod state;

pub(crate) use record::{Driver, Extent, Layout, Record, Sequences};
pub(crate) use state::{Event, State};
