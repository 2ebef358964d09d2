//! Everything that was measured, as text.

use super::grid::{Grid, wrapped};
use super::workload::workload_grid;
use super::{DISTURBED, ahead, digits, distinct, headline, is_alone, is_shared, stood_still, threads, verdict};
use crate::bench::admission::Contention;
use crate::bench::document::Report;
use crate::bench::figure::{Cell, Figure};
use crate::bench::goals::Verdict;
use crate::bench::histogram::Quantiles;
use crate::bench::locked::WHERE_GOALS_WERE_SET_NS;
use crate::bench::step::StepFigures;
use crate::report::grouped;

/// Text, and how wide it may be.
struct Page {
    out: String,
    width: usize,
}

impl Page {
    fn say(&mut self, words: &str) {
        self.out.push_str(&wrapped(words, self.width));
    }

    /// A paragraph, and the table under it.
    fn table(&mut self, words: &str, grid: &Grid) {
        self.out.push('\n');
        self.say(words);
        self.out.push_str(&grid.render(self.width));
    }
}

/// Everything that was measured, in lines of at most `width` characters where words allow it.
pub fn text(report: &Report, width: usize) -> String {
    let mut page = Page { out: String::new(), width };
    head(&mut page, report);
    allocators(&mut page, report);
    calls(&mut page, report);
    neighbours(&mut page, report);
    stopped(&mut page, report);
    admission(&mut page, report);
    steps(&mut page, &report.steps);
    replay(&mut page, report);
    workload(&mut page, report);
    goals(&mut page, report);
    page.out
}

fn head(page: &mut Page, report: &Report) {
    let machine = &report.machine;
    let cores = machine.cores;
    page.say(&format!("{}, {cores} cores, {}, load {} at the start", machine.model, machine.system, machine.load));
    page.say(&format!("commit {}, {} UTC", machine.commit(), machine.date));
    page.say(&machine.command);
    page.say(&format!(
        "A load and a compare-exchange that nobody contests: {:.1} ns here, {WHERE_GOALS_WERE_SET_NS} ns on the core for \
         which the goals were set.",
        report.locked_ns
    ));
    if let Some(ns) = report.transfer_ns {
        let ns = grouped(ns as u64);
        page.say(&format!("A cache line took {ns} ns from core to core (median); what is shared waits for that."));
    }
    if machine.is_disturbed() {
        page.say(DISTURBED);
    }
}

fn allocators(page: &mut Page, report: &Report) {
    let Some(first) = report.allocators.first() else { return };
    page.out.push('\n');
    page.say(&format!(
        "One batch taken, and what is given back for it, ns of a core: {} rounds of {} ms, best (median). Random \
         replacement: each thread gives back a batch of its own when it has no room. The loop alone is in every figure.",
        report.rounds, report.slice_ms
    ));
    for ((blocks, occupancy), count) in tables(report) {
        let is_here = |cell: &&Cell| (cell.blocks, cell.occupancy, cell.threads) == (blocks, occupancy, count);
        let cells: Vec<&Cell> = report.allocators.iter().filter(is_here).collect();
        let headings = cells.iter().map(|cell| format!("{} a batch", cell.batches));
        let mut grid = Grid::new(std::iter::once(String::new()).chain(headings));
        for figure in &first.figures {
            let of = |cell: &&Cell| cell.of(&figure.name).map_or_else(String::new, cell_text);
            grid.row(std::iter::once(figure.name.clone()).chain(cells.iter().map(of)));
        }
        let in_turn = if count > report.machine.cores { ": more than there are cores, they run in turn" } else { "" };
        let threads = threads(count);
        page.table(&format!("{} blocks, {occupancy} held, {threads}{in_turn}", grouped(blocks.into())), &grid);
    }
    if report.allocators.iter().flat_map(|cell| &cell.figures).any(|figure| figure.failures > 0) {
        page.say("!: batches were refused though there was room.");
    }
    let repeated: u32 = report.allocators.iter().map(|cell| cell.repeated).sum();
    page.say(&format!("Measured again, because the kernel gave the core to other work: {repeated} times."));
    let other = |described: &&crate::bench::Described| described.side == crate::bench::Side::Peer;
    for described in report.candidates.iter().filter(other) {
        let ahead = |is_counted| ahead(report, &|name| name == described.name, is_counted);
        let loads = [("one thread", ahead(is_alone)), ("several", ahead(is_shared))];
        let loads =
            loads.iter().filter(|(_, ahead)| !ahead.is_empty()).map(|(who, ahead)| format!("{ahead} loads with {who}"));
        let loads = loads.collect::<Vec<_>>().join(", ");
        if !loads.is_empty() {
            let gives_up = report.gives_up(described);
            page.say(&format!("{}: {gives_up}; ahead of the free list in {loads}.", described.name));
        }
    }
    page.say("\"ledger and pool\" is a whole life: open, admit, take the blocks into a table row, end.");
}

/// Pool and occupancy, and threads, of each table.
fn tables(report: &Report) -> Vec<((u32, crate::bench::Occupancy), u32)> {
    let mut all = distinct(report.allocators.iter().map(|cell| ((cell.blocks, cell.occupancy), cell.threads)));
    all.sort();
    all
}

fn cell_text(figure: &Figure) -> String {
    let refused = if figure.failures > 0 { " !" } else { "" };
    format!("{} ({}){refused}", digits(figure.best_ns()), digits(figure.median_ns()))
}

fn quantiles(quantiles: Option<Quantiles>) -> String {
    quantiles.map_or_else(String::new, |Quantiles(half, most, nearly)| {
        format!("{} / {} / {}", digits(half), digits(most), digits(nearly))
    })
}

fn calls(page: &mut Page, report: &Report) {
    let Some((blocks, occupancy)) = headline(report) else { return };
    for threads in [1, 2] {
        let is_here = |cell: &&Cell| (cell.blocks, cell.occupancy, cell.threads) == (blocks, occupancy, threads);
        let cells: Vec<&Cell> = report.allocators.iter().filter(is_here).collect();
        let timed = cells.iter().find(|cell| cell.batches.to_string() == "17").or(cells.first());
        let Some(cell) = timed.filter(|cell| cell.figures.iter().any(|figure| figure.take_ns.is_some())) else {
            continue;
        };
        let mut grid = Grid::new(["", "take p50 / p99 / p99.9", "give p50 / p99 / p99.9"].map(String::from));
        for figure in &cell.figures {
            grid.row([figure.name.clone(), quantiles(figure.take_ns), quantiles(figure.give_ns)]);
        }
        let what = "Single calls, ns, the clock's own time in them (the loop alone shows it)";
        page.table(&format!("{what}: {}. The file has them for every load.", cell.load()), &grid);
    }
}

fn neighbours(page: &mut Page, report: &Report) {
    let Some(first) = report.neighbours.first() else { return };
    let heading = |of: &crate::bench::Neighbours| format!("{} of {}", of.occupancy, grouped(of.blocks.into()));
    let mut grid = Grid::new(std::iter::once(String::new()).chain(report.neighbours.iter().map(heading)));
    for figure in &first.figures {
        let of = |all: &crate::bench::Neighbours| {
            let found = all.figures.iter().find(|other| other.name == figure.name);
            found.map_or_else(String::new, |figure| format!("{:.1}", figure.blocks_a_run))
        };
        grid.row(std::iter::once(figure.name.clone()).chain(report.neighbours.iter().map(of)));
    }
    page.table(
        "Neighbouring blocks a run, sequences that grow block by block, one thread: a copy of a run is one order.",
        &grid,
    );
}

fn stopped(page: &mut Page, report: &Report) {
    let Some(first) = report.stopped.first() else { return };
    let mut grid = Grid::new(["", "stood still", "fewest turns made meanwhile"].map(String::from));
    for stopped in &report.stopped {
        grid.row([stopped.name.clone(), stood_still(stopped), stopped.fewest.to_string()]);
    }
    let enough = crate::bench::stopped::ENOUGH;
    page.table(
        &format!(
            "One of two threads is stopped by a signal at a random moment, {} times, until the other has made {enough} turns, \
             or none for {} ms. A stand counts from one stop in {} on: fewer are noise, of a machine that gives a thread no core.",
            first.stops,
            crate::bench::stopped::PATIENCE.as_millis(),
            crate::bench::stopped::NOISE
        ),
        &grid,
    );
}

fn admission(page: &mut Page, report: &Report) {
    if let Some(grid) = admission_grid(report) {
        page.table(ADMISSION, &grid);
    }
}

/// What [`admission_grid`] has.
pub(super) const ADMISSION: &str =
    "145 blocks promised and let go, ns of a core, all threads on one pool: best (median).";

/// Ways to admit by threads.
pub(super) fn admission_grid(report: &Report) -> Option<Grid> {
    let first = report.admission.first()?;
    let heading = |of: &Contention| threads(of.threads);
    let mut grid = Grid::new(std::iter::once(String::new()).chain(report.admission.iter().map(heading)));
    for (row, figure) in first.figures.iter().enumerate() {
        let of = |all: &Contention| all.figures.get(row).map_or_else(String::new, cell_text);
        grid.row(std::iter::once(figure.name.clone()).chain(report.admission.iter().map(of)));
    }
    Some(grid)
}

fn steps(page: &mut Page, steps: &[StepFigures]) {
    if let Some((words, grid)) = steps_grid(steps) {
        page.table(&words, &grid);
    }
}

/// What a step costs by running sequences, and what that means.
pub(super) fn steps_grid(steps: &[StepFigures]) -> Option<(String, Grid)> {
    let first = steps.first()?;
    let heading = |step: &StepFigures| format!("{} sequences", grouped(step.sequences.into()));
    let mut grid = Grid::new(std::iter::once(String::new()).chain(steps.iter().map(heading)));
    type Row = (&'static str, fn(&StepFigures) -> String);
    let rows: [Row; 10] = [
        ("advance_many, median", |step| format!("{:.2}", step.advance_median_us)),
        ("advance_many, p99", |step| format!("{:.2}", step.advance_p99_us)),
        ("whole turn, median", |step| format!("{:.2}", step.turn_median_us)),
        ("advance_many, recorded", |step| format!("{:.2}", step.recorded_median_us)),
        ("advance_many, not recorded", |step| format!("{:.2}", step.unrecorded_median_us)),
        ("export of changed rows", |step| format!("{:.2}", step.export_changed_median_us)),
        ("export of all, packed", |step| format!("{:.2}", step.export_all_median_us)),
        ("blocks taken", |step| format!("{:.1}", step.blocks_mean)),
        ("sequences replaced", |step| format!("{:.1}", step.replaced_mean)),
        ("blocks in all rows", |step| grouped(step.indices_mean as u64)),
    ];
    for (name, of) in rows {
        grid.row(std::iter::once(name.to_string()).chain(steps.iter().map(of)));
    }
    let words = format!(
        "A scheduler step, one token for every running sequence, blocks of {} tokens, {} steps: µs. A turn has submit, \
         complete and the sequences that ended replaced.",
        first.block_tokens,
        grouped(first.steps.into())
    );
    Some((words, grid))
}

fn replay(page: &mut Page, report: &Report) {
    let Some(figures) = &report.replay else { return };
    page.out.push('\n');
    page.say(&format!(
        "Replay of {}, {} requests, {} blocks, safety margin {}, {}, {} preemptions, one core, {} rounds: {} requests a \
         second, best ({} median).",
        figures.trace,
        grouped(figures.requests),
        grouped(figures.pool_blocks.into()),
        figures.safety,
        figures.policy,
        grouped(figures.preemptions),
        report.rounds,
        grouped(figures.best_per_second as u64),
        grouped(figures.median_per_second as u64)
    ));
}

fn workload(page: &mut Page, report: &Report) {
    if let Some(figures) = &report.workload {
        let (words, grid) = workload_grid(figures);
        page.table(&words, &grid);
    }
}

/// Loads of a missed goal that are shown.
const MISSED_SHOWN: usize = 12;

fn goals(page: &mut Page, report: &Report) {
    if report.goals.is_empty() {
        return;
    }
    let count = |verdict| report.goals.iter().filter(|goal| goal.verdict == verdict).count();
    let not_judged = match count(Verdict::NotJudged) {
        0 => String::new(),
        count => format!(", {count} not judged"),
    };
    let judged = report.goals.len() - count(Verdict::NotJudged);
    page.out.push('\n');
    page.say(&format!("Goals: {} of {judged} met{not_judged}", count(Verdict::Met)));
    for goal in &report.goals {
        let verdict = if goal.verdict == Verdict::Missed { "MISSED" } else { verdict(goal) };
        page.say(&format!("{verdict}: {}: hoped {}, measured {}", goal.what, goal.hoped, goal.measured));
        if let Some(note) = &goal.note {
            page.say(note);
        }
        if let Some(why) = &goal.why {
            page.say(why);
        }
        for load in goal.missed_in.iter().take(MISSED_SHOWN) {
            page.out.push_str(&format!("  {load}\n"));
        }
        if goal.missed_in.len() > MISSED_SHOWN {
            page.say(&format!("and {} more, in the file", goal.missed_in.len() - MISSED_SHOWN));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::shown;
    use super::*;
    use crate::bench::{Batches, Occupancy};

    #[test]
    fn a_cell_says_what_was_refused() {
        let figure = Figure { rounds_ns: vec![10.0, 30.0, 20.0], failures: 1, ..Figure::new("ArrayQueue") };
        assert_eq!(cell_text(&figure), "10 (20) !");
        let (batches, occupancy) = (Batches::Fixed(1), Occupancy(500));
        let cell = |threads| Cell { blocks: 1, batches, threads, occupancy, repeated: 0, figures: Vec::new() };
        assert_eq!((shown(&cell(1), &figure), shown(&cell(2), &figure)), (10.0, 20.0));
    }
}
