//! N1, Mooncake JSONL: `timestamp` in milliseconds, `input_length`, `output_length`, and `hash_ids`, one id for 512
//! tokens of the prompt (or as many as `block_size` of the line or `--ids-block-tokens` says). `hash_ids` may be missing:
//! nothing has an identity then.

use super::error::TraceError;
use super::field::Unit;
use super::jsonl::{self, Object};
use super::lines::Lines;
use super::rows::{Row, Rows};

/// What a line must have.
pub const KEYS: [&str; 3] = ["timestamp", "input_length", "output_length"];
/// Tokens of one id, unless something else is said.
pub const ID_TOKENS: u32 = 512;

/// Reads one file.
pub fn read(lines: Lines, rows: &mut Rows) -> Result<(), TraceError> {
    jsonl::objects(lines, |line| {
        let (row, ids) = row(line, Unit::Milliseconds, rows)?;
        rows.add(line.place(), row, &ids);
        Ok(())
    })
}

/// What Mooncake's and Bailian's lines have in common.
pub fn row(line: &Object<'_>, unit: Unit, rows: &mut Rows) -> Result<(Row, Vec<u64>), TraceError> {
    let arrival_us = line.field("timestamp")?.time_us(unit)?;
    let prompt = line.field("input_length")?.tokens()?;
    let output = line.field("output_length")?.tokens()?;
    if let Some(tokens) = line.optional("block_size")? {
        rows.declare_id_tokens(&tokens)?;
    }
    let ids = line.optional("hash_ids")?.map_or(Ok(Vec::new()), |ids| ids.ids())?;
    Ok((Row::new(arrival_us, prompt, output), ids))
}
