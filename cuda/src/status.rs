//! What kernels saw that their caller must know.

use crate::device::{Device, Space};
use crate::error::Error;
use crate::memory::Memory;
use crate::raw::{self, kvk_status};
use crate::stream::Stream;
use core::fmt;
use std::sync::Arc;

/// A status word in pinned memory, into which launches of one stream report.
#[derive(Debug)]
pub struct Status {
    memory: Memory,
}

/// What was reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// `KVK_FAULT_*`, or-ed.
    pub faults: u32,
    /// The lowest row that was wrong: a sequence, or what the fault says.
    pub row: u32,
    /// The lowest index that was wrong there: a key's place, a token, a column.
    pub index: u32,
}

const NOTHING: kvk_status = kvk_status { first: u64::MAX, faults: 0, reserved: 0 };

impl Status {
    /// A new one, with nothing reported. Errors: `Memory`, `Lost`.
    pub fn new(stream: &Stream) -> Result<Status, Error> {
        let device: &Arc<dyn Device> = stream.device();
        let memory = Memory::allocate(device, Space::Pinned, size_of::<kvk_status>())?;
        memory.write(stream, 0, &[NOTHING])?;
        Ok(Status { memory })
    }

    /// For the parameters of a launch.
    pub fn pointer(&self) -> *mut kvk_status {
        self.memory.pointer()
    }

    /// Waits for the stream, and takes what was reported since the last time; `None` if nothing was. Errors: `Lost`.
    pub fn take(&self, stream: &Stream) -> Result<Option<Report>, Error> {
        let mut found = [NOTHING];
        self.memory.read(stream, 0, &mut found)?;
        self.memory.write(stream, 0, &[NOTHING])?;
        let [kvk_status { first, faults, .. }] = found;
        Ok((faults != 0).then_some(Report { faults, row: (first >> 32) as u32, index: first as u32 }))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const FAULTS: [(u32, &str); 4] = [
            (raw::KVK_FAULT_BLOCK, "a table names a block that the pool does not have"),
            (raw::KVK_FAULT_TABLE, "a table is too short"),
            (raw::KVK_FAULT_SLOT, "a slot is outside of the cache"),
            (raw::KVK_FAULT_CLAMPED, "a query is too large for 16 bits"),
        ];
        let said: Vec<&str> = FAULTS.iter().filter(|(bit, _)| self.faults & bit != 0).map(|(_, text)| *text).collect();
        write!(f, "{}: first at row {}, index {}", said.join("; "), self.row, self.index)
    }
}
