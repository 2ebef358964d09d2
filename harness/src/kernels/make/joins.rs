//! Results to be joined, at random: many without keys, some far apart.

use crate::kernels::case::{Merge, MergeTwo, Parts, Rows};
use crate::kernels::numbers::Element;
use crate::kernels::random::Random;
use kvledger_core::split::{DECODE_ROWS, PREFILL_ROWS, Split, SplitBatch};

/// Parts of a plan that cuts much.
pub fn merge(random: &mut Random) -> Merge {
    let (element, head_dim) = (random.one_of(&Element::WIDE), random.one_of(&[16, 64, 80, 128, 256]));
    let (heads, group) = (random.one_of(&[1, 2]), random.one_of(&[1, 3, 8, 17]));
    let lengths: Vec<u32> = (0..random.below(5)).map(|_| random.below(900)).collect();
    let tokens: Vec<u32> = lengths.iter().map(|_| random.one_of(&[1, 1, 2, 9])).collect();
    let query_starts: Vec<u32> = (0..=tokens.len()).map(|sequences| tokens[..sequences].iter().sum()).collect();
    let split = Split {
        tile_rows: random.one_of(&[DECODE_ROWS, PREFILL_ROWS]),
        overhead_tiles: 0,
        chunk_keys: random.one_of(&[0, 64, 128]),
        query_tokens_max: query_starts[tokens.len()].max(1),
        ..Split::decode(heads, heads * group, random.between(1, 12), lengths.len().max(1) as u32, 900)
    };
    let layout = split.layout().expect("a good shape");
    let batch = SplitBatch { lengths: &lengths, query_starts: &query_starts, ..SplitBatch::default() };
    let parts = split.count(&batch).expect("a good batch").parts;
    let rows = layout.parts_max as usize * split.tile_rows as usize;
    let used = parts as usize * split.tile_rows as usize;
    let logs: Vec<f32> = (0..rows).map(|row| if row < used { log(random) } else { f32::NAN }).collect();
    let value = |at: usize| match logs[at / head_dim as usize] {
        log if log.is_finite() => random.normal() as f32,
        _ => f32::NAN,
    };
    let output = (0..rows * head_dim as usize).map(value).collect();
    let query_heads = split.query_heads;
    Merge {
        title: format!("{} parts of {head_dim}, {query_heads} heads, tiles of {}", parts, split.tile_rows),
        lengths,
        query_starts,
        split,
        head_dim,
        element,
        rows: rows_of(query_heads, head_dim, random),
        lse_stride: query_heads + random.below(3),
        sinks: sinks(query_heads, random),
        parts: Parts { output, logs },
        thread_blocks: random.between(1, 5),
    }
}

/// Base 2: none, ordinary, and so far from the others that one of two is nothing.
fn log(random: &mut Random) -> f32 {
    match random.below(5) {
        0 => f32::NEG_INFINITY,
        1 => (random.normal() * 300.0) as f32,
        _ => (random.normal() * 3.0) as f32,
    }
}

fn sinks(query_heads: u32, random: &mut Random) -> Vec<f32> {
    let count = if random.once_in(3) { query_heads } else { 0 };
    (0..count).map(|_| random.normal() as f32).collect()
}

fn rows_of(heads: u32, head_dim: u32, random: &mut Random) -> Rows {
    let gap = random.one_of(&[0, 8, 24]);
    let head_stride = head_dim + gap;
    Rows { token_stride: head_stride * heads + gap, head_stride }
}

/// Two results, either of them empty in places, the result over one of them once in two.
pub fn merge_two(random: &mut Random) -> MergeTwo {
    let (element, head_dim) = (random.one_of(&Element::WIDE), random.one_of(&[16, 64, 80, 128, 192, 256]));
    let (tokens, heads) = (random.below(7), random.one_of(&[1, 3, 8]));
    let rows = (tokens * heads) as usize;
    let mut side = || {
        let lse: Vec<f32> = (0..rows).map(|_| log(random)).collect();
        let value = |at: usize| match lse[at / head_dim as usize] {
            f32::NEG_INFINITY if at.is_multiple_of(2) => 0,
            _ => element.nearest(random.normal()),
        };
        let output: Vec<u16> = (0..rows * head_dim as usize).map(value).collect();
        (output, lse)
    };
    let ((output_a, lse_a), (output_b, lse_b)) = (side(), side());
    MergeTwo {
        title: format!("{}, {tokens} tokens, {heads} heads of {head_dim}", element.name()),
        tokens,
        heads,
        head_dim,
        element,
        outputs: [output_a, output_b],
        lse: [lse_a, lse_b],
        rows: rows_of(heads, head_dim, random),
        lse_stride: heads + random.below(3),
        in_place: random.once_in(2),
    }
}
