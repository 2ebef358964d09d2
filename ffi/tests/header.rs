//! The header says what the Rust side is: sizes, offsets and numbers are compared by a C and a C++ compiler, in the
//! strictest mode that each has. The names of the functions are compared by `gate.py`.

use kvledger_core::identity::{Identity, IdentityKey};
use kvledger_core::plan::{Budget, Ratio, Usage};
use kvledger_core::ranks::Digest;
use kvledger_core::recorder::RingState;
use kvledger_core::split::{
    DECODE_ROWS, PREFILL_ROWS, SPLIT_VERSION, Split, SplitCounts, SplitHeader, SplitItem, SplitJoin, SplitLayout, WHOLE,
};
use kvledger_core::{
    Account, AccountSnapshot, Admitted, Advanced, Batch, CopyOrder, Counts, EventCursor, EventsRead, Forked, Found,
    GroupSnapshot, Offloaded, PoolConfig, Published, Refusal, Released, RowView, Scope, Sequence, SequenceSnapshot,
    Snapshot, Step, Stream, StreamSet, Transfer, Window, version,
};
use kvledger_ffi::{
    FAULT_TEXT_BYTES, FREE_BLOCKS_BYTES, Grows, HINT_ANY, HINT_OPENS, JOINTS_MAX, KvlAdmission, KvlBlockPair,
    KvlDecision, KvlDomain, KvlEvent, KvlFault, KvlFreeBlocks, KvlFreeCursor, KvlGeometry, KvlJoint, KvlPool,
    KvlPrefix, KvlProposal, KvlRank, KvlRefusal, KvlSplitBatch, KvlSplitFault, KvlVote, POOL_BYTES, RANK_BYTES,
    WithSize,
};
use std::fmt::Write;
use std::mem::{align_of, offset_of, size_of};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Asserts on one structure: its size and alignment, and where each field is. `size`: it can grow, and begins with its
/// size, which the fields of the Rust side are behind.
macro_rules! layout {
    ($out:expr, size, $rust:ty as $c:literal { $($field:ident),* }) => {{
        require(&mut $out, &format!("sizeof({}) == {}", $c, size_of::<WithSize<$rust>>()));
        require(&mut $out, &format!("KVL_ALIGNOF({}) == {}", $c, align_of::<WithSize<$rust>>()));
        require(&mut $out, &format!("offsetof({}, size) == 0", $c));
        let fields = offset_of!(WithSize<$rust>, fields);
        $(require(
            &mut $out,
            &format!("offsetof({}, {}) == {}", $c, stringify!($field), fields + offset_of!($rust, $field)),
        );)*
        // A field that came into padding later would be read from what an older caller never set.
        let reserved = size_of::<<$rust as Grows>::Reserved>();
        let listed = fields + reserved $(+ bytes(|whole: &$rust| &whole.$field))*;
        if reserved > 0 {
            require(&mut $out, &format!("offsetof({}, reserved) == {}", $c, fields + size_of::<$rust>()));
        }
        assert_eq!(listed, size_of::<WithSize<$rust>>(), "{}: padding, or a field that is not compared", $c);
    }};
    ($out:expr, $rust:ty as $c:literal { $($field:ident),* }) => {
        require(&mut $out, &format!("sizeof({}) == {}", $c, size_of::<$rust>()));
        require(&mut $out, &format!("KVL_ALIGNOF({}) == {}", $c, align_of::<$rust>()));
        $(require(&mut $out, &format!("offsetof({}, {}) == {}", $c, stringify!($field), offset_of!($rust, $field)));)*
    };
}

/// Of a field.
fn bytes<T, F>(_: impl Fn(&T) -> &F) -> usize {
    size_of::<F>()
}

fn require(out: &mut String, condition: &str) {
    writeln!(out, "static_assert({condition}, \"{condition}\");").expect("a string takes all");
}

fn structures() -> String {
    let mut out = String::new();
    layout!(out, KvlRefusal as "kvl_refusal" {
        code, argument, scope, place, short_by, reclaimable, needed, ceiling, after
    });
    layout!(out, size, PoolConfig as "kvl_pool_config" {
        number, blocks, safety, block_tokens, sequences, table_width, rows, accounts, groups, streams, epochs,
        cache, token_check, transfers, events
    });
    layout!(out, KvlPool as "kvl_pool" {});
    layout!(out, Sequence as "kvl_sequence" { slot, pool, generation });
    layout!(out, Account as "kvl_account" { slot, pool, generation });
    layout!(out, size, KvlAdmission as "kvl_admission" {
        prompt_tokens, output_tokens_max, speculative_tokens, window, promise, promise_blocks, group, watermark,
        streams, account
    });
    layout!(out, Window as "kvl_window" { tokens, steps_in_flight, chunk_tokens });
    layout!(out, Admitted as "kvl_admitted" { promised, hits, cached_tokens, after });
    layout!(out, Advanced as "kvl_advanced" { taken, entries, copies });
    layout!(out, Step as "kvl_step" { sequence, tokens });
    layout!(out, Batch as "kvl_batch" { advanced, refused, changed, taken, copies, retry_after });
    layout!(out, Released as "kvl_released" { promised, free, retiring, after });
    layout!(out, RowView as "kvl_row_view" { row, entries, tokens, version });
    layout!(out, Counts as "kvl_pool_counts" { blocks, committed, promised_and_safety, headroom });
    layout!(out, size, Snapshot as "kvl_pool_snapshot" {
        blocks, committed, held, retiring, quarantined, idle, free, promised, safety, sequences, cancelled, exact,
        tokens, padding_tokens, entries, newest_epoch, frontier, failed_epochs, release_number
    });
    layout!(out, size, SequenceSnapshot as "kvl_sequence_state" {
        tokens, held, entries, promised, group, row, row_version, admitted, cancelled
    });
    layout!(out, size, GroupSnapshot as "kvl_group_state" { used, quota, committed, promised, idle });
    layout!(out, size, AccountSnapshot as "kvl_account_state" { total, balance, sequences });
    layout!(out, Identity as "kvl_identity" { low, high });
    require(&mut out, &format!("sizeof(kvl_identity_key) == {}", size_of::<IdentityKey>()));
    layout!(out, size, KvlDomain as "kvl_domain" { group, reserved, adapter, modality, salt, salt_bytes });
    layout!(out, RingState as "kvl_ring_state" { written, capacity, lost, dump_words });
    layout!(out, KvlFault as "kvl_fault" { invariant, what, expected, found });
    layout!(out, size, KvlGeometry as "kvl_geometry" {
        layers, kv_heads, key_dim, value_dim, block_tokens, block_align_bytes, element, scale_grain, scale_bytes,
        scale_group
    });
    layout!(out, Ratio as "kvl_ratio" { numerator, denominator });
    layout!(out, Usage as "kvl_usage" { bound, current, peak });
    layout!(out, Budget as "kvl_budget" {});
    layout!(out, KvlFreeBlocks as "kvl_free_blocks" {});
    layout!(out, KvlFreeCursor as "kvl_free_cursor" {});
    out
}

/// What several requests share, and what others hear of it.
fn shared_structures() -> String {
    let mut out = String::new();
    layout!(out, size, KvlPrefix as "kvl_prefix" { identities, count, tokens, token_count, unfinished, blocks_max });
    layout!(out, Found as "kvl_found" { blocks, priced, after });
    layout!(out, Published as "kvl_published" { stored, known });
    layout!(out, Forked as "kvl_forked" { shared, promised, after });
    layout!(out, CopyOrder as "kvl_copy" { source, destination, slots, after });
    layout!(out, KvlJoint<'_> as "kvl_joint" { pool, sequence, admission, prefix });
    layout!(out, Transfer as "kvl_transfer" { slot, pool, generation });
    layout!(out, KvlBlockPair as "kvl_block_pair" { source, destination });
    layout!(out, Offloaded as "kvl_offloaded" { transfer, blocks, released });
    layout!(out, KvlEvent as "kvl_event" { number, kind, block, group, identity });
    layout!(out, EventCursor as "kvl_event_cursor" { next });
    layout!(out, EventsRead as "kvl_events_read" { count, dropped });
    layout!(out, KvlProposal<'_> as "kvl_proposal" { number, admission, cached_tokens_max });
    layout!(out, KvlVote as "kvl_vote" { number, rank, needed, cached_tokens, headroom, refusal, after });
    layout!(out, KvlDecision as "kvl_decision" { number, commit, cached_tokens, headroom, reserved, refusal });
    layout!(out, KvlRank as "kvl_rank" {});
    layout!(out, Digest as "kvl_digest" { number, held, promised, safety });
    out
}

/// What a device reads of a split plan, and what it is made of.
fn split_structures() -> String {
    let mut out = String::new();
    layout!(out, size, Split as "kvl_split" {
        heads, query_heads, tile_rows, tile_keys, window_left, chunk_keys, thread_blocks, overhead_tiles, sequences_max,
        query_tokens_max, keys_max
    });
    layout!(out, size, KvlSplitBatch as "kvl_split_batch" {
        lengths, query_starts, query_positions, begins, ends, sequences, query_positions_count
    });
    layout!(out, SplitItem as "kvl_split_item" { sequence, head, first_row, first_key, end_key, part });
    layout!(out, SplitJoin as "kvl_split_join" { sequence, head, first_row, first_part, count, reserved });
    layout!(out, SplitHeader as "kvl_split_header" {
        version, checksum, generation, words, items, joins, parts, sequences, chunk_keys, thread_blocks, tile_rows,
        tile_keys, heads, items_max, joins_max, parts_max
    });
    layout!(out, size, SplitLayout as "kvl_split_places" {
        bytes, item_starts, items, joins, join_count, items_max, joins_max, parts_max, row_tiles_max
    });
    layout!(out, size, SplitCounts as "kvl_split_counts" { items, joins, parts, row_tiles, cost_max, cost });
    layout!(out, KvlSplitFault as "kvl_split_fault" { what, index, reserved, expected, found });
    require(&mut out, &format!("KVL_SPLIT_VERSION == {SPLIT_VERSION}u"));
    require(&mut out, &format!("KVL_SPLIT_DECODE_ROWS == {DECODE_ROWS}u"));
    require(&mut out, &format!("KVL_SPLIT_PREFILL_ROWS == {PREFILL_ROWS}u"));
    require(&mut out, &format!("KVL_SPLIT_WHOLE == {WHOLE}u"));
    out
}

/// The numbered variants of a Rust enumeration, from its source: a new one is seen without anybody adding it here.
fn variants(source: &str, name: &str) -> Vec<(String, String)> {
    let start = source.find(&format!("pub enum {name} {{")).unwrap_or_else(|| panic!("{name} is not there"));
    let body = &source[start..start + source[start..].find("\n}").expect("an enumeration ends")];
    let numbered = body.lines().filter_map(|line| line.trim().strip_suffix(',')?.split_once(" = "));
    numbered.map(|(variant, number)| (screaming(variant), number.to_string())).collect()
}

/// `TableWidth` is `TABLE_WIDTH` in C.
fn screaming(variant: &str) -> String {
    let mut name = String::new();
    for letter in variant.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

fn numbers() -> String {
    let answers = include_str!("../../core/src/answer.rs");
    let elements = include_str!("../../core/src/plan/element.rs");
    let enumerations = [
        (answers, "Argument", "ARGUMENT", 40),
        (answers, "Scope", "SCOPE", 2),
        (answers, "Place", "PLACE", 2),
        (elements, "Element", "ELEMENT", 7),
        (elements, "Grain", "GRAIN", 7),
        (include_str!("../../core/src/plan/budget.rs"), "Region", "REGION", 7),
        (include_str!("../../core/src/config.rs"), "Cache", "CACHE", 4),
        (include_str!("../../core/src/transfers/mod.rs"), "Access", "ACCESS", 2),
        (include_str!("../../core/src/events/mod.rs"), "EventKind", "EVENT", 3),
        (include_str!("../../core/src/ranks/digest.rs"), "Difference", "DIFFERENCE", 4),
    ];
    let mut out = String::new();
    for (source, name, in_c, at_least) in enumerations {
        let found = variants(source, name);
        assert!(found.len() >= at_least, "{name}: {} variants found", found.len());
        for (variant, number) in found {
            require(&mut out, &format!("KVL_{in_c}_{variant} == {number}"));
        }
    }
    out
}

fn statuses() -> String {
    let invalid = kvledger_core::PoolConfig::new(0, 0, 0, 0).check().expect_err("no blocks");
    let statuses = [
        ("WOULD_BLOCK", Refusal::WouldBlock { short_by: 0, scope: Scope::Pool }.code()),
        ("RETRY_AFTER", Refusal::RetryAfter { after: kvledger_core::Epoch::NONE, reclaimable: 0 }.code()),
        ("NEVER_FITS", Refusal::NeverFits { needed: 0, ceiling: 0 }.code()),
        ("OVER_PROMISE", Refusal::OverPromise { short_by: 0 }.code()),
        ("CANCELLED", Refusal::Cancelled.code()),
        ("STALE", Refusal::Stale.code()),
        ("INVALID", invalid.code()),
        ("FULL", Refusal::Full.code()),
        ("BUSY", Refusal::Busy.code()),
        ("CORRUPT", Refusal::Corrupt { place: kvledger_core::Place::Table }.code()),
    ];
    let mut out = String::new();
    for (name, number) in statuses {
        require(&mut out, &format!("KVL_{name} == {number}"));
    }
    require(&mut out, "KVL_OK == 0");
    require(&mut out, &format!("KVL_VERSION == {}", version()));
    require(&mut out, &format!("KVL_POOL_BYTES == {POOL_BYTES}"));
    require(&mut out, &format!("KVL_FAULT_TEXT_BYTES == {FAULT_TEXT_BYTES}"));
    require(&mut out, &format!("KVL_REGIONS == {}", kvledger_core::plan::REGIONS));
    require(&mut out, &format!("KVL_MEMORY_ALIGN == {}", align_of::<kvledger_core::Line>()));
    require(&mut out, &format!("KVL_FREE_BLOCKS_BYTES == {FREE_BLOCKS_BYTES}"));
    require(&mut out, &format!("KVL_RANK_BYTES == {RANK_BYTES}"));
    require(&mut out, &format!("KVL_JOINTS_MAX == {JOINTS_MAX}"));
    require(&mut out, &format!("KVL_HINT_ANY == {HINT_ANY}u"));
    require(&mut out, &format!("KVL_HINT_OPENS == {HINT_OPENS}u"));
    out
}

/// The macro for one stream against the operation that C does without, and the set of all.
fn stream_sets() -> String {
    let mut out = String::new();
    require(&mut out, &format!("KVL_STREAMS_ALL == {}u", StreamSet::ALL.0));
    for stream in [0, 1, 31, 32, 63, 64, 65, 1 << 31, u32::MAX] {
        require(&mut out, &format!("KVL_STREAMS_ONE({stream}u) == {}u", StreamSet::one(Stream(stream)).0));
    }
    let both = StreamSet::one(Stream(3)).with(StreamSet::one(Stream(40)));
    require(&mut out, &format!("(KVL_STREAMS_ONE(3) | KVL_STREAMS_ONE(40)) == {}u", both.0));
    require(&mut out, "KVL_STREAMS_ONE(-1) == 0");
    require(&mut out, "KVL_STREAMS_ONE(UINT64_C(1) << 32) == 0");
    out
}

/// What the compiler says to this text; empty if it takes it without a word. Users warn of more than the usual: what is in
/// headers is told them as theirs.
fn complaints(compiler: &str, language: &str, standard: &str, text: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // Tests run side by side: each text has a file of its own.
    static TEXTS: AtomicU32 = AtomicU32::new(0);
    let file = folder.join(format!("header-{}.c", TEXTS.fetch_add(1, Ordering::Relaxed)));
    std::fs::write(&file, text).expect("the folder for temporary files can be written to");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let output = Command::new(compiler)
        .args(["-x", language, standard, "-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Wshadow", "-Werror"])
        .args((language == "c++").then_some(["-Wold-style-cast", "-Wsign-conversion"]).into_iter().flatten())
        .args(["-fsyntax-only", "-I"])
        .args([&include, &file])
        .output()
        .unwrap_or_else(|error| panic!("{compiler} does not start: {error}"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { said } else { said + "refused" }
}

fn both(text: &str) -> [String; 2] {
    let program = format!(
        "#include <kvledger.h>\n#include <assert.h>\n#ifdef __cplusplus\n#define KVL_ALIGNOF(t) alignof(t)\n\
         #else\n#define KVL_ALIGNOF(t) _Alignof(t)\n#endif\n{text}\nint kvl_used;\n"
    );
    [complaints("cc", "c", "-std=c11", &program), complaints("c++", "c++", "-std=c++17", &program)]
}

#[test]
fn the_header_is_clean_c11_and_cpp17() {
    assert_eq!(both(""), ["", ""]);
}

/// As those include it who take it for a header of C alone.
#[test]
fn the_header_may_be_included_as_c() {
    let text = "extern \"C\" {\n#include <kvledger.h>\n}\nint kvl_used = KVL_SIZED(kvl_split).size == 0;\n";
    assert_eq!(complaints("c++", "c++", "-std=c++17", text), "");
}

/// What the macros and the templates become where they are used.
#[test]
fn the_wrapper_is_clean_where_it_is_used() {
    let text = "#include <kvledger.hpp>\nuint64_t streams(int stream) { return KVL_STREAMS_ONE(stream) | KVL_STREAMS_ALL; }\n\
         bool use(const kvledger::Pool &pool) { return pool.open() && pool.snapshot() && pool.complete(0, 1, true); }\n";
    for standard in ["-std=c++17", "-std=c++20"] {
        assert_eq!(complaints("c++", "c++", standard, text), "");
    }
}

#[test]
fn the_parts_of_the_header_are_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/kvledger");
    let parts = std::fs::read_dir(folder).expect("the header has parts");
    let names = parts.map(|part| part.expect("a file").path().file_stem().map(|name| name.display().to_string()));
    let names: Vec<String> = names.map(|name| name.expect("a name")).collect();
    assert!(names.len() > 10, "{names:?}");
    let whole = include_str!("../include/kvledger.h");
    for part in names {
        assert!(whole.contains(&format!("#include \"kvledger/{part}.h\"")), "kvledger.h leaves {part}.h out");
        let text = format!("#include <kvledger/{part}.h>\nint kvl_used;\n");
        assert_eq!(complaints("cc", "c", "-std=c11", &text), "", "{part}");
        assert_eq!(complaints("c++", "c++", "-std=c++17", &text), "", "{part}");
    }
}

#[test]
fn structures_have_the_same_layout() {
    assert_eq!(both(&structures()), ["", ""]);
    assert_eq!(both(&shared_structures()), ["", ""]);
    assert_eq!(both(&split_structures()), ["", ""]);
}

#[test]
fn numbers_are_the_same() {
    assert_eq!(both(&numbers()), ["", ""]);
    assert_eq!(both(&statuses()), ["", ""]);
    assert_eq!(both(&stream_sets()), ["", ""]);
}

/// The net catches: a size that is not so is refused by both compilers.
#[test]
fn a_wrong_layout_is_seen() {
    let mut wrong = String::new();
    require(&mut wrong, "sizeof(kvl_sequence) == 17");
    assert!(both(&wrong).iter().all(|said| said.contains("kvl_sequence")));
}
