//! Epochs of a real ledger, ended by what a device has done: late, in any order, failed, lost.
//!
//! The promise that is tested: a block that the ledger hands out is touched by nobody's earlier work (I5). Each request
//! writes its own number over all its blocks, late, and copies them back under the same epoch; whoever finds another
//! number there was given a block too early.

use crate::common::{by_hand, dense, late, open, pool};
use kvledger_core::{Admission, Epoch, Line, Pool, PoolConfig, Sequence, StreamSet, entries, lines};
use kvledger_cuda::cpu::{Options, Step as Advanced, Trouble};
use kvledger_cuda::{BlockPool, Device, EpochError, Epochs, Error, Memory, Space, Step, Stream};
use std::sync::Arc;

const BLOCKS: u32 = 12;
const BLOCK_TOKENS: u32 = 4;
const BLOCK_BYTES: usize = 64;
const STREAMS: u32 = 2;

/// The ledger's memory.
struct Ledger {
    config: PoolConfig,
    memory: Vec<Line>,
    table: Vec<u32>,
}

impl Ledger {
    fn new() -> Ledger {
        let config = PoolConfig { streams: STREAMS, ..PoolConfig::new(BLOCKS, BLOCK_TOKENS, 6, 6) };
        Ledger { config, memory: vec![Line::ZERO; lines(&config)], table: vec![0; entries(&config)] }
    }

    fn pool(&mut self) -> Pool<'_> {
        Pool::init(&mut self.memory, &mut self.table, &self.config).unwrap()
    }
}

/// A request that has its blocks: two of them.
fn admitted(pool: &Pool<'_>, streams: StreamSet) -> Option<(Sequence, Vec<u32>)> {
    let sequence = pool.open().ok()?;
    if pool.admit(sequence, &Admission { streams, ..Admission::full(8, 0) }).is_err() {
        pool.end(sequence).unwrap();
        return None;
    }
    pool.advance(sequence, 8).unwrap();
    let mut ids = vec![0; 2];
    assert_eq!(pool.export_row(sequence, &mut ids), Ok(2));
    Some((sequence, ids))
}

/// Where the blocks of the ledger are, and where each request's are copied back to.
struct Memories {
    blocks: BlockPool,
    back: Vec<Memory>,
}

impl Memories {
    fn new(stream: &Stream, requests: usize) -> Memories {
        let blocks = pool(stream, Space::Device, dense(16, BLOCK_TOKENS), BLOCKS, 0);
        let slot = || Memory::allocate(stream.device(), Space::Pinned, 2 * BLOCK_BYTES).unwrap();
        Memories { blocks, back: (0..requests).map(|_| slot()).collect() }
    }

    /// Writes a request's number over its blocks, and copies them back.
    fn enqueue(&self, stream: &Stream, request: usize, ids: &[u32]) -> Result<(), Error> {
        for id in ids {
            stream.set((self.blocks.memory(), *id as usize * BLOCK_BYTES), request as u8, BLOCK_BYTES)?;
        }
        for (at, id) in ids.iter().enumerate() {
            let from = (self.blocks.memory(), *id as usize * BLOCK_BYTES);
            stream.copy((&self.back[request], at * BLOCK_BYTES), from, BLOCK_BYTES)?;
        }
        Ok(())
    }

    /// Whether what came back is the request's own.
    fn is_own(&self, request: usize) -> bool {
        // SAFETY: pinned memory of this test, whose last use is over.
        let found = unsafe { self.back[request].host_pointer().unwrap().cast::<[u8; 2 * BLOCK_BYTES]>().read() };
        found == [request as u8; 2 * BLOCK_BYTES]
    }
}

fn begin<'e, 'p>(epochs: &'e mut Epochs<'p>) -> Step<'e, 'p> {
    epochs.begin().unwrap()
}

#[test]
fn a_block_comes_back_when_the_device_has_done_the_work() {
    let mut ledger = Ledger::new();
    let pool = ledger.pool();
    let (device, stream) = open(by_hand());
    let (cpu, id) = (device.as_cpu().unwrap(), stream.id());
    let memories = Memories::new(&stream, 1);
    let mut epochs = Epochs::new(pool, kvledger_core::Stream(0), stream);
    let (sequence, ids) = admitted(&pool, StreamSet::ALL).unwrap();

    let step = begin(&mut epochs);
    memories.enqueue(step.stream(), 0, &ids).unwrap();
    let epoch = step.end(false).unwrap();
    pool.end(sequence).unwrap();
    for _ in 0..4 {
        assert_eq!(epochs.poll().unwrap(), Epoch(epoch.0 - 1));
        assert_eq!(pool.counts().committed, 2, "the work is not done");
        assert_eq!(cpu.advance(id).unwrap(), Advanced::Done);
    }
    assert_eq!((pool.counts().committed, epochs.running()), (2, 1), "the event is not recorded yet");
    assert_eq!(cpu.advance(id).unwrap(), Advanced::Done);
    assert_eq!(epochs.poll().unwrap(), epoch);
    assert_eq!((pool.counts().committed, epochs.running()), (0, 0));
    assert!(memories.is_own(0));
}

/// Many requests over few blocks on two streams, each request ended as soon as it is launched. `early`: the ledger is told
/// before the device is done, which is the mistake that all this is against.
fn requests(options: Options, early: bool) -> usize {
    const REQUESTS: usize = 200;
    let mut ledger = Ledger::new();
    let pool = ledger.pool();
    let (device, stream) = open(options);
    let memories = Memories::new(&stream, REQUESTS);
    let mut both: Vec<Epochs<'_>> = (0..STREAMS)
        .map(|number| Epochs::new(pool, kvledger_core::Stream(number), Stream::open(&device).unwrap()))
        .collect();
    for request in 0..REQUESTS {
        let number = request % 2;
        let lane = kvledger_core::Stream(number as u32);
        let (sequence, ids) = loop {
            if let Some(found) = admitted(&pool, StreamSet::one(lane)) {
                break found;
            }
            // Every block waits for a stream.
            take_turns(&both);
            for epochs in &mut both {
                epochs.poll().unwrap();
            }
            std::thread::yield_now();
        };
        if early {
            let epoch = pool.submit(lane).unwrap();
            memories.enqueue(both[number].stream(), request, &ids).unwrap();
            pool.end(sequence).unwrap();
            pool.complete(lane, epoch, false).unwrap();
            continue;
        }
        let step = both[number].begin_waiting().unwrap();
        memories.enqueue(step.stream(), request, &ids).unwrap();
        step.end(false).unwrap();
        pool.end(sequence).unwrap();
    }
    while take_turns(&both) {}
    for epochs in &mut both {
        epochs.wait().unwrap();
        epochs.stream().synchronize().unwrap();
    }
    assert_eq!(pool.counts().committed, 0);
    (0..REQUESTS).filter(|request| !memories.is_own(*request)).count()
}

/// An operation of each stream in turn, where that is done by hand; whether there was one.
fn take_turns(streams: &[Epochs<'_>]) -> bool {
    let advance = |epochs: &Epochs<'_>| {
        let stream = epochs.stream();
        stream.device().as_cpu().unwrap().advance(stream.id()).unwrap() == Advanced::Done
    };
    streams.iter().filter(|epochs| advance(epochs)).count() > 0
}

#[test]
fn no_block_is_handed_out_while_late_work_may_touch_it() {
    for seed in 0..10 {
        assert_eq!(requests(late(seed), false), 0, "seed {seed}");
    }
    assert_eq!(requests(by_hand(), false), 0);
}

#[test]
fn a_ledger_that_is_told_too_early_is_found_out() {
    // By hand nothing is done before the end, and then in turn: it does not depend on the machine.
    assert!(requests(by_hand(), true) > 50);
}

#[test]
fn a_step_that_was_dropped_or_failed_is_a_failed_epoch() {
    let mut ledger = Ledger::new();
    let pool = ledger.pool();
    let (_device, stream) = open(late(0));
    let mut epochs = Epochs::new(pool, kvledger_core::Stream(0), stream);
    drop(begin(&mut epochs));
    begin(&mut epochs).end(true).unwrap();
    let last = begin(&mut epochs).end(false).unwrap();
    assert_eq!(epochs.wait().unwrap(), last);
    assert_eq!(pool.snapshot().failed_epochs, 2);
}

#[test]
fn a_full_ring_of_epochs_is_refused_and_loses_nothing() {
    let mut ledger = Ledger::new();
    let pool = ledger.pool();
    let (_device, stream) = open(by_hand());
    let mut epochs = Epochs::new(pool, kvledger_core::Stream(0), stream);
    let mut begun = 0;
    let refused = loop {
        match epochs.begin() {
            Ok(step) => step.end(false).unwrap(),
            Err(error) => break error,
        };
        begun += 1;
    };
    assert_eq!(refused, EpochError::Pool(kvledger_core::Refusal::Full), "after {begun}");
    assert_eq!(epochs.running(), begun);
    epochs.wait().unwrap();
    begin(&mut epochs).end(false).unwrap();
}

/// Losses in the middle of everything: all epochs are over, blocks are back, and nothing writes to them any more.
#[test]
fn a_lost_device_is_abandoned_after_its_last_write() {
    for seed in 0..40 {
        let mut ledger = Ledger::new();
        let pool = ledger.pool();
        let trouble = Trouble { seed, lose: 2_000, ..Trouble::default() };
        let (device, stream) = open(Options { trouble, ..late(seed) });
        let memories = Memories::new(&stream, 1);
        let mut epochs = Epochs::new(pool, kvledger_core::Stream(0), stream);
        let error = (0..).find_map(|_| one_request(&pool, &mut epochs, &memories).err()).unwrap();
        assert!(matches!(error, EpochError::Device(error) if error.is_loss()), "seed {seed}: {error}");
        assert_eq!(epochs.running(), 0);
        assert_eq!((pool.counts().committed, pool.frontier()), (0, pool.newest_epoch()), "seed {seed}");
        // The ledger goes on with another device.
        let (_device, stream) = open(late(seed));
        let memories = Memories::new(&stream, 1);
        let mut epochs = Epochs::new(pool, kvledger_core::Stream(0), stream);
        one_request(&pool, &mut epochs, &memories).unwrap();
        epochs.wait().unwrap();
        assert!(memories.is_own(0));
        drop::<Arc<dyn Device>>(device);
    }
}

/// One request from its admission to its end, whatever the device does.
fn one_request(pool: &Pool<'_>, epochs: &mut Epochs<'_>, memories: &Memories) -> Result<(), EpochError> {
    let Some((sequence, ids)) = admitted(pool, StreamSet::ALL) else { return epochs.wait().map(|_| ()) };
    let result = launch(epochs, memories, &ids);
    pool.end(sequence).unwrap();
    result.and_then(|()| epochs.poll().map(|_| ()))
}

fn launch(epochs: &mut Epochs<'_>, memories: &Memories, ids: &[u32]) -> Result<(), EpochError> {
    let step = epochs.begin()?;
    let enqueued = memories.enqueue(step.stream(), 0, ids);
    step.end(enqueued.is_err())?;
    enqueued.map_err(EpochError::Device)
}

/// A device that is lost in the middle of a write: whoever is told that all is over may rely on it.
#[test]
fn a_write_that_had_begun_has_ended_when_all_is_abandoned() {
    const BYTES: usize = 64 << 20;
    let mut ledger = Ledger::new();
    let pool = ledger.pool();
    let (device, stream) = open(Options::default());
    let memory = Memory::allocate(&device, Space::Pinned, BYTES).unwrap();
    let first = memory.host_pointer().unwrap();
    let byte = |at: usize| {
        // SAFETY: pinned memory of this test. The stream may be writing it: whichever byte is read is an answer.
        unsafe { first.wrapping_add(at).read_volatile() }
    };
    let mut epochs = Epochs::new(pool, kvledger_core::Stream(0), stream);
    let step = begin(&mut epochs);
    step.stream().set((&memory, 0), 1, BYTES).unwrap();
    step.end(false).unwrap();
    while byte(0) != 1 {
        std::hint::spin_loop();
    }
    device.as_cpu().unwrap().lose();
    assert!(epochs.poll().is_err());
    assert_eq!(byte(BYTES - 1), 1);
}
