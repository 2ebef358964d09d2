//! `kvledger bench`: measures; and its subcommands, which show what was measured or do work that is to be counted.

mod cache;
mod count;
mod follow;
mod report;

use super::output::{can_be_written, write_file, write_out};
use super::values::{count_u32, count_u64};
use super::{Stop, input, terminal};
use crate::bench::workload::{self, Shape};
use crate::bench::{self, Batches, CANDIDATES, Effort, Occupancy, Part, Plan, Selection, Side, Slices, Subject};
use crate::sample;
use crate::trace::{self, Normalise, TimeScale};
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Measure on this machine: allocations beside what others use, admission, scheduler steps, a replay, and shared prefixes.
///
/// Everything runs in one process, candidates in turn. About three minutes; with --full every load, under 25 minutes.
/// Other work on the machine spoils the figures: the load average stands above them.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true, after_long_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    apart: Option<Apart>,

    #[command(flatten)]
    measure: Measure,
}

const EXAMPLES: &str = "Examples:
  kvledger bench --json figures.json
  kvledger bench --only allocators --peers mutex,bitmap-counted --threads 2 --loads 17
  kvledger bench --only workload --trace conversation.jsonl
  kvledger bench --full --json figures.json
  kvledger bench report figures.json --svg figures.svg

Exit codes: 0 measured, whatever came of the goals; 1 the replay or workload W failed, or a candidate broke; 2 the flags or the trace
cannot be used.";

#[derive(clap::Subcommand, Debug)]
enum Apart {
    Report(report::Args),
    Cache(cache::Args),
    Count(count::Args),
}

#[derive(clap::Args, Debug)]
struct Measure {
    /// Measure only these parts, separated by commas
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "allocators,runs,stopped,admission,step,replay,workload"
    )]
    only: Vec<Part>,

    /// Every load: pools of 2^10, 2^16 and 2^20 blocks, 50, 95 and 99.9 % held
    #[arg(long)]
    full: bool,

    /// Threads, separated by commas [default: 1,2,4,8; 1,2 for workload W]
    #[arg(long, value_parser = threads, value_delimiter = ',', value_name = "N")]
    threads: Vec<u32>,

    /// Only these peers, separated by commas [default: all]
    #[arg(long, value_parser = peers(), value_delimiter = ',', value_name = "NAME")]
    peers: Vec<String>,

    /// Blocks a batch, separated by commas: 1 to 1024, `mixed`, `growing` [default: 1,17,145,mixed,growing]
    #[arg(long, value_delimiter = ',', value_name = "LOAD")]
    loads: Vec<Batches>,

    /// Blocks of the pools, separated by commas [default: 65536]
    #[arg(long, value_parser = pool, value_delimiter = ',', value_name = "N")]
    pools: Vec<u32>,

    /// Per cent of the blocks that are held, separated by commas [default: 50,95]
    #[arg(long, value_delimiter = ',', value_name = "PERCENT")]
    occupancies: Vec<Occupancy>,

    /// The trace for the replay and for workload W [default: a small sample that comes with kvledger]
    #[arg(long, value_name = "PATH")]
    trace: Option<PathBuf>,

    /// A trace of so many requests that is made up here, in place of a file
    #[arg(long, value_parser = made, value_name = "REQUESTS", conflicts_with = "trace")]
    made: Option<usize>,

    /// Workload W: most requests that are live at once
    #[arg(long, value_parser = live, value_name = "K", default_value = "64")]
    workload_live: u32,

    /// Workload W: blocks of the pool
    #[arg(long, value_parser = pool, value_name = "N", default_value = "131072")]
    workload_pool: u32,

    /// Multiply its arrival times by this fraction: 1/4 makes the trace arrive four times as fast
    #[arg(long, value_name = "NUM/DEN", default_value = "1/4")]
    time_scale: TimeScale,

    /// Rounds, of which best and median are shown [default: 5; 3 with --full]
    #[arg(long, value_parser = count_u32, value_name = "N")]
    rounds: Option<NonZeroU32>,

    /// Milliseconds for which a candidate's throughput is measured in a round; single calls are timed for half as long
    #[arg(long, value_parser = count_u64, value_name = "MS", default_value = "20")]
    slice_ms: NonZeroU64,

    /// Scheduler steps to time
    #[arg(long, value_parser = count_u32, value_name = "N", default_value = "4000")]
    steps: NonZeroU32,

    /// Times to stop a thread of each candidate
    #[arg(long, value_parser = count_u32, value_name = "N", default_value = "200")]
    stops: NonZeroU32,

    /// Write the figures as JSON to FILE as well; `-` for standard output, in place of the tables
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Most threads: each holds a part of the pool.
const THREADS_MAX: u32 = 64;

fn threads(text: &str) -> Result<u32, String> {
    let threads = text.parse().ok().filter(|threads| (1..=THREADS_MAX).contains(threads));
    threads.ok_or_else(|| format!("give 1 to {THREADS_MAX} threads"))
}

/// Smallest and largest pool. The largest is as many sequences as a pool may have, of a block each.
const POOL_MIN: u32 = 64;
const POOL_MAX: u32 = 1 << 20;

fn pool(text: &str) -> Result<u32, String> {
    let blocks = text.parse().ok().filter(|blocks| (POOL_MIN..=POOL_MAX).contains(blocks));
    blocks.ok_or_else(|| format!("give {POOL_MIN} to {POOL_MAX} blocks"))
}

/// Most requests of a trace that is made up.
const MADE_MAX: usize = 1 << 20;

fn made(text: &str) -> Result<usize, String> {
    let requests = text.parse().ok().filter(|requests| (1..=MADE_MAX).contains(requests));
    requests.ok_or_else(|| format!("give 1 to {MADE_MAX} requests"))
}

/// Most requests that are live: each has a row as long as the longest of them.
const LIVE_MAX: u32 = 1 << 12;

fn live(text: &str) -> Result<u32, String> {
    let live = text.parse().ok().filter(|live| (1..=LIVE_MAX).contains(live));
    live.ok_or_else(|| format!("give 1 to {LIVE_MAX} requests"))
}

fn peers() -> PossibleValuesParser {
    let is_peer = |candidate: &&bench::Candidate| candidate.side == Side::Peer;
    PossibleValuesParser::new(CANDIDATES.iter().filter(is_peer).map(|candidate| candidate.key))
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    match &args.apart {
        Some(Apart::Report(args)) => report::run(args),
        Some(Apart::Cache(args)) => cache::run(args),
        Some(Apart::Count(args)) => count::run(args),
        None => measure(&args.measure),
    }
}

fn measure(args: &Measure) -> Result<(), Stop> {
    let plan = plan(args)?;
    if let Some(file) = &args.json {
        can_be_written("--json", file, args.trace.as_slice())?;
    }
    let subject = if plan.has(Part::Replay) || plan.has(Part::Workload) { Some(read(args)?) } else { None };
    end_on_panic();
    let follow = follow::Bar::new(plan.takes());
    let report = plan.run(subject.as_ref(), &|takes, what| follow.next(takes, what))?;
    follow.finish();
    match args.json.as_deref() {
        Some(file) if file == Path::new("-") => write_out(&report.to_json()),
        Some(file) => {
            write_file("--json", file, &report.to_json())?;
            write_out(&bench::show::text(&report, terminal::width()))
        }
        None => write_out(&bench::show::text(&report, terminal::width())),
    }
}

/// Threads wait for each other: one that dies (a candidate that is broken) would leave the others waiting for ever.
fn end_on_panic() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        usual(info);
        std::process::exit(1);
    }));
}

/// What the flags ask for. Errors: together they ask for nothing.
fn plan(args: &Measure) -> Result<Plan, Stop> {
    let mut selection = if args.full { Selection::full() } else { Selection::default() };
    let given = |list: &mut Vec<u32>, flag: &[u32]| {
        if !flag.is_empty() {
            *list = flag.to_vec();
        }
    };
    given(&mut selection.threads, &args.threads);
    given(&mut selection.pools, &args.pools);
    if !args.loads.is_empty() {
        selection.batches.clone_from(&args.loads);
    }
    if !args.occupancies.is_empty() {
        selection.occupancies.clone_from(&args.occupancies);
    }
    if !args.peers.is_empty() {
        selection.keep_peers(&args.peers);
    }
    // A part that is named twice is measured once.
    let parts: Vec<Part> = Part::value_variants().iter().filter(|part| args.only.contains(part)).copied().collect();
    if parts.contains(&Part::Allocators) && selection.loads().is_empty() {
        let mend = "give smaller --loads, larger --pools or fewer --threads";
        return Err(Stop::Usage(format!("no thread could hold two batches in any of these pools: {mend}")));
    }
    let throughput = Duration::from_millis(args.slice_ms.get());
    let slices = Slices { throughput, calls: throughput / 2 };
    let rounds = args.rounds.map_or(if args.full { 3 } else { 5 }, NonZeroU32::get);
    let effort = Effort { rounds, slices, steps: args.steps.get(), stops: args.stops.get() };
    let shape = Shape { live: args.workload_live, blocks: args.workload_pool, ..Shape::default() };
    let mut workload_threads = workload::THREADS.to_vec();
    given(&mut workload_threads, &args.threads);
    Ok(Plan { effort, parts, selection, shape, workload_threads })
}

/// The trace.
fn read(args: &Measure) -> Result<Subject, Stop> {
    let normalise = Normalise { first: None, time_scale: args.time_scale };
    if let Some(requests) = args.made {
        let name = format!("{requests} made-up requests");
        let text = sample::make(sample::SEED, requests);
        let trace = trace::load_text(&name, &text, Some(sample::ID_TOKENS), normalise);
        let trace = trace.map_err(|error| Stop::Usage(error.to_string()))?;
        return Ok(Subject { name, trace, is_sample: true, time_scale: args.time_scale });
    }
    let trace = input::read(args.trace.as_slice(), None, normalise)?;
    let name = match &args.trace {
        Some(path) => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
        None => input::name(&[]),
    };
    Ok(Subject { name, trace, is_sample: args.trace.is_none(), time_scale: args.time_scale })
}
