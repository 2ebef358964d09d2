//! What a device has handed out. Numbers that it has not are refused: the driver would follow them as pointers.

use crate::device::{Address, Extent, Space};
use crate::error::Reason;
use std::collections::{BTreeMap, BTreeSet};

/// Allocations, streams and events.
#[derive(Debug, Default)]
pub struct Known {
    memory: BTreeMap<u64, (Space, usize)>,
    pub streams: BTreeSet<u64>,
    /// Streams of others, which may be named and are not ended.
    pub adopted: BTreeSet<u64>,
    pub events: BTreeSet<u64>,
}

impl Known {
    pub fn add(&mut self, address: Address, space: Space, bytes: usize) {
        self.memory.insert(address.0, (space, bytes));
    }

    /// The space of an allocation that is forgotten from now on, by its first address.
    pub fn remove(&mut self, address: Address) -> Option<Space> {
        self.memory.remove(&address.0).map(|(space, _)| space)
    }

    /// All that was not given back.
    pub fn allocations(&self) -> impl Iterator<Item = (Address, Space)> {
        self.memory.iter().map(|(address, (space, _))| (Address(*address), *space))
    }

    pub fn extent(&self, address: Address) -> Option<Extent> {
        let (first, (space, bytes)) = self.memory.range(..=address.0).next_back()?;
        let bytes = (*bytes as u64).checked_sub(address.0 - first)?;
        Some(Extent { space: *space, bytes: bytes as usize })
    }

    /// Errors: `Foreign`, `Range`.
    pub fn check(&self, address: Address, bytes: usize) -> Result<(), Reason> {
        let available = self.extent(address).ok_or(Reason::Foreign(address))?.bytes;
        if bytes > available { Err(Reason::Range { address, bytes, available }) } else { Ok(()) }
    }
}
