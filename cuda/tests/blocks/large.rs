//! Pools of more than 2^32 bytes, and more than 2^32 lanes of 16 bytes, of which a few pages are touched.

use crate::bench::{Bench, Found, Random, each_order, same};
use crate::copy::params;
use kvledger_cuda::launch::{Checksum, CopyBlocks, Fill, Launch};
use kvledger_cuda::raw::{kvk_checksum_params, kvk_copy_pair, kvk_fill_params, kvk_shape};
use kvledger_cuda::{Memory, Space};

const BLOCK_BYTES: usize = 2 << 20;
/// 80 GiB.
const BLOCKS: u32 = 40_000;
const PATTERN: u32 = 0x1234_5678;

/// Where an offset of so many blocks would be if 32 bits were all there is.
fn wrapped(block: u32) -> u32 {
    (block as usize * BLOCK_BYTES % (1 << 32) / BLOCK_BYTES) as u32
}

struct Pool<'a> {
    bench: &'a Bench,
    memory: Memory,
}

impl Pool<'_> {
    fn open(bench: &Bench) -> Pool<'_> {
        Pool { bench, memory: bench.allocate(Space::Device, BLOCK_BYTES * (BLOCKS as usize + 1)) }
    }

    fn block(&self, id: u32) -> Vec<u8> {
        self.memory.values(&self.bench.stream, id as usize * BLOCK_BYTES, BLOCK_BYTES).unwrap()
    }

    fn copy(&self, source: u32, destination: u32) {
        let half = BLOCK_BYTES as i64 / 2;
        let shape = kvk_shape {
            block_stride: BLOCK_BYTES as i64,
            piece_stride: half,
            token_bytes: half as u64 / 16,
            pieces: 2,
            block_tokens: 16,
        };
        let pairs = self.bench.holding(&[kvk_copy_pair { source, destination, tokens: 16, reserved: 0 }]);
        let params = params(shape, shape, [&self.memory, &self.memory], &pairs, 1);
        self.bench.run(&Launch::CopyBlocks(CopyBlocks { params, source_blocks: BLOCKS, destination_blocks: BLOCKS }));
    }

    fn fill(&self, id: u32) {
        let list = self.bench.holding(&[id]);
        let params = kvk_fill_params {
            pool: self.memory.pointer(),
            blocks: list.pointer(),
            block_bytes: BLOCK_BYTES as u64,
            block_count: 1,
            pattern: PATTERN,
        };
        self.bench.run(&Launch::Fill(Fill { params, blocks: BLOCKS }));
    }

    fn sums(&self, ids: &[u32]) -> Vec<u64> {
        let (list, sums) = (self.bench.holding(ids), self.bench.holding(&vec![0u64; ids.len()]));
        let params = kvk_checksum_params {
            pool: self.memory.pointer(),
            blocks: list.pointer(),
            sums: sums.pointer(),
            block_bytes: BLOCK_BYTES as u64,
            block_count: ids.len() as u32,
            reserved: 0,
        };
        self.bench.run(&Launch::Checksum(Checksum { params, blocks: BLOCKS }));
        self.bench.values(&sums)
    }
}

pub fn check(bench: &Bench) -> Found {
    let pool = Pool::open(bench);
    let poison = vec![0xFF; BLOCK_BYTES];
    let last = BLOCKS;
    let data = Random(17).bytes(BLOCK_BYTES);
    pool.memory.write(&bench.stream, 3 * BLOCK_BYTES, &data).unwrap();

    pool.copy(3, last);
    same("the last block", &pool.block(last), &data)?;
    same("where 32 bits would have written", &pool.block(wrapped(last)), &poison)?;
    pool.copy(last, last - 1);
    same("the one before", &pool.block(last - 1), &data)?;

    let sums = pool.sums(&[3, last, last - 1, wrapped(last)]);
    same("sums of the same blocks", &sums[1..3], &[sums[0], sums[0]])?;
    if sums[3] == sums[0] {
        return Err("poison has the sum of data".to_string());
    }

    pool.fill(last - 2);
    let filled: Vec<u8> = PATTERN.to_le_bytes().into_iter().cycle().take(BLOCK_BYTES).collect();
    same("a block that was filled", &pool.block(last - 2), &filled)?;
    same("where 32 bits would have filled", &pool.block(wrapped(last - 2)), &poison)
}

#[test]
fn blocks_beyond_32_bits_are_themselves() {
    assert!(wrapped(BLOCKS) != BLOCKS && wrapped(BLOCKS - 2) != 3);
    each_order(check);
}
