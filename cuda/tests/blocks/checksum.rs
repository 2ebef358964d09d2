//! Sums of blocks, against the definition in `checksum.cu`; and that they tell what they are for.

use crate::bench::{Bench, Found, Random, each_order, same};
use kvledger_cuda::launch::{Checksum, Launch};
use kvledger_cuda::raw::kvk_checksum_params;

/// As `checksum.cu` defines it.
fn sum_of(block: &[u8]) -> u64 {
    let terms = block.chunks_exact(8).zip(1u64..).map(|(bytes, place)| {
        let word = u64::from_le_bytes(bytes.try_into().unwrap());
        let mixed = word ^ place.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        word.wrapping_add((mixed & 0xFFFF_FFFF).wrapping_mul(mixed >> 32))
    });
    terms.fold(0, u64::wrapping_add)
}

pub fn check(bench: &Bench, block_bytes: usize, ids: &[u32]) -> Found {
    let blocks = ids.iter().copied().max().unwrap_or(0);
    let bytes = Random(9).bytes(block_bytes * (blocks as usize + 1));
    let pool = bench.holding(&bytes);
    let (list, sums) = (bench.holding(ids), bench.holding(&vec![u64::MAX; ids.len()]));
    let launch = Checksum {
        params: kvk_checksum_params {
            pool: pool.pointer(),
            blocks: list.pointer(),
            sums: sums.pointer(),
            block_bytes: block_bytes as u64,
            block_count: ids.len() as u32,
            reserved: 0,
        },
        blocks,
    };
    launch.check_blocks(ids).unwrap();
    bench.run(&Launch::Checksum(launch));
    let wanted: Vec<u64> = ids.iter().map(|&id| sum_of(&bytes[id as usize * block_bytes..][..block_bytes])).collect();
    same("sums", &bench.values::<u64>(&sums), &wanted)
}

#[test]
fn sums_are_those_of_the_definition() {
    for size in [16, 32, 4096, 16 << 10, (16 << 10) + 16, 64 << 10, (64 << 10) + 16, 300_000] {
        each_order(|bench| check(bench, size, &[2]));
        each_order(|bench| check(bench, size, &[4, 0, 3, 4]));
    }
    let many: Vec<u32> = (0..600).collect();
    each_order(|bench| check(bench, 48, &many));
}

/// Of the definition, so of the kernel: any bit changed, any two words exchanged, all moved by one place.
#[test]
fn sums_tell_changed_and_moved_words() {
    let block = Random(11).bytes(512);
    let is = sum_of(&block);
    for bit in 0..block.len() * 8 {
        let mut changed = block.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert_ne!(sum_of(&changed), is, "bit {bit}");
    }
    for (a, b) in (0..64).flat_map(|a| (0..a).map(move |b| (a, b))) {
        let mut exchanged = block.clone();
        for byte in 0..8 {
            exchanged.swap(a * 8 + byte, b * 8 + byte);
        }
        assert_ne!(sum_of(&exchanged), is, "words {a} and {b}");
    }
    let mut turned = block.clone();
    turned.rotate_left(8);
    assert_ne!(sum_of(&turned), is);
    // Blocks of one word only, as zeros and poison are.
    assert_ne!(sum_of(&[0; 512]), sum_of(&[0xFF; 512]));
    assert_ne!(sum_of(&[0; 512]), sum_of(&[0; 504]));
}
