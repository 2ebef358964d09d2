//! Parameters of one layer's attention.

use super::super::error::ConfigError;
use super::super::heads::{self, HIDDEN};
use super::super::keys::Keys;
use super::family::{AttentionKind, Family, HeadNorm};
use super::{Part, Tally};

/// Adds a layer.
pub fn add(tally: &mut Tally, keys: &Keys<'_>, family: &Family) -> Result<(), ConfigError> {
    let hidden = u128::from(keys.size(&HIDDEN)?);
    let query_heads = heads::query_heads(keys)?;
    if family.attention == AttentionKind::Latent {
        return latent(tally, keys, family, hidden, query_heads);
    }
    let (kv_heads, dim) = (heads::kv_heads(keys)?, u128::from(heads::head_dim(keys)?));
    let queries = if family.attention == AttentionKind::Gated { 2 } else { 1 };
    tally.by_heads(Part::Attention, query_heads, queries * hidden * dim);
    tally.by_heads(Part::Attention, kv_heads, 2 * hidden * dim);
    tally.by_heads(Part::Attention, query_heads, dim * hidden);
    if family.qkv_bias.is_there(keys)? {
        tally.by_heads(Part::Bias, query_heads, queries * dim);
        tally.by_heads(Part::Bias, kv_heads, 2 * dim);
    }
    if family.output_bias.is_there(keys)? {
        tally.on_each(Part::Bias, hidden);
    }
    if family.attention == AttentionKind::Sinks {
        tally.divided(Part::Bias, u128::from(query_heads));
    }
    match family.head_norm {
        HeadNorm::None => {}
        HeadNorm::OfHead => tally.on_each(Part::Norm, 2 * dim),
        HeadNorm::OfAll => {
            tally.by_heads(Part::Norm, query_heads, dim);
            tally.by_heads(Part::Norm, kv_heads, dim);
        }
    }
    Ok(())
}

/// Down into a latent, and up from it for each head; queries through a latent of their own where there is one.
fn latent(
    tally: &mut Tally,
    keys: &Keys<'_>,
    family: &Family,
    hidden: u128,
    query_heads: u64,
) -> Result<(), ConfigError> {
    let size = |name: &str| keys.size(&[name]).map(u128::from);
    let (plain, rope, value) = (size("qk_nope_head_dim")?, size("qk_rope_head_dim")?, size("v_head_dim")?);
    let rank = size("kv_lora_rank")?;
    let has_bias = family.qkv_bias.is_there(keys)?;
    match keys.size_if_there(&["q_lora_rank"])?.map(u128::from) {
        Some(query_rank) => {
            tally.on_each(Part::Attention, hidden * query_rank);
            tally.on_each(Part::Bias, u128::from(has_bias) * query_rank);
            tally.on_each(Part::Norm, query_rank);
            tally.by_heads(Part::Attention, query_heads, query_rank * (plain + rope));
        }
        None => tally.by_heads(Part::Attention, query_heads, hidden * (plain + rope)),
    }
    tally.on_each(Part::Attention, hidden * (rank + rope));
    tally.on_each(Part::Bias, u128::from(has_bias) * (rank + rope));
    tally.on_each(Part::Norm, rank);
    tally.by_heads(Part::Attention, query_heads, rank * (plain + value));
    tally.by_heads(Part::Attention, query_heads, value * hidden);
    if family.output_bias.is_there(keys)? {
        tally.on_each(Part::Bias, hidden);
    }
    Ok(())
}
