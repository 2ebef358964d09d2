//! N7, ServeGen CSV: `arrival_us`, `client`, `input_tokens`, `output_tokens`. The client is the tenant.

use super::csv;
use super::error::TraceError;
use super::field::Unit;
use super::normalise::Rows;

/// What the header must have.
pub const COLUMNS: [&str; 4] = ["arrival_us", "client", "input_tokens", "output_tokens"];

/// Reads one file.
pub fn read(file: &str, text: &str, rows: &mut Rows) -> Result<(), TraceError> {
    csv::rows(file, text, |row| {
        let arrival_us = row.field("arrival_us")?.time_us(Unit::Microseconds)?;
        let tenant = row.field("client")?.whole(u64::MAX)?;
        rows.push(arrival_us, row.field("input_tokens")?.tokens()?, row.field("output_tokens")?.tokens()?, tenant, &[]);
        Ok(())
    })
}
