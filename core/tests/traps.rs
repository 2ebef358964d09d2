//! Ways in which other KV-cache managers were caught, each with its source, and what happens here instead.

mod common;
use common::{STREAM, ars, pool, run, small};
use kvledger_core::identity::Identity;
use kvledger_core::{
    Access, Admission, Argument, BlockId, Event, EventCursor, EventKind, Group, Pool, PoolConfig, Prefix, Refusal,
    StreamSet,
};

const NAMES: [Identity; 2] = [Identity { low: 1, high: 7 }, Identity { low: 2, high: 7 }];

fn sharing(blocks: u32) -> PoolConfig {
    PoolConfig { transfers: 4, events: 16, ..small(blocks, 4) }.sharing()
}

/// Two cached, idle blocks.
fn cached(pool: &Pool<'_>) {
    let sequence = run(pool, 8, 0);
    let epoch = pool.submit(STREAM).expect("room");
    pool.publish(sequence, 0, &Prefix::of(&NAMES), epoch, true, &mut []).expect("full blocks");
    pool.complete(STREAM, epoch, false).expect("outstanding");
    pool.end(sequence).expect("open");
}

/// tpu-inference#1025: a set in place of a count let one unpin take away another's pin. LMCache#3381, #2954: the pin count
/// fell to −1 and was "set back to 0".
#[test]
fn a_pin_is_counted_and_is_its_own() {
    let pool = pool(&sharing(6));
    cached(&pool);
    let pins = [pool.open(), pool.open()].map(|pin| pin.expect("a slot"));
    for pin in pins {
        assert_eq!(pool.pin(pin, Group(0), StreamSet::ALL, &Prefix::of(&NAMES), 0).map(|pinned| pinned.hits), Ok(2));
    }
    assert_eq!(ars(&pool), (2, 0, 0));
    assert_eq!(common::ids(&pool, pins[0]), common::ids(&pool, pins[1]), "a pin's row says which blocks");
    pool.unpin(pins[0]).expect("pinned");
    for _ in 0..3 {
        assert_eq!(pool.unpin(pins[0]), Err(Refusal::Invalid { argument: Argument::Sequence }));
    }
    assert_eq!(ars(&pool), (2, 0, 0), "the other one holds them");
    assert_eq!(pool.evict(6), Ok(0), "a pinned block is no idle one");
    pool.end(pins[1]).expect("pinned");
    assert_eq!(pool.unpin(pins[1]), Err(Refusal::Stale));
    assert_eq!((ars(&pool), pool.snapshot().idle), ((0, 0, 0), 2));
}

/// vllm#46283, #46289: a load from elsewhere was aborted, its completion never came, and its blocks were lost without a number.
#[test]
fn a_transfer_that_never_ends_has_a_number() {
    let pool = pool(&sharing(6));
    let sequence = run(&pool, 12, 0);
    let load = pool.hold(sequence, 0, 3, Access::Write).expect("room");
    pool.cancel(sequence).expect("open");
    let released = pool.end(sequence).expect("open");
    assert_eq!((released.free, released.retiring), (0, 3));
    pool.quarantine(load).expect("running");
    pool.quarantine(load).expect("twice is no other thing");
    let now = pool.snapshot();
    assert_eq!((now.committed, now.retiring, now.quarantined, now.exact), (3, 0, 3, 1));
    pool.validate().expect("counted, not lost");
    // The other side is found to be dead after all.
    assert_eq!(pool.revoke(load), Ok(3));
    assert_eq!((ars(&pool), pool.snapshot().free), ((0, 0, 0), 6));
}

/// TRT-LLM#12834: blocks swapped to another tier were subtracted from the wrong one, whose count became negative.
#[test]
fn each_tier_has_its_own_ledger() {
    let (device, host) = (pool(&sharing(6)), pool(&PoolConfig { number: 1, ..sharing(4) }));
    let sequence = run(&device, 10, 4);
    let copy = host.open().expect("a slot");
    let mut pairs = [(BlockId::NULL, BlockId::NULL); 3];
    let offloaded = device.offload(sequence, &host, copy, &Admission::full(1, 0), &mut pairs).expect("it fits");
    assert_eq!((offloaded.blocks, offloaded.released.promised, offloaded.released.retiring), (3, 1, 3));
    assert_eq!((ars(&device), ars(&host)), ((3, 0, 0), (3, 0, 0)), "the source stays until it is copied");
    assert!(pairs.iter().all(|(from, to)| *from != BlockId::NULL && *to != BlockId::NULL));
    assert_eq!(host.complete_transfer(offloaded.transfer), Err(Refusal::Stale), "a transfer of the other tier");
    assert_eq!(device.complete_transfer(offloaded.transfer), Ok(3));
    assert_eq!((ars(&device), ars(&host)), ((0, 0, 0), (3, 0, 0)));
    // And back: the host's copy is read, and goes when it has been.
    device.admit(sequence, &Admission::full(10, 4)).expect("it fits");
    device.materialize(sequence, 3).expect("promised");
    let back = host.hold(copy, 0, 3, Access::Read).expect("room");
    host.end(copy).expect("open");
    assert_eq!(ars(&host), (3, 0, 0));
    host.complete_transfer(back).expect("running");
    assert_eq!((ars(&device), ars(&host)), ((3, 1, 0), (0, 0, 0)));
    // A host that is full refuses, and nothing has changed here.
    let _full = run(&host, 8, 0);
    let copy = host.open().expect("a slot");
    let refused = device.offload(sequence, &host, copy, &Admission::full(1, 0), &mut pairs);
    assert!(matches!(refused, Err(Refusal::WouldBlock { short_by: 1, .. })), "{refused:?}");
    assert_eq!((ars(&device), ars(&host)), ((3, 1, 0), (2, 0, 0)));
}

/// sglang#18694, #17797: what was preempted after it had finished was freed again.
#[test]
fn what_has_ended_is_preempted_by_nobody() {
    let pool = pool(&sharing(6));
    let sequence = run(&pool, 8, 0);
    pool.end(sequence).expect("open");
    assert_eq!(pool.preempt(sequence), Err(Refusal::Stale));
    assert_eq!(pool.release_tokens(sequence, 0, 4), Err(Refusal::Stale));
    assert_eq!((ars(&pool), pool.snapshot().free), ((0, 0, 0), 6));
}

/// vllm#12284, #54581: a reset of the cache failed while requests ran, and the failure was swallowed.
#[test]
fn a_reset_succeeds_with_work_pending() {
    let pool = pool(&sharing(8));
    cached(&pool);
    let reader = pool.open().expect("a slot");
    assert_eq!(pool.admit_prefix(reader, &Admission::full(9, 0), &Prefix::of(&NAMES)).map(|got| got.hits), Ok(2));
    let step = pool.submit(STREAM).expect("room");
    let mut cursor = pool.events_now();
    pool.reset(Group(0)).expect("a good group");
    assert_eq!(pool.lookup(Group(0), &Prefix::of(&NAMES), 0).map(|found| found.blocks), Ok(0));
    let mut events = [Event::NONE; 4];
    assert_eq!(pool.events(&mut cursor, &mut events).count, 1);
    assert_eq!(events[0].kind, EventKind::Cleared);
    // The reader goes on, and publishes nothing of before.
    pool.advance(reader, 1).expect("promised");
    let published = pool.publish(reader, 0, &Prefix::of(&NAMES), step, true, &mut []).expect("full blocks");
    assert_eq!(published.stored, 0);
    pool.end(reader).expect("open");
    pool.complete(STREAM, step, false).expect("outstanding");
    assert_eq!((ars(&pool), pool.snapshot().idle, pool.snapshot().free), ((0, 0, 0), 0, 8));
    // Who comes after it starts a new cache.
    cached(&pool);
    assert_eq!(pool.lookup(Group(0), &Prefix::of(&NAMES), 0).map(|found| found.blocks), Ok(2));
    assert_eq!(EventCursor::START.next, 1);
}

/// SPEC §6: eight requests of one trust group share a 2,048-token prefix, and of eight groups nobody shares.
#[test]
fn eight_requests_share_a_prefix() {
    let names: Vec<_> = (1..=128).map(|low| Identity { low, high: 3 }).collect();
    let admitted = |groups: u32| {
        let config = PoolConfig { groups: 8, sequences: 8, table_width: 256, ..small(256, 16) }.sharing();
        let pool = pool(&config);
        (0..8u32)
            .take_while(|number| {
                let sequence = pool.open().expect("a slot");
                let admission = Admission { group: Group(number % groups), ..Admission::full(2048, 257) };
                let Ok(got) = pool.admit_prefix(sequence, &admission, &Prefix::of(&names)) else { return false };
                pool.advance(sequence, 2048 - got.cached_tokens).expect("promised");
                let epoch = pool.submit(STREAM).expect("room");
                pool.publish(sequence, 0, &Prefix::of(&names), epoch, true, &mut []).expect("full blocks");
                pool.complete(STREAM, epoch, false).expect("outstanding");
                true
            })
            .map(|_| pool.counts().headroom)
            .collect::<Vec<_>>()
    };
    let shared = admitted(1);
    assert_eq!((shared.len(), shared.last()), (7, Some(&9)), "247 blocks, nine left");
    assert_eq!(admitted(8).len(), 1, "isolation: one fits");
}
