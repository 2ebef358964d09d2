//! `kvledger rerun`.

use super::Stop;
use super::output::{can_be_written, write_json, write_out};
use super::values::{count_usize, whole_usize};
use crate::recording::{self, Difference, Rerun, describe, under_way};
use crate::report::grouped;
use crate::verify::answers;
use indicatif::{ProgressBar, ProgressDrawTarget};
use kvledger_core::PoolConfig;
use kvledger_core::model::{Broken, History, in_order, merge};
use kvledger_core::recorder::{Dump, HEADER_WORDS, Record};
use serde::Serialize;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Make the calls of a record again on a fresh pool, and compare answers and block ids.
///
/// A record is a file of `kvledger record` or of a failed `kvledger verify`, or the ring of a recording handle
/// (`Pool::recording`, `kvl_recording`) as it was in memory. Several files are the rings of several threads of one pool:
/// their calls are made in the order in which they were recorded, one after the other.
#[derive(clap::Args, Debug)]
#[command(after_long_help = HELP)]
pub struct Args {
    /// The records
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Only list the calls, the oldest first
    #[arg(long, conflicts_with_all = ["model", "json", "differences", "partial"])]
    list: bool,

    /// With --list: only the last COUNT
    #[arg(long, value_name = "COUNT", value_parser = count_usize, requires = "list")]
    last: Option<NonZeroUsize>,

    /// Make them on the obvious model as well, and compare all that can be asked of both after each call; slow
    #[arg(long)]
    model: bool,

    /// Make the calls again as far as they are known to be whole: up to the first that is missing, and without those that
    /// were not recorded
    #[arg(long)]
    partial: bool,

    /// Show so many differences
    #[arg(long, value_name = "COUNT", value_parser = whole_usize, default_value = "10")]
    differences: usize,

    /// Write the result as JSON to FILE; `-` for standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What stands below the flags.
const HELP: &str = "\
Examples:
  kvledger rerun replay.kvl                    the same answers and ids?
  kvledger rerun thread0.ring thread1.ring     the record of two threads of one pool
  kvledger rerun --list --last 20 crash.ring   the last calls before a crash

The calls of one thread give the same answers and the same ids. Those of several threads are made one after the other,
which they were not: an answer or an id may differ, and is shown. Calls that were BUSY because of another thread did
nothing, and are passed over.

Exit codes: 0 all answers and ids are the same; 1 some differ, or the pool is at fault; 2 the files cannot be used.";

/// The result for programs.
#[derive(Serialize)]
struct Document<'a> {
    files: &'a [PathBuf],
    blocks: u32,
    block_tokens: u32,
    calls: u64,
    /// Calls that were BUSY because of another thread, which are not made again.
    passed_over: u64,
    /// Calls that were not over when the rings were looked at, and are not made again.
    under_way: Vec<String>,
    /// What is missing behind the calls.
    ends_at: Option<String>,
    lost_calls: u64,
    differing: u64,
    differences: &'a [Difference],
    fault: Option<&'a Difference>,
    /// How often each call got each status.
    answers: BTreeMap<&'static str, BTreeMap<u32, u64>>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    if let Some(file) = &args.json {
        can_be_written("--json", file, &args.files)?;
    }
    let mut words = args.files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
    let dumps = words.iter_mut().zip(&args.files).map(|(words, file)| parse(words, file));
    let dumps = dumps.collect::<Result<Vec<_>, _>>()?;
    if args.list {
        return list(args, &dumps);
    }
    let history = merge(&dumps, args.partial).map_err(|broken| Stop::Usage(mend(&args.files, broken)))?;
    let bar = ProgressBar::with_draw_target(Some(history.records.len() as u64), ProgressDrawTarget::stderr());
    let again = recording::rerun(&history, args.model, args.differences, |done| {
        // Looking at the clock at each call would be most of the work.
        if done % 4096 == 0 {
            bar.set_position(done);
        }
    });
    bar.finish_and_clear();
    let again = again.map_err(|refusal| Stop::Usage(format!("a pool as in the record cannot be made: {refusal}")))?;
    tell(args, &history, &dumps, &again)
}

fn read(file: &Path) -> Result<Vec<u64>, Stop> {
    recording::read(file)
        .map_err(|error| Stop::Usage(format!("{}: cannot be read: {error}; give a record", file.display())))
}

fn parse<'a>(words: &'a mut [u64], file: &Path) -> Result<Dump<'a>, Stop> {
    let length = words.len() * 8;
    let of_ring = words.get(2).map_or(0, |&capacity| (capacity as usize).saturating_add(HEADER_WORDS));
    if of_ring > HEADER_WORDS && of_ring < words.len() {
        let more = (words.len() - of_ring) * 8;
        return Err(Stop::Usage(format!(
            "{}: {more} bytes follow the record; give one record a file, and all files of one pool together",
            file.display()
        )));
    }
    Dump::read(words).map_err(|_| {
        Stop::Usage(format!(
            "{}: {length} bytes that are no whole record of this version; give the file of `kvledger record`, or the \
             memory of a ring from its beginning to its end",
            file.display()
        ))
    })
}

/// What is broken, and what would mend it.
fn mend(files: &[PathBuf], broken: Broken) -> String {
    let name = |index: usize| files.get(index).map_or(String::new(), |file| file.display().to_string());
    match broken {
        Broken::Overwritten(index) => format!(
            "{}: its oldest calls were overwritten, so that it cannot be made again; --list shows those that are left, \
             and a larger ring keeps more",
            name(index)
        ),
        Broken::Words(index, words) => {
            format!("{}: the oldest {words} words are no calls: it was changed; --list shows the rest", name(index))
        }
        Broken::OtherPool(index) => {
            format!("{} is of another pool than {}; give them one by one", name(index), name(0))
        }
        Broken::Late(index) => format!(
            "{}: the pool had been used before its ring was made, so that the first calls are not there; --list shows the \
             others, and a pool that is recorded from its start can be made again",
            name(index)
        ),
        Broken::Lost(index, calls) => format!(
            "{}: {calls} calls were not recorded, because another thread had the ring or a batch was too long for it; \
             --partial does without them, --list shows the others",
            name(index)
        ),
        Broken::Missing { .. } => format!(
            "{broken}: give the records of all threads that used the pool (a call that was under way when its ring was \
             looked at is in none); --partial makes those before again, --list shows all"
        ),
        Broken::Twice(_) | Broken::Nothing => format!("{broken}: give each record once"),
    }
}

/// Calls that were not over when a ring was looked at: they are not made again.
fn calls_under_way(args: &Args, dumps: &[Dump<'_>]) -> String {
    let said = |(dump, file): (&Dump<'_>, &PathBuf)| {
        dump.under_way.map(|call| format!("under way, and not over: {} ({})\n", under_way(&call), file.display()))
    };
    dumps.iter().zip(&args.files).filter_map(said).collect()
}

/// The calls of each file, merged.
fn list(args: &Args, dumps: &[Dump<'_>]) -> Result<(), Stop> {
    let mut records: Vec<Record<'_>> = Vec::new();
    let mut text = String::new();
    for (index, (dump, file)) in dumps.iter().zip(&args.files).enumerate() {
        let broken = match in_order(index, dump) {
            Ok(all) => {
                records.extend(all);
                None
            }
            Err(broken) => {
                records.extend(dump.newest_first().map_while(Result::ok));
                Some(mend(&args.files, broken))
            }
        };
        text += &heading(file, dump);
        text.extend(broken.map(|why| format!("{why}\n")));
    }
    records.sort_by_key(|record| record.ticket);
    let from = args.last.map_or(0, |last| records.len().saturating_sub(last.get()));
    for record in records.iter().skip(from) {
        text += &format!("{:>8}  {}\n", record.ticket, describe(record));
    }
    write_out(&(text + &calls_under_way(args, dumps)))
}

fn heading(file: &Path, dump: &Dump<'_>) -> String {
    let PoolConfig { number, blocks, block_tokens, safety, sequences, table_width, .. } = dump.config;
    let mut text = format!(
        "{}: pool {number} of {} blocks of {block_tokens} tokens, safety {safety}, {} sequences of up to {} blocks",
        file.display(),
        grouped(u64::from(blocks)),
        grouped(u64::from(sequences)),
        grouped(u64::from(table_width)),
    );
    if dump.overwritten > 0 {
        text += &format!("; older calls ({} bytes) were overwritten", grouped(dump.overwritten * 8));
    }
    if dump.lost > 0 {
        text += &format!("; {} calls were not recorded", grouped(dump.lost));
    }
    text + "\n"
}

fn tell(args: &Args, history: &History<'_>, dumps: &[Dump<'_>], again: &Rerun) -> Result<(), Stop> {
    if let Some(file) = &args.json {
        let mut answers: BTreeMap<_, BTreeMap<u32, u64>> = BTreeMap::new();
        for (&(call, status), &count) in &again.tally.0 {
            answers.entry(call).or_default().insert(status, count);
        }
        let document = Document {
            files: &args.files,
            blocks: history.config.blocks,
            block_tokens: history.config.block_tokens,
            calls: again.calls,
            passed_over: again.passed_over,
            under_way: dumps.iter().filter_map(|dump| dump.under_way.as_ref().map(under_way)).collect(),
            ends_at: history.ends_at.map(|missing| missing.to_string()),
            lost_calls: dumps.iter().map(|dump| dump.lost).sum(),
            differing: again.differing,
            differences: &again.differences,
            fault: again.fault.as_ref(),
            answers,
        };
        write_json(file, &document)?;
    }
    if args.json.as_deref() != Some(Path::new("-")) {
        write_out(&text(args, history, dumps, again))?;
    }
    if again.calls == 0 && again.fault.is_none() {
        return Err(Stop::Failed("no call was made again: nothing is shown".to_string()));
    }
    match (&again.fault, again.differing) {
        (Some(fault), _) => Err(Stop::Failed(format!("ticket {}: {}: {}", fault.ticket, fault.then, fault.now))),
        (None, 0) => Ok(()),
        (None, differing) => Err(Stop::Failed(format!(
            "{} of {} calls came to something else than in the record",
            grouped(differing),
            grouped(again.calls)
        ))),
    }
}

fn text(args: &Args, history: &History<'_>, dumps: &[Dump<'_>], again: &Rerun) -> String {
    let mut text: String = dumps.iter().zip(&args.files).map(|(dump, file)| heading(file, dump)).collect();
    for Difference { ticket, then, now } in &again.differences {
        text += &format!("ticket {ticket}: {then}\n    now -> {now}\n");
    }
    if let Some(missing) = history.ends_at {
        text += &format!("made again up to where it is whole: {missing}\n");
    }
    text += &calls_under_way(args, dumps);
    if again.passed_over > 0 {
        text +=
            &format!("{} calls were BUSY because of another thread and are passed over\n", grouped(again.passed_over));
    }
    if again.differing == 0 && again.fault.is_none() {
        let model = if args.model { ", and the model agrees after each" } else { "" };
        text += &format!("{} calls made again: answers and block ids are the same{model}\n", grouped(again.calls));
    }
    text + "the answers were:\n" + &answers(&again.tally)
}
