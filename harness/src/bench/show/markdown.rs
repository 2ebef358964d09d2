//! The Performance tables of a README, and how they get there.

use super::grid::Grid;
use super::text::{ADMISSION, admission_grid, steps_grid};
use super::workload::workload_grid;
use super::{DISTURBED, ahead, digits, headline, is_alone, is_shared, shown, stood_still, threads, verdict};
use crate::bench::allocator::{FREE_BLOCKS, NOTHING, QUEUE, Side};
use crate::bench::document::{Described, Report};
use crate::bench::figure::{Cell, Figure};
use crate::bench::goals::Verdict;
use crate::bench::stopped::NOISE;
use crate::report::grouped;
use std::fmt::Write;

/// Begins the part of a README that is made of a file of figures, whose path follows.
const BEGIN: &str = "<!-- figures: ";
const BEGIN_END: &str = " -->\n";
const END: &str = "<!-- end of figures -->\n";

/// Peers that have a row of their own, by what people use; the others are in the text.
const SHOWN: [&str; 6] =
    ["Mutex<Vec>", "parking_lot, Vec", "spin lock, Vec", QUEUE, "heapless queue", "Treiber stack, chained"];

/// The row of all who could stand in for the free list.
const CAREFUL: &str = "best careful peer";

/// The tables. `path` is where the reader finds the figures.
pub fn markdown(report: &Report, path: &str) -> String {
    let mut out = String::new();
    caption(&mut out, report, path);
    if !report.allocators.is_empty() {
        let picture = path.replace(".json", ".svg");
        let _ = writeln!(out, "![Nanoseconds of a core a batch over threads, one panel a load]({picture})\n");
    }
    throughput(&mut out, report, &path.replace(".json", ".txt"));
    peers(&mut out, report);
    calls(&mut out, report);
    goals(&mut out, report);
    // `<` would begin a tag.
    out.replace('<', "&lt;")
}

fn caption(out: &mut String, report: &Report, path: &str) {
    let machine = &report.machine;
    let text_path = path.replace(".json", ".txt");
    let disturbed = if machine.is_disturbed() { format!(" {DISTURBED}") } else { String::new() };
    let _ = writeln!(
        out,
        "`{}` on {} ({} cores, load {} at the start), {}, commit {}; all figures: [text]({text_path}), [data]({path}).{disturbed}\n",
        machine.command,
        machine.model,
        machine.cores,
        machine.load,
        machine.date.split(' ').next().unwrap_or_default(),
        machine.commit(),
    );
}

fn throughput(out: &mut String, report: &Report, text_path: &str) {
    let Some((blocks, occupancy)) = headline(report) else { return };
    let _ = writeln!(
        out,
        "Nanoseconds of a core for one batch taken and what is given back for it, {} blocks, {occupancy} held, random replacement; \
         one thread: the best of {} rounds, several: the middle one. The loop alone is in every figure. Bold: the lowest of all peers and the free list. \
         *{CAREFUL}*: in each load the lowest of those that keep N blocks and see double frees ({}); each by itself is in the \
         [text]({text_path}).\n",
        grouped(blocks.into()),
        report.rounds,
        careful_names(report)
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

/// Who could stand in for the free list, of those that were measured.
fn careful_names(report: &Report) -> String {
    let is_measured = |name: &str| report.allocators.iter().any(|cell| cell.of(name).is_some());
    let names = report.candidates.iter().map(|described| described.name.as_str());
    let careful: Vec<&str> = names.filter(|name| report.is_careful_peer(name) && is_measured(name)).collect();
    if careful.is_empty() { "none was measured".to_string() } else { careful.join("; ") }
}

/// Candidates that have a row: the loop, the peers that people use, ours.
fn rows(report: &Report) -> impl Iterator<Item = &Described> {
    let has_row = |described: &&Described| described.side != Side::Peer || SHOWN.contains(&described.name.as_str());
    let is_measured = |described: &&Described| report.allocators.iter().any(|cell| cell.of(&described.name).is_some());
    report.candidates.iter().filter(has_row).filter(is_measured)
}

/// Candidates by load, ours last.
fn by_load(report: &Report, count: u32, cells: &[&Cell]) -> Grid {
    let heading = |cell: &&Cell| format!("{} a batch", cell.batches);
    let mut grid = Grid::new(std::iter::once(threads(count)).chain(cells.iter().map(heading)));
    let (ours, others): (Vec<_>, Vec<_>) = rows(report).partition(|described| described.side == Side::Ours);
    let one = |described: &Described| {
        let of = |cell: &&Cell| cell.of(&described.name).map_or_else(String::new, |figure| entry(report, cell, figure));
        std::iter::once(name(report, described)).chain(cells.iter().map(of)).collect::<Vec<_>>()
    };
    others.into_iter().for_each(|described| grid.row(one(described)));
    let careful: Vec<String> = cells.iter().map(|cell| best_careful(report, cell)).collect();
    if careful.iter().any(|entry| !entry.is_empty()) {
        grid.row(std::iter::once(CAREFUL.to_string()).chain(careful));
    }
    ours.into_iter().for_each(|described| grid.row(one(described)));
    grid
}

/// The lowest figure of those that could stand in for the free list.
fn best_careful(report: &Report, cell: &Cell) -> String {
    let careful = cell.figures.iter().filter(|figure| report.is_careful_peer(&figure.name));
    let best = careful.min_by(|one, other| shown(cell, one).total_cmp(&shown(cell, other)));
    best.map_or_else(String::new, |figure| entry(report, cell, figure))
}

/// A figure: bold if it is the lowest, marked if there were refusals.
fn entry(report: &Report, cell: &Cell, figure: &Figure) -> String {
    let refused = if figure.failures > 0 { " !" } else { "" };
    let ns = digits(shown(cell, figure));
    if is_lowest(report, cell, &figure.name) { format!("**{ns}**{refused}") } else { format!("{ns}{refused}") }
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
    let headings = ["", "ahead, 1 thread", "ahead, several threads", "blocks a run", "stood still", "what it gives up"];
    let mut grid = Grid::new(headings.map(String::from));
    let (ours, others): (Vec<_>, Vec<_>) = rows(report).partition(|described| described.side == Side::Ours);
    let near = report.neighbours.iter().find(|near| (near.blocks, near.occupancy) == (blocks, occupancy));
    let one = |described: &Described| {
        let is_it = |name: &str| name == described.name && described.side == Side::Peer;
        let run = near.and_then(|near| near.figures.iter().find(|figure| figure.name == described.name));
        let stopped = report.stopped.iter().find(|stopped| stopped.name == described.name);
        [
            name(report, described),
            ahead(report, &is_it, is_alone),
            ahead(report, &is_it, is_shared),
            run.map_or_else(String::new, |run| format!("{:.1}", run.blocks_a_run)),
            stopped.map_or_else(String::new, stood_still),
            report.gives_up(described),
        ]
    };
    others.iter().filter(|described| described.name != NOTHING).for_each(|described| grid.row(one(described)));
    let of_careful = |is_counted| ahead(report, &|name| report.is_careful_peer(name), is_counted);
    let careful = [of_careful(is_alone), of_careful(is_shared)];
    if careful.iter().any(|entry| !entry.is_empty()) {
        let [alone, shared] = careful;
        let words = "differs from one to the other: see the text".to_string();
        grid.row([CAREFUL.to_string(), alone, shared, String::new(), String::new(), words]);
    }
    ours.iter().for_each(|described| grid.row(one(described)));
    let _ = writeln!(out, "{}", grid.markdown());
    let _ = writeln!(
        out,
        "*Blocks a run*: neighbours that a growing sequence got, {occupancy} of {} held. *Stood still*: times that a thread came \
         to a stand while another one was stopped in the middle of a call; it counts as \"a stopped thread stops the others\" \
         from one stop in {NOISE} on, fewer are noise.\n",
        grouped(blocks.into())
    );
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
    if let Some(figures) = &report.workload {
        let (words, grid) = workload_grid(figures);
        let _ = writeln!(out, "{words}\n\n{}", grid.markdown());
    }
}

fn goals(out: &mut String, report: &Report) {
    if report.goals.is_empty() {
        return;
    }
    let mut lines = String::new();
    for goal in &report.goals {
        let verdict = if goal.verdict == Verdict::Missed { "**missed**" } else { verdict(goal) };
        let words = [&goal.why, &goal.note].into_iter().flatten().map(|words| format!(" ({words})"));
        let words: String = words.collect();
        let _ = writeln!(lines, "- {verdict}: {}: hoped {}, measured {}{words}", goal.what, goal.hoped, goal.measured);
    }
    let _ = writeln!(out, "Goals, and what came of them:\n\n{}", lines.trim_end());
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
    use crate::bench::allocator::CANDIDATES;
    use crate::bench::{Batches, Occupancy};

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

    /// Those without a row of their own are in one together: it has the lowest of them, by load.
    #[test]
    fn careful_peers_share_a_row() {
        assert!(SHOWN.iter().all(|name| CANDIDATES.iter().any(|candidate| candidate.name == *name)));
        let figure = |name: &str, ns| Figure { rounds_ns: vec![ns], ..Figure::new(name) };
        let cell = |batch, flat, counted| Cell {
            blocks: 1024,
            batches: Batches::Fixed(batch),
            threads: 2,
            occupancy: Occupancy(500),
            repeated: 0,
            figures: vec![
                figure("bit map, flat", flat),
                figure("bit map, counted", counted),
                figure(FREE_BLOCKS, 40.0),
            ],
        };
        let report = Report { allocators: vec![cell(1, 30.0, 50.0), cell(17, 60.0, 55.0)], ..Report::empty() };
        let text = markdown(&report, "f.json");
        assert!(text.contains("| best careful peer | **30** | 55 |"), "{text}");
        assert!(text.contains("(bit map, flat; bit map, counted)") && !text.contains("| bit map"), "{text}");
        assert!(text.contains("| best careful peer |  | 1 of 2 |"), "{text}");
    }

    #[test]
    fn a_page_says_that_other_work_was_running_and_what_was_not_judged() {
        let mut report = Report::empty();
        (report.machine.load, report.machine.commit) = ("1.5".to_string(), Some("abc+".to_string()));
        report.goals = vec![crate::bench::Goal {
            what: "a".to_string(),
            hoped: "b".to_string(),
            measured: "c".to_string(),
            verdict: Verdict::NotJudged,
            why: Some("the sample was replayed".to_string()),
            note: None,
            missed_in: Vec::new(),
        }];
        let text = markdown(&report, "f.json");
        assert!(text.contains(DISTURBED) && text.contains("commit abc with uncommitted changes;"), "{text}");
        assert!(text.contains("- not judged: a: hoped b, measured c (the sample was replayed)"), "{text}");
        report.machine.load = "0.99".to_string();
        assert!(!markdown(&report, "f.json").contains(DISTURBED));
    }
}
