//! Memory of a device, and what moves bytes.

use crate::claim;
use crate::devices::{KvlDevice, device};
use crate::error::{Failure, KvlDeviceError, answer, answer_apart, span};
use crate::streams::KvlDeviceStream;
use kvledger_cuda::{Address, Device, Error, Reason, Space, StreamId};
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
    answer_apart(span(out), error, allocate)
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
    answer(error, free)
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
    answer_apart(span(out), error, find)
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
    answer(error, copy)
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
    answer(error, set)
}

/// Whether a pointer can be an array of so many bytes.
fn refuse_impossible(name: &'static str, pointer: *const u8, bytes: usize) -> Result<(), Failure> {
    if bytes > isize::MAX as usize {
        return Err(Failure::Argument { name: "bytes", must: "at most half of the address space" });
    }
    if bytes > 0 && pointer.is_null() {
        return Err(Failure::Argument { name, must: "something else than NULL" });
    }
    Ok(())
}

/// Pinned memory has one address for the device and the host: a copy from or to the host may be one of it to itself.
fn apart_if_pinned(
    device: &dyn Device,
    pinned: Address,
    to: Address,
    from: Address,
    bytes: usize,
) -> Result<(), Error> {
    let is_pinned = device.extent(pinned).is_some_and(|extent| extent.space == Space::Pinned);
    if is_pinned && to.overlaps(from, bytes) { Err(Error::new("copy", Reason::Overlap { to, from })) } else { Ok(()) }
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
        refuse_impossible("from", from, bytes)?;
        let device = device(handle)?;
        apart_if_pinned(&*device, Address(to), Address(to), Address(from.addr() as u64), bytes)?;
        let from: &[u8] = match bytes {
            0 => &[],
            // SAFETY: not NULL, no longer than the address space, and promised to be so long.
            _ => unsafe { slice::from_raw_parts(from, bytes) },
        };
        Ok(device.write(StreamId(stream.id), Address(to), from)?)
    };
    answer(error, write)
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
        refuse_impossible("to", to, bytes)?;
        let device = device(handle)?;
        apart_if_pinned(&*device, Address(from), Address(to.addr() as u64), Address(from), bytes)?;
        let to: &mut [u8] = match bytes {
            0 => &mut [],
            // SAFETY: not NULL, no longer than the address space, and promised to be so long and the call's alone. It may
            // be uninitialized to C, which has no such thing in memory that another language sees: the device only writes
            // to it.
            _ => unsafe { slice::from_raw_parts_mut(to, bytes) },
        };
        Ok(device.read(StreamId(stream.id), to, Address(from))?)
    };
    answer_apart((to.addr(), bytes), error, read)
}
