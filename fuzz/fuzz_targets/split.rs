//! A split plan of any shape and batch: refused, and then nothing is written; or valid, what was counted, within its bounds,
//! and different when a word is.
#![no_main]

use arbitrary::Arbitrary;
use kvledger_core::split::{Split, SplitBatch};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    /// Mostly good numbers where all but a few are refused; any number at the ends.
    heads: u8,
    group: u8,
    wide_tile: bool,
    tile_keys: u8,
    window: i16,
    chunk: u16,
    thread_blocks: u8,
    overhead_tiles: u8,
    maxima: [u16; 3],
    any: Option<(u8, u32)>,
    lengths: Vec<u16>,
    queries: Vec<u8>,
    query_positions: Vec<u16>,
    begins: Vec<u16>,
    ends: Vec<u16>,
    change: (u16, u32),
}

const UNTOUCHED: u32 = 0xDEAD_BEEF;
/// Words of the largest plan that is written; larger ones are only counted.
const WORDS_MAX: u64 = 1 << 16;

fuzz_target!(|input: Input| {
    let split = shape(&input);
    let wide = |numbers: &[u16]| numbers.iter().copied().map(u32::from).collect::<Vec<u32>>();
    let [lengths, query_positions, begins, ends] =
        [&input.lengths, &input.query_positions, &input.begins, &input.ends].map(|numbers| wide(numbers));
    let mut query_starts = vec![0; usize::from(!input.queries.is_empty())];
    for queries in &input.queries {
        query_starts.push(query_starts[query_starts.len() - 1] + u32::from(*queries));
    }
    let batch = SplitBatch {
        lengths: &lengths,
        query_starts: &query_starts,
        query_positions: &query_positions,
        begins: &begins,
        ends: &ends,
    };
    let counted = split.count(&batch);
    let layout = match split.layout() {
        Ok(layout) if layout.bytes <= WORDS_MAX * 4 => layout,
        Ok(_) => return,
        Err(why) => {
            let beyond = why == kvledger_core::Refusal::Invalid { argument: kvledger_core::Argument::Overflow };
            assert!(beyond || counted == Err(why));
            return;
        }
    };
    let mut words = vec![UNTOUCHED; layout.bytes as usize / 4 + 1];
    let header = match split.plan(&batch, 1, &mut words) {
        Ok(header) => header,
        Err(why) => {
            assert_eq!(counted, Err(why));
            assert!(words.iter().all(|word| *word == UNTOUCHED));
            return;
        }
    };
    assert_eq!(words.pop(), Some(UNTOUCHED), "beyond the plan");
    let counted = counted.expect("what is planned can be counted");
    assert_eq!((header.items, header.joins, header.parts), (counted.items, counted.joins, counted.parts));
    assert!(header.items <= layout.items_max && header.joins <= layout.joins_max && header.parts <= layout.parts_max);
    assert!(counted.row_tiles <= layout.row_tiles_max);
    assert_eq!(split.validate(&batch, &words), Ok(Ok(())));

    let (at, bits) = (usize::from(input.change.0) % words.len(), input.change.1);
    words[at] ^= bits;
    assert!(bits == 0 || split.read(&words).is_err(), "word {at} changed by {bits:#x} is not seen");
});

fn shape(input: &Input) -> Split {
    let heads = u32::from(input.heads % 4) + 1;
    let tile_keys = 16 << (input.tile_keys % 5);
    let [sequences_max, query_tokens_max, keys_max] = input.maxima.map(u32::from);
    let mut split = Split {
        heads,
        query_heads: heads * (u32::from(input.group % 40) + 1),
        tile_rows: if input.wide_tile { 64 } else { 16 },
        tile_keys,
        window_left: i32::from(input.window.max(-1)),
        chunk_keys: u32::from(input.chunk % 64) * tile_keys,
        thread_blocks: u32::from(input.thread_blocks) + 1,
        overhead_tiles: u32::from(input.overhead_tiles % 8),
        sequences_max,
        query_tokens_max,
        keys_max,
    };
    let Some((field, number)) = input.any else { return split };
    match field % 11 {
        0 => split.heads = number,
        1 => split.query_heads = number,
        2 => split.tile_rows = number,
        3 => split.tile_keys = number,
        4 => split.window_left = number as i32,
        5 => split.chunk_keys = number,
        6 => split.thread_blocks = number,
        7 => split.overhead_tiles = number,
        8 => split.sequences_max = number,
        9 => split.query_tokens_max = number,
        _ => split.keys_max = number,
    }
    split
}
