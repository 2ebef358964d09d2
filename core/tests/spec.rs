//! The numbers that the project comes from, through the real pool.

mod common;
use common::{STREAM, ars, ids, pool, run, small};
use kvledger_core::{Admission, Group, PoolConfig, Refusal, Scope};

/// N = 40, A = 18, R = 10, S = 4: admit 5, materialize 3, cancel one with 2 private blocks and 4 promises.
#[test]
fn i8_the_forty_block_story() {
    let pool = pool(&PoolConfig { safety: 4, ..small(40, 1) });
    // The one that will be cancelled: 2 blocks and 4 promises. Another: 16 blocks and 6 promises.
    let doomed = run(&pool, 2, 4);
    let _other = run(&pool, 16, 6);
    assert_eq!(ars(&pool), (18, 10, 4));
    assert_eq!(pool.counts().headroom, 8);

    let admitted = pool.open().expect("a slot");
    pool.admit(admitted, &Admission::full(3, 2)).expect("five fit");
    assert_eq!(ars(&pool), (18, 15, 4));
    assert_eq!(40 - pool.counts().headroom, 37);

    let step = pool.submit(STREAM).expect("an epoch");
    pool.advance(admitted, 3).expect("three are promised");
    assert_eq!(ars(&pool), (21, 12, 4));
    assert_eq!(40 - pool.counts().headroom, 37);

    pool.cancel(doomed).expect("it is open");
    assert_eq!(ars(&pool), (21, 8, 4), "promises leave at once, blocks do not");
    let released = pool.end(doomed).expect("its driver gets there");
    assert_eq!((released.free, released.retiring, released.after), (0, 2, step));
    assert_eq!(ars(&pool), (21, 8, 4), "the step may still touch them");
    pool.complete(STREAM, step, false).expect("it is outstanding");
    assert_eq!(ars(&pool), (19, 8, 4));
    assert_eq!(40 - pool.counts().headroom, 31);
}

/// 2,048 prompt tokens and 257 more in blocks of 16: 145 blocks, 128 for the prompt alone; the pool has 256.
#[test]
fn i3_the_145_block_request() {
    let pool = pool(&small(256, 16));
    let sequence = pool.open().expect("a slot");
    assert_eq!(pool.admit(sequence, &Admission::full(2048, 257)).expect("it fits").promised, 145);
    assert_eq!(pool.advance(sequence, 2048).expect("promised").taken, 128);
    assert_eq!(ars(&pool), (128, 17, 0));
    for _ in 0..257 {
        pool.advance(sequence, 1).expect("I3: promised");
    }
    assert_eq!(ars(&pool), (145, 0, 0));
    assert_eq!(pool.advance(sequence, 15).expect("the last block has 15 slots left").taken, 0);
    assert_eq!(pool.advance(sequence, 1), Err(Refusal::OverPromise { short_by: 1 }));
    // A second one like it does not fit: 145 + 145 > 256.
    let second = pool.open().expect("a slot");
    let refused = pool.admit(second, &Admission::full(2048, 257));
    assert_eq!(refused, Err(Refusal::WouldBlock { short_by: 145 + 145 - 256, scope: Scope::Pool }));
}

/// Seventeen tokens kept, at most ten more, blocks of 8: three blocks, then one more.
#[test]
fn seventeen_and_ten_in_blocks_of_eight() {
    let pool = pool(&small(8, 8));
    let sequence = run(&pool, 17, 10);
    assert_eq!(ars(&pool), (3, 1, 0));
    assert_eq!(pool.advance(sequence, 10).expect("promised").taken, 1);
    assert_eq!(ars(&pool), (4, 0, 0));
}

/// 33 tokens in blocks of 16: 3 blocks, 48 slots, 15 of them padding.
#[test]
fn thirty_three_tokens_leave_fifteen_slots() {
    let pool = pool(&small(8, 16));
    run(&pool, 33, 0);
    let snapshot = pool.snapshot();
    assert_eq!((snapshot.held, snapshot.tokens, snapshot.padding_tokens), (3, 33, 15));
}

/// Contiguous regions of 100 slots: three run with 20, 35 and 10 tokens; a pool of 400 slots takes one more.
#[test]
fn contiguous_regions_are_a_promise_materialized_at_once() {
    let pool = pool(&PoolConfig::new(4, 100, 8, 1));
    for tokens in [20, 35, 10] {
        let sequence = run(&pool, tokens, 100 - tokens);
        assert_eq!(pool.materialize(sequence, 1).expect("held already").taken, 0);
    }
    let snapshot = pool.snapshot();
    assert_eq!((snapshot.held, snapshot.tokens, snapshot.padding_tokens), (3, 65, 235));
    run(&pool, 1, 99);
    let fifth = pool.open().expect("a slot");
    let refused = pool.admit(fifth, &Admission::full(1, 99));
    assert_eq!(refused, Err(Refusal::WouldBlock { short_by: 1, scope: Scope::Pool }));
}

/// Isolated trust groups hold separate copies: of eight requests of 145 blocks one fits.
#[test]
fn one_isolated_request_fits() {
    let pool = pool(&PoolConfig { groups: 8, ..small(256, 16) });
    let fits = (0..8).filter(|&group| {
        let sequence = pool.open().expect("a slot");
        pool.admit(sequence, &Admission { group: Group(group), ..Admission::full(2048, 257) }).is_ok()
    });
    assert_eq!(fits.count(), 1);
}

/// The same operations give the same ids, and no id twice.
#[test]
fn i4_ids_are_distinct_and_repeatable() {
    let once = || {
        let pool = pool(&small(64, 4));
        let all: Vec<_> = (0..8).map(|_| run(&pool, 32, 0)).collect();
        all.iter().flat_map(|&sequence| ids(&pool, sequence)).collect::<Vec<_>>()
    };
    let first = once();
    let mut sorted = first.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (1..=64).collect::<Vec<_>>());
    assert_eq!(first, once());
}
