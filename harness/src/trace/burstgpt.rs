//! N9, BurstGPT CSV: `Timestamp` in seconds, `Request tokens`, `Response tokens`, and in later releases `Session ID`. A
//! request that failed has no response tokens: N8 drops it.

use super::csv;
use super::error::TraceError;
use super::field::Unit;
use super::lines::Lines;
use super::rows::{Row, Rows};
use std::collections::HashMap;

/// What the header must have.
pub const COLUMNS: [&str; 3] = ["Timestamp", "Request tokens", "Response tokens"];

/// Reads one file.
pub fn read(lines: Lines, rows: &mut Rows) -> Result<(), TraceError> {
    let mut sessions: HashMap<String, u32> = HashMap::new();
    csv::rows(lines, |row| {
        let arrival_us = row.field("Timestamp")?.time_us(Unit::Seconds)?;
        let (prompt, output) = (row.field("Request tokens")?.tokens()?, row.field("Response tokens")?.tokens()?);
        // Calls of the API belong to no session.
        let session = row.optional("Session ID")?.filter(|session| !session.text.is_empty());
        let session = session.map(|session| match sessions.get(session.text) {
            Some(&session) => session,
            None => *sessions.entry(session.text.to_string()).or_insert_with(|| rows.new_session()),
        });
        rows.add(row.place(), Row { session, ..Row::new(arrival_us, prompt, output) }, &[]);
        Ok(())
    })
}
