//! Ranks with different caches agree on what need not be computed again (SPEC: the minimum), and are equal afterwards.

mod common;
use common::{STREAM, ars, pool, small};
use kvledger_core::identity::Identity;
use kvledger_core::ranks::{Proposal, Rank, decide};
use kvledger_core::{Admission, Pool, PoolConfig, Prefix, Sequence};

const fn name(low: u64) -> Identity {
    Identity { low, high: 9 }
}

const NAMES: [Identity; 4] = [name(1), name(2), name(3), name(4)];

/// A pool in which the first `blocks` blocks of the prefix are cached, and idle.
fn rank_pool(number: u32, blocks: u32) -> Pool<'static> {
    let pool = pool(&PoolConfig { number, ..small(12, 4) }.sharing());
    if blocks > 0 {
        let sequence = common::run(&pool, 4 * blocks, 0);
        let epoch = pool.submit(STREAM).expect("room");
        let names = &NAMES[..blocks as usize];
        pool.publish(sequence, 0, &Prefix::of(names), epoch, true, &mut []).expect("full blocks");
        pool.complete(STREAM, epoch, false).expect("outstanding");
        pool.end(sequence).expect("open");
    }
    pool
}

fn agree(cached: [u32; 2], prompt: u32, output: u32) -> (Vec<Pool<'static>>, Vec<Sequence>, Option<u32>) {
    let pools: Vec<_> = (0..).zip(cached).map(|(number, blocks)| rank_pool(number, blocks)).collect();
    let mut ranks: Vec<_> = (0..).zip(&pools).map(|(rank, pool)| Rank::new(*pool, rank, 0)).collect();
    let sequences: Vec<_> = pools.iter().map(|pool| pool.open().expect("a slot")).collect();
    let proposal = Proposal { number: 1, admission: Admission::full(prompt, output), cached_tokens_max: u32::MAX };
    let votes: Vec<_> = ranks
        .iter_mut()
        .zip(&sequences)
        .map(|(rank, &sequence)| rank.vote(sequence, &proposal, &NAMES).expect("the next number"))
        .collect();
    pools.iter().for_each(|pool| pool.validate().expect("the audit of a vote"));
    let decision = decide(1, 2, &votes);
    for rank in &mut ranks {
        let done = if decision.commit { rank.commit(1, decision.cached_tokens) } else { rank.abort(1) };
        done.expect("the next decision");
    }
    pools.iter().for_each(|pool| pool.validate().expect("the audit of a decision"));
    let [one, other] = [0, 1].map(|rank: usize| ranks[rank].digest());
    assert_eq!(one.difference(&other), None, "{one:?} {other:?}");
    (pools, sequences, decision.commit.then_some(decision.cached_tokens))
}

#[test]
fn ranks_take_what_all_of_them_have() {
    for (cached, agreed) in [([3, 1], 4), ([1, 3], 4), ([0, 3], 0), ([2, 2], 8), ([4, 4], 15), ([4, 3], 12)] {
        let (pools, sequences, got) = agree(cached, 16, 8);
        assert_eq!(got, Some(agreed), "{cached:?}");
        for (pool, sequence) in pools.iter().zip(sequences) {
            let snapshot = pool.sequence_snapshot(sequence).expect("admitted");
            let blocks = agreed.div_ceil(4);
            assert_eq!((snapshot.tokens, snapshot.held, snapshot.promised), (agreed, blocks, 6 - blocks));
            pool.advance(sequence, 16 - agreed).expect("promised");
            pool.advance(sequence, 8).expect("promised");
            assert_eq!(ars(pool), (6, 0, 0));
        }
    }
}

/// A rank that has everything cached does not make up for one that has no room.
#[test]
fn spare_capacity_pays_for_nobody_else() {
    let pools = [rank_pool(0, 4), rank_pool(1, 0)];
    let _busy = common::run(&pools[1], 36, 0);
    let mut ranks: Vec<_> = (0..).zip(&pools).map(|(rank, pool)| Rank::new(*pool, rank, 0)).collect();
    let proposal = Proposal { number: 1, admission: Admission::full(16, 8), cached_tokens_max: u32::MAX };
    let votes: Vec<_> = ranks
        .iter_mut()
        .zip(&pools)
        .map(|(rank, pool)| rank.vote(pool.open().expect("a slot"), &proposal, &NAMES).expect("the next number"))
        .collect();
    assert_eq!([votes[0].is_yes(), votes[1].is_yes()], [true, false]);
    assert_eq!((votes[0].cached_tokens, votes[1].cached_tokens), (15, 0));
    assert!(!decide(1, 2, &votes).commit);
    ranks.iter_mut().for_each(|rank| rank.abort(1).expect("the next decision"));
    assert_eq!((ars(&pools[0]), pools[0].snapshot().idle), ((0, 0, 0), 4), "what was cached is cached");
    assert_eq!(ars(&pools[1]), (9, 0, 0));
}
