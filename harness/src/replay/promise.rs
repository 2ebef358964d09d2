//! W, the promise of P2 (`harness/RULES.md`), as arithmetic: what a request is promised at its first admission and at a
//! later one, and what it could hold at most. All in blocks, rounded up; tokens are 64 bits wide here, so that no sum
//! wraps.

use super::settings::{Policy, Settings};

/// One request as the engine sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Demand {
    /// The step at which it arrives: ⌈arrival/step⌉.
    pub arrival_step: u64,
    /// P, at least 1.
    pub prompt: u32,
    /// O, at least 1.
    pub output: u32,
}

/// What becomes of a request at its arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It joins the queue.
    Queues,
    /// P + O is above M.
    RejectedContext,
    /// Its promise or its length is more than N − S.
    RejectedPool,
}

/// The arithmetic of one policy.
#[derive(Clone, Copy, Debug)]
pub struct Promises {
    policy: Policy,
    block_tokens: u64,
    /// M, if there is a limit.
    max_context: Option<u64>,
    /// N − S, if there is a limit.
    ceiling: Option<u64>,
}

impl Promises {
    /// The arithmetic of `settings`.
    pub fn new(settings: &Settings) -> Promises {
        Promises {
            policy: settings.policy,
            block_tokens: u64::from(settings.block_tokens),
            max_context: (settings.max_context > 0).then_some(u64::from(settings.max_context)),
            ceiling: settings.limit().map(|(blocks, safety)| u64::from(blocks.saturating_sub(safety))),
        }
    }

    /// ⌈tokens/B⌉.
    pub fn blocks(&self, tokens: u64) -> u64 {
        tokens.div_ceil(self.block_tokens)
    }

    /// T: the blocks of the whole request.
    pub fn whole(&self, demand: &Demand) -> u64 {
        self.blocks(u64::from(demand.prompt) + u64::from(demand.output))
    }

    /// W at the first admission.
    pub fn first(&self, demand: &Demand) -> u64 {
        let prompt = u64::from(demand.prompt);
        match self.policy {
            Policy::Full => self.whole(demand),
            // Without M a contiguous region has no size; such settings are refused before they get here.
            Policy::Contig => self.blocks(self.max_context.unwrap_or(0)),
            Policy::Incremental => self.blocks(prompt),
            Policy::Percentile { q_tokens, .. } => {
                let likely = prompt + u64::from(q_tokens);
                self.blocks(prompt).max(self.blocks(self.max_context.map_or(likely, |max| likely.min(max))))
            }
        }
    }

    /// W at a later admission, with `tokens` of prompt and output there already.
    pub fn later(&self, demand: &Demand, tokens: u64) -> u64 {
        match self.policy {
            Policy::Full | Policy::Contig => self.first(demand),
            Policy::Incremental => self.blocks(tokens),
            Policy::Percentile { q_tokens, .. } => {
                let likely = self.blocks(tokens + u64::from(q_tokens));
                self.blocks(tokens).max(self.ceiling.map_or(likely, |ceiling| likely.min(ceiling)))
            }
        }
    }

    /// P1: whether it can ever fit.
    pub fn fate(&self, demand: &Demand) -> Fate {
        let tokens = u64::from(demand.prompt) + u64::from(demand.output);
        if self.max_context.is_some_and(|max| tokens > max) {
            return Fate::RejectedContext;
        }
        let needed = self.whole(demand).max(match self.policy {
            Policy::Contig | Policy::Percentile { .. } => self.first(demand),
            Policy::Full | Policy::Incremental => 0,
        });
        if self.ceiling.is_some_and(|ceiling| needed > ceiling) { Fate::RejectedPool } else { Fate::Queues }
    }

    /// The largest W that the request can come to, over all its admissions and all that it grows by.
    pub fn largest(&self, demand: &Demand) -> u64 {
        let last_tokens = u64::from(demand.prompt) + u64::from(demand.output) - 1;
        // Who is never short of blocks is never preempted, so without a limit there is no later admission.
        let later = self.ceiling.map_or(0, |_| self.later(demand, last_tokens));
        self.whole(demand).max(self.first(demand)).max(later)
    }

    /// The fewest blocks that the request holds while it runs.
    pub fn smallest_held(&self, demand: &Demand) -> u64 {
        match self.policy {
            Policy::Contig => self.first(demand),
            _ => self.blocks(u64::from(demand.prompt)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::{Exceed, PoolSize};
    use super::*;

    fn promises(policy: Policy, pool: PoolSize, max_context: u32) -> Promises {
        Promises::new(&Settings { block_tokens: 4, ..Settings::new(policy, pool, 1, max_context) })
    }

    const DEMAND: Demand = Demand { arrival_step: 0, prompt: 9, output: 9 };
    const PERCENTILE: Policy = Policy::Percentile { q_tokens: 20, exceed: Exceed::PreemptSelf };

    #[test]
    fn each_policy_promises_what_its_rule_says() {
        let pool = PoolSize::Blocks(12);
        assert_eq!(promises(Policy::Full, pool, 24).first(&DEMAND), 5);
        assert_eq!(promises(Policy::Contig, pool, 24).first(&DEMAND), 6);
        assert_eq!(promises(Policy::Incremental, pool, 24).first(&DEMAND), 3);
        assert_eq!(promises(Policy::Incremental, pool, 24).later(&DEMAND, 13), 4);
        assert_eq!(promises(PERCENTILE, pool, 24).first(&DEMAND), 6, "cut at M");
        assert_eq!(promises(PERCENTILE, pool, 0).first(&DEMAND), 8, "no M");
        assert_eq!(promises(PERCENTILE, pool, 24).later(&DEMAND, 17), 10, "not cut at M");
        assert_eq!(promises(PERCENTILE, PoolSize::Blocks(8), 24).later(&DEMAND, 17), 7, "cut at N - S");
    }

    #[test]
    fn who_can_never_fit_is_told_at_arrival() {
        assert_eq!(promises(Policy::Full, PoolSize::Blocks(12), 17).fate(&DEMAND), Fate::RejectedContext);
        assert_eq!(promises(Policy::Full, PoolSize::Blocks(6), 0).fate(&DEMAND), Fate::Queues);
        assert_eq!(promises(Policy::Full, PoolSize::Blocks(5), 0).fate(&DEMAND), Fate::RejectedPool);
        assert_eq!(promises(PERCENTILE, PoolSize::Blocks(8), 0).fate(&DEMAND), Fate::RejectedPool);
        assert_eq!(promises(PERCENTILE, PoolSize::Unlimited, 0).fate(&DEMAND), Fate::Queues);
    }
}
