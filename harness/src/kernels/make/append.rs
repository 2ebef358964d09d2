//! New keys and values at random, into pools that hold others.

use super::pool::{PoolWanted, contents, pool_of, table_of};
use crate::kernels::case::{Append, Rows};
use crate::kernels::numbers::Element;
use crate::kernels::random::Random;
use std::collections::BTreeSet;

/// Any case: a batch that is decoded, in which each sequence gets tokens behind its last one, some of them padding.
pub fn append(random: &mut Random) -> Append {
    let (element, to) = (random.one_of(&Element::WIDE), random.one_of(&Element::ALL));
    let (heads, head_dim) = (random.one_of(&[1, 2, 5]), random.one_of(&[16, 64, 80, 96, 112, 128, 192, 256]));
    let block_tokens = random.one_of(&[1, 3, 8, 16, 64, 256]);
    let lengths: Vec<u32> = (0..random.below(5)).map(|_| random.below(2 * block_tokens + 3)).collect();
    let more: Vec<u32> = lengths.iter().map(|_| random.below(7)).collect();
    let ends: Vec<u32> = lengths.iter().zip(&more).map(|(length, more)| length + more).collect();
    let (table, blocks) = table_of(&ends, block_tokens, 0, random);
    let wanted = PoolWanted { blocks, ..PoolWanted::random(random, to, heads, head_dim, block_tokens) };
    let shape = pool_of(&wanted, random);
    let mut slots = Vec::new();
    for (sequence, (length, end)) in lengths.iter().zip(&ends).enumerate() {
        for key in *length..*end {
            let at = table.place(&shape, sequence as u32, key, 0).expect("the table has its block");
            slots.push(if random.once_in(6) { (0, random.below(9)) } else { (at.block, at.token) });
        }
    }
    let bad = spoil(&mut slots, blocks, block_tokens, random);
    let numbers = slots.len() as u32 * heads * head_dim;
    let mut bits = || -> Vec<u16> {
        let wild = random.once_in(4);
        (0..numbers).map(|_| number(element, wild, random)).collect()
    };
    let (keys, values) = (bits(), bits());
    let gap = random.one_of(&[0, 8, 40]);
    let head_stride = head_dim + gap;
    Append {
        title: format!(
            "{} into {}, {heads} heads of {head_dim}, blocks of {block_tokens}, {:?}{}, {} tokens{bad}",
            element.name(),
            to.name(),
            wanted.order,
            if wanted.scales_each { ", scales of each" } else { "" },
            slots.len()
        ),
        pool: contents(shape, &table, &lengths, 1.0, random),
        element,
        keys,
        values,
        rows: Rows { token_stride: head_stride * heads + gap, head_stride },
        slots,
    }
}

/// Once in three, slots that no cache has: they are reported, and nothing is written.
fn spoil(slots: &mut [(u32, u32)], blocks: u32, block_tokens: u32, random: &mut Random) -> &'static str {
    if slots.is_empty() || !random.once_in(3) {
        return "";
    }
    let mut spoiled = BTreeSet::new();
    for bad in [(blocks + 1, 0), (u32::MAX, 0), (1, block_tokens), (blocks, u32::MAX)] {
        let at = random.below(slots.len() as u32) as usize;
        if spoiled.insert(at) {
            slots[at] = bad;
        }
    }
    ", some out of the pool"
}

/// Ordinary numbers, or any bits at all: NaN, infinities, subnormals, numbers that the cache's type does not hold.
fn number(element: Element, wild: bool, random: &mut Random) -> u16 {
    if wild { random.number() as u16 } else { element.nearest(random.normal() * 3.0) }
}
