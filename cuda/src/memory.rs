//! Memory of a device that gives itself back.

use crate::device::{Address, Device, Space};
use crate::error::{Error, Reason};
use crate::stream::Stream;
use core::mem::size_of_val;
use core::{fmt, slice};
use std::sync::Arc;

/// Numbers and structures of numbers: any bytes are one, and all of its bytes are set.
///
/// # Safety
/// A type has no padding, and no value of its bytes is invalid.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($name:ty),*) => { $(
        // SAFETY: a number, or a structure whose header asserts that it has no padding and which has numbers only.
        unsafe impl Plain for $name {}
    )* };
}

plain!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);
plain!(
    crate::raw::kvk_item,
    crate::raw::kvk_join,
    crate::raw::kvk_copy_pair,
    crate::raw::kvk_slot,
    crate::raw::kvk_status
);

/// An allocation. Dropped, it is given back when the work that was enqueued before no longer needs it.
pub struct Memory {
    device: Arc<dyn Device>,
    address: Address,
    bytes: usize,
    space: Space,
}

impl Memory {
    /// So many bytes, whose contents mean nothing yet. Errors: `Memory`, `Lost`.
    pub fn allocate(device: &Arc<dyn Device>, space: Space, bytes: usize) -> Result<Memory, Error> {
        let address = device.allocate(space, bytes)?;
        Ok(Memory { device: device.clone(), address, bytes, space })
    }

    /// Device memory that holds these. Errors: as `allocate` and [`Device::write`].
    pub fn holding<T: Plain>(stream: &Stream, data: &[T]) -> Result<Memory, Error> {
        let memory = Memory::allocate(stream.device(), Space::Device, size_of_val(data))?;
        memory.write(stream, 0, data)?;
        Ok(memory)
    }

    /// Where it begins for the device.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where it is.
    pub fn space(&self) -> Space {
        self.space
    }

    /// For the parameters of a launch. The host must not follow it, and may not: of device memory it faults.
    pub fn pointer<T>(&self) -> *mut T {
        self.address.0 as usize as *mut T
    }

    /// Waits for the stream, and copies `data` to `offset` bytes after the beginning. Errors: `Range`, `Lost`.
    pub fn write<T: Plain>(&self, stream: &Stream, offset: usize, data: &[T]) -> Result<(), Error> {
        let to = self.range("write", offset, size_of_val(data))?;
        self.device.write(stream.id(), to, bytes_of(data))
    }

    /// Waits for the stream, and fills `data` from `offset` bytes after the beginning. Errors: `Range`, `Lost`.
    pub fn read<T: Plain>(&self, stream: &Stream, offset: usize, data: &mut [T]) -> Result<(), Error> {
        let from = self.range("read", offset, size_of_val(data))?;
        self.device.read(stream.id(), bytes_of_mut(data), from)
    }

    /// So many values from `offset` bytes after the beginning on. Errors: as `read`.
    pub fn values<T: Plain + Default>(&self, stream: &Stream, offset: usize, count: usize) -> Result<Vec<T>, Error> {
        let mut values = vec![T::default(); count];
        self.read(stream, offset, &mut values)?;
        Ok(values)
    }

    /// Pinned memory, as the host sees it. Errors: `Elsewhere` for device memory.
    pub fn host_pointer(&self) -> Result<*mut u8, Error> {
        match self.space {
            Space::Pinned => Ok(self.pointer()),
            Space::Device => Err(Error::new("host_pointer", Reason::Elsewhere(self.space))),
        }
    }

    /// The address `offset` bytes after the beginning, if `bytes` more are there. Errors: `Range`.
    pub fn range(&self, operation: &'static str, offset: usize, bytes: usize) -> Result<Address, Error> {
        let address = Address(self.address.0.wrapping_add(offset as u64));
        let available = self.bytes.saturating_sub(offset);
        if offset > self.bytes || bytes > available {
            return Err(Error::new(operation, Reason::Range { address, bytes, available }));
        }
        Ok(address)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.device.free(self.address);
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of {} at {}", self.bytes, self.space, self.address)
    }
}

fn bytes_of<T: Plain>(data: &[T]) -> &[u8] {
    // SAFETY: `Plain` has no padding, so each byte is set; the slice is as long, and borrowed as long.
    unsafe { slice::from_raw_parts(data.as_ptr().cast(), size_of_val(data)) }
}

fn bytes_of_mut<T: Plain>(data: &mut [T]) -> &mut [u8] {
    // SAFETY: as above, and `Plain` takes any bytes.
    unsafe { slice::from_raw_parts_mut(data.as_mut_ptr().cast(), size_of_val(data)) }
}
