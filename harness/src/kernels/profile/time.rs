//! Work timed on a GPU: by the host's clock over many launches in a row, which a stream that is kept full makes the
//! device's own. Inputs that fit into the second-level cache are several, taken in turn, so that they are read from memory.

use super::load::Loaded;
use super::shapes::Shape;
use crate::kernels::run::Bench;
use kvledger_cuda::{Error, Memory, Space};
use std::time::{Duration, Instant};

/// Of one shape.
#[derive(Clone, PartialEq, Debug)]
pub struct Timed {
    /// Seconds of one launch, in each round: ascending.
    pub seconds: Vec<f64>,
    /// Partial results that were written and read again.
    pub parts: u32,
    /// Inputs that were taken in turn.
    pub inputs: usize,
}

impl Timed {
    /// The middle round.
    pub fn median(&self) -> f64 {
        self.seconds[self.seconds.len() / 2]
    }
}

/// More bytes than any second-level cache holds.
const CACHE_BYTES: u64 = 192 << 20;
/// How long one round is to take.
const ROUND: Duration = Duration::from_millis(20);

/// Times a shape in so many rounds; `bytes` is what one launch moves.
pub fn time(bench: &Bench, shape: &Shape, thread_blocks: u32, bytes: u64, rounds: u32) -> Result<Timed, Error> {
    let inputs = CACHE_BYTES.div_ceil(bytes.max(1)).clamp(1, 3) as usize;
    let loaded: Vec<Loaded> =
        (0..inputs).map(|_| Loaded::put(bench, shape, thread_blocks)).collect::<Result<_, Error>>()?;
    let seconds = rounds_of(bench, rounds, |turn| loaded[turn % inputs].launch(bench))?;
    Ok(Timed { seconds, parts: loaded[0].parts(), inputs })
}

/// Bytes a second that a plain copy within the device reads and writes together, in the best of some rounds.
pub fn ceiling(bench: &Bench) -> Result<f64, Error> {
    let bytes = 1usize << 30;
    let allocate = || Memory::allocate(bench.device(), Space::Device, bytes);
    let (from, to) = (allocate()?, allocate()?);
    bench.stream().set((&from, 0), 1, bytes)?;
    let seconds = rounds_of(bench, 5, |_| bench.stream().copy((&to, 0), (&from, 0), bytes))?;
    Ok(2.0 * bytes as f64 / seconds[0])
}

/// Seconds of one of many, enqueued in a row, in so many rounds: ascending.
fn rounds_of(bench: &Bench, rounds: u32, enqueue: impl Fn(usize) -> Result<(), Error>) -> Result<Vec<f64>, Error> {
    let run = |count: usize| -> Result<f64, Error> {
        bench.stream().synchronize()?;
        let begin = Instant::now();
        (0..count).try_for_each(&enqueue)?;
        bench.stream().synchronize()?;
        Ok(begin.elapsed().as_secs_f64() / count as f64)
    };
    run(3)?;
    let once = run(3)?.max(1e-7);
    let count = (ROUND.as_secs_f64() / once).clamp(3.0, 2_000.0) as usize;
    let mut seconds = (0..rounds.max(1)).map(|_| run(count)).collect::<Result<Vec<f64>, Error>>()?;
    seconds.sort_by(f64::total_cmp);
    Ok(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::profile::shapes;
    use kvledger_cuda::cpu::{Options, Pace};
    use kvledger_cuda::{Cpu, Device};
    use std::sync::Arc;

    /// Not how long it takes, which is nobody's business on the CPU device: that each is launched, in every round.
    #[test]
    fn a_shape_of_each_kernel_is_timed() {
        let device: Arc<dyn Device> = Cpu::open(Options { pace: Pace::AtOnce, ..Options::default() });
        let bench = Bench::open(&device).expect("a stream");
        for name in ["decode-1x1k", "append-64", "gather-8k", "copy-64x32k", "fill-256x2m", "checksum-256x2m"] {
            let shape = shapes().into_iter().find(|shape| shape.name == name).expect(name);
            let timed =
                time(&bench, &shape.small(), 3, 1 << 30, 2).unwrap_or_else(|why| panic!("{}: {why}", shape.name));
            assert!(timed.seconds.len() == 2 && timed.seconds.is_sorted() && timed.inputs == 1, "{timed:?}");
            assert!(timed.median() > 0.0);
        }
    }
}
