//! Cases of results that are joined: the parts of one launch, and two whole ones.

use super::Rows;
use crate::kernels::numbers::Element;
use kvledger_core::split::Split;

/// Partial results of attention, made up, and the plan that they are parts of.
#[derive(Clone, Debug)]
pub struct Merge {
    /// What it is about.
    pub title: String,
    /// Keys of each sequence: what the plan is made of.
    pub lengths: Vec<u32>,
    /// As in attention; empty: one each.
    pub query_starts: Vec<u32>,
    /// The plan's shape.
    pub split: Split,
    /// Elements of a head.
    pub head_dim: u32,
    /// The type of the output.
    pub element: Element,
    /// Strides of the output.
    pub rows: Rows,
    /// From one token to the next in the memory of LSE, in floats.
    pub lse_stride: u32,
    /// One a query head, or none.
    pub sinks: Vec<f32>,
    /// What was left by the launch before.
    pub parts: Parts,
    /// Thread blocks.
    pub thread_blocks: u32,
}

/// Partial results.
#[derive(Clone, PartialEq, Debug)]
pub struct Parts {
    /// `[parts][tile_rows][head_dim]`: NaN where the logarithm is −infinity.
    pub output: Vec<f32>,
    /// `[parts][tile_rows]`, base 2.
    pub logs: Vec<f32>,
}

/// Two results over different keys of the same queries.
#[derive(Clone, Debug)]
pub struct MergeTwo {
    /// What it is about.
    pub title: String,
    /// Query tokens.
    pub tokens: u32,
    /// Query heads.
    pub heads: u32,
    /// Elements of a head.
    pub head_dim: u32,
    /// The type of all three.
    pub element: Element,
    /// `[tokens][heads][head_dim]`, bits, of the first and the second.
    pub outputs: [Vec<u16>; 2],
    /// `[tokens][heads]`, natural logarithms.
    pub lse: [Vec<f32>; 2],
    /// Strides of all three outputs.
    pub rows: Rows,
    /// From one token to the next in the memories of LSE, in floats.
    pub lse_stride: u32,
    /// Whether the result lies over the first one.
    pub in_place: bool,
}
