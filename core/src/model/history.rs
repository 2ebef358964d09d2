//! Dumps put together to the history of a pool.

use crate::config::PoolConfig;
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
    /// The pool had been used before the ring of this number was made, by handles without one.
    Late(usize),
    /// So many calls of the dump of this number were not recorded.
    Lost(usize, u64),
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
            Broken::Late(dump) => write!(f, "dump {dump}: the pool had been used before it was recorded"),
            Broken::Lost(dump, calls) => write!(f, "dump {dump}: {calls} calls were not recorded"),
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

/// What was done to a pool, from its first call on.
#[derive(Clone, Debug)]
pub struct History<'a> {
    /// The pool's.
    pub config: PoolConfig,
    /// The calls, in the order of their tickets.
    pub records: Vec<Record<'a>>,
    /// Of how many rings they are: if of more than one, calls were made at the same time.
    pub rings: usize,
    /// What is missing behind them, if anything is known to be.
    pub ends_at: Option<Broken>,
}

/// The records of all dumps of one pool, as one history. Err: they are none, because something is missing. With `partial`
/// the history may end where the first call is missing, and lack the calls that were not recorded.
pub fn merge<'a>(dumps: &[Dump<'a>], partial: bool) -> Result<History<'a>, Broken> {
    let first = dumps.first().ok_or(Broken::Nothing)?;
    let mut history = History { config: first.config, records: Vec::new(), rings: dumps.len(), ends_at: None };
    for (number, dump) in dumps.iter().enumerate() {
        match () {
            () if dump.config != first.config => return Err(Broken::OtherPool(number)),
            () if dump.overwritten > 0 => return Err(Broken::Overwritten(number)),
            () if dump.begun_late => return Err(Broken::Late(number)),
            () if dump.lost > 0 && !partial => return Err(Broken::Lost(number, dump.lost)),
            () => history.records.extend(in_order(number, dump)?),
        }
    }
    history.records.sort_by_key(|record| record.ticket);
    for (index, expected) in (0..).enumerate().take(history.records.len()) {
        match history.records[index].ticket.checked_sub(expected) {
            Some(0) => {}
            Some(count) => {
                history.ends_at = Some(Broken::Missing { first: expected, count });
                history.records.truncate(index);
                break;
            }
            None => return Err(Broken::Twice(history.records[index].ticket)),
        }
    }
    match history.ends_at {
        Some(missing) if !partial => Err(missing),
        _ => Ok(history),
    }
}
