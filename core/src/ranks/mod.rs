//! Ranks: several processes, each with a pool of its own, that run one model together and must admit the same requests.
//!
//! Problem: tensor- and pipeline-parallel ranks differ in what they have free and in what they have cached. If each decides
//! for itself, one admits what another refuses, and they wait for each other in the next collective operation for ever. So
//! an admission is agreed:
//!
//! 1. A coordinator numbers a [`Proposal`] and sends it to all ranks. How messages travel is the caller's.
//! 2. Each rank votes ([`Rank::vote`]). A yes *reserves* the worst case in its own pool, until the decision.
//! 3. The coordinator decides ([`decide`]): all say yes, or nobody admits. A rank's spare blocks never pay for what another
//!    lacks, and what is cached counts only as far as it is cached on all.
//! 4. Each rank carries the decision out: [`Rank::commit`], or [`Rank::abort`], which gives everything back.
//!
//! One number is agreed at a time. Messages may be lost, repeated and late; who lacks an answer sends again:
//!
//! ```text
//!                     vote(n + 1)                      commit(n + 1), abort(n + 1)
//!   decided up to n ───────────────▶ voted on n + 1 ──────────────────────────────▶ decided up to n + 1
//!         │                                                                              ▲
//!         └─────────────── abort(n + 1): the proposal never came ───────────────────────┘
//!
//!   n + 1, voted on     vote: the same vote again          decision: carried out
//!   n                   vote: STALE                        the same decision: OK, the other one: STALE
//!   older               STALE                              STALE
//!   newer               BUSY: a decision is missing        commit: STALE, abort: BUSY
//! ```
//!
//! 5. Every rank can say what decisions have made of its pool ([`Rank::digest`]); digests of one number are equal, or the
//!    ranks have drifted apart, and the first number that differs says in what.
//!
//! What follows an admission, growth, cancellation and the end, is made on all ranks at the same place of the same order of
//! calls, as every step is. A promise that was agreed needs no agreement to be used.

mod digest;
mod proposal;
mod rank;
#[cfg(all(test, not(loom)))]
mod tests;

pub use digest::{Difference, Digest};
pub use proposal::{Decision, Proposal, Vote, blocks_in_common, decide};
pub use rank::Rank;
