//! N3, lengths CSV (Etalon): `num_prefill_tokens`, `num_decode_tokens`. Lengths only: request i arrives at i · 100 ms.

use super::csv;
use super::error::TraceError;
use super::normalise::Rows;

/// What the header must have.
pub const COLUMNS: [&str; 2] = ["num_prefill_tokens", "num_decode_tokens"];
/// Ten requests a second.
const INTERVAL_US: u64 = 100_000;

/// Reads one file.
pub fn read(file: &str, text: &str, rows: &mut Rows) -> Result<(), TraceError> {
    csv::rows(file, text, |row| {
        let arrival_us = rows.count() as u64 * INTERVAL_US;
        rows.push(
            arrival_us,
            row.field("num_prefill_tokens")?.tokens()?,
            row.field("num_decode_tokens")?.tokens()?,
            0,
            &[],
        );
        Ok(())
    })
}
