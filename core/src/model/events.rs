//! The events of the model: a list of all that ever happened.

use super::pool::Model;
use crate::events::{Event, EventKind};
use crate::identity::Identity;
use crate::ids::{BlockId, Group};
use std::vec::Vec;

/// Everything that was told, and how far back a reader can look.
#[derive(Clone, Debug)]
pub(super) struct Log {
    pub(super) all: Vec<Event>,
    room: u32,
}

impl Log {
    pub(super) fn new(room: u32) -> Log {
        Log { all: Vec::new(), room }
    }

    /// What a reader gets who has read `before` events: how many he has missed, and the others.
    pub(super) fn since(&self, before: usize) -> (u64, &[Event]) {
        let oldest = self.all.len().saturating_sub(self.room as usize).max(before);
        ((oldest - before) as u64, &self.all[oldest..])
    }
}

impl Model {
    pub(super) fn tell(&mut self, kind: EventKind, block: u32, group: Group, identity: Identity) {
        if self.config.events > 0 {
            let number = self.log.all.len() as u64 + 1;
            self.log.all.push(Event { number, kind, block: BlockId(block), group, identity });
        }
    }
}
