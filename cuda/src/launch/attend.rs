//! Attention through a plan, and the join of what the plan cut.

use super::check::{self, Checked, Shape, refuse, token_shape};
use super::pointers::{See, Where, see, see_cache, see_table};
use super::refusal::Wrong;
use crate::device::Address;
use crate::raw::{
    KVK_DECODE_ROWS, KVK_E4M3, KVK_PLACES, KVK_PREFILL_ROWS, kvk_attend_params, kvk_item, kvk_join, kvk_status,
};
use kvledger_core::split::{Split, THREAD_BLOCKS_MAX};

/// A launch of `attend`, or of `merge` after it.
///
/// In device memory: lengths, query starts and positions, which [`check_batch`](Attend::check_batch) takes before they are
/// copied there; the plan, of the same maxima; rows and entries of the table. Entries that are wrong are reported, and
/// their keys masked; rows must be in the table, and the plan must be one of this batch.
#[derive(Clone, Copy, Debug)]
pub struct Attend {
    /// What the kernel is given.
    pub params: kvk_attend_params,
    /// Rows of the table that are in memory.
    pub table_rows: u32,
    /// Keys of the longest sequence.
    pub longest: u32,
    /// Query tokens of all sequences.
    pub query_tokens: u32,
    /// Room for items of the plan.
    pub items: u32,
    /// Room for joins of the plan.
    pub joins: u32,
    /// Room for partial results, each of a whole tile.
    pub parts: u32,
}

/// Most keys of a sequence.
const LONGEST_MAX: u32 = KVK_PLACES;

impl Attend {
    /// Whether the kernels can be given these.
    pub fn check(&self) -> Checked {
        let p = &self.params;
        check::cache(&p.cache)?;
        self.check_kind()?;
        self.check_numbers()?;
        check::status(p.status)?;
        check::at_most("longest", self.longest.into(), LONGEST_MAX.into())?;
        check::table(&p.table, self.table_rows, self.longest, p.cache.block_tokens)?;
        check::needed("lengths", p.lengths)?;
        check::optional("query_starts", p.query_starts)?;
        check::optional("query_positions", p.query_positions)?;
        if p.query_starts.is_null() && self.query_tokens != p.sequences {
            let (value, must) = (self.query_tokens.into(), p.sequences.into());
            return refuse("query_tokens", Wrong::Not { value, must });
        }
        self.check_rows()?;
        self.check_plan()
    }

    /// Types, heads and tiles that there are kernels for.
    fn check_kind(&self) -> Checked {
        let p = &self.params;
        check::wide_type("type", p.type_)?;
        if p.cache.type_ < KVK_E4M3 && p.cache.type_ != p.type_ {
            return refuse("type", Wrong::TypeOfCache(p.cache.type_));
        }
        let (query_heads, heads) = (p.query_heads, p.cache.heads);
        if query_heads == 0 || !query_heads.is_multiple_of(heads) {
            return refuse("query_heads", Wrong::Heads { query_heads, heads });
        }
        if !matches!(p.tile_rows, KVK_DECODE_ROWS | KVK_PREFILL_ROWS) {
            return refuse("tile_rows", Wrong::TileRows(p.tile_rows));
        }
        check::counted("query_tokens", self.query_tokens.into(), query_heads.into(), u32::MAX.into())
    }

    fn check_numbers(&self) -> Checked {
        let p = &self.params;
        check::positive("scale", p.scale)?;
        if p.cache.key_scales.is_null() && !(p.scale * p.cache.key_scale).is_finite() {
            return refuse("scale", Wrong::Product(p.scale, "cache.key_scale"));
        }
        if !(p.soft_cap.is_finite() && p.soft_cap >= 0.0) {
            return refuse("soft_cap", Wrong::NotFinite(p.soft_cap));
        }
        if p.soft_cap > 0.0 {
            check::divisor("soft_cap", p.soft_cap)?;
        }
        if p.window_left < -1 { refuse("window_left", Wrong::Window(p.window_left)) } else { Ok(()) }
    }

    /// Queries, outputs and what belongs to a query head.
    fn check_rows(&self) -> Checked {
        let p = &self.params;
        check::optional("lse", p.lse)?;
        check::optional("sinks", p.sinks)?;
        check::optional("slopes", p.slopes)?;
        if self.query_tokens == 0 {
            return Ok(());
        }
        check::rows("queries", p.queries)?;
        check::rows("output", p.output)?;
        self.queries().check()?;
        self.output().check_apart()?;
        if p.lse.is_null() { Ok(()) } else { self.lse().check_apart() }
    }

    fn check_plan(&self) -> Checked {
        let p = &self.params;
        for (field, count) in [("thread_blocks", p.thread_blocks), ("merge_thread_blocks", p.merge_thread_blocks)] {
            check::some(field, count)?;
            check::at_most(field, count.into(), THREAD_BLOCKS_MAX.into())?;
        }
        // `merge` counts their rows.
        check::counted("joins", self.joins.into(), p.tile_rows.into(), check::WORK_MAX)?;
        check::needed("item_starts", p.item_starts)?;
        check::needed("items", p.items)?;
        check::needed("joins", p.joins)?;
        check::needed("join_count", p.join_count)?;
        if self.parts == 0 {
            return Ok(());
        }
        check::rows("part_output", p.part_output)?;
        check::needed("part_lse", p.part_lse)
    }

    /// Points to a plan of `split` at `address`, and takes what plans of it have in common: tiles, thread blocks, and the
    /// room for items and joins. `parts` is the room that the caller has for partial results, at least `parts_max`.
    ///
    /// Errors: of `split`, `Split` if there are no plans for it.
    pub fn use_plan(&mut self, split: &Split, address: Address) -> Checked {
        let layout = split.layout().or(refuse("split", Wrong::Split))?;
        let at = |offset: u64| address.0.wrapping_add(offset) as usize;
        let p = &mut self.params;
        p.item_starts = at(layout.item_starts) as *const u32;
        p.items = at(layout.items) as *const kvk_item;
        p.joins = at(layout.joins) as *const kvk_join;
        p.join_count = at(layout.join_count) as *const u32;
        (p.tile_rows, p.thread_blocks) = (split.tile_rows, split.thread_blocks);
        p.window_left = split.window_left;
        (self.items, self.joins) = (layout.items_max, layout.joins_max);
        Ok(())
    }

    /// Whether words are a plan of `split`, as this launch was told, for as many sequences, with no more parts than there
    /// is room for. Cost: O(words).
    pub fn check_plan_words(&self, split: &Split, words: &[u32]) -> Checked {
        let p = &self.params;
        let plan = split.read(words).or(refuse("plan", Wrong::Plan))?;
        let header = plan.header();
        same("split.heads", split.heads, p.cache.heads)?;
        same("split.query_heads", split.query_heads, p.query_heads)?;
        same("split.tile_rows", split.tile_rows, p.tile_rows)?;
        same("split.thread_blocks", split.thread_blocks, p.thread_blocks)?;
        same("split.window_left", split.window_left.cast_unsigned(), p.window_left.cast_unsigned())?;
        same("split.tile_keys", split.tile_keys, key_tile(p.cache.head_dim))?;
        same("plan.sequences", header.sequences, p.sequences)?;
        room("items", self.items, header.items_max)?;
        room("joins", self.joins, header.joins_max)?;
        room("parts", self.parts, header.parts)
    }

    /// Whether a batch is what the parameters say. Cost: O(sequences).
    pub fn check_batch(&self, lengths: &[u32], query_starts: &[u32], query_positions: &[u32]) -> Checked {
        let p = &self.params;
        check::count("lengths", lengths.len(), p.sequences.into())?;
        if let Some(entry) = lengths.iter().position(|length| *length > self.longest) {
            let (value, most) = (lengths[entry].into(), self.longest.into());
            return refuse("lengths", Wrong::Entry { entry, value, most });
        }
        if !p.query_starts.is_null() {
            check::starts("query_starts", query_starts, p.sequences, self.query_tokens)?;
        }
        if !p.query_positions.is_null() {
            check::count("query_positions", query_positions.len(), self.query_tokens.into())?;
            let most = u64::from(LONGEST_MAX);
            if let Some(entry) = query_positions.iter().position(|position| u64::from(*position) >= most) {
                let value = query_positions[entry].into();
                return refuse("query_positions", Wrong::Entry { entry, value, most: most - 1 });
            }
        }
        Ok(())
    }

    pub(super) fn see(&mut self, look: &mut See<'_>) -> Checked {
        let (table_rows, tokens) = (self.table_rows, u64::from(self.query_tokens));
        let queries = self.queries().extent().saturating_mul(2);
        let p = &mut self.params;
        see_cache(look, &mut p.cache)?;
        see_table(look, &mut p.table, table_rows, p.sequences)?;
        see(look, "lengths", Where::Either, u64::from(p.sequences) * 4, &mut p.lengths)?;
        see(look, "query_positions", Where::Either, tokens * 4, &mut p.query_positions)?;
        see(look, "queries", Where::Device, queries, &mut p.queries)?;
        see(look, "slopes", Where::Either, u64::from(p.query_heads) * 4, &mut p.slopes)?;
        see(look, "item_starts", Where::Either, (u64::from(p.thread_blocks) + 1) * 4, &mut p.item_starts)?;
        let items = u64::from(self.items) * size_of::<kvk_item>() as u64;
        see(look, "items", Where::Either, items, &mut p.items)?;
        see(look, "status", Where::Either, size_of::<kvk_status>() as u64, &mut p.status)?;
        self.see_both(look)
    }

    /// What `merge` touches. The rest is not its.
    pub(super) fn see_merge(&mut self, look: &mut See<'_>) -> Checked {
        self.see_both(look)
    }

    fn see_both(&mut self, look: &mut See<'_>) -> Checked {
        let (output, lse) = (self.output().extent().saturating_mul(2), self.lse().extent().saturating_mul(4));
        let joins = u64::from(self.joins) * size_of::<kvk_join>() as u64;
        let p = &mut self.params;
        let part_rows = u64::from(self.parts) * u64::from(p.tile_rows);
        see(look, "query_starts", Where::Either, (u64::from(p.sequences) + 1) * 4, &mut p.query_starts)?;
        see(look, "output", Where::Device, output, &mut p.output)?;
        see(look, "lse", Where::Device, lse, &mut p.lse)?;
        see(look, "sinks", Where::Either, u64::from(p.query_heads) * 4, &mut p.sinks)?;
        see(look, "joins", Where::Either, joins, &mut p.joins)?;
        see(look, "join_count", Where::Either, 4, &mut p.join_count)?;
        see(look, "part_output", Where::Device, part_rows * u64::from(p.cache.head_dim) * 4, &mut p.part_output)?;
        see(look, "part_lse", Where::Device, part_rows * 4, &mut p.part_lse)
    }

    fn queries(&self) -> Shape<2> {
        let p = &self.params;
        let strides = [p.query_token_stride, p.query_head_stride];
        self.heads_of(["query_token_stride", "query_head_stride"], strides)
    }

    fn output(&self) -> Shape<2> {
        let p = &self.params;
        let strides = [p.output_token_stride, p.output_head_stride];
        self.heads_of(["output_token_stride", "output_head_stride"], strides)
    }

    fn heads_of(&self, fields: [&'static str; 2], strides: [i64; 2]) -> Shape<2> {
        let p = &self.params;
        token_shape(fields, [self.query_tokens, p.query_heads], strides, p.cache.head_dim)
    }

    /// In floats.
    fn lse(&self) -> Shape<1> {
        let p = &self.params;
        let axis = check::Axis::new("lse_token_stride", self.query_tokens.into(), p.lse_token_stride);
        Shape { axes: [axis], row: p.query_heads.into(), multiple: 1 }
    }
}

/// Keys that the kernel takes at once, for a head dimension: what plans have to be made with.
pub fn key_tile(head_dim: u32) -> u32 {
    if head_dim <= 128 { 64 } else { 32 }
}

fn same(field: &'static str, value: u32, must: u32) -> Checked {
    if value == must { Ok(()) } else { refuse(field, Wrong::Not { value: value.into(), must: must.into() }) }
}

fn room(field: &'static str, room: u32, needed: u32) -> Checked {
    if needed <= room { Ok(()) } else { refuse(field, Wrong::Room { room: room.into(), needed: needed.into() }) }
}
