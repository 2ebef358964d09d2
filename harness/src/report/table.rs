//! The table for people: one column a case, one line a figure, and a few words on how to read it.

use super::number::{grouped, mean, percent};
use super::sharing;
use crate::replay::{Counters, Policy, PoolSize, Replayed, Settings, Statics};
use std::fmt::Write;

/// What stands above the table.
#[derive(Clone, Debug)]
pub struct Heading<'a> {
    /// The trace, as the user named it.
    pub trace: &'a str,
    /// Its format.
    pub format: &'a str,
    /// Rows without tokens.
    pub dropped_rows: usize,
    /// Figures that need no replay.
    pub statics: &'a Statics,
    /// Settings that all cases have in common.
    pub settings: &'a Settings,
    /// `num/den`.
    pub time_scale: String,
    /// Show how long the simulation took.
    pub times: bool,
}

type Column<'a> = (&'a str, &'a Replayed);

/// A figure: its name, and its text from a case.
struct Line {
    name: &'static str,
    text: fn(&Replayed) -> String,
}

const fn line(name: &'static str, text: fn(&Replayed) -> String) -> Line {
    Line { name, text }
}

fn counters(case: &Replayed) -> &Counters {
    &case.counters
}

/// Slots in held blocks, summed over busy steps.
fn held_slots(case: &Replayed) -> u64 {
    case.counters.sum_used * u64::from(case.settings.block_tokens)
}

const REQUESTS: [Line; 5] = [
    line("completed", |case| grouped(counters(case).completed)),
    line("truncated (past its promise, ended)", |case| grouped(counters(case).truncated)),
    line("rejected: longer than the context", |case| grouped(counters(case).rejected_ctx)),
    line("rejected: more than the pool", |case| grouped(counters(case).rejected_pool)),
    line("admissions", |case| grouped(counters(case).admissions)),
];

const WAITING: [Line; 4] = [
    line("mean wait, steps", |case| {
        let never = counters(case).rejected_ctx + counters(case).rejected_pool;
        mean(counters(case).sum_wait, counters(case).requests - never)
    }),
    line("longest wait, steps", |case| grouped(counters(case).max_wait)),
    line("longest queue", |case| grouped(counters(case).peak_queue)),
    line("steps until all is done", |case| grouped(counters(case).busy_steps)),
];

const GROWTH: [Line; 4] = [
    line("preemptions", |case| grouped(counters(case).preemptions)),
    line("tokens to compute again (wasted)", |case| grouped(counters(case).lost_tokens)),
    line("requests past their promise", |case| grouped(counters(case).exceed_requests)),
    line("blocks past promises", |case| grouped(counters(case).exceed_blocks)),
];

const BLOCKS: [Line; 6] = [
    line("running, mean", |case| mean(counters(case).sum_running, counters(case).busy_steps)),
    line("running, peak", |case| grouped(counters(case).peak_running)),
    line("held (A), mean", |case| mean(counters(case).sum_used, counters(case).busy_steps)),
    line("promised only (R), mean", |case| {
        mean(counters(case).sum_committed - counters(case).sum_used, counters(case).busy_steps)
    }),
    line("held, peak", |case| grouped(counters(case).peak_used)),
    line("held or promised (A + R), peak", |case| grouped(counters(case).peak_committed)),
];

const USE: [Line; 3] = [
    line("padding (empty slots in held blocks)", |case| {
        // Tokens in shared blocks count for each that has them, so that the slots without any cannot be told.
        let empty = held_slots(case).checked_sub(counters(case).sum_tokens).filter(|_| !case.settings.shares());
        empty.map_or_else(|| "-".to_string(), |empty| percent(empty, held_slots(case)))
    }),
    line("promised, not held", |case| {
        percent(counters(case).sum_committed - counters(case).sum_used, counters(case).sum_committed)
    }),
    line("utilisation: tokens / slots of A + R", |case| {
        format!("{:.1} %", counters(case).utilisation(case.settings.block_tokens) * 100.0)
    }),
];

const TIMES: [Line; 2] = [
    line("simulated in, ms", |case| format!("{:.2}", case.elapsed.as_secs_f64() * 1e3)),
    line("requests a second", |case| grouped((counters(case).requests as f64 / case.elapsed.as_secs_f64()) as u64)),
];

/// Characters for the names of figures.
const NAMES: usize = 38;

/// Lines under a title, and in each a cell for every case.
struct Section {
    title: &'static str,
    rows: Vec<sharing::Row>,
}

/// The whole table: lines of at most `width` characters, unless one case alone is wider. Cases that do not fit beside one
/// another follow below.
pub fn render(heading: &Heading<'_>, cases: &[Column<'_>], width: usize) -> String {
    let mut out = String::new();
    head(&mut out, heading);
    let sections = sections(heading, cases);
    let widths: Vec<usize> = cases.iter().map(|(label, _)| label.chars().count().max(11) + 2).collect();
    let mut from = 0;
    while from < cases.len() {
        let mut used = NAMES;
        let fits = |column: &&usize| {
            used += **column;
            used <= width
        };
        let to = from + widths[from..].iter().take_while(fits).count().max(1);
        let labels: Vec<&str> = cases[from..to].iter().map(|(label, _)| *label).collect();
        beside(&mut out, &labels, &widths[from..to], &sections, from);
        from = to;
    }
    notes(&mut out, heading, cases);
    out
}

fn sections(heading: &Heading<'_>, cases: &[Column<'_>]) -> Vec<Section> {
    let replayed: Vec<&Replayed> = cases.iter().map(|(_, case)| *case).collect();
    let of = |title, lines: &[Line]| Section {
        title,
        rows: lines.iter().map(|line| (line.name, replayed.iter().map(|case| (line.text)(case)).collect())).collect(),
    };
    let mut sections = vec![of("requests", &REQUESTS), of("waiting", &WAITING), of("growth", &GROWTH)];
    sections.push(of("blocks over the busy steps", &BLOCKS));
    sections.push(of("use", &USE));
    sections.push(Section { title: "sharing", rows: sharing::rows(&replayed, heading.statics) });
    if heading.times {
        sections.push(of("this machine", &TIMES));
    }
    sections.retain(|section| !section.rows.is_empty());
    sections
}

/// Some cases beside one another: those from number `from` on, one for each of `labels`.
fn beside(out: &mut String, labels: &[&str], widths: &[usize], sections: &[Section], from: usize) {
    let rule = "─".repeat(NAMES + widths.iter().sum::<usize>());
    let _ = write!(out, "\n{:NAMES$}", "");
    for (label, width) in labels.iter().zip(widths) {
        let _ = write!(out, "{label:>width$}");
    }
    for Section { title, rows } in sections {
        let _ = write!(out, "\n{rule}\n{title}");
        for (name, cells) in rows {
            let _ = write!(out, "\n  {name:0$}", NAMES - 2);
            for (cell, width) in cells[from..].iter().zip(widths) {
                let _ = write!(out, "{cell:>width$}");
            }
        }
    }
    let _ = write!(out, "\n{rule}\n");
}

fn head(out: &mut String, heading: &Heading<'_>) {
    let (statics, settings) = (heading.statics, heading.settings);
    let (prompts, outputs) = (grouped(statics.prompt_tokens), grouped(statics.output_tokens));
    let percentiles = &statics.percentiles;
    let _ = writeln!(
        out,
        "{} ({}): {} requests, {} rows without tokens dropped, time scale {}",
        heading.trace,
        heading.format,
        grouped(statics.requests),
        grouped(heading.dropped_rows as u64),
        heading.time_scale
    );
    let _ = writeln!(
        out,
        "tokens: {prompts} of prompts (median {}, p99 {}), {outputs} of outputs (median {}, p99 {})",
        grouped(percentiles.prompt_p50.into()),
        grouped(percentiles.prompt_p99.into()),
        grouped(percentiles.output_p50.into()),
        grouped(percentiles.output_p99.into())
    );
    let safety = if settings.pool == PoolSize::Unlimited { 0 } else { settings.safety };
    let _ = writeln!(
        out,
        "pool: {} blocks of {} tokens, safety margin {}, longest context {}, a step is {} ms",
        pool(settings.pool),
        settings.block_tokens,
        grouped(safety.into()),
        if settings.max_context == 0 { "any".to_string() } else { grouped(settings.max_context.into()) },
        settings.step_us as f64 / 1e3
    );
    if let Some(contiguous) = &statics.contiguous {
        let _ = writeln!(
            out,
            "space: a region of {} slots a request would leave {} of them empty, blocks leave {} of theirs",
            grouped(settings.max_context.into()),
            percent(contiguous.contig_idle_tokens, contiguous.contig_reserved_tokens),
            percent(statics.paged_slack_tokens, statics.total_blocks * u64::from(statics.block_tokens))
        );
    }
}

fn pool(pool: PoolSize) -> String {
    match pool {
        PoolSize::Blocks(blocks) => grouped(blocks.into()),
        PoolSize::Unlimited => "unlimited".to_string(),
    }
}

fn notes(out: &mut String, heading: &Heading<'_>, cases: &[Column<'_>]) {
    let has = |wanted: &str| cases.iter().any(|(_, case)| case.settings.policy.name() == wanted);
    let mut note = |text: &str| out.push_str(&format!("{text}\n"));
    note(
        "A step makes one token for each running request; prompts cost none. The figures compare accounting, not latency.",
    );
    if has("contig") {
        note("contig takes the longest context at once; its empty slots are padding.");
    }
    if has("full") {
        note("full promises the length that was really generated: the best case of a declared limit.");
    }
    if cases.iter().any(|(_, case)| case.settings.shares()) {
        note("Shared blocks count once in A and their tokens for each that has them: utilisation can exceed 100 %.");
    }
    if has("incremental") {
        note(
            "incremental promises the prompt; growth may use the safety margin, and preempts the youngest when A = N.",
        );
    }
    for (label, case) in cases {
        if let Policy::Percentile { q_tokens, exceed } = case.settings.policy {
            let (tokens, action) = (grouped(q_tokens.into()), exceed.name());
            note(&format!("{label} promises the prompt and {tokens} tokens; past them, and out of room: {action}."));
            note(
                "  A percentile is no bound. A Q from this trace's own outputs is in-sample: a server would know less.",
            );
        }
    }
    let impossible =
        |case: &Replayed| case.counters.rejected_ctx + case.counters.rejected_pool == case.counters.requests;
    for (label, _) in cases.iter().filter(|(_, case)| impossible(case)) {
        note(&format!("{label}: no request can ever fit. Raise --pool, or lower --max-context or --safety."));
    }
    if heading.settings.pool == PoolSize::Unlimited {
        for (label, case) in cases {
            note(&format!(
                "{label}: a real pool of {} blocks, which this trace cannot exhaust.",
                grouped(case.pool_blocks.into())
            ));
        }
    }
    if heading.settings.audit {
        note("audit: after each phase of every step counts, rows and promises agreed (I1, I2, I4, I8).");
    }
}
