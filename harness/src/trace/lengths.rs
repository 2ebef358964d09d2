//! N3, lengths CSV (Etalon): `num_prefill_tokens`, `num_decode_tokens`. Lengths only: request i arrives at i · 100 ms.

use super::csv;
use super::error::TraceError;
use super::lines::Lines;
use super::rows::{Row, Rows};

/// What the header must have.
pub const COLUMNS: [&str; 2] = ["num_prefill_tokens", "num_decode_tokens"];
/// Ten requests a second.
const INTERVAL_US: u64 = 100_000;

/// Reads one file.
pub fn read(lines: Lines, rows: &mut Rows) -> Result<(), TraceError> {
    csv::rows(lines, |row| {
        let arrival_us = rows.count() as u64 * INTERVAL_US;
        let (prompt, output) = (row.field("num_prefill_tokens")?.tokens()?, row.field("num_decode_tokens")?.tokens()?);
        rows.add(row.place(), Row::new(arrival_us, prompt, output), &[]);
        Ok(())
    })
}
