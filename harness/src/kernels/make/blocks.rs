//! Blocks as bytes, at random.

use crate::kernels::case::{Blocks, Checksum, CopyBlocks, Fill, Pieces, Rewrite};
use crate::kernels::random::Random;
use crate::kernels::table::Table;

fn bytes(count: u64, random: &mut Random) -> Vec<u8> {
    let words = (0..count.div_ceil(8)).flat_map(|_| random.number().to_le_bytes());
    words.take(count as usize).collect()
}

/// Strides of pieces that lie side by side or apart, in blocks or in planes.
fn strides(pieces: Pieces, blocks: u32, random: &mut Random) -> Pieces {
    let gap = u64::from(random.below(3)) * 16;
    let run = pieces.token_bytes * u64::from(pieces.block_tokens) + gap;
    if random.once_in(2) {
        let block_stride = run * u64::from(pieces.pieces) + gap;
        return Pieces { block_stride, piece_stride: run, ..pieces };
    }
    Pieces { block_stride: run, piece_stride: run * (u64::from(blocks) + 1) + gap, ..pieces }
}

fn blocks(pieces: Pieces, random: &mut Random) -> Blocks {
    let count = random.between(2, 12);
    let pieces = strides(pieces, count, random);
    Blocks { pieces, count, bytes: bytes(pieces.total(count), random) }
}

/// Copies within a pool and between two, of whole blocks and of first tokens.
pub fn copy_blocks(random: &mut Random) -> CopyBlocks {
    let pieces = Pieces {
        block_stride: 0,
        piece_stride: 0,
        token_bytes: u64::from(random.one_of(&[1u32, 2, 5, 16, 64])) * 16,
        pieces: random.one_of(&[1, 2, 6]),
        block_tokens: random.one_of(&[1, 3, 16, 64]),
    };
    let source = blocks(pieces, random);
    let destination = random.once_in(2).then(|| blocks(pieces, random));
    let into = destination.as_ref().map_or(source.count, |blocks| blocks.count);
    let targets = random.shuffled(into);
    let count = random.below(into / 2 + 1) as usize;
    let written = &targets[..count];
    // In one pool, nothing that is written is read.
    let readable: Vec<u32> = match destination {
        Some(_) => (1..=source.count).collect(),
        None => targets[count..].to_vec(),
    };
    let tokens = |random: &mut Random| match random.below(3) {
        0 => random.below(pieces.block_tokens + 1),
        _ => pieces.block_tokens,
    };
    let pair = |to: &u32| (random.one_of(&readable), *to, tokens(random));
    let pairs: Vec<_> = written.iter().map(pair).collect();
    let pinned = match destination {
        Some(_) => [random.once_in(3), random.once_in(3)],
        None => [false; 2],
    };
    let title = format!(
        "{} pairs of {} pieces of {} tokens of {} bytes, {}",
        pairs.len(),
        pieces.pieces,
        pieces.block_tokens,
        pieces.token_bytes,
        if destination.is_some() { "two pools" } else { "one pool" }
    );
    CopyBlocks { title, source, destination, pairs, pinned }
}

fn pool(random: &mut Random) -> (u64, u32, Vec<u8>, Vec<u32>) {
    let block_bytes = u64::from(random.one_of(&[1u32, 3, 16, 256, 700, 5_000])) * 16;
    let count = random.between(1, 12);
    let some = random.below(count + 1) as usize;
    let mut blocks = random.shuffled(count)[..some].to_vec();
    if random.once_in(3) {
        blocks.push(0);
    }
    (block_bytes, count, bytes((u64::from(count) + 1) * block_bytes, random), blocks)
}

/// Zeros, NaN, and any other pattern.
pub fn fill(random: &mut Random) -> Fill {
    let (block_bytes, count, bytes, blocks) = pool(random);
    let pattern = random.one_of(&[0, u32::MAX, 0x0102_0304]);
    let title = format!("{} blocks of {block_bytes} bytes become {pattern:#x}", blocks.len());
    Fill { title, block_bytes, count, bytes, blocks, pattern }
}

/// Sums of some blocks, one of them twice.
pub fn checksum(random: &mut Random) -> Checksum {
    let (block_bytes, count, bytes, mut blocks) = pool(random);
    blocks.extend(blocks.first().copied());
    Checksum { title: format!("{} blocks of {block_bytes} bytes", blocks.len()), block_bytes, count, bytes, blocks }
}

/// A table whose blocks changed places, with ids of no pool in it.
pub fn rewrite(random: &mut Random) -> Rewrite {
    let (rows, columns, blocks) = (random.between(1, 9), random.between(1, 70), random.between(1, 200));
    let moved: Vec<u32> = [0].into_iter().chain(random.shuffled(blocks)).collect();
    let has_bad = random.once_in(3);
    let mut entry = || match random.below(12) {
        0 if has_bad => random.one_of(&[blocks + 1, u32::MAX]),
        1..4 => 0,
        _ => random.between(1, blocks),
    };
    let rows: Vec<Vec<u32>> = (0..rows).map(|_| (0..columns).map(|_| entry()).collect()).collect();
    let table = Table { rows, row_of: Vec::new(), columns, row_stride: columns + random.below(4) };
    Rewrite { title: format!("{} rows of {columns}, {blocks} blocks", table.rows.len()), table, moved }
}
