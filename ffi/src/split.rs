//! Split plans: `kvledger_core::split`. The plan itself is words that C reads where `kvl_split_layout` says.

use crate::answer::{KvlRefusal, fill, fill_apart, run};
use crate::array::{Span, apart, array, array_mut, span};
use crate::claim::{InSized, Out, OutSized};
use crate::observe::text;
use kvledger_core::Refusal;
use kvledger_core::split::{Split, SplitBatch, SplitCounts, SplitFault, SplitHeader, SplitLayout};

/// [`SplitBatch`] as C has it: arrays and their counts. NULL is an array that is not given.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KvlSplitBatch {
    /// Keys of each sequence.
    pub lengths: *const u32,
    /// `sequences + 1` first query tokens, or NULL.
    pub query_starts: *const u32,
    /// `query_positions_count` places, or NULL.
    pub query_positions: *const u32,
    /// First keys, one a sequence, or NULL.
    pub begins: *const u32,
    /// Ends of keys, one a sequence, or NULL.
    pub ends: *const u32,
    /// Entries of `lengths`.
    pub sequences: u32,
    /// Entries of `query_positions`.
    pub query_positions_count: u32,
}

impl KvlSplitBatch {
    /// Where its arrays are.
    fn spans(&self) -> [Span; 5] {
        let sequences = self.sequences as usize;
        [
            span(self.lengths, sequences),
            span(self.query_starts, sequences.saturating_add(1)),
            span(self.query_positions, self.query_positions_count as usize),
            span(self.begins, sequences),
            span(self.ends, sequences),
        ]
    }

    /// # Safety
    /// Each array is NULL or valid for its count for `'a`.
    unsafe fn batch<'a>(&self) -> Result<SplitBatch<'a>, Refusal> {
        let sequences = self.sequences as usize;
        let optional = |start: *const u32, count: usize| {
            let count = if start.is_null() { 0 } else { count };
            // SAFETY: the caller's promise.
            unsafe { array(start, count) }
        };
        Ok(SplitBatch {
            // SAFETY: the caller's promise.
            lengths: unsafe { array(self.lengths, sequences) }?,
            query_starts: optional(self.query_starts, sequences.saturating_add(1))?,
            query_positions: optional(self.query_positions, self.query_positions_count as usize)?,
            begins: optional(self.begins, sequences)?,
            ends: optional(self.ends, sequences)?,
        })
    }
}

/// [`SplitFault`] as C has it.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KvlSplitFault {
    /// What does not agree: text, ended by NUL, cut if it is longer. Empty: nothing is wrong.
    pub what: [u8; crate::FAULT_TEXT_BYTES],
    /// Of which entry.
    pub index: u32,
    /// 0.
    pub reserved: u32,
    /// What it should be.
    pub expected: u64,
    /// What it is.
    pub found: u64,
}

impl From<Result<(), SplitFault>> for KvlSplitFault {
    fn from(answer: Result<(), SplitFault>) -> KvlSplitFault {
        let SplitFault { what, index, expected, found } =
            answer.err().unwrap_or(SplitFault { what: "", index: 0, expected: 0, found: 0 });
        KvlSplitFault { what: text(what), index, reserved: 0, expected, found }
    }
}

/// `Split::decode`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_split_decode(
    heads: u32,
    query_heads: u32,
    thread_blocks: u32,
    sequences_max: u32,
    keys_max: u32,
    split: OutSized<'_, Split>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(split, refusal, || Ok(Split::decode(heads, query_heads, thread_blocks, sequences_max, keys_max)))
}

/// `Split::prefill`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_split_prefill(
    heads: u32,
    query_heads: u32,
    thread_blocks: u32,
    sequences_max: u32,
    query_tokens_max: u32,
    keys_max: u32,
    split: OutSized<'_, Split>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(split, refusal, || {
        Ok(Split::prefill(heads, query_heads, thread_blocks, sequences_max, query_tokens_max, keys_max))
    })
}

/// `Split::check`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_split_check(split: InSized<'_, Split>, refusal: Out<'_, KvlRefusal>) -> u32 {
    run(refusal, || split.given()?.check())
}

/// `Split::layout`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_split_layout(
    split: InSized<'_, Split>,
    layout: OutSized<'_, SplitLayout>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(layout, refusal, || split.given()?.layout())
}

/// `Split::count`.
///
/// # Safety
/// Each array of `batch` is NULL or valid for its count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_split_count(
    split: InSized<'_, Split>,
    batch: InSized<'_, KvlSplitBatch>,
    counts: OutSized<'_, SplitCounts>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(counts, refusal, || {
        // SAFETY: the caller's promise.
        let batch = unsafe { batch.given()?.batch() }?;
        split.given()?.count(&batch)
    })
}

/// `Split::plan`.
///
/// # Safety
/// Each array of `batch` is NULL or valid for its count, `words` is NULL or valid for `words_count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_split_plan(
    split: InSized<'_, Split>,
    batch: InSized<'_, KvlSplitBatch>,
    generation: u32,
    words: *mut u32,
    words_count: usize,
    header: Out<'_, SplitHeader>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    let written = [span(words, words_count)];
    fill_apart(header, refusal, &written, &[split.range(), batch.range()], || {
        let (split, batch) = (split.given()?, batch.given()?);
        apart(&written, &batch.spans())?;
        // SAFETY: the caller's promise.
        let batch = unsafe { batch.batch() }?;
        // SAFETY: the caller's promise.
        let words = unsafe { array_mut(words, words_count) }?;
        split.plan(&batch, generation, words)
    })
}

/// `Split::read`: the header of what was read. C reads the rest where the layout says.
///
/// # Safety
/// `words` is NULL or valid for `words_count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_split_read(
    split: InSized<'_, Split>,
    words: *const u32,
    words_count: usize,
    header: Out<'_, SplitHeader>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(header, refusal, || {
        // SAFETY: the caller's promise.
        let words = unsafe { array(words, words_count) }?;
        Ok(split.given()?.read(words)?.header())
    })
}

/// `Split::validate`. A fault is a finding, not a refusal: the status is 0 and its text is not empty.
///
/// # Safety
/// Each array of `batch` is NULL or valid for its count, `words` is NULL or valid for `words_count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_split_validate(
    split: InSized<'_, Split>,
    batch: InSized<'_, KvlSplitBatch>,
    words: *const u32,
    words_count: usize,
    fault: Out<'_, KvlSplitFault>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(fault, refusal, || {
        // SAFETY: the caller's promise.
        let batch = unsafe { batch.given()?.batch() }?;
        // SAFETY: the caller's promise.
        let words = unsafe { array(words, words_count) }?;
        Ok(split.given()?.validate(&batch, words)?.into())
    })
}
