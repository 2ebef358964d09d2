//! N4, token JSONL (LLMServingSim): `arrival_time_ns`, `input_toks`, `output_toks`, and `input_tok_ids`, the tokens
//! themselves, so that each id covers one token.

use super::error::TraceError;
use super::field::Unit;
use super::jsonl;
use super::normalise::Rows;

/// What a line must have.
pub const KEYS: [&str; 3] = ["arrival_time_ns", "input_toks", "output_toks"];
/// Tokens of one id.
pub const ID_TOKENS: u32 = 1;

/// Reads one file.
pub fn read(file: &str, text: &str, rows: &mut Rows) -> Result<(), TraceError> {
    jsonl::objects(file, text, |line| {
        let arrival_us = line.field("arrival_time_ns")?.time_us(Unit::Nanoseconds)?;
        let prompt = line.field("input_toks")?.tokens()?;
        let output = line.field("output_toks")?.tokens()?;
        let ids = line.optional("input_tok_ids").map_or(Ok(Vec::new()), |ids| ids.ids())?;
        rows.push(arrival_us, prompt, output, 0, &ids);
        Ok(())
    })
}
