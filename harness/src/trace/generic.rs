//! N6, the format for everything else, as CSV with a header or as JSONL, with the same names:
//!
//! | name | what |
//! | --- | --- |
//! | `arrival_s`, `arrival_ms`, `arrival_us` or `arrival_ns` (exactly one) | decimal, from any zero |
//! | `prompt_tokens` | whole number |
//! | `output_tokens` | whole number |
//! | `ids` (optional) | names of the prompt's tokens: `[1, 2]` in JSONL, `1 2` in CSV; each covers `--ids-block-tokens` |
//! | `tenant` (optional) | whole number |
//!
//! Other columns are passed over.

use super::error::TraceError;
use super::field::{Field, Unit};
use super::normalise::Rows;
use super::{csv, jsonl, mooncake};

/// Tokens of one id, unless the user says otherwise: as Mooncake has it.
pub const ID_TOKENS: u32 = mooncake::ID_TOKENS;

const ARRIVALS: [(&str, Unit); 4] = [
    ("arrival_s", Unit::Seconds),
    ("arrival_ms", Unit::Milliseconds),
    ("arrival_us", Unit::Microseconds),
    ("arrival_ns", Unit::Nanoseconds),
];

/// Whether a file that has the names for which `has` holds is of this format.
pub fn recognises(has: impl Fn(&str) -> bool) -> bool {
    has("prompt_tokens") && has("output_tokens") && ARRIVALS.iter().filter(|(name, _)| has(name)).count() == 1
}

/// Reads one CSV file.
pub fn read_csv(file: &str, text: &str, rows: &mut Rows) -> Result<(), TraceError> {
    csv::rows(file, text, |row| push(rows, |name| row.optional(name), |name| row.field(name)))
}

/// Reads one JSONL file.
pub fn read_jsonl(file: &str, text: &str, rows: &mut Rows) -> Result<(), TraceError> {
    jsonl::objects(file, text, |line| push(rows, |name| line.optional(name), |name| line.field(name)))
}

fn push<'a>(
    rows: &mut Rows,
    optional: impl Fn(&'static str) -> Option<Field<'a>>,
    field: impl Fn(&'static str) -> Result<Field<'a>, TraceError>,
) -> Result<(), TraceError> {
    let arrival = ARRIVALS.iter().find_map(|&(name, unit)| Some(optional(name)?.time_us(unit)));
    let arrival_us = match arrival {
        Some(arrival) => arrival?,
        // Names the unit that needs no scaling as the one to add.
        None => field("arrival_us")?.time_us(Unit::Microseconds)?,
    };
    let (prompt, output) = (field("prompt_tokens")?.tokens()?, field("output_tokens")?.tokens()?);
    let tenant = optional("tenant").map_or(Ok(0), |tenant| tenant.whole(u64::MAX))?;
    let ids = optional("ids").map_or(Ok(Vec::new()), |ids| ids.ids())?;
    rows.push(arrival_us, prompt, output, tenant, &ids);
    Ok(())
}
