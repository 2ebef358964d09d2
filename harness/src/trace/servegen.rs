//! N7, ServeGen CSV: `arrival_us`, `client`, `input_tokens`, `output_tokens`. The client is the tenant.

use super::csv;
use super::error::TraceError;
use super::field::Unit;
use super::lines::Lines;
use super::rows::{Row, Rows};

/// What the header must have.
pub const COLUMNS: [&str; 4] = ["arrival_us", "client", "input_tokens", "output_tokens"];

/// Reads one file.
pub fn read(lines: Lines, rows: &mut Rows) -> Result<(), TraceError> {
    csv::rows(lines, |row| {
        let arrival_us = row.field("arrival_us")?.time_us(Unit::Microseconds)?;
        let tenant = row.field("client")?.whole(u64::MAX)?;
        let (prompt, output) = (row.field("input_tokens")?.tokens()?, row.field("output_tokens")?.tokens()?);
        rows.add(row.place(), Row { tenant, ..Row::new(arrival_us, prompt, output) }, &[]);
        Ok(())
    })
}
