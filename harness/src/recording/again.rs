//! Calls made again, and what differs from the record.

use super::describe;
use kvledger_core::Refusal;
use kvledger_core::model::{History, Tally, rerun as make_again};
use serde::Serialize;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A call that came to something else.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Difference {
    /// Its place among all calls.
    pub ticket: u64,
    /// The call and what it came to then.
    pub then: String,
    /// What it came to now.
    pub now: String,
}

/// What came of making a history again.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rerun {
    /// Calls that were made.
    pub calls: u64,
    /// Calls of several threads that met one another then and are not made again.
    pub passed_over: u64,
    /// How often each call got each answer this time.
    pub tally: Tally,
    /// Calls that came to something else.
    pub differing: u64,
    /// The first of them.
    pub differences: Vec<Difference>,
    /// What was wrong with the pool: it and its model did not agree, or it panicked. After which call.
    pub fault: Option<Difference>,
}

/// Makes the calls of `history` again on a fresh pool; with `model` the obvious model is asked as well. Keeps the
/// first `keep` differences. `progress` is told how many calls are done. Errors: no such pool can be made.
pub fn rerun(history: &History<'_>, model: bool, keep: usize, mut progress: impl FnMut(u64)) -> Result<Rerun, Refusal> {
    let mut all = Rerun::default();
    let made = catch_unwind(AssertUnwindSafe(|| {
        make_again(history, model, |record, again| {
            if again.passed_over {
                all.passed_over += 1;
                return;
            }
            all.calls += 1;
            let status = again.outcome.answer.as_ref().map_or_else(Refusal::code, |_| 0);
            *all.tally.0.entry((record.call.name(), status)).or_default() += 1;
            if record.outcome != again.outcome {
                all.differing += 1;
                if all.differences.len() < keep {
                    let now = describe::outcome(&again.outcome);
                    all.differences.push(Difference { ticket: record.ticket, then: describe::describe(record), now });
                }
            }
            if let Some(fault) = &again.fault {
                let (ticket, then) = (record.ticket, describe::describe(record));
                all.fault.get_or_insert(Difference { ticket, then, now: fault.clone() });
            }
            progress(all.calls);
        })
    }));
    match made {
        Ok(made) => made?,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            let now = format!("the pool panicked: {}", text.unwrap_or("without a message"));
            let record = history.records.get((all.calls + all.passed_over) as usize);
            let (ticket, then) =
                record.map_or((0, String::new()), |record| (record.ticket, describe::describe(record)));
            all.fault = Some(Difference { ticket, then, now });
        }
    }
    Ok(all)
}
