//! The CPU device: the kernels' own source, run by threads of the host, with what a GPU would not forgive made an error.
//!
//! The problem: code that drives a GPU is wrong in ways that a plain library on the CPU never shows. A copy is read before
//! it was done, host memory is given to a kernel, memory is freed under work, an error arrives three calls late. So this
//! device is asynchronous as GPUs are, keeps its memory apart, and can be told to fail.
//!
//! 1. [`Cpu::open`] with [`Options`]: who does the work and when, the order of threads in a block, what goes wrong.
//! 2. It is a [`Device`] like any other.
//! 3. [`Cpu::advance`] does work by hand where a test wants one certain interleaving; [`Cpu::lose`] loses it;
//!    [`Cpu::take_counters`] says what launches of a stream counted.

mod common;
mod mapping;
mod mark;
mod options;
mod order;
#[cfg(kvl_plants)]
mod plant;
mod poison;
mod queue;
mod random;
mod registry;
mod run;

pub use options::{Options, Order, Pace, Pauses, Trouble};
#[cfg(kvl_plants)]
pub use plant::plant;
pub use queue::Step;
#[cfg(test)]
pub(crate) use random::Random;

use crate::device::{Address, Device, EventId, Extent, Facts, Space, StreamId};
use crate::error::{Error, Loss, Reason};
use crate::launch::{Launch, Refusal, Use, Where, Wrong};
use crate::raw::kvk_counters;
use common::Common;
use mapping::Mapping;
use mark::{Event, lock};
use queue::{Queue, Work};
use registry::{Registry, Span};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// Shared memory that every GPU grants a thread block: no kernel may need more.
const SHARED_BYTES: u32 = 99 * 1024;
/// Devices that were opened.
static DEVICES: AtomicU64 = AtomicU64::new(0);
/// Low bits of a stream's or an event's number: its number within the device, which also seeds its pauses. The others are
/// the device's.
const PLACE_BITS: u32 = 40;

/// The device.
#[derive(Debug)]
pub struct Cpu {
    facts: Facts,
    options: Options,
    common: Arc<Common>,
    registry: Mutex<Registry>,
    streams: Mutex<BTreeMap<u64, Stream>>,
    events: Mutex<BTreeMap<u64, Arc<Event>>>,
    /// Numbers of streams and events: none is used twice, nor by another device. There are enough for 2^24 devices with
    /// 2^40 each.
    next: AtomicU64,
}

#[derive(Debug)]
struct Stream {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

impl Cpu {
    /// A device of its own: it shares nothing with others. Never fails.
    pub fn open(options: Options) -> Arc<Cpu> {
        let facts = Facts {
            name: "CPU device".to_string(),
            compute: 0,
            multiprocessors: options.multiprocessors,
            shared_bytes: SHARED_BYTES,
            memory_bytes: 0,
        };
        Arc::new(Cpu {
            facts,
            options,
            common: Arc::new(Common::new(options.trouble)),
            registry: Mutex::default(),
            streams: Mutex::default(),
            events: Mutex::default(),
            next: AtomicU64::new((DEVICES.fetch_add(1, Ordering::Relaxed) << PLACE_BITS) + 1),
        })
    }

    /// Loses the device, as a failed kernel would: what is enqueued is not done, every call answers so from now on.
    pub fn lose(&self) {
        self.common.lose_on_purpose();
    }

    /// Does the next operation of a stream on the calling thread, where it is its turn. Errors: `Handle`, `Lost`. Only
    /// with [`Pace::ByHand`]; otherwise nothing is left to do.
    pub fn advance(&self, stream: StreamId) -> Result<Step, Error> {
        let queue = self.queue("advance", stream)?;
        match self.options.pace {
            Pace::ByHand => {
                let step = queue.advance(&self.common);
                self.common.alive("advance")?;
                Ok(step)
            }
            Pace::Threads(_) | Pace::AtOnce => Ok(Step::Idle),
        }
    }

    /// The order of threads for launches of a stream from now on. Errors: `Handle`.
    pub fn set_order(&self, stream: StreamId, order: Order) -> Result<(), Error> {
        self.queue("set_order", stream)?.with_runner(|runner| runner.set_order(order));
        Ok(())
    }

    /// What the launches of a stream have counted since the last time, of those that are done. Errors: `Handle`.
    pub fn take_counters(&self, stream: StreamId) -> Result<kvk_counters, Error> {
        Ok(self.queue("take_counters", stream)?.with_runner(|runner| runner.take_counters()))
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    fn queue(&self, operation: &'static str, stream: StreamId) -> Result<Arc<Queue>, Error> {
        let streams = lock(&self.streams);
        let found = streams.get(&stream.0).map(|stream| stream.queue.clone());
        found.ok_or(Error::new(operation, Reason::Handle))
    }

    fn event(&self, operation: &'static str, event: EventId) -> Result<Arc<Event>, Error> {
        lock(&self.events).get(&event.0).cloned().ok_or(Error::new(operation, Reason::Handle))
    }

    /// Done now, or when its turn comes.
    fn enqueue(&self, operation: &'static str, queue: &Queue, work: Work) -> Result<(), Error> {
        queue.push(operation, work)?;
        self.drive_if_at_once(operation, queue)
    }

    /// What was pushed is done now, where the calling thread does the work.
    fn drive_if_at_once(&self, operation: &'static str, queue: &Queue) -> Result<(), Error> {
        if self.options.pace == Pace::AtOnce {
            self.drive(Some(queue), || queue.is_idle());
        }
        self.common.alive(operation)
    }

    /// Advances one stream, and all of them where it has to wait, until it is enough. That comes: a stream waits for marks
    /// only that were in some stream before, so one of them can always go on, here or on another thread.
    fn drive(&self, first: Option<&Queue>, is_enough: impl Fn() -> bool) {
        while !is_enough() {
            if first.is_some_and(|first| first.advance(&self.common) == Step::Done) {
                continue;
            }
            let queues: Vec<_> = lock(&self.streams).values().map(|stream| stream.queue.clone()).collect();
            let moved = queues.iter().filter(|queue| queue.advance(&self.common) == Step::Done).count();
            if moved == 0 {
                thread::yield_now();
            }
        }
    }

    fn span(&self, operation: &'static str, address: Address, bytes: usize) -> Result<Span, Error> {
        lock(&self.registry).span(address, bytes).map_err(|reason| Error::new(operation, reason))
    }

    /// A launch with real addresses, and what keeps them.
    fn bind(&self, launch: &Launch) -> Result<Work, Refusal> {
        launch.check()?;
        let registry = lock(&self.registry);
        let mut memory = Vec::new();
        let launch = launch.seen(&mut |used, address| {
            let span = look_up(&registry, used, Address(address))?;
            memory.push(span.mapping);
            Ok(span.real as u64)
        })?;
        Ok(Work::Kernel { launch, memory })
    }
}

fn look_up(registry: &Registry, used: Use, address: Address) -> Result<Span, Refusal> {
    let refuse = |wrong| Err(Refusal::new(used.field, wrong));
    let needed = usize::try_from(used.bytes).unwrap_or(usize::MAX);
    match registry.span(address, needed) {
        Ok(span) if span.space == Space::Pinned && used.place == Where::Device => refuse(Wrong::Pinned),
        Ok(span) => Ok(span),
        Err(Reason::Range { available, .. }) => {
            refuse(Wrong::Short { needed: used.bytes, available: available as u64 })
        }
        Err(_) => refuse(Wrong::Foreign),
    }
}

impl Device for Cpu {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn loss(&self) -> Option<Loss> {
        self.common.loss()
    }

    fn allocate(&self, space: Space, bytes: usize) -> Result<Address, Error> {
        self.common.alive("allocate")?;
        let missing = Error::new("allocate", Reason::Memory { space, bytes });
        if self.common.fails_to_allocate() {
            return Err(missing);
        }
        let mapping = Mapping::of(bytes).ok_or(missing)?;
        Ok(lock(&self.registry).add(space, mapping))
    }

    fn free(&self, address: Address) -> bool {
        lock(&self.registry).remove(address)
    }

    fn extent(&self, address: Address) -> Option<Extent> {
        lock(&self.registry).extent(address)
    }

    fn open_stream(&self) -> Result<StreamId, Error> {
        self.common.alive("open_stream")?;
        let number = self.number();
        let place = number & ((1 << PLACE_BITS) - 1);
        let queue = Arc::new(Queue::new(&self.options, place));
        let thread = match self.options.pace {
            Pace::AtOnce | Pace::ByHand => None,
            Pace::Threads(pauses) => {
                let (queue, common) = (queue.clone(), self.common.clone());
                let name = format!("kvk stream {place}");
                let started = thread::Builder::new().name(name).spawn(move || queue.serve(&common, pauses));
                let missing = Reason::Number { number: 0, text: "the system starts no more threads" };
                Some(started.map_err(|_| Error::new("open_stream", missing))?)
            }
        };
        lock(&self.streams).insert(number, Stream { queue, thread });
        Ok(StreamId(number))
    }

    fn close_stream(&self, stream: StreamId) -> bool {
        let Ok(queue) = self.queue("close_stream", stream) else { return false };
        // First of all: what came after the last drive would be in no stream, and nobody would reach its marks.
        queue.close();
        if !matches!(self.options.pace, Pace::Threads(_)) {
            self.drive(Some(&queue), || queue.is_idle());
        }
        let closed = lock(&self.streams).remove(&stream.0);
        // Of two threads that close it one does.
        let was_open = closed.is_some();
        if let Some(closed) = closed {
            closed.end();
        }
        was_open
    }

    fn synchronize_stream(&self, stream: StreamId) -> Result<(), Error> {
        let queue = self.queue("synchronize_stream", stream)?;
        match self.options.pace {
            Pace::Threads(_) => queue.wait_idle(),
            Pace::AtOnce | Pace::ByHand => self.drive(Some(&queue), || queue.is_idle()),
        }
        self.common.alive("synchronize_stream")
    }

    fn query_stream(&self, stream: StreamId) -> Result<bool, Error> {
        let is_idle = self.queue("query_stream", stream)?.is_idle();
        self.common.alive("query_stream")?;
        Ok(is_idle)
    }

    fn open_event(&self) -> Result<EventId, Error> {
        self.common.alive("open_event")?;
        let number = self.number();
        lock(&self.events).insert(number, Arc::default());
        Ok(EventId(number))
    }

    fn close_event(&self, event: EventId) -> bool {
        lock(&self.events).remove(&event.0).is_some()
    }

    fn record_event(&self, event: EventId, stream: StreamId) -> Result<(), Error> {
        self.common.alive("record_event")?;
        let (event, queue) = (self.event("record_event", event)?, self.queue("record_event", stream)?);
        event.mark(|mark| queue.push("record_event", Work::Mark(mark)))?;
        self.drive_if_at_once("record_event", &queue)
    }

    fn query_event(&self, event: EventId) -> Result<bool, Error> {
        let is_complete = self.event("query_event", event)?.newest().is_none_or(|mark| mark.is_over());
        self.common.alive("query_event")?;
        Ok(is_complete)
    }

    fn synchronize_event(&self, event: EventId) -> Result<(), Error> {
        if let Some(mark) = self.event("synchronize_event", event)?.newest() {
            match self.options.pace {
                Pace::Threads(_) => mark.wait(),
                Pace::AtOnce | Pace::ByHand => self.drive(None, || mark.is_over()),
            }
        }
        self.common.alive("synchronize_event")
    }

    fn wait_event(&self, stream: StreamId, event: EventId) -> Result<(), Error> {
        self.common.alive("wait_event")?;
        let (event, queue) = (self.event("wait_event", event)?, self.queue("wait_event", stream)?);
        match event.newest() {
            Some(mark) => self.enqueue("wait_event", &queue, Work::Wait(mark)),
            None => Ok(()),
        }
    }

    fn copy(&self, stream: StreamId, to: Address, from: Address, bytes: usize) -> Result<(), Error> {
        self.common.alive("copy")?;
        let queue = self.queue("copy", stream)?;
        let spans = (self.span("copy", to, bytes)?, self.span("copy", from, bytes)?);
        if to.overlaps(from, bytes) {
            return Err(Error::new("copy", Reason::Overlap { to, from }));
        }
        let (to, from) = spans;
        self.common.maybe_refuse("copy")?;
        self.enqueue("copy", &queue, Work::Copy { to, from, bytes })
    }

    fn set(&self, stream: StreamId, to: Address, value: u8, bytes: usize) -> Result<(), Error> {
        self.common.alive("set")?;
        let queue = self.queue("set", stream)?;
        let to = self.span("set", to, bytes)?;
        self.common.maybe_refuse("set")?;
        self.enqueue("set", &queue, Work::Set { to, value, bytes })
    }

    fn write(&self, stream: StreamId, to: Address, from: &[u8]) -> Result<(), Error> {
        self.common.alive("write")?;
        let to = self.span("write", to, from.len())?;
        self.synchronize_stream(stream)?;
        // SAFETY: the range was looked up and the span keeps it mapped; Rust has no references into it.
        unsafe { libc::memcpy(to.real as *mut libc::c_void, from.as_ptr().cast(), from.len()) };
        Ok(())
    }

    fn read(&self, stream: StreamId, to: &mut [u8], from: Address) -> Result<(), Error> {
        self.common.alive("read")?;
        let from = self.span("read", from, to.len())?;
        self.synchronize_stream(stream)?;
        // SAFETY: as above.
        unsafe { libc::memcpy(to.as_mut_ptr().cast(), from.real as *const libc::c_void, to.len()) };
        Ok(())
    }

    unsafe fn launch(&self, stream: StreamId, launch: &Launch) -> Result<(), Error> {
        let operation = launch.name();
        self.common.alive(operation)?;
        let queue = self.queue(operation, stream)?;
        let work = self.bind(launch).map_err(|refusal| Error::new(operation, refusal.into()))?;
        self.common.maybe_refuse(operation)?;
        self.enqueue(operation, &queue, work)
    }

    fn as_cpu(&self) -> Option<&Cpu> {
        Some(self)
    }
}

impl Stream {
    /// Its thread does what is left, and is gone.
    fn end(self) {
        self.queue.close();
        if let Some(thread) = self.thread {
            // One that panicked has nothing to give back.
            drop(thread.join());
        }
    }
}

impl Drop for Cpu {
    fn drop(&mut self) {
        let streams = std::mem::take(&mut *lock(&self.streams));
        // All are closed first: one may wait for another.
        for stream in streams.values() {
            stream.queue.close();
        }
        streams.into_values().for_each(Stream::end);
    }
}
