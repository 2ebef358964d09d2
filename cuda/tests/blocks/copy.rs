//! Copies of blocks: any shapes, any part of a block, one pool or two.

use crate::bench::{Bench, Found, Random, each_order, same};
use kvledger_cuda::launch::{CopyBlocks, Launch, shape_bytes};
use kvledger_cuda::raw::{kvk_copy_pair, kvk_copy_params, kvk_shape};
use kvledger_cuda::{Memory, Space};

/// A copy between pools of `blocks` usable blocks each.
pub struct Case {
    pub what: &'static str,
    pub from: kvk_shape,
    pub to: kvk_shape,
    pub blocks: u32,
    pub pairs: usize,
    /// Whether the source is pinned memory.
    pub pinned: bool,
}

const fn shape(block_stride: i64, piece_stride: i64, token_bytes: u64, pieces: u32, block_tokens: u32) -> kvk_shape {
    kvk_shape { block_stride, piece_stride, token_bytes, pieces, block_tokens }
}

/// Blocks one after the other, and pieces in them.
const fn dense(token_bytes: u64, pieces: u32, block_tokens: u32) -> kvk_shape {
    let piece = token_bytes as i64 * block_tokens as i64;
    shape(piece * pieces as i64, piece, token_bytes, pieces, block_tokens)
}

/// Pieces one after the other, and all blocks in each: a pool by layers.
const fn by_pieces(token_bytes: u64, pieces: u32, block_tokens: u32, blocks: u32) -> kvk_shape {
    let piece = token_bytes as i64 * block_tokens as i64;
    shape(piece, piece * (blocks as i64 + 1), token_bytes, pieces, block_tokens)
}

const fn case(what: &'static str, from: kvk_shape, to: kvk_shape, blocks: u32, pairs: usize) -> Case {
    Case { what, from, to, blocks, pairs, pinned: false }
}

pub const CASES: [Case; 9] = [
    case("one lane", dense(16, 1, 1), dense(16, 1, 1), 3, 1),
    case("tokens before heads", dense(256, 4, 16), dense(256, 4, 16), 20, 7),
    case("heads before tokens", dense(16, 64, 16), dense(16, 64, 16), 20, 7),
    case("by layers", by_pieces(256, 4, 16, 20), by_pieces(256, 4, 16, 20), 20, 7),
    case("by layers into dense", by_pieces(128, 6, 8, 12), dense(128, 6, 8), 12, 5),
    case("with gaps", shape(2000 * 16, 40 * 16, 48, 9, 10), shape(1000 * 16, 31 * 16, 48, 9, 10), 12, 5),
    case("one token a block", dense(512, 2, 1), dense(512, 2, 1), 300, 140),
    case("large blocks", dense(4096, 2, 33), dense(4096, 2, 33), 4, 2),
    Case { pinned: true, ..case("out of pinned memory", dense(64, 2, 16), by_pieces(64, 2, 16, 9), 9, 9) },
];

/// Every pair from one of the blocks and to one of the others, so that one pool would do too; whole blocks and parts.
fn pairs(case: &Case, random: &mut Random) -> Vec<kvk_copy_pair> {
    let ids = random.order(case.blocks as usize);
    let destinations = &ids[..case.pairs];
    let sources = if case.pairs < ids.len() { &ids[case.pairs..] } else { &ids };
    destinations
        .iter()
        .map(|&destination| kvk_copy_pair {
            source: sources[random.below(sources.len())] + 1,
            destination: destination + 1,
            tokens: match random.below(3) {
                0 => case.from.block_tokens,
                _ => random.below(case.from.block_tokens as usize + 1) as u32,
            },
            reserved: 0,
        })
        .collect()
}

/// What the destination must become; and how many bytes are moved.
fn copied(case: &Case, pairs: &[kvk_copy_pair], source: &[u8], destination: &mut [u8]) -> u64 {
    let mut moved = 0;
    for pair in pairs {
        let bytes = case.from.token_bytes as usize * pair.tokens as usize;
        for piece in 0..i64::from(case.from.pieces) {
            let at = |shape: &kvk_shape, block: u32| {
                (i64::from(block) * shape.block_stride + piece * shape.piece_stride) as usize
            };
            let (from, to) = (at(&case.from, pair.source), at(&case.to, pair.destination));
            destination[to..to + bytes].copy_from_slice(&source[from..from + bytes]);
            moved += bytes as u64;
        }
    }
    moved
}

pub fn check(bench: &Bench, case: &Case) -> Found {
    let mut random = Random(case.blocks.into());
    let pairs = pairs(case, &mut random);
    let source = random.bytes(shape_bytes(&case.from, case.blocks).unwrap() as usize);
    let mut wanted = random.bytes(shape_bytes(&case.to, case.blocks).unwrap() as usize);
    let from = if case.pinned { bench.allocate(Space::Pinned, source.len()) } else { bench.holding(&source) };
    from.write(&bench.stream, 0, &source).unwrap();
    let to = bench.holding(&wanted);
    let list = bench.holding(&pairs);
    let launch = CopyBlocks {
        params: params(case.from, case.to, [&from, &to], &list, pairs.len()),
        source_blocks: case.blocks,
        destination_blocks: case.blocks,
    };
    launch.check_pairs(&pairs).unwrap();
    let counted = bench.run(&Launch::CopyBlocks(launch));
    let moved = copied(case, &pairs, &source, &mut wanted);
    same(case.what, &bench.values::<u8>(&to), &wanted)?;
    same("bytes stored", &[counted.stored_bytes], &[moved])?;
    same("source", &bench.values::<u8>(&from), &source)
}

pub fn params(
    from: kvk_shape,
    to: kvk_shape,
    pools: [&Memory; 2],
    pairs: &Memory,
    pair_count: usize,
) -> kvk_copy_params {
    kvk_copy_params {
        source_shape: from,
        destination_shape: to,
        source: pools[0].pointer(),
        destination: pools[1].pointer(),
        pairs: pairs.pointer(),
        pair_count: pair_count as u32,
        reserved: 0,
    }
}

#[test]
fn copies_move_their_tokens_and_nothing_else() {
    for case in &CASES {
        each_order(|bench| check(bench, case));
    }
}

#[test]
fn copies_inside_of_one_pool() {
    each_order(|bench| {
        let shape = dense(64, 3, 4);
        let mut wanted = Random(5).bytes(shape_bytes(&shape, 6).unwrap() as usize);
        let pool = bench.holding(&wanted);
        let pair = |source, destination, tokens| kvk_copy_pair { source, destination, tokens, reserved: 0 };
        let pairs = [pair(1, 2, 4), pair(1, 3, 2), pair(6, 5, 4)];
        let list = bench.holding(&pairs);
        let params = params(shape, shape, [&pool, &pool], &list, pairs.len());
        bench.run(&Launch::CopyBlocks(CopyBlocks { params, source_blocks: 6, destination_blocks: 6 }));
        let case = Case { what: "pool", from: shape, to: shape, blocks: 6, pairs: 3, pinned: false };
        let source = wanted.clone();
        copied(&case, &pairs, &source, &mut wanted);
        same("pool", &bench.values::<u8>(&pool), &wanted)
    });
}

#[test]
fn no_pairs_are_no_work() {
    each_order(|bench| {
        let shape = dense(64, 3, 4);
        let pool = bench.allocate(Space::Device, shape_bytes(&shape, 2).unwrap() as usize);
        let list = bench.allocate(Space::Device, 0);
        let params = params(shape, shape, [&pool, &pool], &list, 0);
        let counted = bench.run(&Launch::CopyBlocks(CopyBlocks { params, source_blocks: 2, destination_blocks: 2 }));
        same("thread blocks", &[counted.blocks], &[0])
    });
}
