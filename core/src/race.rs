//! Running a race under loom: once as the code is, and once with each mistake planted, which must be found, so that
//! the test is known to look.

use crate::sync::{Plant, plant};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// Plants are switched on for the whole process: one race at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// `race` holds as the code is, and fails with each of `plants`. Every interleaving with at most `preemptions` switches
/// that no thread asked for; `None`: every interleaving.
pub(crate) fn holds_and_notices(preemptions: Option<usize>, plants: &[Plant], race: fn()) {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    plant(Plant::None);
    check(preemptions, race);
    for &mistake in plants {
        plant(mistake);
        let outcome = catch_unwind(AssertUnwindSafe(|| check(preemptions, race)));
        plant(Plant::None);
        assert!(outcome.is_err(), "{mistake:?} was planted and not noticed");
    }
}

fn check(preemptions: Option<usize>, race: fn()) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    // Making a pool is a few hundred steps; a race is a few dozen.
    builder.max_branches = 100_000;
    builder.check(race);
}
