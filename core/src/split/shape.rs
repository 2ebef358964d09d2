//! What a plan is made for: everything that stays as it is from batch to batch, and so may be part of a captured graph.

use crate::answer::{Argument, Refusal};
use core::num::NonZeroU32;

/// Rows of a tile where warps take different keys of the same rows (`KVK_DECODE_ROWS`).
pub const DECODE_ROWS: u32 = 16;
/// Rows of a tile where warps take different rows of the same keys (`KVK_PREFILL_ROWS`).
pub const PREFILL_ROWS: u32 = 64;
/// `part` of an item that is all there is of its row tile (`KVK_WHOLE`).
pub const WHOLE: u32 = u32::MAX;
/// Most thread blocks of a launch.
pub const THREAD_BLOCKS_MAX: u32 = 1 << 16;
/// Most key-value heads, and most query heads.
pub const HEADS_MAX: u32 = 1 << 16;
/// Largest chunk of the fixed mode.
pub const CHUNK_KEYS_MAX: u32 = 1 << 30;
/// Most that an item may be said to cost beside its keys.
pub const OVERHEAD_TILES_MAX: u32 = 1 << 10;

/// Attention of one model on one device: what its plans have in common. Make it once, from [`decode`](Split::decode) or
/// [`prefill`](Split::prefill), and change what is different.
///
/// A *row* is one query head of one query token; rows of one key-value head are numbered token by token. `tile_rows` of
/// them are a *row tile*, and `tile_keys` neighbouring keys a *key tile*.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Split {
    /// Key-value heads, on this device.
    pub heads: u32,
    /// Query heads: a multiple of `heads`.
    pub query_heads: u32,
    /// [`DECODE_ROWS`] or [`PREFILL_ROWS`].
    pub tile_rows: u32,
    /// Keys that the kernel takes at once: a power of two from 16 to 256. It has 64 for head dimensions to 128, else 32.
    pub tile_keys: u32,
    /// Keys before a token that it sees, besides its own; −1: all. One less than the tokens of a `Window`.
    pub window_left: i32,
    /// 0: balanced. Else the fixed mode, cut at multiples of so many keys, a multiple of `tile_keys`.
    pub chunk_keys: u32,
    /// Thread blocks of the launch, G: what runs on the device at the same time. (The same of the kernel's parameters.)
    pub thread_blocks: u32,
    /// What an item costs beside its keys, in key tiles: queries to load, a result to write.
    pub overhead_tiles: u32,
    /// Most sequences of a batch.
    pub sequences_max: u32,
    /// Most query tokens of a batch, of all sequences together.
    pub query_tokens_max: u32,
    /// Most keys of one sequence.
    pub keys_max: u32,
}

impl Split {
    /// One query token for each sequence, balanced, no window; keys by 64.
    pub const fn decode(heads: u32, query_heads: u32, thread_blocks: u32, sequences_max: u32, keys_max: u32) -> Split {
        Split {
            heads,
            query_heads,
            tile_rows: DECODE_ROWS,
            tile_keys: 64,
            window_left: -1,
            chunk_keys: 0,
            thread_blocks,
            overhead_tiles: 2,
            sequences_max,
            query_tokens_max: sequences_max,
            keys_max,
        }
    }

    /// Prompts, in chunks or whole: as [`decode`](Split::decode), with up to `query_tokens_max` in all.
    pub const fn prefill(
        heads: u32,
        query_heads: u32,
        thread_blocks: u32,
        sequences_max: u32,
        query_tokens_max: u32,
        keys_max: u32,
    ) -> Split {
        Split {
            tile_rows: PREFILL_ROWS,
            query_tokens_max,
            ..Split::decode(heads, query_heads, thread_blocks, sequences_max, keys_max)
        }
    }

    /// Whether plans can be made for this.
    ///
    /// `INVALID`: `Heads` (0, above [`HEADS_MAX`], or query heads that are no multiple), `Tile` (rows, keys or overhead),
    /// `ThreadBlocks` (not in 1 to [`THREAD_BLOCKS_MAX`]), `Window` (below −1), `Chunk` (no multiple of the key tile, or above
    /// [`CHUNK_KEYS_MAX`]), `Sequences`, `Tokens` or `Length` (a maximum of 0), `Overflow` (more rows than 32 bits count).
    pub fn check(&self) -> Result<(), Refusal> {
        self.checked().map(|_| ())
    }

    /// The same numbers, with what [`check`](Split::check) found out in their types.
    pub(super) fn checked(&self) -> Result<Checked, Refusal> {
        let refuse = |argument| Err(Refusal::invalid(argument));
        let heads = within(self.heads, HEADS_MAX, Argument::Heads)?;
        let query_heads = within(self.query_heads, HEADS_MAX, Argument::Heads)?.get();
        let Some(group) = NonZeroU32::new(query_heads / heads).filter(|_| query_heads % heads == 0) else {
            return refuse(Argument::Heads);
        };
        let tile_rows = within(self.tile_rows, PREFILL_ROWS, Argument::Tile)?;
        let tile_keys = within(self.tile_keys, 256, Argument::Tile)?;
        let is_tile = matches!(tile_rows.get(), DECODE_ROWS | PREFILL_ROWS) && tile_keys.is_power_of_two();
        if !is_tile || tile_keys.get() < 16 || self.overhead_tiles > OVERHEAD_TILES_MAX {
            return refuse(Argument::Tile);
        }
        let thread_blocks = within(self.thread_blocks, THREAD_BLOCKS_MAX, Argument::ThreadBlocks)?;
        if self.window_left < -1 {
            return refuse(Argument::Window);
        }
        if self.chunk_keys % tile_keys != 0 || self.chunk_keys > CHUNK_KEYS_MAX {
            return refuse(Argument::Chunk);
        }
        within(self.sequences_max, u32::MAX, Argument::Sequences)?;
        within(self.query_tokens_max, u32::MAX, Argument::Tokens)?;
        within(self.keys_max, u32::MAX, Argument::Length)?;
        if self.query_tokens_max.checked_mul(group.get()).is_none() {
            return refuse(Argument::Overflow);
        }
        let chunk_keys = NonZeroU32::new(self.chunk_keys);
        Ok(Checked { split: *self, heads, group, tile_rows, tile_keys, thread_blocks, chunk_keys })
    }
}

/// A [`Split`] that plans can be made for: nothing here is divided by 0.
#[derive(Clone, Copy)]
pub(super) struct Checked {
    pub(super) split: Split,
    pub(super) heads: NonZeroU32,
    /// Query heads of one key-value head.
    pub(super) group: NonZeroU32,
    pub(super) tile_rows: NonZeroU32,
    pub(super) tile_keys: NonZeroU32,
    pub(super) thread_blocks: NonZeroU32,
    /// `None`: balanced.
    pub(super) chunk_keys: Option<NonZeroU32>,
}

impl Checked {
    /// Key tiles of so many keys, the last one perhaps not full.
    pub(super) fn tiles(&self, keys: u32) -> u64 {
        u64::from(keys.div_ceil(self.tile_keys.get()))
    }
}

fn within(number: u32, most: u32, argument: Argument) -> Result<NonZeroU32, Refusal> {
    NonZeroU32::new(number).filter(|number| number.get() <= most).ok_or(Refusal::invalid(argument))
}
