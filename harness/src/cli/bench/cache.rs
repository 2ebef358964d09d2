//! `kvledger bench cache`.

use crate::cache::{Accesses, Belady, Hits, Lru, Policy, S3Fifo, Sieve, hits};
use crate::cli::output::{can_be_written, write_json, write_out};
use crate::cli::values::{GroupRule, count_u32, count_usize};
use crate::cli::{Stop, input, terminal};
use crate::report::{Columns, grouped, prose};
use crate::trace::Normalise;
use serde::Serialize;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};

/// Count the hits of a cache of prefixes: LRU, SIEVE, S3-FIFO, and the most that any order of eviction can have
///
/// Requests in order of arrival, one after the other, without a pool: what a cache of so many blocks would find.
#[derive(clap::Args, Debug)]
#[command(after_long_help = HELP)]
pub struct Args {
    /// Trace files of one format, or a folder of agent sessions; without any, a small sample that comes with kvledger
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Blocks that the cache may keep, separated by commas
    #[arg(long, value_parser = count_usize, value_delimiter = ',', value_name = "BLOCKS", default_value = "1024,4096,16384,65536,262144")]
    capacity: Vec<NonZeroUsize>,

    /// B, tokens in a block
    #[arg(long, value_parser = count_u32, value_name = "B", default_value = "16")]
    block_tokens: NonZeroU32,

    /// Trust groups, inside which blocks are shared: `one`, `solo`, `tenant`, `idx:K` or `seg1:K`
    #[arg(long, value_name = "RULE", default_value = "one")]
    group: GroupRule,

    /// Tokens that one id covers, where the file does not say so itself [default: as the format has it]
    #[arg(long, alias = "id-tokens", value_parser = count_u32, value_name = "TOKENS")]
    ids_block_tokens: Option<NonZeroU32>,

    /// Use only the first N requests to arrive
    #[arg(long, value_parser = count_usize, value_name = "N")]
    first: Option<NonZeroUsize>,

    /// Write the figures as JSON to FILE; `-` for standard output, in place of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

const HELP: &str = "Example: kvledger bench cache conversation.jsonl --capacity 16384,65536 --group tenant

Exit codes: 0 done; 2 the flags or the trace cannot be used.";

/// The figures for programs.
#[derive(Serialize)]
struct Document {
    path: String,
    block: u32,
    group: String,
    lookups: u64,
    /// Hits of a cache that never forgets.
    hits_unlimited: u64,
    policies: Vec<Figures>,
}

/// Those of one order of eviction.
#[derive(Serialize)]
struct Figures {
    policy: &'static str,
    capacities: Vec<Hits>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    if let Some(file) = &args.json {
        can_be_written("--json", file, &args.paths)?;
    }
    let normalise = Normalise { first: args.first.map(NonZeroUsize::get), ..Normalise::default() };
    let trace = input::read(&args.paths, args.ids_block_tokens.map(NonZeroU32::get), normalise)?;
    let accesses = Accesses::new(&trace, args.block_tokens, args.group);
    let accesses = accesses.map_err(|many| Stop::Usage(many.to_string()))?;
    let unlimited = hits(&mut Lru::new(accesses.names()), &accesses, 0);
    let document = Document {
        path: input::name(&args.paths),
        block: args.block_tokens.get(),
        group: args.group.to_string(),
        lookups: unlimited.lookups,
        hits_unlimited: unlimited.hits,
        policies: (0..FRESH.len()).map(|which| figures(which, &accesses, &args.capacity)).collect(),
    };
    if let Some(file) = &args.json {
        write_json(file, &document)?;
    }
    if args.json.as_deref() == Some(Path::new("-")) { Ok(()) } else { write_out(&text(&document, terminal::width())) }
}

/// Makes an empty cache for these requests.
type Fresh = fn(&Accesses) -> Box<dyn Policy>;

/// One of each kind.
const FRESH: [Fresh; 4] = [
    |accesses| Box::new(Lru::new(accesses.names())),
    |accesses| Box::new(Sieve::new(accesses.names())),
    |accesses| Box::new(S3Fifo::new(accesses.names())),
    |accesses| Box::new(Belady::new(accesses)),
];

fn figures(which: usize, accesses: &Accesses, capacities: &[NonZeroUsize]) -> Figures {
    let of = |capacity: &NonZeroUsize| {
        let mut policy = FRESH[which](accesses);
        (policy.name(), hits(&mut *policy, accesses, capacity.get()))
    };
    let (names, capacities): (Vec<_>, Vec<_>) = capacities.iter().map(of).unzip();
    Figures { policy: names.first().copied().unwrap_or_default(), capacities }
}

fn text(document: &Document, width: usize) -> String {
    let Document { path, block, group, lookups, hits_unlimited, policies } = document;
    let mut text = prose(
        &format!(
            "{path}: {} blocks of {block} tokens asked for in trust groups `{group}`; a cache that never forgets has {} \
             hits, {}",
            grouped(*lookups),
            grouped(*hits_unlimited),
            share(*hits_unlimited, *lookups)
        ),
        width,
        2,
    );
    text.push('\n');
    let capacities = policies.first().map_or(&[][..], |first| &first.capacities);
    let mut table = Columns::new(capacities.iter().map(|figures| format!("{} blocks", grouped(figures.capacity))));
    for Figures { policy, capacities } in policies {
        table = table
            .column(policy, capacities.iter().map(|figures| grouped(figures.hits)))
            .column("", capacities.iter().map(|figures| share(figures.hits, *lookups)));
    }
    text += &table.render(width);
    text += "\n";
    text + &prose(
        "Hits, and their share of what was asked for. Belady knows the future: no order of eviction has more.",
        width,
        0,
    )
}

fn share(part: u64, whole: u64) -> String {
    if whole == 0 { "none".to_string() } else { format!("{:.1} %", 100.0 * part as f64 / whole as f64) }
}
