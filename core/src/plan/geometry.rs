//! From a model's shape to bytes: what one token, one block and one pool cost.

use super::element::{Element, Grain, Scales};
use super::{paged, product, sum};
use crate::answer::{Argument, Refusal};
use crate::config::BLOCKS_MAX;

/// The shape of a KV cache: all that decides its bytes. Every layer has the same shape; a model whose layers differ
/// has one geometry (and one pool) for each kind.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Layers whose keys and values are kept in this pool. At least 1.
    pub layers: u32,
    /// KV heads a layer: after grouping, and of one rank if the heads are split over ranks. At least 1.
    pub kv_heads: u32,
    /// Elements of one key. At least 1.
    pub key_dim: u32,
    /// Elements of one value; 0 when key and value are one joint latent vector of `key_dim` elements.
    pub value_dim: u32,
    /// Tokens a block, B. At least 1.
    pub block_tokens: u32,
    /// The block's bytes are rounded up to a multiple of this. A power of two, at least 1.
    pub block_align_bytes: u32,
    /// The type of the elements.
    pub element: Element,
    /// The scales beside them.
    pub scales: Scales,
}

impl Geometry {
    /// Keys and values of one size, no scales, blocks aligned for 16-byte copies. Nothing is checked here: the first
    /// question asked of it checks.
    pub const fn new(layers: u32, kv_heads: u32, head_dim: u32, block_tokens: u32, element: Element) -> Geometry {
        Geometry {
            layers,
            kv_heads,
            key_dim: head_dim,
            value_dim: head_dim,
            block_tokens,
            block_align_bytes: 16,
            element,
            scales: Scales::NONE,
        }
    }

    /// Bytes of one token over all layers: elements, and the scales that each token has of its own. Scales that belong
    /// to a block are in [`block_bytes`](Geometry::block_bytes) only.
    ///
    /// `INVALID(Geometry)` if a field is out of range, `INVALID(Overflow)` if the answer does not fit in 64 bits.
    pub const fn token_bytes(&self) -> Result<u64, Refusal> {
        attempt!(self.check());
        let vectors = sum(self.vector_bytes(self.key_dim), self.vector_bytes(self.value_dim));
        let elements = attempt!(product(self.kv_heads as u64, attempt!(vectors)));
        let scales = attempt!(product(attempt!(self.scales_of_token()), self.scales.bytes as u64));
        product(self.layers as u64, attempt!(sum(elements, scales)))
    }

    /// Bytes of one block over all layers: its tokens, the scales that belong to the block, and what alignment adds.
    ///
    /// Errors as [`token_bytes`](Geometry::token_bytes).
    pub const fn block_bytes(&self) -> Result<u64, Refusal> {
        let tokens = attempt!(product(self.block_tokens as u64, attempt!(self.token_bytes())));
        let scales = attempt!(product(attempt!(self.scales_of_block()), self.scales.bytes as u64));
        let bytes = attempt!(sum(tokens, attempt!(product(self.layers as u64, scales))));
        match bytes.checked_next_multiple_of(self.block_align_bytes as u64) {
            Some(aligned) => Ok(aligned),
            None => Err(Refusal::invalid(Argument::Overflow)),
        }
    }

    /// Whole blocks that fit into `bytes`, rounded down. When the null block is to live in the same bytes, N is one
    /// less than this; [`pool_bytes`](Geometry::pool_bytes) counts it.
    ///
    /// `INVALID(Blocks)` if that is none or more than [`BLOCKS_MAX`]; else as [`token_bytes`](Geometry::token_bytes).
    pub const fn pool_blocks(&self, bytes: u64) -> Result<u32, Refusal> {
        match bytes.checked_div(attempt!(self.block_bytes())) {
            Some(blocks) if blocks > 0 && blocks <= BLOCKS_MAX as u64 => Ok(blocks as u32),
            _ => Err(Refusal::invalid(Argument::Blocks)),
        }
    }

    /// Device bytes of a pool with `blocks` usable blocks: one more, because the null block 0 exists too.
    ///
    /// `INVALID(Blocks)` if `blocks` is 0 or above [`BLOCKS_MAX`]; else as [`token_bytes`](Geometry::token_bytes).
    pub const fn pool_bytes(&self, blocks: u32) -> Result<u64, Refusal> {
        if blocks == 0 || blocks > BLOCKS_MAX {
            return Err(Refusal::invalid(Argument::Blocks));
        }
        product(blocks as u64 + 1, attempt!(self.block_bytes()))
    }

    /// Blocks of a request at its longest: ⌈(prompt + output)/B⌉.
    ///
    /// `INVALID(Geometry)` if a field is out of range.
    pub const fn request_blocks(&self, prompt_tokens: u32, output_tokens_max: u32) -> Result<u64, Refusal> {
        attempt!(self.check());
        paged::blocks_for(prompt_tokens as u64 + output_tokens_max as u64, self.block_tokens)
    }

    /// `INVALID(Geometry)` unless every field is in the range that its comment says.
    pub const fn check(&self) -> Result<(), Refusal> {
        let shape = self.layers > 0 && self.kv_heads > 0 && self.key_dim > 0 && self.block_tokens > 0;
        let scales = match self.scales.grain {
            Grain::None => self.scales.bytes == 0 && self.scales.group == 0,
            Grain::ElementGroup => self.scales.bytes > 0 && self.scales.group > 0,
            _ => self.scales.bytes > 0 && self.scales.group == 0,
        };
        if shape && scales && self.block_align_bytes.is_power_of_two() {
            Ok(())
        } else {
            Err(Refusal::invalid(Argument::Geometry))
        }
    }

    /// One head's key or value, which starts at a byte. At most 2^34: no overflow.
    const fn vector_bytes(&self, dim: u32) -> u64 {
        (dim as u64 * self.element.bits() as u64).div_ceil(8)
    }

    /// 2 where keys and values are apart, 1 for a joint latent.
    const fn vectors(&self) -> u64 {
        if self.value_dim > 0 { 2 } else { 1 }
    }

    /// Scales that one token has of its own in one layer.
    const fn scales_of_token(&self) -> Result<u64, Refusal> {
        match self.scales.grain {
            Grain::None | Grain::Block | Grain::BlockHead | Grain::BlockChannel => Ok(0),
            Grain::Token => Ok(self.vectors()),
            Grain::TokenHead => product(self.kv_heads as u64, self.vectors()),
            Grain::ElementGroup => {
                let groups = self.groups_of(self.key_dim) + self.groups_of(self.value_dim);
                product(self.kv_heads as u64, groups)
            }
        }
    }

    /// Scales that one block has in one layer, besides those of its tokens.
    const fn scales_of_block(&self) -> Result<u64, Refusal> {
        match self.scales.grain {
            Grain::None | Grain::Token | Grain::TokenHead | Grain::ElementGroup => Ok(0),
            Grain::Block => Ok(self.vectors()),
            Grain::BlockHead => product(self.kv_heads as u64, self.vectors()),
            Grain::BlockChannel => product(self.kv_heads as u64, self.key_dim as u64 + self.value_dim as u64),
        }
    }

    /// Groups of one vector. `check` has refused a group of 0; the 1 keeps a panic path out of the division.
    const fn groups_of(&self, dim: u32) -> u64 {
        let group = if self.scales.group == 0 { 1 } else { self.scales.group };
        dim.div_ceil(group) as u64
    }
}
