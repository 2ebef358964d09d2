//! `kvledger trace`.

use super::output::{are_different, can_be_written, write_file, write_json, write_out};
use super::values::{GroupRule, count_u32, count_usize, whole_u32};
use super::{Stop, formats, input, terminal};
use crate::census::{Census, Settings};
use crate::replay::Ranked;
use crate::report;
use crate::trace::{Format, Loading, Normalise, TimeScale, Trace};
use serde::Serialize;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};

/// Say what is in a serving trace: its format, rows that were dropped and why, lengths and arrivals, the blocks that it
/// fills, and the prefixes that its prompts share.
#[derive(clap::Args, Debug)]
#[command(after_long_help = HELP, allow_negative_numbers = true)]
pub struct Args {
    /// Trace files of one format, packed with gzip or not, `-` for standard input, or a folder of agent sessions; without
    /// any, the small sample that comes with kvledger
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The format: mooncake, bailian, azure, burstgpt, lengths, tokens, weka, servegen or generic [default: found by what is
    /// in the file]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Tokens that one id covers, where the file does not say so itself [default: as the format has it, 512 or 16 or 64]
    #[arg(long, alias = "id-tokens", value_parser = count_u32, value_name = "TOKENS")]
    ids_block_tokens: Option<NonZeroU32>,

    /// B, tokens in a block
    #[arg(long, value_parser = count_u32, value_name = "B", default_value = "16")]
    block_tokens: NonZeroU32,

    /// M, the region that a request would have without blocks; 0 for none [default: the next power of two from the longest
    /// in the trace on]
    #[arg(long, value_parser = whole_u32, value_name = "M")]
    max_context: Option<u32>,

    /// Multiply arrival times by this fraction: 1/8 makes the trace arrive eight times as fast
    #[arg(long, value_name = "NUM/DEN", default_value = "1/1")]
    time_scale: TimeScale,

    /// Look only at the first N requests to arrive
    #[arg(long, value_parser = count_usize, value_name = "N")]
    first: Option<NonZeroUsize>,

    /// Trust groups, inside which prompts are compared, separated by commas: `one`, `solo`, `tenant`, `idx:K`, `seg1:K`
    #[arg(long, value_name = "RULE", value_delimiter = ',', default_value = "one")]
    group: Vec<GroupRule>,

    /// Write the figures as JSON to FILE; `-` for standard output, in place of the tables
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Draw lengths and arrivals to FILE; `-` for standard output, in place of the tables
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// What stands below the flags.
const HELP: &str = concat!(
    formats!(),
    "

Examples:
  kvledger trace requests.csv.gz
  kvledger trace conversation.jsonl --block-tokens 64 --group one,tenant --json figures.json --svg lengths.svg
  zcat part-*.gz | kvledger trace - --format burstgpt

Percentile q of n values is the one at place (q n + 99) div 100, from 1, in
ascending order. Identical blocks are found by whole prefixes, exactly, not by hashes. A line of the trace at a time is
read; 56 bytes a request, 8 an id, and 28 to 56 for each different prefix of ids stay in memory.

Exit codes: 0 done; 2 the flags or the trace cannot be used."
);

/// The document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    path: &'a str,
    time_scale: String,
    block: u32,
    max_ctx: u32,
    #[serde(flatten)]
    census: &'a Census,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    check_outputs(args)?;
    let loading = Loading {
        format: args.format,
        id_tokens: args.ids_block_tokens.map(NonZeroU32::get),
        normalise: Normalise { first: args.first.map(NonZeroUsize::get), time_scale: args.time_scale },
    };
    let trace = input::read_as(&args.paths, &loading)?;
    let settings =
        Settings { block_tokens: args.block_tokens, max_context: args.max_context, groups: args.group.clone() };
    let name = input::name(&args.paths);
    let census = Census::of(&trace, &settings).map_err(|error| Stop::Usage(format!("{name}: {error}")))?;
    print(args, &name, &trace, &census)
}

/// Each file can be written, none is the trace, and no two are one.
fn check_outputs(args: &Args) -> Result<(), Stop> {
    let outputs: Vec<(&str, &Path)> = [("--json", args.json.as_deref()), ("--svg", args.svg.as_deref())]
        .into_iter()
        .filter_map(|(flag, file)| Some((flag, file?)))
        .collect();
    for (flag, file) in &outputs {
        can_be_written(flag, file, &args.paths)?;
    }
    are_different(&outputs)
}

fn print(args: &Args, name: &str, trace: &Trace, census: &Census) -> Result<(), Stop> {
    if let Some(file) = &args.json {
        let (time_scale, max_ctx) = (args.time_scale.to_string(), census.statics.max_ctx);
        write_json(file, &Document { path: name, time_scale, block: args.block_tokens.get(), max_ctx, census })?;
    }
    if let Some(file) = &args.svg {
        let (prompts, outputs) = (Ranked::prompts(trace), Ranked::outputs(trace));
        write_file("--svg", file, &report::picture(name, census, &prompts, &outputs))?;
    }
    if [&args.json, &args.svg].iter().any(|file| file.as_deref() == Some(Path::new("-"))) {
        return Ok(());
    }
    write_out(&report::census(name, census, terminal::width()))
}
