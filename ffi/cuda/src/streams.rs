//! Streams and events.

use crate::claim;
use crate::devices::{KvlDevice, device};
use crate::error::{Failure, KvlDeviceError, answer, answer_apart, span};
use kvledger_cuda::{Error, EventId, Reason, StreamId};

/// A stream of a device.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KvlDeviceStream {
    /// 0: none.
    pub id: u64,
}

/// An event of a device.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KvlDeviceEvent {
    /// 0: none.
    pub id: u64,
}

/// A handle that was none is answered as that.
fn closed(operation: &'static str, was_open: bool) -> Result<(), Failure> {
    if was_open { Ok(()) } else { Err(Error::new(operation, Reason::Handle).into()) }
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_open_stream(
    handle: KvlDevice,
    out: *mut KvlDeviceStream,
    error: *mut KvlDeviceError,
) -> u32 {
    let open = || {
        claim::output("stream", out)?;
        let stream = device(handle)?.open_stream()?;
        // SAFETY: neither NULL nor misaligned, and promised.
        unsafe { out.write(KvlDeviceStream { id: stream.0 }) };
        Ok(())
    };
    answer_apart(span(out), error, open)
}

/// # Safety
/// As the header says of the stream and the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_adopt_stream(
    handle: KvlDevice,
    stream: KvlDeviceStream,
    error: *mut KvlDeviceError,
) -> u32 {
    // SAFETY: promised.
    let adopt = || Ok(unsafe { device(handle)?.adopt_stream(StreamId(stream.id)) }?);
    answer(error, adopt)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_close_stream(
    handle: KvlDevice,
    stream: KvlDeviceStream,
    error: *mut KvlDeviceError,
) -> u32 {
    let close = || closed("close_stream", device(handle)?.close_stream(StreamId(stream.id)));
    answer(error, close)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_synchronize_stream(
    handle: KvlDevice,
    stream: KvlDeviceStream,
    error: *mut KvlDeviceError,
) -> u32 {
    let synchronize = || Ok(device(handle)?.synchronize_stream(StreamId(stream.id))?);
    answer(error, synchronize)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_open_event(
    handle: KvlDevice,
    out: *mut KvlDeviceEvent,
    error: *mut KvlDeviceError,
) -> u32 {
    let open = || {
        claim::output("event", out)?;
        let event = device(handle)?.open_event()?;
        // SAFETY: neither NULL nor misaligned, and promised.
        unsafe { out.write(KvlDeviceEvent { id: event.0 }) };
        Ok(())
    };
    answer_apart(span(out), error, open)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_close_event(
    handle: KvlDevice,
    event: KvlDeviceEvent,
    error: *mut KvlDeviceError,
) -> u32 {
    let close = || closed("close_event", device(handle)?.close_event(EventId(event.id)));
    answer(error, close)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_record_event(
    handle: KvlDevice,
    event: KvlDeviceEvent,
    stream: KvlDeviceStream,
    error: *mut KvlDeviceError,
) -> u32 {
    let record = || Ok(device(handle)?.record_event(EventId(event.id), StreamId(stream.id))?);
    answer(error, record)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_query_event(
    handle: KvlDevice,
    event: KvlDeviceEvent,
    out: *mut u32,
    error: *mut KvlDeviceError,
) -> u32 {
    let query = || {
        claim::output("over", out)?;
        let over = device(handle)?.query_event(EventId(event.id))?;
        // SAFETY: neither NULL nor misaligned, and promised.
        unsafe { out.write(over.into()) };
        Ok(())
    };
    answer_apart(span(out), error, query)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_synchronize_event(
    handle: KvlDevice,
    event: KvlDeviceEvent,
    error: *mut KvlDeviceError,
) -> u32 {
    let synchronize = || Ok(device(handle)?.synchronize_event(EventId(event.id))?);
    answer(error, synchronize)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_wait_event(
    handle: KvlDevice,
    stream: KvlDeviceStream,
    event: KvlDeviceEvent,
    error: *mut KvlDeviceError,
) -> u32 {
    let wait = || Ok(device(handle)?.wait_event(StreamId(stream.id), EventId(event.id))?);
    answer(error, wait)
}
