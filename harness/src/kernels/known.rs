//! Published faults of other kernels, as cases: each is what went wrong there, made small, with the report that told of it.
//! `verify` runs them before the random ones, and the tests hold that each says what its report says.

use super::case::{Attend, Gather, MergeTwo, Rows};
use super::make::{Order, PoolWanted, Wanted, attend_of, contents, pool_of};
use super::numbers::Element;
use super::pool::{At, KeyValue, Layout, Pool, PoolShape, Scales};
use super::random::Random;
use super::run::Case;
use super::table::Table;
use kvledger_core::split::Split;

/// One of them.
#[derive(Clone, Debug)]
pub struct Known {
    /// Where it was reported.
    pub source: &'static str,
    /// The case.
    pub case: Case,
}

/// All that are one launch and its result. Those that are refusals, or about lists of copies, are tests of their own.
pub fn known() -> Vec<Known> {
    let attend = |source, case: Attend| Known { source, case: Case::Attend(Box::new(case)) };
    let mut all = vec![
        attend("vllm#641", unused_slots()),
        attend("vllm#1486", far_block().1),
        attend("flashinfer#4450", very_low_scores()),
        attend("flashinfer#4975", a_row_between_without_keys()),
        attend("flashinfer#350", cap_before_mask()),
        attend("flashinfer#726", many_without_keys()),
        attend("flash-attention#2709", table_too_short()),
        attend("rocm-libraries#6932", table_of_exactly_its_entries()),
        Known { source: "vllm#1486", case: Case::Append(far_block().0) },
        Known { source: "vllm#45462", case: Case::Gather(gather_past_the_table()) },
        Known { source: "flashinfer#4051", case: Case::MergeTwo(nothing_and_something()) },
    ];
    all.extend([1, 2].map(|splits| attend("pytorch#194167", pages_of_256(splits))));
    all
}

/// A batch of one query head a sequence, f16, dimension 64, blocks of 16, in one thread block, with values to be put in.
fn plain(title: &str, lengths: &[u32]) -> Attend {
    let random = &mut Random::new(1);
    let wanted = Wanted { thread_blocks: 1, ..Wanted::decode(title, lengths, random) };
    attend_of(&wanted, random)
}

/// Sets every query, key and value to one number each.
fn set(case: &mut Attend, query: f64, key: f64, value: f64) {
    let element = case.pool.shape.element;
    case.queries.fill(element.nearest(query));
    for pair in case.pool.contents.values_mut() {
        pair.key.fill(element.nearest(key));
        pair.value.fill(element.nearest(value));
    }
}

/// Seventeen keys: the second block has one, and NaN in its other fifteen slots. All weights are equal.
pub fn unused_slots() -> Attend {
    let mut case = plain("NaN in the unused slots of the last block", &[17]);
    set(&mut case, 0.0, 1.0, 1.0);
    case
}

/// Block 599,999 of a pool of 600,000 times 4,096 elements: beyond 2^31, and where 32 bits wrap it is another block.
pub fn far_block() -> (super::case::Append, Attend) {
    let (block, elements) = (599_999, 4_096);
    let layout = Layout {
        block_stride: elements,
        token_stride: 256,
        head_stride: 64,
        keys_at: 0,
        values_at: elements * 600_001,
    };
    let scales = Scales::One([1.0; 2]);
    let (block_tokens, heads, head_dim, blocks) = (16, 4, 64, 600_000);
    let shape = PoolShape { element: Element::F16, blocks, block_tokens, heads, head_dim, layout, scales };
    let random = &mut Random::new(2);
    let table = Table { rows: vec![vec![block]], row_of: Vec::new(), columns: 1, row_stride: 1 };
    let pool = contents(shape, &table, &[11], 1.0, random);
    let mut attend = attend_of(&Wanted::decode("a block beyond 2^31 elements", &[11], random), random);
    let numbers = 4 * 64;
    attend.queries = (0..numbers).map(|_| Element::F16.nearest(random.normal())).collect();
    attend.query_heads = 4;
    attend.query_rows = Rows::contiguous(4, 64);
    attend.output_rows = Rows::contiguous(4, 64);
    attend.lse_stride = 4;
    attend.split = Split { tile_keys: 64, ..Split::decode(4, 4, 2, 1, 64) };
    (attend.pool, attend.table) = (pool.clone(), table);
    let mut bits = || (0..numbers).map(|_| Element::F16.nearest(random.normal())).collect::<Vec<u16>>();
    let append = super::case::Append {
        title: "a block beyond 2^31 elements".to_string(),
        pool,
        element: Element::F16,
        keys: bits(),
        values: bits(),
        rows: Rows::contiguous(4, 64),
        slots: vec![(block, 11)],
    };
    (append, attend)
}

/// Scores of −80,000: finite, and lower than what stands for −infinity where somebody took a number for it.
pub fn very_low_scores() -> Attend {
    let mut case = plain("scores of -80,000", &[9]);
    set(&mut case, -100.0, 100.0, 0.0);
    for (at, pair) in case.pool.contents.iter_mut().enumerate() {
        pair.1.value.fill(Element::F16.nearest(at as f64));
    }
    case
}

/// A sequence without keys between two that have some: its row is written, and theirs are theirs.
pub fn a_row_between_without_keys() -> Attend {
    plain("lengths 3, 0, 5", &[3, 0, 5])
}

/// A cap, and values of 10,000 in the slots behind the end. A mask before the cap would be a score of −30.
pub fn cap_before_mask() -> Attend {
    let mut case = plain("a cap, and large values behind the end", &[5]);
    case.options.soft_cap = 30.0;
    let block = case.table.rows[0][0];
    let large = |bits: f64| vec![Element::F16.nearest(bits); 64];
    for token in 5..16 {
        let pair = KeyValue { key: large(0.0), value: large(1e4), scales: [1.0; 2] };
        case.pool.contents.insert(At { block, token, head: 0 }, pair);
    }
    case
}

/// One sequence with five keys, 23 without; five query tokens each, a group of five; in exactly the room of the bound.
pub fn many_without_keys() -> Attend {
    let random = &mut Random::new(3);
    let mut lengths = vec![0; 24];
    lengths[7] = 5;
    let mut wanted = Wanted::decode("5 keys and 23 sequences without, 5 query tokens each", &lengths, random);
    (wanted.tokens, wanted.group, wanted.pool.heads, wanted.thread_blocks) = (vec![5; 24], 5, 8, 20);
    let mut case = attend_of(&wanted, random);
    let split = Split { query_tokens_max: 120, ..Split::decode(8, 40, 20, 24, 5) };
    case.split = split;
    case
}

/// Sixty-five keys, and a table of four blocks of sixteen: the last key is nowhere. What is behind the table is not read.
pub fn table_too_short() -> Attend {
    let random = &mut Random::new(4);
    let mut case = attend_of(&Wanted::decode("65 keys, a table of 4 blocks of 16", &[65], random), random);
    case.table.rows = vec![case.table.rows[0][..4].to_vec()];
    (case.table.columns, case.table.row_stride, case.table.row_of) = (4, 4, Vec::new());
    let blocks = case.table.rows[0].clone();
    case.pool.contents.retain(|at, _| blocks.contains(&at.block));
    case
}

/// Two blocks of 1,024, a table of exactly two entries, and the end of the memory behind them.
pub fn table_of_exactly_its_entries() -> Attend {
    let random = &mut Random::new(5);
    let mut wanted = Wanted::decode("2,048 keys, a table of 2 blocks of 1,024", &[2_048], random);
    wanted.pool.block_tokens = 1_024;
    wanted.pool.order = Order::Nhd;
    let mut case = attend_of(&wanted, random);
    case.table.rows = vec![case.table.rows[0][..2].to_vec()];
    (case.table.columns, case.table.row_stride, case.table.row_of) = (2, 2, Vec::new());
    case
}

/// Two sequences over four blocks of 256, four heads, in one piece or forced into two.
pub fn pages_of_256(splits: u32) -> Attend {
    let random = &mut Random::new(6);
    let mut wanted = Wanted::decode(&format!("blocks of 256 in {splits}"), &[500, 400], random);
    (wanted.pool.block_tokens, wanted.pool.heads) = (256, 4);
    wanted.chunk_keys = 512 / splits;
    attend_of(&wanted, random)
}

/// A run of 834 keys from 15,967 on, of the last row of a table of 1,024 blocks of 16: it ends 417 keys before the run does.
pub fn gather_past_the_table() -> Gather {
    let random = &mut Random::new(7);
    let wanted = PoolWanted {
        element: Element::F16,
        blocks: 40,
        block_tokens: 16,
        heads: 1,
        head_dim: 64,
        order: Order::Nhd,
        gap: 0,
        scales_each: false,
    };
    let shape = pool_of(&wanted, random);
    // Only the last blocks are asked for; all rows have the same few blocks of the pool.
    let row: Vec<u32> = (0..1_024).map(|column| column % 40 + 1).collect();
    let table = Table { rows: vec![vec![0; 1_024], row], row_of: vec![1], columns: 1_024, row_stride: 1_024 };
    let mut pool = Pool::poisoned(shape);
    for block in 1..=40 {
        for token in 0..16 {
            let row = |random: &mut Random| (0..64).map(|_| Element::F16.nearest(random.normal())).collect();
            let pair = KeyValue { key: row(random), value: row(random), scales: [1.0; 2] };
            pool.contents.insert(At { block, token, head: 0 }, pair);
        }
    }
    Gather {
        title: "834 keys from 15,967 on, a table of 1,024 blocks of 16".to_string(),
        pool,
        table,
        first_keys: vec![15_967],
        counts: vec![834],
        element: Element::F16,
    }
}

/// Nothing with nothing, something with nothing, nothing with something.
pub fn nothing_and_something() -> MergeTwo {
    let random = &mut Random::new(8);
    let mut bits = |empty: bool| -> Vec<u16> {
        (0..64).map(|_| if empty { 0xFFFF } else { Element::F16.nearest(random.normal()) }).collect()
    };
    let [a, b] = [[true, false, true], [true, true, false]].map(|empty| empty.map(&mut bits).concat());
    let (none, some) = (f32::NEG_INFINITY, 1.25);
    MergeTwo {
        title: "results without keys".to_string(),
        tokens: 3,
        heads: 1,
        head_dim: 64,
        element: Element::F16,
        outputs: [a, b],
        lse: [vec![none, some, none], vec![none, none, some]],
        rows: Rows::contiguous(1, 64),
        lse_stride: 1,
        in_place: false,
    }
}
