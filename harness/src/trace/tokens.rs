//! N4, token JSONL (LLMServingSim): `arrival_time_ns`, `input_toks`, `output_toks`, and `input_tok_ids`, the tokens
//! themselves, so that each id covers one token. `output_tok_ids` are only counted: they are private to a request. Where
//! there is a list its length may be missing; where there are both they must agree.

use super::error::TraceError;
use super::field::{Field, TOKENS_MAX, Unit};
use super::jsonl::{self, Object};
use super::lines::Lines;
use super::rows::{Row, Rows};

/// What a line must have, and at least one of [`PROMPTS`].
pub const KEYS: [&str; 1] = ["arrival_time_ns"];
/// The prompt, as a length or as a list.
pub const PROMPTS: [&str; 2] = ["input_toks", "input_tok_ids"];
/// Tokens of one id.
pub const ID_TOKENS: u32 = 1;

/// Reads one file.
pub fn read(lines: Lines, rows: &mut Rows) -> Result<(), TraceError> {
    jsonl::objects(lines, |line| {
        let arrival_us = line.field("arrival_time_ns")?.time_us(Unit::Nanoseconds)?;
        let ids = line.optional("input_tok_ids")?.map(|list| list.ids().map(|ids| (list, ids))).transpose()?;
        let prompt = length(line, "input_toks", ids.as_ref().map(|(list, ids)| (list, ids.len())))?;
        let listed =
            line.optional("output_tok_ids")?.map(|list| list.ids().map(|ids| (list, ids.len()))).transpose()?;
        let output = length(line, "output_toks", listed.as_ref().map(|(list, count)| (list, *count)))?;
        rows.add(line.place(), Row::new(arrival_us, prompt, output), ids.as_ref().map_or(&[], |(_, ids)| ids));
        Ok(())
    })
}

/// The length under `name`, which is that of the list, if there is one.
fn length(line: &Object<'_>, name: &'static str, list: Option<(&Field<'_>, usize)>) -> Result<u32, TraceError> {
    let Some((list, count)) = list else { return line.field(name)?.tokens() };
    let count = u32::try_from(count).ok().filter(|&count| u64::from(count) <= TOKENS_MAX);
    let count = count.ok_or_else(|| list.refuse(&format!("give at most {TOKENS_MAX} ids")))?;
    let Some(length) = line.optional(name)? else { return Ok(count) };
    let length_tokens = length.tokens()?;
    if length_tokens != count {
        let found = format!("field `{name}`: found `{length_tokens}`, but `{}` has {count} ids", list.name);
        return Err(TraceError::new(line.place(), found, format!("give as many ids as `{name}` says")));
    }
    Ok(count)
}
