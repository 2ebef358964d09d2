//! A pool of keys and values as a case has it: what is in which token of which block, apart from where a layout puts it.
//!
//! The problem: the same contents must come out whatever the strides are, and nothing may be touched that nobody named. So
//! contents are kept by (block, token, head), the layout turns them into bytes, and all other bytes are poison: the null
//! block, the tails of blocks, the gaps between rows. What comes back is compared as a whole.

use super::numbers::Element;
use std::collections::BTreeMap;

/// Where elements are. Strides and offsets in elements; keys and values share strides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Layout {
    /// From one block to the next.
    pub block_stride: u64,
    /// From one token of a block to the next.
    pub token_stride: u64,
    /// From one head of a token to the next.
    pub head_stride: u64,
    /// The null block's first key, from the beginning of the memory.
    pub keys_at: u64,
    /// Its first value.
    pub values_at: u64,
}

/// How eight-bit numbers are scaled.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Scales {
    /// One for all keys, one for all values; 1 where there are 16 bits.
    One([f32; 2]),
    /// One for each (block, token, head), in memory of their own. `keys_at` and `values_at` count floats.
    Each(Layout),
}

/// What a pool is, without what is in it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PoolShape {
    /// The type of its numbers.
    pub element: Element,
    /// N: usable blocks, 1 to this.
    pub blocks: u32,
    /// B.
    pub block_tokens: u32,
    /// Key-value heads.
    pub heads: u32,
    /// Elements of a head.
    pub head_dim: u32,
    /// Where they are.
    pub layout: Layout,
    /// What they are multiplied by.
    pub scales: Scales,
}

/// The place of one head's key and value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct At {
    /// The block, 1 to N.
    pub block: u32,
    /// The token in it.
    pub token: u32,
    /// The key-value head.
    pub head: u32,
}

/// Key and value of one token and head: bits, and what they are multiplied by where each has its own.
#[derive(Clone, PartialEq, Debug)]
pub struct KeyValue {
    /// Bits of the key, one element each.
    pub key: Vec<u16>,
    /// Bits of the value.
    pub value: Vec<u16>,
    /// Scale of the key and of the value.
    pub scales: [f32; 2],
}

/// A shape and what is in it.
#[derive(Clone, Debug)]
pub struct Pool {
    /// The shape.
    pub shape: PoolShape,
    /// What was written; everything else is poison.
    pub contents: BTreeMap<At, KeyValue>,
}

impl PoolShape {
    /// Where key and value of a head begin, in elements.
    pub fn elements(&self, at: At) -> [u64; 2] {
        self.layout.places(at)
    }

    /// Elements of the whole memory, gaps and null block included.
    pub fn elements_total(&self) -> u64 {
        let last = At { block: self.blocks, token: self.block_tokens - 1, head: self.heads - 1 };
        let [key, value] = self.elements(last);
        key.max(value) + u64::from(self.head_dim)
    }

    /// Its bytes.
    pub fn bytes(&self) -> u64 {
        self.elements_total() * self.element.bytes() as u64
    }

    /// Floats of the memory of scales; 0 if there is none.
    pub fn scale_floats(&self) -> u64 {
        let Scales::Each(layout) = self.scales else { return 0 };
        let last = At { block: self.blocks, token: self.block_tokens - 1, head: self.heads - 1 };
        layout.places(last).into_iter().max().unwrap_or(0) + 1
    }

    /// Whether `block` may be in a table.
    pub fn has_block(&self, block: u32) -> bool {
        (1..=self.blocks).contains(&block)
    }
}

impl Layout {
    fn places(&self, at: At) -> [u64; 2] {
        let offset = u64::from(at.block) * self.block_stride
            + u64::from(at.token) * self.token_stride
            + u64::from(at.head) * self.head_stride;
        [self.keys_at + offset, self.values_at + offset]
    }
}

impl Pool {
    /// A pool in which nothing was written.
    pub fn poisoned(shape: PoolShape) -> Pool {
        Pool { shape, contents: BTreeMap::new() }
    }

    /// Its memory, byte for byte.
    pub fn image(&self) -> Vec<u8> {
        let mut image = vec![self.shape.element.poison(); self.shape.bytes() as usize];
        for (at, pair) in &self.contents {
            for (bits, element) in [&pair.key, &pair.value].into_iter().zip(self.shape.elements(*at)) {
                let bytes = self.row_bytes(bits);
                let start = element as usize * self.shape.element.bytes();
                image[start..start + bytes.len()].copy_from_slice(&bytes);
            }
        }
        image
    }

    /// The memory of its scales.
    pub fn scale_image(&self) -> Vec<f32> {
        let mut image = vec![f32::NAN; self.shape.scale_floats() as usize];
        let Scales::Each(layout) = self.shape.scales else { return image };
        for (at, pair) in &self.contents {
            for (scale, place) in pair.scales.into_iter().zip(layout.places(*at)) {
                image[place as usize] = scale;
            }
        }
        image
    }

    /// Bits of one row as bytes of its memory.
    pub fn row_bytes(&self, bits: &[u16]) -> Vec<u8> {
        match self.shape.element.is_wide() {
            true => bits.iter().flat_map(|bits| bits.to_le_bytes()).collect(),
            false => bits.iter().map(|bits| *bits as u8).collect(),
        }
    }

    /// What is written at a place. Panics if nothing is: then the case itself is wrong.
    pub fn read(&self, at: At) -> &KeyValue {
        self.contents.get(&at).unwrap_or_else(|| panic!("the case reads {at:?}, which it has not written"))
    }

    /// A key's or value's numbers, scaled.
    pub fn values(&self, bits: &[u16], scale: f64) -> Vec<f64> {
        bits.iter().map(|bits| self.shape.element.value(*bits) * scale).collect()
    }

    /// The scales of a key and of a value.
    pub fn scales_of(&self, pair: &KeyValue) -> [f64; 2] {
        match self.shape.scales {
            Scales::One(scales) => scales.map(f64::from),
            Scales::Each(_) => pair.scales.map(f64::from),
        }
    }
}
