//! The report for people. A command that mends something stands on a line of its own, in one piece, to be copied.

use super::check::{Check, Section, State};
use super::{Need, Report};
use crate::planning::Page;
use std::fmt::Write;

/// Width of names.
const NAMES: usize = 18;
/// Below this many columns what was found stands under its name.
const NARROW: usize = 60;

const SECTIONS: [(Section, &str); 5] = [
    (Section::Machine, "machine"),
    (Section::Tools, "compilers and tools"),
    (Section::Cuda, "cuda (seen as files; no library is opened, no device is touched)"),
    (Section::Traces, "published traces"),
    (Section::SelfTest, "self-test"),
];

/// The whole report in lines of at most `columns` characters, except commands.
pub fn render(report: &Report, columns: usize) -> String {
    let layout = Layout { page: Page::new(columns), is_narrow: columns < NARROW };
    let mut out = "kvledger\n".to_string();
    for (name, text) in report.kvledger.lines() {
        layout.entry(&mut out, name, &text);
    }
    for (section, title) in SECTIONS {
        out.push('\n');
        layout.page.say(&mut out, title, 0);
        for check in report.checks.iter().filter(|check| check.section == section) {
            layout.check(&mut out, check);
        }
    }
    out.push('\n');
    for line in summary(report) {
        layout.page.say(&mut out, &line, 2);
    }
    out
}

struct Layout {
    page: Page,
    is_narrow: bool,
}

impl Layout {
    fn entry(&self, out: &mut String, name: &str, text: &str) {
        let _ = write!(out, "  {name}");
        let at = 2 + name.chars().count();
        if self.is_narrow || at >= NAMES {
            out.push_str("\n    ");
            self.page.go_on(out, text, 4);
        } else {
            let _ = write!(out, "{:1$}", "", NAMES - at);
            self.page.go_on(out, text, NAMES);
        }
    }

    fn check(&self, out: &mut String, check: &Check) {
        self.entry(out, &check.name, &found(check));
        let indent = if self.is_narrow { 4 } else { NAMES };
        for detail in &check.details {
            self.page.say(out, &format!("{:indent$}{detail}", ""), indent + 2);
        }
        if let Some(mend) = &check.mend {
            let _ = writeln!(out, "{:indent$}$ {mend}", "");
        }
    }
}

/// What was found, and what is lost with what was not.
fn found(check: &Check) -> String {
    let mut text = match check.state {
        State::Ok => check.found.clone(),
        State::Note => format!("note: {}", check.found),
        State::Missing => format!("missing: {}", check.found),
        State::Unusable => format!("unusable: {}", check.found),
    };
    // Of tools the first in PATH is meant; of the others it is worth saying which one was found.
    if let Some(at) = check.at.as_ref().filter(|_| check.section != Section::Tools) {
        let _ = write!(text, ", {}", at.display());
    }
    if !check.is_usable() && !check.stages.is_empty() {
        let _ = write!(text, "; {}", without(check));
    }
    text
}

/// What stages do without it.
fn without(check: &Check) -> String {
    let stages = check.stages.join(", ");
    if check.is_skipped { format!(".ci/run skips {stages}") } else { format!("fails in .ci/run: {stages}") }
}

/// What can be done here, and what cannot.
fn summary(report: &Report) -> Vec<String> {
    let names = |needs: &[Need]| needs.iter().map(|need| need.name()).collect::<Vec<_>>().join(", ");
    let (can, cannot): (Vec<Need>, Vec<Need>) = Need::all().iter().partition(|&&need| report.lacking(need).is_empty());
    let mut lines = Vec::new();
    if !can.is_empty() {
        lines.push(format!("possible here: {}", names(&can)));
    }
    if !cannot.is_empty() {
        lines.push(format!("not possible here: {} (--require makes that a failure)", names(&cannot)));
    }
    lines
}
