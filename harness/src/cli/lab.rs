//! `kvledger lab`.

use super::output::{self, write_json, write_out};
use super::values::{count_u32, whole_u32};
use super::{Stop, terminal};
use crate::lab::ledger::{STORY, Script};
use crate::lab::{Contiguous, Forecast, Prefix, Question};
use crate::planning::Bytes;
use clap::Subcommand;
use kvledger_core::Refusal;
use kvledger_core::plan::{Element, Geometry};
use serde::Serialize;
use std::io::Read;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// Try the arithmetic by hand: forecasts, the ledger, shared prefixes, contiguous regions.
///
/// Without flags each lab shows an example whose numbers are known.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    lab: Lab,

    /// Write the figures as JSON to FILE; `-` for standard output, in place of the text
    #[arg(long, value_name = "FILE", global = true)]
    json: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  kvledger lab forecast --requests 20 --probability 0.1
  kvledger lab ledger                      the story of forty blocks
  kvledger lab ledger my.script            your own operations, or - for standard input
  kvledger lab prefix --requests 8 --groups 8
  kvledger lab contiguous --lengths 33 --block-tokens 16

Exit codes: 0 done; 1 an expectation of a script does not hold; 2 the flags or the script cannot be used.";

#[derive(Subcommand, Debug)]
enum Lab {
    Forecast(ForecastArgs),
    Ledger(LedgerArgs),
    Prefix(PrefixArgs),
    Contiguous(ContiguousArgs),
}

/// How many of n requests exceed a forecast that each exceeds with probability p: the exact binomial distribution.
#[derive(clap::Args, Debug)]
#[command(
    after_long_help = "Example: kvledger lab forecast --requests 20 --probability 0.05 --count 2\n\nExit codes: 0 done; 2 the flags cannot be used."
)]
struct ForecastArgs {
    /// n, requests, at most 1048576
    #[arg(long, short = 'n', value_parser = whole_u32, value_name = "N", default_value = "20")]
    requests: u32,

    /// p, from 0 to 1
    #[arg(long, short = 'p', value_name = "P", default_value = "0.05")]
    probability: f64,

    /// k, for P(exactly k) and P(at least k)
    #[arg(long, short = 'k', value_parser = whole_u32, value_name = "K", default_value = "1")]
    count: u32,
}

/// Operations through a real pool, and what is committed, promised and kept safe after each.
#[derive(clap::Args, Debug)]
#[command(after_long_help = SCRIPT, after_help = "--help says how a script is written.")]
struct LedgerArgs {
    /// The script, `-` for standard input; without one, the story of forty blocks
    #[arg(value_name = "SCRIPT")]
    script: Option<PathBuf>,

    /// Print the script instead of running it: a place to begin
    #[arg(long)]
    print: bool,
}

const SCRIPT: &str = "\
A script has one operation a line; # begins a comment. Names are yours. A refusal is an answer, not an error.
  pool BLOCKS [safety S] [block TOKENS] [sequences N] [width BLOCKS] [rows 1|2] [groups N] [accounts N] [streams N]
       [epochs N]                        first, or a pool of 40 blocks of 1 token
  open NAME                              admit NAME PROMPT OUTPUT [blocks N] [watermark N] [group N] [account NAME]
  advance NAME TOKENS                    grow NAME TOKENS [watermark N]   (asks for what is not promised)
  materialize NAME BLOCKS                extend, shrink, draw NAME BLOCKS   (draw: from the safety margin)
  submit NAME [stream N]                 complete NAME [failed]
  cancel NAME                            end NAME, preempt NAME
  safety BLOCKS                          quota GROUP BLOCKS
  account NAME TOTAL [group N]           total NAME BLOCKS, close NAME
  reclaim BLOCKS
  expect KEY=VALUE...                    A, R, S, used, headroom, free, retiring, sequences; answer=WOULD_BLOCK

Example: kvledger lab ledger --print > my.script && kvledger lab ledger my.script

Exit codes: 0 done; 1 an expectation does not hold; 2 the flags or the script cannot be used.";

/// Requests with a common beginning: the blocks they hold by trust group, and which of them fit.
#[derive(clap::Args, Debug)]
#[command(
    after_long_help = "Example: kvledger lab prefix --requests 8 --groups 8 --pool 256\n\nExit codes: 0 done; 2 the flags cannot be used."
)]
struct PrefixArgs {
    /// Requests, in order of arrival
    #[arg(long, value_parser = whole_u32, value_name = "N", default_value = "8")]
    requests: u32,

    /// Tokens that all begin with
    #[arg(long, value_parser = whole_u32, value_name = "TOKENS", default_value = "2048")]
    prefix: u32,

    /// Tokens of a prompt, the common ones included [default: the common ones]
    #[arg(long, value_parser = whole_u32, value_name = "TOKENS")]
    prompt: Option<u32>,

    /// Most tokens that a request generates
    #[arg(long, value_parser = whole_u32, value_name = "TOKENS", default_value = "257")]
    output: u32,

    /// Trust groups; request i is of group i mod GROUPS
    #[arg(long, value_parser = count_u32, value_name = "GROUPS", default_value = "1")]
    groups: NonZeroU32,

    /// N, blocks in the pool [default: what fits in --pool-memory]
    #[arg(long, value_parser = whole_u32, value_name = "N", conflicts_with = "pool_memory")]
    pool: Option<u32>,

    /// Memory of the pool
    #[arg(long, value_name = "SIZE", default_value = "512MiB")]
    pool_memory: Bytes,

    /// B, tokens in a block
    #[arg(long, value_parser = count_u32, value_name = "B", default_value = "16")]
    block_tokens: NonZeroU32,

    /// Layers of the model, in bf16
    #[arg(long, value_parser = count_u32, value_name = "N", default_value = "32")]
    layers: NonZeroU32,

    /// KV heads of a layer
    #[arg(long, value_parser = count_u32, value_name = "N", default_value = "8")]
    kv_heads: NonZeroU32,

    /// Elements of a key and of a value
    #[arg(long, value_parser = count_u32, value_name = "N", default_value = "128")]
    head_dim: NonZeroU32,
}

/// One region of the longest length for each sequence, beside blocks for the tokens that are there.
#[derive(clap::Args, Debug)]
#[command(
    after_long_help = "Example: kvledger lab contiguous --max 100 --lengths 20,35,10 --pool-slots 400\n\nExit codes: 0 done; 2 the flags cannot be used."
)]
struct ContiguousArgs {
    /// Tokens of each sequence so far, separated by commas
    #[arg(long, value_parser = whole_u32, value_delimiter = ',', value_name = "TOKENS", default_value = "20,35,10")]
    lengths: Vec<u32>,

    /// Tokens of a region: the longest that a sequence may become
    #[arg(long, value_parser = count_u32, value_name = "TOKENS", default_value = "100")]
    max: NonZeroU32,

    /// Token slots of the pool
    #[arg(long, value_parser = whole_u32, value_name = "SLOTS", default_value = "400")]
    pool_slots: u32,

    /// B, tokens in a block
    #[arg(long, value_parser = count_u32, value_name = "B", default_value = "16")]
    block_tokens: NonZeroU32,

    /// Most tokens that still come to each
    #[arg(long, value_parser = whole_u32, value_name = "TOKENS", default_value = "10")]
    more: u32,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    let inputs = match &args.lab {
        Lab::Ledger(LedgerArgs { script: Some(script), .. }) => std::slice::from_ref(script),
        _ => &[],
    };
    if let Some(file) = &args.json {
        if matches!(args.lab, Lab::Ledger(LedgerArgs { print: true, .. })) {
            return Err(Stop::Usage("--json: --print shows a script, which has no figures; leave one out".to_string()));
        }
        output::can_be_written("--json", file, inputs)?;
    }
    match &args.lab {
        Lab::Forecast(lab) => forecast(args, lab),
        Lab::Ledger(lab) => ledger(args, lab),
        Lab::Prefix(lab) => prefix(args, lab),
        Lab::Contiguous(lab) => contiguous(args, lab),
    }
}

/// The figures as JSON where that was asked for, and as text unless JSON goes there.
fn show(args: &Args, document: &impl Serialize, text: impl FnOnce(usize) -> String) -> Result<(), Stop> {
    if let Some(file) = &args.json {
        write_json(file, document)?;
    }
    if args.json.as_deref() == Some(Path::new("-")) { Ok(()) } else { write_out(&text(terminal::width())) }
}

fn forecast(args: &Args, lab: &ForecastArgs) -> Result<(), Stop> {
    let ForecastArgs { requests, probability, count } = *lab;
    let forecast = Forecast::new(requests, probability, count).ok_or_else(|| {
        Stop::Usage(format!(
            "--requests {requests} --probability {probability} --count {count}: give at most 1048576 requests, a \
             probability from 0 to 1, and a count of at most as many as there are requests"
        ))
    })?;
    show(args, &forecast, |width| forecast.text(width))
}

fn ledger(args: &Args, lab: &LedgerArgs) -> Result<(), Stop> {
    let (name, text) = match &lab.script {
        None => ("the story".to_string(), STORY.to_string()),
        Some(file) => (file.display().to_string(), read(file)?),
    };
    if lab.print {
        return write_out(&text);
    }
    let script = Script::parse(&text).and_then(|script| script.run());
    let run = script.map_err(|error| Stop::Usage(format!("{name}, {error}")))?;
    show(args, &run, |width| run.text(width))?;
    run.failed.map_or(Ok(()), |what| Err(Stop::Failed(format!("{name}, {what}"))))
}

fn read(file: &Path) -> Result<String, Stop> {
    let text = if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(file)
    };
    text.map_err(|error| Stop::Usage(format!("{}: cannot be read: {error}; give a script", file.display())))
}

fn prefix(args: &Args, lab: &PrefixArgs) -> Result<(), Stop> {
    let block_tokens = lab.block_tokens.get();
    let (layers, heads, dim) = (lab.layers.get(), lab.kv_heads.get(), lab.head_dim.get());
    let geometry = Geometry::new(layers, heads, dim, block_tokens, Element::Bf16);
    let in_memory = || {
        let shape = |refusal| refused("--layers, --kv-heads, --head-dim and --block-tokens", refusal);
        geometry.pool_blocks(lab.pool_memory.0).map(u64::from).map_err(shape)
    };
    let question = Question {
        requests: lab.requests,
        prefix: lab.prefix,
        prompt: lab.prompt.unwrap_or(lab.prefix),
        output: lab.output,
        groups: lab.groups.get(),
        pool_blocks: lab.pool.map_or_else(in_memory, |blocks| Ok(u64::from(blocks)))?,
        block_tokens,
    };
    if question.prompt < question.prefix {
        return Err(Stop::Usage(format!(
            "--prompt {}: it has the --prefix of {} tokens; give at least as many",
            question.prompt, question.prefix
        )));
    }
    if question.requests > 4096 {
        return Err(Stop::Usage(format!("--requests {}: each is shown; give at most 4096", question.requests)));
    }
    let mend = |refusal| refused("--prefix, --prompt and --output", refusal);
    let prefix = Prefix::new(&question).map_err(mend)?;
    let text = prefix.text(&question, &geometry, terminal::width()).map_err(mend)?;
    show(args, &prefix, |_| text)
}

fn contiguous(args: &Args, lab: &ContiguousArgs) -> Result<(), Stop> {
    let (max, block_tokens) = (lab.max.get(), lab.block_tokens.get());
    let figures = Contiguous::new(&lab.lengths, max, u64::from(lab.pool_slots), block_tokens, lab.more);
    let figures = figures.map_err(|refusal| {
        let longest = lab.lengths.iter().max().copied().unwrap_or(0);
        if longest > max {
            Stop::Usage(format!("--lengths: {longest} is above --max {max}; raise --max, or give shorter ones"))
        } else {
            refused("--lengths", refusal)
        }
    })?;
    show(args, &figures, |width| figures.text(width))
}

fn refused(flags: &str, refusal: Refusal) -> Stop {
    Stop::Usage(format!("{flags}: {refusal}; give other numbers"))
}
