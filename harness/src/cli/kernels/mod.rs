//! What commands about kernels have in common: devices by name.

pub mod profile;
pub mod serve;
pub mod verify;

use super::Stop;
use clap::ValueEnum;
use kvledger_cuda::cpu::{Options, Order, Pace, Pauses};
use kvledger_cuda::{Cpu, Cuda, Device, Error};
use std::sync::Arc;
use std::time::Duration;

/// `--device`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum DeviceName {
    /// The kernels' own source, run by threads of this machine: always there
    Cpu,
    /// The first GPU that CUDA has
    Cuda,
}

impl DeviceName {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            DeviceName::Cpu => "cpu",
            DeviceName::Cuda => "cuda",
        }
    }

    /// A device that does its work before a call returns, where that can be chosen.
    pub fn open(self) -> Result<Arc<dyn Device>, Error> {
        match self {
            DeviceName::Cpu => {
                let device: Arc<dyn Device> = Cpu::open(Options { pace: Pace::AtOnce, ..Options::default() });
                Ok(device)
            }
            DeviceName::Cuda => Cuda::open(0),
        }
    }

    /// A device whose streams work by themselves, each at its own pace.
    pub fn open_apart(self, seed: u64) -> Result<Arc<dyn Device>, Error> {
        let pauses = Pauses { seed, one_in: 16, most: Duration::from_millis(1) };
        match self {
            DeviceName::Cpu => {
                let pace = Pace::Threads(pauses);
                let device: Arc<dyn Device> =
                    Cpu::open(Options { pace, order: Order::Random(seed), ..Options::default() });
                Ok(device)
            }
            DeviceName::Cuda => Cuda::open(0),
        }
    }

    /// Threads that may each have one.
    pub fn threads(self, asked: Option<u16>) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        match self {
            DeviceName::Cpu => asked.map_or_else(cores, usize::from),
            DeviceName::Cuda => 1,
        }
    }

    /// A device that is not there is a flag that cannot be used.
    pub fn missing(self, error: &Error) -> Stop {
        Stop::Usage(format!("--device {}: {error}", self.name()))
    }
}
