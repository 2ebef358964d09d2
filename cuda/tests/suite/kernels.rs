//! Every kernel once, through the checked launches and over tables that a ledger could have exported: what comes back is
//! known in advance. (`kvledger verify` compares all shapes and options with references.)

use crate::common::{open, paces};
use kvledger_core::split::{Split, SplitBatch};
use kvledger_cuda::launch::{Append, Attend, Cascade, Gather, Launch, MergeTwo};
use kvledger_cuda::raw::*;
use kvledger_cuda::{Device, Memory, Space, Status, Stream};
use std::sync::Arc;

const HEADS: u32 = 2;
const QUERY_HEADS: u32 = 6;
const HEAD_DIM: u32 = 64;
const BLOCK_TOKENS: u32 = 16;
const BLOCKS: u32 = 40;
const COLUMNS: u32 = 8;
/// binary16.
const ONE: u16 = 0x3C00;

/// A device with a cache, a table and all that attention over them needs.
struct Layer {
    device: Arc<dyn Device>,
    stream: Stream,
    status: Status,
    cache: kvk_cache,
    /// Rows of sequences: blocks in no order, the null block after the last.
    rows: Vec<Vec<u32>>,
    lengths: Vec<u32>,
    /// Kept for the length of the test.
    memories: Vec<Memory>,
}

impl Layer {
    fn new(device: Arc<dyn Device>, stream: Stream, lengths: &[u32]) -> Layer {
        let status = Status::new(&stream).unwrap();
        let mut layer = Layer {
            device,
            stream,
            status,
            cache: kvk_cache::default(),
            rows: Vec::new(),
            lengths: lengths.to_vec(),
            memories: Vec::new(),
        };
        let elements = (BLOCKS + 1) * BLOCK_TOKENS * HEADS * HEAD_DIM;
        layer.cache = kvk_cache {
            keys: layer.room(elements * 2),
            values: layer.room(elements * 2),
            block_stride: i64::from(BLOCK_TOKENS * HEADS * HEAD_DIM),
            token_stride: i64::from(HEADS * HEAD_DIM),
            head_stride: i64::from(HEAD_DIM),
            key_scale: 1.0,
            value_scale: 1.0,
            blocks: BLOCKS,
            block_tokens: BLOCK_TOKENS,
            heads: HEADS,
            head_dim: HEAD_DIM,
            type_: KVK_F16,
            ..kvk_cache::default()
        };
        let mut free = (1..=BLOCKS).map(|block| block * 7 % (BLOCKS + 1));
        for length in lengths {
            let used = length.div_ceil(BLOCK_TOKENS) as usize;
            let mut row: Vec<u32> = free.by_ref().take(used).collect();
            row.resize(COLUMNS as usize, 0);
            layer.rows.push(row);
        }
        layer
    }

    /// Device memory full of poison.
    fn room<T>(&mut self, bytes: u32) -> *mut T {
        let memory = Memory::allocate(&self.device, Space::Device, bytes as usize).unwrap();
        let pointer = memory.pointer();
        self.memories.push(memory);
        pointer
    }

    fn hold<T: kvledger_cuda::Plain>(&mut self, data: &[T]) -> *mut T {
        let memory = Memory::holding(&self.stream, data).unwrap();
        let pointer = memory.pointer();
        self.memories.push(memory);
        pointer
    }

    /// What is at a pointer that `room` gave.
    fn values<T: kvledger_cuda::Plain + Default>(&self, pointer: *const T, count: u32) -> Vec<T> {
        let memory = self.memories.iter().find(|memory| memory.pointer::<T>().cast_const() == pointer).unwrap();
        memory.values(&self.stream, 0, count as usize).unwrap()
    }

    fn table(&mut self) -> kvk_table {
        let entries = self.rows.concat();
        kvk_table { entries: self.hold(&entries), row_stride: COLUMNS.into(), columns: COLUMNS, ..kvk_table::default() }
    }

    fn launch(&self, launch: Launch) {
        // SAFETY: lists and plans are those that were checked, and memory is kept for the length of the test.
        unsafe { self.stream.launch(&launch) }.unwrap_or_else(|error| panic!("{error}"));
    }

    /// Writes keys and values of all tokens, `[tokens][heads][head_dim]`, sequence after sequence.
    fn append(&mut self, keys: &[u16], values: &[u16]) {
        let slots: Vec<kvk_slot> = self
            .rows
            .iter()
            .zip(&self.lengths)
            .flat_map(|(row, length)| (0..*length).map(|key| (row[(key / BLOCK_TOKENS) as usize], key % BLOCK_TOKENS)))
            .map(|(block, token)| kvk_slot { block, token })
            .collect();
        let params = kvk_append_params {
            cache: self.cache,
            keys: self.hold(keys).cast(),
            values: self.hold(values).cast(),
            token_stride: i64::from(HEADS * HEAD_DIM),
            head_stride: i64::from(HEAD_DIM),
            slots: self.hold(&slots),
            status: self.status.pointer(),
            tokens: slots.len() as u32,
            type_: KVK_F16,
        };
        let append = Append { params };
        append.check_slots(&slots).unwrap();
        self.launch(Launch::Append(append));
    }

    /// Attention of one query token a sequence over keys `begins` to `ends`, less the plan; its plan is made here.
    fn attend(&mut self, queries: *const u16, begins: &[u32], ends: &[u32]) -> Attend {
        let sequences = self.lengths.len() as u32;
        let split = Split::decode(HEADS, QUERY_HEADS, 5, sequences, COLUMNS * BLOCK_TOKENS);
        let layout = split.layout().unwrap();
        let mut words = vec![0; layout.bytes as usize / 4];
        let batch = SplitBatch { lengths: &self.lengths, begins, ends, ..SplitBatch::default() };
        split.plan(&batch, 1, &mut words).unwrap();
        let part_rows = layout.parts_max * KVK_DECODE_ROWS;
        let lengths = self.lengths.clone();
        let params = kvk_attend_params {
            cache: self.cache,
            table: self.table(),
            lengths: self.hold(&lengths),
            queries: queries.cast(),
            output: self.room(sequences * QUERY_HEADS * HEAD_DIM * 2),
            lse: self.room(sequences * QUERY_HEADS * 4),
            query_token_stride: i64::from(QUERY_HEADS * HEAD_DIM),
            query_head_stride: i64::from(HEAD_DIM),
            output_token_stride: i64::from(QUERY_HEADS * HEAD_DIM),
            output_head_stride: i64::from(HEAD_DIM),
            lse_token_stride: i64::from(QUERY_HEADS),
            part_output: self.room(part_rows * HEAD_DIM * 4),
            part_lse: self.room(part_rows * 4),
            status: self.status.pointer(),
            scale: 0.125,
            window_left: -1,
            query_heads: QUERY_HEADS,
            sequences,
            type_: KVK_F16,
            merge_thread_blocks: 3,
            ..kvk_attend_params::default()
        };
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut attend = Attend {
            params,
            table_rows: sequences,
            longest,
            query_tokens: sequences,
            items: 0,
            joins: 0,
            parts: layout.parts_max,
        };
        let plan: *mut u32 = self.hold(&words);
        attend.use_plan(&split, kvledger_cuda::Address(plan as usize as u64)).unwrap();
        attend.check_plan_words(&split, &words).unwrap();
        attend.check_batch(&lengths, &[], &[]).unwrap();
        attend
    }
}

/// Small numbers in binary16, another one for each place.
fn numbers(count: u32, salt: u32) -> Vec<u16> {
    let number = |at: u32| {
        let mixed = (at + salt).wrapping_mul(0x9E37_79B9) >> 16;
        // A sign, an exponent of 1/8 to 1/2, and a mantissa.
        ((mixed & 0x8000) | (0x3000 + ((mixed & 0x0FFF) >> 1))) as u16
    };
    (0..count).map(number).collect()
}

#[test]
fn what_was_appended_is_gathered() {
    let lengths = [33, 0, 17, 128, 1];
    for options in paces() {
        let (device, stream) = open(options);
        let mut layer = Layer::new(device, stream, &lengths);
        let total: u32 = lengths.iter().sum();
        let count = total * HEADS * HEAD_DIM;
        let (keys, values) = (numbers(count, 1), numbers(count, 2));
        layer.append(&keys, &values);
        let starts: Vec<u32> = std::iter::once(0)
            .chain(lengths.iter().scan(0, |sum, length| {
                *sum += length;
                Some(*sum)
            }))
            .collect();
        let params = kvk_gather_params {
            cache: layer.cache,
            table: layer.table(),
            first_keys: layer.hold(&[0u32; 5]),
            starts: layer.hold(&starts),
            keys: layer.room(count * 2),
            values: layer.room(count * 2),
            status: layer.status.pointer(),
            sequences: 5,
            type_: KVK_F16,
            total,
            reserved: 0,
        };
        let gather = Gather { params, table_rows: 5, longest: 128 };
        gather.check_ranges(&[0; 5], &starts).unwrap();
        layer.launch(Launch::Gather(gather));
        assert!(layer.values(params.keys.cast::<u16>(), count) == keys, "{options:?}");
        assert!(layer.values(params.values.cast::<u16>(), count) == values, "{options:?}");
        assert_eq!(layer.status.take(&layer.stream).unwrap(), None);
    }
}

/// What has nothing to do looks at nothing, whatever it points to.
#[test]
fn a_gather_of_nothing_does_nothing() {
    let (device, stream) = open(paces()[0]);
    let mut layer = Layer::new(device, stream, &[3]);
    for (sequences, total, row_stride) in [(0, 0, i64::MAX), (1, 0, -1), (0, 9, 1 << 61)] {
        let table = kvk_table { row_stride, ..layer.table() };
        let (cache, status) = (layer.cache, layer.status.pointer());
        let params = kvk_gather_params {
            cache,
            table,
            status,
            sequences,
            total,
            type_: KVK_F16,
            ..kvk_gather_params::default()
        };
        layer.launch(Launch::Gather(Gather { params, table_rows: 9, longest: 3 }));
    }
    assert_eq!(layer.status.take(&layer.stream).unwrap(), None);
}

/// vLLM issue 641: 17 keys in blocks of 16; the 15 slots after them hold NaN, and must not be seen.
#[test]
fn slots_after_the_last_key_are_not_seen() {
    for options in paces() {
        let (device, stream) = open(options);
        let mut layer = Layer::new(device, stream, &[17, 0, 100]);
        let ones = vec![ONE; (117 * HEADS * HEAD_DIM) as usize];
        layer.append(&ones, &ones);
        let queries: *mut u16 = layer.hold(&vec![0; (3 * QUERY_HEADS * HEAD_DIM) as usize]);
        let attend = layer.attend(queries, &[], &[]);
        layer.launch(Launch::Attend(attend));
        layer.launch(Launch::Merge(attend));
        let output = layer.values(attend.params.output.cast::<u16>().cast_const(), 3 * QUERY_HEADS * HEAD_DIM);
        let lse = layer.values(attend.params.lse.cast_const(), 3 * QUERY_HEADS);
        let (rows, width) = (QUERY_HEADS as usize, (QUERY_HEADS * HEAD_DIM) as usize);
        assert!(output[..width].iter().all(|value| *value == ONE), "{options:?}");
        assert!(output[width..2 * width].iter().all(|value| *value == 0), "a sequence without keys");
        assert!(output[2 * width..].iter().all(|value| *value == ONE));
        assert!(lse[..rows].iter().all(|lse| (lse - 17f32.ln()).abs() < 1e-5), "{lse:?}");
        assert!(lse[rows..2 * rows].iter().all(|lse| *lse == f32::NEG_INFINITY), "{lse:?}");
        assert!(lse[2 * rows..].iter().all(|lse| (lse - 100f32.ln()).abs() < 1e-5), "{lse:?}");
        assert_eq!(layer.status.take(&layer.stream).unwrap(), None);
    }
}

fn to_f32(bits: u16) -> f32 {
    let (sign, exponent, mantissa) = (bits >> 15, bits >> 10 & 31, bits & 1023);
    let magnitude = if exponent == 0 {
        f32::from(mantissa) * 2f32.powi(-24)
    } else {
        (1.0 + f32::from(mantissa) / 1024.0) * 2f32.powi(i32::from(exponent) - 15)
    };
    if sign == 1 { -magnitude } else { magnitude }
}

/// The prefix and the rest apart, and joined, are what they are together.
#[test]
fn a_cascade_is_attention_over_all_keys() {
    let lengths = [120, 64, 65];
    for options in paces() {
        let (device, stream) = open(options);
        let mut layer = Layer::new(device, stream, &lengths);
        let count = lengths.iter().sum::<u32>() * HEADS * HEAD_DIM;
        layer.append(&numbers(count, 3), &numbers(count, 4));
        let queries: *mut u16 = layer.hold(&numbers(3 * QUERY_HEADS * HEAD_DIM, 5));
        let whole = layer.attend(queries, &[], &[]);
        layer.launch(Launch::Attend(whole));
        layer.launch(Launch::Merge(whole));
        let (prefix, suffix) = (layer.attend(queries, &[], &[64; 3]), layer.attend(queries, &[64; 3], &[]));
        let merge = kvk_merge_two_params {
            output_a: prefix.params.output,
            lse_a: prefix.params.lse,
            output_b: suffix.params.output,
            lse_b: suffix.params.lse,
            output: suffix.params.output,
            lse: suffix.params.lse,
            token_stride: i64::from(QUERY_HEADS * HEAD_DIM),
            head_stride: i64::from(HEAD_DIM),
            lse_token_stride: QUERY_HEADS.into(),
            tokens: 3,
            heads: QUERY_HEADS,
            head_dim: HEAD_DIM,
            type_: KVK_F16,
        };
        let cascade = Cascade { prefix, suffix, merge: MergeTwo { params: merge } };
        // SAFETY: as `launch`.
        unsafe { cascade.enqueue(&layer.stream) }.unwrap();
        let of = |layer: &Layer, p: &kvk_attend_params| -> (Vec<f32>, Vec<f32>) {
            let output = layer.values(p.output.cast::<u16>().cast_const(), 3 * QUERY_HEADS * HEAD_DIM);
            (output.into_iter().map(to_f32).collect(), layer.values(p.lse.cast_const(), 3 * QUERY_HEADS))
        };
        let (together, apart) = (of(&layer, &whole.params), of(&layer, &suffix.params));
        let worst = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(together.0.iter().any(|value| value.abs() > 0.01), "a result of zeros proves nothing");
        assert!(worst(&together.0, &apart.0) < 1e-3 && worst(&together.1, &apart.1) < 1e-5, "{options:?}");
        assert_eq!(layer.status.take(&layer.stream).unwrap(), None);
    }
}

/// What the kernel itself finds out: an id that is none, in device memory where no check of the host sees it.
#[test]
fn a_table_that_names_no_block_is_reported() {
    let (device, stream) = open(paces()[0]);
    let mut layer = Layer::new(device, stream, &[40, 40]);
    let ones = vec![ONE; (80 * HEADS * HEAD_DIM) as usize];
    layer.append(&ones, &ones);
    layer.rows[1][1] = BLOCKS + 1;
    let queries: *mut u16 = layer.hold(&vec![0; (2 * QUERY_HEADS * HEAD_DIM) as usize]);
    let attend = layer.attend(queries, &[], &[]);
    layer.launch(Launch::Attend(attend));
    layer.launch(Launch::Merge(attend));
    let report = layer.status.take(&layer.stream).unwrap().expect("it is reported");
    assert_eq!((report.faults, report.row, report.index), (KVK_FAULT_BLOCK, 1, BLOCK_TOKENS), "{report}");
    let lse = layer.values(attend.params.lse.cast_const(), 2 * QUERY_HEADS);
    assert!(
        lse.iter()
            .zip([40f32, 24.0].iter().flat_map(|keys| [*keys; QUERY_HEADS as usize]))
            .all(|(lse, keys)| (lse - keys.ln()).abs() < 1e-5)
    );
}

/// Places in device memory, where no check of the host sees them: the last that there can be, one too many, padding.
#[test]
fn query_positions_that_are_no_keys() {
    let places = [KVK_PLACES - 1, KVK_PLACES, u32::MAX, i32::MAX as u32, 0];
    let sees = [5.0, 0.0, 0.0, 0.0, 1.0f32];
    let (device, stream) = open(paces()[0]);
    let mut layer = Layer::new(device, stream, &[5; 5]);
    let ones = vec![ONE; (25 * HEADS * HEAD_DIM) as usize];
    layer.append(&ones, &ones);
    let queries: *mut u16 = layer.hold(&vec![0; (5 * QUERY_HEADS * HEAD_DIM) as usize]);
    let mut attend = layer.attend(queries, &[], &[]);
    attend.params.query_positions = layer.hold(&places);
    layer.launch(Launch::Attend(attend));
    layer.launch(Launch::Merge(attend));
    let lse = layer.values(attend.params.lse.cast_const(), 5 * QUERY_HEADS);
    let expected = sees.iter().flat_map(|keys| [keys.ln(); QUERY_HEADS as usize]);
    assert!(
        lse.iter().zip(expected).all(|(lse, expected)| *lse == expected || (lse - expected).abs() < 1e-5),
        "{lse:?}"
    );
    let width = QUERY_HEADS * HEAD_DIM;
    let output = layer.values(attend.params.output.cast::<u16>().cast_const(), 5 * width);
    let expected = sees.iter().flat_map(|keys| vec![if *keys > 0.0 { ONE } else { 0 }; width as usize]);
    assert!(output.into_iter().eq(expected));
    assert_eq!(layer.status.take(&layer.stream).unwrap(), None);
}

/// A key that is NaN, and nothing else that is seen: no sums are not what came of none, sinks that are none or not.
#[test]
fn a_score_that_is_nan_is_not_taken_for_none() {
    for sink in [None, Some(f32::NEG_INFINITY), Some(0.5)] {
        let (device, stream) = open(paces()[0]);
        let mut layer = Layer::new(device, stream, &[1, 1]);
        let width = (HEADS * HEAD_DIM) as usize;
        let keys = [vec![0x7E00; width], vec![ONE; width]].concat();
        layer.append(&keys, &vec![ONE; 2 * width]);
        let queries: *mut u16 = layer.hold(&vec![ONE; (2 * QUERY_HEADS * HEAD_DIM) as usize]);
        let mut attend = layer.attend(queries, &[], &[]);
        if let Some(sink) = sink {
            attend.params.sinks = layer.hold(&[sink; QUERY_HEADS as usize]);
        }
        layer.launch(Launch::Attend(attend));
        layer.launch(Launch::Merge(attend));
        let lse = layer.values(attend.params.lse.cast_const(), 2 * QUERY_HEADS);
        let (nan, right) = lse.split_at(QUERY_HEADS as usize);
        assert!(nan.iter().all(|lse| lse.is_nan()) && right.iter().all(|lse| lse.is_finite()), "{sink:?}: {lse:?}");
        let output = layer.values(attend.params.output.cast::<u16>().cast_const(), QUERY_HEADS * HEAD_DIM);
        assert!(output.iter().all(|bits| bits & 0x7FFF > 0x7C00), "{sink:?}");
    }
}

/// As many keys as there can be, of which a window sees the last.
#[test]
fn the_longest_sequence_of_all() {
    let (device, stream) = open(paces()[0]);
    let (length, window) = (KVK_PLACES, 20);
    let mut layer = Layer::new(device, stream, &[2 * BLOCK_TOKENS]);
    let ones = vec![ONE; (2 * BLOCK_TOKENS * HEADS * HEAD_DIM) as usize];
    layer.append(&ones, &ones);
    // Of the table only the last two entries are ever written, or read.
    let columns = length.div_ceil(BLOCK_TOKENS);
    let table = Memory::allocate(&layer.device, Space::Device, columns as usize * 4).unwrap();
    table.write(&layer.stream, columns as usize * 4 - 8, &layer.rows[0][..2]).unwrap();
    let queries: *mut u16 = layer.hold(&vec![0; (QUERY_HEADS * HEAD_DIM) as usize]);
    let mut attend = layer.attend(queries, &[], &[]);
    let split = Split { window_left: window, ..Split::decode(HEADS, QUERY_HEADS, 5, 1, length) };
    let mut words = vec![0; split.layout().unwrap().bytes as usize / 4];
    split.plan(&SplitBatch { lengths: &[length], ..SplitBatch::default() }, 1, &mut words).unwrap();
    let plan: *mut u32 = layer.hold(&words);
    attend.use_plan(&split, kvledger_cuda::Address(plan as usize as u64)).unwrap();
    (attend.table_rows, attend.longest) = (1, length);
    attend.params.lengths = layer.hold(&[length]);
    attend.params.slopes = layer.hold(&[0.0f32; QUERY_HEADS as usize]);
    attend.params.table = kvk_table { entries: table.pointer(), columns, ..kvk_table::default() };
    attend.check_plan_words(&split, &words).unwrap();
    attend.check_batch(&[length], &[], &[]).unwrap();
    layer.launch(Launch::Attend(attend));
    layer.launch(Launch::Merge(attend));
    let lse = layer.values(attend.params.lse.cast_const(), QUERY_HEADS);
    assert!(lse.iter().all(|lse| (lse - 21f32.ln()).abs() < 1e-5), "{lse:?}");
    assert_eq!(layer.status.take(&layer.stream).unwrap(), None);
}

/// Also what no arithmetic leaves as it is: a negative zero, and a NaN with a message.
#[test]
fn what_is_joined_with_nothing_stays_bit_for_bit() {
    let part = [0x8000, ONE, 0x0001, 0x8001, 0x7E55, 0xFDAA, 0x7C00, 0xFC00, 0, 1, 2, 3, 4, 5, 6, 7u16];
    for (type_, empty_first) in [(KVK_F16, false), (KVK_F16, true), (KVK_BF16, false), (KVK_BF16, true)] {
        let (device, stream) = open(paces()[0]);
        let mut layer = Layer::new(device, stream, &[]);
        let mut sides =
            [(layer.hold(&part), layer.hold(&[1.5f32])), (layer.room(32), layer.hold(&[f32::NEG_INFINITY]))];
        if empty_first {
            sides.reverse();
        }
        let params = kvk_merge_two_params {
            output_a: sides[0].0.cast(),
            lse_a: sides[0].1,
            output_b: sides[1].0.cast(),
            lse_b: sides[1].1,
            output: layer.room(32),
            lse: layer.room(4),
            tokens: 1,
            heads: 1,
            head_dim: 16,
            type_,
            ..kvk_merge_two_params::default()
        };
        layer.launch(Launch::MergeTwo(MergeTwo { params }));
        assert_eq!(layer.values(params.output.cast::<u16>().cast_const(), 16), part);
        assert_eq!(layer.values(params.lse.cast_const(), 1), [1.5]);
    }
}
