//! The census of a trace as a picture (SVG): how long prompts and outputs are, and when requests arrive.

use super::number::grouped;
use crate::census::{Census, Histogram, Spread};
use crate::replay::Ranked;
use std::fmt::Write;

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 620.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 760.0;
/// Told apart by people who see few colours, and in grey.
const PROMPT: &str = "#0072b2";
const OUTPUT: &str = "#d55e00";
const INK: &str = "#333333";
const GRID: &str = "#dddddd";
/// A step of a curve, in units of the picture.
const STEP: f64 = 1.5;

/// How a text is set.
struct Style {
    /// Which part of it stands at its place: `start`, `middle` or `end`.
    anchor: &'static str,
    /// A further attribute, and its value.
    more: Option<(&'static str, &'static str)>,
}

const START: Style = Style { anchor: "start", more: None };
const MIDDLE: Style = Style { anchor: "middle", more: None };
const END: Style = Style { anchor: "end", more: None };
const TITLE: Style = Style { more: Some(("font-size", "16")), ..START };
const HEADING: Style = Style { more: Some(("font-weight", "bold")), ..START };

/// The picture of the trace `name`. `prompts` and `outputs` are its lengths.
pub fn picture(name: &str, census: &Census, prompts: &Ranked, outputs: &Ranked) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"{INK}\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
    );
    let title = format!("{name} ({}): {} requests", census.format, grouped(census.requests as u64));
    text(&mut out, LEFT, 28.0, &TITLE, &shortened(&title, 80));
    lengths(&mut out, census, prompts, outputs);
    arrivals(&mut out, census);
    out.push_str("</svg>\n");
    out
}

/// Where values are drawn.
struct Scale {
    from: f64,
    to: f64,
    begin: f64,
    end: f64,
}

impl Scale {
    fn at(&self, value: f64) -> f64 {
        self.begin + (value - self.from) / (self.to - self.from) * (self.end - self.begin)
    }

    fn value(&self, at: f64) -> f64 {
        self.from + (at - self.begin) / (self.end - self.begin) * (self.to - self.from)
    }
}

fn lengths(out: &mut String, census: &Census, prompts: &Ranked, outputs: &Ranked) {
    let (least, most) = (census.prompt.min.min(census.output.min), census.prompt.p100.max(census.output.p100));
    let decades = |value: u64| (value.max(1) as f64).log10();
    let x = Scale { from: decades(least), to: decades(most).max(decades(least) + 0.5), begin: LEFT, end: RIGHT };
    let y = Scale { from: 0.0, to: 100.0, begin: 330.0, end: 112.0 };
    text(out, LEFT, 54.0, &HEADING, "Lengths: share of requests with at most so many tokens");
    legend(out, 74.0, PROMPT, "prompts", &census.prompt);
    legend(out, 94.0, OUTPUT, "outputs", &census.output);
    for share in [0.0, 25.0, 50.0, 75.0, 100.0] {
        across(out, y.at(share), &format!("{share} %"));
    }
    for tokens in ticks_of_lengths(least, most) {
        up(out, x.at(decades(tokens)), y.begin, y.end, &grouped(tokens));
    }
    text(out, (LEFT + RIGHT) / 2.0, y.begin + 34.0, &MIDDLE, "tokens");
    for (colour, lengths, spread) in [(PROMPT, prompts, &census.prompt), (OUTPUT, outputs, &census.output)] {
        curve(out, colour, lengths, &x, &y);
        for (percent, tokens) in [(50.0, spread.p50), (90.0, spread.p90), (95.0, spread.p95), (99.0, spread.p99)] {
            let (cx, cy) = (x.at(decades(tokens)), y.at(percent));
            let _ = writeln!(out, "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"3\" fill=\"{colour}\"/>");
        }
    }
}

fn legend(out: &mut String, y: f64, colour: &str, name: &str, spread: &Spread) {
    let line = y - 4.0;
    let _ = writeln!(
        out,
        "<line x1=\"{LEFT}\" y1=\"{line}\" x2=\"{}\" y2=\"{line}\" stroke=\"{colour}\" stroke-width=\"2\"/>",
        LEFT + 24.0
    );
    let [p50, p90, p95, p99, p100] = [spread.p50, spread.p90, spread.p95, spread.p99, spread.p100].map(grouped);
    let figures = format!("{name}: p50 {p50}, p90 {p90}, p95 {p95}, p99 {p99} (dots), longest {p100}");
    text(out, LEFT + 32.0, y, &START, &figures);
}

/// Powers of ten; 2 and 5 times them as well where these are few.
fn ticks_of_lengths(least: u64, most: u64) -> Vec<u64> {
    let power = |power: u32| 10u64.checked_pow(power);
    let within = |tick: &u64| (least.max(1)..=most).contains(tick);
    let tens: Vec<u64> = (0..20).filter_map(power).filter(within).collect();
    if tens.len() > 2 {
        return tens;
    }
    (0..19).filter_map(power).flat_map(|ten| [ten, 2 * ten, 5 * ten]).filter(within).collect()
}

fn curve(out: &mut String, colour: &str, lengths: &Ranked, x: &Scale, y: &Scale) {
    let all = lengths.values().len().max(1) as f64;
    // Rises from nothing, also where the shortest length is the left border.
    let mut points = format!("{:.1},{:.1} ", x.begin, y.at(0.0));
    let steps = ((x.end - x.begin) / STEP).round() as u32;
    for step in 0..=steps {
        let at = x.begin + (x.end - x.begin) * f64::from(step) / f64::from(steps);
        // A float becomes the nearest number that there is.
        let tokens = (10f64.powf(x.value(at)) + 1e-6).floor() as u32;
        let share = (all - lengths.over(tokens) as f64) / all * 100.0;
        let _ = write!(points, "{at:.1},{:.1} ", y.at(share));
    }
    let points = points.trim_end();
    let _ = writeln!(out, "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>");
}

fn arrivals(out: &mut String, census: &Census) {
    let Histogram(bins) = &census.histograms.arrival_us;
    let (Some(first), Some(last)) = (bins.first(), bins.last()) else { return };
    let width_us = first.to - first.from + 1;
    let most = census.histograms.arrival_us.most().max(1);
    let step = nice_step(most as f64 / 4.0).max(1.0);
    let top = (most as f64 / step).ceil() * step;
    let x = Scale { from: 0.0, to: (last.to + 1) as f64 / 1e6, begin: LEFT, end: RIGHT };
    let y = Scale { from: 0.0, to: top, begin: 560.0, end: 420.0 };
    let title = format!("Arrivals: requests in {} s each", shown_seconds(width_us as f64 / 1e6));
    text(out, LEFT, 402.0, &HEADING, &title);
    let mut count = 0.0;
    while count <= top {
        across(out, y.at(count), &grouped(count as u64));
        count += step;
    }
    for bin in bins {
        let (left, right) = (x.at(bin.from as f64 / 1e6), x.at((bin.to + 1) as f64 / 1e6));
        let (bar, height) = ((right - left - 1.0).max(0.5), y.begin - y.at(bin.requests as f64));
        let _ = writeln!(
            out,
            "<rect x=\"{left:.1}\" y=\"{:.1}\" width=\"{bar:.1}\" height=\"{height:.1}\" fill=\"#777777\"/>",
            y.begin - height
        );
    }
    let step = nice_step(x.to / 6.0);
    let mut second = 0.0;
    while second <= x.to {
        up(out, x.at(second), y.begin, y.begin, &shown_seconds(second));
        second += step;
    }
    text(out, (LEFT + RIGHT) / 2.0, y.begin + 34.0, &MIDDLE, "seconds since the first arrival");
}

/// 1, 2 or 5 times a power of ten, from `least` on.
fn nice_step(least: f64) -> f64 {
    let ten = 10f64.powf(least.max(1e-6).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * ten).find(|&step| step >= least * 0.999).unwrap_or(10.0 * ten)
}

fn shown_seconds(seconds: f64) -> String {
    let whole = seconds.round();
    if (seconds - whole).abs() < 1e-9 || seconds >= 1000.0 {
        return grouped(whole as u64);
    }
    let text = format!("{seconds:.6}");
    text.trim_end_matches('0').to_string()
}

/// A line of the grid with its value on the left.
fn across(out: &mut String, y: f64, value: &str) {
    let _ = writeln!(out, "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{RIGHT}\" y2=\"{y:.1}\" stroke=\"{GRID}\"/>");
    text(out, LEFT - 8.0, y + 4.0, &END, value);
}

/// A line of the grid from `y` up to `top` with its value below.
fn up(out: &mut String, x: f64, y: f64, top: f64, value: &str) {
    let _ =
        writeln!(out, "<line x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{top:.1}\" stroke=\"{GRID}\"/>", y + 5.0);
    text(out, x, y + 18.0, &MIDDLE, value);
}

fn text(out: &mut String, x: f64, y: f64, style: &Style, content: &str) {
    let content = content.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let anchor = style.anchor;
    let _ = write!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"");
    if let Some((name, value)) = style.more {
        let _ = write!(out, " {name}=\"{value}\"");
    }
    let _ = writeln!(out, ">{content}</text>");
}

/// The end of a long path says more than its beginning. Control characters are not allowed in XML.
fn shortened(content: &str, most: usize) -> String {
    let content: String = content.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let count = content.chars().count();
    if count <= most {
        return content;
    }
    format!("...{}", content.chars().skip(count - most + 3).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_numbers() {
        assert_eq!([0.3, 1.0, 1.2, 3.0, 7.0, 450.0].map(nice_step), [0.5, 1.0, 2.0, 5.0, 10.0, 500.0]);
        assert_eq!(nice_step(0.0), 1e-6);
    }

    #[test]
    fn lengths_have_ticks_however_narrow_they_are() {
        assert_eq!(ticks_of_lengths(3, 120_000), [10, 100, 1000, 10_000, 100_000]);
        assert_eq!(ticks_of_lengths(30, 450), [50, 100, 200]);
        assert_eq!(ticks_of_lengths(7, 7), Vec::<u64>::new());
    }

    #[test]
    fn names_cannot_break_the_picture() {
        let mut out = String::new();
        text(&mut out, 0.0, 0.0, &TITLE, "<a> & b");
        assert_eq!(out, "<text x=\"0.0\" y=\"0.0\" text-anchor=\"start\" font-size=\"16\">&lt;a&gt; &amp; b</text>\n");
        assert_eq!(shortened("0123456789\n", 8), "...6789 ");
        assert_eq!(
            (shown_seconds(0.25), shown_seconds(1200.0), shown_seconds(2.0)),
            ("0.25".into(), "1,200".into(), "2".into())
        );
    }
}
