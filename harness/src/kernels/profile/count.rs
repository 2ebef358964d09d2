//! Work counted on the CPU device: exact, and the same on every machine.

use super::floor::{Floor, floor};
use super::load::Loaded;
use super::shapes::Shape;
use crate::kernels::run::Bench;
use kvledger_cuda::Error;
use kvledger_cuda::raw::kvk_counters;

/// What was counted of one run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Counted {
    /// What it takes at least.
    pub floor: Floor,
    /// Everything that the device counts.
    pub counters: kvk_counters,
    /// Key tiles that thread blocks worked through; 0 where there are none.
    pub tiles: u64,
    /// Barriers that a thread block passed, for each tile.
    pub barriers_per_tile: f64,
}

impl Counted {
    /// Bytes read over those that must be; 0 where none must be.
    pub fn read_ratio(&self) -> f64 {
        ratio(self.counters.loaded_bytes, self.floor.read)
    }

    /// Bytes written over those that must be; 0 where none must be.
    pub fn written_ratio(&self) -> f64 {
        ratio(self.counters.stored_bytes, self.floor.written)
    }
}

fn ratio(found: u64, least: u64) -> f64 {
    if least == 0 { 0.0 } else { found as f64 / least as f64 }
}

/// Runs a shape once on the CPU device, as one of `thread_blocks`. Panics on another device.
pub fn count(bench: &Bench, shape: &Shape, thread_blocks: u32) -> Result<Counted, Error> {
    let cpu = bench.device().as_cpu().expect("only the CPU device counts");
    let loaded = Loaded::put(bench, shape, thread_blocks)?;
    cpu.take_counters(bench.stream().id())?;
    loaded.launch(bench)?;
    bench.stream().synchronize()?;
    let counters = cpu.take_counters(bench.stream().id())?;
    let (tiles, threads) = loaded.tiles();
    let passed = if tiles == 0 { 0.0 } else { counters.barriers as f64 / (threads * tiles) as f64 };
    Ok(Counted { floor: floor(shape, loaded.parts()), counters, tiles, barriers_per_tile: passed })
}
