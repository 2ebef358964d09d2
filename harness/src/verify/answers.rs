//! What a run has exercised: each operation, and how often it got each answer.

use kvledger_core::model::Tally;
use std::io::{self, Write};

/// The answers by number, as in the C ABI.
const ANSWERS: [&str; 11] = [
    "OK",
    "WOULD_BLOCK",
    "RETRY_AFTER",
    "NEVER_FITS",
    "OVER_PROMISE",
    "CANCELLED",
    "STALE",
    "INVALID",
    "FULL",
    "BUSY",
    "CORRUPT",
];

/// A line an operation: its answers, the most frequent first.
pub fn write_tally(tally: &Tally, out: &mut impl Write) -> io::Result<()> {
    let mut names: Vec<_> = tally.0.keys().map(|(name, _)| *name).collect();
    names.dedup();
    for name in names {
        let mut answers: Vec<_> =
            tally.0.iter().filter(|((of, _), _)| *of == name).map(|((_, code), count)| (*count, *code)).collect();
        answers.sort_unstable_by(|left, right| right.cmp(left));
        write!(out, "  {name:<18}")?;
        for (count, code) in answers {
            write!(out, " {} {count}", ANSWERS.get(code as usize).copied().unwrap_or("?"))?;
        }
        writeln!(out)?;
    }
    Ok(())
}
