//! What is shown of a file of figures: text for a terminal, Markdown for a README, a picture, and what has changed since
//! another file. Nothing is measured here.

mod changes;
mod grid;
mod markdown;
mod picture;
mod text;
mod workload;

pub use changes::changes;
pub use markdown::{markdown, put_between_marks};
pub use picture::picture;
pub use text::text;

use super::allocator::FREE_BLOCKS;
use super::document::Report;
use super::figure::{Cell, Figure};
use super::goals::{Goal, Verdict};
use super::load::Occupancy;
use super::stopped::Stopped;

/// One thread: the best round, because everything else that a machine does makes it slower. Several: the middle one; in
/// the best round other work may have kept them from running at the same time, which is what they are measured for.
fn shown(cell: &Cell, figure: &Figure) -> f64 {
    if cell.threads == 1 { figure.best_ns() } else { figure.median_ns() }
}

/// What must stand beside every figure of a machine that had other work.
const DISTURBED: &str = "Other work was running: every figure is worse than this machine can do.";

/// What came of a goal, in a word or two.
fn verdict(goal: &Goal) -> &'static str {
    match goal.verdict {
        Verdict::Met => "met",
        Verdict::Missed => "missed",
        Verdict::NotJudged => "not judged",
    }
}

/// How often the other thread stood still, and whether that says anything.
fn stood_still(stopped: &Stopped) -> String {
    let noise = if stopped.is_noise() { ", noise" } else { "" };
    format!("{} of {}{noise}", stopped.stood_still, stopped.stops)
}

/// `a of b`: loads in which one of these candidates took less time than the free list; without any, nothing.
fn ahead(report: &Report, is_asked: &dyn Fn(&str) -> bool, is_counted: fn(&Cell) -> bool) -> String {
    let pairs = report.allocators.iter().filter(|cell| is_counted(cell)).filter_map(|cell| {
        let ours = cell.of(FREE_BLOCKS)?;
        let mut theirs = cell.figures.iter().filter(|figure| is_asked(&figure.name)).peekable();
        theirs.peek()?;
        Some(theirs.any(|theirs| ours.ratio_to(theirs) > 1.0))
    });
    let (ahead, all) = pairs.fold((0, 0), |(ahead, all), is_ahead| (ahead + u32::from(is_ahead), all + 1));
    if all == 0 { String::new() } else { format!("{ahead} of {all}") }
}

/// Loads of one thread.
fn is_alone(cell: &Cell) -> bool {
    cell.threads == 1
}

/// Loads of several threads.
fn is_shared(cell: &Cell) -> bool {
    cell.threads > 1
}

/// Three digits.
fn digits(figure: f64) -> String {
    match figure {
        figure if figure < 9.95 => format!("{figure:.1}"),
        figure if figure < 9999.5 => format!("{figure:.0}"),
        figure => crate::report::grouped(figure.round() as u64),
    }
}

/// So many threads, in words.
fn threads(count: u32) -> String {
    if count == 1 { "1 thread".to_string() } else { format!("{count} threads") }
}

/// The values that occur, each once, in order.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

/// The pool and the occupancy that are shown where there is room for one: of 65,536 blocks, and nearly full, if they
/// were measured.
fn headline(report: &Report) -> Option<(u32, Occupancy)> {
    let first = report.allocators.first()?;
    let has =
        |blocks, occupancy| report.allocators.iter().any(|cell| (cell.blocks, cell.occupancy) == (blocks, occupancy));
    let wanted = (1 << 16, Occupancy(950));
    Some(if has(wanted.0, wanted.1) { wanted } else { (first.blocks, first.occupancy) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        assert_eq!(
            [0.04, 9.94, 9.96, 123.4, 9999.4, 12_345.0].map(digits),
            ["0.0", "9.9", "10", "123", "9999", "12,345"]
        );
        assert_eq!(distinct([2, 1, 2].into_iter()), [2, 1]);
    }
}
