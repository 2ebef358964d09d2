//! The pool, tried on this machine in less than a second: a request from promise to release, a second view of the same
//! memory, a few thousand random operations against the model, and the record of these made again.
//!
//! It is no proof, `kvledger verify` and the tests are: it notices a build or a machine that is broken altogether.

use super::check::{Check, Section, State};
use crate::recording;
use kvledger_core::model::{Comparison, configuration, merge, operations};
use kvledger_core::recorder::Dump;
use kvledger_core::{Admission, Argument, Line, Pool, PoolConfig, Refusal, Stream, entries, lines};
use std::fmt::Display;
use std::panic::catch_unwind;

/// Random operations: so many pools, so many operations each. The seeds are fixed, so that every machine does the same.
const EPISODES: u64 = 4;
const OPERATIONS: usize = 1_000;
/// All of it.
pub fn self_test() -> Check {
    run(&[("a request", a_request), ("attach", attached), ("random operations", operations_made_again)])
}

type Step = fn() -> Result<(), String>;

/// Every step, up to the first that fails. A panic is a failure like any other.
fn run(steps: &[(&str, Step)]) -> Check {
    for (name, step) in steps {
        let outcome = catch_unwind(step);
        let why = match outcome {
            Ok(Ok(())) => continue,
            Ok(Err(why)) => why,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
                format!("panic: {}", text.unwrap_or("without a message"))
            }
        };
        let check = Check::new(Section::SelfTest, "self-test", State::Unusable, format!("failed: {name}: {why}"));
        return check.mended_by("cargo clean && cargo test --workspace   # if that fails too, it is a bug: report it");
    }
    let all = EPISODES * OPERATIONS as u64;
    let done = format!(
        "ok: a request, attach, {} random operations, and their record made again",
        crate::report::grouped(all)
    );
    Check::new(Section::SelfTest, "self-test", State::Ok, done)
}

/// Puts what a call said into a message.
fn said<T, E: Display>(what: &str, result: Result<T, E>) -> Result<T, String> {
    result.map_err(|error| format!("{what}: {error}"))
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?} in place of {expected:?}")) }
}

/// 256 blocks of 16 tokens.
const CONFIG: PoolConfig = PoolConfig::new(256, 16, 8, 145);

/// Memory and table for [`CONFIG`].
fn memory() -> (Vec<Line>, Vec<u32>) {
    (vec![Line::ZERO; lines(&CONFIG)], vec![0; entries(&CONFIG)])
}

/// The request of the project's README, every count of it.
fn a_request() -> Result<(), String> {
    let (mut memory, mut table) = memory();
    let pool = said("init", Pool::init(&mut memory, &mut table, &CONFIG))?;
    let sequence = said("open", pool.open())?;
    let admitted = said("admit", pool.admit(sequence, &Admission::full(2048, 257)))?;
    same("blocks promised", admitted.promised, 145)?;
    same("blocks taken", said("advance", pool.advance(sequence, 2048))?.taken, 128)?;
    same("A and headroom", (pool.counts().committed, pool.counts().headroom), (128, 111))?;
    said("audit", pool.validate())?;
    let step = said("submit", pool.submit(Stream(0)))?;
    said("end", pool.end(sequence))?;
    same("headroom while work is in flight", pool.counts().headroom, 128)?;
    said("complete", pool.complete(Stream(0), step, false))?;
    same("headroom at the end", pool.counts().headroom, 256)?;
    said("audit at the end", pool.validate())
}

/// What one view did, another one of the same memory sees; memory that is not aligned, or no pool, is refused.
fn attached() -> Result<(), String> {
    let (mut memory, mut table) = memory();
    let sequence = {
        let pool = said("init", Pool::init(&mut memory, &mut table, &CONFIG))?;
        let sequence = said("open", pool.open())?;
        said("admit", pool.admit(sequence, &Admission::full(100, 28)))?;
        sequence
    };
    let (count, places) = (memory.len(), table.len());
    let (base, rows) = (memory.as_mut_ptr(), table.as_mut_ptr());
    same("alignment of a line", base.align_offset(64), 0)?;
    let off = base.cast::<u8>().wrapping_add(8).cast::<Line>();
    // SAFETY: memory and table are as long as is said, nobody else has them now, and only pools have written there.
    let pool = unsafe { Pool::attach(base, count, rows, places) };
    // SAFETY: as above, and what is not aligned is refused before anything is read.
    let odd = unsafe { Pool::attach(off, count - 1, rows, places) };
    same("attach to memory that is not aligned", odd.err(), Some(Refusal::Invalid { argument: Argument::Memory }))?;
    let pool = said("attach", pool)?;
    same("blocks taken through the second view", said("advance", pool.advance(sequence, 100))?.taken, 7)?;
    same("headroom", pool.counts().headroom, 256 - 8)?;
    said("audit", pool.validate())?;
    Ok(())
}

/// Random operations on the pool and on the model, and then their records on both again.
fn operations_made_again() -> Result<(), String> {
    for seed in 1..=EPISODES {
        let (config, list) = (configuration(seed), operations(seed, OPERATIONS));
        let mut ring = vec![Line::ZERO; Comparison::ring_lines(list.len())];
        said("pool and model", Comparison::run_recorded(&config, &list, &mut ring))?;
        let mut words = recording::words(&ring);
        let dump = said("the record", Dump::read(&mut words))?;
        let history = said("the record", merge(&[dump], false))?;
        let again = said("rerun", recording::rerun(&history, true, 1, |_| {}))?;
        if let Some(differs) = again.fault.as_ref().or(again.differences.first()) {
            return Err(format!("seed {seed}, call {}: {}; again: {}", differs.ticket, differs.then, differs.now));
        }
        same("calls made again", again.calls, history.records.len() as u64)?;
        same("records", again.calls > 0, true)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn this_build_passes() {
        let check = self_test();
        assert_eq!(check.state, State::Ok, "{check:?}");
        assert!(check.found.contains("4,000 random operations"), "{check:?}");
    }

    #[test]
    fn the_first_failure_is_told_and_nothing_is_tried_after_it() {
        let steps: [(Step, &str); 2] = [
            (|| Err("A is 3".to_string()), "failed: first: A is 3"),
            (|| panic!("A is {}", 3), "failed: first: panic: A is 3"),
        ];
        static LATER: AtomicBool = AtomicBool::new(false);
        let later: Step = || {
            LATER.store(true, Ordering::Relaxed);
            Ok(())
        };
        for (step, says) in steps {
            let check = run(&[("first", step), ("second", later)]);
            assert_eq!((check.state, check.found.as_str()), (State::Unusable, says));
            assert!(!LATER.load(Ordering::Relaxed));
            assert!(check.mend.is_some());
        }
        assert!(same("x", 1, 2).is_err_and(|why| why == "x: 1 in place of 2"));
    }
}
