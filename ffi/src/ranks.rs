//! Ranks that admit the same requests: `decide`, `blocks_in_common`, `Digest`, `Rank`. A vote goes from one machine to
//! another as plain data, so what comes back is checked like every number of C.

use crate::admission::KvlAdmission;
use crate::answer::{KvlRefusal, fill, fill_apart, invalid, run_apart};
use crate::array::{array, span};
use crate::claim::{In, InOut, InSized, Out};
use crate::handle::{KvlPool, KvlRank, ask, view, view_mut};
use kvledger_core::identity::Identity;
use kvledger_core::ranks::{Decision, Digest, Proposal, Rank, Vote, blocks_in_common, decide};
use kvledger_core::{Argument, Epoch, Refusal, Sequence};

/// [`Proposal`], with a pointer to the admission, which can grow.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KvlProposal<'a> {
    /// Its place in the order of all proposals.
    pub number: u64,
    /// The request; not NULL.
    pub admission: InSized<'a, KvlAdmission>,
    /// Most tokens whose blocks may come out of caches.
    pub cached_tokens_max: u32,
}

impl KvlProposal<'_> {
    fn proposal(&self) -> Result<Proposal, Refusal> {
        let KvlProposal { number, cached_tokens_max, .. } = *self;
        Ok(Proposal { number, admission: self.admission.given()?.admission()?, cached_tokens_max })
    }
}

/// [`Vote`], with the refusal as C has it.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KvlVote {
    /// The proposal.
    pub number: u64,
    /// The rank.
    pub rank: u32,
    /// Blocks that the request needs.
    pub needed: u32,
    /// Tokens whose blocks this rank has cached.
    pub cached_tokens: u32,
    /// N − A − R − S of this rank.
    pub headroom: u32,
    /// Code 0: yes. Otherwise why not.
    pub refusal: KvlRefusal,
    /// The rank's own epoch to wait for.
    pub after: Epoch,
}

impl From<Vote> for KvlVote {
    fn from(vote: Vote) -> KvlVote {
        let Vote { number, rank, needed, cached_tokens, headroom, refusal, after } = vote;
        let refusal = refusal.map(KvlRefusal::from).unwrap_or_default();
        KvlVote { number, rank, needed, cached_tokens, headroom, refusal, after }
    }
}

impl KvlVote {
    /// A vote with a refusal that is none is a vote on no proposal, least of all on proposal `number`.
    fn vote_on(&self, number: u64) -> Vote {
        let KvlVote { rank, needed, cached_tokens, headroom, after, .. } = *self;
        let refusal = self.refusal.refusal();
        let is_vote = self.refusal.code == 0 || refusal.is_some();
        let number = if is_vote { self.number } else { !number };
        Vote { number, rank, needed, cached_tokens, headroom, refusal, after }
    }
}

/// [`Decision`], with the refusal as C has it.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KvlDecision {
    /// The proposal.
    pub number: u64,
    /// 1: all ranks admit it; 0: none does.
    pub commit: u32,
    /// Tokens that are cached on every rank.
    pub cached_tokens: u32,
    /// The least headroom of any rank.
    pub headroom: u32,
    /// 0.
    pub reserved: u32,
    /// Why it is not admitted; code 0 without a commit: a vote is missing.
    pub refusal: KvlRefusal,
}

impl From<Decision> for KvlDecision {
    fn from(decision: Decision) -> KvlDecision {
        let Decision { number, commit, cached_tokens, headroom, refusal } = decision;
        let refusal = refusal.map(KvlRefusal::from).unwrap_or_default();
        KvlDecision { number, commit: commit.into(), cached_tokens, headroom, reserved: 0, refusal }
    }
}

/// `decide`.
///
/// # Safety
/// `votes` is NULL or valid for `count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_decide(
    number: u64,
    ranks: u32,
    votes: *const KvlVote,
    count: usize,
    decision: Out<'_, KvlDecision>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(decision, refusal, || {
        // SAFETY: the caller's promise.
        let votes = unsafe { array(votes, count) }?;
        Ok(decide(number, ranks, votes.iter().map(|vote| vote.vote_on(number))).into())
    })
}

/// `blocks_in_common`; `INVALID(Count)` without ranks.
///
/// # Safety
/// `blocks` is NULL or valid for `count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_blocks_in_common(
    blocks: *const u32,
    count: usize,
    common: Out<'_, u32>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(common, refusal, || {
        // SAFETY: the caller's promise.
        blocks_in_common(unsafe { array(blocks, count) }?).ok_or(invalid(Argument::Count))
    })
}

/// `Digest::difference`; 0 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_digest_difference(
    one: In<'_, Digest>,
    other: In<'_, Digest>,
    difference: Out<'_, u32>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(difference, refusal, || Ok(one.given()?.difference(other.given()?).map_or(0, |found| found as u32)))
}

/// `Rank::new`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_rank_new(
    pool: In<'_, KvlPool>,
    rank_number: u32,
    number: u64,
    rank: Out<'_, KvlRank>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, rank, refusal, || Ok(KvlRank::new(Rank::new(*view(pool)?, rank_number, number))))
}

/// `Rank::number`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_rank_number(rank: In<'_, KvlRank>, number: Out<'_, u64>, refusal: Out<'_, KvlRefusal>) -> u32 {
    ask(rank, number, refusal, || Ok(view(rank)?.number()))
}

/// `Rank::outstanding`; all zeros if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_rank_outstanding(
    rank: In<'_, KvlRank>,
    vote: Out<'_, KvlVote>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(rank, vote, refusal, || Ok(view(rank)?.outstanding().map(KvlVote::from).unwrap_or_default()))
}

/// `Rank::vote`.
///
/// # Safety
/// `identities` is NULL or valid for `count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_rank_vote(
    rank: InOut<'_, KvlRank>,
    sequence: Sequence,
    proposal: In<'_, KvlProposal<'_>>,
    identities: *const Identity,
    count: usize,
    vote: Out<'_, KvlVote>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill_apart(vote, refusal, &[rank.range()], &[span(identities, count), proposal.range()], || {
        // Before there is a reference to the rank: what it points to may lie over that.
        let proposal = proposal.given()?.proposal()?;
        // SAFETY: the caller's promise.
        let identities = unsafe { array(identities, count) }?;
        let rank = view_mut(rank)?;
        rank.vote(sequence, &proposal, identities).map(KvlVote::from)
    })
}

/// `Rank::commit`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_rank_commit(
    rank: InOut<'_, KvlRank>,
    number: u64,
    cached_tokens: u32,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    run_apart(refusal, &[rank.range()], || view_mut(rank)?.commit(number, cached_tokens))
}

/// `Rank::abort`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_rank_abort(rank: InOut<'_, KvlRank>, number: u64, refusal: Out<'_, KvlRefusal>) -> u32 {
    run_apart(refusal, &[rank.range()], || view_mut(rank)?.abort(number))
}

/// `Rank::digest`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_rank_digest(rank: In<'_, KvlRank>, digest: Out<'_, Digest>, refusal: Out<'_, KvlRefusal>) -> u32 {
    ask(rank, digest, refusal, || Ok(view(rank)?.digest()))
}
