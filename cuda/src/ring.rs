//! Lists on their way to a device: pinned memory that is not written again while work may still read it.
//!
//! A plan, a list of pairs or of blocks is written by the host for each step, and read later. Written too early, the next
//! list is what an earlier step reads. So there are some slots in turn, each with an event that says when it may be
//! written again.

use crate::device::{Address, Device, Space};
use crate::error::{Error, Reason};
use crate::memory::{Memory, Plain};
use crate::stream::{Event, Stream};
use core::mem::size_of_val;
use std::sync::Arc;

/// The slots.
#[derive(Debug)]
pub struct Ring {
    slots: Vec<Slot>,
    next: usize,
}

#[derive(Debug)]
struct Slot {
    memory: Memory,
    /// The last use of it.
    event: Event,
}

impl Ring {
    /// So many slots of so many bytes each. With three, one is written while two are on their way. Errors: `Memory`,
    /// `Lost`.
    pub fn new(device: &Arc<dyn Device>, slots: usize, bytes: usize) -> Result<Ring, Error> {
        let slot = || {
            let memory = Memory::allocate(device, Space::Pinned, bytes)?;
            Ok(Slot { memory, event: Event::open(device)? })
        };
        let slots = (0..slots.max(1)).map(|_| slot()).collect::<Result<Vec<Slot>, Error>>()?;
        Ok(Ring { slots, next: 0 })
    }

    /// Bytes of a slot.
    pub fn bytes(&self) -> usize {
        self.slots[0].memory.bytes()
    }

    /// Writes `list` into the next slot, waiting until earlier work no longer reads it, and hands the slot's address to
    /// `enqueue`, which may enqueue work that reads it on `stream` and nowhere else. Errors: `Range` if it is too long;
    /// `Lost`; those of `enqueue`.
    pub fn send<T: Plain>(
        &mut self,
        stream: &Stream,
        list: &[T],
        enqueue: impl FnOnce(Address) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let slot = &self.slots[self.next];
        self.next = (self.next + 1) % self.slots.len();
        slot.event.synchronize()?;
        slot.fill(list)?;
        let enqueued = enqueue(slot.memory.address());
        // Whatever was enqueued before something failed reads the slot too. What failed first is what is told.
        let recorded = stream.record(&slot.event);
        enqueued.and(recorded)
    }

    /// The same, copied to `offset` bytes after the beginning of `to`. Errors: `Range`, `Lost`.
    pub fn copy<T: Plain>(&mut self, stream: &Stream, list: &[T], to: &Memory, offset: usize) -> Result<(), Error> {
        let bytes = size_of_val(list);
        let to = to.range("copy", offset, bytes)?;
        self.send(stream, list, |from| stream.device().copy(stream.id(), to, from, bytes))
    }
}

impl Slot {
    fn fill<T: Plain>(&self, list: &[T]) -> Result<(), Error> {
        let (bytes, available) = (size_of_val(list), self.memory.bytes());
        if bytes > available {
            let reason = Reason::Range { address: self.memory.address(), bytes, available };
            return Err(Error::new("send", reason));
        }
        let to = self.memory.host_pointer()?;
        // SAFETY: the slot is long enough, and no work reads it: its event is over.
        unsafe { to.copy_from_nonoverlapping(list.as_ptr().cast(), bytes) };
        Ok(())
    }
}
