//! Serving traces: from files in the formats in which they are published to a list of requests that the replay runs.
//!
//! 1. [`load`] opens the paths, unpacks gzip (`source`), finds the format by what is in them (`format`), and hands their
//!    lines to that format's reader.
//! 2. A reader (one file a format) turns rows into [`Rows`], or refuses with file, line, field, what it found and how to
//!    mend it. It never guesses and never skips a row that it does not understand.
//! 3. [`Rows::into_trace`] applies rule N8: rows without tokens are dropped and counted, the rest is sorted by arrival,
//!    cut to the first n if asked, and its clock is scaled. [`Origin`] says what was found and what was left out.
//!
//! A line at a time is in memory, and a session at a time; of a trace its requests (56 bytes each) and its ids (8 bytes).
//!
//! Labels such as N5 are those of `harness/RULES.md`, which says what each format's fields become.

mod azure;
mod bailian;
mod burstgpt;
mod csv;
mod decimal;
mod error;
mod field;
mod format;
mod generic;
mod jsonl;
mod lengths;
mod line_index;
mod lines;
mod load;
mod mooncake;
mod normalise;
mod origin;
mod rows;
mod servegen;
mod source;
mod tokens;
mod weka;

pub use error::TraceError;
pub use field::{ARRIVAL_US_MAX, TOKENS_MAX, Unit};
pub use format::Format;
pub use load::{Loading, load, load_text, load_with};
pub use normalise::{Normalise, TimeScale};
pub use origin::{Dropped, IdTokens, IdTokensFrom, Origin, Reason};
pub use rows::Rows;

/// A request, after rule N8. Its index is its place in [`Trace::requests`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// When it arrives, microseconds from the trace's zero.
    pub arrival_us: u64,
    /// Tokens of the prompt, at least 1.
    pub prompt: u32,
    /// Tokens that were generated, at least 1.
    pub output: u32,
    /// Whose it is; 0 where the format does not say.
    pub tenant: u64,
    /// The conversation that it belongs to; `None` where the format does not say.
    pub session: Option<u32>,
    /// Where its ids begin in the trace's list.
    ids_first: usize,
    /// How many ids it has.
    ids_count: usize,
}

/// A trace, normalised.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The format that it came in.
    pub format: Format,
    /// In order of arrival.
    pub requests: Vec<Request>,
    /// Rows that had no prompt or no output token.
    pub dropped_rows: usize,
    /// Tokens that one id covers; the last id of a prompt covers what is left of it.
    pub id_tokens: u32,
    /// Where it comes from.
    pub origin: Origin,
    ids: Vec<u64>,
}

impl Trace {
    /// The ids that name the prompt's tokens, from token 0 on; tokens after the last id have no identity.
    pub fn ids(&self, request: &Request) -> &[u64] {
        &self.ids[request.ids_first..request.ids_first + request.ids_count]
    }
}
