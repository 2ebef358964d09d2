//! How far each pointer of each kernel reaches: worked out by hand here. A pointer that nobody looks up would be missing.

use super::*;
use crate::raw::*;

fn at<T>(number: usize) -> *mut T {
    (0x1_0000 * number) as *mut T
}

/// What is looked up: field, bytes, and whether it may be pinned. Every pointer is moved by 1 << 40, so that one that is
/// looked up and not replaced shows.
fn uses(launch: Launch) -> Vec<(&'static str, u64, Where)> {
    let mut found = Vec::new();
    launch.check().unwrap();
    let seen = launch
        .seen(&mut |used, address| {
            found.push((used.field, used.bytes, used.place));
            Ok(address + (1 << 40))
        })
        .unwrap();
    let mut again = 0;
    let moved = &mut |_: Use, address: u64| {
        again += u32::from(address >> 40 == 1);
        Ok(address)
    };
    seen.seen(moved).unwrap();
    assert_eq!(again as usize, found.len(), "all of them are replaced");
    found
}

const DEVICE: Where = Where::Device;
const EITHER: Where = Where::Either;

/// 9 + 1 blocks of 4 tokens, 2 heads of 32, and a gap of 8 tokens between blocks; scales of 3 planes apart.
fn cache() -> kvk_cache {
    kvk_cache {
        keys: at(1),
        values: at(2),
        block_stride: 768,
        token_stride: 64,
        head_stride: 32,
        key_scales: at(3),
        value_scales: at(4),
        scale_block_stride: 4,
        scale_token_stride: 1,
        scale_head_stride: 100,
        key_scale: 1.0,
        value_scale: 1.0,
        blocks: 9,
        block_tokens: 4,
        heads: 2,
        head_dim: 32,
        type_: KVK_E4M3,
        reserved: 0,
    }
}

/// 9 × 768 + 3 × 64 + 32 + 32 bytes, and 9 × 4 + 3 + 100 + 1 floats.
const CACHE: [(&str, u64, Where); 4] = [
    ("cache.keys", 7168, DEVICE),
    ("cache.values", 7168, DEVICE),
    ("cache.key_scales", 560, DEVICE),
    ("cache.value_scales", 560, DEVICE),
];

/// 5 rows of 6 entries, 8 apart; 3 sequences.
fn table() -> kvk_table {
    kvk_table { entries: at(5), rows: at(6), row_stride: 8, columns: 6, reserved: 0 }
}

const TABLE: [(&str, u64, Where); 2] = [("table.entries", (4 * 8 + 6) * 4, EITHER), ("table.rows", 12, EITHER)];

#[test]
fn append_and_gather() {
    let params = kvk_append_params {
        cache: cache(),
        keys: at(10),
        values: at(11),
        token_stride: 72,
        head_stride: 40,
        slots: at(12),
        status: at(13),
        tokens: 7,
        type_: KVK_F16,
    };
    let rows = (6 * 72 + 40 + 32) * 2;
    let own = [("keys", rows, DEVICE), ("values", rows, DEVICE), ("slots", 56, EITHER), ("status", 16, EITHER)];
    assert_eq!(uses(Launch::Append(Append { params })), [&CACHE[..], &own].concat());

    let params = kvk_gather_params {
        cache: cache(),
        table: table(),
        first_keys: at(14),
        starts: at(15),
        keys: at(16),
        values: at(17),
        status: at(18),
        sequences: 3,
        type_: KVK_BF16,
        total: 11,
        reserved: 0,
    };
    let rows = 11 * 2 * 32 * 2;
    let own = [
        ("first_keys", 12, EITHER),
        ("starts", 16, EITHER),
        ("keys", rows, DEVICE),
        ("values", rows, DEVICE),
        ("status", 16, EITHER),
    ];
    let gather = Gather { params, table_rows: 5, longest: 24 };
    assert_eq!(uses(Launch::Gather(gather)), [&CACHE[..], &TABLE, &own].concat());
}

#[test]
fn attend_and_merge() {
    let params = kvk_attend_params {
        cache: cache(),
        table: table(),
        lengths: at(20),
        query_starts: at(21),
        query_positions: at(22),
        queries: at(23),
        output: at(24),
        lse: at(25),
        sinks: at(26),
        slopes: at(27),
        query_token_stride: 200,
        query_head_stride: 32,
        output_token_stride: 208,
        output_head_stride: 32,
        lse_token_stride: 10,
        item_starts: at(28),
        items: at(29),
        joins: at(30),
        join_count: at(31),
        part_output: at(32),
        part_lse: at(33),
        status: at(34),
        scale: 1.0,
        soft_cap: 0.0,
        window_left: -1,
        query_heads: 6,
        sequences: 3,
        type_: KVK_BF16,
        tile_rows: KVK_PREFILL_ROWS,
        thread_blocks: 12,
        merge_thread_blocks: 2,
        reserved: 0,
    };
    let attend = Attend { params, table_rows: 5, longest: 24, query_tokens: 4, items: 30, joins: 8, parts: 22 };
    let first = [
        ("lengths", 12, EITHER),
        ("query_positions", 16, EITHER),
        ("queries", (3 * 200 + 5 * 32 + 32) * 2, DEVICE),
        ("slopes", 24, EITHER),
        ("item_starts", 52, EITHER),
        ("items", 30 * 24, EITHER),
        ("status", 16, EITHER),
    ];
    let both = [
        ("query_starts", 16, EITHER),
        ("output", (3 * 208 + 5 * 32 + 32) * 2, DEVICE),
        ("lse", (3 * 10 + 6) * 4, DEVICE),
        ("sinks", 24, EITHER),
        ("joins", 8 * 24, EITHER),
        ("join_count", 4, EITHER),
        ("part_output", 22 * 64 * 32 * 4, DEVICE),
        ("part_lse", 22 * 64 * 4, DEVICE),
    ];
    assert_eq!(uses(Launch::Attend(attend)), [&CACHE[..], &TABLE, &first, &both].concat());
    assert_eq!(uses(Launch::Merge(attend)), both);
}

#[test]
fn merge_two() {
    let params = kvk_merge_two_params {
        output_a: at(40),
        lse_a: at(41),
        output_b: at(42),
        lse_b: at(43),
        output: at(44),
        lse: at(45),
        token_stride: 200,
        head_stride: 32,
        lse_token_stride: 10,
        tokens: 4,
        heads: 6,
        head_dim: 32,
        type_: KVK_F16,
    };
    let (output, lse) = ((3 * 200 + 5 * 32 + 32) * 2, (3 * 10 + 6) * 4);
    let expected = [
        ("output_a", output, DEVICE),
        ("lse_a", lse, DEVICE),
        ("output_b", output, DEVICE),
        ("lse_b", lse, DEVICE),
        ("output", output, DEVICE),
        ("lse", lse, DEVICE),
    ];
    assert_eq!(uses(Launch::MergeTwo(MergeTwo { params })), expected);
}

#[test]
fn kernels_over_blocks() {
    let shape = kvk_shape { block_stride: 640, piece_stride: 128, token_bytes: 16, pieces: 3, block_tokens: 4 };
    let params = kvk_copy_params {
        source_shape: shape,
        destination_shape: kvk_shape { block_stride: 512, ..shape },
        source: at(50),
        destination: at(51),
        pairs: at(52),
        pair_count: 5,
        reserved: 0,
    };
    let copy = CopyBlocks { params, source_blocks: 9, destination_blocks: 2 };
    let expected = [
        ("source", 9 * 640 + 2 * 128 + 64, EITHER),
        ("destination", 2 * 512 + 2 * 128 + 64, EITHER),
        ("pairs", 80, EITHER),
    ];
    assert_eq!(uses(Launch::CopyBlocks(copy)), expected);

    let params = kvk_fill_params { pool: at(53), blocks: at(54), block_bytes: 64, block_count: 3, pattern: 0 };
    let expected = [("pool", 640, EITHER), ("blocks", 12, EITHER)];
    assert_eq!(uses(Launch::Fill(Fill { params, blocks: 9 })), expected);

    let params = kvk_checksum_params {
        pool: at(55),
        blocks: at(56),
        sums: at(57),
        block_bytes: 64,
        block_count: 3,
        reserved: 0,
    };
    let expected = [("pool", 640, EITHER), ("blocks", 12, EITHER), ("sums", 24, EITHER)];
    assert_eq!(uses(Launch::Checksum(Checksum { params, blocks: 9 })), expected);

    let params = kvk_rewrite_params {
        entries: at(58),
        moved: at(59),
        status: at(60),
        row_stride: 8,
        rows: 5,
        columns: 6,
        blocks: 9,
        reserved: 0,
    };
    let expected = [("entries", (4 * 8 + 6) * 4, EITHER), ("moved", 40, EITHER), ("status", 16, EITHER)];
    assert_eq!(uses(Launch::Rewrite(Rewrite { params })), expected);
}
