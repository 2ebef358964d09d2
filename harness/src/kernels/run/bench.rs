//! A device and a stream of it, and what every case does with them.

use crate::kernels::compare::{Mismatch, same};
use crate::kernels::reference::Report;
use kvledger_cuda::launch::Launch;
use kvledger_cuda::raw::kvk_status;
use kvledger_cuda::{Device, Error, Memory, Plain, Space, Stream};
use std::ptr::null_mut;
use std::sync::Arc;

/// Where cases run.
#[derive(Debug)]
pub struct Bench {
    device: Arc<dyn Device>,
    stream: Stream,
}

impl Bench {
    /// A stream of its own on a device.
    pub fn open(device: &Arc<dyn Device>) -> Result<Bench, Error> {
        Ok(Bench { device: device.clone(), stream: Stream::open(device)? })
    }

    /// The device.
    pub fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    /// The stream.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Device memory that holds these.
    pub fn holding<T: Plain>(&self, data: &[T]) -> Result<Memory, Error> {
        Memory::holding(&self.stream, data)
    }

    /// The same, or nothing where there is nothing: for parameters that may be NULL.
    pub fn some<T: Plain>(&self, data: &[T]) -> Result<Option<Memory>, Error> {
        if data.is_empty() { Ok(None) } else { self.holding(data).map(Some) }
    }

    /// Device memory of `bytes` that are all `poison`.
    pub fn poisoned(&self, bytes: usize, poison: u8) -> Result<Memory, Error> {
        let memory = Memory::allocate(&self.device, Space::Device, bytes)?;
        self.stream.set((&memory, 0), poison, bytes)?;
        Ok(memory)
    }

    /// A status into which nothing was reported.
    pub fn status(&self) -> Result<Memory, Error> {
        self.holding(&[kvk_status { first: u64::MAX, faults: 0, reserved: 0 }])
    }

    /// Enqueues a launch whose lists were checked.
    pub fn launch(&self, launch: &Launch) -> Result<(), Error> {
        // SAFETY: what its pointers point to was made here from a case: counts, starts and ids are consistent, or are ids
        // that the kernels check themselves; the memory is kept until the stream is done.
        unsafe { self.stream.launch(launch) }
    }

    /// What was reported, against what must be.
    pub fn check_report(&self, status: &Memory, expected: &Report) -> Result<(), super::Wrong> {
        let [found] = self.read::<kvk_status>(status, 1)?[..] else { return Ok(()) };
        let is_same = (found.faults, found.first) == (expected.faults, expected.first);
        let said = |report: &Report| format!("faults {}, first {:#x}", report.faults, report.first);
        let found = Report { faults: found.faults, first: found.first };
        if is_same {
            return Ok(());
        }
        Err(Mismatch(format!("status: expected {}, found {}", said(expected), said(&found))).into())
    }

    /// So many values from the beginning of an allocation, when all work is done.
    pub fn read<T: Plain + Default>(&self, memory: &Memory, count: usize) -> Result<Vec<T>, Error> {
        memory.values(&self.stream, 0, count)
    }

    /// Whether bytes of memory are what they must be; `name` says what a byte is.
    pub fn check_bytes(
        &self,
        what: &str,
        memory: &Memory,
        expected: &[u8],
        name: &dyn Fn(usize) -> String,
    ) -> Result<(), super::Wrong> {
        let found = self.read::<u8>(memory, expected.len())?;
        // Memory is compared at once; only where it differs does anybody look for the place.
        if found == expected { Ok(()) } else { Ok(same(what, expected, &found, name)?) }
    }
}

/// The address of what may be NULL.
pub fn pointer_or_null<T>(memory: &Option<Memory>) -> *mut T {
    memory.as_ref().map_or(null_mut(), Memory::pointer)
}
