//! What the coordinator and the ranks tell each other, and what follows from the votes. Plain data and pure functions.

use crate::answer::{Argument, Refusal};
use crate::calls::Admission;
use crate::ids::Epoch;
use core::borrow::Borrow;

/// What all ranks are asked to admit.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proposal {
    /// Its place in the order of all proposals: one more than that of the last one that was decided. The first is 1, or
    /// follows what [`Rank::new`](super::Rank::new) was given.
    pub number: u64,
    /// The request, the same on all ranks. Its account must be `NONE`: a handle means nothing to another pool.
    pub admission: Admission,
    /// Most tokens whose blocks may come out of caches; 0: compute everything.
    pub cached_tokens_max: u32,
}

/// What a rank says to a proposal.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vote {
    /// The proposal.
    pub number: u64,
    /// The rank.
    pub rank: u32,
    /// Blocks that the request needs on any rank, what is cached included.
    pub needed: u32,
    /// Tokens whose blocks this rank has cached, and keeps until the decision. 0 with a no.
    pub cached_tokens: u32,
    /// N − A − R − S of this rank, before it reserved anything.
    pub headroom: u32,
    /// Nothing: yes, and it is reserved. Otherwise why not. Epochs of one rank mean nothing to another, so this is never
    /// `RETRY_AFTER`: it is `WOULD_BLOCK`, and `after` says the rest.
    pub refusal: Option<Refusal>,
    /// When this rank's own frontier has reached this epoch it will have what it lacks; `NONE`: nobody knows.
    pub after: Epoch,
}

impl Vote {
    /// Whether the rank can admit the request, and has reserved what it needs.
    pub const fn is_yes(&self) -> bool {
        self.refusal.is_none()
    }
}

/// What became of a proposal: the same for all ranks.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// The proposal.
    pub number: u64,
    /// All ranks admit it; otherwise none does.
    pub commit: bool,
    /// Tokens that are cached on every rank: the least of what the votes say. 0 if it is not admitted.
    pub cached_tokens: u32,
    /// The least headroom of any rank, before this proposal: what the ranks have together. 2^32 − 1 without votes.
    pub headroom: u32,
    /// Why it is not admitted: the refusal that will last longest. Nothing, and no commit: a vote is missing.
    pub refusal: Option<Refusal>,
}

/// Decide proposal `number` of `ranks` ranks. `votes` are theirs in the order of the ranks: whatever stands at another's
/// place, or is a vote on another number, is no vote. Without the yes of every rank, or with no ranks at all, it is not
/// admitted. Ranks that need different numbers of blocks have different block sizes: `INVALID(BlockTokens)`.
///
/// Never fails. Pure. Cost: O(ranks).
pub fn decide(number: u64, ranks: u32, votes: impl IntoIterator<Item: Borrow<Vote>>) -> Decision {
    let mut decision =
        Decision { number, commit: ranks > 0, cached_tokens: u32::MAX, headroom: u32::MAX, refusal: None };
    let (mut voted, mut needed) = (0u32, None);
    for vote in votes {
        let (vote, rank) = (vote.borrow(), voted);
        voted = voted.saturating_add(1);
        let needed = *needed.get_or_insert(vote.needed);
        if vote.number != number || vote.rank != rank {
            decision.commit = false;
            continue;
        }
        decision.headroom = decision.headroom.min(vote.headroom);
        decision.cached_tokens = decision.cached_tokens.min(vote.cached_tokens);
        let refusal = match vote.refusal {
            None if vote.needed != needed => Some(Refusal::invalid(Argument::BlockTokens)),
            refusal => refusal,
        };
        decision.refusal = graver(decision.refusal, refusal);
    }
    decision.commit &= voted == ranks && decision.refusal.is_none();
    if !decision.commit {
        decision.cached_tokens = 0;
    }
    decision
}

/// N of a group of ranks of which one hands out ids for all: ids above it would be no blocks on some rank. Each pool is made
/// with so many blocks. `None` without ranks.
pub fn blocks_in_common(blocks: &[u32]) -> Option<u32> {
    blocks.iter().copied().min()
}

/// The refusal that takes more to mend.
fn graver(one: Option<Refusal>, other: Option<Refusal>) -> Option<Refusal> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if weight(&other) > weight(&one) { other } else { one }),
        (one, other) => one.or(other),
    }
}

/// First the kind, in the order in which one call would answer them, then how much is missing.
fn weight(refusal: &Refusal) -> (u32, u32) {
    match *refusal {
        Refusal::RetryAfter { reclaimable, .. } => (0, reclaimable),
        Refusal::WouldBlock { short_by, .. } => (1, short_by),
        Refusal::OverPromise { short_by } => (2, short_by),
        Refusal::NeverFits { needed, ceiling } => (3, needed.saturating_sub(ceiling)),
        Refusal::Busy => (4, 0),
        Refusal::Full => (5, 0),
        Refusal::Cancelled => (6, 0),
        Refusal::Stale => (7, 0),
        Refusal::Invalid { .. } => (8, 0),
        Refusal::Corrupt { .. } => (9, 0),
    }
}
