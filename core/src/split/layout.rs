//! What a plan is in memory: a header and three arrays, each at a place that only the [`Split`] decides. Words of 32 bits,
//! as the device reads them; every structure is made of such words, in order.

use super::shape::{Checked, Split, WHOLE};
use crate::answer::{Argument, Refusal};
use core::mem::{offset_of, size_of};

/// One piece of work: the rows of a tile over keys `first_key` to `end_key` of its sequence. `kvk_item`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SplitItem {
    /// The sequence, by its place in the batch.
    pub sequence: u32,
    /// The key-value head.
    pub head: u32,
    /// A multiple of the row tile.
    pub first_row: u32,
    /// The first key.
    pub first_key: u32,
    /// The end of the keys. With `first_key` if no row sees one: then the rows are written all the same.
    pub end_key: u32,
    /// Where the partial result goes, or [`WHOLE`](super::WHOLE).
    pub part: u32,
}

/// One row tile that was cut: its parts are `count` in a row from `first_part`. `kvk_join`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SplitJoin {
    /// The sequence, by its place in the batch.
    pub sequence: u32,
    /// The key-value head.
    pub head: u32,
    /// A multiple of the row tile.
    pub first_row: u32,
    /// The first of its parts.
    pub first_part: u32,
    /// How many there are: at least 2.
    pub count: u32,
    /// 0.
    pub reserved: u32,
}

/// What a plan begins with.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SplitHeader {
    /// [`SPLIT_VERSION`](super::SPLIT_VERSION).
    pub version: u32,
    /// Of every word after this one, mixed with its place.
    pub checksum: u32,
    /// The caller's number of this plan: which one of those that the buffer has held.
    pub generation: u32,
    /// Words of the whole plan.
    pub words: u32,
    /// Items in use.
    pub items: u32,
    /// Joins in use: what the merge launch reads. (`join_count` of the kernel's parameters.)
    pub joins: u32,
    /// Partial results in use.
    pub parts: u32,
    /// Sequences of the batch.
    pub sequences: u32,
    /// As in [`Split`]; 0 in the balanced mode.
    pub chunk_keys: u32,
    /// As in [`Split`].
    pub thread_blocks: u32,
    /// As in [`Split`].
    pub tile_rows: u32,
    /// As in [`Split`].
    pub tile_keys: u32,
    /// As in [`Split`].
    pub heads: u32,
    /// Room for items.
    pub items_max: u32,
    /// Room for joins.
    pub joins_max: u32,
    /// Most partial results that a plan of this [`Split`] has.
    pub parts_max: u32,
}

/// Where everything is in the memory of every plan of one [`Split`]: bytes from its first word, each a multiple of 64.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SplitLayout {
    /// Bytes of a plan. It begins with its [`SplitHeader`].
    pub bytes: u64,
    /// `uint32_t [thread_blocks + 1]`: thread block g works on items `item_starts[g]` to `item_starts[g + 1]`.
    pub item_starts: u64,
    /// `kvk_item [items_max]`.
    pub items: u64,
    /// `kvk_join [joins_max]`.
    pub joins: u64,
    /// `uint32_t`: joins in use.
    pub join_count: u64,
    /// Most items: row tiles and thread blocks, less one, in the balanced mode.
    pub items_max: u32,
    /// Most row tiles that are cut.
    pub joins_max: u32,
    /// Most partial results, each `[tile_rows][head_dim]` and `[tile_rows]` floats: twice the thread blocks, less two, in the
    /// balanced mode.
    pub parts_max: u32,
    /// Most row tiles.
    pub row_tiles_max: u32,
}

pub(super) const ITEM_WORDS: usize = 6;
pub(super) const JOIN_WORDS: usize = 6;
pub(super) const HEADER_WORDS: usize = 16;
/// Arrays begin at multiples of this: a cache line.
const ALIGN_WORDS: u64 = 16;
const WORD: u64 = 4;

const _: () = assert!(size_of::<SplitItem>() == ITEM_WORDS * 4 && size_of::<SplitJoin>() == JOIN_WORDS * 4);
const _: () = assert!(size_of::<SplitHeader>() == HEADER_WORDS * 4 && HEADER_WORDS as u64 == ALIGN_WORDS);
const _: () = assert!(offset_of!(SplitItem, sequence) == 0 && offset_of!(SplitItem, head) == 4);
const _: () = assert!(offset_of!(SplitItem, first_row) == 8 && offset_of!(SplitItem, first_key) == 12);
const _: () = assert!(offset_of!(SplitItem, end_key) == 16 && offset_of!(SplitItem, part) == 20);
const _: () = assert!(offset_of!(SplitJoin, first_row) == 8 && offset_of!(SplitJoin, first_part) == 12);
const _: () = assert!(offset_of!(SplitJoin, count) == 16 && offset_of!(SplitJoin, reserved) == 20);
const _: () = assert!(offset_of!(SplitHeader, joins) == 20);

impl SplitItem {
    /// What is written where no item is: a sequence that nobody has, and no keys.
    pub(super) const EMPTY: SplitItem =
        SplitItem { sequence: u32::MAX, head: u32::MAX, first_row: u32::MAX, first_key: 0, end_key: 0, part: WHOLE };

    pub(super) const fn words(&self) -> [u32; ITEM_WORDS] {
        let SplitItem { sequence, head, first_row, first_key, end_key, part } = *self;
        [sequence, head, first_row, first_key, end_key, part]
    }

    pub(super) const fn of_words(words: &[u32; ITEM_WORDS]) -> SplitItem {
        let [sequence, head, first_row, first_key, end_key, part] = *words;
        SplitItem { sequence, head, first_row, first_key, end_key, part }
    }
}

impl SplitJoin {
    /// What is written where no join is.
    pub(super) const EMPTY: SplitJoin =
        SplitJoin { sequence: u32::MAX, head: u32::MAX, first_row: u32::MAX, first_part: 0, count: 0, reserved: 0 };

    pub(super) const fn words(&self) -> [u32; JOIN_WORDS] {
        let SplitJoin { sequence, head, first_row, first_part, count, reserved } = *self;
        [sequence, head, first_row, first_part, count, reserved]
    }

    pub(super) const fn of_words(words: &[u32; JOIN_WORDS]) -> SplitJoin {
        let [sequence, head, first_row, first_part, count, reserved] = *words;
        SplitJoin { sequence, head, first_row, first_part, count, reserved }
    }
}

impl SplitHeader {
    pub(super) const fn words(&self) -> [u32; HEADER_WORDS] {
        let SplitHeader { version, checksum, generation, words, items, joins, parts, sequences, .. } = *self;
        let SplitHeader { chunk_keys, thread_blocks, tile_rows, tile_keys, heads, .. } = *self;
        let SplitHeader { items_max, joins_max, parts_max, .. } = *self;
        [
            version,
            checksum,
            generation,
            words,
            items,
            joins,
            parts,
            sequences,
            chunk_keys,
            thread_blocks,
            tile_rows,
            tile_keys,
            heads,
            items_max,
            joins_max,
            parts_max,
        ]
    }

    pub(super) const fn of_words(from: &[u32; HEADER_WORDS]) -> SplitHeader {
        let [version, checksum, generation, words, items, joins, parts, sequences, rest @ ..] = *from;
        let [chunk_keys, thread_blocks, tile_rows, tile_keys, heads, items_max, joins_max, parts_max] = rest;
        SplitHeader {
            version,
            checksum,
            generation,
            words,
            items,
            joins,
            parts,
            sequences,
            chunk_keys,
            thread_blocks,
            tile_rows,
            tile_keys,
            heads,
            items_max,
            joins_max,
            parts_max,
        }
    }
}

impl Split {
    /// How large a plan is, where its arrays are, and how many partial results there must be room for.
    ///
    /// As [`check`](Split::check); `INVALID(Overflow)` also if there could be more items than 32 bits count.
    pub fn layout(&self) -> Result<SplitLayout, Refusal> {
        self.checked()?.layout()
    }
}

impl Checked {
    pub(super) fn layout(&self) -> Result<SplitLayout, Refusal> {
        let [items, joins, parts] = self.most()?;
        let item_starts = HEADER_WORDS as u64;
        let items_at = after(item_starts, u64::from(self.thread_blocks.get()) + 1, 1)?;
        let joins_at = after(items_at, items, ITEM_WORDS as u64)?;
        // One where there can be none, so that what the kernel is given is an address inside of the plan.
        let end = after(joins_at, joins.max(1), JOIN_WORDS as u64)?;
        Ok(SplitLayout {
            bytes: u64::from(narrow(end)?) * WORD,
            item_starts: item_starts * WORD,
            items: items_at * WORD,
            joins: joins_at * WORD,
            join_count: offset_of!(SplitHeader, joins) as u64,
            items_max: narrow(items)?,
            joins_max: narrow(joins)?,
            parts_max: narrow(parts)?,
            row_tiles_max: narrow(self.row_tiles_max()?)?,
        })
    }

    /// Most items, joins and parts.
    fn most(&self) -> Result<[u64; 3], Refusal> {
        let row_tiles = self.row_tiles_max()?;
        let Some(chunk_keys) = self.chunk_keys else {
            // Each thread block but the last ends at most one item in the middle of a row tile.
            let cuts = u64::from(self.thread_blocks.get()) - 1;
            let items = row_tiles.checked_add(cuts).ok_or(OVERFLOW)?;
            return Ok([items, cuts.min(row_tiles), cuts * 2]);
        };
        // Chunks are counted from key 0, so a row tile touches no more of them than the longest sequence has.
        let chunks = u64::from(self.split.keys_max.div_ceil(chunk_keys.get()));
        let items = row_tiles.checked_mul(chunks).ok_or(OVERFLOW)?;
        Ok(if chunks > 1 { [items, row_tiles, items] } else { [items, 0, 0] })
    }

    /// Σ ⌈tokens · group / tile_rows⌉ over sequences, times heads, at its largest: every sequence may waste all but one
    /// row of its last tile, but no token takes more tiles than it takes alone.
    fn row_tiles_max(&self) -> Result<u64, Refusal> {
        let [tokens, group] = [self.split.query_tokens_max, self.group.get()].map(u64::from);
        let tile_rows = u64::from(self.tile_rows.get());
        let waste = u64::from(self.split.sequences_max).checked_mul(tile_rows - 1);
        let rows = waste.and_then(|waste| tokens.checked_mul(group)?.checked_add(waste)).ok_or(OVERFLOW)?;
        let alone = tokens.checked_mul(group.div_ceil(tile_rows)).ok_or(OVERFLOW)?;
        (rows / tile_rows).min(alone).checked_mul(u64::from(self.heads.get())).ok_or(OVERFLOW)
    }
}

const OVERFLOW: Refusal = Refusal::invalid(Argument::Overflow);

/// The first aligned word after `count` entries from word `start`.
fn after(start: u64, count: u64, entry_words: u64) -> Result<u64, Refusal> {
    let end = count.checked_mul(entry_words).and_then(|words| words.checked_add(start)).ok_or(OVERFLOW)?;
    end.checked_next_multiple_of(ALIGN_WORDS).ok_or(OVERFLOW)
}

/// Counts on the device have 32 bits.
fn narrow(number: u64) -> Result<u32, Refusal> {
    u32::try_from(number).map_err(|_| OVERFLOW)
}
