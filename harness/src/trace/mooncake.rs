//! N1, Mooncake JSONL: `timestamp` in milliseconds, `input_length`, `output_length`, and `hash_ids`, one id for 512
//! tokens of the prompt (or as many as `--ids-block-tokens` says). `hash_ids` may be missing: nothing has an identity then.

use super::error::TraceError;
use super::field::Unit;
use super::jsonl;
use super::normalise::Rows;

/// What a line must have.
pub const KEYS: [&str; 3] = ["timestamp", "input_length", "output_length"];
/// Tokens of one id, unless the user says otherwise.
pub const ID_TOKENS: u32 = 512;

/// Reads one file.
pub fn read(file: &str, text: &str, rows: &mut Rows) -> Result<(), TraceError> {
    jsonl::objects(file, text, |line| {
        let arrival_us = line.field("timestamp")?.time_us(Unit::Milliseconds)?;
        let prompt = line.field("input_length")?.tokens()?;
        let output = line.field("output_length")?.tokens()?;
        let ids = line.optional("hash_ids").map_or(Ok(Vec::new()), |ids| ids.ids())?;
        rows.push(arrival_us, prompt, output, 0, &ids);
        Ok(())
    })
}
