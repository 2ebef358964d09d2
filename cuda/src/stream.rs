//! Streams and events that give themselves back.

use crate::device::{Device, EventId, StreamId};
use crate::error::Error;
use crate::launch::Launch;
use crate::memory::Memory;
use std::sync::Arc;

/// A queue of work. Dropped, it ends when its work is done.
#[derive(Debug)]
pub struct Stream {
    device: Arc<dyn Device>,
    id: StreamId,
}

impl Stream {
    /// A new one, which waits for no other. Errors: `Memory`, `Number`, `Lost`.
    pub fn open(device: &Arc<dyn Device>) -> Result<Stream, Error> {
        Ok(Stream { id: device.open_stream()?, device: device.clone() })
    }

    /// Its device.
    pub fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    /// Its number.
    pub fn id(&self) -> StreamId {
        self.id
    }

    /// Waits until all its work is done. Errors: `Lost`.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.device.synchronize_stream(self.id)
    }

    /// Whether all its work is done. Errors: `Lost`.
    pub fn is_idle(&self) -> Result<bool, Error> {
        self.device.query_stream(self.id)
    }

    /// Enqueues a mark. Errors: `Lost`.
    pub fn record(&self, event: &Event) -> Result<(), Error> {
        self.device.record_event(event.id, self.id)
    }

    /// Work enqueued from now on begins when the event's newest mark is over. Errors: `Lost`.
    pub fn wait_event(&self, event: &Event) -> Result<(), Error> {
        self.device.wait_event(self.id, event.id)
    }

    /// Enqueues a copy of `bytes`, from and to so many bytes after the beginnings. Errors: `Range`, `Lost`.
    pub fn copy(&self, to: (&Memory, usize), from: (&Memory, usize), bytes: usize) -> Result<(), Error> {
        let (to, from) = (to.0.range("copy", to.1, bytes)?, from.0.range("copy", from.1, bytes)?);
        self.device.copy(self.id, to, from, bytes)
    }

    /// Enqueues that each of `bytes` becomes `value`. Errors: `Range`, `Lost`.
    pub fn set(&self, to: (&Memory, usize), value: u8, bytes: usize) -> Result<(), Error> {
        self.device.set(self.id, to.0.range("set", to.1, bytes)?, value, bytes)
    }

    /// Enqueues a kernel. Errors: as [`Device::launch`].
    ///
    /// # Safety
    /// As [`Device::launch`].
    pub unsafe fn launch(&self, launch: &Launch) -> Result<(), Error> {
        // SAFETY: the caller's promise is the same.
        unsafe { self.device.launch(self.id, launch) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.device.close_stream(self.id);
    }
}

/// A mark that is put into streams, and is over when all work before it is done.
#[derive(Debug)]
pub struct Event {
    device: Arc<dyn Device>,
    id: EventId,
}

impl Event {
    /// A new one, which is over until it is recorded. Errors: `Memory`, `Number`, `Lost`.
    pub fn open(device: &Arc<dyn Device>) -> Result<Event, Error> {
        Ok(Event { id: device.open_event()?, device: device.clone() })
    }

    /// Its number.
    pub fn id(&self) -> EventId {
        self.id
    }

    /// Whether its newest mark is over, or there is none. Errors: `Lost`.
    pub fn is_complete(&self) -> Result<bool, Error> {
        self.device.query_event(self.id)
    }

    /// Waits until it is. Errors: `Lost`.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.device.synchronize_event(self.id)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        self.device.close_event(self.id);
    }
}
