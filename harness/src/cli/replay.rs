//! `kvledger replay`.

use super::output::{self, write_json, write_out};
use super::values::{ExceedName, GroupRule, PolicyName, PromisedOutput, Sharing};
use super::values::{count_u32, count_u64, count_usize, pool, whole_u32};
use super::{Stop, formats, input, progress};
use crate::replay::{self, Policy, PoolSize, Ranked, Replayed, Settings, Statics};
use crate::report::{Case, Document, Heading, label, render};
use crate::trace::{Format, Loading, Normalise, TimeScale, Trace};
use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

/// Replay a serving trace through the real pool and ledger, and say what each admission policy makes of it.
///
/// The service model is simple on purpose: one token a step for every running request, prompts cost no step, requests are
/// admitted in order of arrival and nobody overtakes.
#[derive(clap::Args, Debug)]
#[command(after_long_help = HELP, allow_negative_numbers = true)]
pub struct Args {
    /// Trace files of one format, packed with gzip or not, `-` for standard input, or a folder of agent sessions; without
    /// any, a small sample that comes with kvledger
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The format of the trace: mooncake, bailian, azure, burstgpt, lengths, tokens, weka, servegen or generic [default:
    /// found by what is in the file]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Admission policies, separated by commas, side by side
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all")]
    policy: Vec<PolicyName>,

    /// N, blocks in the pool: a number or `unlimited`
    #[arg(long, value_name = "N", value_parser = pool, default_value = "8192")]
    pool: PoolSize,

    /// S, blocks that admission leaves alone [default: a 64th of the pool]
    #[arg(long, value_parser = whole_u32, value_name = "S")]
    safety: Option<u32>,

    /// B, tokens in a block
    #[arg(long, value_parser = count_u32, value_name = "B", default_value = "16")]
    block_tokens: NonZeroU32,

    /// M, longest prompt and output together; 0 for none [default: the next power of two from the longest in the trace on]
    #[arg(long, value_parser = whole_u32, value_name = "M")]
    max_context: Option<u32>,

    /// Length of a step in microseconds
    #[arg(long, value_parser = count_u64, value_name = "US", default_value = "20000")]
    step_us: NonZeroU64,

    /// Multiply arrival times by this fraction: 1/8 makes the trace arrive eight times as fast
    #[arg(long, value_name = "NUM/DEN", default_value = "1/1")]
    time_scale: TimeScale,

    /// Replay only the first N requests to arrive
    #[arg(long, value_parser = count_usize, value_name = "N")]
    first: Option<NonZeroUsize>,

    /// Whether requests share blocks of equal prefixes (only `off` is there yet)
    #[arg(long, value_enum, default_value = "off")]
    sharing: Sharing,

    /// Trust groups, inside which blocks are shared: `one`, `solo`, `tenant`, `idx:K` or `seg1:K`
    #[arg(long, value_name = "RULE", default_value = "one")]
    group: GroupRule,

    /// Q, tokens of output that `percentile` promises: a number, or `p95` for that percentile of the trace's own outputs
    /// [default with --policy all: p95]
    #[arg(long, value_name = "Q")]
    percentile_tokens: Option<PromisedOutput>,

    /// What `percentile` does when a promise is used up and no more can be promised
    #[arg(long, value_enum, default_value = "preempt_self")]
    exceed: ExceedName,

    /// Most requests that run at once; 0 for no limit
    #[arg(long, value_parser = whole_u32, value_name = "N", default_value = "0")]
    max_running: u32,

    /// Tokens that one id covers, where the file does not say so itself [default: as the format has it, 512 or 16 or 64]
    #[arg(long, alias = "id-tokens", value_parser = count_u32, value_name = "TOKENS")]
    ids_block_tokens: Option<NonZeroU32>,

    /// After admission, growth and ends of every step, compare the pool's counts, words, rows and promises with one
    /// another (`Pool::validate`: I1, I2, I4, I8) and with the replay's own; skips no step, and is slow
    #[arg(long)]
    audit: bool,

    /// Write the figures as JSON to FILE; `-` for standard output, in place of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Replay so many policies at the same time [default: the number of cores]
    #[arg(long, value_parser = count_usize, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Show how long each simulation took; with =RUNS the least of so many runs
    #[arg(long, value_parser = count_u32, value_name = "RUNS", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    time: Option<NonZeroU32>,
}

/// What stands below the flags.
const HELP: &str = concat!(
    formats!(),
    "\n\nExit codes: 0 done; 1 an invariant did not hold; 2 the flags or the trace cannot be used."
);

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    if args.sharing != Sharing::Off {
        let name = format!("{:?}", args.sharing).to_lowercase();
        return Err(Stop::Usage(format!(
            "--sharing {name}: sharing blocks between requests is not there yet; give --sharing off"
        )));
    }
    check_percentile(args)?;
    let normalise = Normalise { first: args.first.map(NonZeroUsize::get), time_scale: args.time_scale };
    output::is_no_input(args.json.as_deref(), &args.paths)?;
    let id_tokens = args.ids_block_tokens.map(NonZeroU32::get);
    let trace = input::read_as(&args.paths, &Loading { format: args.format, id_tokens, normalise })?;
    let outputs = Ranked::outputs(&trace);
    let cases = cases(args, &trace, &outputs);
    check_possible(&trace, &cases)?;
    let asked = match args.percentile_tokens {
        Some(PromisedOutput::OfTrace(percent)) => Some(percent),
        _ => None,
    };
    let labels: Vec<String> = cases.iter().map(|settings| label(settings, &outputs, asked)).collect();
    let replayed = replay(args, &trace, &cases, &labels)?;
    let statics = replay::statics(&trace, args.block_tokens.get(), cases[0].max_context);
    print(args, &trace, &statics, &labels, &replayed)
}

fn check_percentile(args: &Args) -> Result<(), Stop> {
    let named = args.policy.contains(&PolicyName::Percentile) && !args.policy.contains(&PolicyName::All);
    if named && args.percentile_tokens.is_none() {
        return Err(Stop::Usage(
            "--policy percentile needs to know how much to promise: give --percentile-tokens Q in tokens, \
             or as p95 for that percentile of the trace's own outputs"
                .to_string(),
        ));
    }
    Ok(())
}

/// The settings of each case, in the order in which the policies are named.
fn cases(args: &Args, trace: &Trace, outputs: &Ranked) -> Vec<Settings> {
    let safety = args.safety.unwrap_or(match args.pool {
        PoolSize::Blocks(blocks) => blocks / 64,
        PoolSize::Unlimited => 0,
    });
    let of_policy = |policy| Settings {
        policy,
        pool: args.pool,
        safety,
        block_tokens: args.block_tokens.get(),
        max_context: args.max_context.unwrap_or_else(|| replay::usual_context(trace)),
        step_us: args.step_us.get(),
        max_running: args.max_running,
        audit: args.audit,
    };
    let q_tokens = match args.percentile_tokens.unwrap_or(PromisedOutput::OfTrace(95)) {
        PromisedOutput::Tokens(tokens) => tokens,
        PromisedOutput::OfTrace(percent) => outputs.percentile(percent),
    };
    let percentile = Policy::Percentile { q_tokens, exceed: args.exceed.into() };
    let mut cases: Vec<Settings> = Vec::new();
    for name in &args.policy {
        let policies = match name {
            PolicyName::Contig => &[Policy::Contig][..],
            PolicyName::Full => &[Policy::Full],
            PolicyName::Incremental => &[Policy::Incremental],
            PolicyName::Percentile => &[percentile],
            PolicyName::All => &[Policy::Contig, Policy::Full, Policy::Incremental, percentile],
        };
        for &policy in policies {
            if !cases.iter().any(|case| case.policy == policy) {
                cases.push(of_policy(policy));
            }
        }
    }
    cases
}

/// Refuses settings under which nothing could ever be admitted, in any of the cases.
fn check_possible(trace: &Trace, cases: &[Settings]) -> Result<(), Stop> {
    let requests = trace.requests.len() as u64;
    let mut first_message = None;
    for settings in cases {
        let (context, pool) = replay::rejections(trace, settings)?;
        if context + pool < requests {
            return Ok(());
        }
        first_message.get_or_insert_with(|| impossible(settings, pool > 0));
    }
    Err(Stop::Usage(first_message.unwrap_or_default()))
}

fn impossible(settings: &Settings, for_pool: bool) -> String {
    let policy = settings.policy.name();
    if !for_pool {
        return format!(
            "--max-context {}: every request is longer; raise it, or give 0 for no limit",
            settings.max_context
        );
    }
    format!(
        "--policy {policy} promises every request more than the {} blocks that --pool {} leaves above --safety {}; raise \
         --pool, or lower --safety{}",
        match settings.pool {
            PoolSize::Blocks(blocks) => blocks - settings.safety,
            PoolSize::Unlimited => 0,
        },
        settings.pool,
        settings.safety,
        match settings.policy {
            Policy::Contig => format!(" or --max-context {}", settings.max_context),
            Policy::Percentile { q_tokens, .. } => format!(" or --percentile-tokens {q_tokens}"),
            Policy::Full | Policy::Incremental => String::new(),
        }
    )
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
    let path = input::name(&args.paths);
    let columns: Vec<(&str, &Replayed)> = labels.iter().map(String::as_str).zip(replayed).collect();
    if let Some(file) = &args.json {
        let sim = columns.iter().map(|(label, replayed)| Case::new(label.to_string(), replayed)).collect();
        let document = document(args, trace, statics, path.clone(), sim);
        write_json(file, &document)?;
    }
    if args.json.as_deref() != Some(Path::new("-")) {
        let heading = Heading {
            trace: &path,
            format: trace.format.name(),
            dropped_rows: trace.dropped_rows,
            statics,
            settings: &replayed[0].settings,
            time_scale: args.time_scale.to_string(),
            times: args.time.is_some(),
        };
        write_out(&render(&heading, &columns))?;
    }
    Ok(())
}

fn document(args: &Args, trace: &Trace, statics: &Statics, path: String, sim: Vec<Case>) -> Document {
    Document {
        format: trace.format.name(),
        path,
        dropped_rows: trace.dropped_rows,
        time_scale: args.time_scale.to_string(),
        tpot_us: args.step_us.get(),
        block: args.block_tokens.get(),
        max_ctx: statics.max_ctx,
        statics: statics.clone(),
        prefix: BTreeMap::new(),
        lru: Vec::new(),
        sim,
    }
}
