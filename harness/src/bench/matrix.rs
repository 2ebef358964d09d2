//! Every load on every candidate. In a round each candidate is measured once, one directly after the other, in fresh
//! memory; rounds follow one another, so that what the machine does meanwhile falls on all of them alike.

use super::allocator::{CANDIDATES, Candidate, Side};
use super::load::{self, Load};
use super::{Effort, median, transfer};
use serde::Serialize;

/// N of all loads.
pub const BLOCKS: u32 = 65_536;

/// Blocks in a batch: a growing sequence's next one; 257 more tokens; a prompt of 2,048 and 257 more.
pub const BATCHES: [u32; 3] = [1, 17, 145];

const OCCUPANCIES: [u32; 2] = [50, 95];
const THREADS: [u32; 2] = [1, 2];

/// Measurements in a round.
pub const MEASUREMENTS: u32 = (THREADS.len() * BATCHES.len() * OCCUPANCIES.len() * CANDIDATES.len()) as u32;

/// A load and what it took each candidate.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// Threads.
    pub threads: u32,
    /// Blocks in a batch.
    pub batch: u32,
    /// Per cent of the blocks that are held.
    pub occupancy_percent: u32,
    /// One a candidate.
    pub figures: Vec<Figure>,
}

/// Core time of one batch taken and given back, the load's own included.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// The candidate.
    pub name: &'static str,
    /// Whose it is.
    pub side: Side,
    /// Nanoseconds in the best round.
    pub best_ns: f64,
    /// Nanoseconds in the middle round.
    pub median_ns: f64,
    /// Batches that were refused, though there was room. Over all rounds.
    pub failures: u64,
}

impl Cell {
    /// The figure of a candidate.
    pub fn of(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    /// Whether the load is the same but for the threads.
    pub fn is_like(&self, other: &Cell) -> bool {
        (self.batch, self.occupancy_percent) == (other.batch, other.occupancy_percent)
    }
}

/// Measures every cell, and how long a line took from core to core before each round of several threads.
pub fn measure(effort: &Effort, cores: u32) -> (Vec<Cell>, Vec<f64>) {
    let (mut cells, mut transfers) = (Vec::new(), Vec::new());
    for threads in THREADS {
        for batch in BATCHES {
            for occupancy in OCCUPANCIES {
                let load = Load { blocks: BLOCKS, batch, threads, occupancy };
                cells.push(cell(&load, effort, cores, &mut transfers));
            }
        }
    }
    (cells, transfers)
}

fn cell(load: &Load, effort: &Effort, cores: u32, transfers: &mut Vec<f64>) -> Cell {
    let mut rounds = vec![Vec::new(); CANDIDATES.len()];
    let mut failures = [0; CANDIDATES.len()];
    for _ in 0..effort.rounds {
        if load.threads > 1 {
            transfers.push(transfer::measure());
        }
        for ((candidate, rounds), failures) in CANDIDATES.iter().zip(&mut rounds).zip(&mut failures) {
            (candidate.lend)(load.shape(), &mut |allocator| {
                let outcome = load::run(allocator, load, effort.slice);
                let core_ns = outcome.wall.as_secs_f64() * 1e9 * f64::from(load.threads.min(cores));
                rounds.push(core_ns / outcome.pairs.max(1) as f64);
                *failures += outcome.failures;
            });
        }
    }
    let figure = |((candidate, rounds), failures): ((&Candidate, &Vec<f64>), u64)| Figure {
        name: candidate.name,
        side: candidate.side,
        best_ns: rounds.iter().copied().fold(f64::INFINITY, f64::min),
        median_ns: median(rounds),
        failures,
    };
    let figures = CANDIDATES.iter().zip(&rounds).zip(failures).map(figure).collect();
    Cell { threads: load.threads, batch: load.batch, occupancy_percent: load.occupancy, figures }
}
