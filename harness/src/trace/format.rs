//! The formats, and how each is recognised by what is in the file. The name of a file says nothing.

use super::csv::Header;
use super::jsonl;
use super::{azure, bailian, burstgpt, generic, lengths, mooncake, servegen, tokens, weka};
use std::fmt;
use std::str::FromStr;

/// A trace format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// JSONL with `timestamp` (ms), `input_length`, `output_length`, `hash_ids`.
    Mooncake,
    /// The same with `timestamp` in seconds and `chat_id`.
    Bailian,
    /// CSV with `TIMESTAMP`, `ContextTokens`, `GeneratedTokens`.
    Azure,
    /// CSV with `Timestamp` (s), `Request tokens`, `Response tokens`.
    BurstGpt,
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
pub(super) const KNOWN: &str = "it must have the names of one of these, or be named with --format: Mooncake JSONL \
     (timestamp, input_length, output_length), Bailian JSONL (the same and chat_id), Azure CSV \
     (TIMESTAMP,ContextTokens,GeneratedTokens), BurstGPT CSV (Timestamp,Request tokens,Response tokens), lengths CSV \
     (num_prefill_tokens,num_decode_tokens), token JSONL (arrival_time_ns and input_toks or input_tok_ids), ServeGen CSV \
     (arrival_us,client,input_tokens,output_tokens), agent sessions (a folder of JSON files with `requests`), or the \
     generic CSV or JSONL (arrival_us, prompt_tokens, output_tokens; see `kvledger trace --help`)";

/// The names of formats, as flags and figures have them.
const NAMED: [Format; 9] = [
    Format::Mooncake,
    Format::Bailian,
    Format::Azure,
    Format::BurstGpt,
    Format::Lengths,
    Format::Tokens,
    Format::Weka,
    Format::ServeGen,
    Format::GenericCsv,
];

impl Format {
    /// The format of a text that begins with `head`, or `None`.
    pub(super) fn detect(head: &str) -> Option<Format> {
        let first = first_line(head)?;
        if is_json(first) { Format::of_json(first, head) } else { Format::of_csv(first) }
    }

    /// This format for a text that begins with `head`: the generic one is CSV or JSONL, as it turns out.
    pub(super) fn named(self, head: &str) -> Format {
        match self {
            Format::GenericCsv | Format::GenericJsonl if first_line(head).is_some_and(is_json) => Format::GenericJsonl,
            Format::GenericCsv | Format::GenericJsonl => Format::GenericCsv,
            other => other,
        }
    }

    fn of_json(first: &str, head: &str) -> Option<Format> {
        let has_key = |key: &str| jsonl::mentions_key(first, key);
        let has = |keys: &[&str]| keys.iter().all(|key| has_key(key));
        if has(&mooncake::KEYS) {
            Some(if has(&bailian::KEYS) { Format::Bailian } else { Format::Mooncake })
        } else if has(&tokens::KEYS) && tokens::PROMPTS.iter().any(|key| has_key(key)) {
            Some(Format::Tokens)
        } else if generic::recognises(has_key) {
            Some(Format::GenericJsonl)
        } else {
            // A session may be laid out over many lines.
            weka::recognises(head).then_some(Format::Weka)
        }
    }

    fn of_csv(first: &str) -> Option<Format> {
        let header = Header::of(first)?;
        let has = |names: &[&str]| names.iter().all(|name| header.has(name));
        if has(&azure::COLUMNS) {
            Some(Format::Azure)
        } else if has(&burstgpt::COLUMNS) {
            Some(Format::BurstGpt)
        } else if has(&lengths::COLUMNS) {
            Some(Format::Lengths)
        } else if has(&servegen::COLUMNS) {
            Some(Format::ServeGen)
        } else {
            generic::recognises(|name| header.has(name)).then_some(Format::GenericCsv)
        }
    }

    /// What it is recognised by: names in the header, or in the first object.
    pub fn signs(self) -> String {
        let (mooncake, generic) = (mooncake::KEYS.join(", "), generic::NAMES.join(", "));
        match self {
            Format::Mooncake => format!("keys {mooncake}"),
            Format::Bailian => format!("keys {mooncake}, {}", bailian::KEYS.join(", ")),
            Format::Azure => format!("columns {}", azure::COLUMNS.join(", ")),
            Format::BurstGpt => format!("columns {}", burstgpt::COLUMNS.join(", ")),
            Format::Lengths => format!("columns {}", lengths::COLUMNS.join(", ")),
            Format::Tokens => format!("keys {}, {}", tokens::KEYS.join(", "), tokens::PROMPTS.join(" or ")),
            Format::Weka => format!("keys {}", weka::KEYS.join(", ")),
            Format::ServeGen => format!("columns {}", servegen::COLUMNS.join(", ")),
            Format::GenericCsv => format!("columns {generic}, and one arrival"),
            Format::GenericJsonl => format!("keys {generic}, and one arrival"),
        }
    }

    /// Whether its rows may name the tokens of prompts.
    pub const fn has_ids(self) -> bool {
        !matches!(self, Format::Azure | Format::BurstGpt | Format::Lengths | Format::ServeGen)
    }

    /// The name in figures.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Mooncake => "mooncake",
            Format::Bailian => "bailian",
            Format::BurstGpt => "burstgpt",
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

fn first_line(head: &str) -> Option<&str> {
    head.lines().find(|line| !line.trim().is_empty())
}

fn is_json(first: &str) -> bool {
    first.trim_start().starts_with(['{', '['])
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        NAMED.into_iter().find(|format| format.name() == text).ok_or_else(|| {
            let names: Vec<&str> = NAMED.iter().map(|format| format.name()).collect();
            format!("give one of {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_is_known_by_its_content() {
        let cases = [
            ("{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1}", Format::Mooncake),
            ("{\"chat_id\": 1, \"timestamp\": 0.1, \"input_length\": 1, \"output_length\": 1}", Format::Bailian),
            ("TIMESTAMP,ContextTokens,GeneratedTokens\r\n", Format::Azure),
            ("TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n", Format::Azure),
            ("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n", Format::BurstGpt),
            ("{\"input_tok_ids\": [1], \"output_tok_ids\": [1], \"arrival_time_ns\": 0}", Format::Tokens),
            ("\n\nnum_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n", Format::Lengths),
            ("{\"input_toks\": 1, \"output_toks\": 1, \"arrival_time_ns\": 0}", Format::Tokens),
            ("{\n \"id\": 1, \"requests\": [{\"t\": 0, \"in\": 1}]}", Format::Weka),
            ("arrival_us,client,input_tokens,output_tokens", Format::ServeGen),
            ("prompt_tokens,output_tokens,arrival_s", Format::GenericCsv),
            ("{\"arrival_ms\":0,\"prompt_tokens\":1,\"output_tokens\":1}", Format::GenericJsonl),
        ];
        for (text, format) in cases {
            assert_eq!(Format::detect(text), Some(format), "{text}");
            assert_eq!(format.name().parse::<Format>().map(|named| named.named(text)), Ok(format));
            assert!(!format.signs().is_empty());
        }
        assert!("excel".parse::<Format>().expect_err("no format").contains("burstgpt"));
        for text in ["", "a,b,c\n1,2,3\n", "{\"x\": 1}", "[]", "<html>", "TIMESTAMP,ContextTokens"] {
            assert_eq!(Format::detect(text), None, "{text}");
        }
    }
}
