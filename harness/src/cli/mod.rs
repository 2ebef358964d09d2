//! The command line. A subcommand is a module with its `Args` and a `run`; it is named once in `Command` and once in
//! `dispatch`. Nothing is done before all flags are valid.
//!
//! Exit codes: 0, what was asked for was done; 1, a check failed; 2, the flags or the input cannot be used.

mod bench;
mod case;
mod doctor;
mod input;
mod kernels;
mod lab;
mod output;
mod plan;
mod progress;
mod record;
mod replay;
mod rerun;
mod target;
mod terminal;
mod trace;
mod values;
mod verify;

use self::input::formats;
use crate::replay::Failure;
use clap::{Parser, Subcommand};
use std::fmt;
use std::io::Write;
use std::process::ExitCode;

/// kvledger: proves, replays and measures the KV-cache block pool and its admission ledger.
#[derive(Parser, Debug)]
#[command(name = "kvledger", version, about, long_about = None, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Bench(bench::Args),
    Doctor(doctor::Args),
    Lab(lab::Args),
    Plan(plan::Args),
    Profile(kernels::profile::Args),
    Record(record::Args),
    Replay(replay::Args),
    Rerun(rerun::Args),
    Trace(trace::Args),
    Verify(verify::Args),
}

/// Why a command stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// A check failed.
    Failed(String),
    /// The flags or the input cannot be used.
    Usage(String),
}

impl Stop {
    /// The exit code.
    const fn code(&self) -> u8 {
        match self {
            Stop::Failed(_) => 1,
            Stop::Usage(_) => 2,
        }
    }

    /// The same, said of one of several cases.
    fn of(self, case: &str) -> Stop {
        match self {
            Stop::Failed(message) => Stop::Failed(format!("{case}: {message}")),
            Stop::Usage(message) => Stop::Usage(format!("{case}: {message}")),
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Failed(message) => write!(f, "failed: {message}"),
            Stop::Usage(message) => write!(f, "error: {message}"),
        }
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        let message = failure.to_string();
        if failure.is_usage() { Stop::Usage(message) } else { Stop::Failed(message) }
    }
}

fn dispatch(command: Command) -> Result<(), Stop> {
    match command {
        Command::Bench(args) => bench::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Lab(args) => lab::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Profile(args) => kernels::profile::run(&args),
        Command::Record(args) => record::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Rerun(args) => rerun::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Verify(args) => verify::run(&args),
    }
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    // A usage error of clap's own prints itself and exits with 2.
    match dispatch(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => {
            // Where nobody reads standard error the exit code has to do.
            let _ = writeln!(std::io::stderr(), "{stop}");
            ExitCode::from(stop.code())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn flags_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_failed_check_and_a_mistake_have_different_codes() {
        assert_eq!(Stop::Failed(String::new()).code(), 1);
        assert_eq!(Stop::Usage(String::new()).code(), 2);
    }
}
