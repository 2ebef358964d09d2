//! A lane's part of the device: buffers that its steps use one after the other, the lists on their way there, and the
//! launches of a step.

use super::model::{ELEMENT, HEAD_DIM, HEADS, QUERY_HEADS, SCALE};
use crate::kernels::pool::{Layout, PoolShape, Scales};
use kvledger_core::split::{Split, SplitBatch, SplitHeader, SplitLayout};
use kvledger_cuda::launch::{self, Launch};
use kvledger_cuda::raw::{kvk_append_params, kvk_attend_params, kvk_cache, kvk_status, kvk_table};
use kvledger_cuda::{Device, Error, Memory, Ring, Space, Stream};
use std::ptr::null;
use std::sync::Arc;

/// Lists that may be on their way at the same time.
const SLOTS: usize = 12;

/// What a step is made of, on the host.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    /// Block and token in it, of each new token.
    pub slots: Vec<u32>,
    /// Bits of the new keys.
    pub keys: Vec<u16>,
    /// Bits of the new values.
    pub values: Vec<u16>,
    /// Bits of the queries, one token for each sequence.
    pub queries: Vec<u16>,
    /// Keys of each sequence.
    pub lengths: Vec<u32>,
    /// A row of the table for each sequence.
    pub entries: Vec<u32>,
}

/// Sizes of everything.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Entries of a row.
    pub columns: u32,
    /// Most sequences of a step.
    pub sequences: u32,
    /// Most new tokens of a step.
    pub tokens: u32,
    /// Most keys of a sequence.
    pub keys: u32,
    /// Thread blocks of a launch.
    pub thread_blocks: u32,
}

/// The buffers.
#[derive(Debug)]
pub struct Desk {
    sizes: Sizes,
    split: Split,
    layout: SplitLayout,
    cache: kvk_cache,
    lists: Ring,
    slots: Memory,
    keys: Memory,
    values: Memory,
    queries: Memory,
    lengths: Memory,
    entries: Memory,
    plan: Memory,
    parts: [Memory; 2],
    output: Memory,
    lse: Memory,
    status: Memory,
    generation: u32,
    /// Plans go through one slot that nobody guards.
    #[cfg(test)]
    unguarded: Option<Memory>,
}

/// Where results of a step are in their memory.
#[derive(Clone, Copy, Debug)]
struct Places {
    lse: usize,
    header: usize,
    status: usize,
    bytes: usize,
}

/// The results of a step, in pinned memory.
#[derive(Debug)]
pub struct Results {
    memory: Memory,
    places: Places,
}

/// What is in them, when the step is over.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// `[sequences][query heads][head dimension]`.
    pub output: Vec<u16>,
    /// `[sequences][query heads]`.
    pub lse: Vec<f32>,
    /// Of the plan that the device has worked through.
    pub generation: u32,
    /// `KVK_FAULT_…`, and the first row and index.
    pub status: kvk_status,
}

/// Bytes of keys and values in a pool, the null block included.
pub fn pool_bytes(blocks: u32, block_tokens: u32) -> u64 {
    let token = u64::from(HEADS * HEAD_DIM) * size_of::<u16>() as u64 * 2;
    (u64::from(blocks) + 1).saturating_mul(u64::from(block_tokens)).saturating_mul(token)
}

/// The shape of the pool that all lanes share: keys, then values, tokens before heads.
pub fn pool_shape(blocks: u32, block_tokens: u32) -> PoolShape {
    let row = u64::from(HEADS * HEAD_DIM);
    let block_stride = row * u64::from(block_tokens);
    let layout = Layout {
        block_stride,
        token_stride: row,
        head_stride: HEAD_DIM.into(),
        keys_at: 0,
        values_at: block_stride * (u64::from(blocks) + 1),
    };
    let scales = Scales::One([1.0; 2]);
    PoolShape { element: ELEMENT, blocks, block_tokens, heads: HEADS, head_dim: HEAD_DIM, layout, scales }
}

impl Desk {
    /// Buffers for steps of at most these sizes, over a pool in `cache`.
    pub fn new(stream: &Stream, sizes: Sizes, cache: kvk_cache) -> Result<Desk, Error> {
        let device = stream.device();
        let split = Split::decode(HEADS, QUERY_HEADS, sizes.thread_blocks, sizes.sequences, sizes.keys);
        let layout = split.layout().expect("a few sequences of one head");
        let space = |bytes: usize| Memory::allocate(device, Space::Device, bytes);
        let (tokens, sequences) = (sizes.tokens as usize, sizes.sequences as usize);
        let row_bytes = (HEADS * HEAD_DIM) as usize * 2;
        let query_bytes = (QUERY_HEADS * HEAD_DIM) as usize * 2;
        let part_rows = layout.parts_max as usize * split.tile_rows as usize;
        let longest = (tokens * row_bytes).max(layout.bytes as usize).max(sequences * sizes.columns as usize * 4);
        let status = space(size_of::<kvk_status>())?;
        status.write(stream, 0, &[NOTHING])?;
        Ok(Desk {
            sizes,
            split,
            layout,
            cache,
            lists: Ring::new(device, SLOTS, longest.max(sequences * query_bytes))?,
            slots: space(tokens * 8)?,
            keys: space(tokens * row_bytes)?,
            values: space(tokens * row_bytes)?,
            queries: space(sequences * query_bytes)?,
            lengths: space(sequences * 4)?,
            entries: space(sequences * sizes.columns as usize * 4)?,
            plan: space(layout.bytes as usize)?,
            parts: [space(part_rows * HEAD_DIM as usize * 4)?, space(part_rows * 4)?],
            output: space(sequences * query_bytes)?,
            lse: space(sequences * QUERY_HEADS as usize * 4)?,
            status,
            generation: 0,
            #[cfg(test)]
            unguarded: None,
        })
    }

    /// A mistake: plans go through one slot from now on, which is written again before it was read.
    #[cfg(test)]
    pub fn unguard(&mut self, device: &Arc<dyn Device>) -> Result<(), Error> {
        self.unguarded = Some(Memory::allocate(device, Space::Pinned, self.layout.bytes as usize)?);
        Ok(())
    }

    /// Memory for the results of one step.
    pub fn results(&self, device: &Arc<dyn Device>) -> Result<Results, Error> {
        let sequences = self.sizes.sequences as usize;
        let output = sequences * (QUERY_HEADS * HEAD_DIM) as usize * 2;
        let header = output + sequences * QUERY_HEADS as usize * 4;
        let header = header.next_multiple_of(16);
        let status = header + size_of::<SplitHeader>();
        let places = Places { lse: output, header, status, bytes: status + size_of::<kvk_status>() };
        Ok(Results { memory: Memory::allocate(device, Space::Pinned, places.bytes)?, places })
    }

    /// Enqueues a whole step: its lists, its launches, and the copies of its results. The plan's generation.
    pub fn enqueue(&mut self, stream: &Stream, lists: &Lists, results: &Results) -> Result<u32, Error> {
        self.generation += 1;
        let mut words = vec![0; self.layout.bytes as usize / 4];
        let batch = SplitBatch { lengths: &lists.lengths, ..SplitBatch::default() };
        self.split.plan(&batch, self.generation, &mut words).expect("lists are of these sizes");
        self.lists.copy(stream, &lists.slots, &self.slots, 0)?;
        self.lists.copy(stream, &lists.keys, &self.keys, 0)?;
        self.lists.copy(stream, &lists.values, &self.values, 0)?;
        self.lists.copy(stream, &lists.queries, &self.queries, 0)?;
        self.lists.copy(stream, &lists.lengths, &self.lengths, 0)?;
        self.lists.copy(stream, &lists.entries, &self.entries, 0)?;
        self.send_plan(stream, &words)?;
        for launch in self.launches(lists) {
            // SAFETY: lists are consistent with the parameters, and what they name is in the pool or is reported; all
            // memory is this desk's, or the server's, which outlive the work.
            unsafe { stream.launch(&launch) }?;
        }
        self.copy_results(stream, lists, results)?;
        Ok(self.generation)
    }

    fn send_plan(&mut self, stream: &Stream, words: &[u32]) -> Result<(), Error> {
        #[cfg(test)]
        if let Some(slot) = &self.unguarded {
            let to = slot.host_pointer()?;
            // SAFETY: the slot is as long as a plan. That a copy may read it at the same time is the mistake.
            unsafe { to.copy_from_nonoverlapping(words.as_ptr().cast(), size_of_val(words)) };
            return stream.copy((&self.plan, 0), (slot, 0), size_of_val(words));
        }
        self.lists.copy(stream, words, &self.plan, 0)
    }

    fn launches(&self, lists: &Lists) -> [Launch; 3] {
        let row = i64::from(HEADS * HEAD_DIM);
        let append = kvk_append_params {
            cache: self.cache,
            keys: self.keys.pointer(),
            values: self.values.pointer(),
            token_stride: row,
            head_stride: i64::from(HEAD_DIM),
            slots: self.slots.pointer(),
            status: self.status.pointer(),
            tokens: lists.slots.len() as u32 / 2,
            type_: ELEMENT.number(),
        };
        let attend = self.attend(lists.lengths.len() as u32);
        [Launch::Append(launch::Append { params: append }), Launch::Attend(attend), Launch::Merge(attend)]
    }

    fn attend(&self, sequences: u32) -> launch::Attend {
        let plan_at = |bytes: u64| self.plan.pointer::<u8>().wrapping_add(bytes as usize);
        let rows = i64::from(QUERY_HEADS * HEAD_DIM);
        let params = kvk_attend_params {
            cache: self.cache,
            table: kvk_table {
                entries: self.entries.pointer(),
                rows: null(),
                row_stride: i64::from(self.sizes.columns),
                columns: self.sizes.columns,
                reserved: 0,
            },
            lengths: self.lengths.pointer(),
            queries: self.queries.pointer(),
            output: self.output.pointer(),
            lse: self.lse.pointer(),
            query_token_stride: rows,
            query_head_stride: i64::from(HEAD_DIM),
            output_token_stride: rows,
            output_head_stride: i64::from(HEAD_DIM),
            lse_token_stride: i64::from(QUERY_HEADS),
            item_starts: plan_at(self.layout.item_starts).cast(),
            items: plan_at(self.layout.items).cast(),
            joins: plan_at(self.layout.joins).cast(),
            join_count: plan_at(self.layout.join_count).cast(),
            part_output: self.parts[0].pointer(),
            part_lse: self.parts[1].pointer(),
            status: self.status.pointer(),
            scale: SCALE,
            window_left: -1,
            query_heads: QUERY_HEADS,
            sequences,
            type_: ELEMENT.number(),
            tile_rows: self.split.tile_rows,
            thread_blocks: self.sizes.thread_blocks,
            merge_thread_blocks: self.sizes.thread_blocks,
            ..Default::default()
        };
        launch::Attend {
            params,
            table_rows: self.sizes.sequences,
            longest: self.sizes.keys,
            query_tokens: sequences,
            items: self.layout.items_max,
            joins: self.layout.joins_max.max(1),
            parts: self.layout.parts_max,
        }
    }

    fn copy_results(&self, stream: &Stream, lists: &Lists, results: &Results) -> Result<(), Error> {
        let Results { memory, places } = results;
        let rows = lists.lengths.len() * QUERY_HEADS as usize;
        stream.copy((memory, 0), (&self.output, 0), rows * HEAD_DIM as usize * 2)?;
        stream.copy((memory, places.lse), (&self.lse, 0), rows * 4)?;
        stream.copy((memory, places.header), (&self.plan, 0), size_of::<SplitHeader>())?;
        stream.copy((memory, places.status), (&self.status, 0), size_of::<kvk_status>())
    }
}

const NOTHING: kvk_status = kvk_status { first: u64::MAX, faults: 0, reserved: 0 };

impl Results {
    /// What is in them for so many sequences. Only when all work that writes them is over.
    pub fn found(&self, sequences: usize) -> Result<Found, Error> {
        let start = self.memory.host_pointer()?;
        // SAFETY: the memory is as long, and nothing writes it: the event behind the copies into it is over.
        let bytes = unsafe { std::slice::from_raw_parts(start, self.places.bytes) };
        let rows = sequences * QUERY_HEADS as usize;
        let two = |two: &[u8]| u16::from_le_bytes([two[0], two[1]]);
        let four = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let status = self.places.status;
        Ok(Found {
            output: bytes[..rows * HEAD_DIM as usize * 2].chunks_exact(2).map(two).collect(),
            lse: (0..rows).map(|row| f32::from_bits(four(self.places.lse + row * 4))).collect(),
            // Version, checksum, generation.
            generation: four(self.places.header + 8),
            status: kvk_status {
                first: u64::from(four(status)) | u64::from(four(status + 4)) << 32,
                faults: four(status + 8),
                reserved: 0,
            },
        })
    }
}
