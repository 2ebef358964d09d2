//! Ranks that differ, by the numbers of the bugs that this is for; then what every message may do, one by one.

mod network;

use super::{Decision, Difference, Proposal, Rank, Vote, blocks_in_common, decide};
use crate::answer::{Argument, Refusal, Scope};
use crate::arena::Line;
use crate::calls::{Admission, Promise};
use crate::config::PoolConfig;
use crate::ids::{Account, Epoch, Group, Sequence, Stream};
use crate::pool::{Pool, entries, lines};
use std::boxed::Box;
use std::vec;
use std::vec::Vec;

fn pool(config: &PoolConfig) -> Pool<'static> {
    let memory = Box::leak(vec![Line::DIRTY; lines(config)].into_boxed_slice());
    let table = Box::leak(vec![0; entries(config)].into_boxed_slice());
    Pool::init(memory, table, config).expect("a good configuration")
}

/// A pool of `blocks` blocks of one token.
fn small(blocks: u32) -> Pool<'static> {
    pool(&PoolConfig::new(blocks, 1, 8, blocks))
}

/// Somebody holds `blocks` of them.
fn occupied(blocks: u32, held: u32) -> Pool<'static> {
    let pool = small(blocks);
    let sequence = pool.open().expect("a slot");
    pool.admit(sequence, &Admission::full(held, 0)).expect("room");
    assert_eq!(pool.advance(sequence, held).expect("promised").taken, held);
    pool
}

fn proposal(number: u64, blocks: u32) -> Proposal {
    Proposal { number, admission: Admission::full(blocks, 0), cached_tokens_max: 0 }
}

/// Ranks with an open sequence each.
fn group(pools: &[Pool<'static>]) -> Vec<(Rank<'static>, Sequence)> {
    (0..).zip(pools).map(|(rank, pool)| (Rank::new(*pool, rank, 0), pool.open().expect("a slot"))).collect()
}

/// One proposal, and every message arrives.
fn agree(ranks: &mut [(Rank<'_>, Sequence)], proposal: &Proposal) -> Decision {
    let votes: Vec<_> =
        ranks.iter_mut().map(|(rank, sequence)| rank.vote(*sequence, proposal, &[]).expect("in turn")).collect();
    let decision = decide(proposal.number, votes.len() as u32, &votes);
    for (rank, _) in ranks {
        if decision.commit {
            rank.commit(proposal.number, decision.cached_tokens).expect("all said yes");
        } else {
            rank.abort(proposal.number).expect("in turn");
        }
    }
    decision
}

/// mstar#281: six pages are free on one rank, seven on the other; one of them admitted what the other could not.
#[test]
fn case_13_six_pages_and_seven() {
    let pools = [occupied(16, 10), occupied(16, 9)];
    let mut ranks = group(&pools);
    let before = pools.map(|pool| pool.snapshot());

    let refused = agree(&mut ranks, &proposal(1, 7));
    let short_by_one = Refusal::WouldBlock { short_by: 1, scope: Scope::Pool };
    assert_eq!((refused.commit, refused.refusal, refused.headroom), (false, Some(short_by_one), 6));
    for (pool, before) in pools.iter().zip(before) {
        let release_number = pool.snapshot().release_number;
        assert_eq!(crate::Snapshot { release_number, ..before }, pool.snapshot(), "both unchanged");
    }

    let admitted = agree(&mut ranks, &proposal(2, 6));
    assert_eq!((admitted.commit, admitted.refusal), (true, None));
    for ((_, sequence), pool) in ranks.iter().zip(&pools) {
        assert_eq!(pool.advance(*sequence, 6).expect("promised").taken, 6);
    }
    assert_eq!(pools.map(|pool| pool.counts().committed), [16, 15]);
}

/// nano-vllm#215: 512 blocks on one rank, 510 on the other. The group has 510, whoever decides.
#[test]
fn case_13_ranks_of_512_and_510() {
    let pools = [small(512), small(510)];
    let mut ranks = group(&pools);
    let never = Refusal::NeverFits { needed: 511, ceiling: 510 };
    assert_eq!(agree(&mut ranks, &proposal(1, 511)).refusal, Some(never));
    assert!(agree(&mut ranks, &proposal(2, 510)).commit);
    assert_eq!(pools.map(|pool| pool.counts().headroom), [2, 0]);

    // The two spare blocks of rank 0 pay for nothing.
    for (place, pool) in ranks.iter_mut().zip(&pools) {
        place.1 = pool.open().expect("a slot");
    }
    let refused = agree(&mut ranks, &proposal(3, 1));
    assert_eq!(refused.refusal, Some(Refusal::WouldBlock { short_by: 1, scope: Scope::Pool }));
    assert_eq!(pools.map(|pool| pool.counts().headroom), [2, 0]);
}

/// The same where one rank hands out ids for both: those that the other has no blocks for do not exist.
#[test]
fn case_13_ids_that_one_rank_lacks_are_never_issued() {
    let blocks = blocks_in_common(&[512, 510]).expect("two ranks");
    let pool = small(blocks);
    let sequence = pool.open().expect("a slot");
    pool.admit(sequence, &Admission::full(blocks, 0)).expect("all of it");
    pool.advance(sequence, blocks).expect("promised");
    let mut row = vec![0; blocks as usize];
    pool.export_row(sequence, &mut row).expect("room");
    row.sort_unstable();
    assert!(row.into_iter().eq(1..=510));
    assert_eq!(blocks_in_common(&[]), None);
}

fn yes(rank: u32, cached_tokens: u32, headroom: u32) -> Vote {
    Vote { number: 5, rank, needed: 4, cached_tokens, headroom, refusal: None, after: Epoch::NONE }
}

#[test]
fn what_is_cached_counts_as_far_as_it_is_cached_everywhere() {
    let decision = decide(5, 3, [yes(0, 48, 9), yes(1, 16, 30), yes(2, 32, 7)]);
    assert_eq!(decision, Decision { number: 5, commit: true, cached_tokens: 16, headroom: 7, refusal: None });
}

#[test]
fn a_vote_that_is_missing_repeated_or_late_is_no_yes() {
    for votes in [
        &[][..],
        &[yes(0, 0, 1)],
        &[yes(0, 0, 1), yes(1, 0, 1), yes(2, 0, 1)],
        &[yes(0, 0, 1), yes(0, 0, 1)],
        &[yes(0, 0, 1), Vote { number: 4, ..yes(1, 0, 1) }],
        &[yes(1, 0, 1), yes(0, 0, 1)],
    ] {
        let decision = decide(5, 2, votes);
        assert_eq!((decision.commit, decision.cached_tokens, decision.refusal), (false, 0, None), "{votes:?}");
    }
    assert!(!decide(5, 0, [] as [Vote; 0]).commit, "nobody agrees to nothing");
}

/// The client is told what lasts longest, whichever rank says it.
#[test]
fn the_gravest_refusal_is_the_groups() {
    let blocked = |short_by| Refusal::WouldBlock { short_by, scope: Scope::Pool };
    let never = Refusal::NeverFits { needed: 9, ceiling: 8 };
    let no = |rank, refusal| Vote { refusal: Some(refusal), ..yes(rank, 0, 1) };
    for (refusals, expected) in [
        ([blocked(1), blocked(3)], blocked(3)),
        ([blocked(7), never], never),
        ([never, Refusal::NeverFits { needed: 9, ceiling: 5 }], Refusal::NeverFits { needed: 9, ceiling: 5 }),
        ([Refusal::Full, never], Refusal::Full),
        ([Refusal::Stale, Refusal::invalid(Argument::Group)], Refusal::invalid(Argument::Group)),
    ] {
        let [first, second] = refusals;
        assert_eq!(decide(5, 2, [no(0, first), no(1, second)]).refusal, Some(expected));
        assert_eq!(decide(5, 3, [no(0, second), no(1, first), yes(2, 0, 1)]).refusal, Some(expected));
    }
}

/// Blocks of different sizes are a mistake of whoever made the pools.
#[test]
fn ranks_with_other_blocks_do_not_agree() {
    let pools = [small(64), pool(&PoolConfig::new(64, 16, 8, 64))];
    let refused = agree(&mut group(&pools), &proposal(1, 32));
    assert_eq!((refused.commit, refused.refusal), (false, Some(Refusal::invalid(Argument::BlockTokens))));
    assert_eq!(pools.map(|pool| pool.counts().headroom), [64, 64]);
}

#[test]
fn a_yes_reserves_until_the_decision_and_an_abort_gives_all_of_it_back() {
    let pool = small(16);
    let mut rank = Rank::new(pool, 0, 0);
    let [sequence, other] = [pool.open().expect("a slot"), pool.open().expect("a slot")];
    let empty = rank.digest();
    let vote = rank.vote(sequence, &proposal(1, 10), &[]).expect("in turn");
    assert!(vote.is_yes());
    assert_eq!((vote.needed, vote.headroom, rank.outstanding()), (10, 16, Some(vote)));
    assert_eq!(pool.admit(other, &Admission::full(7, 0)), Err(Refusal::WouldBlock { short_by: 1, scope: Scope::Pool }));
    assert_eq!(rank.digest(), empty, "nothing is decided");

    assert_eq!(rank.abort(1), Ok(()));
    assert_eq!((pool.counts().headroom, rank.outstanding()), (16, None));
    assert_eq!(rank.digest().difference(&empty), Some(Difference::Number));
    // The handle is good for another try.
    assert!(rank.vote(sequence, &proposal(2, 16), &[]).expect("in turn").is_yes());
    assert_eq!(rank.commit(2, 0), Ok(()));
    assert_eq!((rank.digest().number, rank.digest().promised, rank.digest().held), (2, 16, 0));
}

/// The table in the module's documentation, cell by cell.
#[test]
fn every_message_at_every_moment() {
    let pool = small(16);
    let mut rank = Rank::new(pool, 0, 6);
    let sequence = pool.open().expect("a slot");
    let (stale, busy) = (Err(Refusal::Stale), Err(Refusal::Busy));
    // Decided up to 6, before it joined.
    assert_eq!((rank.commit(6, 0), rank.abort(6), rank.commit(7, 0), rank.abort(8)), (stale, stale, stale, busy));
    assert_eq!(rank.vote(sequence, &proposal(6, 1), &[]), Err(Refusal::Stale));
    assert_eq!(rank.vote(sequence, &proposal(8, 1), &[]), Err(Refusal::Busy));
    assert_eq!(rank.vote(sequence, &proposal(0, 1), &[]), Err(Refusal::Stale));
    assert_eq!(rank.vote(sequence, &proposal(u64::MAX, 1), &[]), Err(Refusal::Busy));

    // Voted on 7.
    let vote = rank.vote(sequence, &proposal(7, 3), &[]).expect("in turn");
    assert_eq!(rank.vote(sequence, &proposal(7, 3), &[]), Ok(vote), "repeated");
    assert_eq!(rank.vote(sequence, &proposal(7, 4), &[]), Err(Refusal::invalid(Argument::Sequence)));
    assert_eq!(rank.vote(Sequence::default(), &proposal(7, 3), &[]), Err(Refusal::invalid(Argument::Sequence)));
    assert_eq!(rank.vote(sequence, &proposal(8, 3), &[]), Err(Refusal::Busy));
    assert_eq!((rank.commit(6, 0), rank.abort(6), rank.commit(8, 0), rank.abort(8)), (stale, stale, stale, busy));
    assert_eq!(rank.commit(7, 1), Err(Refusal::invalid(Argument::Tokens)));
    assert_eq!(pool.counts().headroom, 13, "none of these did anything");
    assert_eq!(rank.commit(7, 0), Ok(()));

    // Decided up to 7, committed.
    assert_eq!((rank.commit(7, 0), rank.commit(7, 1), rank.abort(7)), (Ok(()), stale, stale));
    assert_eq!(rank.vote(sequence, &proposal(7, 3), &[]), Err(Refusal::Stale), "late");
    // A no is outstanding too, and cannot be committed.
    let no = rank.vote(sequence, &proposal(8, 1), &[]).expect("in turn");
    assert_eq!(no.refusal, Some(Refusal::invalid(Argument::Sequence)), "admitted already");
    assert_eq!((rank.commit(8, 0), rank.abort(7)), (stale, stale));
    assert_eq!((rank.abort(8), rank.abort(8), rank.commit(8, 0)), (Ok(()), Ok(()), stale));
    // The proposal of 9 never came.
    assert_eq!((rank.abort(9), rank.number(), pool.counts().headroom), (Ok(()), 9, 13));
}

/// Every proposal whose turn it is gets a vote, so that nobody waits for one.
#[test]
fn a_proposal_that_makes_no_sense_is_a_no() {
    let pool = small(16);
    let mut rank = Rank::new(pool, 0, 0);
    let sequence = pool.open().expect("a slot");
    let full = Admission::full(4, 0);
    for (number, (admission, argument)) in (1..).zip([
        (Admission { account: Account { generation: 1, ..Account::NONE }, ..full }, Argument::Account),
        (Admission { prompt_tokens: 0, ..full }, Argument::Tokens),
        (Admission { output_tokens_max: u32::MAX, ..full }, Argument::Tokens),
        (Admission { group: Group(3), ..full }, Argument::Group),
        (Admission { promise: Promise::Blocks(2), ..full }, Argument::Promise),
    ]) {
        let proposal = Proposal { number, admission, cached_tokens_max: 0 };
        let vote = rank.vote(sequence, &proposal, &[]).expect("in turn");
        assert_eq!(vote.refusal, Some(Refusal::invalid(argument)));
        assert_eq!(rank.abort(number), Ok(()));
    }
    assert_eq!(pool.counts().headroom, 16);
}

/// Blocks that come back soon come back to one rank: the vote says when, the refusal does not.
#[test]
fn a_rank_names_its_own_epoch_beside_the_refusal() {
    let pool = occupied(16, 10);
    let step = pool.submit(Stream(0)).expect("room");
    let holder = Sequence { slot: 0, pool: 0, generation: 1 };
    pool.end(holder).expect("it holds 10");
    let mut rank = Rank::new(pool, 0, 0);
    let sequence = pool.open().expect("a slot");
    let vote = rank.vote(sequence, &proposal(1, 8), &[]).expect("in turn");
    assert_eq!(vote.refusal, Some(Refusal::WouldBlock { short_by: 2, scope: Scope::Pool }));
    assert_eq!(vote.after, step);
}

#[test]
fn a_group_that_is_short_says_so() {
    let pool = occupied(16, 10);
    pool.set_quota(Group(0), 13).expect("a group");
    let step = pool.submit(Stream(0)).expect("room");
    pool.end(Sequence { slot: 0, pool: 0, generation: 1 }).expect("it holds 10");
    let mut rank = Rank::new(pool, 0, 0);
    let vote = rank.vote(pool.open().expect("a slot"), &proposal(1, 5), &[]).expect("in turn");
    assert_eq!(vote.refusal, Some(Refusal::WouldBlock { short_by: 2, scope: Scope::Group }));
    assert_eq!(vote.after, step);
}

/// A client goes away between vote and decision: the decision holds, and nothing is left of the reservation.
#[test]
fn a_sequence_that_is_cancelled_meanwhile_is_decided_all_the_same() {
    for commit in [true, false] {
        let pool = small(16);
        let mut rank = Rank::new(pool, 0, 0);
        let sequence = pool.open().expect("a slot");
        assert!(rank.vote(sequence, &proposal(1, 4), &[]).expect("in turn").is_yes());
        pool.cancel(sequence).expect("open");
        assert_eq!(if commit { rank.commit(1, 0) } else { rank.abort(1) }, Ok(()));
        assert_eq!((pool.counts().headroom, rank.digest().promised), (16, 0));
        pool.end(sequence).expect("its driver gets there");
    }
}

/// Whatever ranks do differently is in one of the numbers.
#[test]
fn drift_is_seen_at_once_and_named() {
    let pools = [small(16), small(17)];
    let mut ranks = group(&pools);
    let differ = |ranks: &[(Rank<'_>, Sequence)]| match ranks {
        [(one, _), (other, _)] => one.digest().difference(&other.digest()),
        _ => None,
    };
    assert!(agree(&mut ranks, &proposal(1, 8)).commit);
    assert_eq!(differ(&ranks), None, "N is not in it");
    let [zero, one] = [ranks[0].1, ranks[1].1];
    pools[0].advance(zero, 3).expect("promised");
    assert_eq!(differ(&ranks), Some(Difference::Held));
    pools[1].advance(one, 3).expect("promised");
    assert_eq!(differ(&ranks), None);
    pools[1].shrink(one, 2).expect("promised");
    assert_eq!(differ(&ranks), Some(Difference::Promised));
    pools[0].shrink(zero, 2).expect("promised");
    pools[0].set_safety(1).expect("room");
    assert_eq!(differ(&ranks), Some(Difference::Safety));
    pools[1].set_safety(1).expect("room");
    assert_eq!(differ(&ranks), None);
    // One rank hears commit, the other abort: nobody checks that but the digest.
    for (place, pool) in ranks.iter_mut().zip(&pools) {
        place.1 = pool.open().expect("a slot");
        assert!(place.0.vote(place.1, &proposal(2, 1), &[]).expect("in turn").is_yes());
    }
    ranks[0].0.commit(2, 0).expect("a yes");
    assert_eq!(differ(&ranks), Some(Difference::Number));
    ranks[1].0.abort(2).expect("outstanding");
    assert_eq!(differ(&ranks), Some(Difference::Promised));
}
