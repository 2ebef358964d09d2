//! N5, agent sessions: one JSON document a session, a folder a trace. Session f (in ascending order of file names; where a
//! file has several documents, in their order) begins at f · 30 s; its requests' `t` are seconds from there. An entry with
//! `requests` of its own is a subagent: its requests count from the entry's `t`. Ids are local to the document, `block_size`
//! tokens each (64 where it does not say).

use super::error::{Place, TraceError};
use super::field::Field;
use super::jsonl;
use super::line_index::LineIndex;
use super::rows::{Row, Rows};
use super::source::Source;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What a document must have.
pub const KEYS: [&str; 3] = ["requests", "t", "in"];
/// Tokens of one id, unless the document says otherwise.
pub const ID_TOKENS: u32 = 64;

const SESSION_INTERVAL_US: u64 = 30_000_000;
/// Longest session: 2^40 ms, about 35 years.
const SESSION_MS_MAX: f64 = (1u64 << 40) as f64;
/// Ids are below this, so that those of different sessions differ.
const IDS: u64 = 1 << 32;
/// Sessions are below this, for the same reason.
const SESSIONS: u64 = 1 << 31;

#[derive(Deserialize)]
struct Session<'a> {
    #[serde(borrow)]
    requests: Vec<Entry<'a>>,
    #[serde(borrow)]
    block_size: Option<&'a RawValue>,
    #[serde(borrow)]
    hash_id_scope: Option<&'a RawValue>,
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

/// Where a session stands, and what its place makes of its requests.
struct Reader<'a> {
    file: &'a str,
    lines: &'a LineIndex<'a>,
    number: u64,
    session: u32,
    id_tokens: u32,
}

/// Reads the sessions of a file, of which the first is session number `number`; the number of the next one comes back.
/// `id_tokens` counts where a document does not say.
pub fn read(source: Source, mut number: u64, id_tokens: Option<u32>, rows: &mut Rows) -> Result<u64, TraceError> {
    let file = source.name().to_string();
    let text = source.text()?;
    let lines = LineIndex::new(&text);
    for session in serde_json::Deserializer::from_str(&text).into_iter::<Session<'_>>() {
        let session = session.map_err(|error| {
            let found =
                if error.is_eof() { "the JSON document is cut off".to_string() } else { format!("found {error}") };
            let mend = "give a whole session with `requests`, each with `t`, `in`, `out`";
            TraceError::new(Place { file: &file, line: error.line() }, found, mend)
        })?;
        if number >= SESSIONS {
            return Err(TraceError::new(&file, "there are more than 2^31 sessions", "give fewer"));
        }
        let mut reader = Reader { file: &file, lines: &lines, number, session: rows.new_session(), id_tokens: 1 };
        reader.id_tokens = reader.size_of_ids(&session, id_tokens, rows)?;
        reader.entries(&session.requests, 0, rows)?;
        number += 1;
    }
    Ok(number)
}

impl<'a> Reader<'a> {
    fn size_of_ids(&self, session: &Session<'a>, chosen: Option<u32>, rows: &mut Rows) -> Result<u32, TraceError> {
        if let Some(scope) = session.hash_id_scope.filter(|scope| scope.get() != "\"local\"") {
            return Err(self.field("hash_id_scope", Some(scope))?.refuse("give sessions whose ids are \"local\""));
        }
        match session.block_size {
            Some(_) => rows.declare_id_tokens(&self.field("block_size", session.block_size)?),
            None => Ok(chosen.unwrap_or(ID_TOKENS)),
        }
    }

    fn entries(&self, entries: &[Entry<'a>], start_ms: u64, rows: &mut Rows) -> Result<(), TraceError> {
        for entry in entries {
            let time = self.field("t", entry.t)?;
            let ms = start_ms + self.milliseconds(&time)?;
            match &entry.requests {
                Some(subagent) => self.entries(subagent, ms, rows)?,
                None => self.request(entry, time.place, ms, rows)?,
            }
        }
        Ok(())
    }

    fn request(&self, entry: &Entry<'a>, place: Place<'_>, ms: u64, rows: &mut Rows) -> Result<(), TraceError> {
        let (prompt, output) = (self.field("in", entry.prompt)?.tokens()?, self.field("out", entry.output)?.tokens()?);
        let mut ids = match entry.hash_ids {
            Some(raw) => {
                let field = self.field("hash_ids", Some(raw))?;
                let ids = field.ids()?;
                if ids.iter().any(|&id| id >= IDS) {
                    return Err(field.refuse("give ids below 2^32: they are local to the session"));
                }
                ids
            }
            None => Vec::new(),
        };
        ids.truncate((prompt / self.id_tokens) as usize);
        for id in &mut ids {
            *id += self.number * IDS;
        }
        let arrival_us = self.number * SESSION_INTERVAL_US + ms * 1000;
        let row = Row { tenant: self.number, session: Some(self.session), ..Row::new(arrival_us, prompt, output) };
        rows.add(place, row, &ids);
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
                format!("a request of session {} has no `{name}`", self.number),
                "give `t`, `in` and `out` in each",
            ));
        };
        Ok(Field { place: Place { file: self.file, line: self.lines.line_of(raw.get()) }, name, text: raw.get() })
    }
}

/// Whether a text looks like a session, however it is laid out.
pub fn recognises(text: &str) -> bool {
    KEYS.iter().all(|key| jsonl::mentions_key(text, key))
}
