//! Attention on a device: the plan made and copied, both launches, every row compared.

use super::bench::{Bench, pointer_or_null};
use super::pool::DevicePool;
use super::{Right, Wrong};
use crate::kernels::case::{Attend, Rows};
use crate::kernels::compare::{Error as Off, Mismatch, Numbers, Tolerance};
use crate::kernels::numbers::Element;
use crate::kernels::reference::{Attended, attend};
use crate::kernels::table::Table;
use kvledger_core::split::{SplitHeader, SplitLayout};
use kvledger_cuda::launch::{self, Launch};
use kvledger_cuda::raw::{kvk_attend_params, kvk_table};
use kvledger_cuda::{Error, Memory};

/// What LSE may be off, of its size where that is above 1.
pub const LSE_TOLERANCE: f64 = 1e-5;

/// What results may be off: the products round as the type does, and a row by itself is a smaller sample.
pub fn tolerance(pool: Element, queries: Element) -> Tolerance {
    let whole = match (pool.is_wide(), queries) {
        (_, Element::Bf16) => 6e-3,
        (true, _) => 1e-3,
        (false, _) => 2e-3,
    };
    Tolerance { whole, row: 4.0 * whole }
}

/// A case in the memory of a device, ready to be launched again and again.
pub struct Prepared {
    pool: DevicePool,
    table: DeviceTable,
    lists: Lists,
    lengths: Memory,
    queries: Memory,
    output: Memory,
    lse: Memory,
    plan: Memory,
    parts: [Memory; 2],
    status: Memory,
    layout: SplitLayout,
    header: SplitHeader,
}

/// What may be NULL.
struct Lists {
    query_starts: Option<Memory>,
    query_positions: Option<Memory>,
    slopes: Option<Memory>,
    sinks: Option<Memory>,
}

/// A table in the memory of a device.
pub struct DeviceTable {
    entries: Memory,
    rows: Option<Memory>,
}

impl DeviceTable {
    /// As the case has it.
    pub fn put(bench: &Bench, table: &Table) -> Result<DeviceTable, Error> {
        Ok(DeviceTable { entries: bench.holding(&table.entries())?, rows: bench.some(&table.row_of)? })
    }

    /// What kernels are given.
    pub fn table(&self, of: &Table) -> kvk_table {
        kvk_table {
            entries: self.entries.pointer(),
            rows: pointer_or_null(&self.rows),
            row_stride: i64::from(of.row_stride),
            columns: of.columns,
            reserved: 0,
        }
    }
}

impl Prepared {
    /// Plans, and copies everything. Panics if the case cannot be planned: then the case is wrong.
    pub fn put(bench: &Bench, case: &Attend) -> Result<Prepared, Error> {
        let layout = case.split.layout().unwrap_or_else(|why| panic!("{}: {why}", case.title));
        let mut words = vec![0; layout.bytes as usize / 4];
        let header = case.split.plan(&case.batch(), 0, &mut words);
        let header = header.unwrap_or_else(|why| panic!("{}: {why}", case.title));
        let (tokens, head_dim) = (case.query_tokens(), case.pool.shape.head_dim);
        let part_rows = layout.parts_max as usize * case.split.tile_rows as usize;
        let options = &case.options;
        Ok(Prepared {
            pool: DevicePool::put(bench, &case.pool)?,
            table: DeviceTable::put(bench, &case.table)?,
            lists: Lists {
                query_starts: bench.some(&case.query_starts)?,
                query_positions: bench.some(&case.query_positions)?,
                slopes: bench.some(&options.slopes)?,
                sinks: bench.some(&options.sinks)?,
            },
            lengths: bench.holding(&case.lengths)?,
            queries: bench.holding(&case.query_rows.image(&case.queries, case.query_heads, head_dim))?,
            output: bench.poisoned(case.output_rows.total(tokens, case.query_heads, head_dim) * 2, 0xFF)?,
            lse: bench.poisoned(lse_floats(case) * 4, 0xFF)?,
            plan: bench.holding(&words)?,
            parts: [bench.poisoned(part_rows * head_dim as usize * 4, 0xFF)?, bench.poisoned(part_rows * 4, 0xFF)?],
            status: bench.status()?,
            layout,
            header,
        })
    }

    /// The memory of keys and values.
    pub fn pool_memory(&self) -> &Memory {
        self.pool.memory()
    }

    /// How the batch was cut.
    pub fn header(&self) -> &SplitHeader {
        &self.header
    }

    /// Both launches, of the same parameters.
    pub fn launches(&self, case: &Attend) -> [Launch; 2] {
        let Lists { query_starts, query_positions, slopes, sinks } = &self.lists;
        let plan_at = |bytes: u64| self.plan.pointer::<u8>().wrapping_add(bytes as usize);
        let params = kvk_attend_params {
            cache: self.pool.cache(&case.pool.shape),
            table: self.table.table(&case.table),
            lengths: self.lengths.pointer(),
            query_starts: pointer_or_null(query_starts),
            query_positions: pointer_or_null(query_positions),
            queries: self.queries.pointer(),
            output: self.output.pointer(),
            lse: self.lse.pointer(),
            sinks: pointer_or_null(sinks),
            slopes: pointer_or_null(slopes),
            query_token_stride: i64::from(case.query_rows.token_stride),
            query_head_stride: i64::from(case.query_rows.head_stride),
            output_token_stride: i64::from(case.output_rows.token_stride),
            output_head_stride: i64::from(case.output_rows.head_stride),
            lse_token_stride: i64::from(case.lse_stride),
            item_starts: plan_at(self.layout.item_starts).cast(),
            items: plan_at(self.layout.items).cast(),
            joins: plan_at(self.layout.joins).cast(),
            join_count: plan_at(self.layout.join_count).cast(),
            part_output: self.parts[0].pointer(),
            part_lse: self.parts[1].pointer(),
            status: self.status.pointer(),
            scale: case.options.scale,
            soft_cap: case.options.soft_cap,
            window_left: case.options.window,
            query_heads: case.query_heads,
            sequences: case.lengths.len() as u32,
            type_: case.element.number(),
            tile_rows: case.split.tile_rows,
            thread_blocks: case.split.thread_blocks,
            merge_thread_blocks: case.merge_thread_blocks,
            reserved: 0,
        };
        let attend = launch::Attend {
            params,
            table_rows: case.table.rows.len() as u32,
            longest: longest(case),
            query_tokens: case.query_tokens() as u32,
            items: self.layout.items_max,
            joins: self.layout.joins_max.max(1),
            parts: self.layout.parts_max,
        };
        [Launch::Attend(attend), Launch::Merge(attend)]
    }

    /// Enqueues both.
    pub fn launch(&self, bench: &Bench, case: &Attend) -> Result<(), Error> {
        self.launches(case).iter().try_for_each(|launch| bench.launch(launch))
    }
}

/// Floats of the memory of LSE.
fn lse_floats(case: &Attend) -> usize {
    match case.query_tokens().checked_sub(1) {
        None => 0,
        Some(last) => last * case.lse_stride as usize + case.query_heads as usize,
    }
}

/// What a launch checks the table's columns against: cases of tables that are too short on purpose say what they have.
fn longest(case: &Attend) -> u32 {
    let longest = case.lengths.iter().copied().max().unwrap_or(0);
    longest.min(case.table.columns.saturating_mul(case.pool.shape.block_tokens))
}

/// Runs a case.
pub fn run(case: &Attend, bench: &Bench) -> Result<Right, Wrong> {
    let prepared = Prepared::put(bench, case)?;
    prepared.launch(bench, case)?;
    let expected = attend(case);
    let right = compare(case, bench, &prepared, &expected)?;
    bench.check_report(&prepared.status, &expected.report)?;
    let compared = prepared.pool.check(bench, &case.pool)?;
    Ok(Right { compared: right.compared + compared, ..right })
}

fn compare(case: &Attend, bench: &Bench, prepared: &Prepared, expected: &Attended) -> Result<Right, Wrong> {
    let (tokens, head_dim) = (case.query_tokens(), case.pool.shape.head_dim);
    let total = case.output_rows.total(tokens, case.query_heads, head_dim);
    let bits = bench.read::<u16>(&prepared.output, total)?;
    let name = |row: usize| row_name(case, row);
    let tolerance = tolerance(case.pool.shape.element, case.element);
    let error = close_rows(case, &bits, &expected.output, &name, &tolerance)?;
    let floats = bench.read::<f32>(&prepared.lse, lse_floats(case))?;
    let lse = close_lse(case, &floats, &expected.lse, &name)?;
    Ok(Right { share: error.share(&tolerance).max(lse), compared: (bits.len() + floats.len()) as u64 })
}

fn row_name(case: &Attend, row: usize) -> String {
    let (token, head) = (row / case.query_heads as usize, row % case.query_heads as usize);
    let sequence = (0..case.lengths.len()).find(|sequence| case.tokens_of(*sequence).contains(&token)).unwrap_or(0);
    let place = token - case.tokens_of(sequence).start;
    format!("sequence {sequence} of {} keys, query token {place}, head {head}", case.lengths[sequence])
}

fn close_rows(
    case: &Attend,
    bits: &[u16],
    expected: &[f64],
    name: &dyn Fn(usize) -> String,
    tolerance: &Tolerance,
) -> Result<Off, Mismatch> {
    let head_dim = case.pool.shape.head_dim as usize;
    let found = rows_out_of(bits, &case.output_rows, case.query_heads, head_dim, case.query_tokens())?;
    let found: Vec<f64> = found.iter().map(|bits| case.element.value(*bits)).collect();
    let numbers = Numbers { what: "output", expected, found: &found, row: head_dim, element: Some(case.element), name };
    numbers.close(tolerance)
}

fn close_lse(case: &Attend, floats: &[f32], expected: &[f64], name: &dyn Fn(usize) -> String) -> Result<f64, Mismatch> {
    let (heads, stride) = (case.query_heads as usize, case.lse_stride as usize);
    for (at, float) in floats.iter().enumerate().filter(|(at, _)| at % stride >= heads) {
        if float.to_bits() != u32::MAX {
            return Err(Mismatch(format!("LSE: float {at} is in no row, and was written")));
        }
    }
    let found: Vec<f64> =
        (0..case.query_tokens() * heads).map(|row| f64::from(floats[row / heads * stride + row % heads])).collect();
    Numbers { what: "LSE", expected, found: &found, row: 1, element: None, name }.each_close(LSE_TOLERANCE)
}

/// The rows of an image; a gap that is not as it was is a mismatch.
pub fn rows_out_of(
    image: &[u16],
    rows: &Rows,
    heads: u32,
    head_dim: usize,
    tokens: usize,
) -> Result<Vec<u16>, Mismatch> {
    let (mut is_row, mut out) = (vec![false; image.len()], Vec::with_capacity(tokens * heads as usize * head_dim));
    for token in 0..tokens {
        for head in 0..heads as usize {
            let at = rows.element(token, head);
            is_row[at..at + head_dim].fill(true);
            out.extend_from_slice(&image[at..at + head_dim]);
        }
    }
    let written = image.iter().zip(&is_row).position(|(bits, is_row)| !is_row && *bits != 0xFFFF);
    match written {
        None => Ok(out),
        Some(at) => Err(Mismatch(format!("output: element {at} of its memory is in no row, and was written"))),
    }
}
