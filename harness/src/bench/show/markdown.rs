//! The Performance tables of a README, and how they get there.

use super::grid::Grid;
use super::text::{ADMISSION, admission_grid, steps_grid};
use super::{digits, headline, shown, threads};
use crate::bench::allocator::{FREE_BLOCKS, NOTHING, Side};
use crate::bench::document::{Described, Report};
use crate::bench::figure::Cell;
use crate::bench::goals::Verdict;
use crate::report::grouped;
use std::fmt::Write;

/// Begins the part of a README that is made of a file of figures, whose path follows.
const BEGIN: &str = "<!-- figures: ";
const BEGIN_END: &str = " -->\n";
const END: &str = "<!-- end of figures -->\n";

/// The tables. `path` is where the reader finds the figures.
pub fn markdown(report: &Report, path: &str) -> String {
    let mut out = String::new();
    caption(&mut out, report, path);
    if !report.allocators.is_empty() {
        let picture = path.replace(".json", ".svg");
        let _ = writeln!(out, "![Nanoseconds of a core a batch over threads, one panel a load]({picture})\n");
    }
    throughput(&mut out, report);
    peers(&mut out, report);
    calls(&mut out, report);
    goals(&mut out, report);
    // `<` would begin a tag.
    out.replace('<', "&lt;")
}

fn caption(out: &mut String, report: &Report, path: &str) {
    let machine = &report.machine;
    let text_path = path.replace(".json", ".txt");
    let _ = writeln!(
        out,
        "`{}` on {} ({} cores, load {} at the start), {}, commit {}; all figures: [text]({text_path}), [data]({path}).\n",
        machine.command,
        machine.model,
        machine.cores,
        machine.load,
        machine.date.split(' ').next().unwrap_or_default(),
        machine.commit.as_deref().unwrap_or("unknown"),
    );
}

fn throughput(out: &mut String, report: &Report) {
    let Some((blocks, occupancy)) = headline(report) else { return };
    let _ = writeln!(
        out,
        "Nanoseconds of a core for one batch taken and what is given back for it, {} blocks, {occupancy} held, random replacement; \
         one thread: the best of {} rounds, several: the middle one. The loop alone is in every figure. Bold: the lowest.\n",
        grouped(blocks.into()),
        report.rounds
    );
    for count in [1, 2] {
        let is_here = |cell: &&Cell| (cell.blocks, cell.occupancy, cell.threads) == (blocks, occupancy, count);
        let cells: Vec<&Cell> = report.allocators.iter().filter(is_here).collect();
        if !cells.is_empty() {
            let _ = writeln!(out, "{}", by_load(report, count, &cells).markdown());
        }
    }
    if report.allocators.iter().flat_map(|cell| &cell.figures).any(|figure| figure.failures > 0) {
        let _ = writeln!(out, "!: batches were refused though there was room.\n");
    }
}

/// Candidates by load.
fn by_load(report: &Report, count: u32, cells: &[&Cell]) -> Grid {
    let heading = |cell: &&Cell| format!("{} a batch", cell.batches);
    let mut grid = Grid::new(std::iter::once(threads(count)).chain(cells.iter().map(heading)));
    for described in
        report.candidates.iter().filter(|described| cells.iter().any(|cell| cell.of(&described.name).is_some()))
    {
        let of = |cell: &&Cell| {
            let Some(figure) = cell.of(&described.name) else { return String::new() };
            let refused = if figure.failures > 0 { " !" } else { "" };
            let ns = digits(shown(cell, figure));
            if is_lowest(report, cell, &described.name) {
                format!("**{ns}**{refused}")
            } else {
                format!("{ns}{refused}")
            }
        };
        grid.row(std::iter::once(name(report, described)).chain(cells.iter().map(of)));
    }
    grid
}

/// Ours stand out.
fn name(report: &Report, described: &Described) -> String {
    if report.is_ours(&described.name) { format!("**{}**", described.name) } else { described.name.clone() }
}

/// Of those that allocate, the pool's whole life left aside.
fn is_lowest(report: &Report, cell: &Cell, name: &str) -> bool {
    let competes = |name: &str| {
        name == FREE_BLOCKS || report.described(name).is_some_and(|described| described.side == Side::Peer)
    };
    let figures = cell.figures.iter().filter(|figure| competes(&figure.name));
    let lowest = figures.min_by(|one, other| shown(cell, one).total_cmp(&shown(cell, other)));
    lowest.is_some_and(|lowest| lowest.name == name)
}

/// What each peer gives up, and where it is ahead.
fn peers(out: &mut String, report: &Report) {
    let Some((blocks, occupancy)) = headline(report) else { return };
    let _ = writeln!(
        out,
        "What each of them keeps to, and in how many of all loads that were measured it is ahead of the free list:\n"
    );
    let headings =
        ["", "ahead, 1 thread", "ahead, 2 to 8", "blocks a run", "stood still", "what it gives up"].map(String::from);
    let mut grid = Grid::new(headings);
    for described in report.candidates.iter().filter(|described| described.name != NOTHING) {
        let ahead = |is_counted: fn(&Cell) -> bool| ahead(report, &described.name, is_counted);
        let is_peer = described.side == Side::Peer;
        let of_peer = |text: String| if is_peer { text } else { String::new() };
        let near = report.neighbours.iter().find(|near| (near.blocks, near.occupancy) == (blocks, occupancy));
        let run = near.and_then(|near| near.figures.iter().find(|figure| figure.name == described.name));
        let stopped = report.stopped.iter().find(|stopped| stopped.name == described.name);
        if report.allocators.iter().all(|cell| cell.of(&described.name).is_none()) {
            continue;
        }
        grid.row([
            name(report, described),
            of_peer(ahead(|cell| cell.threads == 1)),
            of_peer(ahead(|cell| cell.threads > 1)),
            run.map_or_else(String::new, |run| format!("{:.1}", run.blocks_a_run)),
            stopped.map_or_else(String::new, |stopped| format!("{} of {}", stopped.stood_still, stopped.stops)),
            described.keeps.gives_up(),
        ]);
    }
    let _ = writeln!(out, "{}", grid.markdown());
    let _ = writeln!(
        out,
        "*Blocks a run*: neighbours that a growing sequence got, {occupancy} of {} held. *Stood still*: times that a thread came \
         to a stand while another one was stopped in the middle of a call.\n",
        grouped(blocks.into())
    );
}

/// `a of b`: loads in which a candidate took less time than the free list.
fn ahead(report: &Report, name: &str, is_counted: fn(&Cell) -> bool) -> String {
    let pairs = report.allocators.iter().filter(|cell| is_counted(cell)).filter_map(|cell| {
        let (theirs, ours) = (cell.of(name)?, cell.of(FREE_BLOCKS)?);
        Some(ours.ratio_to(theirs) > 1.0)
    });
    let (ahead, all) = pairs.fold((0, 0), |(ahead, all), is_ahead| (ahead + u32::from(is_ahead), all + 1));
    format!("{ahead} of {all}")
}

/// The calls of the pool.
fn calls(out: &mut String, report: &Report) {
    if let Some(grid) = admission_grid(report) {
        let _ = writeln!(out, "{ADMISSION}\n\n{}", grid.markdown());
    }
    if let Some((words, grid)) = steps_grid(&report.steps) {
        let _ = writeln!(out, "{words}\n\n{}", grid.markdown());
    }
    if let Some(replay) = &report.replay {
        let _ = writeln!(
            out,
            "Replay of `{}`, {} requests, {} blocks, {}, one core: {} requests a second.\n",
            replay.trace,
            grouped(replay.requests),
            grouped(replay.pool_blocks.into()),
            replay.policy,
            grouped(replay.best_per_second as u64)
        );
    }
}

fn goals(out: &mut String, report: &Report) {
    if report.goals.is_empty() {
        return;
    }
    let mut lines = String::new();
    for goal in report.goals.iter().filter(|goal| goal.verdict != Verdict::NotJudged) {
        let verdict = if goal.verdict == Verdict::Met { "met" } else { "**missed**" };
        let why = goal.why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
        let _ = writeln!(lines, "- {verdict}: {}: hoped {}, measured {}{why}", goal.what, goal.hoped, goal.measured);
    }
    let _ = writeln!(out, "Set beforehand:\n\n{}", lines.trim_end());
}

/// `page` with the part between its marks made anew: `<!-- figures: PATH -->` names the file, which `make` turns into text,
/// `<!-- end of figures -->` ends it. Errors: what is wrong with the marks, or `make`'s.
pub fn put_between_marks(page: &str, make: impl FnOnce(&str) -> Result<String, String>) -> Result<String, String> {
    let (before, rest) = page.split_once(BEGIN).ok_or_else(|| format!("there is no line `{BEGIN}PATH{BEGIN_END}`"))?;
    let (path, rest) = rest.split_once(BEGIN_END).ok_or("the mark that names the figures does not end")?;
    let (_, after) = rest.split_once(END).ok_or_else(|| format!("there is no line `{END}`").replace('\n', ""))?;
    let made = make(path)?;
    Ok(format!("{before}{BEGIN}{path}{BEGIN_END}{made}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Batches, Figure, Occupancy};

    #[test]
    fn what_is_between_the_marks_is_made_anew() {
        let page = "a\n<!-- figures: f.json -->\nold\n<!-- end of figures -->\nb\n";
        let made = put_between_marks(page, |path| Ok(format!("of {path}\n")));
        assert_eq!(made, Ok("a\n<!-- figures: f.json -->\nof f.json\n<!-- end of figures -->\nb\n".to_string()));
        assert!(put_between_marks("a", |_| Ok(String::new())).is_err());
        assert!(put_between_marks(page, |_| Err("no".to_string())).is_err());
    }

    /// Losing cases are shown: the lowest figure is marked, whoever has it, and a peer that is ahead is counted.
    #[test]
    fn who_is_ahead_is_said() {
        let figure = |name: &str, ns| Figure { rounds_ns: vec![ns], ..Figure::new(name) };
        let cell = |threads, theirs| Cell {
            blocks: 1024,
            batches: Batches::Fixed(17),
            threads,
            occupancy: Occupancy(500),
            repeated: 0,
            figures: vec![figure("Mutex<Vec>", theirs), figure(FREE_BLOCKS, 40.0)],
        };
        let report = Report { allocators: vec![cell(1, 20.0), cell(2, 200.0)], ..Report::empty() };
        let text = markdown(&report, "f.json");
        assert!(text.contains("| Mutex&lt;Vec> | **20** |") && text.contains("| **free list** | 40 |"), "{text}");
        assert!(text.contains("| Mutex&lt;Vec> | 200 |") && text.contains("| **free list** | **40** |"), "{text}");
        assert!(text.contains("| Mutex&lt;Vec> | 1 of 1 | 0 of 1 |"), "{text}");
    }
}
