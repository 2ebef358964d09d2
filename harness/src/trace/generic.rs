//! N6, the format for everything else, as CSV with a header or as JSONL, with the same names:
//!
//! | name | what |
//! | --- | --- |
//! | `arrival_s`, `arrival_ms`, `arrival_us` or `arrival_ns` (exactly one) | decimal, from any zero |
//! | `prompt_tokens` | whole number |
//! | `output_tokens` | whole number |
//! | `ids` (optional) | names of the prompt's tokens: `[1, 2]` in JSONL, `1 2` in CSV |
//! | `block_size` (optional) | tokens that each of them covers; else `--ids-block-tokens`, else 512 |
//! | `tenant` (optional) | whole number |
//!
//! Other columns are passed over, and columns may stand in any order.

use super::error::{Place, TraceError};
use super::field::{Field, Unit};
use super::lines::Lines;
use super::rows::{Row, Rows};
use super::{csv, jsonl, mooncake};

/// What there must be, besides one of the arrivals.
pub const NAMES: [&str; 2] = ["prompt_tokens", "output_tokens"];
/// Tokens of one id, unless something else is said: as Mooncake has it.
pub const ID_TOKENS: u32 = mooncake::ID_TOKENS;

const ARRIVALS: [(&str, Unit); 4] = [
    ("arrival_s", Unit::Seconds),
    ("arrival_ms", Unit::Milliseconds),
    ("arrival_us", Unit::Microseconds),
    ("arrival_ns", Unit::Nanoseconds),
];

/// Whether a file that has the names for which `has` holds is of this format.
pub fn recognises(has: impl Fn(&str) -> bool) -> bool {
    NAMES.iter().all(|name| has(name)) && ARRIVALS.iter().filter(|(name, _)| has(name)).count() == 1
}

/// Reads one CSV file.
pub fn read_csv(lines: Lines, rows: &mut Rows) -> Result<(), TraceError> {
    csv::rows(lines, |row| add(rows, row.place(), |name| row.optional(name), |name| row.field(name)))
}

/// Reads one JSONL file.
pub fn read_jsonl(lines: Lines, rows: &mut Rows) -> Result<(), TraceError> {
    jsonl::objects(lines, |line| add(rows, line.place(), |name| line.optional(name), |name| line.field(name)))
}

fn add<'a>(
    rows: &mut Rows,
    place: Place<'_>,
    optional: impl Fn(&'static str) -> Result<Option<Field<'a>>, TraceError>,
    field: impl Fn(&'static str) -> Result<Field<'a>, TraceError>,
) -> Result<(), TraceError> {
    let mut arrivals =
        ARRIVALS.iter().filter_map(|&(name, unit)| optional(name).map(|arrival| Some((arrival?, unit))).transpose());
    let arrival_us = match (arrivals.next().transpose()?, arrivals.next().transpose()?) {
        (Some((arrival, unit)), None) => arrival.time_us(unit)?,
        (Some((arrival, _)), Some((other, _))) => {
            let want = format!("give one arrival: there is `{}` as well", other.name);
            return Err(arrival.refuse(&want));
        }
        // Names the unit that needs no scaling as the one to add.
        (None, _) => field("arrival_us")?.time_us(Unit::Microseconds)?,
    };
    let (prompt, output) = (field("prompt_tokens")?.tokens()?, field("output_tokens")?.tokens()?);
    // A column that is there for some rows only is empty in the others.
    let given = |name| Ok(optional(name)?.filter(|field| !field.text.is_empty()));
    let tenant = given("tenant")?.map_or(Ok(0), |tenant| tenant.whole(u64::MAX))?;
    if let Some(tokens) = given("block_size")? {
        rows.declare_id_tokens(&tokens)?;
    }
    let ids = optional("ids")?.map_or(Ok(Vec::new()), |ids| ids.ids())?;
    rows.add(place, Row { tenant, ..Row::new(arrival_us, prompt, output) }, &ids);
    Ok(())
}
