//! Rule K: what a block is called. Two blocks have one name exactly when they are in one trust group and everything up to
//! their end is equal.
//!
//! Names are given out by interning, so that equality is exact: nothing is compared by its hash alone.
//!
//! The ids of a prompt make a path in a tree: its root is the trust group, and a node is known by its parent and its id. All
//! ids of a trace cover the same number of tokens, so that how deep a node is says which tokens it covers. A block is called
//! by the node that has its last token, and by its place among the blocks that end there: the path to the node is its whole
//! prefix. That an id covers many blocks costs nothing: a node remembers how many of them have been named, from the first
//! on.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU32;

/// The name of a block: equal names, equal blocks. [`dense`] makes small numbers of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BlockName {
    /// The node in whose id it ends.
    node: u32,
    /// Its place among the blocks that do.
    place: u32,
}

/// A number from 0 on, without gaps, for each of `names`: equal names, equal numbers. There are at most 2^32 names.
pub fn dense(names: &[BlockName]) -> Vec<u32> {
    let nodes = names.iter().map(|name| name.node as usize + 1).max().unwrap_or(0);
    let mut bases = vec![0; nodes];
    for name in names {
        let blocks = &mut bases[name.node as usize];
        *blocks = name.place.saturating_add(1).max(*blocks);
    }
    let mut total = 0_u32;
    for base in &mut bases {
        (*base, total) = (total, total.saturating_add(*base));
    }
    names.iter().map(|name| bases[name.node as usize] + name.place).collect()
}

/// What naming the blocks of a prompt came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Named {
    /// Identified blocks of the prompt.
    pub blocks: u32,
    /// How many of them, from block 0 on without a gap, had their names before. The others are new, all of them: a block
    /// that is known has its whole prefix known.
    pub known: u32,
}

/// A trace is too large to be named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TooMany {
    /// There are more different prefixes than 32 bits can count.
    Prefixes,
    /// More than [`NAMES_MAX`] names are wanted at once.
    Names,
}

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TooMany::Prefixes => "the ids of the trace have more than 2^32 different prefixes; give --first",
            TooMany::Names => "its prompts have more than 2^26 blocks; give a larger --block-tokens, or --first",
        })
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
/// Most names that are listed at once, 8 bytes each. A line of a hundred bytes may ask for 2^31: one id may cover that many
/// tokens.
pub const NAMES_MAX: usize = 1 << 26;

/// An id after a prefix.
#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    /// Blocks that end in the id and have names: so many, from the first on.
    blocks: u32,
    /// Of a root, its group.
    id: u64,
}

/// The names that were given out. About 28 bytes an id after a prefix, and as much again for a moment when it grows.
#[derive(Clone, Debug)]
pub struct Identities {
    block_tokens: u32,
    id_tokens: u32,
    nodes: Vec<Node>,
    /// Nodes by hash of (parent, id): the next free slot after it. Its length is a power of two, and half of it is empty.
    slots: Vec<u32>,
    /// Another key each time, so that no trace can be made whose ids all meet in one slot. Names do not depend on it.
    hasher: RandomState,
    blocks: u64,
}

impl Identities {
    /// Names for blocks of `block_tokens` tokens, of prompts whose ids cover `id_tokens` tokens each.
    pub fn new(block_tokens: NonZeroU32, id_tokens: NonZeroU32) -> Identities {
        Identities {
            block_tokens: block_tokens.get(),
            id_tokens: id_tokens.get(),
            nodes: Vec::new(),
            slots: vec![EMPTY; SLOTS_MIN],
            hasher: RandomState::new(),
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
    /// are too many, or would be more than [`NAMES_MAX`] in `names`; what was named before stays.
    pub fn name(&mut self, group: u64, prompt: u32, ids: &[u64], names: &mut Vec<BlockName>) -> Result<Named, TooMany> {
        let blocks = self.identified(prompt, ids.len()) as usize;
        if blocks > NAMES_MAX.saturating_sub(names.len()) {
            return Err(TooMany::Names);
        }
        self.walk(group, prompt, ids, |node, blocks| names.extend((0..blocks).map(|place| BlockName { node, place })))
    }

    /// The same where nobody wants to know the names: it takes a moment for each id, not for each block. Errors: there are
    /// too many.
    pub fn count(&mut self, group: u64, prompt: u32, ids: &[u64]) -> Result<Named, TooMany> {
        self.walk(group, prompt, ids, |_, _| {})
    }

    /// Goes along the ids that have identified blocks. `each` gets a node, and how many blocks of the prompt end there.
    fn walk(&mut self, group: u64, prompt: u32, ids: &[u64], mut each: impl FnMut(u32, u32)) -> Result<Named, TooMany> {
        let blocks = self.identified(prompt, ids.len());
        let (block_tokens, id_tokens) = (u64::from(self.block_tokens), u64::from(self.id_tokens));
        let named = u64::from(blocks) * block_tokens;
        let (mut known, mut begin, mut at) = (0, 0, self.node(NONE, group)?);
        for &id in ids.iter().take(named.div_ceil(id_tokens) as usize) {
            at = self.node(at, id)?;
            let end = named.min(begin + id_tokens);
            // At most as many as the prompt has.
            let here = (end / block_tokens - begin / block_tokens) as u32;
            begin = end;
            let node = &mut self.nodes[at as usize];
            self.blocks += u64::from(here.saturating_sub(node.blocks));
            known += here.min(node.blocks);
            node.blocks = node.blocks.max(here);
            each(at, here);
        }
        Ok(Named { blocks, known })
    }

    /// The node of `id` under `parent`.
    fn node(&mut self, parent: u32, id: u64) -> Result<u32, TooMany> {
        let slot = self.slot(parent, id);
        if self.slots[slot] != EMPTY {
            return Ok(self.slots[slot]);
        }
        if self.nodes.len() >= NODES_MAX {
            return Err(TooMany::Prefixes);
        }
        let node = self.nodes.len() as u32;
        self.nodes.push(Node { parent, blocks: 0, id });
        self.slots[slot] = node;
        if self.nodes.len() * 2 > self.slots.len() {
            self.grow();
        }
        Ok(node)
    }

    /// Where the node of (parent, id) is, or where it belongs.
    fn slot(&self, parent: u32, id: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = self.hasher.hash_one((parent, id)) as usize & mask;
        while let Some(&node) = self.slots.get(slot)
            && node != EMPTY
            && (self.nodes[node as usize].parent, self.nodes[node as usize].id) != (parent, id)
        {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        self.slots = vec![EMPTY; self.slots.len() * 2];
        for node in 0..self.nodes.len() {
            let Node { parent, id, .. } = self.nodes[node];
            let slot = self.slot(parent, id);
            self.slots[slot] = node as u32;
        }
    }
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

    /// One id that covers 2^31 - 1 tokens is one node, whatever a block is.
    #[test]
    fn what_an_id_covers_takes_no_room() {
        let most = u32::MAX >> 1;
        let mut identities = identities(1, most);
        let count = |identities: &mut Identities, prompt, ids: &[u64]| {
            let Named { blocks, known } = identities.count(0, prompt, ids).expect("few enough");
            (blocks, known)
        };
        assert_eq!(count(&mut identities, most, &[1]), (most, 0));
        assert_eq!(count(&mut identities, most - 5, &[1]), (most - 5, most - 5));
        assert_eq!(count(&mut identities, most, &[2]), (most, 0));
        assert_eq!(count(&mut identities, 7, &[3]), (7, 0));
        assert_eq!(count(&mut identities, 9, &[3]), (9, 7), "what was not reached is new");
        assert_eq!(identities.distinct(), 2 * u64::from(most) + 9);
        assert_eq!(identities.nodes.len(), 4, "a group and three ids");
        let mut names = Vec::new();
        assert_eq!(identities.name(0, most, &[1], &mut names), Err(TooMany::Names));
        assert!(names.is_empty());
    }

    #[test]
    fn prompts_of_millions_of_tokens_have_names() {
        let mut identities = identities(16, 10_000_000);
        let mut names = Vec::new();
        for _ in 0..2 {
            identities.name(0, 10_000_000, &[1], &mut names).expect("few enough");
        }
        let numbers = dense(&names);
        assert_eq!(numbers[..625_000], (0..625_000).collect::<Vec<u32>>());
        assert_eq!(numbers[625_000..], numbers[..625_000]);
    }

    #[test]
    fn dense_numbers_are_equal_where_names_are() {
        let mut identities = identities(2, 3);
        let mut names = Vec::new();
        for ids in [[1, 2, 3], [1, 5, 3], [1, 2, 4], [9, 2, 3]] {
            identities.name(0, 9, &ids, &mut names).expect("few enough");
        }
        assert_eq!(dense(&names), [0, 1, 2, 3, 0, 4, 5, 6, 0, 1, 2, 7, 8, 9, 10, 11]);
        assert!(dense(&[]).is_empty());
    }

    /// Ids that were chosen so that a mix of parent and id without a key sends all of them to one slot.
    #[test]
    fn chosen_ids_do_not_meet_in_one_slot() {
        let mut identities = identities(1, 1);
        for parent in 0..20_000 {
            identities.node(NONE, parent).expect("few enough");
        }
        for parent in 0..20_000_u32 {
            let id = u64::from(parent).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            identities.node(parent, id).expect("few enough");
        }
        let slots = &identities.slots;
        let longest = slots.split(|&slot| slot == EMPTY).map(<[u32]>::len).max().unwrap_or(0);
        assert!(longest < 1000, "{longest} slots in a row are taken");
    }

    #[test]
    fn names_do_not_depend_on_the_key() {
        let ids: Vec<u64> = (0..3_000).map(|number| number * number % 1_009).collect();
        let names = || {
            let mut identities = identities(3, 5);
            ids.chunks(7).map(|ids| name(&mut identities, ids[0] % 4, 33, ids)).collect::<Vec<_>>()
        };
        assert_eq!(names(), names());
    }
}
