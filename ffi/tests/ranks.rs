//! Ranks through the C ABI: votes come back from other machines as numbers, and a rank is state in C's hands.

mod common;

use common::{INVALID, both, invalid, no, ok, ok_sized, refused, sized, the, to};
use kvledger_core::ranks::Digest;
use kvledger_core::{Argument, Counts, Line, PoolConfig, Sequence};
use kvledger_ffi::*;
use std::mem::MaybeUninit;
use std::ptr::null;

const BLOCKS: u32 = 8;

/// A rank with a pool of 8 blocks of 8 tokens, and an opened sequence.
fn rank(number: u32) -> (KvlPool, KvlRank, Sequence) {
    let config = PoolConfig::new(BLOCKS, 8, 4, BLOCKS);
    let memory = vec![Line::ZERO; config.bytes().unwrap() / 64].leak();
    let table = vec![0; config.table_entries().unwrap()].leak();
    let (start, bytes) = (memory.as_mut_ptr().cast(), size_of_val(memory));
    let (rows, entries) = (table.as_mut_ptr(), table.len());
    // SAFETY: memory and table are as long as said, and given away.
    let pool: KvlPool = ok(|out| unsafe { kvl_init(start, bytes, rows, entries, the(&sized(config)), to(out), no()) });
    let rank = ok(|out| kvl_rank_new(the(&pool), number, 0, to(out), no()));
    let sequence = ok(|out| kvl_open(the(&pool), to(out), no()));
    (pool, rank, sequence)
}

fn request(prompt: u32, output: u32) -> WithSize<KvlAdmission> {
    sized(ok_sized(|out| kvl_admission_full(prompt, output, to(out), no())))
}

fn proposal(number: u64, request: &WithSize<KvlAdmission>) -> KvlProposal<'_> {
    KvlProposal { number, admission: the(request), cached_tokens_max: 0 }
}

fn vote(rank: &mut KvlRank, sequence: Sequence, proposal: &KvlProposal<'_>) -> KvlVote {
    // SAFETY: there are no names.
    ok(|out| unsafe { kvl_rank_vote(both(rank), sequence, the(proposal), null(), 0, to(out), no()) })
}

fn decided(number: u64, ranks: u32, votes: &[KvlVote]) -> KvlDecision {
    // SAFETY: the array is as long as said.
    ok(|out| unsafe { kvl_decide(number, ranks, votes.as_ptr(), votes.len(), to(out), no()) })
}

fn yes(rank: u32) -> KvlVote {
    KvlVote { number: 5, rank, needed: 2, headroom: 9 + rank, ..KvlVote::default() }
}

#[test]
fn a_refusal_travels_there_and_back() {
    let empty = KvlRefusal::default();
    let refusals = [
        KvlRefusal { code: 1, short_by: 3, scope: 1, ..empty },
        KvlRefusal { code: 2, after: 7, reclaimable: 3, ..empty },
        KvlRefusal { code: 3, needed: 9, ceiling: 8, ..empty },
        KvlRefusal { code: 4, short_by: 2, ..empty },
        KvlRefusal { code: 5, ..empty },
        KvlRefusal { code: 6, ..empty },
        KvlRefusal { code: 7, argument: 33, ..empty },
        KvlRefusal { code: 8, ..empty },
        KvlRefusal { code: 9, ..empty },
        KvlRefusal { code: 10, place: 2, ..empty },
    ];
    for refusal in refusals {
        let decision = decided(5, 2, &[yes(0), KvlVote { refusal, ..yes(1) }]);
        assert_eq!((decision.commit, decision.refusal), (0, refusal));
    }
}

/// What is no refusal is no vote either: nobody admits, and nobody is told a reason that there is not.
#[test]
fn numbers_that_are_no_refusal_are_no_vote() {
    let empty = KvlRefusal::default();
    assert_eq!(decided(5, 2, &[yes(0), yes(1)]).commit, 1);
    for refusal in [
        KvlRefusal { code: 11, ..empty },
        KvlRefusal { code: u32::MAX, ..empty },
        KvlRefusal { code: 1, scope: 2, ..empty },
        KvlRefusal { code: 7, argument: 0, ..empty },
        KvlRefusal { code: 7, argument: 1_000, ..empty },
        KvlRefusal { code: 10, place: 0, ..empty },
    ] {
        let decision = decided(5, 2, &[KvlVote { refusal, ..yes(0) }, yes(1)]);
        assert_eq!((decision.commit, decision.refusal, decision.headroom), (0, empty, 10), "{refusal:?}");
        // Nor on the number that it is put under instead.
        let vote = KvlVote { refusal, number: !0, ..yes(0) };
        assert_eq!(decided(!0, 1, &[vote]).commit, 0);
    }
    assert_eq!((decided(5, 0, &[]).commit, decided(5, 0, &[]).headroom), (0, u32::MAX));
}

#[test]
fn a_rank_is_written_before_it_is_used() {
    // SAFETY: a rank of C is integers.
    let mut zeroed: KvlRank = unsafe { MaybeUninit::zeroed().assume_init() };
    let pointer = Argument::Pointer as u32;
    assert_eq!(invalid(refused(|why| kvl_rank_commit(both(&mut zeroed), 1, 0, to(why)))), pointer);
    assert_eq!(invalid(refused(|why| kvl_rank_abort(no(), 1, to(why)))), pointer);
    assert_eq!(kvl_rank_number(the(&zeroed), to(&mut MaybeUninit::uninit()), no()), INVALID);
    assert_eq!(kvl_rank_digest(no(), to(&mut MaybeUninit::uninit()), no()), INVALID);
    assert_eq!(kvl_digest_difference(no(), no(), to(&mut MaybeUninit::uninit()), no()), INVALID);
    assert_eq!(kvl_rank_new(no(), 0, 0, to(&mut MaybeUninit::uninit()), no()), INVALID);
    let (_, mut one, sequence) = rank(0);
    let request = request(8, 8);
    let asked = proposal(1, &request);
    // SAFETY: there are no names.
    let no_output =
        refused(|why| unsafe { kvl_rank_vote(both(&mut one), sequence, the(&asked), null(), 0, no(), to(why)) });
    assert_eq!(invalid(no_output), pointer);
    let outstanding: KvlVote = ok(|out| kvl_rank_outstanding(the(&one), to(out), no()));
    assert_eq!(outstanding, KvlVote::default(), "nothing was voted");
}

/// A request that one rank cannot admit is admitted by none, and what the other reserved goes back.
#[test]
fn one_no_is_everybody_s() {
    let ((pool, mut one, sequence), (other_pool, mut other, other_sequence)) = (rank(0), rank(1));
    let full: Sequence = ok(|out| kvl_open(the(&other_pool), to(out), no()));
    let most = request(8, 40);
    let _: kvledger_core::Admitted = ok(|out| kvl_admit(the(&other_pool), full, the(&most), to(out), no()));
    let request = request(16, 16);
    let asked = proposal(1, &request);
    let votes = [vote(&mut one, sequence, &asked), vote(&mut other, other_sequence, &asked)];
    assert_eq!((votes[0].refusal.code, votes[1].refusal.code, votes[1].refusal.short_by), (0, 1, 2));
    let counts: Counts = ok(|out| kvl_counts(the(&pool), to(out), no()));
    assert_eq!(counts.headroom, BLOCKS - 4, "reserved until the decision");
    let decision = decided(1, 2, &votes);
    assert_eq!((decision.commit, decision.refusal, decision.headroom), (0, votes[1].refusal, 2));

    let digest: Digest = ok(|out| kvl_rank_digest(the(&one), to(out), no()));
    assert_eq!((digest.number, digest.promised), (0, 0));
    for rank in [&mut one, &mut other] {
        assert_eq!(kvl_rank_commit(both(rank), 2, 0, no()), 6, "STALE: not voted on");
        assert_eq!((kvl_rank_abort(both(rank), 1, no()), kvl_rank_abort(both(rank), 1, no())), (0, 0));
        let number: u64 = ok(|out| kvl_rank_number(the(rank), to(out), no()));
        assert_eq!(number, 1);
    }
    let counts: Counts = ok(|out| kvl_counts(the(&pool), to(out), no()));
    assert_eq!(counts.headroom, BLOCKS);
    let no_promise = sized(KvlAdmission { promise: 9, ..request.fields });
    let bad = proposal(2, &no_promise);
    let out = &mut MaybeUninit::uninit();
    // SAFETY: there are no names.
    let why = refused(|why| unsafe { kvl_rank_vote(both(&mut one), sequence, the(&bad), null(), 0, to(out), to(why)) });
    assert_eq!(invalid(why), Argument::Promise as u32);
}
