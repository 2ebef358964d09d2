//! New keys and values on a device: the whole pool is compared, bit for bit.

use super::bench::Bench;
use super::pool::DevicePool;
use super::{Right, Wrong};
use crate::kernels::case::Append;
use crate::kernels::reference::append;
use kvledger_cuda::launch::{self, Launch};
use kvledger_cuda::raw::kvk_append_params;

/// Runs a case.
pub fn run(case: &Append, bench: &Bench) -> Result<Right, Wrong> {
    let shape = &case.pool.shape;
    let pool = DevicePool::put(bench, &case.pool)?;
    let image = |bits: &[u16]| case.rows.image(bits, shape.heads, shape.head_dim);
    let (keys, values) = (bench.holding(&image(&case.keys))?, bench.holding(&image(&case.values))?);
    let words: Vec<u32> = case.slots.iter().flat_map(|(block, token)| [*block, *token]).collect();
    let (slots, status) = (bench.holding(&words)?, bench.status()?);
    let params = kvk_append_params {
        cache: pool.cache(shape),
        keys: keys.pointer(),
        values: values.pointer(),
        token_stride: i64::from(case.rows.token_stride),
        head_stride: i64::from(case.rows.head_stride),
        slots: slots.pointer(),
        status: status.pointer(),
        tokens: case.slots.len() as u32,
        type_: case.element.number(),
    };
    bench.launch(&Launch::Append(launch::Append { params }))?;
    let (expected, report) = append(case);
    let compared = pool.check(bench, &expected)?;
    bench.check_report(&status, &report)?;
    check_blocks_that_would_wrap(case, bench, &pool)?;
    Ok(Right { share: 0.0, compared })
}

/// Of a pool beyond 2^32 elements: the blocks that offsets of 32 bits would lead to are as they were.
fn check_blocks_that_would_wrap(case: &Append, bench: &Bench, pool: &DevicePool) -> Result<(), Wrong> {
    let layout = &case.pool.shape.layout;
    if case.pool.shape.elements_total() <= 1 << 32 {
        return Ok(());
    }
    for (block, _) in &case.slots {
        let wrapped = ((u64::from(*block) * layout.block_stride) & 0xFFFF_FFFF) / layout.block_stride;
        if wrapped != u64::from(*block) && !case.pool.contents.keys().any(|at| u64::from(at.block) == wrapped) {
            pool.check_untouched(bench, &case.pool, wrapped as u32)?;
        }
    }
    Ok(())
}
