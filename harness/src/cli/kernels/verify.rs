//! `kvledger verify --device`.

use super::DeviceName;
use crate::cli::Stop;
use crate::cli::output::{can_be_written, write_json, write_out};
use crate::cli::terminal::width;
use crate::kernels::make::Kernel;
use crate::kernels::verify::{self, Origin, Outcome, Settings, Wrong};
use crate::report::{Columns, grouped};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::path::Path;

/// Wrong cases of a kernel that are told in full; the document has all.
const TOLD: usize = 3;

/// What to run.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// Where.
    pub device: DeviceName,
    /// Which kernels; empty: all.
    pub kernels: &'a [Kernel],
    /// Random cases of each.
    pub cases: Option<u32>,
    /// The seed of the first.
    pub seed: u64,
    /// As the flag says.
    pub threads: Option<u16>,
    /// Where the result goes for programs.
    pub json: Option<&'a Path>,
}

/// The result for programs.
#[derive(Serialize)]
struct Document<'a> {
    device: &'static str,
    device_name: String,
    seed: u64,
    threads: usize,
    /// Whether every case is right.
    right: bool,
    kernels: Vec<KernelDocument<'a>>,
}

#[derive(Serialize)]
struct KernelDocument<'a> {
    kernel: &'static str,
    cases: u64,
    /// Those that are of published faults.
    reports: u64,
    compared: u64,
    /// The largest error, as a share of what is allowed; 0 where there is one right answer.
    error_share: f64,
    wrong: Vec<WrongDocument<'a>>,
}

#[derive(Serialize)]
struct WrongDocument<'a> {
    seed: Option<u64>,
    source: Option<&'static str>,
    title: &'a str,
    what: &'a str,
}

/// Runs the cases.
pub fn run(request: &Request<'_>) -> Result<(), Stop> {
    if let Some(json) = request.json {
        can_be_written("--json", json, &[])?;
    }
    let is_quiet = request.json == Some(Path::new("-"));
    let kernels = if request.kernels.is_empty() { Kernel::ALL.to_vec() } else { request.kernels.to_vec() };
    let threads = request.device.threads(request.threads);
    let settings = Settings { kernels, cases: request.cases, seed: request.seed, threads };
    #[cfg(kvl_plants)]
    plant()?;
    // A device that is not there is told before anything is run.
    let device = request.device.open().map_err(|error| request.device.missing(&error))?;
    let device_name = device.facts().name.clone();
    drop(device);
    let cases = verify::jobs(&settings).len();
    if cases == 0 {
        let text = "--cases 0: no published faults are known of these kernels, so nothing would be shown; ask for more";
        return Err(Stop::Usage(text.to_string()));
    }
    if !is_quiet {
        let cases = grouped(cases as u64);
        write_out(&format!("verify: {cases} cases on {device_name}, seed {}, {threads} threads\n", settings.seed))?;
    }
    let bar = progress(cases as u64);
    let ran = verify::run(&settings, &|| request.device.open(), &|done| bar.set_position(done as u64));
    bar.finish_and_clear();
    let outcomes = ran.map_err(|error| Stop::Failed(format!("the device cannot be opened any more: {error}")))?;
    if let Some(json) = request.json {
        write_json(json, &document(request, &settings, device_name, &outcomes))?;
    }
    if !is_quiet {
        write_out(&table(&outcomes))?;
        write_out(&told(request, &outcomes))?;
    }
    let wrong: usize = outcomes.values().map(|outcome| outcome.wrong.len()).sum();
    match wrong {
        0 => Ok(()),
        _ => Err(Stop::Failed(format!("{wrong} of {} cases are not what they must be", grouped(cases as u64)))),
    }
}

/// In builds for the tests of the tests: `KVL_PLANT` names a mistake that kernels are to make.
#[cfg(kvl_plants)]
fn plant() -> Result<(), Stop> {
    let name = std::env::var("KVL_PLANT").ok().filter(|name| !name.is_empty());
    match kvledger_cuda::cpu::plant(name.as_deref()) {
        true => Ok(()),
        false => Err(Stop::Usage(format!("KVL_PLANT={}: no mistake of that name", name.unwrap_or_default()))),
    }
}

fn progress(cases: u64) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_bar} {human_pos}/{human_len} cases {eta}");
    ProgressBar::new(cases).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn table(outcomes: &BTreeMap<Kernel, Outcome>) -> String {
    let column = |text: fn(&Outcome) -> String| outcomes.values().map(text).collect::<Vec<String>>();
    let error = |outcome: &Outcome| match outcome.share {
        0.0 => "exact".to_string(),
        share => format!("{:.0} %", share * 100.0),
    };
    Columns::new(outcomes.keys().map(|kernel| kernel.name()))
        .column("cases", column(|outcome| grouped(outcome.cases)))
        .column("of reports", column(|outcome| grouped(outcome.reports)))
        .column("numbers", column(|outcome| grouped(outcome.compared)))
        .column("of tolerance", column(error))
        .column("wrong", column(|outcome| grouped(outcome.wrong.len() as u64)))
        .render(width())
}

/// The first wrong cases of each kernel, and how to repeat them.
fn told(request: &Request<'_>, outcomes: &BTreeMap<Kernel, Outcome>) -> String {
    let mut text = String::new();
    for (kernel, outcome) in outcomes {
        for wrong in outcome.wrong.iter().take(TOLD) {
            let Wrong { origin, source, title, what } = wrong;
            let from = source.map_or_else(String::new, |source| format!(" ({source})"));
            let repeat = match origin {
                Origin::Seed(seed) => format!("--seed {seed} --cases 1"),
                Origin::Report(_) => "--cases 0".to_string(),
            };
            let device = request.device.name();
            _ = write!(
                text,
                "\n{kernel}{from}: {title}\n  {what}\n  again: kvledger verify --device {device} --kernel {kernel} {repeat}\n"
            );
        }
        let more = outcome.wrong.len().saturating_sub(TOLD);
        if more > 0 {
            _ = writeln!(text, "\n{kernel}: and {more} more");
        }
    }
    text
}

fn document<'a>(
    request: &Request<'_>,
    settings: &Settings,
    device_name: String,
    outcomes: &'a BTreeMap<Kernel, Outcome>,
) -> Document<'a> {
    let wrong = |wrong: &'a Wrong| WrongDocument {
        seed: match wrong.origin {
            Origin::Seed(seed) => Some(seed),
            Origin::Report(_) => None,
        },
        source: wrong.source,
        title: &wrong.title,
        what: &wrong.what,
    };
    let kernels = outcomes.iter().map(|(kernel, outcome)| KernelDocument {
        kernel: kernel.name(),
        cases: outcome.cases,
        reports: outcome.reports,
        compared: outcome.compared,
        error_share: outcome.share,
        wrong: outcome.wrong.iter().map(wrong).collect(),
    });
    Document {
        device: request.device.name(),
        device_name,
        seed: settings.seed,
        threads: settings.threads,
        right: outcomes.values().all(|outcome| outcome.wrong.is_empty()),
        kernels: kernels.collect(),
    }
}
