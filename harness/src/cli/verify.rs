//! `kvledger verify`.

use super::Stop;
use super::output::write_out;
use super::values::whole_u64;
use crate::report::grouped;
use crate::verify::{self, Failure, Settings, answers};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use kvledger_core::PoolConfig;
use kvledger_core::model::{Comparison, Difference, Operation, Tally};
use std::io::{self, IsTerminal};
use std::thread;

/// Random operations against the pool and against its obvious model; every observer is compared after each.
///
/// Exit code 1: they differ. The fewest operations that still show it are printed, and how to repeat it.
#[derive(Parser, Debug)]
pub struct Args {
    /// Operations in all
    #[arg(long, value_name = "COUNT", default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    operations: u64,

    /// The seed; 0 draws one from the clock. It is printed either way
    #[arg(long, value_name = "NUMBER", value_parser = whole_u64, default_value = "0")]
    seed: u64,

    /// Threads; 0 takes as many as there are cores
    #[arg(long, value_name = "COUNT", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024))]
    threads: u16,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    verify(args, Comparison::run, &mut write_out)
}

/// The command with another comparison and another place for what it says: tests need both.
fn verify<C>(args: &Args, compare: C, say: &mut dyn FnMut(&str) -> Result<(), Stop>) -> Result<(), Stop>
where
    C: Fn(&PoolConfig, &[Operation]) -> Result<Tally, Difference> + Sync,
{
    let threads = match args.threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        threads => usize::from(threads),
    };
    let seed = if args.seed == 0 { seed_from_clock() } else { args.seed };
    // Before anything else, so that it is known whatever happens.
    say(&format!("verify: {} operations, seed {seed}, {threads} threads\n", grouped(args.operations)))?;
    let bar = progress(args.operations);
    let settings = Settings { operations: args.operations, seed, threads };
    let outcome = verify::run(settings, compare, |done| bar.set_position(done));
    bar.finish_and_clear();
    match outcome {
        Ok(verified) => say(&format!(
            "pool and model agree after each of {} operations; the answers were:\n{}",
            grouped(verified.operations),
            answers(&verified.tally)
        )),
        Err(failure) => {
            if let Failure::Differs(short) = &failure {
                say(&short.listing())?;
            }
            Err(Stop::Failed(failure.to_string()))
        }
    }
}

fn seed_from_clock() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |elapsed| elapsed.as_nanos() as u64).max(1)
}

fn progress(operations: u64) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} {per_sec} {eta}");
    ProgressBar::new(operations).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::EPISODE;

    /// Runs the command with `compare`; the result and what it said.
    fn verified<C>(operations: u64, compare: C) -> (Result<(), Stop>, String)
    where
        C: Fn(&PoolConfig, &[Operation]) -> Result<Tally, Difference> + Sync,
    {
        let mut said = String::new();
        let mut say = |text: &str| {
            said += text;
            Ok(())
        };
        let outcome = verify(&Args { operations, seed: 11, threads: 2 }, compare, &mut say);
        (outcome, said)
    }

    /// A model that knows no way to cancel an open sequence.
    fn without_cancel(config: &PoolConfig, list: &[Operation]) -> Result<Tally, Difference> {
        for (index, &operation) in list.iter().enumerate() {
            if Comparison::run(config, &list[..=index])?.0.contains_key(&("cancel", 0)) {
                let what = "cancel: pool Ok(()), model Err(Stale)".to_string();
                return Err(Difference { index, operation, what });
            }
        }
        Comparison::run(config, list)
    }

    #[test]
    fn a_wrong_model_fails_the_command_with_few_operations() {
        let (outcome, said) = verified(3 * EPISODE, without_cancel);
        let Err(stop) = outcome else { panic!("it must fail:\n{said}") };
        assert_eq!(stop.code(), 1);
        let message = stop.to_string();
        assert!(message.contains("operation 1 (Cancel") && message.contains("model Err(Stale)"), "{message}");
        // All three episodes cancel something, whichever thread sees it first; the first is told.
        assert!(message.contains(&format!("--seed 11 --operations {EPISODE}")), "{message}");
        let lines: Vec<&str> = said.lines().collect();
        assert!(
            lines[0].ends_with("seed 11, 2 threads") && lines[1].starts_with("episode seed 11, PoolConfig"),
            "{said}"
        );
        assert!(lines[2].contains("0 Open") && lines[3].contains("1 Cancel") && lines.len() == 4, "{said}");
    }

    #[test]
    fn the_right_model_is_agreed_with_and_every_operation_counted() {
        let (outcome, said) = verified(2 * EPISODE + 1, Comparison::run);
        assert_eq!(outcome, Ok(()));
        assert!(said.contains("after each of 2,001 operations") && said.contains("\n  cancel "), "{said}");
    }

    #[test]
    fn who_stops_reading_stops_the_command() {
        let closed = Stop::Usage("standard output: closed".to_string());
        let mut say = |_: &str| Err(closed.clone());
        let args = Args { operations: 1, seed: 1, threads: 1 };
        assert_eq!(verify(&args, Comparison::run, &mut say), Err(closed.clone()));
    }
}
