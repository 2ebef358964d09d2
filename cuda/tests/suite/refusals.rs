//! Parameters that no kernel can be given: each is refused by the name of its field, and said how to mend.

use kvledger_cuda::launch::{
    Append, Checksum, CopyBlocks, Fill, Gather, Launch, MergeTwo, Refusal, Rewrite, Wrong, shape_bytes,
};
use kvledger_cuda::raw::*;

/// Addresses that are never followed: a check looks at the numbers.
pub fn at<T>(number: usize) -> *mut T {
    (0x100_0000 * number) as *mut T
}

/// NHD, 8 heads of 64, blocks of 16.
pub fn cache(type_: u32) -> kvk_cache {
    kvk_cache {
        keys: at(1),
        values: at(2),
        block_stride: 16 * 8 * 64,
        token_stride: 8 * 64,
        head_stride: 64,
        key_scale: 1.0,
        value_scale: 1.0,
        blocks: 100,
        block_tokens: 16,
        heads: 8,
        head_dim: 64,
        type_,
        ..kvk_cache::default()
    }
}

/// The same with a scale for each token and head.
pub fn scaled() -> kvk_cache {
    kvk_cache {
        key_scales: at(3),
        value_scales: at(4),
        scale_block_stride: 16 * 8,
        scale_token_stride: 8,
        scale_head_stride: 1,
        ..cache(KVK_E4M3)
    }
}

/// What is changed, and what is refused then.
pub type Case<L> = (fn(&mut L), &'static str, Wrong);

/// Changes right parameters, and looks for the refusal.
pub fn refused<L: Copy>(right: L, launch: fn(L) -> Launch, cases: &[Case<L>]) {
    launch(right).check().unwrap();
    for (change, field, wrong) in cases {
        let mut changed = right;
        change(&mut changed);
        let refusal = launch(changed).check().expect_err(&format!("{field} {wrong}"));
        assert_eq!(refusal, Refusal::new(field, *wrong), "said: {refusal}");
    }
}

fn append(cache: kvk_cache) -> Append {
    let params = kvk_append_params {
        cache,
        keys: at(10),
        values: at(11),
        token_stride: 8 * 64,
        head_stride: 64,
        slots: at(12),
        status: at(13),
        tokens: 7,
        type_: KVK_BF16,
    };
    Append { params }
}

#[test]
fn caches() {
    refused(
        append(cache(KVK_BF16)),
        Launch::Append,
        &[
            (|a| a.params.cache.type_ = 0, "cache.type", Wrong::Type(0)),
            (|a| a.params.cache.type_ = 6, "cache.type", Wrong::Type(6)),
            (|a| a.params.cache.head_dim = 72, "cache.head_dim", Wrong::HeadDim(72)),
            (|a| a.params.cache.head_dim = 0, "cache.head_dim", Wrong::HeadDim(0)),
            (|a| a.params.cache.head_dim = 272, "cache.head_dim", Wrong::HeadDim(272)),
            (|a| a.params.cache.blocks = 0, "cache.blocks", Wrong::Zero),
            (
                |a| a.params.cache.blocks = u32::MAX,
                "cache.blocks",
                Wrong::Above { value: 0xFFFF_FFFF, most: 0x7FFF_FFFE },
            ),
            (|a| a.params.cache.block_tokens = 0, "cache.block_tokens", Wrong::Zero),
            (|a| a.params.cache.heads = 0, "cache.heads", Wrong::Zero),
            (|a| a.params.cache.keys = at(0), "cache.keys", Wrong::Null),
            (|a| a.params.cache.values = at(0), "cache.values", Wrong::Null),
            (|a| a.params.cache.values = at(1), "cache.values", Wrong::Shared("cache.keys")),
            (|a| a.params.cache.keys = 0x1008 as *mut _, "cache.keys", Wrong::Misaligned(16)),
            (|a| a.params.cache.block_stride = -8192, "cache.block_stride", Wrong::Negative(-8192)),
            (|a| a.params.cache.token_stride = 516, "cache.token_stride", Wrong::Stride { stride: 516, multiple: 8 }),
            (|a| a.params.cache.head_stride = 56, "cache.head_stride", Wrong::Overlapping { stride: 56, extent: 64 }),
            (
                |a| a.params.cache.token_stride = 504,
                "cache.token_stride",
                Wrong::Overlapping { stride: 504, extent: 512 },
            ),
            (
                |a| a.params.cache.block_stride = 8184,
                "cache.block_stride",
                Wrong::Overlapping { stride: 8184, extent: 8192 },
            ),
            (|a| a.params.cache.block_stride = 1 << 60, "cache.block_stride", Wrong::Overflow),
            (|a| a.params.cache.key_scale = 2.0, "cache.key_scale", Wrong::NotOne(2.0)),
            (|a| a.params.cache.value_scale = 0.5, "cache.value_scale", Wrong::NotOne(0.5)),
            (|a| a.params.cache.key_scales = at(3), "cache.key_scales", Wrong::NotNull),
        ],
    );
    refused(
        append(scaled()),
        Launch::Append,
        &[
            (|a| a.params.cache.key_scale = 0.0, "cache.key_scale", Wrong::NotPositive(0.0)),
            (|a| a.params.cache.value_scale = -1.0, "cache.value_scale", Wrong::NotPositive(-1.0)),
            (|a| a.params.cache.key_scale = f32::INFINITY, "cache.key_scale", Wrong::NotPositive(f32::INFINITY)),
            (|a| a.params.cache.key_scale = 1e-39, "cache.key_scale", Wrong::Tiny(1e-39)),
            (|a| a.params.cache.value_scale = 1e-45, "cache.value_scale", Wrong::Tiny(1e-45)),
            (|a| a.params.cache.value_scales = at(0), "cache.value_scales", Wrong::Null),
            (|a| a.params.cache.value_scales = at(3), "cache.value_scales", Wrong::Shared("cache.key_scales")),
            (
                |a| a.params.cache.value_scales = (at::<u8>(3) as usize + 4 * 127) as *mut _,
                "cache.value_scales",
                Wrong::Shared("cache.key_scales"),
            ),
            (|a| a.params.cache.key_scales = at(0), "cache.value_scales", Wrong::NotNull),
            (|a| a.params.cache.key_scales = 0x1002 as *mut _, "cache.key_scales", Wrong::Misaligned(4)),
            (
                |a| a.params.cache.scale_token_stride = 7,
                "cache.scale_token_stride",
                Wrong::Overlapping { stride: 7, extent: 8 },
            ),
            (
                |a| a.params.cache.scale_head_stride = 0,
                "cache.scale_head_stride",
                Wrong::Overlapping { stride: 0, extent: 1 },
            ),
            (|a| a.params.cache.token_stride = 520, "cache.token_stride", Wrong::Stride { stride: 520, multiple: 16 }),
        ],
    );
    let nan = append(kvk_cache { key_scale: f32::NAN, ..scaled() });
    let refusal = Launch::Append(nan).check().unwrap_err();
    assert_eq!(refusal.to_string(), "cache.key_scale is NaN: it must be finite and above 0");
}

/// Layouts that are right: heads before tokens, all layers of a block together, blocks of one token, one head.
#[test]
fn layouts() {
    let hnd = kvk_cache { token_stride: 64, head_stride: 16 * 64, ..cache(KVK_BF16) };
    let after_keys = (at::<u8>(1) as usize + 16 * 8 * 64 * 2) as *mut _;
    let by_blocks = kvk_cache { values: after_keys, block_stride: 2 * 32 * 16 * 8 * 64, ..cache(KVK_F16) };
    let tokens = kvk_cache { block_tokens: 1, token_stride: -5, block_stride: 512, ..cache(KVK_F16) };
    let one_head = kvk_cache { heads: 1, head_stride: 3, token_stride: 64, block_stride: 1024, ..cache(KVK_INT8) };
    // A value after each key; and a pool of values that is before that of keys.
    let after_key = (at::<u8>(1) as usize + 64 * 2) as *mut _;
    let by_heads = kvk_cache { values: after_key, head_stride: 128, token_stride: 1024, block_stride: 16_384, ..hnd };
    let values_first = kvk_cache { keys: at(2), values: at(1), ..cache(KVK_F16) };
    for cache in [hnd, by_blocks, tokens, one_head, by_heads, values_first] {
        Launch::Append(append(cache)).check().unwrap();
    }
}

/// Keys that lie over values, wherever they meet: beside each other, a head, a token or some blocks apart.
#[test]
fn keys_over_values() {
    let over = |cache: kvk_cache| {
        let refusal = Launch::Append(append(cache)).check().expect_err("keys and values share memory");
        assert_eq!(refusal, Refusal::new("cache.values", Wrong::Shared("cache.keys")));
    };
    for elements in [0, 8, 56, 64, 512, 8192 - 64, 8192, 100 * 8192 + 15 * 512 + 7 * 64 + 56] {
        let values = (at::<u8>(1) as usize + 2 * elements) as *mut _;
        over(kvk_cache { values, ..cache(KVK_F16) });
        over(kvk_cache { keys: values, values: at(1), ..cache(KVK_BF16) });
    }
    // The first element behind the last key.
    let values = (at::<u8>(1) as usize + 2 * 101 * 8192) as *mut _;
    Launch::Append(append(kvk_cache { values, ..cache(KVK_F16) })).check().unwrap();
    // Room for a value after each key, but the value begins within the key.
    let wide = kvk_cache { head_stride: 128, token_stride: 1024, block_stride: 16_384, ..cache(KVK_F16) };
    over(kvk_cache { values: (at::<u8>(1) as usize + 56 * 2) as *mut _, ..wide });
    over(kvk_cache { values: (at::<u8>(1) as usize + (3 * 1024 - 56) * 2) as *mut _, ..wide });
}

#[test]
fn appends() {
    refused(
        append(cache(KVK_E5M2)),
        Launch::Append,
        &[
            (|a| a.params.type_ = KVK_E4M3, "type", Wrong::Type(KVK_E4M3)),
            (|a| a.params.status = at(0), "status", Wrong::Null),
            (|a| a.params.keys = at(0), "keys", Wrong::Null),
            (|a| a.params.values = 0x1004 as *const _, "values", Wrong::Misaligned(16)),
            (|a| a.params.slots = at(0), "slots", Wrong::Null),
            (|a| a.params.slots = 0x1002 as *const _, "slots", Wrong::Misaligned(4)),
            (|a| a.params.tokens = 1 << 30, "tokens", Wrong::Above { value: 1 << 30, most: (1 << 27) - 1 }),
            (|a| a.params.token_stride = -512, "token_stride", Wrong::Negative(-512)),
            (|a| a.params.head_stride = 68, "head_stride", Wrong::Stride { stride: 68, multiple: 8 }),
        ],
    );
    let mut nothing = append(cache(KVK_F16));
    (nothing.params.tokens, nothing.params.keys, nothing.params.slots) = (0, at(0), at(0));
    Launch::Append(nothing).check().unwrap();
}

pub fn table() -> kvk_table {
    kvk_table { entries: at(20), row_stride: 64, columns: 64, ..kvk_table::default() }
}

fn gather() -> Gather {
    let params = kvk_gather_params {
        cache: cache(KVK_F16),
        table: table(),
        first_keys: at(21),
        starts: at(22),
        keys: at(23),
        values: at(24),
        status: at(25),
        sequences: 3,
        type_: KVK_F16,
        total: 50,
        reserved: 0,
    };
    Gather { params, table_rows: 5, longest: 1024 }
}

#[test]
fn gathers() {
    refused(
        gather(),
        Launch::Gather,
        &[
            (|g| g.longest = 1025, "table.columns", Wrong::Columns { columns: 64, needed: 65 }),
            (|g| g.table_rows = 0, "table_rows", Wrong::Zero),
            (|g| g.params.table.entries = at(0), "table.entries", Wrong::Null),
            (|g| g.params.table.rows = 0x1001 as *const _, "table.rows", Wrong::Misaligned(4)),
            (|g| g.params.table.row_stride = -64, "table.row_stride", Wrong::Negative(-64)),
            (|g| g.params.type_ = KVK_INT8, "type", Wrong::Type(KVK_INT8)),
            (|g| g.params.first_keys = at(0), "first_keys", Wrong::Null),
            (|g| g.params.starts = at(0), "starts", Wrong::Null),
            (|g| g.params.keys = at(0), "keys", Wrong::Null),
            (|g| g.params.values = at(23), "values", Wrong::Shared("keys")),
            (|g| g.params.status = at(0), "status", Wrong::Null),
            (|g| g.params.values = (at::<u8>(23) as usize + 16) as *mut _, "values", Wrong::Shared("keys")),
            (|g| g.params.total = u32::MAX, "total", Wrong::Above { value: 0xFFFF_FFFF, most: (1 << 27) - 1 }),
        ],
    );
}

fn merge_two() -> MergeTwo {
    let params = kvk_merge_two_params {
        output_a: at(30),
        lse_a: at(31),
        output_b: at(32),
        lse_b: at(33),
        output: at(30),
        lse: at(31),
        token_stride: 512,
        head_stride: 64,
        lse_token_stride: 8,
        tokens: 4,
        heads: 8,
        head_dim: 64,
        type_: KVK_BF16,
    };
    MergeTwo { params }
}

#[test]
fn merges() {
    refused(
        merge_two(),
        Launch::MergeTwo,
        &[
            (|m| m.params.type_ = 9, "type", Wrong::Type(9)),
            (|m| m.params.head_dim = 8, "head_dim", Wrong::HeadDim(8)),
            (|m| m.params.heads = 0, "heads", Wrong::Zero),
            (|m| m.params.output_a = at(0), "output_a", Wrong::Null),
            (|m| m.params.output_b = 0x1008 as *const _, "output_b", Wrong::Misaligned(16)),
            (|m| m.params.output = at(0), "output", Wrong::Null),
            (|m| m.params.lse_a = at(0), "lse_a", Wrong::Null),
            (|m| m.params.lse_b = at(0), "lse_b", Wrong::Null),
            (|m| m.params.lse = 0x1001 as *mut _, "lse", Wrong::Misaligned(4)),
            (|m| m.params.token_stride = 448, "token_stride", Wrong::Overlapping { stride: 448, extent: 512 }),
            (|m| m.params.lse_token_stride = 7, "lse_token_stride", Wrong::Overlapping { stride: 7, extent: 8 }),
            (|m| m.params.tokens = 1 << 30, "tokens", Wrong::Above { value: 1 << 30, most: (1 << 29) - 1 }),
            (|m| m.params.output = (at::<u8>(32) as usize + 16) as *mut _, "output", Wrong::Shared("output_b")),
            (|m| m.params.lse = (at::<u8>(31) as usize + 4) as *mut _, "lse", Wrong::Shared("lse_a")),
        ],
    );
    let mut plain = merge_two();
    plain.params.lse = at(0);
    Launch::MergeTwo(plain).check().unwrap();
}

fn copy_blocks() -> CopyBlocks {
    let shape = kvk_shape { block_stride: 8192, piece_stride: 4096, token_bytes: 256, pieces: 2, block_tokens: 16 };
    let params = kvk_copy_params {
        source_shape: shape,
        destination_shape: shape,
        source: at(40),
        destination: at(41),
        pairs: at(42),
        pair_count: 3,
        reserved: 0,
    };
    CopyBlocks { params, source_blocks: 9, destination_blocks: 4 }
}

#[test]
fn copies() {
    let not = |value, must| Wrong::Not { value, must };
    refused(
        copy_blocks(),
        Launch::CopyBlocks,
        &[
            (|c| c.source_blocks = 0, "source_blocks", Wrong::Zero),
            (|c| c.destination_blocks = 0, "destination_blocks", Wrong::Zero),
            (|c| c.params.source = at(0), "source", Wrong::Null),
            (|c| c.params.destination = 0x1008 as *mut _, "destination", Wrong::Misaligned(16)),
            (|c| c.params.pairs = at(0), "pairs", Wrong::Null),
            (|c| c.params.source_shape.token_bytes = 250, "source_shape.token_bytes", Wrong::Misaligned(16)),
            (|c| c.params.source_shape.token_bytes = 1 << 60, "source_shape.token_bytes", Wrong::Overflow),
            (
                |c| c.params.destination_shape.piece_stride = 4088,
                "destination_shape.piece_stride",
                Wrong::Stride { stride: 4088, multiple: 16 },
            ),
            (
                |c| c.params.destination_shape.piece_stride = 2048,
                "destination_shape.piece_stride",
                Wrong::Overlapping { stride: 2048, extent: 4096 },
            ),
            (|c| c.params.source_shape.block_stride = -16, "source_shape.block_stride", Wrong::Negative(-16)),
            (|c| c.params.destination_shape.token_bytes = 128, "destination_shape.token_bytes", not(128, 256)),
            (|c| c.params.destination_shape.pieces = 1, "destination_shape.pieces", not(1, 2)),
            (|c| c.params.destination_shape.block_tokens = 8, "destination_shape.block_tokens", not(8, 16)),
            (
                |c| {
                    c.params.destination = c.params.source.cast_mut();
                    c.params.destination_shape.block_stride = 16_384;
                },
                "destination_shape.block_stride",
                not(16_384, 8192),
            ),
            (
                |c| c.params.destination = (at::<u8>(40) as usize + 8192) as *mut _,
                "destination",
                Wrong::Shared("source"),
            ),
            (
                |c| c.params.pair_count = u32::MAX,
                "pair_count",
                Wrong::Above { value: 0xFFFF_FFFF, most: ((1 << 31) - 1) / 2 },
            ),
        ],
    );
    let shape = copy_blocks().params.source_shape;
    assert_eq!(shape_bytes(&shape, 9), Some(10 * 8192));
    assert_eq!(shape_bytes(&kvk_shape { block_stride: i64::MAX, ..shape }, 9), None);
    // Nothing steps from one piece to the next where there is one.
    assert_eq!(shape_bytes(&kvk_shape { pieces: 1, piece_stride: -1, ..shape }, 9), Some(9 * 8192 + 4096));
    let mut one = copy_blocks();
    for shape in [&mut one.params.source_shape, &mut one.params.destination_shape] {
        (shape.pieces, shape.token_bytes) = (1, 16 << 32);
        (shape.block_tokens, shape.block_stride) = (1, 16 << 32);
    }
    let refusal = Launch::CopyBlocks(one).check().unwrap_err();
    let most = 16 * ((1 << 31) - 1);
    assert_eq!(refusal, Refusal::new("source_shape.token_bytes", Wrong::Above { value: 16 << 32, most }));
}

#[test]
fn fills_and_checksums() {
    let params = kvk_fill_params { pool: at(50), blocks: at(51), block_bytes: 4096, block_count: 2, pattern: 0 };
    refused(
        Fill { params, blocks: 9 },
        Launch::Fill,
        &[
            (|f| f.params.pool = at(0), "pool", Wrong::Null),
            (|f| f.params.blocks = at(0), "blocks", Wrong::Null),
            (|f| f.params.block_bytes = 0, "block_bytes", Wrong::Zero),
            (|f| f.params.block_bytes = 4100, "block_bytes", Wrong::Misaligned(16)),
            (|f| f.params.block_bytes = 1 << 62, "block_bytes", Wrong::Overflow),
            (
                |f| f.params.block_bytes = 1 << 35,
                "block_bytes",
                Wrong::Above { value: 1 << 35, most: 16 * ((1 << 31) - 1) },
            ),
            (
                |f| (f.params.block_bytes, f.params.block_count) = (1 << 20, 1 << 26),
                "block_count",
                Wrong::Above { value: 1 << 26, most: (1 << 25) - 1 },
            ),
        ],
    );
    let params = kvk_checksum_params {
        pool: at(50),
        blocks: at(51),
        sums: at(52),
        block_bytes: 4096,
        block_count: 2,
        reserved: 0,
    };
    refused(
        Checksum { params, blocks: 9 },
        Launch::Checksum,
        &[
            (|c| c.params.pool = 0x1008 as *const _, "pool", Wrong::Misaligned(16)),
            (|c| c.params.blocks = at(0), "blocks", Wrong::Null),
            (|c| c.params.sums = at(0), "sums", Wrong::Null),
            (|c| c.params.sums = 0x1004 as *mut _, "sums", Wrong::Misaligned(8)),
            (|c| c.params.block_bytes = 0, "block_bytes", Wrong::Zero),
        ],
    );
}

#[test]
fn rewrites() {
    let params = kvk_rewrite_params {
        entries: at(60),
        moved: at(61),
        status: at(62),
        row_stride: 64,
        rows: 8,
        columns: 60,
        blocks: 100,
        reserved: 0,
    };
    refused(
        Rewrite { params },
        Launch::Rewrite,
        &[
            (|r| r.params.entries = at(0), "entries", Wrong::Null),
            (|r| r.params.moved = at(0), "moved", Wrong::Null),
            (|r| r.params.status = at(0), "status", Wrong::Null),
            (|r| r.params.blocks = 0, "blocks", Wrong::Zero),
            (|r| r.params.rows = 1 << 26, "rows", Wrong::Above { value: 1 << 26, most: ((1 << 31) - 1) / 60 }),
            (|r| r.params.row_stride = 59, "row_stride", Wrong::Overlapping { stride: 59, extent: 60 }),
        ],
    );
}

/// Pools of one or the other size, at any distance, with pieces of other pools between theirs: refused if and only if a
/// byte is in both.
#[test]
fn pools_that_share_a_byte_are_refused_and_no_others() {
    let runs = |start: u64, blocks: u32, copy: &CopyBlocks| -> Vec<u64> {
        let shape = &copy.params.source_shape;
        let piece = |block: u32, piece: u32| {
            start + u64::from(block) * shape.block_stride as u64 + u64::from(piece) * shape.piece_stride as u64
        };
        (0..=blocks).flat_map(|block| (0..shape.pieces).map(move |number| piece(block, number))).collect()
    };
    let source = 1 << 20;
    for (source_blocks, destination_blocks) in [(1, 1), (1, 4), (4, 1), (2, 3)] {
        for (block_stride, piece_stride) in [(8192, 4096), (16_384, 4096), (16_384, 8192), (4096, 32_768)] {
            for distance in -24..=24 {
                let mut copy = copy_blocks();
                let destination = source + distance * 2048;
                for shape in [&mut copy.params.source_shape, &mut copy.params.destination_shape] {
                    (shape.block_stride, shape.piece_stride) = (block_stride, piece_stride);
                }
                (copy.params.source, copy.params.destination) = (source as *const _, destination as *mut _);
                (copy.source_blocks, copy.destination_blocks) = (source_blocks, destination_blocks);
                let (from, to) =
                    (runs(source as u64, source_blocks, &copy), runs(destination as u64, destination_blocks, &copy));
                let shares = distance != 0 && from.iter().any(|a| to.iter().any(|b| a.abs_diff(*b) < 4096));
                let expected = if shares { Err(Refusal::new("destination", Wrong::Shared("source"))) } else { Ok(()) };
                let at = (source_blocks, destination_blocks, block_stride, piece_stride, distance);
                assert_eq!(Launch::CopyBlocks(copy).check(), expected, "{at:?}");
            }
        }
    }
}
