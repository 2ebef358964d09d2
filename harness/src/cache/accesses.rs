//! The blocks that requests ask for, in order.

use super::Name;
use crate::prefix::{GroupRule, Identities, TooMany, dense};
use crate::trace::Trace;
use std::num::NonZeroU32;

/// The identified blocks of every request of a trace. Four bytes a block.
#[derive(Clone, Debug)]
pub struct Accesses {
    blocks: Vec<Name>,
    /// Where each request ends among them.
    ends: Vec<usize>,
    names: usize,
}

impl Accesses {
    /// Those of `trace` in blocks of `block_tokens`, shared inside groups of `rule`. Err: too many different ones.
    pub fn new(trace: &Trace, block_tokens: NonZeroU32, rule: GroupRule) -> Result<Accesses, TooMany> {
        let id_tokens = NonZeroU32::new(trace.id_tokens).unwrap_or(NonZeroU32::MIN);
        let mut identities = Identities::new(block_tokens, id_tokens);
        let (mut names, mut ends) = (Vec::new(), Vec::with_capacity(trace.requests.len()));
        for (index, request) in trace.requests.iter().enumerate() {
            identities.name(rule.group(trace, index), request.prompt, trace.ids(request), &mut names)?;
            ends.push(names.len());
        }
        Ok(Accesses::of(dense(&names), ends))
    }

    /// `blocks` of requests that end at `ends` among them.
    pub(super) fn of(blocks: Vec<Name>, ends: Vec<usize>) -> Accesses {
        let names = blocks.iter().max().map_or(0, |&name| name as usize + 1);
        Accesses { blocks, ends, names }
    }

    /// Every name is below this.
    pub fn names(&self) -> usize {
        self.names
    }

    /// The blocks of request `index`, from block 0 on; none if there is no such request.
    pub fn request(&self, index: usize) -> &[Name] {
        let from = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(index).map_or(&[], |&end| &self.blocks[from..end])
    }

    /// All requests, the blocks of each from block 0 on.
    pub fn requests(&self) -> impl Iterator<Item = &[Name]> {
        (0..self.ends.len()).map(|index| self.request(index))
    }
}
