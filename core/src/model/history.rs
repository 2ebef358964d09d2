//! Dumps put together to the history of a pool.

use crate::recorder::{Dump, Record};
use core::fmt;
use std::vec::Vec;

/// Why dumps do not make up a history that can be made again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broken {
    /// No dumps were given.
    Nothing,
    /// The dump of this number (from 0) is of a pool with another configuration than the first.
    OtherPool(usize),
    /// The dump of this number has `words` words at its beginning that are no records.
    Words(usize, usize),
    /// In the dump of this number the oldest records were overwritten: its ring was too small for the whole history.
    Overwritten(usize),
    /// The calls of these tickets are in none of the dumps: a dump is missing, or calls were lost.
    Missing {
        /// The first of them.
        first: u64,
        /// How many in a row.
        count: u64,
    },
    /// Two records have this ticket: a dump was given twice.
    Twice(u64),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Nothing => f.write_str("there are no dumps"),
            Broken::OtherPool(dump) => write!(f, "dump {dump} is of another pool than dump 0"),
            Broken::Words(dump, words) => write!(f, "dump {dump}: the oldest {words} words are no records"),
            Broken::Overwritten(dump) => write!(f, "dump {dump}: its oldest records were overwritten"),
            Broken::Missing { first, count } => {
                write!(f, "{count} calls from ticket {first} on are in none of the dumps")
            }
            Broken::Twice(ticket) => write!(f, "two records have ticket {ticket}"),
        }
    }
}

/// The records of a dump, the oldest first.
pub fn in_order<'a>(number: usize, dump: &Dump<'a>) -> Result<Vec<Record<'a>>, Broken> {
    let mut records = Vec::new();
    for record in dump.newest_first() {
        records.push(record.map_err(|words| Broken::Words(number, words))?);
    }
    records.reverse();
    Ok(records)
}

/// The records of all dumps of one pool, in the order of their tickets: a whole history, from its first call on.
pub fn merge<'a>(dumps: &[Dump<'a>]) -> Result<Vec<Record<'a>>, Broken> {
    let first = dumps.first().ok_or(Broken::Nothing)?;
    let mut all = Vec::new();
    for (number, dump) in dumps.iter().enumerate() {
        if dump.config != first.config {
            return Err(Broken::OtherPool(number));
        }
        if dump.overwritten > 0 {
            return Err(Broken::Overwritten(number));
        }
        all.extend(in_order(number, dump)?);
    }
    all.sort_by_key(|record| record.ticket);
    let mut expected = 0;
    for record in &all {
        match record.ticket.checked_sub(expected) {
            Some(0) => expected += 1,
            Some(count) => return Err(Broken::Missing { first: expected, count }),
            None => return Err(Broken::Twice(record.ticket)),
        }
    }
    Ok(all)
}
