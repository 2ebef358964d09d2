//! Batches of attention at random.

use super::pool::{PoolWanted, contents, pool_of, table_of, turn};
use crate::kernels::case::{Attend, Options, Rows};
use crate::kernels::numbers::Element;
use crate::kernels::random::Random;
use kvledger_core::split::{DECODE_ROWS, PREFILL_ROWS, Split};

/// What a batch is to be; everything that is not said is at random.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// What it is about.
    pub title: String,
    /// The pool; its blocks are as many as the lengths need.
    pub pool: PoolWanted,
    /// The type of queries.
    pub element: Element,
    /// Query heads of one key-value head.
    pub group: u32,
    /// Keys of each sequence.
    pub lengths: Vec<u32>,
    /// Query tokens of each; empty: one each.
    pub tokens: Vec<u32>,
    /// Keys whose blocks sequences share.
    pub shared: u32,
    /// What scores are made with.
    pub options: Options,
    /// The deviation of keys: how peaked the weights are.
    pub spread: f64,
    /// Rows of a tile.
    pub tile_rows: u32,
    /// Thread blocks.
    pub thread_blocks: u32,
    /// Keys of a chunk; 0: balanced.
    pub chunk_keys: u32,
    /// What an item costs beside its keys: without, cuts are more.
    pub overhead_tiles: u32,
}

const HEAD_DIMS: [u32; 9] = [16, 64, 80, 96, 112, 128, 128, 192, 256];
const GROUPS: [u32; 10] = [1, 2, 3, 4, 5, 7, 8, 12, 16, 17];
const BLOCK_TOKENS: [u32; 8] = [1, 3, 8, 16, 16, 64, 128, 256];

impl Wanted {
    /// A plain batch of decode over f16, to be changed.
    pub fn decode(title: &str, lengths: &[u32], random: &mut Random) -> Wanted {
        let pool = PoolWanted { gap: 0, ..PoolWanted::random(random, Element::F16, 1, 64, 16) };
        Wanted {
            title: title.to_string(),
            pool,
            element: Element::F16,
            group: 1,
            lengths: lengths.to_vec(),
            tokens: Vec::new(),
            shared: 0,
            options: Options::plain(64),
            spread: 1.0,
            tile_rows: DECODE_ROWS,
            thread_blocks: 3,
            chunk_keys: 0,
            overhead_tiles: 1,
        }
    }
}

/// Keys that a kernel takes at once.
fn tile_keys(head_dim: u32) -> u32 {
    if head_dim <= 128 { 64 } else { 32 }
}

/// Any batch.
pub fn random(random: &mut Random) -> Attend {
    let element = random.one_of(&Element::ALL);
    let queries = if element.is_wide() { element } else { random.one_of(&Element::WIDE) };
    let (heads, head_dim) = (random.one_of(&[1, 1, 2, 3]), random.one_of(&HEAD_DIMS));
    let block_tokens = random.one_of(&BLOCK_TOKENS);
    let group = random.one_of(&GROUPS);
    let sequences = random.below(6);
    let most = random.one_of(&[5, 70, 300]);
    let lengths: Vec<u32> =
        (0..sequences).map(|_| if random.once_in(4) { 0 } else { random.below(most + 1) }).collect();
    let tokens = match random.below(3) {
        0 => Vec::new(),
        _ => (0..sequences).map(|_| random.one_of(&[0, 1, 2, 5, 19])).collect(),
    };
    let mut wanted = Wanted {
        title: String::new(),
        pool: PoolWanted::random(random, element, heads, head_dim, block_tokens),
        element: queries,
        group,
        lengths,
        tokens,
        shared: if random.once_in(3) { random.below(most) } else { 0 },
        options: options(random, heads * group, head_dim),
        spread: random.one_of(&[0.2, 1.0, 4.0]),
        tile_rows: if random.once_in(3) { PREFILL_ROWS } else { DECODE_ROWS },
        thread_blocks: random.one_of(&[1, 2, 3, 7, 20]),
        chunk_keys: if random.once_in(3) { tile_keys(head_dim) * random.one_of(&[1, 2, 3]) } else { 0 },
        overhead_tiles: random.below(3),
    };
    wanted.title = title(&wanted);
    let mut case = attend(&wanted, random);
    more(&mut case, random);
    spoil(&mut case, random);
    turn(&mut case.table, random);
    case
}

/// Windows, caps, slopes and sinks, each once in three.
fn options(random: &mut Random, query_heads: u32, head_dim: u32) -> Options {
    let mut options = Options::plain(head_dim);
    let mut some = |low: f64, high: f64| -> Vec<f32> {
        (0..query_heads).map(|_| (low + random.fraction() * (high - low)) as f32).collect()
    };
    let (slopes, sinks) = (some(0.001, 0.5), some(-3.0, 3.0));
    if random.once_in(3) {
        options.window = random.one_of(&[0, 1, 15, 16, 63, 64, 100]);
    }
    if random.once_in(3) {
        options.soft_cap = random.one_of(&[1.0, 30.0]);
    }
    if random.once_in(3) {
        options.slopes = slopes;
    }
    if random.once_in(3) {
        options.sinks = sinks;
    }
    options
}

/// Positions, and ranges of keys, each once in five; a query that binary16 does not hold, where it is to.
fn more(case: &mut Attend, random: &mut Random) {
    let is_narrow = !case.pool.shape.element.is_wide() && case.element == Element::Bf16;
    if is_narrow && !case.queries.is_empty() && random.once_in(4) {
        let at = random.below(case.queries.len() as u32) as usize;
        case.queries[at] = Element::Bf16.nearest(random.one_of(&[1e5, -7e4]));
        case.title.push_str(", a query beyond binary16");
    }
    let longest = case.lengths.iter().copied().max().unwrap_or(0);
    if random.once_in(5) {
        case.query_positions = (0..case.query_tokens()).map(|_| random.below(longest + 2)).collect();
    }
    let mut some = || case.lengths.iter().map(|length| random.below(length + 2)).collect::<Vec<u32>>();
    let (begins, ends) = (some(), some());
    if random.once_in(5) {
        case.begins = begins;
    }
    if random.once_in(5) {
        case.ends = ends;
    }
}

/// Once in five: ids of no block, or a table that ends before the keys do. (Where tokens have positions, keys between those
/// that are seen are looked up too, so that which ones are reported is not said by the batch.)
fn spoil(case: &mut Attend, random: &mut Random) {
    if !case.query_positions.is_empty() || case.lengths.is_empty() || !random.once_in(5) {
        return;
    }
    if case.table.columns > 1 && random.once_in(2) {
        case.table.columns -= 1;
        case.table.rows.iter_mut().for_each(|row| row.truncate(case.table.columns as usize));
        case.title.push_str(", a table that is too short");
        return;
    }
    for row in &mut case.table.rows {
        let at = random.below(row.len() as u32) as usize;
        row[at] = random.one_of(&[0, case.pool.shape.blocks + 1, u32::MAX / 2, u32::MAX]);
    }
    case.title.push_str(", ids of no block");
}

fn title(wanted: &Wanted) -> String {
    let Wanted { pool, group, lengths, tokens, options, .. } = wanted;
    let mut title = format!(
        "{}, {} heads of {}, group {group}, blocks of {}, {:?}, lengths {lengths:?}",
        pool.element.name(),
        pool.heads,
        pool.head_dim,
        pool.block_tokens,
        pool.order
    );
    let mut also = |said: String| title.push_str(&format!(", {said}"));
    if !tokens.is_empty() {
        also(format!("query tokens {tokens:?}"));
    }
    if options.window >= 0 {
        also(format!("window {}", options.window));
    }
    if options.soft_cap != 0.0 {
        also(format!("cap {}", options.soft_cap));
    }
    for (name, list) in [("slopes", &options.slopes), ("sinks", &options.sinks)] {
        if !list.is_empty() {
            also(name.to_string());
        }
    }
    also(match wanted.chunk_keys {
        0 => format!("{} thread blocks", wanted.thread_blocks),
        keys => format!("chunks of {keys}"),
    });
    title
}

/// The batch that is wanted.
pub fn attend(wanted: &Wanted, random: &mut Random) -> Attend {
    let Wanted { pool, group, lengths, tokens, .. } = wanted;
    let (table, blocks) = table_of(lengths, pool.block_tokens, wanted.shared, random);
    let shape = pool_of(&PoolWanted { blocks, ..*pool }, random);
    let query_starts = starts(tokens);
    let query_tokens = query_starts.last().map_or(lengths.len() as u32, |end| *end);
    let query_heads = pool.heads * group;
    let numbers = query_tokens * query_heads * pool.head_dim;
    let split = Split {
        tile_rows: wanted.tile_rows,
        tile_keys: tile_keys(pool.head_dim),
        window_left: wanted.options.window,
        chunk_keys: wanted.chunk_keys,
        overhead_tiles: wanted.overhead_tiles,
        query_tokens_max: query_tokens.max(1) + random.below(3),
        ..Split::decode(
            pool.heads,
            query_heads,
            wanted.thread_blocks,
            (lengths.len() as u32).max(1) + random.below(2),
            lengths.iter().copied().max().unwrap_or(0).max(1) + random.below(100),
        )
    };
    let rows = |random: &mut Random| {
        let gap = random.one_of(&[0, 0, 8, 24]);
        let head_stride = pool.head_dim + gap;
        Rows { token_stride: head_stride * query_heads + gap, head_stride }
    };
    Attend {
        title: wanted.title.clone(),
        pool: contents(shape, &table, lengths, wanted.spread, random),
        table,
        lengths: lengths.clone(),
        query_starts,
        query_positions: Vec::new(),
        begins: Vec::new(),
        ends: Vec::new(),
        query_heads,
        element: wanted.element,
        queries: (0..numbers).map(|_| wanted.element.nearest(random.normal())).collect(),
        options: wanted.options.clone(),
        query_rows: rows(random),
        output_rows: rows(random),
        lse_stride: query_heads + random.below(3),
        split,
        merge_thread_blocks: random.between(1, 3),
    }
}

/// The first query token of each sequence, and the end; empty where each has one.
fn starts(tokens: &[u32]) -> Vec<u32> {
    let mut end = 0;
    let ends = tokens.iter().map(|tokens| {
        end += tokens;
        end
    });
    let ends: Vec<u32> = ends.collect();
    if ends.is_empty() { ends } else { [0].into_iter().chain(ends).collect() }
}
