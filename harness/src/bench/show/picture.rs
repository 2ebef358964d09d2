//! A picture: nanoseconds a batch over threads, one panel a load, both axes logarithmic.

use super::{digits, distinct, headline, shown};
use crate::bench::allocator::{FREE_BLOCKS, NOTHING, POOL};
use crate::bench::document::Report;
use crate::bench::figure::Cell;
use crate::bench::load::Batches;
use crate::report::grouped;
use std::fmt::Write;

const PANEL: (f64, f64) = (424.0, 330.0);
const COLUMNS: usize = 3;
/// Of a panel: what the plot leaves free for axes, titles and names of lines.
const LEFT: f64 = 48.0;
const RIGHT: f64 = 156.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 38.0;
const HEAD: f64 = 56.0;
const NAME_HEIGHT: f64 = 12.5;

/// How a line looks: ours stand out, then who could stand in for us; the others are there for comparison.
struct Look {
    colour: &'static str,
    width: f64,
}

fn look(report: &Report, name: &str) -> Look {
    let is_careful = report.described(name).is_some_and(|described| described.keeps.is_careful());
    match name {
        FREE_BLOCKS => Look { colour: "#c2410c", width: 3.0 },
        _ if is_careful => Look { colour: "#1d4ed8", width: 1.6 },
        _ => Look { colour: "#8a8f98", width: 1.2 },
    }
}

/// The picture as SVG. Errors: there are no figures to draw.
pub fn picture(report: &Report) -> Result<String, String> {
    let (blocks, occupancy) = headline(report).ok_or("no allocator was measured: there is nothing to draw")?;
    let cells: Vec<&Cell> =
        report.allocators.iter().filter(|cell| (cell.blocks, cell.occupancy) == (blocks, occupancy)).collect();
    let loads = distinct(cells.iter().map(|cell| cell.batches));
    let rows = (loads.len() + 1).div_ceil(COLUMNS);
    let (width, height) = (PANEL.0 * COLUMNS as f64 + 16.0, HEAD + PANEL.1 * rows as f64 + 8.0);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"system-ui, Helvetica, Arial, sans-serif\" font-size=\"11\" fill=\"#24292f\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"
    );
    let machine = &report.machine;
    label(
        &mut out,
        (16.0, 24.0),
        "start",
        "font-size=\"16\" font-weight=\"600\"",
        "Blocks taken and given back: ns of a core a batch, by threads",
    );
    let where_it_was = format!(
        "{} blocks, {occupancy} held · {}, {} cores · {} · commit {}",
        grouped(blocks.into()),
        machine.model,
        machine.cores,
        machine.date.split(' ').next().unwrap_or_default(),
        machine.commit.as_deref().unwrap_or("unknown")
    );
    label(&mut out, (16.0, 42.0), "start", "fill=\"#57606a\"", &where_it_was);
    for (index, &batches) in loads.iter().enumerate() {
        let of_load: Vec<&Cell> = cells.iter().copied().filter(|cell| cell.batches == batches).collect();
        Panel::of(report, batches, &of_load, corner(index)).draw(&mut out);
    }
    legend(&mut out, corner(loads.len()), machine.cores);
    out.push_str("</svg>\n");
    Ok(out)
}

fn corner(index: usize) -> (f64, f64) {
    (8.0 + PANEL.0 * (index % COLUMNS) as f64, HEAD + PANEL.1 * (index / COLUMNS) as f64)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn label(out: &mut String, (x, y): (f64, f64), anchor: &str, style: &str, text: &str) {
    let text = escaped(text);
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {style}>{text}</text>");
}

fn legend(out: &mut String, (x, y): (f64, f64), cores: u32) {
    let lines = [
        ("#c2410c", 3.0, "the free list of kvledger"),
        ("#1d4ed8", 1.6, "keeps N blocks and sees double frees"),
        ("#8a8f98", 1.2, "gives one of these up"),
    ];
    for (row, (colour, width, what)) in lines.iter().enumerate() {
        let y = y + TOP + 24.0 + 22.0 * row as f64;
        let (from, to) = (x + LEFT, x + LEFT + 28.0);
        let _ = writeln!(
            out,
            "<line x1=\"{from}\" y1=\"{y}\" x2=\"{to}\" y2=\"{y}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
        );
        label(out, (to + 8.0, y + 4.0), "start", "font-size=\"12\"", what);
    }
    let notes = [
        "Lower is better; both axes are logarithmic.".to_string(),
        "One thread: best round. Several: the middle one.".to_string(),
        format!("Shaded: more threads than the {cores} cores, they run in turn."),
        "The load's own loop is in every figure.".to_string(),
    ];
    for (row, note) in notes.iter().enumerate() {
        label(out, (x + LEFT, y + TOP + 112.0 + 17.0 * row as f64), "start", "fill=\"#57606a\"", note);
    }
}

/// A load: its lines, and where they are drawn.
struct Panel<'a> {
    report: &'a Report,
    title: String,
    corner: (f64, f64),
    threads: Vec<u32>,
    /// Name, and ns by threads.
    lines: Vec<(&'a str, Vec<(u32, f64)>)>,
    /// Powers of ten.
    decades: (i32, i32),
}

impl<'a> Panel<'a> {
    fn of(report: &'a Report, batches: Batches, cells: &[&'a Cell], corner: (f64, f64)) -> Panel<'a> {
        let title = match batches {
            Batches::Fixed(1) => "1 block a batch".to_string(),
            Batches::Fixed(blocks) => format!("{blocks} blocks a batch"),
            Batches::Mixed => "mixed: 1, 17, 128 or 145 blocks".to_string(),
            Batches::Growing => "sequences that grow block by block".to_string(),
        };
        let is_drawn = |name: &&str| *name != NOTHING && *name != POOL;
        let names = report.candidates.iter().map(|described| described.name.as_str()).filter(is_drawn);
        let line = |name: &'a str| {
            let point = |cell: &&Cell| Some((cell.threads, shown(cell, cell.of(name)?)));
            (name, cells.iter().filter_map(point).collect::<Vec<_>>())
        };
        let lines: Vec<_> = names.map(line).filter(|(_, points)| !points.is_empty()).collect();
        let all = || lines.iter().flat_map(|(_, points)| points.iter().map(|(_, ns)| ns.max(0.1).log10()));
        let low = all().fold(f64::INFINITY, f64::min).floor() as i32;
        let high = all().fold(f64::NEG_INFINITY, f64::max).ceil() as i32;
        let decades = (low, high.max(low + 1));
        Panel { report, title, corner, threads: distinct(cells.iter().map(|cell| cell.threads)), lines, decades }
    }

    fn x(&self, threads: u32) -> f64 {
        let log = |threads: u32| f64::from(threads.max(1)).log2();
        let (first, last) = (self.threads.first().copied().unwrap_or(1), self.threads.last().copied().unwrap_or(1));
        let part = if first == last { 0.5 } else { (log(threads) - log(first)) / (log(last) - log(first)) };
        self.corner.0 + LEFT + part * (PANEL.0 - LEFT - RIGHT)
    }

    fn y(&self, ns: f64) -> f64 {
        let (low, high) = (f64::from(self.decades.0), f64::from(self.decades.1));
        let part = (ns.max(0.1).log10() - low) / (high - low);
        self.corner.1 + TOP + (1.0 - part) * (PANEL.1 - TOP - BOTTOM)
    }

    fn draw(&self, out: &mut String) {
        let (left, right) = (self.corner.0 + LEFT, self.corner.0 + PANEL.0 - RIGHT);
        label(out, (left, self.corner.1 + 20.0), "start", "font-size=\"13\" font-weight=\"600\"", &self.title);
        self.shade(out, right);
        for decade in self.decades.0..=self.decades.1 {
            let (ns, y) = (10f64.powi(decade), self.y(10f64.powi(decade)));
            let _ = writeln!(
                out,
                "<line x1=\"{left:.1}\" y1=\"{y:.1}\" x2=\"{right:.1}\" y2=\"{y:.1}\" stroke=\"#d0d7de\" stroke-width=\"1\"/>"
            );
            label(out, (left - 6.0, y + 4.0), "end", "fill=\"#57606a\"", &grouped(ns.round() as u64));
        }
        let floor = self.corner.1 + PANEL.1 - BOTTOM;
        for &threads in &self.threads {
            label(out, (self.x(threads), floor + 16.0), "middle", "fill=\"#57606a\"", &threads.to_string());
        }
        label(out, ((left + right) / 2.0, floor + 30.0), "middle", "fill=\"#57606a\"", "threads");
        // Ours last, so that it lies on top.
        let mut lines: Vec<_> = self.lines.iter().collect();
        lines.sort_by_key(|(name, _)| (look(self.report, name).width * 10.0) as u32);
        for (name, points) in lines {
            self.line(out, name, points);
        }
        self.names(out, right);
    }

    /// Where threads are more than cores.
    fn shade(&self, out: &mut String, right: f64) {
        let cores = self.report.machine.cores;
        let Some(last) = self.threads.last().filter(|&&threads| threads > cores) else { return };
        let (from, to) = (self.x(cores.max(1)), self.x(*last).min(right));
        let (y, height) = (self.corner.1 + TOP, PANEL.1 - TOP - BOTTOM);
        let _ = writeln!(
            out,
            "<rect x=\"{from:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" fill=\"#f3f4f6\"/>",
            (to - from).max(0.0)
        );
    }

    fn line(&self, out: &mut String, name: &str, points: &[(u32, f64)]) {
        let Look { colour, width } = look(self.report, name);
        let path: Vec<String> =
            points.iter().map(|&(threads, ns)| format!("{:.1},{:.1}", self.x(threads), self.y(ns))).collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"/>",
            path.join(" ")
        );
        for &(threads, ns) in points {
            let (x, y, radius) = (self.x(threads), self.y(ns), width * 0.6 + 0.8);
            let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{colour}\"/>");
        }
    }

    /// The name of each line where it ends, moved apart where they would lie on each other.
    fn names(&self, out: &mut String, right: f64) {
        let end = |(name, points): &(&'a str, Vec<(u32, f64)>)| points.last().map(|&(_, ns)| (self.y(ns), *name, ns));
        let mut ends: Vec<(f64, &str, f64)> = self.lines.iter().filter_map(end).collect();
        ends.sort_by(|one, other| one.0.total_cmp(&other.0));
        let places = apart(
            &ends.iter().map(|end| end.0).collect::<Vec<_>>(),
            self.corner.1 + TOP,
            self.corner.1 + PANEL.1 - 12.0,
        );
        for ((y, name, ns), place) in ends.into_iter().zip(places) {
            let colour = look(self.report, name).colour;
            let _ = writeln!(
                out,
                "<path d=\"M{:.1} {y:.1} L{:.1} {place:.1}\" stroke=\"{colour}\" stroke-width=\"0.5\" fill=\"none\"/>",
                right + 3.0,
                right + 13.0
            );
            let weight = if name == FREE_BLOCKS { " font-weight=\"700\"" } else { "" };
            let style = format!("font-size=\"9.5\" fill=\"{colour}\"{weight}");
            label(out, (right + 15.0, place + 3.5), "start", &style, &format!("{name} {}", digits(ns)));
        }
    }
}

/// Places for names that want to be at `wanted` (ascending), at least a line apart, between `top` and `bottom` if they fit.
fn apart(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut places: Vec<f64> = Vec::with_capacity(wanted.len());
    for &place in wanted {
        let least = places.last().map_or(top, |last| last + NAME_HEIGHT);
        places.push(place.max(least));
    }
    // Whoever was pushed out below pushes back.
    let mut most = bottom;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - NAME_HEIGHT;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Figure, Occupancy};

    #[test]
    fn names_do_not_lie_on_each_other() {
        let places = apart(&[10.0, 11.0, 12.0, 95.0, 99.0], 0.0, 100.0);
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= NAME_HEIGHT - 1e-9), "{places:?}");
        assert!(places.iter().all(|place| (0.0..=100.0).contains(place)), "{places:?}");
    }

    #[test]
    fn every_candidate_has_a_line_in_every_panel() {
        assert!(picture(&Report::empty()).is_err());
        let figure = |name: &str, ns| Figure { rounds_ns: vec![ns], ..Figure::new(name) };
        let cell = |threads, batches| Cell {
            blocks: 1024,
            batches,
            threads,
            occupancy: Occupancy(500),
            repeated: 0,
            figures: vec![figure("Mutex<Vec>", 20.0), figure(FREE_BLOCKS, 4000.0), figure(POOL, 1.0)],
        };
        let cells =
            [Batches::Fixed(1), Batches::Mixed].into_iter().flat_map(|batches| [1, 2].map(|t| cell(t, batches)));
        let report = Report { allocators: cells.collect(), ..Report::empty() };
        let drawn = picture(&report).expect("there are figures");
        assert_eq!(drawn.matches("<polyline").count(), 4, "{drawn}");
        assert!(drawn.contains("Mutex&lt;Vec&gt;") && drawn.ends_with("</svg>\n"));
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
    }
}
