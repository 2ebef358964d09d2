//! What the tests share: devices of all paces, pools whose bytes tell their place, parameters that are right.

use core::time::Duration;
use kvledger_cuda::cpu::{Options, Pace, Pauses};
use kvledger_cuda::raw::kvk_shape;
use kvledger_cuda::{BlockPool, Cpu, Device, Memory, Space, Stream};
use std::sync::Arc;

/// A device whose streams pause often and for long, as a loaded one does.
pub fn late(seed: u64) -> Options {
    let pauses = Pauses { seed, one_in: 2, most: Duration::from_micros(300) };
    Options { pace: Pace::Threads(pauses), ..Options::default() }
}

/// A device that does nothing until it is told.
pub fn by_hand() -> Options {
    Options { pace: Pace::ByHand, ..Options::default() }
}

/// Every way of doing work.
pub fn paces() -> [Options; 4] {
    [Options::default(), late(7), by_hand(), Options { pace: Pace::AtOnce, ..Options::default() }]
}

pub fn open(options: Options) -> (Arc<dyn Device>, Stream) {
    let device: Arc<dyn Device> = Cpu::open(options);
    let stream = Stream::open(&device).unwrap();
    (device, stream)
}

/// Bytes that tell their place.
pub fn pattern(bytes: usize, salt: u64) -> Vec<u8> {
    (0..bytes as u64).map(|at| ((at * 31 + at / 251 + salt * 101) % 251) as u8).collect()
}

/// Blocks that are one piece of memory each, and densely packed.
pub fn dense(token_bytes: u64, block_tokens: u32) -> kvk_shape {
    let block = token_bytes * u64::from(block_tokens);
    kvk_shape { block_stride: block as i64, piece_stride: block as i64, token_bytes, pieces: 1, block_tokens }
}

/// A pool of so many usable blocks, full of a pattern.
pub fn pool(stream: &Stream, space: Space, shape: kvk_shape, blocks: u32, salt: u64) -> BlockPool {
    let bytes = kvledger_cuda::launch::shape_bytes(&shape, blocks).unwrap() as usize;
    let memory = Memory::allocate(stream.device(), space, bytes).unwrap();
    memory.write(stream, 0, &pattern(bytes, salt)).unwrap();
    BlockPool::new(memory, shape, blocks).unwrap()
}

/// All bytes of a pool.
pub fn bytes(stream: &Stream, pool: &BlockPool) -> Vec<u8> {
    pool.memory().values(stream, 0, pool.memory().bytes()).unwrap()
}
