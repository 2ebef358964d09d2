//! Fills: every byte of the blocks that are named, and no other.

use crate::bench::{Bench, Found, Random, each_order, same};
use kvledger_cuda::launch::{Fill, Launch};
use kvledger_cuda::raw::kvk_fill_params;

pub fn check(bench: &Bench, block_bytes: usize, ids: &[u32], pattern: u32) -> Found {
    let blocks = ids.iter().copied().max().unwrap_or(0) + 2;
    let mut wanted = Random(7).bytes(block_bytes * (blocks as usize + 1));
    let pool = bench.holding(&wanted);
    let list = bench.holding(ids);
    let launch = Fill {
        params: kvk_fill_params {
            pool: pool.pointer(),
            blocks: list.pointer(),
            block_bytes: block_bytes as u64,
            block_count: ids.len() as u32,
            pattern,
        },
        blocks,
    };
    launch.check_blocks(ids).unwrap();
    let counted = bench.run(&Launch::Fill(launch));
    for &id in ids {
        let block = &mut wanted[id as usize * block_bytes..][..block_bytes];
        block.chunks_exact_mut(4).for_each(|word| word.copy_from_slice(&pattern.to_le_bytes()));
    }
    same("pool", &bench.values::<u8>(&pool), &wanted)?;
    same("bytes stored", &[counted.stored_bytes], &[(block_bytes * ids.len()) as u64])
}

#[test]
fn blocks_become_the_pattern() {
    let sizes = [16, 48, 512, 528, 4096, 16 << 10, (16 << 10) + 16, 100_000];
    for (size, pattern) in sizes.into_iter().zip([0, u32::MAX, 0x0102_0304].into_iter().cycle()) {
        each_order(|bench| check(bench, size, &[3], pattern));
        each_order(|bench| check(bench, size, &[5, 0, 2, 6], pattern));
    }
    let many: Vec<u32> = (0..500).map(|id| id * 2).collect();
    each_order(|bench| check(bench, 32, &many, u32::MAX));
    each_order(|bench| check(bench, 32, &[], 0));
}
