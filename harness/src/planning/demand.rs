//! What requests are promised under each admission policy, in tokens; a [`Kind`](super::Kind) makes blocks of them.
//!
//! The policies and their names are those of the replay (`harness/RULES.md`, P2), for a first admission.

use super::problem::Problem;
use crate::replay::Ranked;
use crate::trace::{TOKENS_MAX, Trace};
use std::str::FromStr;

/// One request: prompt tokens, and the most output tokens that it may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Tokens of the prompt, at least 1.
    pub prompt: u32,
    /// Tokens of the output at most.
    pub output: u32,
}

impl Request {
    /// All its tokens. Both are at most 2^31 − 1.
    pub const fn longest(self) -> u32 {
        self.prompt.saturating_add(self.output)
    }
}

impl FromStr for Request {
    type Err = String;

    fn from_str(text: &str) -> Result<Request, String> {
        let part = |text: &str, least| {
            let number = text.trim().parse().ok().filter(|tokens| (least..=TOKENS_MAX).contains(tokens));
            number.map(|tokens: u64| tokens as u32)
        };
        let (prompt, output) = text.split_once(':').unwrap_or((text, ""));
        part(prompt, 1)
            .zip(part(output, 0))
            .map(|(prompt, output)| Request { prompt, output })
            .ok_or_else(|| format!("give PROMPT:OUTPUT, from 1:0 to {TOKENS_MAX}:{TOKENS_MAX}, separated by commas"))
    }
}

/// How much a request is promised when it is admitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// The longest context.
    Contig {
        /// M.
        context: u32,
    },
    /// Prompt and all of the output.
    Full,
    /// The prompt.
    Incremental,
    /// The prompt and Q tokens, not beyond M.
    Percentile {
        /// Q.
        tokens: u32,
        /// M, if there is one.
        context: Option<u32>,
    },
}

impl Policy {
    /// Its name, as the replay has it.
    pub const fn name(self) -> &'static str {
        match self {
            Policy::Contig { .. } => "contig",
            Policy::Full => "full",
            Policy::Incremental => "incremental",
            Policy::Percentile { .. } => "percentile",
        }
    }

    /// Tokens that a request is promised at its first admission.
    pub fn promised(self, request: Request) -> u64 {
        let (prompt, longest) = (u64::from(request.prompt), u64::from(request.longest()));
        match self {
            Policy::Contig { context } => u64::from(context),
            Policy::Full => longest,
            Policy::Incremental => prompt,
            Policy::Percentile { tokens, context } => {
                let promised = prompt + u64::from(tokens);
                prompt.max(context.map_or(promised, |context| promised.min(u64::from(context))))
            }
        }
    }

    /// What it promises, in words.
    pub fn promise(self) -> String {
        match self {
            Policy::Contig { context } => format!("{context} tokens of context"),
            Policy::Full => "prompt and all output".to_string(),
            Policy::Incremental => "prompt".to_string(),
            Policy::Percentile { tokens, .. } => format!("prompt and {tokens} tokens"),
        }
    }
}

/// The requests that a plan is made for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Load {
    /// In the order in which they are admitted, over and over.
    pub requests: Vec<Request>,
    /// Those that were left out because they are longer than the context.
    pub too_long: usize,
}

impl Load {
    /// The requests that are no longer than `context`; an error if none is.
    pub fn new(requests: Vec<Request>, context: Option<u32>) -> Result<Load, Problem> {
        let all = requests.len();
        let fits = |request: &Request| context.is_none_or(|context| request.longest() <= context);
        let requests: Vec<Request> = requests.into_iter().filter(fits).collect();
        if requests.is_empty() {
            let context = context.unwrap_or(u32::MAX);
            return Err(Problem::usage(format!("--max-context {context}: every request is longer; raise it")));
        }
        Ok(Load { too_long: all - requests.len(), requests })
    }

    /// The requests of a trace.
    pub fn of_trace(trace: &Trace) -> Vec<Request> {
        trace.requests.iter().map(|request| Request { prompt: request.prompt, output: request.output }).collect()
    }

    /// The output that so many per cent of the requests do not exceed: the one at place ⌊(q · n + 99)/100⌋, from 1.
    pub fn output_percentile(&self, percent: u32) -> u32 {
        Ranked::new(self.requests.iter().map(|request| request.output).collect()).percentile(percent)
    }

    /// How many requests have more output than `tokens`.
    pub fn exceeding(&self, tokens: u32) -> usize {
        self.requests.iter().filter(|request| request.output > tokens).count()
    }

    /// The longest request.
    pub fn longest(&self) -> u32 {
        self.requests.iter().map(|request| request.longest()).max().unwrap_or(0)
    }
}
