//! A case of attention: a batch over a pool, and how it is asked for.

use crate::kernels::numbers::Element;
use crate::kernels::pool::Pool;
use crate::kernels::table::Table;
use kvledger_core::split::{Split, SplitBatch};

/// One batch.
#[derive(Clone, Debug)]
pub struct Attend {
    /// What it is about, for who reads that it failed.
    pub title: String,
    /// Keys and values.
    pub pool: Pool,
    /// Where those of each sequence are.
    pub table: Table,
    /// Keys of each sequence, those of its query tokens included.
    pub lengths: Vec<u32>,
    /// As in `kvk_attend_params`; empty: one query token each.
    pub query_starts: Vec<u32>,
    /// As there; empty: the last ones.
    pub query_positions: Vec<u32>,
    /// First key of each sequence that is attended to; empty: 0.
    pub begins: Vec<u32>,
    /// End of the keys of each sequence that are attended to; empty: all.
    pub ends: Vec<u32>,
    /// Query heads.
    pub query_heads: u32,
    /// The type of queries and outputs.
    pub element: Element,
    /// `[query tokens][query_heads][head_dim]`, bits.
    pub queries: Vec<u16>,
    /// What scores are made with.
    pub options: Options,
    /// Strides of the queries in memory.
    pub query_rows: Rows,
    /// Strides of the output in memory.
    pub output_rows: Rows,
    /// From one token to the next in the memory of LSE, in floats.
    pub lse_stride: u32,
    /// What the plan is made for. Its maxima are the batch's or larger.
    pub split: Split,
    /// Thread blocks of the merge.
    pub merge_thread_blocks: u32,
}

/// What scores are made with.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// Of scores.
    pub scale: f32,
    /// 0: none.
    pub soft_cap: f32,
    /// −1: all.
    pub window: i32,
    /// One a query head, or none.
    pub slopes: Vec<f32>,
    /// One a query head, or none.
    pub sinks: Vec<f32>,
}

/// Strides of `[tokens][heads][head_dim]`, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rows {
    /// From one token to the next.
    pub token_stride: u32,
    /// From one head to the next.
    pub head_stride: u32,
}

impl Rows {
    /// One after the other.
    pub fn contiguous(heads: u32, head_dim: u32) -> Rows {
        Rows { token_stride: heads * head_dim, head_stride: head_dim }
    }

    /// Where a row begins.
    pub fn element(&self, token: usize, head: usize) -> usize {
        token * self.token_stride as usize + head * self.head_stride as usize
    }

    /// Elements from the first to the end of the last.
    pub fn total(&self, tokens: usize, heads: u32, head_dim: u32) -> usize {
        match tokens.checked_sub(1) {
            None => 0,
            Some(last) => self.element(last, heads as usize - 1) + head_dim as usize,
        }
    }

    /// Rows `[tokens][heads][head_dim]` at their places, everything else NaN.
    pub fn image(&self, bits: &[u16], heads: u32, head_dim: u32) -> Vec<u16> {
        let (heads, head_dim) = (heads as usize, head_dim as usize);
        let tokens = bits.len() / (heads * head_dim);
        let mut image = vec![0xFFFF; self.total(tokens, heads as u32, head_dim as u32)];
        for (row, from) in bits.chunks_exact(head_dim).enumerate() {
            let at = self.element(row / heads, row % heads);
            image[at..at + head_dim].copy_from_slice(from);
        }
        image
    }
}

impl Options {
    /// Plain attention over heads of this dimension.
    pub fn plain(head_dim: u32) -> Options {
        let scale = 1.0 / (head_dim as f32).sqrt();
        Options { scale, soft_cap: 0.0, window: -1, slopes: Vec::new(), sinks: Vec::new() }
    }
}

impl Attend {
    /// The query tokens of a sequence, as places in the batch.
    pub fn tokens_of(&self, sequence: usize) -> std::ops::Range<usize> {
        match self.query_starts.as_slice() {
            [] => sequence..sequence + 1,
            starts => starts[sequence] as usize..starts[sequence + 1] as usize,
        }
    }

    /// Query tokens of all sequences.
    pub fn query_tokens(&self) -> usize {
        self.query_starts.last().map_or(self.lengths.len(), |end| *end as usize)
    }

    /// The place of a query token in its sequence: below 0 where there are more query tokens than keys.
    pub fn position(&self, sequence: usize, token: usize) -> i64 {
        let tokens = self.tokens_of(sequence);
        let last_ones = i64::from(self.lengths[sequence]) - tokens.len() as i64 + (token - tokens.start) as i64;
        self.query_positions.get(token).map_or(last_ones, |position| i64::from(*position))
    }

    /// What the plan is made of.
    pub fn batch(&self) -> SplitBatch<'_> {
        SplitBatch {
            lengths: &self.lengths,
            query_starts: &self.query_starts,
            query_positions: &self.query_positions,
            begins: &self.begins,
            ends: &self.ends,
        }
    }

    /// Whether a key of a sequence is seen by a query at `position`, by the words of the parameters.
    pub fn sees(&self, sequence: usize, position: i64, key: u32) -> bool {
        let distance = position - i64::from(key);
        let begin = self.begins.get(sequence).copied().unwrap_or(0);
        let end = self.ends.get(sequence).copied().unwrap_or(u32::MAX).min(self.lengths[sequence]);
        let in_window = self.options.window < 0 || distance <= i64::from(self.options.window);
        distance >= 0 && in_window && (begin..end).contains(&key)
    }
}
