//! `kvledger plan`.

mod values;

use self::values::{RegionAmount, ScalesGiven, TypeName, tokens};
use super::output::{self, write_json, write_out};
use super::values::{PromisedOutput, count_u32, count_u64, whole_u32, whole_u64};
use super::{Stop, input, terminal};
use crate::model_config::{ModelConfig, Setting, WeightsType};
use crate::planning::{
    self, Amount, Bytes, Document, Load, Page, Plan, Problem, Question, Regions, Request, Said, Storage,
};
use crate::trace::Normalise;
use kvledger_core::plan::Region;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};

/// Size a pool: from a model's config.json and a device's memory to blocks, and to the requests that fit.
///
/// Weights and cache are computed from the config of the model; what the rest of the device is for is given by region.
/// With request lengths it says how many requests are admitted under each policy.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES, allow_negative_numbers = true)]
pub struct Args {
    /// The model's config.json, or the folder that it is in
    #[arg(long, value_name = "FILE")]
    model: PathBuf,

    /// Memory of one device: 80GiB, 80GB, 79.1GiB or bytes
    #[arg(long, value_name = "SIZE", required_unless_present = "requests")]
    gpu_memory: Option<Bytes>,

    /// What a region of the device may take: a size, or a share of the device (0.05, 5%). Regions: weights, kv-pool,
    /// workspace, graph-capture, communication, restoration, outside. The pool has what the others leave
    #[arg(long, value_name = "NAME=AMOUNT")]
    region: Vec<RegionAmount>,

    /// B, tokens in a block
    #[arg(long, value_parser = count_u32, value_name = "B", default_value = "16")]
    block_tokens: NonZeroU32,

    /// What the cache is kept in
    #[arg(long, value_enum, default_value = "auto")]
    kv_type: TypeName,

    /// Scales beside the cache's numbers: none, or token, token-head, block, block-head, block-channel or group-N, with the
    /// bytes of one as in token-head:4
    #[arg(long, value_name = "GRAIN:BYTES", default_value = "none")]
    kv_scales: ScalesGiven,

    /// What the weights are stored in
    #[arg(long, value_enum, default_value = "auto")]
    weights_type: TypeName,

    /// Parameters of the model, if they are not to be counted: 8.03B, 8030261248
    #[arg(long, value_parser = planning::count, value_name = "N")]
    parameters: Option<u64>,

    /// Set a key of the config, before it is read: num_key_value_heads=8
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Setting>,

    /// Ranks among which heads and matrices are divided; all figures are of one
    #[arg(long, value_parser = count_u32, value_name = "N", default_value = "1")]
    tensor_parallel: NonZeroU32,

    /// Bytes that the state of a sequence takes on one rank in all layers that have one
    #[arg(long, value_parser = whole_u64, value_name = "BYTES")]
    state_bytes: Option<u64>,

    /// Keep every token in layers that look back through a window as well
    #[arg(long)]
    keep_windows: bool,

    /// d, steps of a sequence that are in flight when the next is prepared, for windows
    #[arg(long, value_parser = whole_u32, value_name = "D", default_value = "1")]
    steps_in_flight: u32,

    /// Most tokens that a step adds to a sequence, for windows
    #[arg(long, value_parser = count_u32, value_name = "TOKENS", default_value = "2048")]
    step_tokens: NonZeroU32,

    /// Tokens of the prompt of every request
    #[arg(long, value_parser = tokens, value_name = "P", requires = "output", conflicts_with_all = ["lengths", "trace"])]
    prompt: Option<u32>,

    /// Most tokens of the output of every request
    #[arg(long, value_parser = tokens, value_name = "O", requires = "prompt")]
    output: Option<u32>,

    /// Lengths of requests, PROMPT:OUTPUT, separated by commas; admitted in this order over and over
    #[arg(long, value_delimiter = ',', value_name = "P:O", conflicts_with = "trace")]
    lengths: Vec<Request>,

    /// Take the lengths from a trace, in any format of `kvledger replay`
    #[arg(long, value_name = "PATH")]
    trace: Vec<PathBuf>,

    /// M, longest prompt and output together; 0 for none [default: what the config says]
    #[arg(long, value_parser = whole_u32, value_name = "M")]
    max_context: Option<u32>,

    /// S, blocks that admission leaves alone, in each pool [default: a 64th of the pool]
    #[arg(long, value_parser = whole_u32, value_name = "S")]
    safety: Option<u32>,

    /// Blocks that incremental admission leaves besides S
    #[arg(long, value_parser = whole_u32, value_name = "BLOCKS", default_value = "0")]
    watermark: u32,

    /// Q, tokens of output that `percentile` promises: a number, or `p95` for that percentile of the outputs given
    #[arg(long, value_name = "Q")]
    percentile_tokens: Option<PromisedOutput>,

    /// Tokens that all requests of one trust group begin with
    #[arg(long, value_parser = whole_u32, value_name = "TOKENS", default_value = "0")]
    shared_prefix: u32,

    /// Say what memory so many requests need; with --gpu-memory, whether they fit in it
    #[arg(long, value_parser = count_u64, value_name = "K")]
    requests: Option<NonZeroU64>,

    /// Write the figures as JSON to FILE; `-` for standard output, in place of the page
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  kvledger plan --model config.json --gpu-memory 80GiB --region workspace=4GiB --region outside=5% \\
      --prompt 2048 --output 256
  kvledger plan --model config.json --gpu-memory 141GB --kv-type fp8 --tensor-parallel 4 --lengths 512:128,8192:1024
  kvledger plan --model config.json --requests 64 --trace trace.csv --percentile-tokens p95

Regions that are not given take nothing. The last line of the page are flags for kvledger replay.

Exit codes: 0 done; 1 it does not fit (the regions, one block, or --requests under full-output reservation); 2 the flags,
the config or the trace cannot be used.";

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Stop {
        match problem {
            Problem::Usage(message) => Stop::Usage(message),
            Problem::DoesNotFit(message) => Stop::Failed(message),
        }
    }
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    if let Some(file) = &args.json {
        let model = [ModelConfig::file_of(&args.model)];
        output::can_be_written("--json", file, &[&model[..], &args.trace].concat())?;
    }
    let model = ModelConfig::read(&args.model, &args.set).map_err(Problem::from)?;
    let (question, kv_type_from) = question(args, &model)?;
    let plan = Plan::new(&model, &question)?;
    let document = Document::new(&model, &question, &plan, &kv_type_from).map_err(Problem::from)?;
    if let Some(file) = &args.json {
        write_json(file, &document)?;
    }
    if args.json.as_deref() != Some(Path::new("-")) {
        write_out(&planning::render(&document, Page::new(terminal::width())))?;
    }
    Ok(plan.check(&question)?)
}

/// What the flags ask, and where the type of the cache comes from.
fn question(args: &Args, model: &ModelConfig) -> Result<(Question, String), Stop> {
    let (regions, weights_region) = regions(&args.region)?;
    let (element, kv_type_from) = match args.kv_type.element() {
        Some(element) => (element, "--kv-type"),
        None => model.cache_element().map_err(Problem::from)?,
    };
    let context = match args.max_context {
        Some(0) => None,
        Some(context) => Some(context),
        None => model.context().map_err(Problem::from)?,
    };
    let load = load(args, context)?;
    let promised_output = promised_output(args, load.as_ref())?;
    let storage = Storage {
        element,
        scales: args.kv_scales.0,
        block_tokens: args.block_tokens.get(),
        ranks: args.tensor_parallel.get(),
        steps_in_flight: args.steps_in_flight,
        step_tokens: args.step_tokens.get(),
        keeps_windows: args.keep_windows,
    };
    let weights_type = args
        .weights_type
        .element()
        .map(|element| WeightsType::uniform(crate::model_config::element_name(element), element.bits()));
    let question = Question {
        storage,
        state_bytes: args.state_bytes,
        device_bytes: args.gpu_memory.map(|Bytes(bytes)| bytes),
        regions,
        weights: Said { region: weights_region, parameters: args.parameters, weights_type },
        safety: args.safety,
        watermark: args.watermark,
        context,
        load,
        promised_output,
        shared_prefix: args.shared_prefix,
        requests: args.requests.map(NonZeroU64::get),
    };
    Ok((question, kv_type_from.to_string()))
}

/// The regions, and what was given for weights. A region is given once.
fn regions(given: &[RegionAmount]) -> Result<(Regions, Option<Amount>), Stop> {
    let (mut regions, mut weights) = (Regions::default(), None);
    for &RegionAmount { region, amount } in given {
        if regions.get(region).is_some() {
            let name = planning::region_name(region);
            return Err(Stop::Usage(format!("--region {name}: given twice; give it once")));
        }
        regions.set(region, amount);
        if region == Region::Weights {
            weights = Some(amount);
        }
    }
    Ok((regions, weights))
}

fn load(args: &Args, context: Option<u32>) -> Result<Option<Load>, Stop> {
    let requests = match (args.prompt, args.output) {
        (Some(0), _) => return Err(Stop::Usage("--prompt 0: give at least one token".to_string())),
        (Some(prompt), Some(output)) => vec![Request { prompt, output }],
        _ if !args.lengths.is_empty() => args.lengths.clone(),
        _ if !args.trace.is_empty() => Load::of_trace(&input::read(&args.trace, None, Normalise::default())?),
        _ => {
            let needs = [("--requests", args.requests.is_some()), ("--shared-prefix", args.shared_prefix > 0)];
            return match needs.into_iter().find(|&(_, given)| given) {
                Some((flag, _)) => Err(Stop::Usage(format!(
                    "{flag}: give lengths as well: --prompt and --output, --lengths, or --trace"
                ))),
                None => Ok(None),
            };
        }
    };
    Ok(Some(Load::new(requests, context)?))
}

/// Q: as given, else the 95th percentile where lengths differ.
fn promised_output(args: &Args, load: Option<&Load>) -> Result<Option<u32>, Stop> {
    Ok(match (args.percentile_tokens, load) {
        (Some(_), None) => {
            let message = "--percentile-tokens: give lengths as well: --prompt and --output, --lengths, or --trace";
            return Err(Stop::Usage(message.to_string()));
        }
        (Some(PromisedOutput::Tokens(tokens)), _) => Some(tokens),
        (Some(PromisedOutput::OfTrace(percent)), Some(load)) => Some(load.output_percentile(percent)),
        (None, Some(load)) if load.requests.len() > 1 => Some(load.output_percentile(95)),
        (None, _) => None,
    })
}
