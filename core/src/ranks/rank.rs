//! One rank: votes, and what the decisions make of them. One thread drives it; it has no shared state of its own.

use super::digest::Digest;
use super::proposal::{Proposal, Vote};
use crate::answer::{Argument, Refusal, Scope};
use crate::calls::{Admission, Prefix};
use crate::identity::Identity;
use crate::ids::{Epoch, Sequence};
use crate::pool::Pool;

/// A vote that waits for its decision.
#[derive(Clone, Copy, Debug)]
struct Ballot {
    proposal: Proposal,
    sequence: Sequence,
    vote: Vote,
}

/// What the newest decision was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Decided {
    /// Before this rank joined, so nobody can repeat it.
    Earlier,
    Committed {
        cached_tokens: u32,
    },
    Aborted,
}

/// The state of one rank: at most one vote whose decision has not come.
pub struct Rank<'m> {
    pool: Pool<'m>,
    rank: u32,
    /// The newest number that was decided.
    number: u64,
    decided: Decided,
    ballot: Option<Ballot>,
}

impl<'m> Rank<'m> {
    /// Rank `rank`, `0..ranks`, with its own pool, in a group that has decided everything up to `number`: 0 at the start.
    /// Never fails.
    pub fn new(pool: Pool<'m>, rank: u32, number: u64) -> Rank<'m> {
        Rank { pool, rank, number, decided: Decided::Earlier, ballot: None }
    }

    /// The newest number that was decided. Never fails.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The vote whose decision has not come: what to send again, and to ask about. Never fails.
    pub fn outstanding(&self) -> Option<Vote> {
        self.ballot.map(|ballot| ballot.vote)
    }

    /// Vote on a proposal. With a yes, `sequence`, which is open and not admitted, is admitted for the worst case, that
    /// nothing is cached on some other rank; nobody may use it before the commit. `prefix` names the full blocks of the
    /// prompt. A request that cannot be admitted is a no, whatever the reason, and a no waits for its decision too. The
    /// same proposal again is answered with the same vote.
    ///
    /// Errors: `STALE` if the number is decided; `BUSY` if a decision before it has not come, which the coordinator is to
    /// send again; `INVALID(Sequence)` if the number was voted on, and it was another proposal or sequence. Nothing
    /// happened then. Cost: as `Pool::admit_prefix`.
    pub fn vote(&mut self, sequence: Sequence, proposal: &Proposal, prefix: &[Identity]) -> Result<Vote, Refusal> {
        if proposal.number <= self.number {
            return Err(Refusal::Stale);
        }
        if let Some(ballot) = &self.ballot {
            return if ballot.vote.number != proposal.number {
                Err(Refusal::Busy)
            } else if ballot.proposal == *proposal && ballot.sequence == sequence {
                Ok(ballot.vote)
            } else {
                Err(Refusal::invalid(Argument::Sequence))
            };
        }
        if proposal.number - self.number > 1 {
            return Err(Refusal::Busy);
        }
        let vote = self.consider(sequence, proposal, prefix);
        self.ballot = Some(Ballot { proposal: *proposal, sequence, vote });
        Ok(vote)
    }

    /// All ranks said yes: the sequence is admitted, with `cached_tokens` tokens that need not be computed, the same on
    /// every rank. The decision again is `OK`.
    ///
    /// Errors: `STALE` if this rank has no yes outstanding under this number (it is older, it was aborted, the vote was
    /// no); `INVALID(Tokens)` for more tokens than the vote said, or for a number that no rank can have found; `BUSY` if
    /// another thread drives the sequence, `INVALID(Sequence)` if it was preempted since the vote. Nothing happened then.
    /// `CORRUPT` as `trim`, which was done: to be said again.
    pub fn commit(&mut self, number: u64, cached_tokens: u32) -> Result<(), Refusal> {
        let decided = Decided::Committed { cached_tokens };
        if self.is_repeated(number, decided) {
            return Ok(());
        }
        let ballot = self.ballot.filter(|ballot| ballot.vote.number == number && ballot.vote.is_yes());
        let ballot = ballot.ok_or(Refusal::Stale)?;
        if cached_tokens > ballot.vote.cached_tokens {
            return Err(Refusal::invalid(Argument::Tokens));
        }
        match self.agree(&ballot, cached_tokens) {
            // Cancelled or ended since the vote: its driver knows.
            Ok(()) | Err(Refusal::Cancelled | Refusal::Stale) => {}
            Err(refusal) => return Err(refusal),
        }
        self.decide(number, decided);
        Ok(())
    }

    /// Not all said yes: what the vote reserved goes back, the sequence is open and not admitted. Also for a proposal that
    /// never came here: then its number is passed over. The decision again is `OK`.
    ///
    /// Errors: `STALE` if the number is decided, and this is not its decision again; `BUSY` if a decision before it has not
    /// come, or if another thread drives the sequence; nothing happened then. `CORRUPT` as `Pool::preempt`: it is decided
    /// all the same.
    pub fn abort(&mut self, number: u64) -> Result<(), Refusal> {
        if self.is_repeated(number, Decided::Aborted) {
            return Ok(());
        }
        if number <= self.number {
            return Err(Refusal::Stale);
        }
        if number - self.number > 1 {
            return Err(Refusal::Busy);
        }
        let returned = self.ballot.map_or(Ok(()), |ballot| self.give_back(&ballot));
        if returned != Err(Refusal::Busy) {
            self.decide(number, Decided::Aborted);
        }
        returned
    }

    /// What decisions have made of the pool; what an outstanding vote has reserved is not in it. Never fails. Right while
    /// nobody else uses the pool. Cost: as `Pool::snapshot`.
    pub fn digest(&self) -> Digest {
        let snapshot = self.pool.snapshot();
        let reserved = self.ballot.filter(|ballot| ballot.vote.is_yes());
        let reserved =
            reserved.and_then(|ballot| self.pool.sequence_snapshot(ballot.sequence).ok()).unwrap_or_default();
        Digest {
            number: self.number,
            held: snapshot.entries.saturating_sub(u64::from(reserved.held)),
            promised: u64::from(snapshot.promised).saturating_sub(u64::from(reserved.promised)),
            safety: u64::from(snapshot.safety),
        }
    }

    /// Reserve the worst case if it can be had.
    fn consider(&self, sequence: Sequence, proposal: &Proposal, prefix: &[Identity]) -> Vote {
        let admission = &proposal.admission;
        let headroom = self.pool.counts().headroom;
        let needed = self.pool.promise_of(admission);
        let vote = Vote {
            number: proposal.number,
            rank: self.rank,
            needed,
            cached_tokens: 0,
            headroom,
            refusal: None,
            after: Epoch::NONE,
        };
        let admitted = if admission.account.is_none() {
            self.reserve(sequence, proposal, prefix)
        } else {
            Err(Refusal::invalid(Argument::Account))
        };
        match admitted {
            Ok(cached_tokens) => Vote { cached_tokens, ..vote },
            Err(Refusal::RetryAfter { after, .. }) => {
                Vote { refusal: Some(self.would_block(admission, needed)), after, ..vote }
            }
            Err(refusal) => Vote { refusal: Some(refusal), ..vote },
        }
    }

    /// Admit with what is cached here, and promise it besides: another rank may have less, and then it is to be computed
    /// here too. If that cannot be had, admit as if nothing was cached. The cached tokens, which are kept until the decision.
    fn reserve(&self, sequence: Sequence, proposal: &Proposal, prefix: &[Identity]) -> Result<u32, Refusal> {
        let (pool, admission) = (&self.pool, &proposal.admission);
        let blocks_max = proposal.cached_tokens_max.checked_div(pool.config().block_tokens).unwrap_or(0);
        // What a window holds depends on which blocks were found, so ranks would not agree about it.
        if blocks_max > 0 && admission.window.tokens == 0 {
            let prefix = Prefix { blocks_max, ..Prefix::of(prefix) };
            if let Ok(admitted) = pool.admit_prefix(sequence, admission, &prefix) {
                if admitted.hits == 0 || pool.extend(sequence, admitted.hits, admission.watermark).is_ok() {
                    return Ok(admitted.cached_tokens);
                }
                pool.withdraw_admission(sequence)?;
            }
        }
        pool.admit(sequence, admission).map(|_| 0)
    }

    /// The agreed tokens are cached on every rank: what was found beyond them goes back, and so does what was promised for
    /// what is cached.
    fn agree(&self, ballot: &Ballot, cached_tokens: u32) -> Result<(), Refusal> {
        if ballot.vote.cached_tokens == 0 {
            return Ok(());
        }
        let pool = &self.pool;
        pool.trim(ballot.sequence, cached_tokens)?;
        match pool.sequence_snapshot(ballot.sequence)?.held {
            0 => Ok(()),
            held => pool.shrink(ballot.sequence, held).map(drop),
        }
    }

    /// What is missing, said without this rank's epochs: the group's, else the pool's.
    fn would_block(&self, admission: &Admission, needed: u32) -> Refusal {
        let group =
            self.pool.group_snapshot(admission.group).map_or(u32::MAX, |group| group.quota.saturating_sub(group.used));
        if let short_by @ 1.. = needed.saturating_sub(group) {
            return Refusal::WouldBlock { short_by, scope: Scope::Group };
        }
        let wanted = needed.saturating_add(admission.watermark);
        // Another thread may have returned something since.
        let short_by = wanted.saturating_sub(self.pool.counts().headroom).max(1);
        Refusal::WouldBlock { short_by, scope: Scope::Pool }
    }

    fn give_back(&self, ballot: &Ballot) -> Result<(), Refusal> {
        if !ballot.vote.is_yes() {
            return Ok(());
        }
        match self.pool.withdraw_admission(ballot.sequence) {
            // Cancelled, ended or preempted since the vote: then what was reserved is back.
            Ok(_) | Err(Refusal::Cancelled | Refusal::Stale | Refusal::Invalid { .. }) => Ok(()),
            Err(refusal) => Err(refusal),
        }
    }

    fn is_repeated(&self, number: u64, decided: Decided) -> bool {
        number == self.number && decided == self.decided
    }

    fn decide(&mut self, number: u64, decided: Decided) {
        self.number = number;
        self.decided = decided;
        self.ballot = None;
    }
}
