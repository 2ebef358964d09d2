//! Every load on every candidate. In a round each candidate is measured once, one directly after the other, in fresh
//! memory; rounds follow one another, so that what the machine does meanwhile falls on all of them alike.
//!
//! A measurement in which the kernel gave a core to somebody else is done again, but in each load no more often than there
//! are candidates, so that a busy machine does not make it last for ever. Where there are more threads than cores they take
//! each other's, and nothing is done again.

use super::allocator::{CANDIDATES, Candidate, Side};
use super::drive::{self, Outcome, STIR_MAX, Slices};
use super::figure::{Cell, tidy};
use super::histogram::Histogram;
use super::load::{Batches, Load, Occupancy};
use super::{Effort, Follow, transfer};
use std::time::Duration;

/// What is measured.
#[derive(Clone, Debug)]
pub struct Selection {
    /// In the order in which they take turns.
    pub candidates: Vec<Candidate>,
    /// How large batches are.
    pub batches: Vec<Batches>,
    /// N.
    pub pools: Vec<u32>,
    /// Threads.
    pub threads: Vec<u32>,
    /// How much is held.
    pub occupancies: Vec<Occupancy>,
}

/// A growing sequence's next block; 257 more tokens; a prompt of 2,048 and 257 more; all sorts; sequences.
pub const BATCHES: [Batches; 5] =
    [Batches::Fixed(1), Batches::Fixed(17), Batches::Fixed(145), Batches::Mixed, Batches::Growing];

/// Threads of all loads, also for admission.
pub const THREADS: [u32; 4] = [1, 2, 4, 8];

impl Default for Selection {
    /// The cells that say most: one pool, half full and nearly full.
    fn default() -> Selection {
        Selection {
            candidates: CANDIDATES.to_vec(),
            batches: BATCHES.to_vec(),
            pools: vec![1 << 16],
            threads: THREADS.to_vec(),
            occupancies: vec![Occupancy(500), Occupancy(950)],
        }
    }
}

impl Selection {
    /// Everything.
    pub fn full() -> Selection {
        Selection {
            pools: vec![1 << 10, 1 << 16, 1 << 20],
            occupancies: vec![Occupancy(500), Occupancy(950), Occupancy(999)],
            ..Selection::default()
        }
    }

    /// Only these peers. The loop alone and ours are always measured: there is nothing to compare with otherwise.
    pub fn keep_peers(&mut self, keys: &[String]) {
        self.candidates.retain(|candidate| candidate.side != Side::Peer || keys.iter().any(|key| key == candidate.key));
    }

    /// The loads that are possible: those in which each thread has two batches.
    pub fn loads(&self) -> Vec<Load> {
        let mut loads = Vec::new();
        for &blocks in &self.pools {
            for &threads in &self.threads {
                for &batches in &self.batches {
                    let load = |&occupancy| Load { blocks, batches, threads, occupancy };
                    loads.extend(self.occupancies.iter().map(load).filter(Load::is_possible));
                }
            }
        }
        loads
    }

    /// About how long a round of a load takes.
    pub fn round(&self, load: &Load, slices: Slices) -> Duration {
        // Filling, one block after the other at worst.
        let fill = Duration::from_nanos(u64::from(load.quota() * load.threads) * 25);
        (slices.throughput + slices.calls + fill + STIR_MAX.min(fill * 2)) * self.candidates.len() as u32
    }
}

/// Interruptions of a thread that do not count: the kernel's own threads are short.
const INTERRUPTIONS_FREE: u64 = 2;

/// Measures every cell, and how long a line took from core to core before each round of several threads.
pub fn measure(selection: &Selection, effort: &Effort, cores: u32, follow: Follow<'_>) -> (Vec<Cell>, Vec<f64>) {
    let mut transfers = Vec::new();
    let loads = selection.loads();
    let cells = loads.iter().map(|load| cell(selection, load, effort, cores, &mut transfers, follow)).collect();
    (cells, transfers)
}

fn cell(
    selection: &Selection,
    load: &Load,
    effort: &Effort,
    cores: u32,
    transfers: &mut Vec<f64>,
    follow: Follow<'_>,
) -> Cell {
    let candidates = &selection.candidates;
    let mut cell = Cell::new(load, candidates.iter().map(|candidate| candidate.name));
    let mut calls = vec![(Histogram::new(), Histogram::new()); candidates.len()];
    for _ in 0..effort.rounds {
        follow(selection.round(load, effort.slices), &cell.load());
        if load.threads > 1 {
            transfers.push(transfer::measure());
        }
        for ((candidate, (takes, gives)), figure) in candidates.iter().zip(&mut calls).zip(&mut cell.figures) {
            let again_max = candidates.len() as u32 - cell.repeated;
            let (outcome, again) = undisturbed(candidate, load, effort.slices, cores, again_max);
            cell.repeated += again;
            let core_ns = outcome.wall.as_secs_f64() * 1e9 * f64::from(load.threads.min(cores));
            figure.rounds_ns.push(tidy(core_ns / outcome.takes.max(1) as f64));
            figure.failures += outcome.failures;
            takes.merge(&outcome.take);
            gives.merge(&outcome.give);
        }
    }
    for (figure, (takes, gives)) in cell.figures.iter_mut().zip(calls) {
        (figure.take_ns, figure.give_ns) = (takes.quantiles(), gives.quantiles());
    }
    cell
}

/// A measurement without other work on its cores, if the second try is one; and how many more tries that took.
fn undisturbed(candidate: &Candidate, load: &Load, slices: Slices, cores: u32, again_max: u32) -> (Outcome, u32) {
    let is_disturbed = |outcome: &Outcome| {
        load.threads <= cores && outcome.interruptions > INTERRUPTIONS_FREE * u64::from(load.threads)
    };
    let first = once(candidate, load, slices);
    if again_max == 0 || !is_disturbed(&first) {
        return (first, 0);
    }
    let second = once(candidate, load, slices);
    (if second.interruptions < first.interruptions { second } else { first }, 1)
}

fn once(candidate: &Candidate, load: &Load, slices: Slices) -> Outcome {
    let mut outcome = None;
    (candidate.lend)(load.shape(), &mut |allocator| outcome = Some(drive::run(allocator, load, slices)));
    outcome.expect("a candidate lends itself once")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_has_every_load_that_is_possible() {
        let full = Selection::full().loads();
        // 3 pools, 4 numbers of threads, 5 loads, 3 occupancies; large batches need a pool in which a thread holds two.
        assert!(full.len() < 180 && full.len() > 120, "{}", full.len());
        assert!(full.iter().all(Load::is_possible));
        assert_eq!(Selection::default().loads().len(), 40);
        let mut few = Selection::default();
        few.keep_peers(&["mutex".to_string()]);
        let names: Vec<_> = few.candidates.iter().map(|candidate| candidate.key).collect();
        assert_eq!(names, ["nothing", "mutex", "free-list", "pool"]);
    }
}
