//! Published faults of other kernels, each by the report that told of it: what must come out is said here in the report's
//! own numbers, so that the reference is held to it as well as the kernel.

use kvledger_core::Refusal;
use kvledger_core::split::Split;
use kvledger_cuda::cpu::{Options, Pace};
use kvledger_cuda::launch::{self, Launch, Wrong};
use kvledger_cuda::raw::{
    KVK_FAULT_BLOCK, KVK_FAULT_TABLE, kvk_attend_params, kvk_copy_pair, kvk_copy_params, kvk_shape, kvk_table,
};
use kvledger_cuda::{BlockPool, Cpu, Device, Mover};
use kvledger_harness::kernels::case::{Attend, Blocks, CopyBlocks, Pieces};
use kvledger_harness::kernels::known;
use kvledger_harness::kernels::reference::{self, Report};
use kvledger_harness::kernels::run::{Bench, Case, PreparedAttend};
use std::sync::Arc;

fn bench() -> Bench {
    let device: Arc<dyn Device> = Cpu::open(Options { pace: Pace::AtOnce, ..Options::default() });
    Bench::open(&device).expect("a stream")
}

/// What the reference says, after the device has said the same.
fn attended(case: &Attend) -> reference::Attended {
    let expected = reference::attend(case);
    Case::Attend(Box::new(case.clone())).run(&bench()).unwrap_or_else(|wrong| panic!("{}: {wrong}", case.title));
    expected
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-6 * expected.abs().max(1.0)
}

/// vllm#641, mended by #936.
#[test]
fn case_1_unused_slots_of_the_last_block_are_nan() {
    let case = known::unused_slots();
    assert_eq!(case.lengths, [17]);
    // All of the pool that is not written is NaN: the other slots too.
    assert_eq!(case.pool.contents.len(), 17);
    let attended = attended(&case);
    assert!(attended.output.iter().all(|value| near(*value, 1.0)), "{:?}", attended.output);
    assert!(near(attended.lse[0], 17f64.ln()));
}

/// vllm#1486, mended by #1514.
#[test]
fn case_2_blocks_beyond_32_bits_of_elements() {
    let (append, attend) = known::far_block();
    let elements = append.pool.shape.elements_total();
    assert!(elements > 4 << 30 && append.slots[0].0 == 599_999, "{elements}");
    assert!(append.pool.shape.layout.block_stride * 599_999 > 1 << 31);
    // It looks at the block that 32 bits would lead to, too.
    Case::Append(append).run(&bench()).unwrap_or_else(|wrong| panic!("{wrong}"));
    attended(&attend);
}

/// flashinfer#4051.
#[test]
fn case_4_nothing_joined_with_something() {
    let case = known::nothing_and_something();
    let joined = reference::merge_two(&case);
    let rows: Vec<_> = joined.rows.iter().flatten().collect();
    assert_eq!(rows[0].lse, f64::NEG_INFINITY);
    assert!(rows[0].output.iter().all(|value| *value == 0.0));
    assert!(rows[1].lse == 1.25 && rows[2].lse == 1.25);
    Case::MergeTwo(case).run(&bench()).unwrap_or_else(|wrong| panic!("{wrong}"));
}

/// flashinfer#4051, three of them: parts of one plan of which none has a key.
#[test]
fn case_4_three_parts_of_nothing() {
    let mut merge = (0..).find_map(|seed| match kvledger_harness::kernels::make::case(kernel("merge"), seed) {
        Case::Merge(merge) if merge.parts.logs.len() > 48 && merge.sinks.is_empty() => Some(merge),
        _ => None,
    });
    let merge = merge.as_mut().expect("there are such seeds");
    merge.parts.logs.fill(f32::NEG_INFINITY);
    merge.parts.output.fill(f32::NAN);
    Case::Merge(merge.clone()).run(&bench()).unwrap_or_else(|wrong| panic!("{wrong}"));
}

fn kernel(name: &str) -> kvledger_harness::kernels::make::Kernel {
    name.parse().expect("a kernel")
}

/// flashinfer#4450.
#[test]
fn case_6_very_low_scores_are_scores() {
    let case = known::very_low_scores();
    let attended = attended(&case);
    // Nine keys of equal weight, and values 0 to 8.
    assert!(attended.output.iter().all(|value| near(*value, 4.0)));
    assert!(near(attended.lse[0], -80_000.0 + 9f64.ln()), "{}", attended.lse[0]);
}

/// flashinfer#4975, and #363.
#[test]
fn case_7_a_sequence_without_keys_is_written() {
    let case = known::a_row_between_without_keys();
    assert_eq!(case.lengths, [3, 0, 5]);
    let attended = attended(&case);
    assert!(attended.output[64..128].iter().all(|value| *value == 0.0));
    assert_eq!(attended.lse[1], f64::NEG_INFINITY);
    for (row, length) in [(0, 3), (2, 5)] {
        let alone = Attend { lengths: vec![length], ..row_of(&case, row) };
        assert_eq!(reference::attend(&alone).output, attended.output[row * 64..(row + 1) * 64]);
    }
}

/// One row of a batch, by itself.
fn row_of(case: &Attend, row: usize) -> Attend {
    let mut alone = case.clone();
    alone.queries = case.queries[row * 64..(row + 1) * 64].to_vec();
    alone.table.rows = vec![case.table.rows[row].clone()];
    alone
}

/// flashinfer#350.
#[test]
fn case_8_the_cap_is_before_the_mask() {
    let attended = attended(&known::cap_before_mask());
    assert!(attended.output.iter().all(|value| value.abs() < 10.0), "a trace of 10,000: {:?}", attended.output);
}

/// flashinfer#726; the plan by itself, over ten thousand batches, is a test of the core.
#[test]
fn case_10_many_sequences_without_keys() {
    let case = known::many_without_keys();
    let split = Split { query_tokens_max: 120, ..Split::decode(8, 40, 20, 24, 5) };
    assert_eq!(case.split, split, "exactly the room of the bound");
    let attended = attended(&case);
    let without = attended.lse.iter().filter(|lse| **lse == f64::NEG_INFINITY).count();
    assert_eq!(without, 23 * 5 * 40);
}

/// pytorch#194167.
#[test]
fn case_12_splits_make_no_difference() {
    let [one, two] = [1, 2].map(known::pages_of_256);
    assert_eq!(one.pool.contents, two.pool.contents);
    let parts = |case: &Attend| PreparedAttend::put(&bench(), case).expect("a device").header().parts;
    assert_eq!((parts(&one), parts(&two)), (0, 2 * 2 * 4), "two sequences of four heads in two parts each");
    assert_eq!(attended(&one), attended(&two));
}

/// flash-attention#2709, mended by #2711: it is refused by name, and where a caller insists, reported and not read.
#[test]
fn case_13_a_table_that_is_too_short() {
    let case = known::table_too_short();
    assert_eq!((case.lengths[0], case.table.columns, case.pool.shape.block_tokens), (65, 4, 16));
    let bench = bench();
    let prepared = PreparedAttend::put(&bench, &case).expect("a device");
    for longest in [65, 80] {
        let [Launch::Attend(attend), _] = prepared.launches(&case) else { panic!("two launches") };
        let refusal = launch::Attend { longest, ..attend }.check().expect_err("too short");
        assert_eq!((refusal.field, refusal.wrong), ("table.columns", Wrong::Columns { columns: 4, needed: 5 }));
        assert!(refusal.to_string().contains("export a wider table"), "{refusal}");
    }
    // The memory of the table ends with its fourth entry: whoever reads a fifth one faults.
    assert_eq!(case.table.entries().len(), 4);
    let report = attended(&case).report;
    assert_eq!(report, Report { faults: KVK_FAULT_TABLE, first: 64 });
}

/// rocm-libraries#6932.
#[test]
fn case_15_a_table_of_exactly_its_entries() {
    let case = known::table_of_exactly_its_entries();
    assert_eq!((case.lengths[0], case.pool.shape.block_tokens, case.table.entries().len()), (2_048, 1_024, 2));
    assert_eq!(attended(&case).report, Report::NOTHING);
}

/// vllm#45462.
#[test]
fn case_16_a_gather_past_the_table() {
    let case = known::gather_past_the_table();
    assert_eq!(case.table.entries().len(), 2 * 1_024, "the last row ends with the memory");
    let gathered = reference::gather(&case);
    assert_eq!(gathered.report, Report { faults: KVK_FAULT_TABLE, first: 16_384 });
    let inside = (16_384 - 15_967) * 64;
    assert!(gathered.keys[..inside].iter().any(|bits| *bits != 0));
    assert!(gathered.keys[inside..].iter().chain(&gathered.values[inside..]).all(|bits| *bits == 0));
    Case::Gather(case).run(&bench()).unwrap_or_else(|wrong| panic!("{wrong}"));
}

/// TensorRT-LLM#9056, vllm-ascend#16013: what two pairs write, and what one writes and another reads.
#[test]
fn case_18_lists_of_copies_that_depend_on_their_order() {
    let refused = |pairs: &[(u32, u32)]| {
        let pair = |(source, destination): &(u32, u32)| kvk_copy_pair {
            source: *source,
            destination: *destination,
            tokens: 1,
            reserved: 0,
        };
        let pairs: Vec<_> = pairs.iter().map(pair).collect();
        let shape = kvk_shape { block_stride: 16, piece_stride: 16, token_bytes: 16, pieces: 1, block_tokens: 1 };
        let params = kvk_copy_params {
            source_shape: shape,
            destination_shape: shape,
            pair_count: pairs.len() as u32,
            ..Default::default()
        };
        launch::CopyBlocks { params, source_blocks: 9, destination_blocks: 9 }
            .check_pairs(&pairs)
            .map_err(|why| why.wrong)
    };
    assert_eq!(refused(&[(3, 7), (5, 7)]), Err(Wrong::Twice { first: 0, second: 1 }));
    assert_eq!(refused(&[(1, 2), (2, 3)]), Err(Wrong::Ordered { writer: 0, reader: 1 }));
    assert_eq!(refused(&[(1, 2), (2, 1)]), Err(Wrong::Ordered { writer: 1, reader: 0 }));
    assert_eq!(refused(&[(1, 2), (3, 4)]), Ok(()));
}

/// And what they must come to: the reference reads everything before it writes anything.
#[test]
fn case_18_all_copies_read_what_was_there_before() {
    let pieces = Pieces { block_stride: 16, piece_stride: 16, token_bytes: 16, pieces: 1, block_tokens: 1 };
    let bytes = (0..64u8).map(|byte| byte / 16).collect();
    let blocks = Blocks { pieces, count: 3, bytes };
    let after = |pairs: &[(u32, u32)]| {
        let pairs = pairs.iter().map(|(from, to)| (*from, *to, 1)).collect();
        let case =
            CopyBlocks { title: String::new(), source: blocks.clone(), destination: None, pairs, pinned: [false; 2] };
        reference::copy_blocks(&case).chunks(16).map(|block| block[0]).collect::<Vec<u8>>()
    };
    assert_eq!(after(&[(1, 2), (2, 3)]), [0, 1, 1, 2]);
    assert_eq!(after(&[(1, 2), (2, 1)]), [0, 2, 1, 3]);
}

/// And what a device makes of them: whoever copies through a `Mover` gets just that, in as many launches as it takes.
#[test]
fn case_18_a_device_copies_all_at_once() {
    let bench = bench();
    let shape = kvk_shape { block_stride: 16, piece_stride: 16, token_bytes: 16, pieces: 1, block_tokens: 1 };
    let mut mover = Mover::new(bench.device(), 8).expect("a device");
    let mut after = |pairs: &[(u32, u32)], spare: Option<u32>| {
        let bytes: Vec<u8> = (0..80u8).map(|byte| byte / 16).collect();
        let pool = BlockPool::new(bench.holding(&bytes).expect("memory"), shape, 4).expect("a pool");
        let pair = |&(source, destination): &(u32, u32)| kvk_copy_pair { source, destination, tokens: 1, reserved: 0 };
        let pairs: Vec<_> = pairs.iter().map(pair).collect();
        mover.copy(bench.stream(), &pool, &pool, &pairs, spare).map_err(|error| error.to_string())?;
        let bytes: Vec<u8> = bench.read(pool.memory(), 80).expect("memory");
        Ok::<_, String>([bytes[16], bytes[32], bytes[48]])
    };
    assert_eq!(after(&[(1, 2), (2, 3)], None), Ok([1, 1, 2]));
    assert_eq!(after(&[(1, 2), (2, 1)], Some(4)), Ok([2, 1, 3]));
    let refused = |answer: Result<[u8; 3], String>| answer.expect_err("it is refused");
    assert!(refused(after(&[(1, 2), (2, 1)], None)).contains("spare"));
    assert!(refused(after(&[(1, 3), (2, 3)], None)).contains("write to the same place"));
}

/// Ids that are no block of the pool: below, above, far above. Reported with the first place, and nothing else changes.
#[test]
fn ids_of_no_block_are_reported_and_masked() {
    for bad in [0, u32::MAX, u32::MAX / 2, 1_000] {
        let mut case = known::unused_slots();
        case.table.rows[0][0] = bad;
        let attended = attended(&case);
        // One key is left, the seventeenth.
        assert!(attended.output.iter().all(|value| near(*value, 1.0)) && near(attended.lse[0], 0.0));
        assert_eq!(attended.report, Report { faults: KVK_FAULT_BLOCK, first: 0 }, "id {bad}");
    }
}

/// The structures of a plan in the core are those of the kernels.
#[test]
fn a_plan_of_the_core_is_what_kernels_read() {
    use kvledger_core::split::{DECODE_ROWS, PREFILL_ROWS, SplitItem, SplitJoin, WHOLE};
    use kvledger_cuda::raw;
    use std::mem::{offset_of, size_of};
    assert_eq!(size_of::<SplitItem>(), size_of::<raw::kvk_item>());
    assert_eq!(size_of::<SplitJoin>(), size_of::<raw::kvk_join>());
    macro_rules! same {
        ($ours:ident, $theirs:ident, $($field:ident),*) => {
            $(assert_eq!(offset_of!($ours, $field), offset_of!(raw::$theirs, $field), stringify!($field));)*
        };
    }
    same!(SplitItem, kvk_item, sequence, head, first_row, first_key, end_key, part);
    same!(SplitJoin, kvk_join, sequence, head, first_row, first_part, count);
    assert_eq!((DECODE_ROWS, PREFILL_ROWS, WHOLE), (raw::KVK_DECODE_ROWS, raw::KVK_PREFILL_ROWS, raw::KVK_WHOLE));
    assert_eq!(kvk_attend_params::default().table.columns, kvk_table::default().columns);
    assert!(matches!(Split::decode(0, 0, 1, 1, 1).check(), Err(Refusal::Invalid { .. })));
}
