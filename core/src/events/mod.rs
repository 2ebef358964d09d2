//! Cache events: what a router that sends requests to the server with the longest cached prefix must hear of. Every
//! event has a number; the numbers of a pool increase by one, without gaps, so a reader knows what it has missed.
//!
//! 1. A transition that stores the first copy of an identity, removes the last one, or clears a group, draws a *ticket*
//!    ([`Events::ticket`]), while nobody else can make a transition of that identity: the order of tickets is then that of
//!    the transitions. Which copy is first or last is the caller's knowledge.
//! 2. It fills the ticket with the event ([`Events::fill`]), or with nothing if nothing happened ([`Events::void`]).
//! 3. Readers come with a cursor each and are given the events in order ([`Events::read`]); all of them get all events.
//!    Who is more than the ring behind is told how many he has missed.

#[cfg(all(test, loom))]
mod loom_tests;
mod ring;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use ring::{Events, EventsLayout};

use crate::identity::Identity;
use crate::ids::{BlockId, Group};

/// What happened to a cached prefix.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventKind {
    /// The first copy of an identity can be hit.
    Stored = 1,
    /// The last copy of an identity is gone.
    Removed = 2,
    /// All identities of the group are gone.
    Cleared = 3,
}

/// One event.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// Its place in the order of all events of the pool, from 1, without gaps.
    pub number: u64,
    /// What happened.
    pub kind: EventKind,
    /// The block that holds the copy; the null block in `Cleared`.
    pub block: BlockId,
    /// The trust group.
    pub group: Group,
    /// The identity; `NONE` in `Cleared`.
    pub identity: Identity,
}

impl Event {
    /// What an array for events begins with; none ever has number 0.
    pub const NONE: Event =
        Event { number: 0, kind: EventKind::Cleared, block: BlockId::NULL, group: Group(0), identity: Identity::NONE };
}

/// How far a reader has come. Its own; any number of readers read side by side.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EventCursor {
    /// The number of the next event.
    pub next: u64,
}

impl EventCursor {
    /// Before the first event of the pool.
    pub const START: EventCursor = EventCursor { next: 1 };
}

impl Default for EventCursor {
    fn default() -> EventCursor {
        EventCursor::START
    }
}

/// What a read gave.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EventsRead {
    /// Events written to the front of the output.
    pub count: u32,
    /// Numbers that the cursor passed and whose events, if they had any, can no longer be read. When this is not 0, what
    /// the reader knows of the cache may be wrong in both directions.
    pub dropped: u64,
}
