//! The file of figures: everything that a run measured, and nothing that can be computed from it but the goals, which are
//! judged when they are measured.

use super::admission::Contention;
use super::allocator::{CANDIDATES, Keeps, Side};
use super::figure::{Cell, tidy};
use super::goals::Goal;
use super::machine::Machine;
use super::runs::Neighbours;
use super::step::StepFigures;
use super::stopped::Stopped;
use super::trace::TraceFigures;
use super::workload::WorkloadFigures;
use super::{Plan, locked};
use serde::{Deserialize, Serialize};
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use std::io;

/// Of the file. Another number is another layout.
const FORMAT: u32 = 2;

/// All figures of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The layout of the file.
    pub format: u32,
    /// Where and when.
    pub machine: Machine,
    /// Rounds of which best and middle are given.
    pub rounds: u32,
    /// Milliseconds that a candidate was measured in a round.
    pub slice_ms: f64,
    /// Nanoseconds of a load and a compare-exchange on this core, with nobody else at the line.
    pub locked_ns: f64,
    /// Nanoseconds that a cache line takes from core to core, in the middle round; measured before each round of several
    /// threads.
    pub transfer_ns: Option<f64>,
    /// Who the candidates are.
    pub candidates: Vec<Described>,
    /// Nanoseconds of one take and what is given back for it.
    pub allocators: Vec<Cell>,
    /// Neighbours of what grows.
    pub neighbours: Vec<Neighbours>,
    /// What a stopped thread does to another.
    pub stopped: Vec<Stopped>,
    /// Admission under contention.
    pub admission: Vec<Contention>,
    /// Scheduler steps.
    pub steps: Vec<StepFigures>,
    /// A replay.
    pub replay: Option<TraceFigures>,
    /// Workload W.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadFigures>,
    /// What was hoped for.
    pub goals: Vec<Goal>,
}

/// A candidate, as the file has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Described {
    /// In figures.
    pub name: String,
    /// Whose it is.
    pub side: Side,
    /// What it keeps to.
    pub keeps: Keeps,
}

impl Report {
    /// Nothing measured yet but the processor itself.
    pub fn begin(plan: &Plan) -> Report {
        let slice_ms = plan.effort.slices.throughput.as_secs_f64() * 1e3;
        Report { rounds: plan.effort.rounds, slice_ms, locked_ns: tidy(locked::measure()), ..Report::empty() }
    }

    /// Nothing measured at all.
    pub fn empty() -> Report {
        let described =
            CANDIDATES.iter().map(|one| Described { name: one.name.to_string(), side: one.side, keeps: one.keeps });
        Report {
            format: FORMAT,
            machine: Machine::here(),
            rounds: 0,
            slice_ms: 0.0,
            locked_ns: 0.0,
            transfer_ns: None,
            candidates: described.collect(),
            allocators: Vec::new(),
            neighbours: Vec::new(),
            stopped: Vec::new(),
            admission: Vec::new(),
            steps: Vec::new(),
            replay: None,
            workload: None,
            goals: Vec::new(),
        }
    }

    /// What is in a file of figures. Errors: what is wrong with it.
    pub fn parse(text: &str) -> Result<Report, String> {
        #[derive(Deserialize)]
        struct Layout {
            format: Option<u32>,
        }
        let layout: Layout = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if layout.format != Some(FORMAT) {
            return Err(format!(
                "not figures of this version of `kvledger bench` (`format` must be {FORMAT}): measure again"
            ));
        }
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The file: pretty, but what is deeper than a figure is one line, so that files can be compared line by line.
    pub fn to_json(&self) -> String {
        let mut text = Vec::new();
        let mut serializer = serde_json::Serializer::with_formatter(&mut text, Lines::default());
        // Writing to memory does not fail, and every field can be a JSON value.
        self.serialize(&mut serializer).expect("figures are JSON");
        String::from_utf8(text).expect("JSON is UTF-8") + "\n"
    }

    /// A candidate by its name.
    pub fn described(&self, name: &str) -> Option<&Described> {
        self.candidates.iter().find(|described| described.name == name)
    }

    /// What a candidate gives up, in words. That a stopped thread stops the others is said if it is known of it, or if it
    /// happened so often that it is no noise.
    pub fn gives_up(&self, described: &Described) -> String {
        let has_stopped_others =
            self.stopped.iter().any(|stopped| stopped.name == described.name && stopped.stops_others());
        Keeps { stops_nobody: described.keeps.stops_nobody && !has_stopped_others, ..described.keeps }.gives_up()
    }

    /// Whether a candidate is a peer that keeps N blocks and sees double frees.
    pub fn is_careful_peer(&self, name: &str) -> bool {
        self.described(name).is_some_and(|described| described.side == Side::Peer && described.keeps.is_careful())
    }

    /// Whether a candidate is ours.
    pub fn is_ours(&self, name: &str) -> bool {
        self.described(name).is_some_and(|described| described.side == Side::Ours)
    }
}

/// Objects and arrays that are broken over lines: the document, its lists, and the cells with their lists of figures.
const DEPTH_MAX: usize = 4;

/// Pretty outside, compact inside.
struct Lines {
    pretty: PrettyFormatter<'static>,
    depth: usize,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines { pretty: PrettyFormatter::new(), depth: 0 }
    }
}

macro_rules! by_depth {
    ($($name:ident($($argument:ident: $kind:ty),*);)*) => {
        $(fn $name<W: ?Sized + io::Write>(&mut self, writer: &mut W, $($argument: $kind),*) -> io::Result<()> {
            if self.depth <= DEPTH_MAX {
                self.pretty.$name(writer, $($argument),*)
            } else {
                CompactFormatter.$name(writer, $($argument),*)
            }
        })*
    };
}

macro_rules! going {
    ($($name:ident, $before:literal, $after:literal;)*) => {
        $(fn $name<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
            self.depth += $before;
            let done = if self.depth <= DEPTH_MAX { self.pretty.$name(writer) } else { CompactFormatter.$name(writer) };
            self.depth -= $after;
            done
        })*
    };
}

impl Formatter for Lines {
    going! {
        begin_array, 1, 0;
        end_array, 0, 1;
        begin_object, 1, 0;
        end_object, 0, 1;
    }
    by_depth! {
        begin_array_value(first: bool);
        end_array_value();
        begin_object_key(first: bool);
        begin_object_value();
        end_object_value();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Batches, Figure, Occupancy, Quantiles};

    #[test]
    fn a_file_says_what_was_measured() {
        let figure =
            Figure { rounds_ns: vec![1.5, 2.0], take_ns: Some(Quantiles(1.0, 2.0, 3.0)), ..Figure::new("free list") };
        let cell = Cell {
            blocks: 1024,
            batches: Batches::Growing,
            threads: 2,
            occupancy: Occupancy(999),
            repeated: 1,
            figures: vec![figure],
        };
        let report = Report { allocators: vec![cell], ..Report::empty() };
        let text = report.to_json();
        let again = Report::parse(&text).expect("what was written can be read");
        assert_eq!(again.to_json(), text);
        assert_eq!(again.allocators[0].figures[0].rounds_ns, [1.5, 2.0]);
        let line = text.lines().find(|line| line.contains("rounds_ns")).expect("a figure");
        assert!(line.contains("free list") && line.contains("[1.0,2.0,3.0]"), "a figure is one line: {line}");
    }

    #[test]
    fn another_layout_is_said_to_be_one() {
        for (text, said) in [("{}", "`format` must be 2"), ("{\"format\": 1}", "measure again"), ("[", "EOF")] {
            let error = Report::parse(text).expect_err("it cannot be read");
            assert!(error.contains(said), "{error}");
        }
    }
}
