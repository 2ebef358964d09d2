//! What the device's memory is for. A ledger that is right about its pool does not excuse an allocation that nobody
//! counted: weights, workspace, captured graphs, communication buffers, restoration staging and what others allocate
//! on the same device each have a bound here, and the bounds must fit before anything is allocated.
//!
//! 1. [`Budget::new`], then [`set_bound`](Budget::set_bound) for each region; what is left is
//!    [`spare_bytes`](Budget::spare_bytes), and is what a pool can be sized with.
//! 2. Whoever allocates asks first: [`take`](Budget::take), [`give_back`](Budget::give_back).
//! 3. Whoever can only measure says what he saw: [`observe`](Budget::observe). A fact is recorded even where it breaks
//!    the bound, and by how much is the answer.
//!
//! Bounds and uses are simultaneous: a peak is of its region alone, and the sum of peaks may be more than was ever
//! used at one moment. Plain data; a caller with several threads keeps it behind his own lock.

use super::sum;
use crate::answer::{Argument, Refusal};

/// How many regions there are.
pub const REGIONS: usize = 7;

/// What a byte of device memory is for.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Region {
    /// Model weights, and scales of whole tensors.
    Weights = 0,
    /// The KV pool, the null block included.
    KvPool = 1,
    /// Activations and kernels' scratch.
    Workspace = 2,
    /// Captured graphs and their private pools.
    GraphCapture = 3,
    /// Collectives and peer transfers.
    Communication = 4,
    /// Staging for blocks that come back from host or disk.
    Restoration = 5,
    /// Margin for what is allocated outside of all this: contexts, libraries, other processes.
    Outside = 6,
}

impl Region {
    /// All of them, in the order of their numbers.
    pub const ALL: [Region; REGIONS] = [
        Region::Weights,
        Region::KvPool,
        Region::Workspace,
        Region::GraphCapture,
        Region::Communication,
        Region::Restoration,
        Region::Outside,
    ];

    /// The region of this number (the C ABI passes numbers); `None` if there is none.
    pub const fn from_number(number: u32) -> Option<Region> {
        let mut rest = Region::ALL.as_slice();
        while let [region, after @ ..] = rest {
            if *region as u32 == number {
                return Some(*region);
            }
            rest = after;
        }
        None
    }
}

/// What one region may use and uses, in bytes.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// The most it may use.
    pub bound: u64,
    /// What it uses now.
    pub current: u64,
    /// The most it ever used. Above the bound only if it was observed there.
    pub peak: u64,
}

/// The device's memory by region. The sum of the bounds never exceeds the device.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    device_bytes: u64,
    regions: [Usage; REGIONS],
}

impl Budget {
    /// A device of so many bytes, all bounds 0.
    pub const fn new(device_bytes: u64) -> Budget {
        Budget { device_bytes, regions: [Usage { bound: 0, current: 0, peak: 0 }; REGIONS] }
    }

    /// The whole device.
    pub const fn device_bytes(&self) -> u64 {
        self.device_bytes
    }

    /// Sets the most that a region may use.
    ///
    /// `INVALID(Budget)`, and the old bound stays, if the bounds together would exceed the device or the region uses
    /// more than that already; `INVALID(Overflow)` if the sum does not fit in 64 bits.
    pub const fn set_bound(&mut self, region: Region, bytes: u64) -> Result<(), Refusal> {
        let others = self.bounds().saturating_sub(self.usage(region).bound);
        let all = attempt!(sum(others, bytes));
        if all > self.device_bytes || self.usage(region).current > bytes {
            return Err(Refusal::invalid(Argument::Budget));
        }
        self.entry(region).bound = bytes;
        Ok(())
    }

    /// Device bytes that no region has been given.
    pub const fn spare_bytes(&self) -> u64 {
        self.device_bytes.saturating_sub(self.bounds())
    }

    /// Counts `bytes` more as used by the region, before they are allocated.
    ///
    /// `INVALID(Budget)`, and nothing is counted, if the region would exceed its bound.
    pub const fn take(&mut self, region: Region, bytes: u64) -> Result<(), Refusal> {
        let usage = self.entry(region);
        match usage.current.checked_add(bytes) {
            Some(current) if current <= usage.bound => {
                usage.set_current(current);
                Ok(())
            }
            _ => Err(Refusal::invalid(Argument::Budget)),
        }
    }

    /// Counts `bytes` as no longer used by the region, after they are freed.
    ///
    /// `INVALID(Budget)`, and nothing changes, if the region does not use so many.
    pub const fn give_back(&mut self, region: Region, bytes: u64) -> Result<(), Refusal> {
        let usage = self.entry(region);
        match usage.current.checked_sub(bytes) {
            Some(current) => {
                usage.current = current;
                Ok(())
            }
            None => Err(Refusal::invalid(Argument::Budget)),
        }
    }

    /// Records what the region was measured to use now, and answers by how many bytes that is above its bound: 0 when
    /// it is within.
    pub const fn observe(&mut self, region: Region, bytes: u64) -> u64 {
        let usage = self.entry(region);
        usage.set_current(bytes);
        bytes.saturating_sub(usage.bound)
    }

    /// Bound, current and peak of a region.
    pub const fn usage(&self, region: Region) -> Usage {
        self.regions[region as usize]
    }

    /// Never more than the device, so the sum cannot wrap.
    const fn bounds(&self) -> u64 {
        let mut bounds = 0u64;
        let mut rest = self.regions.as_slice();
        while let [usage, after @ ..] = rest {
            bounds = bounds.saturating_add(usage.bound);
            rest = after;
        }
        bounds
    }

    const fn entry(&mut self, region: Region) -> &mut Usage {
        &mut self.regions[region as usize]
    }
}

impl Usage {
    const fn set_current(&mut self, bytes: u64) {
        self.current = bytes;
        if bytes > self.peak {
            self.peak = bytes;
        }
    }
}
