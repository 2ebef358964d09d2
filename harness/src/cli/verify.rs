//! `kvledger verify`.

use super::Stop;
use super::kernels::verify::Request;
use super::kernels::{self, DeviceName};
use super::output::{are_different, can_be_written, write_json, write_out};
use super::values::whole_u64;
use crate::kernels::make::Kernel;
use crate::recording;
use crate::report::grouped;
use crate::verify::{self, Failure, Settings, Shortened, Verified, answers, counted};
use indicatif::{ProgressBar, ProgressStyle};
use kvledger_core::PoolConfig;
use kvledger_core::model::{Comparison, Difference, Operation, Tally};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::thread;

/// Random operations against the pool and against its obvious model; every observer is compared after each.
///
/// Where they differ, the fewest operations that still show it are printed, and how to repeat it.
///
/// With --device, kernels instead: published faults and random cases, compared with references in binary64, or bit for bit.
#[derive(clap::Args, Debug)]
#[command(after_long_help = HELP)]
pub struct Args {
    /// Operations in all
    #[arg(long, value_name = "COUNT", default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(conflicts_with = "device")]
    operations: u64,

    /// Verify kernels on this device, in place of the pool
    #[arg(long, value_name = "DEVICE")]
    device: Option<DeviceName>,

    /// Which kernels, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "device")]
    kernel: Vec<Kernel>,

    /// Random cases of each kernel; 0: only published faults [default: 100 to 400, by kernel]
    #[arg(long, value_name = "COUNT", requires = "device")]
    cases: Option<u32>,

    /// The seed; 0 draws one from the clock. It is printed either way
    #[arg(long, value_name = "NUMBER", value_parser = whole_u64, default_value = "0")]
    seed: u64,

    /// Threads, at most 1024 [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Where the calls of a failure go, for `kvledger rerun` [default: kvledger-verify-SEED.kvl in the current folder]
    #[arg(long, value_name = "FILE", conflicts_with = "device")]
    record: Option<PathBuf>,

    /// Write the result as JSON to FILE; `-` for standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What stands below the flags.
const HELP: &str = "\
Examples:
  kvledger verify                                    ten million operations on all cores, a new seed
  kvledger verify --operations 200000000 --threads 2 --json verified.json
  kvledger verify --seed 1234 --operations 1000      the episode of this seed again
  kvledger verify --device cpu                       all kernels on the CPU device
  kvledger verify --device cuda --kernel attend,merge --cases 50

Exit codes: 0 pool and model agree after each operation, or every case of a kernel is right; 1 they differ, or nothing has
been shown; 2 the flags cannot be used, or there is no such device.";

/// The result for programs.
#[derive(Serialize)]
struct Document<'a> {
    seed: u64,
    threads: usize,
    /// Operations that were asked for.
    operations: u64,
    /// Whether pool and model agree after each of them.
    agree: bool,
    /// How often each operation got each answer; empty unless they agree.
    answers: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    /// What failed.
    failure: Option<String>,
    /// The episode that does, if one does: its seed, its pool, and the fewest operations that still show it.
    episode: Option<Episode<'a>>,
}

#[derive(Serialize)]
struct Episode<'a> {
    seed: u64,
    pool: String,
    operations: Vec<String>,
    differs: &'a str,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    if let Some(device) = args.device {
        let Args { kernel, cases, seed, threads, .. } = args;
        let seed = if *seed == 0 { seed_from_clock() } else { *seed };
        let json = args.json.as_deref();
        return kernels::verify::run(&Request {
            device,
            kernels: kernel,
            cases: *cases,
            seed,
            threads: *threads,
            json,
        });
    }
    if let Some(file) = &args.record {
        if file == Path::new("-") {
            return Err(Stop::Usage("--record -: a record is not text; give a file".to_string()));
        }
        can_be_written("--record", file, &[])?;
    }
    if let Some(json) = &args.json {
        can_be_written("--json", json, &[])?;
        if let Some(record) = &args.record {
            are_different(&[("--record", record), ("--json", json)])?;
        }
    }
    if args.json.as_deref() == Some(Path::new("-")) {
        return verify(args, Comparison::run, &mut |_| Ok(()));
    }
    verify(args, Comparison::run, &mut write_out)
}

/// The command with another comparison and another place for what it says: tests need both.
fn verify<C>(args: &Args, compare: C, say: &mut dyn FnMut(&str) -> Result<(), Stop>) -> Result<(), Stop>
where
    C: Fn(&PoolConfig, &[Operation]) -> Result<Tally, Difference> + Sync,
{
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let threads = args.threads.map_or_else(cores, usize::from);
    let seed = if args.seed == 0 { seed_from_clock() } else { args.seed };
    // Before anything else, so that it is known whatever happens.
    say(&format!("verify: {} operations, seed {seed}, {threads} threads\n", grouped(args.operations)))?;
    let bar = progress(args.operations);
    let settings = Settings { operations: args.operations, seed, threads };
    let outcome = verify::run(settings, compare, |done| bar.set_position(done));
    bar.finish_and_clear();
    if let Some(file) = &args.json {
        write_json(file, &Document::new(&settings, &outcome))?;
    }
    match outcome {
        Ok(verified) => say(&format!(
            "pool and model agree after each of {} operations; the answers were:\n{}",
            grouped(verified.operations),
            answers(&verified.tally)
        )),
        Err(failure) => {
            let Failure::Differs(short) = &failure else { return Err(Stop::Failed(failure.to_string())) };
            say(&short.listing())?;
            Err(Stop::Failed(format!("{failure}; {}", keep(args, short))))
        }
    }
}

impl Document<'_> {
    fn new<'a>(settings: &Settings, outcome: &'a Result<Verified, Failure>) -> Document<'a> {
        let Settings { operations, seed, threads } = *settings;
        let episode = |short: &'a Shortened| Episode {
            seed: short.seed,
            pool: format!("{:?}", short.config),
            operations: short.operations.iter().map(|operation| format!("{operation:?}")).collect(),
            differs: &short.what,
        };
        Document {
            seed,
            threads,
            operations,
            agree: outcome.is_ok(),
            answers: outcome.as_ref().map_or_else(|_| BTreeMap::new(), |verified| counted(&verified.tally)),
            failure: outcome.as_ref().err().map(Failure::to_string),
            episode: match outcome {
                Err(Failure::Differs(short)) => Some(episode(short)),
                _ => None,
            },
        }
    }
}

/// Writes the calls of a failure to a file; how to make them again, or why that cannot be.
fn keep(args: &Args, short: &Shortened) -> String {
    let usual = || PathBuf::from(format!("kvledger-verify-{}.kvl", short.seed));
    let file = args.record.clone().unwrap_or_else(usual);
    match recording::write(&file, &short.record) {
        Ok(()) => format!("its calls are in {0}: kvledger rerun --model {0}", file.display()),
        Err(error) => format!("its calls cannot be written to {}: {error}", file.display()),
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
    use kvledger_core::recorder::Dump;

    /// What came of the command.
    struct Ran {
        outcome: Result<(), Stop>,
        said: String,
        /// The words of its record.
        record: Option<Vec<u64>>,
        document: serde_json::Value,
    }

    /// Runs the command with `compare`.
    fn verified<C>(operations: u64, compare: C) -> Ran
    where
        C: Fn(&PoolConfig, &[Operation]) -> Result<Tally, Difference> + Sync,
    {
        let mut said = String::new();
        let mut say = |text: &str| {
            said += text;
            Ok(())
        };
        let file = std::env::temp_dir().join(format!("kvledger-verify-{}-{operations}.kvl", std::process::id()));
        let json = file.with_extension("json");
        let args = Args {
            operations,
            seed: 11,
            threads: Some(2),
            record: Some(file.clone()),
            json: Some(json.clone()),
            ..none()
        };
        let outcome = verify(&args, compare, &mut say);
        let record = recording::read(&file).ok();
        let document = std::fs::read(&json).expect("it is always written");
        let document = serde_json::from_slice(&document).expect("JSON");
        let _ = (std::fs::remove_file(&file), std::fs::remove_file(&json));
        Ran { outcome, said, record, document }
    }

    /// No flag.
    fn none() -> Args {
        let (device, kernel, cases, threads, record, json) = (None, Vec::new(), None, None, None, None);
        Args { operations: 1, device, kernel, cases, seed: 0, threads, record, json }
    }

    /// A model that knows no way to cancel an open sequence.
    fn without_cancel(config: &PoolConfig, list: &[Operation]) -> Result<Tally, Difference> {
        for (index, &operation) in list.iter().enumerate() {
            if Comparison::run(config, &list[..=index])?.0.contains_key(&("cancel", 0)) {
                let what = "cancel: pool Ok(Done), model Err(Stale)".to_string();
                return Err(Difference { operation: Some((index, operation)), what });
            }
        }
        Comparison::run(config, list)
    }

    #[test]
    fn a_wrong_model_fails_the_command_with_few_operations() {
        let Ran { outcome, said, record, document } = verified(3 * EPISODE, without_cancel);
        let Err(stop) = outcome else { panic!("it must fail:\n{said}") };
        assert_eq!(stop.code(), 1);
        let message = stop.to_string();
        assert!(message.contains("operation 1 (Cancel") && message.contains("model Err(Stale)"), "{message}");
        // All three episodes cancel something, whichever thread sees it first; the first is told.
        assert!(message.contains(&format!("--seed 11 --operations {EPISODE}")), "{message}");
        assert!(message.contains("kvledger rerun --model"), "{message}");
        assert_eq!((&document["agree"], &document["episode"]["seed"]), (&false.into(), &11.into()), "{document}");
        assert_eq!(document["episode"]["operations"].as_array().map(Vec::len), Some(2), "{document}");
        let mut record = record.expect("it was written");
        let dump = Dump::read(&mut record).expect("a dump");
        let calls: Vec<_> = dump.newest_first().map(|record| record.expect("whole").call.name()).collect();
        assert_eq!(calls, ["cancel", "open"]);
        let lines: Vec<&str> = said.lines().collect();
        assert!(
            lines[0].ends_with("seed 11, 2 threads") && lines[1].starts_with("episode seed 11, PoolConfig"),
            "{said}"
        );
        assert!(lines[2].contains("0 Open") && lines[3].contains("1 Cancel") && lines.len() == 4, "{said}");
    }

    #[test]
    fn the_right_model_is_agreed_with_and_every_operation_counted() {
        let Ran { outcome, said, record, document } = verified(2 * EPISODE + 1, Comparison::run);
        assert_eq!((outcome, record), (Ok(()), None), "nothing is left when all is well");
        assert!(said.contains("after each of 2,001 operations") && said.contains("\n  cancel "), "{said}");
        assert_eq!((&document["agree"], &document["failure"]), (&true.into(), &serde_json::Value::Null));
        let of_each = document["answers"].as_object().expect("an object").values();
        let counts = of_each.flat_map(|answers| answers.as_object().expect("an object").values());
        assert_eq!(counts.filter_map(serde_json::Value::as_u64).sum::<u64>(), 2 * EPISODE + 1, "{document}");
    }

    #[test]
    fn who_stops_reading_stops_the_command() {
        let closed = Stop::Usage("standard output: closed".to_string());
        let mut say = |_: &str| Err(closed.clone());
        let args = Args { operations: 1, seed: 1, threads: Some(1), ..none() };
        assert_eq!(verify(&args, Comparison::run, &mut say), Err(closed.clone()));
    }
}
