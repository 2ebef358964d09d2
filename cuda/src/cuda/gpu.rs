//! [`Device`] by calls of the runtime. Each first makes its device the thread's.

use super::known::Known;
use super::sys::{self, Code, RawEvent, RawStream};
use crate::device::{Address, Device, EventId, Extent, Facts, Space, StreamId};
use crate::error::{Error, Loss, Reason};
use crate::launch::{Launch, Refusal, Use, Where, Wrong, dispatch};
use crate::raw;
use core::ffi::{CStr, c_int, c_void};
use core::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// One GPU.
#[derive(Debug)]
pub struct Gpu {
    number: c_int,
    facts: Facts,
    known: Mutex<Known>,
    loss: OnceLock<Loss>,
}

/// How many GPUs there are.
pub fn count() -> Result<u32, Error> {
    let mut count = 0;
    // SAFETY: the number is there for the length of the call.
    let code = unsafe { sys::cudaGetDeviceCount(&mut count) };
    opened(code)?;
    Ok(u32::try_from(count).unwrap_or(0))
}

/// What the first calls answer.
fn opened(code: Code) -> Result<(), Error> {
    let reason = match code {
        sys::SUCCESS => return Ok(()),
        sys::INSUFFICIENT_DRIVER | sys::INITIALIZATION => Reason::NoDriver,
        sys::NO_DEVICE => Reason::NoDevice { count: 0 },
        number => Reason::Number { number, text: text(number) },
    };
    forget_error();
    Err(Error::new("open", reason))
}

/// What went wrong in a call is kept by the runtime until it is asked; or the next launch would find it.
fn forget_error() {
    // SAFETY: asks for a number.
    unsafe { sys::cudaGetLastError() };
}

fn text(code: Code) -> &'static str {
    // SAFETY: takes any number.
    let text = unsafe { sys::cudaGetErrorString(code) };
    // SAFETY: it answers with static text that ends in 0.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("text that is not UTF-8")
}

fn attribute(number: c_int, attribute: c_int) -> Result<u32, Error> {
    let mut value = 0;
    // SAFETY: the number is there for the length of the call.
    opened(unsafe { sys::cudaDeviceGetAttribute(&mut value, attribute, number) })?;
    Ok(u32::try_from(value).unwrap_or(0))
}

fn name(number: c_int) -> Result<String, Error> {
    // Words, which settle the alignment.
    let mut properties = [0u64; sys::PROPERTIES_BYTES / 8];
    // SAFETY: there is more room than the properties of any version take.
    opened(unsafe { sys::cudaGetDeviceProperties(properties.as_mut_ptr().cast(), number) })?;
    let bytes: Vec<u8> = properties.iter().flat_map(|word| word.to_ne_bytes()).take(sys::NAME_BYTES).collect();
    Ok(CStr::from_bytes_until_nul(&bytes).unwrap_or(c"").to_string_lossy().into_owned())
}

/// One of them.
pub fn open(number: u32) -> Result<Arc<dyn Device>, Error> {
    let count = count()?;
    let number = c_int::try_from(number).ok().filter(|number| *number < count.cast_signed());
    let number = number.ok_or(Error::new("open", Reason::NoDevice { count }))?;
    // SAFETY: a number of a device.
    opened(unsafe { sys::cudaSetDevice(number) })?;
    let facts = facts(number)?;
    fits(facts.compute)?;
    Ok(Arc::new(Gpu { number, facts, known: Mutex::default(), loss: OnceLock::new() }))
}

/// Whether kernels are there for the thread's device.
fn fits(compute: u32) -> Result<(), Error> {
    // SAFETY: asks for a number.
    let code = unsafe { raw::kvk_cuda_fits() };
    if sys::UNFIT.contains(&code) {
        forget_error();
        return Err(Error::new("open", Reason::Unfit { compute }));
    }
    opened(code)
}

/// What it says of itself. It is the thread's device.
fn facts(number: c_int) -> Result<Facts, Error> {
    let (mut free, mut total) = (0, 0);
    // SAFETY: the numbers are there for the length of the call.
    opened(unsafe { sys::cudaMemGetInfo(&mut free, &mut total) })?;
    let major = attribute(number, sys::ATTRIBUTE_COMPUTE_MAJOR)?;
    Ok(Facts {
        name: name(number)?,
        compute: major * 10 + attribute(number, sys::ATTRIBUTE_COMPUTE_MINOR)?,
        multiprocessors: attribute(number, sys::ATTRIBUTE_MULTIPROCESSORS)?,
        shared_bytes: attribute(number, sys::ATTRIBUTE_SHARED_BYTES)?,
        memory_bytes: total as u64,
    })
}

/// What was not given back goes with the device, when its work is done. Streams of others stay as they are.
impl Drop for Gpu {
    fn drop(&mut self) {
        // A lost device answers errors to all of this, and has nothing left to give.
        let _ = self.enter("close");
        // SAFETY: asks for work to be done.
        unsafe { sys::cudaDeviceSynchronize() };
        let known = core::mem::take(self.known.get_mut().unwrap_or_else(PoisonError::into_inner));
        for stream in &known.streams {
            // SAFETY: a stream, handed out once and not given back before; nobody can name it any more.
            unsafe { sys::cudaStreamDestroy(pointer(*stream)) };
        }
        for event in &known.events {
            // SAFETY: as above, an event.
            unsafe { sys::cudaEventDestroy(pointer(*event)) };
        }
        for (address, space) in known.allocations() {
            match space {
                // SAFETY: as above, an allocation; no work uses it.
                Space::Device => unsafe { sys::cudaFree(pointer(address.0)) },
                // SAFETY: as above.
                Space::Pinned => unsafe { sys::cudaFreeHost(pointer(address.0)) },
            };
        }
        forget_error();
    }
}

impl Gpu {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It is not lost, and is the thread's device from now on.
    fn enter(&self, operation: &'static str) -> Result<(), Error> {
        if let Some(loss) = self.loss.get() {
            return Err(Error::new(operation, Reason::Lost(*loss)));
        }
        // SAFETY: the number of a device.
        self.answer(operation, unsafe { sys::cudaSetDevice(self.number) })
    }

    /// A code as a value. One that stays loses the device.
    fn answer(&self, operation: &'static str, code: Code) -> Result<(), Error> {
        if code == sys::SUCCESS {
            return Ok(());
        }
        forget_error();
        let text = text(code);
        if sys::STICKY.contains(&code) {
            // The runtime does not say whose work it was.
            let loss = *self.loss.get_or_init(|| Loss { operation: "", number: code, text, at: None });
            return Err(Error::new(operation, Reason::Lost(loss)));
        }
        Err(Error::new(operation, Reason::Number { number: code, text }))
    }

    /// The same of a call that says whether something is over.
    fn polled(&self, operation: &'static str, code: Code) -> Result<bool, Error> {
        if code == sys::NOT_READY {
            forget_error();
            return Ok(false);
        }
        self.answer(operation, code).map(|()| true)
    }

    /// Entered, with a stream that is one.
    fn stream(&self, operation: &'static str, stream: StreamId) -> Result<RawStream, Error> {
        self.enter(operation)?;
        let known = self.known();
        let is_known = known.streams.contains(&stream.0) || known.adopted.contains(&stream.0);
        drop(known);
        if is_known { Ok(pointer(stream.0)) } else { Err(Error::new(operation, Reason::Handle)) }
    }

    /// Entered, with an event that is one.
    fn event(&self, operation: &'static str, event: EventId) -> Result<RawEvent, Error> {
        self.enter(operation)?;
        let is_known = self.known().events.contains(&event.0);
        if is_known { Ok(pointer(event.0)) } else { Err(Error::new(operation, Reason::Handle)) }
    }

    fn check(&self, operation: &'static str, address: Address, bytes: usize) -> Result<*mut c_void, Error> {
        self.known().check(address, bytes).map_err(|reason| Error::new(operation, reason))?;
        Ok(pointer(address.0))
    }
}

fn pointer(number: u64) -> *mut c_void {
    number as usize as *mut c_void
}

/// Memory that is the device's must be long enough and of the right kind; of other memory nothing is known.
fn look_up(known: &Known, used: Use, address: u64) -> Result<u64, Refusal> {
    match known.extent(Address(address)) {
        // The end of an allocation: somebody else's memory may begin there.
        Some(extent) if extent.bytes == 0 && used.bytes > 0 => Ok(address),
        Some(extent) if used.bytes > extent.bytes as u64 => {
            Err(Refusal::new(used.field, Wrong::Short { needed: used.bytes, available: extent.bytes as u64 }))
        }
        Some(extent) if extent.space == Space::Pinned && used.place == Where::Device => {
            Err(Refusal::new(used.field, Wrong::Pinned))
        }
        _ => Ok(address),
    }
}

// SAFETY comments below that say "handles and ranges" mean: both were looked up among what this device has handed out.
impl Device for Gpu {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn loss(&self) -> Option<Loss> {
        self.loss.get().copied()
    }

    fn allocate(&self, space: Space, bytes: usize) -> Result<Address, Error> {
        self.enter("allocate")?;
        let mut memory = ptr::null_mut();
        // The runtime answers 0 bytes with NULL.
        let room = bytes.max(1);
        let code = match space {
            // SAFETY: the pointer is there for the length of the call.
            Space::Device => unsafe { sys::cudaMalloc(&mut memory, room) },
            // SAFETY: as above.
            Space::Pinned => unsafe { sys::cudaHostAlloc(&mut memory, room, sys::HOST_ALLOC_PORTABLE) },
        };
        if code == sys::MEMORY_ALLOCATION {
            forget_error();
            return Err(Error::new("allocate", Reason::Memory { space, bytes }));
        }
        self.answer("allocate", code)?;
        let address = Address(memory as usize as u64);
        self.known().add(address, space, bytes);
        Ok(address)
    }

    fn free(&self, address: Address) -> bool {
        let Some(space) = self.known().remove(address) else { return false };
        // Errors are of work before, which its own callers are told; a lost device has nothing left to give.
        let _ = self.enter("free");
        // SAFETY: asks for work to be done.
        unsafe { sys::cudaDeviceSynchronize() };
        let memory = pointer(address.0);
        match space {
            // SAFETY: an allocation, handed out once and not given back before; no work uses it.
            Space::Device => unsafe { sys::cudaFree(memory) },
            // SAFETY: as above.
            Space::Pinned => unsafe { sys::cudaFreeHost(memory) },
        };
        forget_error();
        true
    }

    fn extent(&self, address: Address) -> Option<Extent> {
        self.known().extent(address)
    }

    fn open_stream(&self) -> Result<StreamId, Error> {
        self.enter("open_stream")?;
        let mut stream = ptr::null_mut();
        // SAFETY: the pointer is there for the length of the call.
        let code = unsafe { sys::cudaStreamCreateWithFlags(&mut stream, sys::STREAM_NON_BLOCKING) };
        self.answer("open_stream", code)?;
        self.known().streams.insert(stream as usize as u64);
        Ok(StreamId(stream as usize as u64))
    }

    unsafe fn adopt_stream(&self, stream: StreamId) -> Result<(), Error> {
        self.enter("adopt_stream")?;
        // The default streams are no pointers: 0, cudaStreamLegacy and cudaStreamPerThread.
        if stream.0 <= sys::STREAM_PER_THREAD {
            return Err(Error::new("adopt_stream", Reason::Handle));
        }
        self.known().adopted.insert(stream.0);
        Ok(())
    }

    fn close_stream(&self, stream: StreamId) -> bool {
        if self.known().adopted.remove(&stream.0) {
            return true;
        }
        let was_open = self.known().streams.remove(&stream.0);
        if was_open {
            let _ = self.enter("close_stream");
            // SAFETY: a stream, handed out once and not given back before. Its work is done all the same.
            unsafe { sys::cudaStreamDestroy(pointer(stream.0)) };
            forget_error();
        }
        was_open
    }

    fn synchronize_stream(&self, stream: StreamId) -> Result<(), Error> {
        let stream = self.stream("synchronize_stream", stream)?;
        // SAFETY: handles.
        self.answer("synchronize_stream", unsafe { sys::cudaStreamSynchronize(stream) })
    }

    fn query_stream(&self, stream: StreamId) -> Result<bool, Error> {
        let stream = self.stream("query_stream", stream)?;
        // SAFETY: handles.
        self.polled("query_stream", unsafe { sys::cudaStreamQuery(stream) })
    }

    fn open_event(&self) -> Result<EventId, Error> {
        self.enter("open_event")?;
        let mut event = ptr::null_mut();
        // SAFETY: the pointer is there for the length of the call.
        let code = unsafe { sys::cudaEventCreateWithFlags(&mut event, sys::EVENT_DISABLE_TIMING) };
        self.answer("open_event", code)?;
        self.known().events.insert(event as usize as u64);
        Ok(EventId(event as usize as u64))
    }

    fn close_event(&self, event: EventId) -> bool {
        let was_open = self.known().events.remove(&event.0);
        if was_open {
            let _ = self.enter("close_event");
            // SAFETY: an event, handed out once and not given back before. Who waits for it still does.
            unsafe { sys::cudaEventDestroy(pointer(event.0)) };
            forget_error();
        }
        was_open
    }

    fn record_event(&self, event: EventId, stream: StreamId) -> Result<(), Error> {
        let (event, stream) = (self.event("record_event", event)?, self.stream("record_event", stream)?);
        // SAFETY: handles.
        self.answer("record_event", unsafe { sys::cudaEventRecord(event, stream) })
    }

    fn query_event(&self, event: EventId) -> Result<bool, Error> {
        let event = self.event("query_event", event)?;
        // SAFETY: handles.
        self.polled("query_event", unsafe { sys::cudaEventQuery(event) })
    }

    fn synchronize_event(&self, event: EventId) -> Result<(), Error> {
        let event = self.event("synchronize_event", event)?;
        // SAFETY: handles.
        self.answer("synchronize_event", unsafe { sys::cudaEventSynchronize(event) })
    }

    fn wait_event(&self, stream: StreamId, event: EventId) -> Result<(), Error> {
        let (stream, event) = (self.stream("wait_event", stream)?, self.event("wait_event", event)?);
        // SAFETY: handles.
        self.answer("wait_event", unsafe { sys::cudaStreamWaitEvent(stream, event, 0) })
    }

    fn copy(&self, stream: StreamId, to: Address, from: Address, bytes: usize) -> Result<(), Error> {
        let stream = self.stream("copy", stream)?;
        let (to_pointer, from_pointer) = (self.check("copy", to, bytes)?, self.check("copy", from, bytes)?);
        if to.overlaps(from, bytes) {
            return Err(Error::new("copy", Reason::Overlap { to, from }));
        }
        let (to, from) = (to_pointer, from_pointer);
        // SAFETY: handles and ranges.
        self.answer("copy", unsafe { sys::cudaMemcpyAsync(to, from, bytes, sys::MEMCPY_DEFAULT, stream) })
    }

    fn set(&self, stream: StreamId, to: Address, value: u8, bytes: usize) -> Result<(), Error> {
        let stream = self.stream("set", stream)?;
        let to = self.check("set", to, bytes)?;
        // SAFETY: handles and ranges.
        self.answer("set", unsafe { sys::cudaMemsetAsync(to, value.into(), bytes, stream) })
    }

    fn write(&self, stream: StreamId, to: Address, from: &[u8]) -> Result<(), Error> {
        let raw = self.stream("write", stream)?;
        let to = self.check("write", to, from.len())?;
        // SAFETY: handles and ranges; `from` is there until the copy is done, which is waited for.
        let code = unsafe { sys::cudaMemcpyAsync(to, from.as_ptr().cast(), from.len(), sys::MEMCPY_DEFAULT, raw) };
        let enqueued = self.answer("write", code);
        self.synchronize_stream(stream)?;
        enqueued
    }

    fn read(&self, stream: StreamId, to: &mut [u8], from: Address) -> Result<(), Error> {
        let raw = self.stream("read", stream)?;
        let from = self.check("read", from, to.len())?;
        // SAFETY: as above.
        let code = unsafe { sys::cudaMemcpyAsync(to.as_mut_ptr().cast(), from, to.len(), sys::MEMCPY_DEFAULT, raw) };
        let enqueued = self.answer("read", code);
        self.synchronize_stream(stream)?;
        enqueued
    }

    unsafe fn launch(&self, stream: StreamId, launch: &Launch) -> Result<(), Error> {
        let operation = launch.name();
        let stream = self.stream(operation, stream)?;
        let refused = |refusal: Refusal| Error::new(operation, refusal.into());
        launch.check().map_err(refused)?;
        let known = self.known();
        launch.seen(&mut |used, address| look_up(&known, used, address)).map_err(refused)?;
        drop(known);
        // SAFETY: parameters were checked; the rest is the caller's promise.
        let code = unsafe { call(launch, stream) };
        if code == raw::KVK_UNSUPPORTED {
            let text = "there is no kernel for these parameters";
            return Err(Error::new(operation, Reason::Number { number: code, text }));
        }
        self.answer(operation, code)
    }
}

/// # Safety
/// As [`Device::launch`]; `stream` is one of the thread's device.
unsafe fn call(launch: &Launch, stream: RawStream) -> Code {
    dispatch!(launch, stream, {
        Append => raw::kvk_cuda_append,
        Attend => raw::kvk_cuda_attend,
        Merge => raw::kvk_cuda_merge,
        MergeTwo => raw::kvk_cuda_merge_two,
        CopyBlocks => raw::kvk_cuda_copy_blocks,
        Fill => raw::kvk_cuda_fill,
        Checksum => raw::kvk_cuda_checksum,
        Rewrite => raw::kvk_cuda_rewrite,
        Gather => raw::kvk_cuda_gather,
    })
}
