//! Where a trace comes from: its files, how its format was found, and what was left out on the way.

use std::fmt;

/// Where a trace comes from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// Files that were read.
    pub files: usize,
    /// How many of them were packed with gzip.
    pub gzip_files: usize,
    /// The format was named, not found.
    pub format_named: bool,
    /// Rows in the files.
    pub rows: usize,
    /// Rows that are no requests, by reason.
    pub dropped: Vec<Dropped>,
    /// Requests that `--first` left out.
    pub beyond_first: usize,
    /// How ids and prompts go together.
    pub ids: IdTokens,
    /// Where the number of tokens of an id is from.
    pub id_tokens_from: IdTokensFrom,
}

/// Rows that are no requests, for one reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dropped {
    /// Why.
    pub reason: Reason,
    /// How many.
    pub rows: usize,
    /// File and line of the first.
    pub first: String,
}

/// Why a row is no request (N8).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// It has no prompt token.
    NoPrompt,
    /// It has no output token: it failed, as a rule.
    NoOutput,
    /// It has neither.
    NoTokens,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::NoPrompt => "no prompt tokens",
            Reason::NoOutput => "no output tokens",
            Reason::NoTokens => "no tokens at all",
        })
    }
}

/// How ids and prompts go together. A wrong number of tokens of an id shows here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IdTokens {
    /// Requests with ids.
    pub requests: usize,
    /// Requests with more ids than their prompts have tokens for.
    pub too_many: usize,
    /// Requests whose ids leave out a part of the prompt that an id would fit into.
    pub too_few: usize,
}

/// Where the number of tokens of an id is from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IdTokensFrom {
    /// It is a rule of the format.
    #[default]
    Format,
    /// The file says it (`block_size`).
    File,
    /// `--ids-block-tokens` says it.
    Flag,
}

impl fmt::Display for IdTokensFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IdTokensFrom::Format => "the format",
            IdTokensFrom::File => "block_size in the file",
            IdTokensFrom::Flag => "--ids-block-tokens",
        })
    }
}
