//! `kvledger replay --device`.

use super::DeviceName;
use crate::cli::case::CaseArgs;
use crate::cli::output::{can_be_written, write_json, write_out};
use crate::cli::terminal::width;
use crate::cli::values::PolicyName;
use crate::cli::{Stop, input, progress};
use crate::prefix::GroupRule;
use crate::replay::PoolSize;
use crate::replay::served::{Served, Settings, serve};
use crate::report::{Columns, grouped, prose};
use kvledger_core::BLOCKS_MAX;
use serde::Serialize;
use std::path::Path;
use std::sync::atomic::AtomicU64;

/// Requests that are served where nobody says how many.
const REQUESTS: usize = 24;
/// What decides the pauses of the CPU device's streams.
const SEED: u64 = 1;

/// What to serve.
#[derive(Debug)]
pub struct Request<'a> {
    /// Where.
    pub device: DeviceName,
    /// The trace and the pool.
    pub case: &'a CaseArgs,
    /// As the flag says; all of them stands for `full`, the one that is served.
    pub policies: &'a [PolicyName],
    /// Most tokens that a request makes.
    pub output_most: u32,
    /// Where the figures go for programs.
    pub json: Option<&'a Path>,
}

#[derive(Serialize)]
struct Document {
    device: &'static str,
    device_name: String,
    path: String,
    sharing: &'static str,
    block_tokens: u32,
    pool_blocks: u32,
    requests: u64,
    rejected: u64,
    steps: u64,
    written_tokens: u64,
    cached_tokens: u64,
    compared_rows: u64,
    error_share: f64,
    blocks_taken: u64,
    blocks_distinct: u64,
    blocks_retired: u64,
    admissions_refused: u64,
}

/// Serves the trace.
pub fn run(request: &Request<'_>) -> Result<(), Stop> {
    let settings = settings(request)?;
    if let Some(json) = request.json {
        can_be_written("--json", json, &request.case.paths)?;
    }
    let device = request.device.open_apart(SEED).map_err(|error| request.device.missing(&error))?;
    let mut trace = request.case.read()?;
    if request.case.first.is_none() {
        trace.requests.truncate(REQUESTS);
    }
    let device_name = device.facts().name.clone();
    let settings = Settings { thread_blocks: device.facts().multiprocessors, ..settings };
    let (through, total) = ([AtomicU64::new(0)], trace.requests.len() as u64);
    let label = ["served".to_string()];
    let served = progress::watch(&label, &through, total, || serve(&trace, &settings, &device, &through[0]))?;
    let path = input::name(&request.case.paths);
    if let Some(json) = request.json {
        write_json(json, &document(request, &settings, device_name.clone(), path.clone(), &served))?;
    }
    if request.json == Some(Path::new("-")) {
        return Ok(());
    }
    write_out(&table(&device_name, &path, &served))
}

fn settings(request: &Request<'_>) -> Result<Settings, Stop> {
    let case = request.case;
    case.check_single()?;
    if !matches!(request.policies, [PolicyName::All | PolicyName::Full]) {
        let message =
            "--policy: on a device requests are admitted with their whole output; give `full`, or leave it out";
        return Err(Stop::Usage(message.to_string()));
    }
    let blocks = match case.pool {
        PoolSize::Blocks(blocks) => blocks,
        PoolSize::Unlimited => BLOCKS_MAX,
    };
    Ok(Settings {
        blocks,
        block_tokens: case.block_tokens.get(),
        output_most: request.output_most,
        sharing: case.sharing.first().copied().map_or(crate::replay::Sharing::Off, Into::into),
        group: case.group.first().copied().unwrap_or(GroupRule::One),
        thread_blocks: 1,
    })
}

fn table(device_name: &str, path: &str, served: &Served) -> String {
    let heading = format!(
        "{path}, served by a model of one layer on {device_name}, two streams, in a pool of {} blocks",
        grouped(u64::from(served.pool_blocks))
    );
    let lines = [
        ("requests served", grouped(served.requests)),
        ("longer than the pool", grouped(served.rejected)),
        ("steps", grouped(served.steps)),
        ("tokens written", grouped(served.written)),
        ("tokens found in blocks of others", grouped(served.cached)),
        ("rows compared, all right", grouped(served.rows)),
        ("largest error, of what is allowed", format!("{:.0} %", served.share * 100.0)),
        ("blocks taken", grouped(served.taken)),
        ("different ones", grouped(served.distinct)),
        ("waited for work when they were left", grouped(served.retired)),
        ("admissions that had to wait", grouped(served.refused)),
    ];
    let names = lines.iter().map(|(name, _)| *name);
    prose(&heading, width(), 0)
        + &Columns::new(names).column("", lines.iter().map(|(_, text)| text.clone())).render(width())
}

fn document(
    request: &Request<'_>,
    settings: &Settings,
    device_name: String,
    path: String,
    served: &Served,
) -> Document {
    Document {
        device: request.device.name(),
        device_name,
        path,
        sharing: settings.sharing.name(),
        block_tokens: settings.block_tokens,
        pool_blocks: served.pool_blocks,
        requests: served.requests,
        rejected: served.rejected,
        steps: served.steps,
        written_tokens: served.written,
        cached_tokens: served.cached,
        compared_rows: served.rows,
        error_share: served.share,
        blocks_taken: served.taken,
        blocks_distinct: served.distinct,
        blocks_retired: served.retired,
        admissions_refused: served.refused,
    }
}
