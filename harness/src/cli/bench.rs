//! `kvledger bench`.

use super::output::{self, write_json, write_out};
use super::values::{count_u32, count_u64};
use super::{Stop, input};
use crate::bench::{self, Effort, Parts, Subject};
use crate::trace::{Normalise, TimeScale};
use clap::ValueEnum;
use std::io::IsTerminal;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Measure on this machine: an allocation beside a locked vector and a queue, a scheduler step, and a replay.
///
/// Everything runs in one process and in turn, on at most two threads. Other work on the machine spoils the figures: the
/// load average stands above them.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Measure only these parts, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', default_value = "allocators,step,replay")]
    only: Vec<Part>,

    /// The trace to replay [default: a small sample that comes with kvledger]
    #[arg(long, value_name = "PATH")]
    trace: Option<PathBuf>,

    /// Multiply its arrival times by this fraction: 1/4 makes the trace arrive four times as fast
    #[arg(long, value_name = "NUM/DEN", default_value = "1/4")]
    time_scale: TimeScale,

    /// Rounds, of which best and median are shown
    #[arg(long, value_parser = count_u32, value_name = "N", default_value = "7")]
    rounds: NonZeroU32,

    /// Milliseconds for which an allocator is measured in a round
    #[arg(long, value_parser = count_u64, value_name = "MS", default_value = "40")]
    slice_ms: NonZeroU64,

    /// Scheduler steps to time
    #[arg(long, value_parser = count_u32, value_name = "N", default_value = "4000")]
    steps: NonZeroU32,

    /// Write the figures as JSON to FILE as well; `-` for standard output, in place of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// `--only`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Part {
    /// One batch taken and given back
    Allocators,
    /// One token for each of 1,024 sequences
    Step,
    /// A trace, incremental, in 8,192 blocks with a safety margin of 128
    Replay,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    let parts = Parts {
        allocators: args.only.contains(&Part::Allocators),
        step: args.only.contains(&Part::Step),
        replay: args.only.contains(&Part::Replay),
    };
    output::is_no_input(args.json.as_deref(), args.trace.as_slice())?;
    let read = if parts.replay { Some(read(args)?) } else { None };
    let effort = Effort {
        rounds: args.rounds.get(),
        slice: Duration::from_millis(args.slice_ms.get()),
        steps: args.steps.get(),
    };
    if parts.allocators && std::io::stderr().is_terminal() {
        eprintln!("measuring for about {:.0} s and some more to prepare", effort.allocators_take().as_secs_f64());
    }
    let report = bench::run(&effort, parts, read.as_ref())?;
    if let Some(file) = &args.json {
        write_json(file, &report)?;
    }
    if args.json.as_deref() == Some(Path::new("-")) { Ok(()) } else { write_out(&bench::render(&report)) }
}

/// The trace to replay.
fn read(args: &Args) -> Result<Subject, Stop> {
    let normalise = Normalise { first: None, time_scale: args.time_scale };
    let trace = input::read(args.trace.as_slice(), None, normalise)?;
    let name = match &args.trace {
        Some(path) => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
        None => input::name(&[]),
    };
    Ok(Subject { name, trace, is_sample: args.trace.is_none(), time_scale: args.time_scale })
}
