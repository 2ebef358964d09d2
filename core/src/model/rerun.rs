//! Calls from dumps, made again on a fresh pool.

use super::Model;
use super::compare::Comparison;
use super::history::History;
use super::make::{Made, make};
use super::names::{Lists, Names};
use crate::answer::{Argument, Refusal};
use crate::arena::Line;
use crate::pool::{Pool, entries, lines};
use crate::recorder::{Outcome, Record};
use std::string::String;
use std::vec::Vec;

/// A call that was made again.
#[derive(Clone, Debug)]
pub struct Again {
    /// What it came to this time.
    pub outcome: Outcome,
    /// What pool and model do not agree about after it, if they were compared.
    pub fault: Option<String>,
    /// It was not made: see [`rerun`].
    pub passed_over: bool,
}

/// Makes the calls of `history` on a fresh pool, one after the other, and shows each with what it came to this time.
/// Handles and epochs are those of this time, wherever the recorded call got others. With `model`, the calls go to the
/// obvious model as well, and all observers are compared after each: slow for pools of more than a few hundred blocks.
/// After the first fault the model is left out.
///
/// A call of one of several threads that was answered `BUSY` met another call, which it would not now; it did nothing, and
/// is passed over.
///
/// Errors: the configuration is not valid, or there is no memory for such a pool (`INVALID(Memory)`).
pub fn rerun(history: &History<'_>, model: bool, mut each: impl FnMut(&Record<'_>, &Again)) -> Result<(), Refusal> {
    let config = &history.config;
    config.check()?;
    let (mut memory, mut table) = (filled(lines(config), Line::ZERO)?, filled(entries(config), 0)?);
    // Nothing is read from this ring: it is there for the digests, which every call writes anew. It has room for the longest call.
    let longest = history.records.iter().map(|record| record.call.list_words()).max().unwrap_or(0);
    let mut ring = filled(longest / 4 + 32, Line::ZERO)?;
    let pool = Pool::init(&mut memory, &mut table, config)?.recording(&mut ring)?;
    let mut comparison = model.then(|| Comparison::new(pool, Model::new(config)));
    let mut names = Names::default();
    for record in &history.records {
        if history.rings > 1 && record.outcome.answer == Err(Refusal::Busy) {
            each(record, &Again { outcome: record.outcome, fault: None, passed_over: true });
            continue;
        }
        let mut lists = Lists::default();
        let call = names.translate(&record.call, &mut lists);
        let (Made { answer, .. }, fault) = match &mut comparison {
            None => (make(&pool, &call), None),
            Some(both) => both.make_and_compare(&call),
        };
        if fault.is_some() {
            comparison = None;
        }
        names.learn(&record.call, &record.outcome.answer, &answer);
        let (digest, first_block) = pool.noted();
        let outcome = Outcome { answer, digest, first_block };
        each(record, &Again { outcome, fault, passed_over: false });
    }
    Ok(())
}

/// `count` times `value`; `INVALID(Memory)` if there is no memory for it.
fn filled<T: Clone>(count: usize, value: T) -> Result<Vec<T>, Refusal> {
    let mut all = Vec::new();
    all.try_reserve_exact(count).map_err(|_| Refusal::invalid(Argument::Memory))?;
    all.resize(count, value);
    Ok(all)
}
