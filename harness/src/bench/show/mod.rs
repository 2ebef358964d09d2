//! What is shown of a file of figures: text for a terminal, Markdown for a README, a picture, and what has changed since
//! another file. Nothing is measured here.

mod changes;
mod grid;
mod markdown;
mod picture;
mod text;

pub use changes::changes;
pub use markdown::{markdown, put_between_marks};
pub use picture::picture;
pub use text::text;

use super::document::Report;
use super::figure::{Cell, Figure};
use super::load::Occupancy;

/// One thread: the best round, because everything else that a machine does makes it slower. Several: the middle one; in
/// the best round other work may have kept them from running at the same time, which is what they are measured for.
fn shown(cell: &Cell, figure: &Figure) -> f64 {
    if cell.threads == 1 { figure.best_ns() } else { figure.median_ns() }
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
