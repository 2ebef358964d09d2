//! Races that were lost once: one thread stands still in the middle of a call, another does all of its own, and then the
//! first goes on.

use crate::answer::Refusal;
use crate::arena::Line;
use crate::calls::{Admission, Prefix};
use crate::config::PoolConfig;
use crate::identity::Identity;
use crate::ids::{Sequence, Stream, StreamSet};
use crate::pool::{Pool, entries, lines};
use crate::sync::freeze::{go_on, paused_at};
use std::vec;

const FIRST: Stream = Stream(0);
const NAME: [Identity; 1] = [Identity { low: 1, high: 1 }];

fn pool() -> Pool<'static> {
    let config = PoolConfig { streams: 4, epochs: 8, transfers: 4, ..PoolConfig::new(4, 1, 4, 4).sharing() };
    let memory = vec![Line::ZERO; lines(&config)].leak();
    let table = vec![0; entries(&config)].leak();
    Pool::init(memory, table, &config).expect("a good configuration")
}

/// A sequence of one block, published, written by work that is over.
fn publisher(pool: &Pool<'_>) -> Sequence {
    let sequence = pool.open().expect("a slot");
    pool.admit(sequence, &Admission::full(1, 0)).expect("it fits");
    pool.advance(sequence, 1).expect("promised");
    let epoch = pool.submit(FIRST).expect("room");
    pool.publish(sequence, 0, &Prefix::of(&NAME), epoch, true, &mut []).expect("a full block");
    pool.complete(FIRST, epoch, false).expect("outstanding");
    sequence
}

fn hit(pool: &Pool<'_>, streams: StreamSet) -> Sequence {
    let sequence = pool.open().expect("a slot");
    let admission = Admission { streams, ..Admission::full(1, 0) };
    let admitted = pool.admit_prefix(sequence, &admission, &Prefix::of(&NAME)).expect("it fits");
    assert_eq!(admitted.hits, 1, "the block is held: a hit");
    sequence
}

/// I5: while the last holder is about to leave a block, another one hits it, launches work on it and leaves it. The word is
/// then what it was; what the work may still touch is not.
fn joined_and_left_behind_the_back(point: &'static str) {
    let pool = pool();
    let last = publisher(&pool);
    let leaving = paused_at(point, move || pool.end(last));
    let other = hit(&pool, StreamSet::one(Stream(1)));
    let epoch = pool.submit(Stream(1)).expect("room");
    pool.end(other).expect("open");
    go_on(leaving).expect("it was paused").expect("open");
    pool.validate().expect("the audit");
    let snapshot = pool.snapshot();
    assert_eq!(
        (snapshot.retiring, snapshot.idle),
        (1, 0),
        "I5: epoch {epoch:?} may still touch the block: {snapshot:?}"
    );
    pool.complete(Stream(1), epoch, false).expect("outstanding");
    pool.validate().expect("the audit");
    assert_eq!(pool.snapshot().idle, 1);
}

#[test]
fn i5_the_usual_end_sees_who_came_and_went() {
    joined_and_left_behind_the_back("leave: rests");
}

#[test]
fn i5_the_last_holder_sees_who_came_and_went() {
    let pool = pool();
    let last = publisher(&pool);
    // Somebody was here before: no longer the usual end.
    let before = hit(&pool, StreamSet::one(FIRST));
    let epoch = pool.submit(FIRST).expect("room");
    pool.end(before).expect("open");
    pool.complete(FIRST, epoch, false).expect("outstanding");
    let leaving = paused_at("leave: the last", move || pool.end(last));
    let other = hit(&pool, StreamSet::one(Stream(1)));
    let epoch = pool.submit(Stream(1)).expect("room");
    pool.end(other).expect("open");
    go_on(leaving).expect("it was paused").expect("open");
    pool.validate().expect("the audit");
    let snapshot = pool.snapshot();
    assert_eq!(
        (snapshot.retiring, snapshot.idle),
        (1, 0),
        "I5: epoch {epoch:?} may still touch the block: {snapshot:?}"
    );
}

/// A retiring block that is hit before its bit is in its bucket, and retires again into another one, is in one bucket.
#[test]
fn i2_a_block_that_retires_twice_is_in_one_bucket() {
    let pool = pool();
    let last = publisher(&pool);
    let older = pool.submit(FIRST).expect("room");
    let leaving = paused_at("retire: in no bucket yet", move || pool.end(last));
    let other = hit(&pool, StreamSet::one(Stream(1)));
    let newer = pool.submit(Stream(1)).expect("room");
    pool.end(other).expect("open");
    go_on(leaving).expect("it was paused").expect("open");
    pool.validate().expect("the audit");
    pool.complete(FIRST, older, false).expect("outstanding");
    pool.validate().expect("the audit");
    // All four are wanted: the one that retires counts once.
    let whole = pool.open().expect("a slot");
    let refusal = pool.admit(whole, &Admission { watermark: 0, ..Admission::full(4, 0) });
    assert_eq!(refusal, Err(Refusal::RetryAfter { after: newer, reclaimable: 1 }));
}
