//! A case of new keys and values that go into their blocks.

use super::Rows;
use crate::kernels::numbers::Element;
use crate::kernels::pool::Pool;

/// New tokens, and the pool before them.
#[derive(Clone, Debug)]
pub struct Append {
    /// What it is about.
    pub title: String,
    /// The pool before.
    pub pool: Pool,
    /// The type of the new numbers.
    pub element: Element,
    /// `[tokens][heads][head_dim]`, bits.
    pub keys: Vec<u16>,
    /// Likewise.
    pub values: Vec<u16>,
    /// Strides of both in memory.
    pub rows: Rows,
    /// Block and token in it, for each new token; block 0: not written.
    pub slots: Vec<(u32, u32)>,
}

impl Append {
    /// Bits of the key and of the value of a new token's head.
    pub fn pair(&self, token: usize, head: usize) -> [&[u16]; 2] {
        let head_dim = self.pool.shape.head_dim as usize;
        let row = (token * self.pool.shape.heads as usize + head) * head_dim;
        [&self.keys[row..row + head_dim], &self.values[row..row + head_dim]]
    }
}
