//! Workload W in words and in a table.

use super::grid::Grid;
use super::{digits, threads};
use crate::bench::workload::{ManagerFigure, OURS, WorkloadFigures};
use crate::report::grouped;

/// What was done, and managers by threads.
pub(super) fn workload_grid(figures: &WorkloadFigures) -> (String, Grid) {
    let headings = figures.runs.iter().flat_map(|run| {
        let threads = threads(run.threads);
        [format!("{threads}: M blocks/s, best (median)"), "ours / this".to_string(), "hits".to_string()]
    });
    let mut grid = Grid::new(std::iter::once(String::new()).chain(headings));
    let managers = figures.runs.first().map_or(&[][..], |run| &run.figures);
    for manager in managers {
        let cells = figures.runs.iter().flat_map(|run| {
            let of = |name: &str| run.figures.iter().find(|figure| figure.name == name);
            let figure = of(&manager.name);
            let ratio = of(OURS).zip(figure).map_or_else(String::new, |(ours, other)| ratio(ours, other));
            [figure.map_or_else(String::new, rate), ratio, figure.map_or_else(String::new, hits)]
        });
        grid.row(std::iter::once(manager.name.clone()).chain(cells));
    }
    let left_out = match figures.left_out {
        0 => String::new(),
        count => format!(" ({} more are left out: they do not fit)", grouped(count)),
    };
    let words = format!(
        "Workload W, {}: {} requests{left_out}, at most {} live in {} blocks of {} tokens, {} blocks attached, hits and new \
         ones. Each thread has its part of the requests and of the room. A ratio is the middle one of the rounds'.",
        figures.trace,
        grouped(figures.requests),
        figures.live,
        grouped(figures.pool_blocks.into()),
        figures.block_tokens,
        grouped(figures.blocks)
    );
    (words, grid)
}

fn rate(figure: &ManagerFigure) -> String {
    format!("{} ({})", digits(figure.best_per_second() / 1e6), digits(figure.median_per_second() / 1e6))
}

fn ratio(ours: &ManagerFigure, other: &ManagerFigure) -> String {
    if ours.name == other.name { String::new() } else { format!("{:.2}", ours.ratio_to(other)) }
}

fn hits(figure: &ManagerFigure) -> String {
    match figure.hits() {
        (fewest, most) if fewest == most => grouped(most),
        (fewest, most) => format!("{} to {}", grouped(fewest), grouped(most)),
    }
}
