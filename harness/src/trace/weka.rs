//! N5, agent sessions: one JSON document a session, a folder a trace. Session f (in ascending order of file names)
//! begins at f · 30 s; its requests' `t` are seconds from there. An entry with `requests` of its own is a subagent: its
//! requests count from the entry's `t`. Ids are local to the file, 64 tokens each.

use super::error::{Place, TraceError};
use super::field::Field;
use super::jsonl;
use super::normalise::Rows;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What a document must have.
const KEYS: [&str; 3] = ["requests", "t", "in"];
/// Tokens of one id.
pub const ID_TOKENS: u32 = 64;

const SESSION_INTERVAL_US: u64 = 30_000_000;
/// Longest session: 2^40 ms, about 35 years.
const SESSION_MS_MAX: f64 = (1u64 << 40) as f64;

#[derive(Deserialize)]
struct Session<'a> {
    #[serde(borrow)]
    requests: Vec<Entry<'a>>,
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow)]
    t: Option<&'a RawValue>,
    #[serde(borrow, rename = "in")]
    prompt: Option<&'a RawValue>,
    #[serde(borrow, rename = "out")]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    hash_ids: Option<&'a RawValue>,
    #[serde(borrow, default)]
    requests: Option<Vec<Entry<'a>>>,
}

/// A session's text, and what its place in the folder makes of its requests.
struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    number: u64,
}

/// Reads session number `number`.
pub fn read(file: &str, text: &str, number: u64, rows: &mut Rows) -> Result<(), TraceError> {
    let session: Session<'_> = serde_json::from_str(text).map_err(|error| {
        let found = if error.is_eof() { "the JSON document is cut off".to_string() } else { format!("found {error}") };
        TraceError::new(
            Place { file, line: error.line() },
            found,
            "give a whole session with `requests`, each with `t`, `in`, `out`",
        )
    })?;
    Reader { file, text, number }.entries(&session.requests, 0, rows)
}

impl<'a> Reader<'a> {
    fn entries(&self, entries: &[Entry<'a>], start_ms: u64, rows: &mut Rows) -> Result<(), TraceError> {
        for entry in entries {
            let ms = start_ms + self.milliseconds(&self.field("t", entry.t)?)?;
            match &entry.requests {
                Some(subagent) => self.entries(subagent, ms, rows)?,
                None => self.request(entry, ms, rows)?,
            }
        }
        Ok(())
    }

    fn request(&self, entry: &Entry<'a>, ms: u64, rows: &mut Rows) -> Result<(), TraceError> {
        let (prompt, output) = (self.field("in", entry.prompt)?.tokens()?, self.field("out", entry.output)?.tokens()?);
        let mut ids = match entry.hash_ids {
            Some(raw) => self.field("hash_ids", Some(raw))?.ids()?,
            None => Vec::new(),
        };
        ids.truncate((prompt / ID_TOKENS) as usize);
        for id in &mut ids {
            *id = self.number.wrapping_mul(1 << 32).wrapping_add(*id);
        }
        rows.push(self.number * SESSION_INTERVAL_US + ms * 1000, prompt, output, self.number, &ids);
        Ok(())
    }

    /// Rounded half up in double precision, as the rule has it.
    fn milliseconds(&self, time: &Field<'_>) -> Result<u64, TraceError> {
        let ms = time.text.parse::<f64>().map(|seconds| (seconds * 1000.0 + 0.5).floor());
        match ms {
            Ok(ms) if (0.0..=SESSION_MS_MAX).contains(&ms) => Ok(ms as u64),
            _ => Err(time.refuse("give seconds from the beginning of the session, not negative")),
        }
    }

    fn field(&self, name: &'static str, raw: Option<&'a RawValue>) -> Result<Field<'a>, TraceError> {
        let Some(raw) = raw else {
            return Err(TraceError::new(
                self.file,
                format!("a request has no `{name}`"),
                "give `t`, `in` and `out` in each",
            ));
        };
        Ok(Field { place: Place { file: self.file, line: self.line_of(raw.get()) }, name, text: raw.get() })
    }

    /// The line on which a part of the text begins.
    fn line_of(&self, part: &str) -> usize {
        let offset = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        1 + self.text.as_bytes().iter().take(offset).filter(|&&byte| byte == b'\n').count()
    }
}

/// Whether a text looks like a session, however it is laid out.
pub fn recognises(text: &str) -> bool {
    KEYS.iter().all(|key| jsonl::mentions_key(text, key))
}
