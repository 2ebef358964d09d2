//! `kvledger record`.

use super::case::{CaseArgs, check_possible};
use super::output::{are_different, can_be_written, write_json, write_out};
use super::values::{PolicyName, count_u32, one_policy};
use super::{Stop, formats, progress};
use crate::recording;
use crate::replay::{Failure, Prepared, Ranked, Replayed};
use crate::report::grouped;
use kvledger_core::Line;
use kvledger_core::model::in_order;
use kvledger_core::recorder::{Dump, HEADER_WORDS};
use serde::Serialize;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

/// Replay a trace through a handle that records its calls, and write the record to a file.
///
/// `kvledger rerun` makes the calls of the file again on a fresh pool and compares answers and block ids. If the replay
/// fails, the file has the calls that led there.
#[derive(clap::Args, Debug)]
#[command(after_long_help = HELP, allow_negative_numbers = true)]
pub struct Args {
    /// Where the record goes
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// Bytes of the ring in KiB, of which only the last calls stay, as in a serving stack; such a record can be listed, not
    /// made again [default: as much as the whole replay needs]
    #[arg(long, value_name = "KIB", value_parser = count_u32)]
    ring_kib: Option<NonZeroU32>,

    /// The admission policy
    #[arg(long, value_parser = one_policy(), default_value = "full")]
    policy: PolicyName,

    #[command(flatten)]
    case: CaseArgs,

    /// Write what was recorded as JSON to FILE; `-` for standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What stands below the flags.
const HELP: &str = concat!(
    "Example: kvledger record trace.jsonl --pool 24576 --out replay.kvl && kvledger rerun replay.kvl\n\n",
    formats!(),
    "\n\nExit codes: 0 done; 1 the replay failed, its last calls are in the file; 2 the flags or the trace cannot be used."
);

/// What was recorded.
#[derive(Serialize)]
struct Document {
    file: PathBuf,
    policy: &'static str,
    requests: u64,
    /// Calls in the file.
    calls: u64,
    bytes: u64,
    /// Bytes of older records that the ring did not keep.
    overwritten_bytes: u64,
    lost_calls: u64,
    per_request_sha256: String,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    args.case.check(&[args.policy])?;
    args.case.check_single()?;
    can_be_written("--out", &args.out, &args.case.paths)?;
    if let Some(json) = &args.json {
        can_be_written("--json", json, &args.case.paths)?;
        are_different(&[("--out", &args.out), ("--json", json)])?;
    }
    if args.out == Path::new("-") {
        return Err(Stop::Usage("--out -: a record is not text; give a file".to_string()));
    }
    let trace = args.case.read()?;
    let cases = args.case.cases(&[args.policy], &trace, &Ranked::outputs(&trace));
    check_possible(&trace, &cases)?;
    let mut prepared = Prepared::new(&trace, &cases[0])?;
    let mut ring = match args.ring_kib {
        Some(kib) => ring_of(u64::from(kib.get()) << 10)?,
        None => ring_of(bytes_needed(&mut prepared, trace.requests.len() as u64)?)?,
    };
    let outcome = watched(&mut prepared, trace.requests.len() as u64, &mut ring);
    let mut words = recording::words(&ring);
    recording::write(&args.out, &words).map_err(|error| {
        Stop::Usage(format!("--out {}: cannot be written: {error}; give another file", args.out.display()))
    })?;
    let replayed = outcome.map_err(|failure| match Stop::from(failure) {
        Stop::Failed(what) => Stop::Failed(format!("{what}; the calls that led there are in {}", args.out.display())),
        usage => usage,
    })?;
    say(args, &mut words, &replayed)
}

/// A ring of so many bytes. The fewest that a ring can have are 960.
fn ring_of(bytes: u64) -> Result<Vec<Line>, Stop> {
    let lines = usize::try_from(bytes.div_ceil(size_of::<Line>() as u64)).unwrap_or(usize::MAX).max(15);
    let mut ring = Vec::new();
    ring.try_reserve_exact(lines).map_err(|_| {
        let mend = "give --first N for fewer requests, or --ring-kib for the last calls only, and fewer of them";
        Stop::Usage(format!("a ring of {bytes} bytes is more memory than there is: {mend}"))
    })?;
    ring.resize(lines, Line::ZERO);
    Ok(ring)
}

/// More bytes than a call has besides the names of its blocks.
const LONGEST_LESS_NAMES: u64 = 1 << 10;

/// What the record of the whole replay takes: it is run once to find out. A replay that fails is as long as it gets.
fn bytes_needed(prepared: &mut Prepared, requests: u64) -> Result<u64, Stop> {
    // A call that does not fit in the ring is not counted. The longest names all blocks of a row, 16 bytes each.
    let mut small = ring_of(LONGEST_LESS_NAMES + 16 * u64::from(prepared.config().table_width))?;
    match watched(prepared, requests, &mut small) {
        Err(failure) if failure.is_usage() => return Err(failure.into()),
        _ => {}
    }
    let mut words = recording::words(&small);
    let dump = Dump::read(&mut words).map_err(|refusal| Stop::Failed(format!("the ring is no dump: {refusal}")))?;
    Ok((dump.overwritten + dump.words().len() as u64 + HEADER_WORDS as u64) * 8)
}

fn watched(prepared: &mut Prepared, requests: u64, ring: &mut [Line]) -> Result<Replayed, Failure> {
    let through = [AtomicU64::new(0)];
    progress::watch(&["record".to_string()], &through, requests, || prepared.run_recorded(&through[0], ring))
}

fn say(args: &Args, words: &mut [u64], replayed: &Replayed) -> Result<(), Stop> {
    let bytes = words.len() as u64 * 8;
    let dump = Dump::read(words).map_err(|refusal| Stop::Failed(format!("the ring is no dump: {refusal}")))?;
    let records = in_order(0, &dump).map_err(|broken| Stop::Failed(format!("the ring is broken: {broken}")))?;
    let document = Document {
        file: args.out.clone(),
        policy: replayed.settings.policy.name(),
        requests: replayed.counters.requests,
        calls: records.len() as u64,
        bytes,
        overwritten_bytes: dump.overwritten * 8,
        lost_calls: dump.lost,
        per_request_sha256: replayed.digests.per_request.clone(),
    };
    if let Some(file) = &args.json {
        write_json(file, &document)?;
    }
    if args.json.as_deref() == Some(Path::new("-")) {
        return Ok(());
    }
    let file = args.out.display();
    let next = match (dump.overwritten, dump.lost) {
        (0, 0) => format!("to make them again: kvledger rerun {file}"),
        (0, lost) => {
            format!("{} batches were too long for the ring; to see the rest: kvledger rerun --list {file}", lost)
        }
        _ => format!("earlier ones did not fit in the ring; to see them: kvledger rerun --list {file}"),
    };
    write_out(&format!(
        "{file}: {} calls in {} bytes, of a replay of {} requests with policy {}\n{next}\n",
        grouped(document.calls),
        grouped(bytes),
        grouped(document.requests),
        document.policy
    ))
}
