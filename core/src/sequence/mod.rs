//! A sequence: its states, its record, and the guard that lets one thread at a time drive it.

mod driving;
mod record;
mod state;

pub(crate) use driving::{Driver, Layout, Sequences};
pub(crate) use record::{Extent, Holes, Order, Record};
pub(crate) use state::{Event, State};
