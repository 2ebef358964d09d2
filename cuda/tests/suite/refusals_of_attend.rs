//! Attention that no kernel can do, plans that are not its own, and parts of a cascade that do not fit together.

use crate::refusals::{at, cache, refused, table};
use kvledger_core::split::{Split, SplitBatch};
use kvledger_cuda::Address;
use kvledger_cuda::launch::{Attend, Cascade, Launch, MergeTwo, Refusal, Wrong, key_tile};
use kvledger_cuda::raw::*;

/// 32 query heads over the 8 of the cache.
fn attend() -> Attend {
    let params = kvk_attend_params {
        cache: cache(KVK_BF16),
        table: table(),
        lengths: at(70),
        queries: at(71),
        output: at(72),
        lse: at(73),
        query_token_stride: 32 * 64,
        query_head_stride: 64,
        output_token_stride: 32 * 64,
        output_head_stride: 64,
        lse_token_stride: 32,
        item_starts: at(74),
        items: at(75),
        joins: at(76),
        join_count: at(77),
        part_output: at(78),
        part_lse: at(79),
        status: at(80),
        scale: 0.125,
        window_left: -1,
        query_heads: 32,
        sequences: 3,
        type_: KVK_BF16,
        tile_rows: KVK_DECODE_ROWS,
        thread_blocks: 8,
        merge_thread_blocks: 4,
        ..kvk_attend_params::default()
    };
    Attend { params, table_rows: 3, longest: 1024, query_tokens: 3, items: 31, joins: 7, parts: 14 }
}

#[test]
fn attention() {
    let heads = |query_heads| Wrong::Heads { query_heads, heads: 8 };
    refused(
        attend(),
        Launch::Attend,
        &[
            (|a| a.params.type_ = KVK_E4M3, "type", Wrong::Type(KVK_E4M3)),
            (|a| a.params.type_ = KVK_F16, "type", Wrong::TypeOfCache(KVK_BF16)),
            (|a| a.params.query_heads = 0, "query_heads", heads(0)),
            (|a| a.params.query_heads = 4, "query_heads", heads(4)),
            (|a| a.params.query_heads = 33, "query_heads", heads(33)),
            (|a| a.params.tile_rows = 32, "tile_rows", Wrong::TileRows(32)),
            (|a| a.params.scale = 0.0, "scale", Wrong::NotPositive(0.0)),
            (|a| a.params.scale = f32::NEG_INFINITY, "scale", Wrong::NotPositive(f32::NEG_INFINITY)),
            (|a| a.params.soft_cap = -30.0, "soft_cap", Wrong::NotFinite(-30.0)),
            (|a| a.params.soft_cap = f32::INFINITY, "soft_cap", Wrong::NotFinite(f32::INFINITY)),
            (|a| a.params.soft_cap = 1e-40, "soft_cap", Wrong::Tiny(1e-40)),
            (|a| a.params.window_left = -2, "window_left", Wrong::Window(-2)),
            (|a| a.params.status = at(0), "status", Wrong::Null),
            (|a| a.params.lengths = at(0), "lengths", Wrong::Null),
            (|a| a.query_tokens = 4, "query_tokens", Wrong::Not { value: 4, must: 3 }),
            (|a| a.params.queries = at(0), "queries", Wrong::Null),
            (|a| a.params.queries = 0x1008 as *const _, "queries", Wrong::Misaligned(16)),
            (|a| a.params.output = at(0), "output", Wrong::Null),
            (|a| a.params.query_head_stride = 60, "query_head_stride", Wrong::Stride { stride: 60, multiple: 8 }),
            (|a| a.params.output_head_stride = 56, "output_head_stride", Wrong::Overlapping { stride: 56, extent: 64 }),
            (
                |a| a.params.output_token_stride = 2040,
                "output_token_stride",
                Wrong::Overlapping { stride: 2040, extent: 2048 },
            ),
            (|a| a.params.lse_token_stride = 31, "lse_token_stride", Wrong::Overlapping { stride: 31, extent: 32 }),
            (|a| a.params.lse = 0x1002 as *mut _, "lse", Wrong::Misaligned(4)),
            (|a| a.params.sinks = 0x1002 as *const _, "sinks", Wrong::Misaligned(4)),
            (|a| a.params.slopes = 0x1002 as *const _, "slopes", Wrong::Misaligned(4)),
            (|a| a.params.thread_blocks = 0, "thread_blocks", Wrong::Zero),
            (|a| a.params.merge_thread_blocks = 0, "merge_thread_blocks", Wrong::Zero),
            (|a| a.params.thread_blocks = 65_537, "thread_blocks", Wrong::Above { value: 65_537, most: 65_536 }),
            (
                |a| a.params.merge_thread_blocks = 1 << 30,
                "merge_thread_blocks",
                Wrong::Above { value: 1 << 30, most: 65_536 },
            ),
            (|a| a.joins = 1 << 27, "joins", Wrong::Above { value: 1 << 27, most: (1 << 27) - 1 }),
            (|a| a.params.item_starts = at(0), "item_starts", Wrong::Null),
            (|a| a.params.items = at(0), "items", Wrong::Null),
            (|a| a.params.joins = at(0), "joins", Wrong::Null),
            (|a| a.params.join_count = at(0), "join_count", Wrong::Null),
            (|a| a.params.part_output = at(0), "part_output", Wrong::Null),
            (|a| a.params.part_lse = at(0), "part_lse", Wrong::Null),
            (|a| a.params.cache.head_dim = 40, "cache.head_dim", Wrong::HeadDim(40)),
        ],
    );
    let nan = Attend { params: kvk_attend_params { scale: f32::NAN, ..attend().params }, ..attend() };
    let refusal = Launch::Merge(nan).check().unwrap_err();
    assert_eq!(refusal.to_string(), "scale is NaN: it must be finite and above 0");
    let scale = kvk_cache { key_scale: 1e20, ..cache(KVK_E4M3) };
    let product = Attend { params: kvk_attend_params { cache: scale, scale: 1e20, ..attend().params }, ..attend() };
    let refusal = Launch::Attend(product).check().unwrap_err();
    assert_eq!(refusal.to_string(), "scale is 1e20: times cache.key_scale it is more than a float holds");
    // An 8-bit cache is read with queries of either type.
    for type_ in [KVK_F16, KVK_BF16] {
        let params = kvk_attend_params { cache: cache(KVK_E4M3), type_, ..attend().params };
        Launch::Attend(Attend { params, ..attend() }).check().unwrap();
    }
}

/// flash-attention issue 2709: 4 columns of 16, and 65 keys; or 64 and one that is new.
#[test]
fn a_table_that_is_too_short_is_refused_before_the_launch() {
    let mut launch = attend();
    (launch.params.table.columns, launch.longest) = (4, 64);
    Launch::Attend(launch).check().unwrap();
    launch.longest = 64 + 1;
    let refusal = Launch::Attend(launch).check().unwrap_err();
    assert_eq!(refusal, Refusal::new("table.columns", Wrong::Columns { columns: 4, needed: 5 }));
    let said = "table.columns is 4: the longest sequence needs 5 entries of its row; export a wider table";
    assert_eq!(refusal.to_string(), said);
    // And a sequence that is longer than was said does not get past its batch.
    launch.longest = 64;
    let entry = Wrong::Entry { entry: 1, value: 65, most: 64 };
    assert_eq!(launch.check_batch(&[3, 65, 1], &[], &[]), Err(Refusal::new("lengths", entry)));
}

#[test]
fn batches() {
    let mut launch = attend();
    launch.check_batch(&[3, 0, 1024], &[], &[]).unwrap();
    let count = |field, count, must| Err(Refusal::new(field, Wrong::Count { count, must }));
    assert_eq!(launch.check_batch(&[3, 0], &[], &[]), count("lengths", 2, 3));
    (launch.params.query_starts, launch.params.query_positions, launch.query_tokens) = (at(81), at(82), 5);
    launch.check_batch(&[3, 0, 9], &[0, 2, 2, 5], &[1, 2, 3, 4, 5]).unwrap();
    assert_eq!(launch.check_batch(&[3, 0, 9], &[0, 2, 5], &[]), count("query_starts", 3, 4));
    assert_eq!(launch.check_batch(&[3, 0, 9], &[0, 2, 2, 5], &[1]), count("query_positions", 1, 5));
    let beyond = [0, 1, KVK_PLACES, 3, 4];
    let refused = launch.check_batch(&[3, 0, 9], &[0, 2, 2, 5], &beyond).expect_err("places are 31 bits");
    assert_eq!(refused.field, "query_positions");
    let most = Attend { longest: KVK_PLACES + 1, ..launch };
    assert_eq!(most.check().expect_err("so are keys").field, "longest");
    let starts = |wrong| Err(Refusal::new("query_starts", wrong));
    let descending = launch.check_batch(&[3, 0, 9], &[0, 2, 1, 5], &[]);
    assert_eq!(descending, starts(Wrong::Descending { entry: 2 }));
    assert_eq!(launch.check_batch(&[3, 0, 9], &[0, 2, 2, 6], &[]), starts(Wrong::Not { value: 6, must: 5 }));
    assert_eq!(
        launch.check_batch(&[3, 0, 9], &[1, 2, 2, 5], &[]),
        starts(Wrong::Entry { entry: 0, value: 1, most: 0 })
    );
}

#[test]
fn plans_of_something_else() {
    let split = Split::decode(8, 32, 8, 3, 1024);
    let mut words = vec![0; split.layout().unwrap().bytes as usize / 4];
    split.plan(&SplitBatch { lengths: &[1000, 3, 500], ..SplitBatch::default() }, 1, &mut words).unwrap();
    let mut launch = attend();
    launch.use_plan(&split, Address(0x1000)).unwrap();
    Launch::Attend(launch).check().unwrap();
    launch.check_plan_words(&split, &words).unwrap();

    let refused = |launch: Attend, split: &Split, words: &[u32]| launch.check_plan_words(split, words).unwrap_err();
    let not = |field, value, must| Refusal::new(field, Wrong::Not { value, must });
    let params = launch.params;
    let with = |params| Attend { params, ..launch };
    let tile = kvk_attend_params { tile_rows: KVK_PREFILL_ROWS, ..params };
    assert_eq!(refused(with(tile), &split, &words), not("split.tile_rows", 16, 64));
    let other = kvk_attend_params { thread_blocks: 9, ..params };
    assert_eq!(refused(with(other), &split, &words), not("split.thread_blocks", 8, 9));
    let window = kvk_attend_params { window_left: 7, ..params };
    assert_eq!(refused(with(window), &split, &words), not("split.window_left", 0xFFFF_FFFF, 7));
    let sequences = kvk_attend_params { sequences: 2, ..params };
    assert_eq!(refused(with(sequences), &split, &words), not("plan.sequences", 3, 2));
    let heads = kvk_attend_params { query_heads: 64, ..params };
    assert_eq!(refused(with(heads), &split, &words), not("split.query_heads", 32, 64));
    let wide = kvk_attend_params { cache: kvk_cache { head_dim: 256, ..params.cache }, ..params };
    assert_eq!(refused(with(wide), &split, &words), not("split.tile_keys", 64, 32));
    let room = |field, room, needed| Refusal::new(field, Wrong::Room { room, needed });
    let layout = split.layout().unwrap();
    let (items, joins) = (layout.items_max, layout.joins_max);
    assert_eq!(
        refused(Attend { items: items - 1, ..launch }, &split, &words),
        room("items", (items - 1).into(), items.into())
    );
    assert_eq!(refused(Attend { joins: 0, ..launch }, &split, &words), room("joins", 0, joins.into()));
    let parts = split.read(&words).unwrap().header().parts;
    assert!(parts > 0);
    assert_eq!(
        refused(Attend { parts: parts - 1, ..launch }, &split, &words),
        room("parts", (parts - 1).into(), parts.into())
    );

    // A buffer that is written too early is no plan.
    words[20] ^= 1;
    assert_eq!(refused(launch, &split, &words), Refusal::new("plan", Wrong::Plan));
    let none = Split { thread_blocks: 0, ..split };
    assert_eq!(launch.use_plan(&none, Address(0)), Err(Refusal::new("split", Wrong::Split)));
    assert_eq!([64, 80, 128, 144, 192, 256].map(key_tile), [64, 64, 64, 32, 32, 32]);
}

fn cascade() -> Cascade {
    let prefix = attend();
    let params = kvk_attend_params { output: at(90), lse: at(91), ..prefix.params };
    let suffix = Attend { params, ..prefix };
    let merge = kvk_merge_two_params {
        output_a: at(72),
        lse_a: at(73),
        output_b: at(90),
        lse_b: at(91),
        output: at(72),
        lse: at(0),
        token_stride: 2048,
        head_stride: 64,
        lse_token_stride: 32,
        tokens: 3,
        heads: 32,
        head_dim: 64,
        type_: KVK_BF16,
    };
    Cascade { prefix, suffix, merge: MergeTwo { params: merge } }
}

#[test]
fn parts_of_a_cascade() {
    cascade().check().unwrap();
    assert_eq!(cascade().launches().map(|launch| launch.name()), ["attend", "merge", "attend", "merge", "merge_two"]);
    type Change = fn(&mut Cascade);
    let not = |value: u64, must: u64| Wrong::Not { value, must };
    let cases: [(Change, &'static str, Wrong); 10] = [
        (|c| c.suffix.params.queries = at(5), "suffix.queries", not(0x500_0000, 0x4700_0000)),
        (|c| c.merge.params.output_a = at(5), "merge.output_a", not(0x500_0000, 0x4800_0000)),
        (|c| c.merge.params.lse_b = at(5), "merge.lse_b", not(0x500_0000, 0x5B00_0000)),
        (
            |c| (c.suffix.params.output, c.merge.params.output_b) = (at(72), at(72)),
            "suffix.output",
            Wrong::Shared("prefix.output"),
        ),
        (|c| (c.suffix.params.lse, c.merge.params.lse_b) = (at(73), at(73)), "suffix.lse", Wrong::Shared("prefix.lse")),
        (|c| (c.prefix.params.sinks, c.suffix.params.sinks) = (at(5), at(5)), "suffix.sinks", Wrong::NotNull),
        (|c| c.merge.params.tokens = 2, "merge.tokens", not(2, 3)),
        (|c| c.merge.params.heads = 16, "merge.heads", not(16, 32)),
        (|c| c.merge.params.token_stride = 4096, "merge.token_stride", not(4096, 2048)),
        (|c| c.prefix.longest = 2000, "table.columns", Wrong::Columns { columns: 64, needed: 125 }),
    ];
    for (change, field, wrong) in cases {
        let mut changed = cascade();
        change(&mut changed);
        assert_eq!(changed.check(), Err(Refusal::new(field, wrong)));
    }
}
