//! What has become of our figures since another run. Only runs of one machine can be compared, and only roughly: what is
//! measured in both by the same loop says how far the machine itself has changed.

use super::grid::{Grid, wrapped};
use super::{digits, shown};
use crate::bench::allocator::NOTHING;
use crate::bench::document::Report;

/// Our figures of both runs, for every load and step that both have.
pub fn changes(new: &Report, old: &Report, width: usize) -> String {
    let mut grid = Grid::new(["", "then", "now", "now / then"].map(String::from));
    let mut loop_alone = Vec::new();
    for cell in &new.allocators {
        let Some(before) = old.allocators.iter().find(|other| other.is_like(cell) && other.threads == cell.threads)
        else {
            continue;
        };
        for figure in &cell.figures {
            let Some(then) = before.of(&figure.name) else { continue };
            let (then, now) = (shown(before, then), shown(cell, figure));
            if figure.name == NOTHING {
                loop_alone.push(now / then);
            } else if new.is_ours(&figure.name) {
                row(&mut grid, &format!("{}, {}", figure.name, cell.load()), then, now);
            }
        }
    }
    for step in &new.steps {
        let Some(then) = old.steps.iter().find(|other| other.sequences == step.sequences) else { continue };
        let name = |what| format!("{what} over {} sequences, ns", step.sequences);
        row(&mut grid, &name("advance_many"), then.advance_median_us * 1e3, step.advance_median_us * 1e3);
        row(&mut grid, &name("a turn"), then.turn_median_us * 1e3, step.turn_median_us * 1e3);
    }
    let machine = |report: &Report| {
        format!("{}, commit {}, {} UTC", report.machine.model, report.machine.commit(), report.machine.date)
    };
    let mut out = wrapped(&format!("then: {}", machine(old)), width);
    out += &wrapped(&format!("now:  {}", machine(new)), width);
    if !loop_alone.is_empty() {
        let middle = crate::bench::median(&loop_alone);
        out +=
            &wrapped(&format!("The loop alone, which has not changed, takes {middle:.2} of what it took then."), width);
    }
    out + "\n" + &grid.render(width)
}

fn row(grid: &mut Grid, name: &str, then: f64, now: f64) {
    grid.row([name.to_string(), digits(then), digits(now), format!("{:.2}", now / then)]);
}
