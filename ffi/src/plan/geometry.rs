//! Bytes: `Geometry`, with its enumerations as numbers.

use crate::answer::{KvlRefusal, fill, invalid, run};
use crate::claim::{InSized, Out, OutSized};
use kvledger_core::plan::{Element, Geometry, Grain, Scales};
use kvledger_core::{Argument, Refusal};

/// [`Geometry`], with element and grain as numbers.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KvlGeometry {
    /// Layers whose keys and values are kept in this pool.
    pub layers: u32,
    /// KV heads a layer.
    pub kv_heads: u32,
    /// Elements of one key.
    pub key_dim: u32,
    /// Elements of one value; 0 for a joint latent.
    pub value_dim: u32,
    /// Tokens a block.
    pub block_tokens: u32,
    /// The block's bytes are rounded up to a multiple of this power of two.
    pub block_align_bytes: u32,
    /// The number of the [`Element`].
    pub element: u32,
    /// The number of the [`Grain`].
    pub scale_grain: u32,
    /// Bytes of one scale.
    pub scale_bytes: u32,
    /// Elements of a group.
    pub scale_group: u32,
}

impl KvlGeometry {
    /// `INVALID(Geometry)` for a number that names nothing.
    fn geometry(&self) -> Result<Geometry, Refusal> {
        let grain = Grain::from_number(self.scale_grain).ok_or(invalid(Argument::Geometry))?;
        Ok(Geometry {
            layers: self.layers,
            kv_heads: self.kv_heads,
            key_dim: self.key_dim,
            value_dim: self.value_dim,
            block_tokens: self.block_tokens,
            block_align_bytes: self.block_align_bytes,
            element: element(self.element)?,
            scales: Scales { grain, bytes: self.scale_bytes, group: self.scale_group },
        })
    }
}

impl From<Geometry> for KvlGeometry {
    fn from(geometry: Geometry) -> KvlGeometry {
        KvlGeometry {
            layers: geometry.layers,
            kv_heads: geometry.kv_heads,
            key_dim: geometry.key_dim,
            value_dim: geometry.value_dim,
            block_tokens: geometry.block_tokens,
            block_align_bytes: geometry.block_align_bytes,
            element: geometry.element as u32,
            scale_grain: geometry.scales.grain as u32,
            scale_bytes: geometry.scales.bytes,
            scale_group: geometry.scales.group,
        }
    }
}

fn element(number: u32) -> Result<Element, Refusal> {
    Element::from_number(number).ok_or(invalid(Argument::Geometry))
}

/// `Element::bits`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_element_bits(number: u32, bits: Out<'_, u32>, refusal: Out<'_, KvlRefusal>) -> u32 {
    fill(bits, refusal, || Ok(element(number)?.bits()))
}

/// `Geometry::new`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_geometry_new(
    layers: u32,
    kv_heads: u32,
    head_dim: u32,
    block_tokens: u32,
    element_number: u32,
    geometry: OutSized<'_, KvlGeometry>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(geometry, refusal, || {
        Ok(Geometry::new(layers, kv_heads, head_dim, block_tokens, element(element_number)?).into())
    })
}

/// `Geometry::check`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_geometry_check(geometry: InSized<'_, KvlGeometry>, refusal: Out<'_, KvlRefusal>) -> u32 {
    run(refusal, || geometry.given()?.geometry()?.check())
}

/// `Geometry::token_bytes`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_geometry_token_bytes(
    geometry: InSized<'_, KvlGeometry>,
    bytes: Out<'_, u64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(bytes, refusal, || geometry.given()?.geometry()?.token_bytes())
}

/// `Geometry::block_bytes`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_geometry_block_bytes(
    geometry: InSized<'_, KvlGeometry>,
    bytes: Out<'_, u64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(bytes, refusal, || geometry.given()?.geometry()?.block_bytes())
}

/// `Geometry::pool_blocks`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_geometry_pool_blocks(
    geometry: InSized<'_, KvlGeometry>,
    bytes: u64,
    blocks: Out<'_, u32>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(blocks, refusal, || geometry.given()?.geometry()?.pool_blocks(bytes))
}

/// `Geometry::pool_bytes`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_geometry_pool_bytes(
    geometry: InSized<'_, KvlGeometry>,
    blocks: u32,
    bytes: Out<'_, u64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(bytes, refusal, || geometry.given()?.geometry()?.pool_bytes(blocks))
}

/// `Geometry::request_blocks`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_geometry_request_blocks(
    geometry: InSized<'_, KvlGeometry>,
    prompt_tokens: u32,
    output_tokens_max: u32,
    blocks: Out<'_, u64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(blocks, refusal, || geometry.given()?.geometry()?.request_blocks(prompt_tokens, output_tokens_max))
}
