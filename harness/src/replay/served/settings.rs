//! How a trace is served, and what was.

use super::super::settings::Sharing;
use crate::prefix::GroupRule;

/// How a trace is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Most blocks of the pool; a third of what all requests need is enough.
    pub blocks: u32,
    /// B.
    pub block_tokens: u32,
    /// Most tokens that a request makes: the rest of its output is left out.
    pub output_most: u32,
    /// Whether prefixes are shared.
    pub sharing: Sharing,
    /// Inside which groups.
    pub group: GroupRule,
    /// Thread blocks of a launch.
    pub thread_blocks: u32,
}

/// What was served.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Served {
    /// Requests.
    pub requests: u64,
    /// Requests whose longest context is more than the pool.
    pub rejected: u64,
    /// Steps, of both lanes.
    pub steps: u64,
    /// N.
    pub pool_blocks: u32,
    /// Tokens whose keys and values were written.
    pub written: u64,
    /// Tokens that were found in blocks of others.
    pub cached: u64,
    /// Rows of attention that were compared.
    pub rows: u64,
    /// The largest error, as a share of what is allowed.
    pub share: f64,
    /// Blocks that were taken.
    pub taken: u64,
    /// Different ones among them.
    pub distinct: u64,
    /// Blocks that waited for work when their last holder left.
    pub retired: u64,
    /// Admissions that were refused for blocks; each was tried again.
    pub refused: u64,
}
