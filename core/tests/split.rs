//! Split plans by hand: small batches whose plans can be written down, what a device may rely on, and what is refused.

#[path = "common/split.rs"]
#[allow(dead_code, reason = "not every test program needs all of it")]
mod common;

use common::{Arrays, Rng, planned, words};
use kvledger_core::split::{Split, SplitBatch, SplitItem, SplitJoin, SplitLayout, WHOLE};
use kvledger_core::{Argument, Refusal};

/// Two key-value heads of eight query heads each, three thread blocks, up to 4 sequences of 1,024 keys.
const SMALL: Split = Split { overhead_tiles: 1, ..Split::decode(2, 16, 3, 4, 1_024) };

fn item(sequence: u32, head: u32, keys: std::ops::Range<u32>, part: u32) -> SplitItem {
    SplitItem { sequence, head, first_row: 0, first_key: keys.start, end_key: keys.end, part }
}

#[test]
fn shares_are_equal_and_contiguous() {
    // One sequence of 10 key tiles, one of one key, one of none: 10 + 1 + 0 tiles and an overhead of 3, for two heads.
    let arrays = Arrays::of_lengths(&[640, 1, 0]);
    let words = planned(&SMALL, &arrays);
    let plan = SMALL.read(&words).expect("it was just made");
    // 28 in all: 10 for each of three thread blocks, and one more to pay a cut with.
    let by_thread_block = [0, 1, 2].map(|thread_block| plan.items_of(thread_block).collect::<Vec<_>>());
    let [first, second, third] = by_thread_block;
    assert_eq!(first, [item(0, 0, 0..640, WHOLE)]);
    assert_eq!(second, [item(0, 1, 0..640, WHOLE)]);
    assert_eq!(
        third,
        [item(1, 0, 0..1, WHOLE), item(1, 1, 0..1, WHOLE), item(2, 0, 0..0, WHOLE), item(2, 1, 0..0, WHOLE)]
    );
    assert_eq!((plan.header().items, plan.header().joins, plan.header().parts), (6, 0, 0));
    assert_eq!(plan.items_of(3).count() + plan.items_of(u32::MAX).count(), 0);
}

#[test]
fn what_is_cut_is_joined() {
    let split = Split { heads: 1, query_heads: 8, ..SMALL };
    let words = planned(&split, &Arrays::of_lengths(&[1_024, 130]));
    let plan = split.read(&words).expect("it was just made");
    // 16 and 3 tiles, two overheads: 21, so 7 for each and one for the cut.
    let expected =
        [item(0, 0, 0..448, 0), item(0, 0, 448..896, 1), item(0, 0, 896..1_024, 2), item(1, 0, 0..130, WHOLE)];
    assert!(plan.items().eq(expected));
    let join = SplitJoin { sequence: 0, head: 0, first_row: 0, first_part: 0, count: 3, reserved: 0 };
    assert!(plan.joins().eq([join]));
    assert_eq!(plan.header().parts, 3);
    assert_eq!([0, 1, 2].map(|thread_block| plan.items_of(thread_block).count()), [1, 1, 2]);
}

#[test]
fn the_fixed_mode_cuts_at_its_chunks_and_nowhere_else() {
    let split = Split { heads: 1, query_heads: 8, chunk_keys: 256, ..SMALL };
    let words = planned(&split, &Arrays::of_lengths(&[256, 257, 0]));
    let plan = split.read(&words).expect("it was just made");
    let expected = [item(0, 0, 0..256, WHOLE), item(1, 0, 0..256, 0), item(1, 0, 256..257, 1), item(2, 0, 0..0, WHOLE)];
    assert!(plan.items().eq(expected));
}

/// What no row of a tile sees is in no item: keys out of the window of its first token, and after its last one.
#[test]
fn windows_and_causal_ends_are_skipped_to_the_key() {
    // 40 tokens of 8 heads are 320 rows: five tiles of 64 rows, which are 8 tokens.
    let split = Split { window_left: 99, thread_blocks: 1, ..Split::prefill(1, 8, 1, 1, 40, 1_024) };
    let words = planned(&split, &Arrays { lengths: vec![500], query_starts: vec![0, 40], ..Arrays::default() });
    let keys: Vec<_> = split.read(&words).expect("a plan").items().map(|item| (item.first_key, item.end_key)).collect();
    // The first token is at 460, so it sees 361..=460; its tile's last one is at 467.
    assert_eq!(keys, [(361, 468), (369, 476), (377, 484), (385, 492), (393, 500)]);
}

/// Prefix and suffix of a cascade are two plans of one batch: together each key once.
#[test]
fn begins_and_ends_are_of_the_keys_and_not_of_the_places() {
    let (lengths, shared) = (vec![300, 513], vec![256, 256]);
    let prefix = Arrays { lengths: lengths.clone(), ends: shared.clone(), ..Arrays::default() };
    let suffix = Arrays { lengths, begins: shared, ..Arrays::default() };
    let split = Split { thread_blocks: 1, heads: 1, query_heads: 1, ..SMALL };
    let keys = |arrays: &Arrays| {
        let words = planned(&split, arrays);
        split.read(&words).expect("a plan").items().map(|item| item.first_key..item.end_key).collect::<Vec<_>>()
    };
    assert_eq!(keys(&prefix), [0..256, 0..256]);
    assert_eq!(keys(&suffix), [256..300, 256..513]);
}

/// A captured graph has these addresses in it: they are of the shape, whatever the batch is.
#[test]
fn arrays_are_where_the_layout_says() {
    let layout = SMALL.layout().expect("a good shape");
    let expected = SplitLayout {
        bytes: 448,
        item_starts: 64,
        items: 128,
        joins: 384,
        join_count: 20,
        items_max: 8 + 2,
        joins_max: 2,
        parts_max: 4,
        row_tiles_max: 8,
    };
    assert_eq!(layout, expected);
    let words = planned(&SMALL, &Arrays::of_lengths(&[1_024, 514, 0, 64]));
    let at = |bytes: u64, index: usize| words[bytes as usize / 4 + index];
    let plan = SMALL.read(&words).expect("it was just made");
    assert_eq!(at(layout.join_count, 0), plan.header().joins);
    assert_eq!((at(layout.item_starts, 0), at(layout.item_starts, 3)), (0, plan.header().items));
    let first = plan.items().next().expect("there are some");
    assert_eq!(
        (at(layout.items, 3), at(layout.items, 4), at(layout.items, 5)),
        (first.first_key, first.end_key, first.part)
    );
    let join = plan.joins().next().expect("one was cut");
    assert_eq!((at(layout.joins, 0), at(layout.joins, 4)), (join.sequence, join.count));
    assert_eq!(words.len() * 4, 448);
}

/// No joins are possible: the array is there all the same.
#[test]
fn one_thread_block_cuts_nothing() {
    let split = Split { thread_blocks: 1, ..SMALL };
    let layout = split.layout().expect("a good shape");
    assert_eq!((layout.items_max, layout.joins_max, layout.parts_max), (8, 0, 0));
    assert!(layout.joins < layout.bytes);
    let words = planned(&split, &Arrays::of_lengths(&[1_024, 1, 2, 3]));
    assert_eq!(split.read(&words).expect("a plan").header().items, 8);
}

/// flashinfer#726: 24 sequences, 5 query tokens each, 40 query heads over 8; one has 5 keys and the others none. The room
/// is what the bound says, and no word more; what is written is what was counted.
#[test]
fn case_10_many_empty_sequences_in_exactly_the_room_of_the_bound() {
    let split = Split { query_tokens_max: 120, ..Split::decode(8, 40, 264, 24, 5) };
    let query_starts = (0..=24).map(|sequence| sequence * 5).collect();
    let mut arrays = Arrays { lengths: vec![0; 24], query_starts, ..Arrays::default() };
    arrays.lengths[7] = 5;
    // 25 rows of each head are two tiles.
    let layout = split.layout().expect("a good shape");
    assert!(layout.row_tiles_max >= 24 * 8 * 2 && layout.items_max == layout.row_tiles_max + 263);
    let mut rng = Rng::new(726);
    for _ in 0..10_000 {
        let counts = split.count(&arrays.batch()).expect("a good batch");
        let mut words = words(&split);
        let header = split.plan(&arrays.batch(), 0, &mut words).expect("it fits");
        assert_eq!((header.items, header.joins, header.parts), (counts.items, counts.joins, counts.parts));
        assert_eq!(counts.row_tiles, 24 * 8 * 2);
        assert_eq!(split.validate(&arrays.batch(), &words), Ok(Ok(())));
        arrays.lengths.fill_with(|| if rng.chance(4) { rng.below(6) } else { 0 });
    }
}

#[test]
fn every_field_of_a_shape_has_a_range() {
    let wrong = [
        (Split { heads: 0, ..SMALL }, Argument::Heads),
        (Split { heads: 65_537, query_heads: 65_537, ..SMALL }, Argument::Heads),
        (Split { query_heads: 0, ..SMALL }, Argument::Heads),
        (Split { query_heads: 1, ..SMALL }, Argument::Heads),
        (Split { query_heads: 15, ..SMALL }, Argument::Heads),
        (Split { tile_rows: 0, ..SMALL }, Argument::Tile),
        (Split { tile_rows: 32, ..SMALL }, Argument::Tile),
        (Split { tile_rows: 128, ..SMALL }, Argument::Tile),
        (Split { tile_keys: 0, ..SMALL }, Argument::Tile),
        (Split { tile_keys: 8, ..SMALL }, Argument::Tile),
        (Split { tile_keys: 48, ..SMALL }, Argument::Tile),
        (Split { tile_keys: 512, ..SMALL }, Argument::Tile),
        (Split { overhead_tiles: 1_025, ..SMALL }, Argument::Tile),
        (Split { thread_blocks: 0, ..SMALL }, Argument::ThreadBlocks),
        (Split { thread_blocks: 65_537, ..SMALL }, Argument::ThreadBlocks),
        (Split { window_left: -2, ..SMALL }, Argument::Window),
        (Split { chunk_keys: 32, ..SMALL }, Argument::Chunk),
        (Split { chunk_keys: 1 << 31, ..SMALL }, Argument::Chunk),
        (Split { sequences_max: 0, ..SMALL }, Argument::Sequences),
        (Split { query_tokens_max: 0, ..SMALL }, Argument::Tokens),
        (Split { keys_max: 0, ..SMALL }, Argument::Length),
        (Split { query_tokens_max: 1 << 30, ..SMALL }, Argument::Overflow),
    ];
    for (split, argument) in wrong {
        let refusal = Refusal::Invalid { argument };
        assert_eq!(split.check(), Err(refusal), "{split:?}");
        assert_eq!(split.layout(), Err(refusal));
        assert_eq!(split.count(&SplitBatch::default()), Err(refusal));
        assert_eq!(split.plan(&SplitBatch::default(), 0, &mut words(&SMALL)), Err(refusal));
        assert_eq!(split.read(&words(&SMALL)).map(|_| ()), Err(refusal));
        assert_eq!(split.validate(&SplitBatch::default(), &words(&SMALL)), Err(refusal));
    }
    // More items than 32 bits count: no such plan.
    let many = Split { query_tokens_max: 1 << 27, chunk_keys: 64, keys_max: u32::MAX, ..SMALL };
    assert_eq!((many.check(), many.layout()), (Ok(()), Err(Refusal::Invalid { argument: Argument::Overflow })));
    let widest = Split { sequences_max: u32::MAX, query_tokens_max: u32::MAX, heads: 1, query_heads: 1, ..SMALL };
    assert_eq!(widest.check(), Ok(()));
    assert_eq!(widest.layout(), Err(Refusal::Invalid { argument: Argument::Overflow }));
}

#[test]
fn what_does_not_fit_is_named_and_nothing_is_written() {
    let refused = |arrays: Arrays, argument| {
        let mut words = words(&SMALL);
        let refusal = Refusal::Invalid { argument };
        assert_eq!(SMALL.plan(&arrays.batch(), 0, &mut words), Err(refusal), "{arrays:?}");
        assert_eq!(SMALL.count(&arrays.batch()), Err(refusal));
        assert!(words.iter().all(|word| *word == 0xDEAD_BEEF));
    };
    let good = || Arrays::of_lengths(&[5, 0]);
    refused(Arrays::of_lengths(&[1; 5]), Argument::Sequences);
    refused(Arrays::of_lengths(&[1_025]), Argument::Length);
    refused(Arrays { query_starts: vec![0, 1], ..good() }, Argument::Queries);
    refused(Arrays { query_starts: vec![0, 2, 1], ..good() }, Argument::Queries);
    refused(Arrays { query_starts: vec![0, 2, 5], ..good() }, Argument::Tokens);
    refused(Arrays { query_positions: vec![0], ..good() }, Argument::Queries);
    refused(Arrays { query_starts: vec![1, 2, 3], query_positions: vec![0, 0], ..good() }, Argument::Queries);
    refused(Arrays { begins: vec![0], ..good() }, Argument::Ranges);
    refused(Arrays { ends: vec![0, 0, 0], ..good() }, Argument::Ranges);

    let mut short = words(&SMALL);
    short.pop();
    assert_eq!(SMALL.plan(&good().batch(), 0, &mut short), Err(Refusal::Invalid { argument: Argument::Output }));
    assert!(short.iter().all(|word| *word == 0xDEAD_BEEF));
}

/// One word of a plan is another one: the checksum says so, or if that is mended, the words of the plan do.
#[test]
fn every_word_of_a_plan_is_looked_at() {
    let arrays = Arrays::of_lengths(&[1_024, 130, 0]);
    for split in [SMALL, Split { chunk_keys: 128, ..SMALL }] {
        let words = planned(&split, &arrays);
        assert_eq!(split.validate(&arrays.batch(), &words), Ok(Ok(())));
        let layout = split.layout().expect("a good shape");
        // Between the arrays are a few words that nobody reads.
        let ends = [layout.items_max as u64 * 24 + layout.items, layout.joins_max as u64 * 24 + layout.joins];
        let unread = [ends[0]..layout.joins, ends[1]..layout.bytes];
        for at in 0..words.len() {
            let mut changed = words.clone();
            changed[at] ^= 1 << (at % 32);
            assert!(split.read(&changed).is_err(), "word {at}");
            if at < 3 || unread.iter().any(|range| range.contains(&(at as u64 * 4))) {
                continue;
            }
            changed[1] = mended(&split, &changed);
            let found = split.validate(&arrays.batch(), &changed);
            assert!(!matches!(found, Ok(Ok(()))), "word {at} of {}: {found:?}", words.len());
        }
    }
}

/// The checksum that these words should have: tried out by planning is not possible, so by the formula.
fn mended(split: &Split, words: &[u32]) -> u32 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let bytes = split.layout().expect("a good shape").bytes as usize;
    let sum = words[..bytes / 4].iter().enumerate().skip(2).fold(0u64, |sum, (place, word)| {
        let word = (u64::from(*word) | (place as u64) << 32).wrapping_mul(ODD);
        sum.wrapping_add((word ^ word >> 29).wrapping_mul(ODD))
    });
    (sum ^ sum >> 32) as u32
}

#[test]
fn a_plan_of_another_shape_or_batch_is_none_of_this() {
    let arrays = Arrays::of_lengths(&[1_024, 130]);
    let words = planned(&SMALL, &arrays);
    for other in [
        Split { thread_blocks: 4, ..SMALL },
        Split { tile_rows: 64, ..SMALL },
        Split { chunk_keys: 64, ..SMALL },
        Split { heads: 1, query_heads: 8, ..SMALL },
    ] {
        assert_eq!(other.read(&words).map(|_| ()), Err(Refusal::Invalid { argument: Argument::Header }), "{other:?}");
    }
    let longer = Arrays::of_lengths(&[1_024, 131]);
    assert!(SMALL.validate(&longer.batch(), &words).expect("a plan").is_err());
    assert!(SMALL.validate(&Arrays::of_lengths(&[1_024]).batch(), &words).expect("a plan").is_err());
}

/// A buffer that held a longer plan: nothing of it is left, and both are the same but for their generations.
#[test]
fn nothing_of_an_older_plan_is_left() {
    let (long, short) = (Arrays::of_lengths(&[1_024; 4]), Arrays::of_lengths(&[3]));
    let mut reused = planned(&SMALL, &long);
    SMALL.plan(&short.batch(), 7, &mut reused).expect("it fits");
    assert_eq!(reused, planned(&SMALL, &short));
    let mut later = reused.clone();
    assert_eq!(SMALL.plan(&short.batch(), 8, &mut later).map(|header| header.generation), Ok(8));
    assert!(later[3..] == reused[3..] && later[1] != reused[1]);
}
