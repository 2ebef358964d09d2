//! What is wrong with a trace, and how to mend it. Every message names the file, and the line and the field where
//! there is one, says what was found there, and ends in what would be right.

use std::fmt;

/// Why a trace was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceError {
    place: String,
    found: String,
    mend: String,
}

impl TraceError {
    /// `place` is a file, or a file and a line; `found` is a clause, `mend` an imperative.
    pub fn new(place: impl fmt::Display, found: impl Into<String>, mend: impl Into<String>) -> TraceError {
        TraceError { place: place.to_string(), found: found.into(), mend: mend.into() }
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.found, self.mend)
    }
}

impl std::error::Error for TraceError {}

/// A line of a file, for messages.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The file as the user named it.
    pub file: &'a str,
    /// Counted from 1.
    pub line: usize,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}", self.file, self.line)
    }
}

/// At most this much of a bad value is shown.
const EXCERPT_CHARS: usize = 60;

/// The beginning of `text`, in back quotes, on one line.
pub fn excerpt(text: &str) -> String {
    let mut short: String = text.chars().take(EXCERPT_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(EXCERPT_CHARS).is_some() {
        short.push_str("...");
    }
    format!("`{short}`")
}
