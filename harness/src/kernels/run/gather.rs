//! Keys and values out of their blocks on a device.

use super::attend::DeviceTable;
use super::bench::Bench;
use super::pool::DevicePool;
use super::{Right, Wrong};
use crate::kernels::case::Gather;
use crate::kernels::compare::same_bits;
use crate::kernels::reference::gather;
use kvledger_cuda::launch::{self, Launch};
use kvledger_cuda::raw::kvk_gather_params;

/// Runs a case.
pub fn run(case: &Gather, bench: &Bench) -> Result<Right, Wrong> {
    let shape = &case.pool.shape;
    let (pool, table) = (DevicePool::put(bench, &case.pool)?, DeviceTable::put(bench, &case.table)?);
    let starts = case.starts();
    let total = starts.last().copied().unwrap_or(0);
    let elements = (total * shape.heads * shape.head_dim) as usize;
    let (first_keys, starts) = (bench.holding(&case.first_keys)?, bench.holding(&starts)?);
    let [keys, values] = [bench.poisoned(elements * 2, 0xFF)?, bench.poisoned(elements * 2, 0xFF)?];
    let status = bench.status()?;
    let params = kvk_gather_params {
        cache: pool.cache(shape),
        table: table.table(&case.table),
        first_keys: first_keys.pointer(),
        starts: starts.pointer(),
        keys: keys.pointer(),
        values: values.pointer(),
        status: status.pointer(),
        sequences: case.first_keys.len() as u32,
        type_: case.element.number(),
        total,
        reserved: 0,
    };
    let longest = case.first_keys.iter().zip(&case.counts).map(|(first, count)| first + count).max().unwrap_or(0);
    let launch = launch::Gather {
        params,
        table_rows: case.table.rows.len() as u32,
        longest: longest.min(case.table.columns.saturating_mul(shape.block_tokens)),
    };
    bench.launch(&Launch::Gather(launch))?;
    let expected = gather(case);
    let name = |at: usize| {
        let (row, element) = (at / shape.head_dim as usize, at % shape.head_dim as usize);
        format!("row {}, head {}, element {element}", row / shape.heads as usize, row % shape.heads as usize)
    };
    same_bits("keys", case.element, &expected.keys, &bench.read::<u16>(&keys, elements)?, &name)?;
    same_bits("values", case.element, &expected.values, &bench.read::<u16>(&values, elements)?, &name)?;
    bench.check_report(&status, &expected.report)?;
    let compared = pool.check(bench, &case.pool)?;
    Ok(Right { share: 0.0, compared: compared + elements as u64 * 2 })
}
