//! X, figures of a trace that need no replay: its tokens, the blocks they fill, what a contiguous region for the longest
//! context would leave idle, and the percentiles of prompts and outputs.

use crate::trace::{Request, Trace};
use serde::Serialize;

/// Static figures. Tokens unless said otherwise.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Statics {
    /// Requests.
    pub requests: u64,
    /// B.
    pub block_tokens: u32,
    /// M; 0: no limit.
    pub max_ctx: u32,
    /// All prompts.
    pub prompt_tokens: u64,
    /// All outputs.
    pub output_tokens: u64,
    /// The longest prompt with its output.
    pub max_total_tokens: u64,
    /// Blocks of all prompts.
    pub prompt_blocks: u64,
    /// Blocks of all prompts with their outputs.
    pub total_blocks: u64,
    /// Slots in those blocks that no token fills.
    pub paged_slack_tokens: u64,
    /// Blocks by which outputs grow beyond prompts.
    pub growth_blocks: u64,
    /// What contiguous regions would do; none without M.
    #[serde(flatten)]
    pub contiguous: Option<Contiguous>,
    /// Percentiles.
    #[serde(flatten)]
    pub percentiles: Percentiles,
}

/// A region of M slots a request, for the requests that fit into one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Contiguous {
    /// Requests that fit.
    pub contig_fit: u64,
    /// Requests that do not.
    pub contig_over: u64,
    /// Slots that those that fit would reserve.
    pub contig_reserved_tokens: u64,
    /// Of these, slots that no token fills.
    pub contig_idle_tokens: u64,
    /// Slots that no token fills when the same requests have blocks.
    pub paged_idle_tokens_same_requests: u64,
}

/// Percentile q of n values: the one at place ⌈q·n/100⌉, counted from 1, in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Percentiles {
    /// Median output.
    pub output_p50: u32,
    /// Outputs above it.
    pub outputs_over_p50: u64,
    /// Median prompt.
    pub prompt_p50: u32,
    /// 90 % of the outputs are at most this.
    pub output_p90: u32,
    /// Outputs above it.
    pub outputs_over_p90: u64,
    /// 90 % of the prompts are at most this.
    pub prompt_p90: u32,
    /// 95 % of the outputs are at most this.
    pub output_p95: u32,
    /// Outputs above it.
    pub outputs_over_p95: u64,
    /// 95 % of the prompts are at most this.
    pub prompt_p95: u32,
    /// 99 % of the outputs are at most this.
    pub output_p99: u32,
    /// Outputs above it.
    pub outputs_over_p99: u64,
    /// 99 % of the prompts are at most this.
    pub prompt_p99: u32,
}

/// Values in ascending order: lengths, unless something else is said.
#[derive(Clone, Debug)]
pub struct Ranked<T = u32>(Vec<T>);

impl Ranked {
    /// The outputs of a trace.
    pub fn outputs(trace: &Trace) -> Ranked {
        Ranked::of(trace, |request| request.output)
    }

    /// The prompts of a trace.
    pub fn prompts(trace: &Trace) -> Ranked {
        Ranked::of(trace, |request| request.prompt)
    }

    fn of(trace: &Trace, length: impl Fn(&Request) -> u32) -> Ranked {
        Ranked::new(trace.requests.iter().map(length).collect())
    }
}

impl<T: Copy + Ord + Default> Ranked<T> {
    /// Puts `values` in order.
    pub fn new(mut values: Vec<T>) -> Ranked<T> {
        values.sort_unstable();
        Ranked(values)
    }

    /// All of them, in ascending order.
    pub fn values(&self) -> &[T] {
        &self.0
    }

    /// Percentile `percent`, which is 1 ..= 100. 0 if there is no value at all.
    pub fn percentile(&self, percent: u32) -> T {
        let place = (percent as usize * self.0.len()).div_ceil(100);
        self.0.get(place.saturating_sub(1)).copied().unwrap_or_default()
    }

    /// How many are above `value`.
    pub fn over(&self, value: T) -> u64 {
        (self.0.len() - self.0.partition_point(|&other| other <= value)) as u64
    }
}

/// The longest context that a server would be given for this trace: the next power of two from its longest request on.
pub fn usual_context(trace: &Trace) -> u32 {
    let longest = trace.requests.iter().map(|request| request.prompt.saturating_add(request.output)).max().unwrap_or(1);
    longest.checked_next_power_of_two().unwrap_or(u32::MAX)
}

/// The figures of `trace` with blocks of `block_tokens` tokens and longest context `max_context` (0: none).
pub fn statics(trace: &Trace, block_tokens: u32, max_context: u32) -> Statics {
    let totals = || trace.requests.iter().map(|request| u64::from(request.prompt) + u64::from(request.output));
    let blocks = |tokens: u64| tokens.div_ceil(u64::from(block_tokens));
    let prompt_tokens: u64 = trace.requests.iter().map(|request| u64::from(request.prompt)).sum();
    let output_tokens: u64 = trace.requests.iter().map(|request| u64::from(request.output)).sum();
    let prompt_blocks: u64 = trace.requests.iter().map(|request| blocks(u64::from(request.prompt))).sum();
    let total_blocks: u64 = totals().map(blocks).sum();
    Statics {
        requests: trace.requests.len() as u64,
        block_tokens,
        max_ctx: max_context,
        prompt_tokens,
        output_tokens,
        max_total_tokens: totals().max().unwrap_or(0),
        prompt_blocks,
        total_blocks,
        paged_slack_tokens: total_blocks * u64::from(block_tokens) - prompt_tokens - output_tokens,
        growth_blocks: total_blocks - prompt_blocks,
        contiguous: (max_context > 0).then(|| contiguous(totals(), block_tokens, max_context)),
        percentiles: percentiles(trace),
    }
}

fn contiguous(totals: impl Iterator<Item = u64>, block_tokens: u32, max_context: u32) -> Contiguous {
    let (block, max) = (u64::from(block_tokens), u64::from(max_context));
    let mut sums = Contiguous::default();
    for tokens in totals {
        if tokens > max {
            sums.contig_over += 1;
            continue;
        }
        sums.contig_fit += 1;
        sums.contig_reserved_tokens += max;
        sums.contig_idle_tokens += max - tokens;
        sums.paged_idle_tokens_same_requests += tokens.div_ceil(block) * block - tokens;
    }
    sums
}

fn percentiles(trace: &Trace) -> Percentiles {
    let (outputs, prompts) = (Ranked::outputs(trace), Ranked::prompts(trace));
    let over = |percent| outputs.over(outputs.percentile(percent));
    Percentiles {
        output_p50: outputs.percentile(50),
        outputs_over_p50: over(50),
        prompt_p50: prompts.percentile(50),
        output_p90: outputs.percentile(90),
        outputs_over_p90: over(90),
        prompt_p90: prompts.percentile(90),
        output_p95: outputs.percentile(95),
        outputs_over_p95: over(95),
        prompt_p95: prompts.percentile(95),
        output_p99: outputs.percentile(99),
        outputs_over_p99: over(99),
        prompt_p99: prompts.percentile(99),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_elements_of_the_list() {
        let hundred = Ranked::<u32>((1..=100).collect());
        assert_eq!([1, 50, 99, 100].map(|percent| hundred.percentile(percent)), [1, 50, 99, 100]);
        let three = Ranked::new(vec![20u32, 10, 20]);
        assert_eq!([1, 33, 34, 50, 67, 100].map(|percent| three.percentile(percent)), [10, 10, 20, 20, 20, 20]);
        assert_eq!((three.over(10), three.over(20)), (2, 0));
        assert_eq!(Ranked::<u64>::new(vec![]).percentile(50), 0);
    }
}
