//! Every allocation of the CPU device, by the address that kernels and callers know.
//!
//! Device memory has an address of its own: the real one with a bit set that no address of a program has. So the host
//! faults when it follows one, and a kernel that is given a host pointer is told so at its launch. Some more bits count
//! allocations: an address that was given back is not soon another one's, so its late use is found too.

use super::mapping::Mapping;
use crate::device::{Address, Extent, Space};
use crate::error::Reason;
use std::collections::BTreeMap;
use std::sync::Arc;

/// No address of a program has this bit: neither with 47 bits nor with 57, and on aarch64 it is not among the ignored.
const DEVICE_BIT: u64 = 1 << 55;
/// Nor these, above the addresses of every system that has 48 bits or less.
const COUNT_SHIFT: u32 = 48;
const COUNT_MASK: u64 = 0x7F;

/// Allocations by their addresses.
#[derive(Debug, Default)]
pub struct Registry {
    allocations: BTreeMap<u64, Allocation>,
    count: u64,
}

#[derive(Clone, Debug)]
struct Allocation {
    space: Space,
    mapping: Arc<Mapping>,
}

/// A range of an allocation, where it really is, and what keeps it there.
#[derive(Clone, Debug)]
pub struct Span {
    /// For the copies and kernels of the device.
    pub real: usize,
    /// Whoever has this may touch the range.
    pub mapping: Arc<Mapping>,
    /// Where it is.
    pub space: Space,
}

impl Registry {
    /// The address of a new allocation.
    pub fn add(&mut self, space: Space, mapping: Mapping) -> Address {
        let address = self.shown(space, mapping.start() as u64);
        self.allocations.insert(address, Allocation { space, mapping: Arc::new(mapping) });
        Address(address)
    }

    /// Forgets an allocation, by its first address, and answers whether it was one. The pages stay as long as a [`Span`] does.
    pub fn remove(&mut self, address: Address) -> bool {
        self.allocations.remove(&address.0).is_some()
    }

    /// What is known of an address.
    pub fn extent(&self, address: Address) -> Option<Extent> {
        let (first, allocation) = self.at(address)?;
        let bytes = allocation.mapping.bytes() - (address.0 - first) as usize;
        Some(Extent { space: allocation.space, bytes })
    }

    /// The range that begins at an address. Errors: `Foreign`, `Range`.
    pub fn span(&self, address: Address, bytes: usize) -> Result<Span, Reason> {
        let (first, allocation) = self.at(address).ok_or(Reason::Foreign(address))?;
        let offset = (address.0 - first) as usize;
        let available = allocation.mapping.bytes() - offset;
        if bytes > available {
            return Err(Reason::Range { address, bytes, available });
        }
        let (mapping, space) = (allocation.mapping.clone(), allocation.space);
        Ok(Span { real: mapping.start() + offset, mapping, space })
    }

    fn shown(&mut self, space: Space, real: u64) -> u64 {
        match space {
            Space::Device => {
                self.count += 1;
                real | DEVICE_BIT | (self.count & COUNT_MASK) << COUNT_SHIFT
            }
            Space::Pinned => real,
        }
    }

    /// The allocation that an address is in, or at the end of; and its first address.
    fn at(&self, address: Address) -> Option<(u64, &Allocation)> {
        let (first, allocation) = self.allocations.range(..=address.0).next_back()?;
        (address.0 - first <= allocation.mapping.bytes() as u64).then_some((*first, allocation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry(space: Space, bytes: usize) -> (Registry, Address) {
        let mut registry = Registry::default();
        let address = registry.add(space, Mapping::of(bytes).unwrap());
        (registry, address)
    }

    #[test]
    fn ranges_are_found_to_their_last_byte() {
        let (mut registry, address) = registry(Space::Device, 100);
        let at = |offset: u64| Address(address.0 + offset);
        assert_eq!(registry.extent(at(40)), Some(Extent { space: Space::Device, bytes: 60 }));
        let low = |address: u64| address & ((1 << COUNT_SHIFT) - 1);
        assert_eq!(registry.span(at(40), 60).unwrap().real as u64, low(at(40).0));
        let refused = registry.span(at(40), 61).unwrap_err();
        assert_eq!(refused, Reason::Range { address: at(40), bytes: 61, available: 60 });
        assert!(registry.span(at(100), 0).is_ok());
        assert_eq!(registry.span(at(101), 0).unwrap_err(), Reason::Foreign(at(101)));
        assert_eq!(registry.span(Address(address.0 - 1), 1).unwrap_err(), Reason::Foreign(Address(address.0 - 1)));
        registry.remove(address);
        assert_eq!(registry.span(address, 1).unwrap_err(), Reason::Foreign(address));
    }

    #[test]
    fn a_real_address_of_device_memory_is_foreign() {
        let (registry, address) = registry(Space::Device, 100);
        let real = Address(address.0 & ((1 << COUNT_SHIFT) - 1));
        assert_eq!(registry.span(real, 1).unwrap_err(), Reason::Foreign(real));
    }

    #[test]
    fn an_address_that_was_given_back_is_not_soon_another_ones() {
        let (mut registry, first) = registry(Space::Device, 100);
        registry.remove(first);
        for _ in 0..100 {
            let next = registry.add(Space::Device, Mapping::of(100).unwrap());
            assert_eq!(registry.span(first, 1).unwrap_err(), Reason::Foreign(first), "beside {next}");
            registry.remove(next);
        }
    }

    #[test]
    fn pages_stay_for_who_uses_them() {
        let (mut registry, address) = registry(Space::Pinned, 64);
        let span = registry.span(address, 64).unwrap();
        registry.remove(address);
        // SAFETY: the span keeps the pages.
        assert_eq!(unsafe { (span.real as *const u64).read() }, u64::MAX);
    }

    #[test]
    fn many_gigabytes_are_poison_and_cost_nothing() {
        let bytes = 6 << 30;
        let mapping = Mapping::of(bytes).unwrap();
        for offset in [0, bytes / 2 + 12_345, bytes - 1] {
            let byte = (mapping.start() + offset) as *mut u8;
            // SAFETY: inside of the mapping.
            assert_eq!(unsafe { byte.read() }, 0xFF, "{offset}");
            // SAFETY: as above.
            unsafe { byte.write(7) };
        }
        // A page that was written is a copy: the next one, of the same page of the file, is as it was.
        // SAFETY: inside of the mapping.
        assert_eq!(unsafe { ((mapping.start() + (8 << 20)) as *const u8).read() }, 0xFF);
    }
}
