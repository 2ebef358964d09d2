//! Blocks between a device's memory and pinned memory: by the copy engine where pieces are large, by a kernel where they
//! are many and small.
//!
//! A copy engine moves at full speed and leaves the device to others, but takes a few microseconds for each piece; a
//! kernel takes them once for all. So what lies together is moved together, and pieces from [`DMA_BYTES_MIN`] on go to
//! the copy engine.

use super::copy::copy_of;
use super::{Mover, is_same, refused};
use crate::error::Error;
use crate::launch::{Refusal, Wrong, writers};
use crate::pool::BlockPool;
use crate::raw::kvk_copy_pair;
use crate::simultaneous::Launches;
use crate::stream::Stream;

/// Pieces of so many bytes and more are moved by the copy engine: at 55 GB/s this one takes 2.4 microseconds, about what
/// it costs to enqueue it. Published rates of batches to an H100 are 4 to 7 GB/s for pieces of 4 to 24 KiB, and 52 for
/// 64 KiB (vLLM pull request 42212). Not measured here.
pub const DMA_BYTES_MIN: u64 = 128 << 10;

/// Memory that lies together in both pools.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Piece {
    from: u64,
    to: u64,
    bytes: u64,
}

/// How a swap is done.
#[derive(Default, PartialEq, Debug)]
struct Ways {
    engine: Vec<Piece>,
    kernel: Vec<kvk_copy_pair>,
}

impl Mover {
    /// Copies blocks of one pool to another, of which either may be pinned.
    ///
    /// Errors: as [`copy`](Mover::copy); of `to`, `Shared` if it is the same pool.
    pub fn swap(
        &mut self,
        stream: &Stream,
        from: &BlockPool,
        to: &BlockPool,
        pairs: &[kvk_copy_pair],
    ) -> Result<(), Error> {
        let refuse = |refusal| refused("swap", refusal);
        if is_same(from, to) {
            return Err(refuse(Refusal::new("to", Wrong::Shared("from"))));
        }
        copy_of(from, to, pairs.len()).check_ids(pairs).map_err(refuse)?;
        writers(pairs).map_err(refuse)?;
        let ways = ways(from, to, pairs);
        self.check_room("swap", "pairs", &ways.kernel)?;
        for piece in ways.engine {
            let (to, from) = ((to.memory(), piece.to as usize), (from.memory(), piece.from as usize));
            stream.copy(to, from, piece.bytes as usize)?;
        }
        let ends = vec![ways.kernel.len()];
        self.launch_pairs(stream, from, to, &Launches { pairs: ways.kernel, ends })
    }
}

/// Sorts pairs, which were checked, by how they are moved.
fn ways(from: &BlockPool, to: &BlockPool, pairs: &[kvk_copy_pair]) -> Ways {
    let mut ways = Ways::default();
    match (from.whole_block_bytes(), to.whole_block_bytes()) {
        (Some(bytes), Some(_)) => {
            let mut rest = pairs;
            while let Some(first) = rest.first() {
                let (run, after) = rest.split_at(neighbours(rest, from.shape().block_tokens));
                rest = after;
                ways.add(run, first, bytes, from, to);
            }
        }
        _ => pairs.iter().for_each(|pair| ways.add_pieces(pair, from, to)),
    }
    ways
}

/// How many of the first pairs are one after the other in both pools, and whole.
fn neighbours(pairs: &[kvk_copy_pair], block_tokens: u32) -> usize {
    let follows = |two: &[kvk_copy_pair]| {
        let is_next = two[1].source == two[0].source + 1 && two[1].destination == two[0].destination + 1;
        is_next && two[0].tokens == block_tokens && two[1].tokens == block_tokens
    };
    1 + pairs.windows(2).take_while(|two| follows(two)).count()
}

impl Ways {
    /// Pairs that lie together, where blocks are whole.
    fn add(&mut self, run: &[kvk_copy_pair], first: &kvk_copy_pair, block: u64, from: &BlockPool, to: &BlockPool) {
        if first.tokens < from.shape().block_tokens {
            return self.add_pieces(first, from, to);
        }
        let bytes = block * run.len() as u64;
        if bytes < DMA_BYTES_MIN {
            self.kernel.extend(run);
        } else {
            let (from, to) = (u64::from(first.source) * block, u64::from(first.destination) * block);
            self.engine.push(Piece { from, to, bytes });
        }
    }

    /// One pair, piece by piece.
    fn add_pieces(&mut self, pair: &kvk_copy_pair, from: &BlockPool, to: &BlockPool) {
        let bytes = from.shape().token_bytes * u64::from(pair.tokens);
        if bytes < DMA_BYTES_MIN {
            return self.kernel.push(*pair);
        }
        let at = |pool: &BlockPool, block: u32, piece: u32| {
            u64::from(block) * pool.shape().block_stride as u64 + u64::from(piece) * pool.shape().piece_stride as u64
        };
        let piece = |piece| Piece { from: at(from, pair.source, piece), to: at(to, pair.destination, piece), bytes };
        self.engine.extend((0..from.shape().pieces).map(piece));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{Cpu, Options};
    use crate::device::{Device, Space};
    use crate::memory::Memory;
    use crate::raw::kvk_shape;
    use std::sync::Arc;

    fn pool(shape: kvk_shape) -> BlockPool {
        let device: Arc<dyn Device> = Cpu::open(Options::default());
        let memory = Memory::allocate(&device, Space::Device, 32 << 20).unwrap();
        BlockPool::new(memory, shape, 9).unwrap()
    }

    fn pair(source: u32, destination: u32, tokens: u32) -> kvk_copy_pair {
        kvk_copy_pair { source, destination, tokens, reserved: 0 }
    }

    /// Blocks of 2 pieces of 4 tokens, `stride` from piece to piece.
    fn shape(token_bytes: u64, stride: u64) -> kvk_shape {
        let (block_stride, piece_stride) = (2 * stride as i64, stride as i64);
        kvk_shape { block_stride, piece_stride, token_bytes, pieces: 2, block_tokens: 4 }
    }

    #[test]
    fn large_pieces_go_to_the_engine_and_small_ones_to_the_kernel() {
        let (from, to) = (pool(shape(32 << 10, 256 << 10)), pool(shape(32 << 10, 128 << 10)));
        let found = ways(&from, &to, &[pair(2, 3, 4), pair(3, 4, 3)]);
        let engine = [
            Piece { from: 1 << 20, to: (3 * 256) << 10, bytes: 128 << 10 },
            Piece { from: (1 << 20) + (256 << 10), to: (3 * 256 + 128) << 10, bytes: 128 << 10 },
        ];
        assert_eq!(found, Ways { engine: engine.to_vec(), kernel: vec![pair(3, 4, 3)] });
    }

    #[test]
    fn what_lies_together_is_moved_together() {
        // A block is 64 KiB: two in a row are enough.
        let (from, to) = (pool(shape(8 << 10, 32 << 10)), pool(shape(8 << 10, 32 << 10)));
        let pairs =
            [pair(1, 5, 4), pair(2, 6, 4), pair(3, 8, 4), pair(4, 9, 3), pair(5, 1, 4), pair(6, 2, 4), pair(7, 3, 4)];
        let found = ways(&from, &to, &pairs);
        let block = 64 << 10;
        let engine = [
            Piece { from: block, to: 5 * block, bytes: 2 * block },
            Piece { from: 5 * block, to: block, bytes: 3 * block },
        ];
        assert_eq!(found, Ways { engine: engine.to_vec(), kernel: vec![pair(3, 8, 4), pair(4, 9, 3)] });
    }
}
