//! Tables after a compaction: each id becomes where its block is now, what is wrong stays and is reported.

use crate::bench::{Bench, Found, Random, each_order, same};
use kvledger_cuda::launch::{Launch, Rewrite};
use kvledger_cuda::raw::{KVK_FAULT_BLOCK, kvk_rewrite_params, kvk_status};

const NOTHING: kvk_status = kvk_status { first: u64::MAX, faults: 0, reserved: 0 };

struct Case {
    rows: usize,
    columns: usize,
    /// Entries from one row to the next.
    stride: usize,
    blocks: u32,
    /// Entries that are no id.
    wrong: Vec<(usize, usize)>,
}

fn check(bench: &Bench, case: &Case) -> Found {
    let mut random = Random(13);
    let moved: Vec<u32> = [0].into_iter().chain(random.order(case.blocks as usize).iter().map(|id| id + 1)).collect();
    // What is between the rows is no id either, and must not be looked at.
    let mut entries = vec![u32::MAX; (case.rows - 1) * case.stride + case.columns];
    for row in entries.chunks_mut(case.stride) {
        row[..case.columns].fill_with(|| random.below(case.blocks as usize + 1) as u32);
    }
    for &(row, column) in &case.wrong {
        entries[row * case.stride + column] = case.blocks + 1 + column as u32;
    }
    let (table, map, status) = (bench.holding(&entries), bench.holding(&moved), bench.holding(&[NOTHING]));
    let launch = Rewrite {
        params: kvk_rewrite_params {
            entries: table.pointer(),
            moved: map.pointer(),
            status: status.pointer(),
            row_stride: case.stride as i64,
            rows: case.rows as u32,
            columns: case.columns as u32,
            blocks: case.blocks,
            reserved: 0,
        },
    };
    launch.check_moved(&moved).unwrap();
    bench.run(&Launch::Rewrite(launch));
    let wanted: Vec<u32> = entries.iter().map(|&id| moved.get(id as usize).copied().unwrap_or(id)).collect();
    same("entries", &bench.values::<u32>(&table), &wanted)?;
    let said: kvk_status = bench.values(&status)[0];
    let first = case.wrong.iter().min().map_or(u64::MAX, |&(row, column)| (row as u64) << 32 | column as u64);
    same("first fault", &[said.first], &[first])?;
    same("faults", &[said.faults], &[if case.wrong.is_empty() { 0 } else { KVK_FAULT_BLOCK }])
}

#[test]
fn ids_become_where_their_blocks_are() {
    let case = |rows, columns, stride, wrong| Case { rows, columns, stride, blocks: 37, wrong };
    for case in [
        case(1, 1, 1, vec![]),
        case(5, 7, 7, vec![]),
        case(5, 7, 9, vec![(3, 2), (1, 6), (4, 0)]),
        case(300, 33, 40, vec![(299, 32)]),
        case(1, 3000, 3000, vec![(0, 0)]),
    ] {
        each_order(|bench| check(bench, &case));
    }
}
