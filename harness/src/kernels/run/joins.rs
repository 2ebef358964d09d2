//! Joins on a device.

use super::attend::{LSE_TOLERANCE, rows_out_of, tolerance};
use super::bench::{Bench, pointer_or_null};
use super::{Right, Wrong};
use crate::kernels::case::{Merge, MergeTwo, Rows};
use crate::kernels::compare::{Mismatch, Numbers, same};
use crate::kernels::numbers::Element;
use crate::kernels::reference::{Joined, merge as reference_merge, merge_two as reference_merge_two};
use kvledger_core::split::{SplitBatch, SplitJoin};
use kvledger_cuda::Memory;
use kvledger_cuda::launch::{self, Launch};
use kvledger_cuda::raw::{kvk_attend_params, kvk_merge_two_params};

/// What the output of a join is compared with.
struct Shape<'a> {
    tokens: usize,
    heads: u32,
    head_dim: usize,
    rows: &'a Rows,
    lse_stride: usize,
    element: Element,
}

/// Runs a case of parts that are joined.
pub fn merge(case: &Merge, bench: &Bench) -> Result<Right, Wrong> {
    let split = &case.split;
    let batch = SplitBatch { lengths: &case.lengths, query_starts: &case.query_starts, ..SplitBatch::default() };
    let layout = split.layout().unwrap_or_else(|why| panic!("{}: {why}", case.title));
    let mut words = vec![0; layout.bytes as usize / 4];
    split.plan(&batch, 0, &mut words).unwrap_or_else(|why| panic!("{}: {why}", case.title));
    let joins: Vec<SplitJoin> = split.read(&words).expect("it was just made").joins().collect();
    let tokens = case.query_starts.last().map_or(case.lengths.len(), |end| *end as usize);
    let shape = Shape {
        tokens,
        heads: split.query_heads,
        head_dim: case.head_dim as usize,
        rows: &case.rows,
        lse_stride: case.lse_stride as usize,
        element: case.element,
    };
    let (output, lse) = shape.poisoned(bench)?;
    let (plan, query_starts, sinks) =
        (bench.holding(&words)?, bench.some(&case.query_starts)?, bench.some(&case.sinks)?);
    let (part_output, part_lse) = (bench.holding(&case.parts.output)?, bench.holding(&case.parts.logs)?);
    // What `merge` does not read is not there, but for what is checked of every launch of attention.
    let (unread, lengths, status) = (bench.poisoned(4096, 0xFF)?, bench.holding(&case.lengths)?, bench.status()?);
    let plan_at = |bytes: u64| plan.pointer::<u8>().wrapping_add(bytes as usize);
    let params = kvk_attend_params {
        cache: unread_cache(case, &unread),
        table: kvledger_cuda::raw::kvk_table {
            entries: unread.pointer(),
            row_stride: 1,
            columns: 1,
            ..Default::default()
        },
        lengths: lengths.pointer(),
        query_starts: pointer_or_null(&query_starts),
        queries: output.pointer(),
        output: output.pointer(),
        lse: lse.pointer(),
        sinks: pointer_or_null(&sinks),
        query_token_stride: i64::from(case.rows.token_stride),
        query_head_stride: i64::from(case.rows.head_stride),
        output_token_stride: i64::from(case.rows.token_stride),
        output_head_stride: i64::from(case.rows.head_stride),
        lse_token_stride: i64::from(case.lse_stride),
        item_starts: plan_at(layout.item_starts).cast(),
        items: plan_at(layout.items).cast(),
        joins: plan_at(layout.joins).cast(),
        join_count: plan_at(layout.join_count).cast(),
        part_output: part_output.pointer(),
        part_lse: part_lse.pointer(),
        status: status.pointer(),
        scale: 1.0,
        window_left: -1,
        query_heads: split.query_heads,
        sequences: case.lengths.len() as u32,
        type_: case.element.number(),
        tile_rows: split.tile_rows,
        thread_blocks: split.thread_blocks,
        merge_thread_blocks: case.thread_blocks,
        ..Default::default()
    };
    let launch = launch::Attend {
        params,
        table_rows: case.lengths.len().max(1) as u32,
        longest: 0,
        query_tokens: tokens as u32,
        items: layout.items_max,
        joins: layout.joins_max.max(1),
        parts: layout.parts_max,
    };
    bench.launch(&Launch::Merge(launch))?;
    shape.compare(bench, &output, &lse, &reference_merge(case, &joins))
}

/// A cache that passes the checks, of which `merge` needs the heads and their dimension.
fn unread_cache(case: &Merge, unread: &Memory) -> kvledger_cuda::raw::kvk_cache {
    let keys_bytes = 2 * 2 * case.split.heads as usize * case.head_dim as usize;
    kvledger_cuda::raw::kvk_cache {
        keys: unread.pointer(),
        values: unread.pointer::<u8>().wrapping_add(keys_bytes).cast(),
        block_stride: i64::from(case.split.heads) * i64::from(case.head_dim),
        token_stride: i64::from(case.split.heads) * i64::from(case.head_dim),
        head_stride: i64::from(case.head_dim),
        key_scale: 1.0,
        value_scale: 1.0,
        blocks: 1,
        block_tokens: 1,
        heads: case.split.heads,
        head_dim: case.head_dim,
        type_: case.element.number(),
        ..Default::default()
    }
}

/// Runs a case of two results that are joined.
pub fn merge_two(case: &MergeTwo, bench: &Bench) -> Result<Right, Wrong> {
    let shape = Shape {
        tokens: case.tokens as usize,
        heads: case.heads,
        head_dim: case.head_dim as usize,
        rows: &case.rows,
        lse_stride: case.lse_stride as usize,
        element: case.element,
    };
    let outputs = [0, 1].map(|side| bench.holding(&case.rows.image(&case.outputs[side], case.heads, case.head_dim)));
    let lse = [0, 1].map(|side| bench.holding(&shape.lse_image(&case.lse[side])));
    let ([output_a, output_b], [lse_a, lse_b]) = (outputs, lse);
    let (output_a, output_b, lse_a, lse_b) = (output_a?, output_b?, lse_a?, lse_b?);
    let apart = if case.in_place { None } else { Some(shape.poisoned(bench)?) };
    let (output, lse) = apart.as_ref().map_or((&output_a, &lse_a), |(output, lse)| (output, lse));
    let params = kvk_merge_two_params {
        output_a: output_a.pointer(),
        lse_a: lse_a.pointer(),
        output_b: output_b.pointer(),
        lse_b: lse_b.pointer(),
        output: output.pointer(),
        lse: lse.pointer(),
        token_stride: i64::from(case.rows.token_stride),
        head_stride: i64::from(case.rows.head_stride),
        lse_token_stride: i64::from(case.lse_stride),
        tokens: case.tokens,
        heads: case.heads,
        head_dim: case.head_dim,
        type_: case.element.number(),
    };
    bench.launch(&Launch::MergeTwo(launch::MergeTwo { params }))?;
    let right = shape.compare(bench, output, lse, &reference_merge_two(case))?;
    check_unchanged_sides(case, bench, &shape, output, lse)?;
    Ok(right)
}

/// Where one side is empty the other one comes out as it is, bit for bit.
fn check_unchanged_sides(
    case: &MergeTwo,
    bench: &Bench,
    shape: &Shape<'_>,
    output: &Memory,
    lse: &Memory,
) -> Result<(), Wrong> {
    let image = bench.read::<u16>(output, shape.elements())?;
    let bits = rows_out_of(&image, shape.rows, shape.heads, shape.head_dim, shape.tokens)?;
    let floats = bench.read::<f32>(lse, shape.lse_floats())?;
    for row in 0..shape.tokens * shape.heads as usize {
        let empty = [0, 1].map(|side| case.lse[side][row] == f32::NEG_INFINITY);
        let kept = match empty {
            [true, false] => 1,
            [false, true] => 0,
            _ => continue,
        };
        let range = row * shape.head_dim..(row + 1) * shape.head_dim;
        let name = |place: usize| format!("{}, element {place}, the other side empty", shape.name(row));
        same("output", &case.outputs[kept][range.clone()], &bits[range], &name)?;
        let found = floats[shape.lse_at(row)];
        same("LSE", &[case.lse[kept][row].to_bits()], &[found.to_bits()], &|_| shape.name(row))?;
    }
    Ok(())
}

impl Shape<'_> {
    fn elements(&self) -> usize {
        self.rows.total(self.tokens, self.heads, self.head_dim as u32)
    }

    fn lse_at(&self, row: usize) -> usize {
        row / self.heads as usize * self.lse_stride + row % self.heads as usize
    }

    fn lse_floats(&self) -> usize {
        (self.tokens * self.heads as usize).checked_sub(1).map_or(0, |last| self.lse_at(last) + 1)
    }

    fn lse_image(&self, lse: &[f32]) -> Vec<f32> {
        let mut image = vec![f32::from_bits(u32::MAX); self.lse_floats()];
        lse.iter().enumerate().for_each(|(row, value)| image[self.lse_at(row)] = *value);
        image
    }

    fn name(&self, row: usize) -> String {
        format!("token {}, head {}", row / self.heads as usize, row % self.heads as usize)
    }

    fn poisoned(&self, bench: &Bench) -> Result<(Memory, Memory), Wrong> {
        Ok((bench.poisoned(self.elements() * 2, 0xFF)?, bench.poisoned(self.lse_floats() * 4, 0xFF)?))
    }

    /// Every row that must be written, and that no other is.
    fn compare(&self, bench: &Bench, output: &Memory, lse: &Memory, joined: &Joined) -> Result<Right, Wrong> {
        let image = bench.read::<u16>(output, self.elements())?;
        let bits = rows_out_of(&image, self.rows, self.heads, self.head_dim, self.tokens)?;
        let floats = bench.read::<f32>(lse, self.lse_floats())?;
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        let (mut expected_lse, mut found_lse, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for (row, wanted) in joined.rows.iter().enumerate() {
            let bits = &bits[row * self.head_dim..(row + 1) * self.head_dim];
            let Some(wanted) = wanted else {
                if bits.iter().any(|bits| *bits != 0xFFFF) {
                    return Err(
                        Mismatch(format!("output: {} is no row of a join, and was written", self.name(row))).into()
                    );
                }
                continue;
            };
            expected.extend(&wanted.output);
            found.extend(bits.iter().map(|bits| self.element.value(*bits)));
            expected_lse.push(wanted.lse);
            found_lse.push(f64::from(floats[self.lse_at(row)]));
            names.push(self.name(row));
        }
        let name = |row: usize| names[row].clone();
        let tolerance = tolerance(self.element, self.element);
        let (row, element) = (self.head_dim, Some(self.element));
        let error = Numbers { what: "output", expected: &expected, found: &found, row, element, name: &name };
        let share = error.close(&tolerance)?.share(&tolerance);
        let lse =
            Numbers { what: "LSE", expected: &expected_lse, found: &found_lse, row: 1, element: None, name: &name };
        Ok(Right { share: share.max(lse.each_close(LSE_TOLERANCE)?), compared: (found.len() + found_lse.len()) as u64 })
    }
}
