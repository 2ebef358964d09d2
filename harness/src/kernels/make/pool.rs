//! Pools and tables at random: every order of heads and tokens, pools by layers and by blocks, with gaps and without.

use crate::kernels::numbers::Element;
use crate::kernels::pool::{At, KeyValue, Layout, Pool, PoolShape, Scales};
use crate::kernels::random::Random;
use crate::kernels::table::{Found, GUARD, Table};

/// How tokens, heads, and keys and values follow one another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// A pool of keys and one of values, tokens before heads.
    Nhd,
    /// Heads before tokens.
    Hnd,
    /// Blocks that are contiguous over layers, of which this is one, keys before values.
    ByBlock,
}

/// What a pool is to be.
#[derive(Clone, Copy, Debug)]
pub struct PoolWanted {
    /// The type of its numbers.
    pub element: Element,
    /// Usable blocks.
    pub blocks: u32,
    /// Tokens of one.
    pub block_tokens: u32,
    /// Key-value heads.
    pub heads: u32,
    /// Elements of a head.
    pub head_dim: u32,
    /// How it is laid out.
    pub order: Order,
    /// Elements left out after each row of a token or head, block, and pool: a multiple of 16.
    pub gap: u32,
    /// Eight bits: whether each (token, head) has its own scales.
    pub scales_each: bool,
}

impl PoolWanted {
    /// Of these sizes, everything else at random.
    pub fn random(random: &mut Random, element: Element, heads: u32, head_dim: u32, block_tokens: u32) -> PoolWanted {
        PoolWanted {
            element,
            blocks: 1,
            block_tokens,
            heads,
            head_dim,
            order: random.one_of(&[Order::Nhd, Order::Hnd, Order::ByBlock]),
            gap: random.one_of(&[0, 0, 16, 48]),
            scales_each: !element.is_wide() && random.once_in(2),
        }
    }
}

/// The shape that is wanted.
pub fn pool_of(wanted: &PoolWanted, random: &mut Random) -> PoolShape {
    let PoolWanted { element, blocks, block_tokens, heads, head_dim, .. } = *wanted;
    let scale = |random: &mut Random| (0.25 + random.fraction()) as f32 * 4.0 / element.largest().min(448.0) as f32;
    let scales = match (element.is_wide(), wanted.scales_each) {
        (true, _) => Scales::One([1.0; 2]),
        (false, false) => Scales::One([scale(random), scale(random)]),
        (false, true) => Scales::Each(scale_layout(wanted, random)),
    };
    PoolShape { element, blocks, block_tokens, heads, head_dim, layout: layout_of(wanted, random), scales }
}

/// Where its elements are.
pub fn layout_of(wanted: &PoolWanted, random: &mut Random) -> Layout {
    let [tokens, heads, head_dim, gap] =
        [wanted.block_tokens, wanted.heads, wanted.head_dim, wanted.gap].map(u64::from);
    let row = head_dim + gap;
    let (token_stride, head_stride) = match wanted.order {
        Order::Hnd => (row, row * tokens + gap),
        Order::Nhd | Order::ByBlock => (row * heads + gap, row),
    };
    let half = (token_stride * tokens).max(head_stride * heads) + gap;
    let lead = u64::from(random.below(3)) * 16;
    if wanted.order == Order::ByBlock {
        let (layers, layer) = (u64::from(random.between(1, 3)), 0);
        let block_stride = half * 2 * layers + gap;
        return Layout {
            block_stride,
            token_stride,
            head_stride,
            keys_at: lead + layer * half,
            values_at: lead + half,
        };
    }
    let plane = half * (u64::from(wanted.blocks) + 1) + gap;
    Layout { block_stride: half, token_stride, head_stride, keys_at: lead, values_at: lead + plane }
}

fn scale_layout(wanted: &PoolWanted, random: &mut Random) -> Layout {
    let [tokens, heads] = [wanted.block_tokens, wanted.heads].map(u64::from);
    let gap = u64::from(random.below(3));
    let (token_stride, head_stride) = if random.once_in(2) { (heads + gap, 1) } else { (1, tokens + gap) };
    let block_stride = (token_stride * tokens).max(head_stride * heads) + gap;
    let values_at = block_stride * (u64::from(wanted.blocks) + 1);
    Layout { block_stride, token_stride, head_stride, keys_at: 0, values_at }
}

/// A table for sequences of these lengths over blocks in random order, and how many blocks there are. Sequences share the
/// blocks of their first `shared` keys, where those are full.
pub fn table_of(lengths: &[u32], block_tokens: u32, shared: u32, random: &mut Random) -> (Table, u32) {
    let needed = |length: u32| length.div_ceil(block_tokens);
    let shared = shared / block_tokens;
    let common = lengths.iter().map(|length| (length / block_tokens).min(shared)).max().unwrap_or(0);
    let own = |length: u32| needed(length) - (length / block_tokens).min(shared);
    let blocks = (common + lengths.iter().map(|length| own(*length)).sum::<u32>()).max(1) + random.below(4);
    let mut ids = random.shuffled(blocks).into_iter();
    let common: Vec<u32> = ids.by_ref().take(common as usize).collect();
    let mut rows: Vec<Vec<u32>> = lengths
        .iter()
        .map(|length| {
            let together = (length / block_tokens).min(shared) as usize;
            let own = own(*length) as usize;
            common[..together].iter().copied().chain(ids.by_ref().take(own)).collect()
        })
        .collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0).max(1) as u32 + random.below(3);
    // What is behind a sequence's blocks is null, as in the ledger's tables.
    rows.iter_mut().for_each(|row| row.resize(columns as usize, 0));
    // A table has a row, also where nobody reads one.
    rows.extend(lengths.is_empty().then(|| vec![GUARD; columns as usize]));
    let row_stride = columns + random.below(3);
    (Table { rows, row_of: Vec::new(), columns, row_stride }, blocks)
}

/// Once in three: rows in another order than sequences, and one before them that nobody reads.
pub fn turn(table: &mut Table, random: &mut Random) {
    if !random.once_in(3) {
        return;
    }
    let order = random.shuffled(table.rows.len() as u32);
    let unread = vec![GUARD; table.columns as usize];
    let mut turned = vec![unread; table.rows.len() + 1];
    table.rows.iter().zip(&order).for_each(|(row, place)| turned[*place as usize] = row.clone());
    (table.rows, table.row_of) = (turned, order);
}

/// Keys and values for every key of every sequence that the table has a block for: normal, the keys times `spread`.
pub fn contents(shape: PoolShape, table: &Table, lengths: &[u32], spread: f64, random: &mut Random) -> Pool {
    let mut pool = Pool::poisoned(shape);
    for (sequence, length) in lengths.iter().enumerate() {
        for key in 0..*length {
            let Found::At { block, token } = table.find(&shape, sequence as u32, key) else { continue };
            for head in 0..shape.heads {
                let at = At { block, token, head };
                pool.contents.entry(at).or_insert_with(|| pair(&shape, spread, random));
            }
        }
    }
    pool
}

/// One key and value.
fn pair(shape: &PoolShape, spread: f64, random: &mut Random) -> KeyValue {
    let mut row = |spread: f64, scale: f64| -> Vec<u16> {
        let number = |_| shape.element.nearest(random.normal() * spread / scale);
        (0..shape.head_dim).map(number).collect()
    };
    let (scales, own) = match shape.scales {
        Scales::One(scales) => (scales, [1.0; 2]),
        Scales::Each(_) => {
            let scales = [spread, 1.0].map(|spread| (spread * 4.0 / shape.element.largest()) as f32);
            (scales, scales)
        }
    };
    let [key_scale, value_scale] = scales.map(f64::from);
    KeyValue { key: row(spread, key_scale), value: row(1.0, value_scale), scales: own }
}
