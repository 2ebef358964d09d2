//! Work in a device's memory: every buffer, the plan, and the launches.

use super::shapes::{Attention, Blocks, Shape, Work};
use crate::kernels::case::{Attend, Options, Rows};
use crate::kernels::make::{Order, PoolWanted, pool_of, table_of};
use crate::kernels::numbers::Element;
use crate::kernels::pool::{Pool, PoolShape};
use crate::kernels::random::Random;
use crate::kernels::run::{Bench, PreparedAttend};
use crate::kernels::table::Table;
use kvledger_core::split::{DECODE_ROWS, PREFILL_ROWS, Split};
use kvledger_cuda::launch::{self, Launch};
use kvledger_cuda::raw::{
    kvk_append_params, kvk_checksum_params, kvk_copy_pair, kvk_copy_params, kvk_fill_params, kvk_gather_params,
    kvk_shape,
};
use kvledger_cuda::{Error, Memory, Space};

/// Random numbers that are made on the host; the rest of a buffer repeats them.
const RANDOM_BYTES: usize = 1 << 20;

/// Some work, ready to be launched.
pub struct Loaded {
    launches: Vec<Launch>,
    /// Partial results of a plan.
    parts: u32,
    /// Key tiles of a plan's items, and the threads of a block.
    tiles: u64,
    threads: u64,
    /// What the launches work on.
    _memory: Vec<Memory>,
    _attend: Option<Box<PreparedAttend>>,
}

impl Loaded {
    /// Everything that a shape needs, on a device of `thread_blocks`.
    pub fn put(bench: &Bench, shape: &Shape, thread_blocks: u32) -> Result<Loaded, Error> {
        match &shape.work {
            Work::Attend(attention) => attend(bench, attention, thread_blocks),
            Work::Append { tokens, heads, head_dim, to } => append(bench, [*tokens, *heads, *head_dim], *to),
            Work::Gather { tokens, heads, head_dim, from } => gather(bench, [*tokens, *heads, *head_dim], *from),
            Work::Copy(blocks) => copy(bench, blocks),
            Work::Fill(blocks) => fill(bench, blocks),
            Work::Checksum(blocks) => checksum(bench, blocks),
        }
    }

    /// Enqueues all of it once.
    pub fn launch(&self, bench: &Bench) -> Result<(), Error> {
        self.launches.iter().try_for_each(|launch| bench.launch(launch))
    }

    /// Partial results that are written and read again.
    pub fn parts(&self) -> u32 {
        self.parts
    }

    /// Key tiles that thread blocks work through, and threads of a thread block; 0 where there are no tiles.
    pub fn tiles(&self) -> (u64, u64) {
        (self.tiles, self.threads)
    }

    fn plain(launch: Launch, memory: Vec<Memory>) -> Loaded {
        Loaded { launches: vec![launch], parts: 0, tiles: 0, threads: 0, _memory: memory, _attend: None }
    }
}

/// Keys that a kernel of attention takes at once.
fn tile_keys(head_dim: u32) -> u32 {
    if head_dim <= 128 { 64 } else { 32 }
}

fn attend(bench: &Bench, attention: &Attention, thread_blocks: u32) -> Result<Loaded, Error> {
    let random = &mut Random::new(1);
    let sequences = attention.batch.sequences();
    let lengths: Vec<u32> = sequences.iter().map(|(length, _)| *length).collect();
    let tokens: u32 = sequences.iter().map(|(_, tokens)| tokens).sum();
    let is_decode = sequences.iter().all(|(_, tokens)| *tokens == 1);
    let (shape, table) = pool(attention, &lengths, random);
    let Attention { query_heads, heads, head_dim, .. } = *attention;
    let longest = lengths.iter().copied().max().unwrap_or(1);
    let decode = Split::decode(heads, query_heads, thread_blocks, lengths.len() as u32, longest);
    let tile_rows = if is_decode { DECODE_ROWS } else { PREFILL_ROWS };
    let split = Split { tile_rows, tile_keys: tile_keys(head_dim), query_tokens_max: tokens, ..decode };
    let rows = Rows::contiguous(query_heads, head_dim);
    let few: Vec<u16> = (0..4_099).map(|_| Element::Bf16.nearest(random.normal())).collect();
    let count = (tokens * query_heads * head_dim) as usize;
    let case = Attend {
        title: String::new(),
        pool: Pool::poisoned(shape),
        table,
        lengths,
        query_starts: if is_decode { Vec::new() } else { vec![0, tokens] },
        query_positions: Vec::new(),
        begins: Vec::new(),
        ends: Vec::new(),
        query_heads,
        element: Element::Bf16,
        queries: few.iter().copied().cycle().take(count).collect(),
        options: Options::plain(head_dim),
        query_rows: rows,
        output_rows: rows,
        lse_stride: query_heads,
        split,
        merge_thread_blocks: thread_blocks,
    };
    let prepared = Box::new(PreparedAttend::put(bench, &case)?);
    fill_with_numbers(bench, prepared.pool_memory(), shape.element)?;
    let tiles = split.count(&case.batch()).map_or(0, |counts| {
        // The cost of all without overheads: key tiles of all row tiles.
        counts.cost - u64::from(counts.row_tiles) * u64::from(split.overhead_tiles)
    });
    let launches = prepared.launches(&case);
    let parts = prepared.header().parts;
    // Warps of the kernel: they share 64 or 32 keys by 16, or 64 rows.
    let warps = if is_decode { tile_keys(head_dim) / 16 } else { PREFILL_ROWS / 16 };
    let used = if parts > 0 { &launches[..] } else { &launches[..1] };
    Ok(Loaded {
        launches: used.to_vec(),
        parts,
        tiles,
        threads: u64::from(warps) * 32,
        _memory: Vec::new(),
        _attend: Some(prepared),
    })
}

fn pool(attention: &Attention, lengths: &[u32], random: &mut Random) -> (PoolShape, Table) {
    let (table, blocks) = table_of(lengths, attention.block_tokens, 0, random);
    let wanted = PoolWanted {
        element: attention.element,
        blocks,
        block_tokens: attention.block_tokens,
        heads: attention.heads,
        head_dim: attention.head_dim,
        order: Order::Nhd,
        gap: 0,
        scales_each: false,
    };
    (pool_of(&wanted, random), table)
}

/// Ordinary numbers of a type everywhere: some are made, and repeated by the device.
fn fill_with_numbers(bench: &Bench, memory: &Memory, element: Element) -> Result<(), Error> {
    let random = &mut Random::new(2);
    let mut some = Vec::with_capacity(RANDOM_BYTES.min(memory.bytes()));
    while some.len() < RANDOM_BYTES.min(memory.bytes()) {
        let bits =
            element.nearest(random.normal() * if element.is_wide() { 1.0 } else { 0.3 * element.largest().min(8.0) });
        some.extend_from_slice(&bits.to_le_bytes()[..element.bytes()]);
    }
    some.truncate(memory.bytes());
    memory.write(bench.stream(), 0, &some)?;
    let mut done = some.len();
    while done < memory.bytes() {
        let more = done.min(memory.bytes() - done);
        bench.stream().copy((memory, done), (memory, 0), more)?;
        done += more;
    }
    bench.stream().synchronize()
}

fn numbers(bench: &Bench, bytes: usize, element: Element) -> Result<Memory, Error> {
    let memory = Memory::allocate(bench.device(), Space::Device, bytes)?;
    fill_with_numbers(bench, &memory, element)?;
    Ok(memory)
}

/// One sequence of so many tokens in blocks of 16.
fn one_sequence([tokens, heads, head_dim]: [u32; 3], element: Element) -> (PoolShape, Table) {
    let attention = Attention {
        query_heads: heads,
        heads,
        head_dim,
        element,
        block_tokens: 16,
        batch: super::Batch::Even { sequences: 1, length: tokens },
    };
    pool(&attention, &[tokens], &mut Random::new(1))
}

fn append(bench: &Bench, sizes: [u32; 3], to: Element) -> Result<Loaded, Error> {
    let [tokens, heads, head_dim] = sizes;
    let (shape, table) = one_sequence(sizes, to);
    let pool = crate::kernels::run::DevicePool::put(bench, &Pool::poisoned(shape))?;
    let bytes = (tokens * heads * head_dim) as usize * 2;
    let (keys, values) = (numbers(bench, bytes, Element::Bf16)?, numbers(bench, bytes, Element::Bf16)?);
    let place = |token: u32| [table.rows[0][(token / 16) as usize], token % 16];
    let slots = bench.holding(&(0..tokens).flat_map(place).collect::<Vec<u32>>())?;
    let status = bench.status()?;
    let params = kvk_append_params {
        cache: pool.cache(&shape),
        keys: keys.pointer(),
        values: values.pointer(),
        token_stride: i64::from(heads * head_dim),
        head_stride: i64::from(head_dim),
        slots: slots.pointer(),
        status: status.pointer(),
        tokens,
        type_: Element::Bf16.number(),
    };
    let mut memory = pool.into_memory();
    memory.extend([keys, values, slots, status]);
    Ok(Loaded::plain(Launch::Append(launch::Append { params }), memory))
}

fn gather(bench: &Bench, sizes: [u32; 3], from: Element) -> Result<Loaded, Error> {
    let [tokens, heads, head_dim] = sizes;
    let (shape, table) = one_sequence(sizes, from);
    let pool = crate::kernels::run::DevicePool::put(bench, &Pool::poisoned(shape))?;
    fill_with_numbers(bench, pool.memory(), from)?;
    let bytes = (tokens * heads * head_dim) as usize * 2;
    let [keys, values] = [bench.poisoned(bytes, 0xFF)?, bench.poisoned(bytes, 0xFF)?];
    let (entries, status) = (bench.holding(&table.entries())?, bench.status()?);
    let (first_keys, starts) = (bench.holding(&[0u32])?, bench.holding(&[0, tokens])?);
    let params = kvk_gather_params {
        cache: pool.cache(&shape),
        table: kvledger_cuda::raw::kvk_table {
            entries: entries.pointer(),
            row_stride: i64::from(table.row_stride),
            columns: table.columns,
            ..Default::default()
        },
        first_keys: first_keys.pointer(),
        starts: starts.pointer(),
        keys: keys.pointer(),
        values: values.pointer(),
        status: status.pointer(),
        sequences: 1,
        type_: Element::Bf16.number(),
        total: tokens,
        reserved: 0,
    };
    let launch = launch::Gather { params, table_rows: 1, longest: tokens };
    let mut memory = pool.into_memory();
    memory.extend([keys, values, entries, status, first_keys, starts]);
    Ok(Loaded::plain(Launch::Gather(launch), memory))
}

/// Twice as many blocks as are copied: the upper half is written.
fn copy(bench: &Bench, blocks: &Blocks) -> Result<Loaded, Error> {
    let count = blocks.count * 2;
    let pool = numbers(bench, ((u64::from(count) + 1) * blocks.bytes) as usize, Element::Bf16)?;
    let order = Random::new(3).shuffled(blocks.count);
    let pair = |(from, to): (&u32, u32)| kvk_copy_pair { source: *from, destination: to, tokens: 1, reserved: 0 };
    let pairs: Vec<_> = order.iter().zip(blocks.count + 1..).map(pair).collect();
    let list = bench.holding(&pairs)?;
    let shape = kvk_shape {
        block_stride: blocks.bytes as i64,
        piece_stride: blocks.bytes as i64,
        token_bytes: blocks.bytes,
        pieces: 1,
        block_tokens: 1,
    };
    let params = kvk_copy_params {
        source_shape: shape,
        destination_shape: shape,
        source: pool.pointer(),
        destination: pool.pointer(),
        pairs: list.pointer(),
        pair_count: blocks.count,
        reserved: 0,
    };
    let launch = launch::CopyBlocks { params, source_blocks: count, destination_blocks: count };
    Ok(Loaded::plain(Launch::CopyBlocks(launch), vec![pool, list]))
}

fn pool_and_list(bench: &Bench, blocks: &Blocks) -> Result<(Memory, Memory), Error> {
    let pool = numbers(bench, ((u64::from(blocks.count) + 1) * blocks.bytes) as usize, Element::Bf16)?;
    Ok((pool, bench.holding(&Random::new(3).shuffled(blocks.count))?))
}

fn fill(bench: &Bench, blocks: &Blocks) -> Result<Loaded, Error> {
    let (pool, list) = pool_and_list(bench, blocks)?;
    let params = kvk_fill_params {
        pool: pool.pointer(),
        blocks: list.pointer(),
        block_bytes: blocks.bytes,
        block_count: blocks.count,
        pattern: u32::MAX,
    };
    Ok(Loaded::plain(Launch::Fill(launch::Fill { params, blocks: blocks.count }), vec![pool, list]))
}

fn checksum(bench: &Bench, blocks: &Blocks) -> Result<Loaded, Error> {
    let (pool, list) = pool_and_list(bench, blocks)?;
    let sums = bench.poisoned(blocks.count as usize * 8, 0xFF)?;
    let params = kvk_checksum_params {
        pool: pool.pointer(),
        blocks: list.pointer(),
        sums: sums.pointer(),
        block_bytes: blocks.bytes,
        block_count: blocks.count,
        reserved: 0,
    };
    let launch = launch::Checksum { params, blocks: blocks.count };
    Ok(Loaded::plain(Launch::Checksum(launch), vec![pool, list, sums]))
}
