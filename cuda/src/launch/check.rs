//! What parameters of several kernels have in common.

use super::refusal::{Refusal, Wrong};
use crate::raw::{self, KVK_BF16, KVK_E4M3, KVK_F16, KVK_INT8, KVK_LANE_BYTES, kvk_cache, kvk_table};

/// Largest head dimension that there are kernels for.
pub const HEAD_DIM_MAX: u32 = 256;
const HEAD_DIM_STEP: u32 = 16;
/// Most pieces of work of a launch: kernels count them in 31 bits.
pub const WORK_MAX: u64 = (1 << 31) - 1;
/// What rows are aligned to, in bytes.
pub const LANE: u64 = KVK_LANE_BYTES as u64;

pub type Checked = Result<(), Refusal>;

pub fn refuse<T>(field: &'static str, wrong: Wrong) -> Result<T, Refusal> {
    Err(Refusal::new(field, wrong))
}

/// A number that is needed.
pub fn some(field: &'static str, value: u32) -> Checked {
    if value == 0 { refuse(field, Wrong::Zero) } else { Ok(()) }
}

pub fn at_most(field: &'static str, value: u64, most: u64) -> Checked {
    if value > most { refuse(field, Wrong::Above { value, most }) } else { Ok(()) }
}

/// A number that is multiplied by `each` and then is at most `most`: work that a kernel counts.
pub fn counted(field: &'static str, value: u64, each: u64, most: u64) -> Checked {
    at_most(field, value, most / each.max(1))
}

/// A pointer that is needed, aligned to what it points to.
pub fn needed<T>(field: &'static str, pointer: *const T) -> Checked {
    if pointer.is_null() { refuse(field, Wrong::Null) } else { aligned(field, pointer, align_of::<T>() as u64) }
}

/// A pointer to rows, which are moved by 16 bytes.
pub fn rows<T>(field: &'static str, pointer: *const T) -> Checked {
    if pointer.is_null() { refuse(field, Wrong::Null) } else { aligned(field, pointer, LANE) }
}

/// A pointer that may be NULL.
pub fn optional<T>(field: &'static str, pointer: *const T) -> Checked {
    aligned(field, pointer, align_of::<T>() as u64)
}

fn aligned<T>(field: &'static str, pointer: *const T, bytes: u64) -> Checked {
    if (pointer as usize as u64).is_multiple_of(bytes) { Ok(()) } else { refuse(field, Wrong::Misaligned(bytes)) }
}

/// F16 or BF16.
pub fn wide_type(field: &'static str, value: u32) -> Checked {
    if matches!(value, KVK_F16 | KVK_BF16) { Ok(()) } else { refuse(field, Wrong::Type(value)) }
}

pub fn positive(field: &'static str, value: f32) -> Checked {
    if value.is_finite() && value > 0.0 { Ok(()) } else { refuse(field, Wrong::NotPositive(value)) }
}

/// The same of what kernels divide by: one over it is finite too.
pub fn divisor(field: &'static str, value: f32) -> Checked {
    positive(field, value)?;
    if value.recip().is_finite() { Ok(()) } else { refuse(field, Wrong::Tiny(value)) }
}

pub fn head_dim(field: &'static str, dim: u32) -> Checked {
    let is_there = dim.is_multiple_of(HEAD_DIM_STEP) && (HEAD_DIM_STEP..=HEAD_DIM_MAX).contains(&dim);
    if is_there { Ok(()) } else { refuse(field, Wrong::HeadDim(dim)) }
}

/// Bytes of an element.
pub fn element_bytes(type_: u32) -> u64 {
    if matches!(type_, KVK_F16 | KVK_BF16) { 2 } else { 1 }
}

/// One index of an array: how many values it takes, and the elements from one to the next.
#[derive(Clone, Copy)]
pub struct Axis {
    pub field: &'static str,
    pub count: u64,
    pub stride: i64,
}

impl Axis {
    pub fn new(field: &'static str, count: u64, stride: i64) -> Axis {
        Axis { field, count, stride }
    }
}

/// An array of rows of `row` elements each, by its axes.
pub struct Shape<const AXES: usize> {
    pub axes: [Axis; AXES],
    pub row: u64,
    /// What strides are multiples of.
    pub multiple: u64,
}

impl<const AXES: usize> Shape<AXES> {
    /// No stride is negative or leaves the rows unaligned, and the last element can be addressed. An axis with one value
    /// may have any stride.
    pub fn check(&self) -> Checked {
        for axis in self.axes.iter().filter(|axis| axis.count > 1) {
            let stride = u64::try_from(axis.stride).or(refuse(axis.field, Wrong::Negative(axis.stride)))?;
            if !stride.is_multiple_of(self.multiple) {
                return refuse(axis.field, Wrong::Stride { stride: axis.stride, multiple: self.multiple });
            }
        }
        match self.elements() {
            Some(elements) if elements <= i64::MAX as u64 / 16 => Ok(()),
            _ => refuse(self.axes[0].field, Wrong::Overflow),
        }
    }

    /// The same, and no two rows share an element: for what is written. Every axis steps over all that smaller steps
    /// reach, in whatever order they are.
    pub fn check_apart(&self) -> Checked {
        self.check()?;
        let mut axes = self.axes;
        axes.sort_by_key(|axis| axis.stride);
        let mut extent = self.row;
        for axis in axes.iter().filter(|axis| axis.count > 1) {
            if (axis.stride as u64) < extent {
                return refuse(axis.field, Wrong::Overlapping { stride: axis.stride, extent });
            }
            extent += (axis.count - 1) * axis.stride as u64;
        }
        Ok(())
    }

    /// Whether an array of this shape shares an element with `later`, which begins so many elements after it. The two have
    /// the same strides, and rows that are apart; how many there are of them may differ.
    pub fn meets(&self, later: &Shape<AXES>, distance: u64) -> bool {
        let mut pairs: [_; AXES] = core::array::from_fn(|axis| (self.axes[axis], later.axes[axis].count));
        pairs.sort_by_key(|(axis, _)| core::cmp::Reverse(axis.stride));
        let is_walked = |(axis, later): &&(Axis, u64)| axis.count > 1 || *later > 1;
        let mut steps = pairs.iter().filter(is_walked).map(|(axis, later)| (axis.stride, [axis.count, *later]));
        meets(&mut steps, distance.into(), self.row.into())
    }

    /// Two arrays of this shape, of elements of so many bytes, share none: for what is written.
    pub fn check_pair<T>(
        &self,
        (other, first): (&'static str, *const T),
        of: (&'static str, *const T),
        bytes: u64,
    ) -> Checked {
        let distance = (first as usize).abs_diff(of.1 as usize) as u64;
        if self.meets(self, distance / bytes) { refuse(of.0, Wrong::Shared(other)) } else { Ok(()) }
    }

    /// From the first element to the end of the last one; `None` beyond 64 bits.
    fn elements(&self) -> Option<u64> {
        if self.axes.iter().any(|axis| axis.count == 0) {
            return Some(0);
        }
        let steps = self.axes.iter().filter(|axis| axis.count > 1);
        steps
            .map(|axis| (axis.count - 1).checked_mul(axis.stride as u64))
            .try_fold(self.row, |sum, step| sum.checked_add(step?))
    }

    /// The same of a shape that was checked.
    pub fn extent(&self) -> u64 {
        self.elements().unwrap_or(u64::MAX)
    }
}

/// Whether a row that begins `distance` after another one, less some steps of each axis, shares an element with it. What an
/// axis steps over is no longer than its step, so one step more or less is all that there is to try.
fn meets(steps: &mut (impl Iterator<Item = (i64, [u64; 2])> + Clone), distance: i128, row: i128) -> bool {
    let Some((stride, counts)) = steps.next() else { return distance.abs() < row };
    let (stride, [count, later]) = (i128::from(stride).max(1), counts.map(i128::from));
    let whole = distance.div_euclid(stride);
    // From a place of the later array to one of the earlier.
    let is_step = |step: &i128| -later < *step && *step < count;
    [whole, whole + 1]
        .iter()
        .filter(|step| is_step(step))
        .any(|step| meets(&mut steps.clone(), distance - step * stride, row))
}

/// Keys or values of a cache, in elements.
pub fn cache_shape(cache: &kvk_cache) -> Shape<3> {
    let axes = [
        Axis::new("cache.block_stride", u64::from(cache.blocks) + 1, cache.block_stride),
        Axis::new("cache.token_stride", u64::from(cache.block_tokens), cache.token_stride),
        Axis::new("cache.head_stride", u64::from(cache.heads), cache.head_stride),
    ];
    Shape { axes, row: u64::from(cache.head_dim), multiple: LANE / element_bytes(cache.type_) }
}

/// Scales of its keys or values, in floats.
pub fn scale_shape(cache: &kvk_cache) -> Shape<3> {
    let axes = [
        Axis::new("cache.scale_block_stride", u64::from(cache.blocks) + 1, cache.scale_block_stride),
        Axis::new("cache.scale_token_stride", u64::from(cache.block_tokens), cache.scale_token_stride),
        Axis::new("cache.scale_head_stride", u64::from(cache.heads), cache.scale_head_stride),
    ];
    Shape { axes, row: 1, multiple: 1 }
}

/// `[tokens][heads][row]`, in elements of 16 bits.
pub fn token_shape(fields: [&'static str; 2], counts: [u32; 2], strides: [i64; 2], row: u32) -> Shape<2> {
    let axis = |at: usize| Axis::new(fields[at], u64::from(counts[at]), strides[at]);
    Shape { axes: [axis(0), axis(1)], row: u64::from(row), multiple: LANE / 2 }
}

/// Everything about a cache that does not depend on what is in it.
pub fn cache(cache: &kvk_cache) -> Checked {
    if !(KVK_F16..=KVK_INT8).contains(&cache.type_) {
        return refuse("cache.type", Wrong::Type(cache.type_));
    }
    head_dim("cache.head_dim", cache.head_dim)?;
    some("cache.blocks", cache.blocks)?;
    at_most("cache.blocks", cache.blocks.into(), kvledger_core::BLOCKS_MAX.into())?;
    some("cache.block_tokens", cache.block_tokens)?;
    some("cache.heads", cache.heads)?;
    rows("cache.keys", cache.keys)?;
    rows("cache.values", cache.values)?;
    let shape = cache_shape(cache);
    shape.check_apart()?;
    shape.check_pair(("cache.keys", cache.keys), ("cache.values", cache.values), element_bytes(cache.type_))?;
    scales(cache)
}

fn scales(cache: &kvk_cache) -> Checked {
    divisor("cache.key_scale", cache.key_scale)?;
    divisor("cache.value_scale", cache.value_scale)?;
    let has_scales = !cache.key_scales.is_null();
    if cache.type_ < KVK_E4M3 {
        if has_scales {
            return refuse("cache.key_scales", Wrong::NotNull);
        }
        for (field, scale) in [("cache.key_scale", cache.key_scale), ("cache.value_scale", cache.value_scale)] {
            if scale != 1.0 {
                return refuse(field, Wrong::NotOne(scale));
            }
        }
    }
    match (has_scales, cache.value_scales.is_null()) {
        (false, true) => Ok(()),
        (false, false) => refuse("cache.value_scales", Wrong::NotNull),
        (true, true) => refuse("cache.value_scales", Wrong::Null),
        (true, false) => {
            optional("cache.key_scales", cache.key_scales)?;
            optional("cache.value_scales", cache.value_scales)?;
            let (keys, values) = (cache.key_scales, cache.value_scales);
            scale_shape(cache).check_apart()?;
            scale_shape(cache).check_pair(("cache.key_scales", keys), ("cache.value_scales", values), 4)
        }
    }
}

/// A table of so many rows whose longest sequence has `longest` keys.
pub fn table(table: &kvk_table, table_rows: u32, longest: u32, block_tokens: u32) -> Checked {
    needed("table.entries", table.entries)?;
    optional("table.rows", table.rows)?;
    let needed = u64::from(longest.div_ceil(block_tokens));
    if u64::from(table.columns) < needed {
        return refuse("table.columns", Wrong::Columns { columns: table.columns, needed });
    }
    some("table_rows", table_rows)?;
    table_shape(table, table_rows).check()
}

/// A table, in entries.
pub fn table_shape(table: &kvk_table, table_rows: u32) -> Shape<1> {
    let axis = Axis::new("table.row_stride", table_rows.into(), table.row_stride);
    Shape { axes: [axis], row: table.columns.into(), multiple: 1 }
}

pub fn status(status: *const raw::kvk_status) -> Checked {
    needed("status", status)
}

/// A list of so many entries.
pub fn count(field: &'static str, count: usize, must: u64) -> Checked {
    let count = count as u64;
    if count == must { Ok(()) } else { refuse(field, Wrong::Count { count, must }) }
}

/// Where each of `sequences` begins, and the end of the last one: ascending from 0 to `total`.
pub fn starts(field: &'static str, starts: &[u32], sequences: u32, total: u32) -> Checked {
    count(field, starts.len(), u64::from(sequences) + 1)?;
    if let Some(entry) = starts.windows(2).position(|two| two[1] < two[0]) {
        return refuse(field, Wrong::Descending { entry: entry + 1 });
    }
    let last = starts.len() - 1;
    if starts[0] != 0 {
        return refuse(field, Wrong::Entry { entry: 0, value: starts[0].into(), most: 0 });
    }
    match u64::from(starts[last]) {
        value if value == u64::from(total) => Ok(()),
        value => refuse(field, Wrong::Not { value, must: total.into() }),
    }
}

/// Block ids of a list: 1 to `blocks`, or from 0 where the null block may be meant.
pub fn blocks(field: &'static str, list: &[u32], lowest: u32, blocks: u32) -> Checked {
    match list.iter().position(|block| !(lowest..=blocks).contains(block)) {
        Some(entry) => refuse(field, Wrong::Block { entry, block: list[entry], blocks }),
        None => Ok(()),
    }
}

/// One id of 1 to `blocks`.
pub fn block(field: &'static str, block: u32, blocks: u32) -> Checked {
    match block {
        0 => refuse(field, Wrong::Zero),
        _ => at_most(field, block.into(), blocks.into()),
    }
}
