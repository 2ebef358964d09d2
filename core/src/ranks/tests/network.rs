//! Three ranks and a coordinator over a network that loses, repeats and delays, against what everybody would write down
//! who saw all decisions.

use super::{Proposal, Rank, Vote, decide, small};
use crate::answer::Refusal;
use crate::calls::Admission;
use crate::ids::Sequence;
use crate::pool::Pool;
use std::vec::Vec;

const RANKS: usize = 3;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// What is under way.
#[derive(Clone, Copy, Debug)]
enum Message {
    Propose { to: usize, proposal: Proposal },
    Vote(Vote),
    Commit { to: usize, number: u64, cached_tokens: u32 },
    Abort { to: usize, number: u64 },
    Done { from: usize, number: u64 },
}

/// A request that was admitted, as all ranks must know it.
struct Request {
    tokens_max: u32,
    tokens: u32,
    handles: [Sequence; RANKS],
}

struct World {
    random: Random,
    pools: [Pool<'static>; RANKS],
    ranks: [Rank<'static>; RANKS],
    /// The handle that each rank tries to admit now.
    trying: [Sequence; RANKS],
    wire: Vec<Message>,
    requests: Vec<Request>,
    /// Of the coordinator.
    proposal: Proposal,
    votes: [Option<Vote>; RANKS],
    decision: Option<(bool, u32)>,
    done: [bool; RANKS],
    /// Held and promised blocks by the number that made them so: the model.
    history: Vec<(u64, u64)>,
}

impl World {
    fn new(seed: u64) -> World {
        let pools = [small(24), small(21), small(30)];
        let mut place = 0..;
        let ranks = pools.map(|pool| Rank::new(pool, place.next().expect("endless"), 0));
        let trying = pools.map(|pool| pool.open().expect("a slot"));
        let proposal = Proposal { number: 0, admission: Admission::full(1, 0), cached_tokens_max: 0 };
        World {
            random: Random(seed),
            pools,
            ranks,
            trying,
            wire: Vec::new(),
            requests: Vec::new(),
            proposal,
            votes: [None; RANKS],
            decision: None,
            done: [true; RANKS],
            history: std::vec![(0, 0)],
        }
    }

    /// What the requests that were admitted hold and are promised.
    fn model(&self) -> (u64, u64) {
        let held = self.requests.iter().map(|request| u64::from(request.tokens)).sum();
        let all: u64 = self.requests.iter().map(|request| u64::from(request.tokens_max)).sum();
        (held, all - held)
    }

    fn propose(&mut self) {
        let prompt = 1 + self.random.below(8) as u32;
        let output = self.random.below(6) as u32;
        let number = self.proposal.number + 1;
        self.proposal = Proposal { number, admission: Admission::full(prompt, output), cached_tokens_max: 0 };
        (self.votes, self.decision, self.done) = ([None; RANKS], None, [false; RANKS]);
    }

    /// Send whatever somebody still waits for; all of it may be under way already.
    fn send(&mut self) {
        let to = self.random.below(RANKS);
        let number = self.proposal.number;
        match self.decision {
            None if self.votes[to].is_none() => self.wire.push(Message::Propose { to, proposal: self.proposal }),
            Some((true, cached_tokens)) if !self.done[to] => {
                self.wire.push(Message::Commit { to, number, cached_tokens });
            }
            Some((false, _)) if !self.done[to] => self.wire.push(Message::Abort { to, number }),
            _ => {}
        }
    }

    /// Decide when all votes are there, or when patience is at its end.
    fn decide(&mut self) {
        let votes: Vec<Vote> = self.votes.iter().flatten().copied().collect();
        if self.decision.is_some() || (votes.len() < RANKS && self.random.below(60) > 0) {
            return;
        }
        let decision = decide(self.proposal.number, RANKS as u32, &votes);
        let needed = self.proposal.admission.prompt_tokens + self.proposal.admission.output_tokens_max;
        let (held, promised) = self.model();
        let fits = self.pools.iter().all(|pool| held + promised + u64::from(needed) <= u64::from(pool.config().blocks));
        let commit = decision.commit;
        assert!(!commit || fits, "a rank paid for another");
        assert!(commit || votes.len() < RANKS || !fits, "all had room: {votes:?}");
        self.decision = Some((commit, decision.cached_tokens));
        if commit {
            self.requests.push(Request { tokens_max: needed, tokens: 0, handles: self.trying });
        }
        self.history.push(self.model());
    }

    /// Some message arrives, or is lost, or arrives and will arrive again.
    fn deliver(&mut self) {
        if self.wire.is_empty() {
            return;
        }
        let which = self.random.below(self.wire.len());
        let message = if self.random.below(4) == 0 { self.wire[which] } else { self.wire.swap_remove(which) };
        if self.random.below(5) == 0 {
            return;
        }
        match message {
            Message::Propose { to, proposal } => match self.ranks[to].vote(self.trying[to], &proposal, &[]) {
                Ok(vote) => self.wire.push(Message::Vote(vote)),
                Err(refusal) => assert_eq!(refusal, Refusal::Stale, "decisions are waited for, so nothing is early"),
            },
            Message::Vote(vote) => {
                if vote.number == self.proposal.number {
                    let before = self.votes[vote.rank as usize].replace(vote);
                    assert!(before.is_none_or(|before| before == vote), "two votes on one proposal");
                }
            }
            Message::Commit { to, number, cached_tokens } => {
                let answer = self.ranks[to].commit(number, cached_tokens);
                self.decided(to, number, answer);
            }
            Message::Abort { to, number } => {
                let answer = self.ranks[to].abort(number);
                self.decided(to, number, answer);
            }
            Message::Done { from, number } => self.done[from] |= number == self.proposal.number,
        }
    }

    fn decided(&mut self, rank: usize, number: u64, answer: Result<(), Refusal>) {
        match answer {
            Ok(()) => self.wire.push(Message::Done { from: rank, number }),
            Err(refusal) => {
                assert_eq!(refusal, Refusal::Stale);
                assert!(number < self.ranks[rank].number(), "late");
            }
        }
    }

    /// A rank that has carried out `number` decisions is what these made of it, whatever else is under way.
    fn compare(&self) {
        for rank in &self.ranks {
            let digest = rank.digest();
            assert_eq!(
                (digest.held, digest.promised),
                self.history[digest.number as usize],
                "number {}",
                digest.number
            );
        }
    }

    /// All ranks are where the coordinator is: steps, ends, and the next proposal.
    fn step(&mut self) {
        self.compare();
        let number = self.proposal.number;
        assert!(self.ranks.iter().all(|rank| rank.number() == number && rank.outstanding().is_none()));
        if matches!(self.decision, Some((true, _))) {
            self.trying = self.pools.map(|pool| pool.open().expect("a slot"));
        }
        for request in &mut self.requests {
            let tokens = (self.random.below(4) as u32).min(request.tokens_max - request.tokens);
            if tokens > 0 {
                for (pool, sequence) in self.pools.iter().zip(request.handles) {
                    pool.advance(sequence, tokens).expect("I3: it was promised");
                }
                request.tokens += tokens;
            }
        }
        let pools = self.pools;
        self.requests.retain(|request| {
            let over = request.tokens == request.tokens_max;
            if over {
                for (pool, sequence) in pools.iter().zip(request.handles) {
                    pool.end(sequence).expect("nothing is in flight");
                }
            }
            !over
        });
        let now = self.model();
        if let Some(last) = self.history.last_mut() {
            *last = now;
        }
        self.compare();
        self.propose();
    }
}

#[test]
fn ranks_agree_over_a_network_that_loses_repeats_and_delays() {
    for seed in 0..20 {
        let mut world = World::new(seed);
        let (mut commits, mut aborts) = (0, 0);
        for _ in 0..12_000 {
            match world.random.below(4) {
                0 => world.send(),
                1 | 2 => world.deliver(),
                _ => world.decide(),
            }
            world.compare();
            if world.done.iter().all(|done| *done) {
                match world.decision {
                    Some((true, _)) => commits += 1,
                    _ => aborts += 1,
                }
                world.step();
            }
        }
        assert!(commits > 20 && aborts > 20, "seed {seed}: {commits} commits, {aborts} aborts: too few to have tested");
    }
}
