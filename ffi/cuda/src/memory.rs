//! Memory of a device, and what moves bytes.

use crate::claim;
use crate::devices::{KvlDevice, device};
use crate::error::{Failure, KvlDeviceError, answer};
use crate::streams::KvlDeviceStream;
use kvledger_cuda::{Address, Error, Reason, Space, StreamId};
use std::slice;

fn space(number: u32) -> Result<Space, Failure> {
    match number {
        0 => Ok(Space::Device),
        1 => Ok(Space::Pinned),
        _ => Err(Failure::Argument { name: "space", must: "KVL_SPACE_DEVICE or KVL_SPACE_PINNED" }),
    }
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_allocate(
    handle: KvlDevice,
    kind: u32,
    bytes: usize,
    out: *mut u64,
    error: *mut KvlDeviceError,
) -> u32 {
    let allocate = || {
        claim::output("address", out)?;
        let address = device(handle)?.allocate(space(kind)?, bytes)?;
        // SAFETY: neither NULL nor misaligned, and promised.
        unsafe { out.write(address.0) };
        Ok(())
    };
    answer(allocate(), error)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_free(handle: KvlDevice, address: u64, error: *mut KvlDeviceError) -> u32 {
    let free = || {
        let was_given = device(handle)?.free(Address(address));
        // 0 is none, which may be given back.
        if was_given || address == 0 {
            Ok(())
        } else {
            Err(Error::new("free", Reason::Foreign(Address(address))).into())
        }
    };
    answer(free(), error)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_host_pointer(
    handle: KvlDevice,
    address: u64,
    out: *mut *mut u8,
    error: *mut KvlDeviceError,
) -> u32 {
    let find = || {
        claim::output("host", out)?;
        let extent = device(handle)?.extent(Address(address));
        match extent.map(|extent| extent.space) {
            Some(Space::Pinned) => {
                // SAFETY: neither NULL nor misaligned, and promised.
                unsafe { out.write(address as usize as *mut u8) };
                Ok(())
            }
            Some(space) => Err(Error::new("host_pointer", Reason::Elsewhere(space)).into()),
            None => Err(Error::new("host_pointer", Reason::Foreign(Address(address))).into()),
        }
    };
    answer(find(), error)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_copy(
    handle: KvlDevice,
    stream: KvlDeviceStream,
    to: u64,
    from: u64,
    bytes: usize,
    error: *mut KvlDeviceError,
) -> u32 {
    let copy = || Ok(device(handle)?.copy(StreamId(stream.id), Address(to), Address(from), bytes)?);
    answer(copy(), error)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_set(
    handle: KvlDevice,
    stream: KvlDeviceStream,
    to: u64,
    value: u32,
    bytes: usize,
    error: *mut KvlDeviceError,
) -> u32 {
    let set = || {
        let value = u8::try_from(value).map_err(|_| Failure::Argument { name: "value", must: "below 256" })?;
        Ok(device(handle)?.set(StreamId(stream.id), Address(to), value, bytes)?)
    };
    answer(set(), error)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_write(
    handle: KvlDevice,
    stream: KvlDeviceStream,
    to: u64,
    from: *const u8,
    bytes: usize,
    error: *mut KvlDeviceError,
) -> u32 {
    let write = || {
        let from: &[u8] = match bytes {
            0 => &[],
            _ if from.is_null() => return Err(Failure::Argument { name: "from", must: "something else than NULL" }),
            // SAFETY: not NULL, and promised to be so long.
            _ => unsafe { slice::from_raw_parts(from, bytes) },
        };
        Ok(device(handle)?.write(StreamId(stream.id), Address(to), from)?)
    };
    answer(write(), error)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_read(
    handle: KvlDevice,
    stream: KvlDeviceStream,
    to: *mut u8,
    from: u64,
    bytes: usize,
    error: *mut KvlDeviceError,
) -> u32 {
    let read = || {
        let to: &mut [u8] = match bytes {
            0 => &mut [],
            _ if to.is_null() => return Err(Failure::Argument { name: "to", must: "something else than NULL" }),
            // SAFETY: not NULL, and promised to be so long and the call's alone. It may be uninitialized to C, which has
            // no such thing in memory that another language sees: the device only writes to it.
            _ => unsafe { slice::from_raw_parts_mut(to, bytes) },
        };
        Ok(device(handle)?.read(StreamId(stream.id), to, Address(from))?)
    };
    answer(read(), error)
}
