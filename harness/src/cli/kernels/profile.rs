//! `kvledger profile`.

use super::DeviceName;
use crate::cli::Stop;
use crate::cli::output::{can_be_written, write_json, write_out};
use crate::cli::terminal::width;
use crate::kernels::make::Kernel;
use crate::kernels::profile::{
    Counted, Floor, Loaded, Ranges, Rates, Shape, Timed, Work, ceiling, count, floor, shapes, time,
};
use crate::kernels::run::Bench;
use crate::report::{Columns, prose};
use kvledger_cuda::Error;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What kernels move and do, against what they would have to at least.
///
/// On the CPU device everything is counted, at a small size of each shape: bytes, bank conflicts, barriers. The floor is that of
/// the whole shape on an H200. On a GPU the whole shape is timed, beside a copy of that GPU's memory.
#[derive(clap::Args, Debug)]
#[command(after_long_help = HELP)]
pub struct Args {
    /// Where the kernels run
    #[arg(long, value_name = "DEVICE", value_enum, default_value_t = DeviceName::Cpu)]
    device: DeviceName,

    /// Which kernels, separated by commas [default: all that have shapes]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    kernel: Vec<Kernel>,

    /// Which shapes, separated by commas; `list` prints them [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "kernel")]
    shape: Vec<String>,

    /// Launch one shape once, in an NVTX range, and say nothing of it: for a profiler
    #[arg(long, requires = "shape")]
    once: bool,

    /// Rounds of each shape on a GPU; the middle one is shown
    #[arg(long, value_name = "COUNT", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// Thread blocks of attention for each multiprocessor
    #[arg(long, value_name = "COUNT", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=16))]
    resident: u32,

    /// Stop after so many seconds, with the shapes that are done
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    seconds: Option<u64>,

    /// Write the figures as JSON to FILE; `-` for standard output, in place of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

const HELP: &str = "\
Examples:
  kvledger profile                                         every shape, counted on the CPU device
  kvledger profile --device cuda --kernel attend --json figures.json
  ncu --set full kvledger profile --device cuda --shape decode-32x4k --once

Exit codes: 0 done; 1 a count is not within its limits, or the device failed; 2 the flags cannot be used, or there is no
such device.";

/// What decode may read, over what it must: beside keys, values and queries there are positions, entries and the plan.
const READ_MOST: f64 = 1.05;
/// What a thread block may wait for itself, for each tile of keys: once for what has landed, once to let go.
const BARRIERS_MOST: f64 = 2.0;

/// One shape.
#[derive(Serialize)]
struct Row {
    shape: &'static str,
    kernel: &'static str,
    floor_read_bytes: u64,
    floor_written_bytes: u64,
    floor_operations: u64,
    /// On an H200, or on the GPU by its measured copy.
    floor_seconds: f64,
    counted: Option<CountedRow>,
    timed: Option<TimedRow>,
    /// What is not within its limits.
    faults: Vec<String>,
}

#[derive(Serialize)]
struct CountedRow {
    loaded_bytes: u64,
    stored_bytes: u64,
    read_ratio: f64,
    written_ratio: f64,
    matrix_loads: u64,
    bank_conflicts: u64,
    key_tiles: u64,
    barriers_per_tile: f64,
    matrix_products: u64,
    shared_bytes: u64,
}

#[derive(Serialize)]
struct TimedRow {
    seconds: Vec<f64>,
    median_seconds: f64,
    bytes_per_second: f64,
    /// Of what a copy of the device reads and writes.
    share_of_copy: f64,
    parts: u32,
    inputs: usize,
}

#[derive(Serialize)]
struct Document<'a> {
    device: &'static str,
    device_name: String,
    /// Of a copy, on a GPU.
    copy_bytes_per_second: Option<f64>,
    /// Shapes that there was no time for.
    left_out: Vec<&'static str>,
    shapes: &'a [Row],
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    if args.shape.iter().any(|name| name == "list") {
        return write_out(&list());
    }
    let chosen = chosen(args)?;
    if let Some(json) = &args.json {
        can_be_written("--json", json, &[])?;
    }
    if args.once && (chosen.len() != 1 || args.json.is_some()) {
        return Err(Stop::Usage("--once: give one --shape, and no --json: nothing is measured".to_string()));
    }
    let device = args.device.open().map_err(|error| args.device.missing(&error))?;
    let bench = Bench::open(&device).map_err(failed)?;
    let thread_blocks = device.facts().multiprocessors * args.resident;
    if args.once {
        return once(&bench, args.device, &chosen[0], thread_blocks).map_err(failed);
    }
    let ranges = Ranges::find();
    let copy = if args.device == DeviceName::Cuda { Some(ceiling(&bench).map_err(failed)?) } else { None };
    let begin = Instant::now();
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    for shape in &chosen {
        if args.seconds.is_some_and(|seconds| begin.elapsed() > Duration::from_secs(seconds)) {
            left_out.push(shape.name);
            continue;
        }
        let row = || match copy {
            None => counted(&bench, shape),
            Some(copy) => timed(&bench, shape, thread_blocks, args.rounds, copy),
        };
        rows.push(Ranges::within(ranges.as_ref(), shape.name, row).map_err(failed)?);
    }
    show(args, device.facts().name.clone(), copy, &rows, left_out)
}

fn failed(error: Error) -> Stop {
    Stop::Failed(error.to_string())
}

/// The shapes that are asked for.
fn chosen(args: &Args) -> Result<Vec<Shape>, Stop> {
    let all = shapes();
    for kernel in &args.kernel {
        if !all.iter().any(|shape| shape.kernel() == *kernel) {
            return Err(Stop::Usage(format!(
                "--kernel {kernel}: it has no shape; `--shape list` prints those there are"
            )));
        }
    }
    let named = |name: &String| {
        let unknown = || Stop::Usage(format!("--shape {name}: no such shape; `--shape list` prints those there are"));
        all.iter().find(|shape| shape.name == name).copied().ok_or_else(unknown)
    };
    if !args.shape.is_empty() {
        return args.shape.iter().map(named).collect();
    }
    Ok(all.iter().copied().filter(|shape| args.kernel.is_empty() || args.kernel.contains(&shape.kernel())).collect())
}

fn list() -> String {
    let all = shapes();
    let kernels = all.iter().map(|shape| shape.kernel().to_string());
    let what = all.iter().map(|shape| describe(&shape.work));
    Columns::new(all.iter().map(|shape| shape.name)).texts("kernel", kernels).texts("what", what).render(width())
}

fn describe(work: &Work) -> String {
    match work {
        Work::Attend(attention) => format!(
            "{}/{} heads of {}, {}, blocks of {}",
            attention.query_heads,
            attention.heads,
            attention.head_dim,
            attention.element.name(),
            attention.block_tokens
        ),
        Work::Append { tokens, heads, to, .. } => format!("{tokens} tokens, {heads} heads, to {}", to.name()),
        Work::Gather { tokens, heads, from, .. } => format!("{tokens} tokens, {heads} heads, of {}", from.name()),
        Work::Copy(blocks) | Work::Fill(blocks) | Work::Checksum(blocks) => {
            format!("{} blocks of {} KiB", blocks.count, blocks.bytes >> 10)
        }
    }
}

/// Everything is in memory before the range begins, and done when it ends.
fn once(bench: &Bench, device: DeviceName, shape: &Shape, thread_blocks: u32) -> Result<(), Error> {
    let shape = if device == DeviceName::Cpu { shape.small() } else { *shape };
    let loaded = Loaded::put(bench, &shape, thread_blocks)?;
    bench.stream().synchronize()?;
    Ranges::within(Ranges::find().as_ref(), shape.name, || {
        loaded.launch(bench)?;
        bench.stream().synchronize()
    })
}

fn row(shape: &Shape, floor: &Floor, rates: &Rates) -> Row {
    Row {
        shape: shape.name,
        kernel: shape.kernel().name(),
        floor_read_bytes: floor.read,
        floor_written_bytes: floor.written,
        floor_operations: floor.operations,
        floor_seconds: floor.seconds(rates),
        counted: None,
        timed: None,
        faults: Vec::new(),
    }
}

/// In one thread block, so that nothing is cut: what a cut costs is the floor's to say.
fn counted(bench: &Bench, shape: &Shape) -> Result<Row, Error> {
    let found = count(bench, &shape.small(), 1)?;
    let counters = &found.counters;
    let counted = CountedRow {
        loaded_bytes: counters.loaded_bytes,
        stored_bytes: counters.stored_bytes,
        read_ratio: found.read_ratio(),
        written_ratio: found.written_ratio(),
        matrix_loads: counters.matrix_loads,
        bank_conflicts: counters.bank_conflicts,
        key_tiles: found.tiles,
        barriers_per_tile: found.barriers_per_tile,
        matrix_products: counters.matrix_products,
        shared_bytes: counters.shared_bytes,
    };
    let faults = faults(shape, &found);
    Ok(Row { counted: Some(counted), faults, ..row(shape, &floor(shape, 0), &Rates::H200) })
}

/// What is not as the kernels are made to be.
fn faults(shape: &Shape, found: &Counted) -> Vec<String> {
    let mut faults = Vec::new();
    if found.counters.bank_conflicts > 0 {
        faults.push(format!("{} bank conflicts", found.counters.bank_conflicts));
    }
    if found.barriers_per_tile > BARRIERS_MOST {
        faults.push(format!("{:.2} barriers a tile", found.barriers_per_tile));
    }
    // Decode reads keys and values once. Tiles of many rows read them once each, and what else is read again by many
    // (slots, entries of lists) comes from the cache.
    let reads_once = matches!(shape.work, Work::Attend(attention) if attention.batch.sequences()[0].1 == 1);
    if reads_once && found.read_ratio() > READ_MOST {
        faults.push(format!("{:.3} of the bytes that must be read", found.read_ratio()));
    }
    faults
}

fn timed(bench: &Bench, shape: &Shape, thread_blocks: u32, rounds: u32, copy: f64) -> Result<Row, Error> {
    let found: Timed = time(bench, shape, thread_blocks, floor(shape, 0).bytes(), rounds)?;
    let floor = floor(shape, found.parts);
    let median = found.median();
    let timed = TimedRow {
        median_seconds: median,
        bytes_per_second: floor.bytes() as f64 / median,
        share_of_copy: floor.bytes() as f64 / median / copy,
        parts: found.parts,
        inputs: found.inputs,
        seconds: found.seconds,
    };
    Ok(Row { timed: Some(timed), ..row(shape, &floor, &Rates::of_copy(copy)) })
}

fn show(
    args: &Args,
    device_name: String,
    copy: Option<f64>,
    rows: &[Row],
    left_out: Vec<&'static str>,
) -> Result<(), Stop> {
    if let Some(json) = &args.json {
        let device = args.device.name();
        let left_out = left_out.clone();
        let document =
            Document { device, device_name: device_name.clone(), copy_bytes_per_second: copy, left_out, shapes: rows };
        write_json(json, &document)?;
    }
    if args.json.as_deref() != Some(Path::new("-")) {
        write_out(&table(&device_name, copy, rows))?;
        if !left_out.is_empty() {
            write_out(&format!("no time for: {}\n", left_out.join(", ")))?;
        }
    }
    let faults: Vec<String> =
        rows.iter().flat_map(|row| row.faults.iter().map(|fault| format!("{}: {fault}", row.shape))).collect();
    if faults.is_empty() { Ok(()) } else { Err(Stop::Failed(faults.join("; "))) }
}

fn table(device_name: &str, copy: Option<f64>, rows: &[Row]) -> String {
    let on = copy.map_or("an H200 (4.3 TB/s, 790 TFLOP/s)".to_string(), |copy| {
        format!("this GPU, whose copy reads and writes {:.2} TB/s", copy / 1e12)
    });
    let heading = format!("{device_name}. Floors are those of {on}, with 3 us for a launch.");
    let mut text = prose(&heading, width(), 0);
    let names = || Columns::new(rows.iter().map(|row| row.shape));
    let column = |text: fn(&Row) -> String| rows.iter().map(text).collect::<Vec<String>>();
    let micro = |seconds: f64| format!("{:.1}", seconds * 1e6);
    let mut table = names().column("floor us", rows.iter().map(|row| micro(row.floor_seconds)));
    if copy.is_none() {
        table = table
            .column("read", column(|row| of_counted(row, |counted| format!("{:.3}", counted.read_ratio))))
            .column("written", column(|row| of_counted(row, |counted| format!("{:.3}", counted.written_ratio))))
            .column("conflicts", column(|row| of_counted(row, |counted| counted.bank_conflicts.to_string())))
            .column(
                "barriers/tile",
                column(|row| of_counted(row, |counted| format!("{:.2}", counted.barriers_per_tile))),
            );
        text += &table.render(width());
        let note =
            "Read and written: bytes that a small size of each shape moved, over those that it must; 0: none must be.";
        return text + &prose(note, width(), 0);
    }
    let table = table
        .column(
            "us",
            rows.iter().map(|row| row.timed.as_ref().map_or(String::new(), |timed| micro(timed.median_seconds))),
        )
        .column("TB/s", column(|row| of_timed(row, |timed| format!("{:.2}", timed.bytes_per_second / 1e12))))
        .column("of copy", column(|row| of_timed(row, |timed| format!("{:.0} %", timed.share_of_copy * 100.0))));
    text + &table.render(width())
}

fn of_counted(row: &Row, text: fn(&CountedRow) -> String) -> String {
    row.counted.as_ref().map_or_else(String::new, text)
}

fn of_timed(row: &Row, text: fn(&TimedRow) -> String) -> String {
    row.timed.as_ref().map_or_else(String::new, text)
}
