//! A device, as everything above it sees one: memory, streams, events, copies and launches by number.
//!
//! One trait, so that a program chooses its device when it runs: [`Cpu`](crate::Cpu) is always there,
//! [`Cuda`](crate::Cuda) where there is a GPU. Both refuse the same things with the same errors. Use it through
//! [`Memory`](crate::Memory), [`Stream`](crate::Stream) and [`Event`](crate::Event), which give back what they hold;
//! the numbers are for who has them from elsewhere, as a program in C does.
//!
//! Work is enqueued in a stream and done later, in the order of the stream. A failure of work that is done later loses
//! the device, as on a GPU: every call then answers [`Reason::Lost`](crate::Reason::Lost), memory can still be given
//! back, and nothing that was enqueued touches it any more.

use crate::cpu::Cpu;
use crate::error::{Error, Loss};
use crate::launch::Launch;
use core::fmt::Debug;

/// Where memory is. Memory of the host that no device knows has no space: it is copied by [`Device::write`] and
/// [`Device::read`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Space {
    /// The device's own. The host cannot touch it: on the CPU device too it faults.
    Device,
    /// The host's, at an address that the device may use as well, and from which it copies while the host goes on.
    Pinned,
}

/// Where memory begins for the device, and for kernels. Of pinned memory it is the host's address too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Address(pub u64);

/// A stream of a device; of CUDA, a `cudaStream_t`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StreamId(pub u64);

/// An event of a device; of CUDA, a `cudaEvent_t`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EventId(pub u64);

impl Address {
    /// Whether so many bytes from here share one with as many from there.
    pub fn overlaps(self, other: Address, bytes: usize) -> bool {
        bytes > 0 && self.0.abs_diff(other.0) < bytes as u64
    }
}

/// What a device is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Facts {
    /// As its maker calls it.
    pub name: String,
    /// Compute capability, 90 for 9.0; 0 on the CPU device.
    pub compute: u32,
    /// How many thread blocks run at once, times the blocks that one of these holds.
    pub multiprocessors: u32,
    /// Most shared memory of one thread block, in bytes.
    pub shared_bytes: u32,
    /// Memory of its own, in bytes; 0 where it has no end of its own.
    pub memory_bytes: u64,
}

/// What a device knows of an address: where it is, and how many bytes there are from it to the end of its allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Where.
    pub space: Space,
    /// From the address on.
    pub bytes: usize,
}

/// The calls. Any thread may make any of them; work that two threads enqueue in one stream is done in some order of
/// them. All answer [`Reason::Lost`](crate::Reason::Lost) once the device is lost, but `free` and the `close` calls, which
/// never fail.
pub trait Device: Debug + Send + Sync {
    /// What it is. Never fails.
    fn facts(&self) -> &Facts;

    /// Why it is lost, if it is known to be: on CUDA some call has to have been told.
    fn loss(&self) -> Option<Loss>;

    /// Memory whose contents mean nothing yet: on the CPU device NaN in every float type. Aligned to 16 bytes. Of 0 bytes
    /// is an address that may be used for 0 bytes. Errors: `Memory`.
    fn allocate(&self, space: Space, bytes: usize) -> Result<Address, Error>;

    /// Gives memory back that `allocate` gave. Work that was enqueued before may still use it. Answers whether it was
    /// given: another address does nothing.
    fn free(&self, address: Address) -> bool;

    /// What is known of an address, `None` if it is in no allocation of this device.
    fn extent(&self, address: Address) -> Option<Extent>;

    /// A new queue of work. Errors: `Memory`, `Number`.
    fn open_stream(&self) -> Result<StreamId, Error>;

    /// Takes a stream that was opened elsewhere: a `cudaStream_t` of an engine, as its number. It can be named like one of
    /// `open_stream`, and `close_stream` forgets it and leaves it as it is. Errors: `Handle` for the default streams, which
    /// wait for others, and on the CPU device, which has no streams from elsewhere.
    ///
    /// # Safety
    /// It is a stream of this device, until it is forgotten.
    unsafe fn adopt_stream(&self, stream: StreamId) -> Result<(), Error> {
        let _ = stream;
        Err(Error::new("adopt_stream", crate::error::Reason::Handle))
    }

    /// Ends a stream when its work is done. Answers whether it was one.
    fn close_stream(&self, stream: StreamId) -> bool;

    /// Waits until all work of the stream is done. Errors: `Handle`.
    fn synchronize_stream(&self, stream: StreamId) -> Result<(), Error>;

    /// Whether all work of the stream is done. Errors: `Handle`.
    fn query_stream(&self, stream: StreamId) -> Result<bool, Error>;

    /// A mark that can be put into streams. Errors: `Memory`, `Number`.
    fn open_event(&self) -> Result<EventId, Error>;

    /// Gives an event back. Streams that wait for it still do. Answers whether it was one.
    fn close_event(&self, event: EventId) -> bool;

    /// Enqueues the mark: it is over when all that the stream has now is done. Recorded again it means the newer mark.
    /// Errors: `Handle`.
    fn record_event(&self, event: EventId, stream: StreamId) -> Result<(), Error>;

    /// Whether the newest mark is over, or there is none. Errors: `Handle`.
    fn query_event(&self, event: EventId) -> Result<bool, Error>;

    /// Waits until it is. Errors: `Handle`.
    fn synchronize_event(&self, event: EventId) -> Result<(), Error>;

    /// Work that is enqueued in `stream` from now on begins when the newest mark of `event` is over. Errors: `Handle`.
    fn wait_event(&self, stream: StreamId, event: EventId) -> Result<(), Error>;

    /// Enqueues a copy between allocations of this device, either of them pinned or not. Both are read and written when
    /// it is done, not now. Errors: `Handle`; `Foreign` if an address is in no allocation; `Range` if it is too near its
    /// end; `Overlap` if they share bytes.
    fn copy(&self, stream: StreamId, to: Address, from: Address, bytes: usize) -> Result<(), Error>;

    /// Enqueues that every byte becomes `value`. Errors: as `copy`.
    fn set(&self, stream: StreamId, to: Address, value: u8, bytes: usize) -> Result<(), Error>;

    /// Waits for the stream, and copies host memory to an allocation. Errors: as `copy` and `synchronize_stream`.
    fn write(&self, stream: StreamId, to: Address, from: &[u8]) -> Result<(), Error>;

    /// Waits for the stream, and copies an allocation to host memory. Errors: as `copy` and `synchronize_stream`.
    fn read(&self, stream: StreamId, to: &mut [u8], from: Address) -> Result<(), Error>;

    /// Enqueues a kernel. Errors: `Handle`; `Refused`, with what is wrong and how to mend it, before anything is enqueued.
    ///
    /// # Safety
    /// Parameters are checked, and what their pointers point to is not: indices, counts and ids in device memory must be
    /// what [`Launch`] says of them when the work is done. Pointers that no allocation of the device holds are refused by
    /// the CPU device; on CUDA they are the caller's, who must keep that memory until the work is done.
    unsafe fn launch(&self, stream: StreamId, launch: &Launch) -> Result<(), Error>;

    /// The CPU device itself, if this is one: for its counters, and its order of threads.
    fn as_cpu(&self) -> Option<&Cpu> {
        None
    }
}
