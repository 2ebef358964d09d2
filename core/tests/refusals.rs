//! I9 over two pools: who is refused has changed nothing, in neither of them.

mod common;
use common::{STREAM, pool, run, small};
use kvledger_core::identity::Identity;
use kvledger_core::{
    Admission, Admitted, BlockId, Event, EventCursor, EventKind, Group, Joint, Pool, PoolConfig, Prefix, Refusal,
    admit_together,
};

const NAMES: [Identity; 2] = [Identity { low: 1, high: 1 }, Identity { low: 2, high: 1 }];

/// Two idle blocks, under one name each, the first one first in the order of eviction.
fn cached(number: u32) -> Pool<'static> {
    let pool = pool(&PoolConfig { number, events: 16, transfers: 0, ..small(2, 1) }.sharing());
    let epoch = pool.submit(STREAM).expect("room");
    let both = [run(&pool, 1, 0), run(&pool, 1, 0)];
    for (sequence, name) in both.into_iter().zip(NAMES) {
        pool.publish(sequence, 0, &Prefix::of(&[name]), epoch, true, &mut []).expect("full");
    }
    pool.complete(STREAM, epoch, false).expect("outstanding");
    both.into_iter().for_each(|sequence| {
        pool.end(sequence).expect("open");
    });
    pool
}

/// The name that goes first.
fn first_out(pool: &Pool<'_>) -> Identity {
    assert_eq!(pool.evict(1), Ok(1));
    let mut events = [Event::NONE; 16];
    let count = pool.events(&mut EventCursor::START.clone(), &mut events).count as usize;
    let last = events[..count].iter().rev().find(|event| event.kind == EventKind::Removed);
    last.expect("one was evicted").identity
}

#[test]
fn i9_an_offload_that_is_refused_here_evicts_nothing_there() {
    let host = cached(1);
    let source = pool(&PoolConfig { transfers: 0, ..small(4, 1) });
    let (sequence, copy) = (run(&source, 2, 0), host.open().expect("a slot"));
    let mut pairs = [(BlockId(0), BlockId(0)); 4];
    let refusal = source.offload(sequence, &host, copy, &Admission::full(1, 0), &mut pairs);
    assert_eq!(refusal.map(drop), Err(Refusal::Full), "no room for a transfer");
    assert_eq!(pairs, [(BlockId(0), BlockId(0)); 4], "nothing is to be copied");
    assert_eq!((host.snapshot().idle, source.snapshot().held), (2, 2));
    assert_eq!(first_out(&host), NAMES[0]);
}

/// The second pool refuses what does not depend on anybody else: the first one has not been touched.
#[test]
fn i9_admitted_together_or_nothing_is_touched() {
    let refused = |second: &Pool<'_>, sequence, admission: Admission| {
        let first = cached(0);
        let mine = first.open().expect("a slot");
        let prefix = Prefix::of(&NAMES[..1]);
        let joints = [
            Joint { pool: &first, sequence: mine, admission: Admission::full(1, 0), prefix },
            // (The account below has evicted the first name.)
            Joint { pool: second, sequence, admission, prefix: Prefix::of(&NAMES[1..]) },
        ];
        let (index, refusal) = admit_together(&joints, &mut [Admitted::default(); 2]).expect_err("refused");
        assert_eq!(first_out(&first), NAMES[0], "{refusal:?} of pool {index}: recency in the other has changed");
        refusal
    };
    // Its group is another since its first admission.
    let second = cached(1);
    let sequence = second.open().expect("a slot");
    second.admit(sequence, &Admission { group: Group(1), ..Admission::full(1, 0) }).expect("it fits");
    second.preempt(sequence).expect("admitted");
    refused(&second, sequence, Admission::full(1, 0));
    // Its account is used up, or of another group.
    let second = cached(1);
    let account = second.open_account(Group(0), 1, 0).expect("room");
    let other = second.open().expect("a slot");
    second.admit(other, &Admission { account, ..Admission::full(1, 0) }).expect("it fits");
    second.advance(other, 1).expect("in the account");
    let sequence = second.open().expect("a slot");
    refused(&second, sequence, Admission { account, ..Admission::full(1, 0) });
    refused(&second, sequence, Admission { account, group: Group(1), ..Admission::full(1, 0) });
    refused(&second, sequence, Admission { account, ..Admission::full(2, 0) });
}
