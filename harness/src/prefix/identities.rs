//! Rule K: what a block is called. Two blocks have one name exactly when they are in one trust group and everything up to
//! their end is equal.
//!
//! Names are given out by interning, so that equality is exact: nothing is compared by its hash alone.
//!
//! A prompt is cut into pieces, where a block ends and where an id ends. The pieces make a path in a tree: its root is the
//! trust group, and a node is known by its parent and the id of its piece. The rule's piece also has an offset and a length.
//! They need not be stored: all ids of a trace cover the same number of tokens, all blocks have the same size, and
//! identified blocks are whole, so that how deep a node is says where its piece begins and ends. A block is called by the
//! node of its last piece, and its parents are its whole prefix.

use std::fmt;
use std::num::NonZeroU32;

/// The name of a block: equal names, equal blocks. Names are given out in ascending order; they are not dense when a block
/// has several pieces or there are several groups.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BlockName(pub u32);

/// What naming the blocks of a prompt came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Named {
    /// Identified blocks of the prompt.
    pub blocks: u32,
    /// How many of them, from block 0 on without a gap, had their names before. The others are new, all of them: a block
    /// that is known has its whole prefix known.
    pub known: u32,
}

/// There are more different pieces than 32 bits can count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooMany;

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the trace has more than 2^32 different blocks; give --first, or a larger --block-tokens")
    }
}

impl std::error::Error for TooMany {}

/// The parent of the roots.
const NONE: u32 = u32::MAX;
/// A slot of the table without a node.
const EMPTY: u32 = u32::MAX;
/// Nodes are below this.
const NODES_MAX: usize = u32::MAX as usize;
const SLOTS_MIN: usize = 1 << 10;

/// The names that were given out. About 20 bytes a node, and as much again for a moment when it grows.
#[derive(Clone, Debug)]
pub struct Identities {
    block_tokens: u32,
    id_tokens: u32,
    /// By node.
    parents: Vec<u32>,
    /// By node: the id of its piece; of a root, its group.
    ids: Vec<u64>,
    /// Nodes by hash of (parent, id): the next free slot after it. Its length is a power of two, and half of it is empty.
    slots: Vec<u32>,
    blocks: u64,
}

impl Identities {
    /// Names for blocks of `block_tokens` tokens, of prompts whose ids cover `id_tokens` tokens each.
    pub fn new(block_tokens: NonZeroU32, id_tokens: NonZeroU32) -> Identities {
        Identities {
            block_tokens: block_tokens.get(),
            id_tokens: id_tokens.get(),
            parents: Vec::new(),
            ids: Vec::new(),
            slots: vec![EMPTY; SLOTS_MIN],
            blocks: 0,
        }
    }

    /// Different blocks so far.
    pub fn distinct(&self) -> u64 {
        self.blocks
    }

    /// How many blocks of a prompt of `prompt` tokens with `ids` ids are identified: whole ones, whose tokens are all named.
    pub fn identified(&self, prompt: u32, ids: usize) -> u32 {
        let named = (ids as u64).saturating_mul(u64::from(self.id_tokens)).min(u64::from(prompt));
        // At most `prompt`, so that it fits.
        (named / u64::from(self.block_tokens)) as u32
    }

    /// Names the identified blocks of a prompt in a trust group: they are put behind those that `names` has. Errors: there
    /// are too many; what was named before stays.
    pub fn name(&mut self, group: u64, prompt: u32, ids: &[u64], names: &mut Vec<BlockName>) -> Result<Named, TooMany> {
        let blocks = self.identified(prompt, ids.len());
        let (block_tokens, id_tokens) = (u64::from(self.block_tokens), u64::from(self.id_tokens));
        let mut node = self.node(NONE, group)?.0;
        let (mut known, mut begin) = (0, 0);
        for block in 1..=blocks {
            let end = u64::from(block) * block_tokens;
            let mut is_new = false;
            while begin < end {
                let number = begin / id_tokens;
                // `identified` has seen that there are so many.
                let id = ids.get(number as usize).copied().unwrap_or_default();
                (node, is_new) = self.node(node, id)?;
                begin = end.min((number + 1) * id_tokens);
            }
            self.blocks += u64::from(is_new);
            known += u32::from(!is_new);
            names.push(BlockName(node));
        }
        Ok(Named { blocks, known })
    }

    /// The node of `id` under `parent`, and whether it is new.
    fn node(&mut self, parent: u32, id: u64) -> Result<(u32, bool), TooMany> {
        let slot = self.slot(parent, id);
        if self.slots[slot] != EMPTY {
            return Ok((self.slots[slot], false));
        }
        if self.parents.len() >= NODES_MAX {
            return Err(TooMany);
        }
        let node = self.parents.len() as u32;
        self.parents.push(parent);
        self.ids.push(id);
        self.slots[slot] = node;
        if self.parents.len() * 2 > self.slots.len() {
            self.grow();
        }
        Ok((node, true))
    }

    /// Where the node of (parent, id) is, or where it belongs.
    fn slot(&self, parent: u32, id: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = mixed(parent, id) as usize & mask;
        while let Some(&node) = self.slots.get(slot)
            && node != EMPTY
            && (self.parents[node as usize], self.ids[node as usize]) != (parent, id)
        {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        self.slots = vec![EMPTY; self.slots.len() * 2];
        for node in 0..self.parents.len() {
            let slot = self.slot(self.parents[node], self.ids[node]);
            self.slots[slot] = node as u32;
        }
    }
}

/// Spreads neighbouring ids under neighbouring parents over all bits (the finalizer of SplitMix64).
fn mixed(parent: u32, id: u64) -> u64 {
    let word = id ^ u64::from(parent).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identities(block_tokens: u32, id_tokens: u32) -> Identities {
        let not_0 = |value| NonZeroU32::new(value).expect("not 0");
        Identities::new(not_0(block_tokens), not_0(id_tokens))
    }

    /// `(blocks, known)` and the names.
    fn name(identities: &mut Identities, group: u64, prompt: u32, ids: &[u64]) -> ((u32, u32), Vec<BlockName>) {
        let mut names = Vec::new();
        let named = identities.name(group, prompt, ids, &mut names).expect("few enough");
        ((named.blocks, named.known), names)
    }

    #[test]
    fn the_same_id_after_another_prefix_is_another_block() {
        let mut identities = identities(4, 4);
        let (first, names) = name(&mut identities, 0, 12, &[1, 2, 3]);
        assert_eq!(first, (3, 0));
        assert_eq!(name(&mut identities, 0, 12, &[1, 2, 3]), ((3, 3), names.clone()));
        let (other, other_names) = name(&mut identities, 0, 12, &[9, 2, 3]);
        assert_eq!(other, (3, 0));
        assert!(other_names.iter().all(|name| !names.contains(name)));
        assert_eq!(name(&mut identities, 0, 11, &[1, 2, 4]).0, (2, 2), "the third block is not whole");
        assert_eq!(identities.distinct(), 6);
    }

    #[test]
    fn nothing_is_shared_between_groups() {
        let mut identities = identities(4, 4);
        assert_eq!(name(&mut identities, 0, 8, &[1, 2]).0, (2, 0));
        assert_eq!(name(&mut identities, 1, 8, &[1, 2]).0, (2, 0));
        assert_eq!(name(&mut identities, u64::from(u32::MAX), 8, &[1, 2]).0, (2, 0));
        assert_eq!(name(&mut identities, 1, 8, &[1, 2]).0, (2, 2));
        assert_eq!(identities.distinct(), 6);
    }

    #[test]
    fn blocks_and_ids_need_not_divide_each_other() {
        // Blocks of 4 from ids of 6: [a a a a] [a a b b] [b b b b] [c c c c] [c c d d].
        let mut identities = identities(4, 6);
        assert_eq!(name(&mut identities, 0, 24, &[1, 2, 3, 4]).0, (6, 0));
        assert_eq!(name(&mut identities, 0, 24, &[1, 9, 3, 4]).0, (6, 1));
        assert_eq!(name(&mut identities, 0, 24, &[1, 2, 9, 4]).0, (6, 3));
        assert_eq!(name(&mut identities, 0, 9, &[1, 2]).0, (2, 2));
        assert_eq!(name(&mut identities, 0, 90, &[1, 2]).0, (3, 3), "only two ids, twelve tokens, are named");
        // Blocks of 6 from ids of 4, and of 3 ids of 1 token.
        assert_eq!(name(&mut self::identities(6, 4), 0, 12, &[1, 2, 3]).0, (2, 0));
        assert_eq!(name(&mut self::identities(3, 1), 0, 7, &[1, 2, 3, 4, 5, 6, 7]).0, (2, 0));
    }

    #[test]
    fn what_has_no_ids_has_no_names() {
        let mut identities = identities(1, 1);
        assert_eq!(name(&mut identities, 0, u32::MAX, &[]), ((0, 0), vec![]));
        assert_eq!(name(&mut identities, 0, 0, &[1]), ((0, 0), vec![]));
        assert_eq!(self::identities(7, u32::MAX).identified(u32::MAX, usize::MAX), u32::MAX / 7);
    }

    /// The table grows many times, and ids that differ in high bits only stay apart.
    #[test]
    fn many_names_stay_apart() {
        let mut identities = identities(1, 1);
        let ids: Vec<u64> = (0..20_000).map(|number| number << 40).collect();
        let (named, names) = name(&mut identities, 0, 20_000, &ids);
        assert_eq!(named, (20_000, 0));
        assert_eq!(name(&mut identities, 0, 20_000, &ids), ((20_000, 20_000), names));
        for &id in &ids[1..] {
            assert_eq!(name(&mut identities, 0, 1, &[id]).0, (1, 0));
        }
        assert_eq!(identities.distinct(), 39_999);
    }
}
