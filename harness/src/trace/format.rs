//! The formats, and how each is recognised by what is in the file. The name of a file says nothing.

use super::csv::Header;
use super::jsonl;
use super::{azure, generic, lengths, mooncake, servegen, tokens, weka};
use std::fmt;

/// A trace format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// JSONL with `timestamp` (ms), `input_length`, `output_length`, `hash_ids`.
    Mooncake,
    /// CSV with `TIMESTAMP`, `ContextTokens`, `GeneratedTokens`.
    Azure,
    /// CSV with `num_prefill_tokens`, `num_decode_tokens`; no times.
    Lengths,
    /// JSONL with `arrival_time_ns`, `input_toks`, `output_toks`, `input_tok_ids`.
    Tokens,
    /// One JSON document an agent session.
    Weka,
    /// CSV with `arrival_us`, `client`, `input_tokens`, `output_tokens`.
    ServeGen,
    /// CSV with the columns of `generic.rs`.
    GenericCsv,
    /// JSONL with the keys of `generic.rs`.
    GenericJsonl,
}

/// What a message says when none is recognised.
pub(super) const KNOWN: &str = "give one of: Mooncake JSONL (timestamp, input_length, output_length), Azure CSV \
     (TIMESTAMP,ContextTokens,GeneratedTokens), lengths CSV (num_prefill_tokens,num_decode_tokens), token JSONL \
     (arrival_time_ns, input_toks, output_toks), ServeGen CSV (arrival_us,client,input_tokens,output_tokens), agent \
     sessions (a folder of JSON files with `requests`), or the generic CSV or JSONL (arrival_us, prompt_tokens, \
     output_tokens; see `kvledger replay --help`)";

impl Format {
    /// The format of a text, or `None`.
    pub(super) fn detect(text: &str) -> Option<Format> {
        let first = text.lines().find(|line| !line.trim().is_empty())?;
        if first.trim_start().starts_with(['{', '[']) { Format::of_json(first, text) } else { Format::of_csv(first) }
    }

    fn of_json(first: &str, text: &str) -> Option<Format> {
        let has = |keys: &[&str]| keys.iter().all(|key| jsonl::mentions_key(first, key));
        if has(&mooncake::KEYS) {
            Some(Format::Mooncake)
        } else if has(&tokens::KEYS) {
            Some(Format::Tokens)
        } else if generic::recognises(|name| jsonl::mentions_key(first, name)) {
            Some(Format::GenericJsonl)
        } else {
            weka::recognises(text).then_some(Format::Weka)
        }
    }

    fn of_csv(first: &str) -> Option<Format> {
        let header = Header::of(first);
        let has = |names: &[&str]| names.iter().all(|name| header.has(name));
        if has(&azure::COLUMNS) {
            Some(Format::Azure)
        } else if has(&lengths::COLUMNS) {
            Some(Format::Lengths)
        } else if has(&servegen::COLUMNS) {
            Some(Format::ServeGen)
        } else {
            generic::recognises(|name| header.has(name)).then_some(Format::GenericCsv)
        }
    }

    /// The name in figures.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Mooncake => "mooncake",
            Format::Azure => "azure",
            Format::Lengths => "lengths",
            Format::Tokens => "tokens",
            Format::Weka => "weka",
            Format::ServeGen => "servegen",
            Format::GenericCsv | Format::GenericJsonl => "generic",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_is_known_by_its_content() {
        let cases = [
            ("{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1}", Format::Mooncake),
            ("TIMESTAMP,ContextTokens,GeneratedTokens\r\n", Format::Azure),
            ("\n\nnum_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n", Format::Lengths),
            ("{\"input_toks\": 1, \"output_toks\": 1, \"arrival_time_ns\": 0}", Format::Tokens),
            ("{\n \"id\": 1, \"requests\": [{\"t\": 0, \"in\": 1}]}", Format::Weka),
            ("arrival_us,client,input_tokens,output_tokens", Format::ServeGen),
            ("prompt_tokens,output_tokens,arrival_s", Format::GenericCsv),
            ("{\"arrival_ms\":0,\"prompt_tokens\":1,\"output_tokens\":1}", Format::GenericJsonl),
        ];
        for (text, format) in cases {
            assert_eq!(Format::detect(text), Some(format), "{text}");
        }
        for text in ["", "a,b,c\n1,2,3\n", "{\"x\": 1}", "[]", "<html>", "TIMESTAMP,ContextTokens"] {
            assert_eq!(Format::detect(text), None, "{text}");
        }
    }
}
