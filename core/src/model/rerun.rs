//! Calls from dumps, made again on a fresh pool.

use super::Model;
use super::compare::Comparison;
use super::make::{Made, make};
use super::names::Names;
use crate::answer::{Argument, Refusal};
use crate::arena::Line;
use crate::config::PoolConfig;
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
}

/// Makes the calls of `records` on a pool of `config`, one after the other, and shows each with what it came to this
/// time. Handles and epochs are those of this time, wherever the recorded call got others. With `model`, the calls go to
/// the obvious model as well, and all observers are compared after each: slow for pools of more than a few hundred
/// blocks. After the first fault the model is left out.
///
/// Errors: the configuration is not valid, or there is no memory for such a pool (`INVALID(Memory)`).
pub fn rerun(
    config: &PoolConfig,
    records: &[Record<'_>],
    model: bool,
    mut each: impl FnMut(&Record<'_>, &Again),
) -> Result<(), Refusal> {
    config.check()?;
    let (mut memory, mut table) = (filled(lines(config), Line::ZERO)?, filled(entries(config), 0)?);
    // Nothing is read from this ring: it is there for the digests, which every call writes anew.
    let mut ring = filled(32, Line::ZERO)?;
    let pool = Pool::init(&mut memory, &mut table, config)?.recording(&mut ring)?;
    let mut comparison = model.then(|| Comparison::new(pool, Model::new(config)));
    let (mut names, mut rows) = (Names::default(), Vec::new());
    for record in records {
        let call = names.translate(&record.call, &mut rows);
        let (Made { answer, .. }, fault) = match &mut comparison {
            None => (make(&pool, &call), None),
            Some(both) => both.make_and_compare(&call),
        };
        if fault.is_some() {
            comparison = None;
        }
        names.learn(&record.outcome.answer, &answer);
        let (digest, first_block) = pool.noted();
        each(record, &Again { outcome: Outcome { answer, digest, first_block }, fault });
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
