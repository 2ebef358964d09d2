//! What is wrong with a config, and how to mend it. Every message names the file and the key, says what was found there,
//! and ends in what would be right: a key to add, or the flag that replaces it.

use serde_json::Value;
use std::fmt;

/// Why a config was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    file: String,
    found: String,
    mend: String,
}

impl ConfigError {
    /// `found` is a clause, `mend` an imperative.
    pub fn new(file: &str, found: impl Into<String>, mend: impl Into<String>) -> ConfigError {
        ConfigError { file: file.to_string(), found: found.into(), mend: mend.into() }
    }

    /// A product or sum that does not fit in 64 bits.
    pub fn overflow(file: &str, what: &str) -> ConfigError {
        ConfigError::new(file, format!("{what} do not fit in 64 bits"), "check the sizes in it: one of them is absurd")
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.file, self.found, self.mend)
    }
}

impl std::error::Error for ConfigError {}

/// At most this much of a bad value is shown.
const EXCERPT_CHARS: usize = 60;

/// A value as it stands in the file, cut short, in back quotes.
pub fn excerpt(value: &Value) -> String {
    let text = value.to_string();
    let mut short: String = text.chars().take(EXCERPT_CHARS).collect();
    if text.chars().nth(EXCERPT_CHARS).is_some() {
        short.push_str("...");
    }
    format!("`{short}`")
}

/// Names in back quotes, separated by commas.
pub fn names(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
