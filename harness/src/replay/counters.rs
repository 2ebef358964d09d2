//! What a replay counts. The names are those of the figures.

use serde::Serialize;

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Outcome {
    /// Not yet.
    #[default]
    Pending,
    /// With all its tokens.
    Completed,
    /// Without its last tokens: it went past its promise and was ended.
    Truncated,
    /// Never admitted: longer than the longest context.
    RejectedContext,
    /// Never admitted: more than the pool can ever give.
    RejectedPool,
}

impl Outcome {
    /// The name in digests.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Pending => "pending",
            Outcome::Completed => "completed",
            Outcome::Truncated => "truncated",
            Outcome::RejectedContext => "rejected_ctx",
            Outcome::RejectedPool => "rejected_pool",
        }
    }
}

/// What happened to one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Record {
    /// The step of its first admission.
    pub admit: Option<u64>,
    /// The step in which it ended.
    pub finish: Option<u64>,
    /// How often it gave its blocks back to be recomputed.
    pub preempts: u32,
    /// Shared blocks that it found at all its admissions.
    pub hits: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether it has gone past its promise.
    pub exceeded: bool,
}

/// Sums, counts and peaks of one replay. Blocks and steps unless said otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counters {
    /// Requests in the trace.
    pub requests: u64,
    /// Admissions, those after preemptions included.
    pub admissions: u64,
    /// Blocks taken from the pool: new ones, no hits.
    pub blocks_allocated: u64,
    /// Steps in which something ran or waited.
    pub busy_steps: u64,
    /// Requests that got all their tokens.
    pub completed: u64,
    /// The last busy step.
    pub end_step: u64,
    /// Cached blocks that made room for others.
    pub evictions: u64,
    /// Blocks beyond promises.
    pub exceed_blocks: u64,
    /// Requests that went past their promise.
    pub exceed_requests: u64,
    /// Shared blocks found at first admissions.
    pub hit_first: u64,
    /// Shared blocks found at later admissions.
    pub hit_re: u64,
    /// Shared blocks looked for at first admissions.
    pub lookup_first: u64,
    /// Tokens to be recomputed after preemptions.
    pub lost_tokens: u64,
    /// Longest wait for a first admission.
    pub max_wait: u64,
    /// Most cached blocks.
    pub peak_cached: u64,
    /// Most blocks held or promised.
    pub peak_committed: u64,
    /// Longest queue.
    pub peak_queue: u64,
    /// Most requests running.
    pub peak_running: u64,
    /// Most blocks held.
    pub peak_used: u64,
    /// Preemptions.
    pub preemptions: u64,
    /// Requests longer than the longest context.
    pub rejected_ctx: u64,
    /// Requests that the pool can never give enough.
    pub rejected_pool: u64,
    /// Blocks held or promised, summed over busy steps.
    pub sum_committed: u64,
    /// Requests running, summed over busy steps.
    pub sum_running: u64,
    /// Tokens of running requests, summed over busy steps.
    pub sum_tokens: u64,
    /// Blocks held, summed over busy steps.
    pub sum_used: u64,
    /// Waits for first admissions, summed.
    pub sum_wait: u64,
    /// Requests ended past their promise.
    pub truncated: u64,
}

impl Counters {
    /// Tokens per slot of held and promised blocks: sum_tokens / (B · sum_committed). 0 if nothing ran.
    pub fn utilisation(&self, block_tokens: u32) -> f64 {
        if self.sum_committed == 0 {
            return 0.0;
        }
        self.sum_tokens as f64 / (f64::from(block_tokens) * self.sum_committed as f64)
    }
}
