//! What is in a trace, without replaying it.
//!
//! 1. [`Census::of`] counts: rows and what became of them, lengths, arrivals, whose requests they are, the blocks that
//!    they fill (rule X), and what their prompts share (rules G and K).
//! 2. [`Histogram`] cuts lengths and arrivals into bins, for a picture.
//!
//! Labels are those of `harness/RULES.md`; the names of figures are those of `kvledger replay`, where it has them.

mod arrivals;
mod histogram;
mod ownership;
mod sharing;
mod spread;

pub use arrivals::Arrivals;
pub use histogram::{Bin, Histogram};
pub use ownership::Ownership;
pub use sharing::{Depth, Sharing};
pub use spread::Spread;

use crate::prefix::{GroupRule, Parents, TooMany};
use crate::replay::{self, Ranked, Statics};
use crate::trace::{Format, Trace};
use serde::Serialize;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// What the caller chooses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// B.
    pub block_tokens: NonZeroU32,
    /// M; 0: no limit. `None`: the next power of two from the longest request on.
    pub max_context: Option<u32>,
    /// The trust groups inside which prompts are compared, one set of figures each.
    pub groups: Vec<GroupRule>,
}

/// What is in a trace.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Census {
    /// Its format.
    pub format: &'static str,
    /// What the format was found by; or that it was named.
    pub recognised_by: String,
    /// Files that were read.
    pub files: usize,
    /// How many of them were packed with gzip.
    pub gzip_files: usize,
    /// Rows in the files.
    pub rows: usize,
    /// Rows that are no requests.
    pub dropped_rows: usize,
    /// The same by reason.
    pub dropped: Vec<DroppedRows>,
    /// Requests that `--first` left out.
    pub beyond_first: usize,
    /// Requests that are left.
    pub requests: usize,
    /// Whose they are.
    #[serde(flatten)]
    pub ownership: Ownership,
    /// When they arrive.
    pub arrivals: Arrivals,
    /// Tokens of prompts.
    pub prompt: Spread,
    /// Tokens of outputs.
    pub output: Spread,
    /// Tokens of both together.
    pub total: Spread,
    /// Requests by length and by time.
    pub histograms: Histograms,
    /// Figures that need no replay (X).
    #[serde(rename = "static")]
    pub statics: Statics,
    /// Its ids; nothing if it has none.
    pub ids: Option<Ids>,
    /// What prompts share, by rule of trust groups. Empty if it has no ids.
    pub prefix: BTreeMap<String, Sharing>,
}

/// Rows that are no requests, for one reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DroppedRows {
    /// Why.
    pub reason: String,
    /// How many.
    pub rows: usize,
    /// File and line of the first.
    pub first: String,
}

/// Requests by length and by time.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Histograms {
    /// By tokens of the prompt.
    pub prompt_tokens: Histogram,
    /// By tokens of the output.
    pub output_tokens: Histogram,
    /// By microseconds since the first arrival.
    pub arrival_us: Histogram,
}

/// The ids of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Ids {
    /// Tokens that one id covers.
    pub tokens: u32,
    /// Where that is from.
    pub tokens_from: String,
    /// Requests with ids, before `--first`.
    pub requests: usize,
    /// Requests with more ids than their prompts have tokens for, before `--first`.
    pub requests_too_many: usize,
    /// Requests whose ids leave out a part of the prompt that an id would fit into, before `--first`.
    pub requests_too_few: usize,
    /// Different ids.
    pub different: u64,
    /// Of these, ids that do not always follow the same id.
    pub several_parents: u64,
}

impl Census {
    /// Counts `trace`. Errors: it has more different blocks than can be counted.
    pub fn of(trace: &Trace, settings: &Settings) -> Result<Census, TooMany> {
        let origin = &trace.origin;
        let max_context = settings.max_context.unwrap_or_else(|| replay::usual_context(trace));
        let (prompts, outputs) = (Ranked::prompts(trace), Ranked::outputs(trace));
        let arrivals = Arrivals::of(trace);
        let ids = ids(trace);
        let mut prefix = BTreeMap::new();
        for &rule in settings.groups.iter().filter(|_| ids.is_some()) {
            prefix.insert(rule.to_string(), Sharing::of(trace, settings.block_tokens, rule)?);
        }
        let totals = trace.requests.iter().map(|request| u64::from(request.prompt) + u64::from(request.output));
        Ok(Census {
            format: trace.format.name(),
            recognised_by: recognised_by(trace.format, origin.format_named),
            files: origin.files,
            gzip_files: origin.gzip_files,
            rows: origin.rows,
            dropped_rows: trace.dropped_rows,
            dropped: dropped(trace),
            beyond_first: origin.beyond_first,
            requests: trace.requests.len(),
            ownership: Ownership::of(trace),
            histograms: Histograms {
                prompt_tokens: Histogram::of_lengths(&prompts),
                output_tokens: Histogram::of_lengths(&outputs),
                arrival_us: Histogram::of_arrivals(trace),
            },
            arrivals,
            prompt: Spread::of(&prompts),
            output: Spread::of(&outputs),
            total: Spread::of(&Ranked::new(totals.collect())),
            statics: replay::statics(trace, settings.block_tokens.get(), max_context),
            ids,
            prefix,
        })
    }
}

fn recognised_by(format: Format, named: bool) -> String {
    if named { "--format".to_string() } else { format.signs() }
}

fn dropped(trace: &Trace) -> Vec<DroppedRows> {
    let of_reason = |dropped: &crate::trace::Dropped| DroppedRows {
        reason: dropped.reason.to_string(),
        rows: dropped.rows,
        first: dropped.first.clone(),
    };
    trace.origin.dropped.iter().map(of_reason).collect()
}

fn ids(trace: &Trace) -> Option<Ids> {
    let (found, parents) = (trace.origin.ids, Parents::of(trace));
    (found.requests > 0).then(|| Ids {
        tokens: trace.id_tokens,
        tokens_from: trace.origin.id_tokens_from.to_string(),
        requests: found.requests,
        requests_too_many: found.too_many,
        requests_too_few: found.too_few,
        different: parents.ids,
        several_parents: parents.several,
    })
}
