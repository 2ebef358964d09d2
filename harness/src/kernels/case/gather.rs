//! A case of keys and values that come out of their blocks.

use crate::kernels::numbers::Element;
use crate::kernels::pool::Pool;
use crate::kernels::table::Table;

/// Runs of keys, one a sequence.
#[derive(Clone, Debug)]
pub struct Gather {
    /// What it is about.
    pub title: String,
    /// Where they come from.
    pub pool: Pool,
    /// Where those of each sequence are.
    pub table: Table,
    /// The first key of each sequence that is wanted.
    pub first_keys: Vec<u32>,
    /// How many from it on.
    pub counts: Vec<u32>,
    /// The type that they come out in.
    pub element: Element,
}

impl Gather {
    /// Where each sequence's keys begin in the output, and the total.
    pub fn starts(&self) -> Vec<u32> {
        let mut end = 0;
        let ends = self.counts.iter().map(|count| {
            end += count;
            end
        });
        [0].into_iter().chain(ends).collect()
    }
}
