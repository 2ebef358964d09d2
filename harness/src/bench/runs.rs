//! Neighbours: how many blocks in a row a sequence that grew got side by side. A copy of a run is one descriptor. One
//! thread and a seed: the figures are exact and the same everywhere.

use super::Follow;
use super::allocator::Side;
use super::book::{Book, Unwatched};
use super::figure::tidy;
use super::load::{Batches, Load, Occupancy};
use super::matrix::Selection;
use kvledger_core::BlockId;
use kvledger_core::model::Random;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One pool and occupancy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Neighbours {
    /// N.
    pub blocks: u32,
    /// Thousandths of N that are held.
    pub occupancy: Occupancy,
    /// One a candidate.
    pub figures: Vec<RunFigure>,
}

/// What a candidate made of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunFigure {
    /// The candidate.
    pub name: String,
    /// Blocks in a run, on average over all sequences that are open at the end.
    pub blocks_a_run: f64,
}

/// Blocks that a turn moves, on average: a tenth of the turns begins a sequence with 72.
const BLOCKS_A_TURN: u32 = 8;

/// Times that everything is replaced.
const REPLACED: u32 = 4;

/// Measures every candidate in the pools and occupancies that are possible.
pub fn measure(selection: &Selection, follow: Follow<'_>) -> Vec<Neighbours> {
    let mut all = Vec::new();
    for load in loads(selection) {
        let mut figures = Vec::new();
        for candidate in selection.candidates.iter().filter(|candidate| candidate.side != Side::Nobody) {
            follow(time(&load), &format!("neighbours, {} of {} held", load.occupancy, load.blocks));
            (candidate.lend)(load.shape(), &mut |allocator| {
                let blocks_a_run = tidy(grown(&mut *allocator.worker(0, 1), &load));
                figures.push(RunFigure { name: candidate.name.to_string(), blocks_a_run });
            });
        }
        all.push(Neighbours { blocks: load.blocks, occupancy: load.occupancy, figures });
    }
    all
}

/// About how long it takes.
pub fn takes(selection: &Selection) -> Duration {
    loads(selection).iter().map(|load| time(load) * selection.candidates.len() as u32).sum()
}

fn time(load: &Load) -> Duration {
    Duration::from_nanos(u64::from(load.quota()) * 100)
}

fn loads(selection: &Selection) -> Vec<Load> {
    let mut loads = Vec::new();
    for &blocks in &selection.pools {
        let load = |&occupancy| Load { blocks, batches: Batches::Growing, threads: 1, occupancy };
        loads.extend(selection.occupancies.iter().map(load).filter(Load::is_possible));
    }
    loads
}

fn grown(worker: &mut dyn super::allocator::Worker, load: &Load) -> f64 {
    let (mut book, mut random) = (Book::new(load), Random::new(7));
    for _ in 0..load.quota() / BLOCKS_A_TURN * REPLACED {
        book.turn(worker, &mut random, &mut Unwatched);
    }
    let (mut blocks, mut runs) = (0, 0);
    book.each(worker, |batch| {
        blocks += batch.len();
        runs += count_runs(batch);
    });
    blocks as f64 / runs.max(1) as f64
}

/// Runs of neighbours, in whatever order they were handed out: what a stack hands out backwards counts too.
fn count_runs(batch: &[BlockId]) -> usize {
    let mut ids: Vec<u32> = batch.iter().map(|id| id.0).collect();
    ids.sort_unstable();
    ids.chunk_by(|one, next| one + 1 == *next).count()
}

#[cfg(test)]
mod tests {
    use super::super::allocator::{FREE_BLOCKS, POOL};
    use super::*;

    #[test]
    fn runs_are_counted_in_any_order() {
        assert_eq!(count_runs(&[3, 2, 1, 9, 11, 10].map(BlockId)), 2);
    }

    /// Exact: one thread, one seed. The published figures for the design are 48 to 51 blocks at 50 %.
    #[test]
    fn what_grows_stays_together_in_ours_only() {
        let selection = Selection { occupancies: vec![Occupancy(500)], ..Selection::default() };
        let all = measure(&selection, &|_, _| ());
        let of = |name| all[0].figures.iter().find(|figure| figure.name == name).expect("a figure").blocks_a_run;
        assert!(of(FREE_BLOCKS) >= 40.0 && of(POOL) >= 40.0, "{all:?}");
        assert!(of("Mutex<Vec>") < 3.0, "{all:?}");
    }
}
