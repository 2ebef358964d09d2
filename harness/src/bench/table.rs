//! The tables for people.

use super::Report;
use super::goals::Verdict;
use super::locked::WHERE_GOALS_WERE_SET_NS;
use super::matrix::{BATCHES, BLOCKS, Cell, Figure};
use super::step::StepFigures;
use super::trace::TraceFigures;
use crate::report::grouped;
use std::fmt::Write;

const NAME_WIDTH: usize = 18;
const CELL_WIDTH: usize = 15;

/// Everything that was measured.
pub fn render(report: &Report) -> String {
    let mut out = String::new();
    let machine = &report.machine;
    let _ = writeln!(
        out,
        "{}, {} cores, {}, load {} at the start\ncommit {}, {} UTC\n{}",
        machine.model,
        machine.cores,
        machine.system,
        machine.load,
        machine.commit.as_deref().unwrap_or("unknown"),
        machine.date,
        machine.command
    );
    let _ = writeln!(
        out,
        "A load and a compare-exchange that nobody contests: {:.1} ns here, {WHERE_GOALS_WERE_SET_NS} ns on the core for which the goals \
         were set.",
        report.locked_ns
    );
    if machine.load.parse::<f64>().is_ok_and(|load| load >= 1.0) {
        out.push_str("Other work was running: every figure is worse than this machine can do.\n");
    }
    allocators(&mut out, report);
    if let Some(figures) = &report.step {
        step(&mut out, figures);
    }
    if let Some(figures) = &report.replay {
        replay(&mut out, figures, report.rounds);
    }
    goals(&mut out, report);
    out
}

fn allocators(out: &mut String, report: &Report) {
    for threads in [1, 2] {
        let cells: Vec<&Cell> = report.allocators.iter().filter(|cell| cell.threads == threads).collect();
        let Some(first) = cells.first() else { continue };
        let _ = writeln!(
            out,
            "\nOne batch taken and given back, ns of a core: best of {} rounds of {} ms (median). {} thread{}, {} blocks,\n\
             random replacement; the loop alone is in every figure.",
            report.rounds,
            report.slice_ms,
            threads,
            if threads == 1 { "" } else { "s" },
            grouped(BLOCKS.into())
        );
        if let Some(ns) = report.transfer_ns.filter(|_| threads > 1) {
            let _ = writeln!(
                out,
                "A cache line took {} ns from core to core (median); what is shared waits for that.",
                grouped(ns as u64)
            );
        }
        let _ = write!(out, "{:NAME_WIDTH$}", "batch, % held");
        for cell in &cells {
            let _ = write!(out, "{:>CELL_WIDTH$}", format!("{}, {} %", cell.batch, cell.occupancy_percent));
        }
        out.push('\n');
        for figure in &first.figures {
            let _ = write!(out, "{:NAME_WIDTH$}", figure.name);
            for cell in &cells {
                let _ = write!(out, "{:>CELL_WIDTH$}", cell.of(figure.name).map_or_else(String::new, cell_text));
            }
            out.push('\n');
        }
    }
    if report.allocators.iter().flat_map(|cell| &cell.figures).any(|figure| figure.failures > 0) {
        out.push_str("!: batches were refused though there was room.\n");
    }
    if !report.allocators.is_empty() {
        let _ = writeln!(
            out,
            "\nThe peers hand out scattered ids, keep no promises and do not notice a double free; a lock stops everybody when \
             its holder is\ndescheduled. \"ledger and pool\" is a whole life: open, admit, take {} or {} or {} blocks into a table \
             row, end.",
            BATCHES[0], BATCHES[1], BATCHES[2]
        );
    }
}

fn cell_text(figure: &Figure) -> String {
    let text = |ns: f64| if ns < 100.0 { format!("{ns:.1}") } else { format!("{ns:.0}") };
    let refused = if figure.failures > 0 { " !" } else { "" };
    format!("{} ({}){refused}", text(figure.best_ns), text(figure.median_ns))
}

fn step(out: &mut String, figures: &StepFigures) {
    let _ = writeln!(
        out,
        "\nA scheduler step, {} running sequences, blocks of {} tokens, {} steps:\n  advance_many{:>10.1} µs median, {:.1} µs p99, \
         {:.1} blocks taken a step\n  whole turn  {:>10.1} µs median, with submit, complete, and {:.1} sequences replaced a step",
        grouped(figures.sequences.into()),
        figures.block_tokens,
        grouped(figures.steps.into()),
        figures.advance_median_us,
        figures.advance_p99_us,
        figures.blocks_mean,
        figures.turn_median_us,
        figures.replaced_mean
    );
}

fn replay(out: &mut String, figures: &TraceFigures, rounds: u32) {
    let _ = writeln!(
        out,
        "\nReplay of {}, {} requests, {} blocks, safety margin {}, {}, {} preemptions, one core, {rounds} rounds:\n  {} requests \
         a second, best ({} median)",
        figures.trace,
        grouped(figures.requests),
        grouped(figures.pool_blocks.into()),
        figures.safety,
        figures.policy,
        grouped(figures.preemptions),
        grouped(figures.best_per_second as u64),
        grouped(figures.median_per_second as u64)
    );
}

fn goals(out: &mut String, report: &Report) {
    if report.goals.is_empty() {
        return;
    }
    let count = |verdict| report.goals.iter().filter(|goal| goal.verdict == verdict).count();
    let not_judged = match count(Verdict::NotJudged) {
        0 => String::new(),
        count => format!(", {count} not judged"),
    };
    let judged = report.goals.len() - count(Verdict::NotJudged);
    let _ = writeln!(out, "\nGoals: {} of {judged} met{not_judged}", count(Verdict::Met));
    let width = report.goals.iter().map(|goal| goal.what.chars().count()).max().unwrap_or(0);
    for goal in &report.goals {
        let verdict = match goal.verdict {
            Verdict::Met => "met   ",
            Verdict::Missed => "MISSED",
            Verdict::NotJudged => "-     ",
        };
        let _ = writeln!(out, "  {verdict}  {:width$}  hoped {}, measured {}", goal.what, goal.hoped, goal.measured);
        if let Some(why) = &goal.why {
            let _ = writeln!(out, "          {why}");
        }
    }
}
