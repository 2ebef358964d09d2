//! `kvledger doctor`.

use super::output::{can_be_written, write_json, write_out};
use super::{Stop, terminal};
use crate::doctor::{self, Need};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Say what this build is, what this machine has, and how to get what is missing; and try the pool.
///
/// Nothing is written or downloaded. Programs in PATH are asked for their version, each with a limit of time.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct Args {
    /// Fail unless this can be done here; may be given several times, or with commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    require: Vec<Need>,

    /// Seconds that a program may take to say its version
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=600))]
    tool_seconds: u16,

    /// Write what was found as JSON to FILE; `-` for standard output, in place of the page
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  kvledger doctor
  kvledger doctor --require checks            # would .ci/run skip or fail anything for what is missing?
  kvledger doctor --require cuda,gpu --json - | less

What is missing is no failure unless it is required.

Exit codes: 0 the pool works, and all that was required can be done; 1 the self-test failed, or something that was
required is missing; 2 the flags cannot be used.";

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    if let Some(file) = &args.json {
        can_be_written("--json", file, &[])?;
    }
    let report = doctor::examine(&args.require, Duration::from_secs(args.tool_seconds.into()));
    if let Some(file) = &args.json {
        write_json(file, &report)?;
    }
    if args.json.as_deref() != Some(Path::new("-")) {
        write_out(&doctor::render(&report, terminal::width()))?;
    }
    report.verdict().map_err(Stop::Failed)
}
