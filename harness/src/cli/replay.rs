//! `kvledger replay`.

use super::case::{CaseArgs, check_possible};
use super::kernels::{self, DeviceName};
use super::output::{self, write_json, write_out};
use super::values::{PolicyName, PromisedOutput, count_u32, count_usize};
use super::{Stop, formats, input, progress, terminal};
use crate::prefix::TooMany;
use crate::replay::{self, Ranked, Replayed, Settings, Statics};
use crate::report::{Case, Document, Heading, hits_by_capacity, label, prefixes, render};
use crate::trace::Trace;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

/// Replay a serving trace through the real pool and ledger, and say what each admission policy makes of it.
///
/// The service model is simple on purpose: one token a step for every running request, prompts cost no step, requests are
/// admitted in order of arrival and nobody overtakes.
#[derive(clap::Args, Debug)]
#[command(after_long_help = HELP, allow_negative_numbers = true)]
pub struct Args {
    /// Admission policies, separated by commas, side by side
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all")]
    policy: Vec<PolicyName>,

    #[command(flatten)]
    case: CaseArgs,

    /// Write the figures as JSON to FILE; `-` for standard output, in place of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Replay so many policies at the same time [default: the number of cores]
    #[arg(long, value_parser = count_usize, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Show how long each simulation took; with =RUNS the least of so many runs
    #[arg(long, value_parser = count_u32, value_name = "RUNS", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    time: Option<NonZeroU32>,

    /// Serve the trace on this device by a small model: real keys, values and attention, every result compared. All requests
    /// come at once, and no other figures are made; the first 24 unless --first says otherwise
    #[arg(long, value_name = "DEVICE", conflicts_with_all = ["threads", "time", "audit", "max_running", "safety", "max_context", "step_us", "time_scale", "percentile_tokens", "exceed"])]
    device: Option<DeviceName>,

    /// Most tokens that a request makes on the device; the rest of its output is left out
    #[arg(long, value_name = "TOKENS", value_parser = count_u32, default_value = "16", requires = "device")]
    device_output: NonZeroU32,
}

/// Where nobody says how wide a line may be: four policies beside one another.
const USUAL_WIDTH: usize = 110;

/// What stands below the flags.
const HELP: &str = concat!(
    "\
Examples:
  kvledger replay                                    the sample, four policies side by side
  kvledger replay trace.jsonl --pool 24576 --safety 384 --json figures.json
  kvledger replay trace.csv --policy incremental --time-scale 1/4 --audit
  kvledger replay trace.jsonl --policy full --sharing off,live,retain --group one,tenant
  kvledger replay --device cpu --sharing retain      the kernels too: every result compared with a shadow

",
    formats!(),
    "\n\nExit codes: 0 done; 1 an invariant did not hold, or a result on the device differs; 2 the flags, the trace or the device \
     cannot be used."
);

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    args.case.check(&args.policy)?;
    output::is_no_input(args.json.as_deref(), &args.case.paths)?;
    if let Some(device) = args.device {
        let json = args.json.as_deref();
        let (policies, output_most) = (&args.policy[..], args.device_output.get());
        return kernels::serve::run(&kernels::serve::Request { device, case: &args.case, policies, output_most, json });
    }
    let trace = args.case.read()?;
    let outputs = Ranked::outputs(&trace);
    let cases = args.case.cases(&args.policy, &trace, &outputs);
    check_possible(&trace, &cases)?;
    let asked = match args.case.percentile_tokens {
        Some(PromisedOutput::OfTrace(percent)) => Some(percent),
        _ => None,
    };
    let labels: Vec<String> = cases.iter().map(|settings| label(settings, &outputs, asked)).collect();
    let replayed = replay(args, &trace, &cases, &labels)?;
    let statics = replay::statics(&trace, args.case.block_tokens.get(), cases[0].max_context);
    print(args, &trace, &statics, &labels, &replayed)
}

fn replay(args: &Args, trace: &Trace, cases: &[Settings], labels: &[String]) -> Result<Vec<Replayed>, Stop> {
    let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = args.threads.map_or_else(cores, NonZeroUsize::get);
    let through: Vec<AtomicU64> = cases.iter().map(|_| AtomicU64::new(0)).collect();
    let (runs, total) = (args.time.map_or(1, NonZeroU32::get), trace.requests.len() as u64);
    let results =
        progress::watch(labels, &through, total, || replay::replay_all(trace, cases, threads, runs, &through));
    let named =
        |(label, result): (&String, Result<Replayed, _>)| result.map_err(|failure| Stop::from(failure).of(label));
    labels.iter().zip(results).map(named).collect()
}

fn print(args: &Args, trace: &Trace, statics: &Statics, labels: &[String], replayed: &[Replayed]) -> Result<(), Stop> {
    let path = input::name(&args.case.paths);
    let columns: Vec<(&str, &Replayed)> = labels.iter().map(String::as_str).zip(replayed).collect();
    if let Some(file) = &args.json {
        let sim = columns.iter().map(|(label, replayed)| Case::new(label.to_string(), replayed)).collect();
        let document = document(args, trace, statics, path.clone(), sim)?;
        write_json(file, &document)?;
    }
    if args.json.as_deref() != Some(Path::new("-")) {
        let heading = Heading {
            trace: &path,
            format: trace.format.name(),
            dropped_rows: trace.dropped_rows,
            statics,
            settings: &replayed[0].settings,
            time_scale: args.case.time_scale.to_string(),
            times: args.time.is_some(),
        };
        write_out(&render(&heading, &columns, terminal::width_or(USUAL_WIDTH)))?;
    }
    Ok(())
}

fn document(args: &Args, trace: &Trace, statics: &Statics, path: String, sim: Vec<Case>) -> Result<Document, Stop> {
    let too_many = |many: TooMany| Stop::Usage(many.to_string());
    Ok(Document {
        format: trace.format.name(),
        path,
        dropped_rows: trace.dropped_rows,
        time_scale: args.case.time_scale.to_string(),
        tpot_us: args.case.step_us.get(),
        block: args.case.block_tokens.get(),
        max_ctx: statics.max_ctx,
        statics: statics.clone(),
        prefix: prefixes(trace, args.case.block_tokens, &args.case.group).map_err(too_many)?,
        lru: hits_by_capacity(trace, args.case.block_tokens).map_err(too_many)?,
        sim,
    })
}
