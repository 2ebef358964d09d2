//! What a layer without attention keeps: a state of one size for a sequence of any length.
//!
//! Sizes are those that vLLM allocates (`model_executor/layers/mamba/mamba_utils.py`): the last `kernel − 1` inputs of a
//! short convolution, and the recurrent state itself.

use super::element;
use super::error::ConfigError;
use super::heads::HIDDEN;
use super::keys::Keys;

/// The elements of one layer's state on one rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Elements {
    convolution: u128,
    recurrent: u128,
}

/// Bytes of one layer's state for one sequence, on one of `ranks`. Dimensions are divided among the ranks, rounded up.
pub fn bytes(keys: &Keys<'_>, ranks: u64) -> Result<u64, ConfigError> {
    let flag = "--state-bytes";
    let model = u128::from(element::of_key(keys, &["mamba_dtype"], flag)?.bits());
    let (elements, recurrent_bits) = if keys.has(&["lru_width"]) {
        (gated_recurrence(keys, ranks)?, 32)
    } else if let Some(config) = keys.inner("linear_attn_config")? {
        (kimi_delta(&config, ranks)?, 32)
    } else {
        let ssm = ["mamba_ssm_dtype", "mamba_ssm_cache_dtype"];
        (elements(keys, ranks)?, u128::from(element::of_key(keys, &ssm, flag)?.bits()))
    };
    let bits = elements.convolution * model + elements.recurrent * recurrent_bits;
    u64::try_from(bits / 8).map_err(|_| ConfigError::overflow(keys.file, "the bytes of a sequence's state"))
}

fn elements(keys: &Keys<'_>, ranks: u64) -> Result<Elements, ConfigError> {
    if keys.has(&["linear_num_value_heads"]) {
        delta_net(keys, ranks)
    } else if keys.has(&["mamba_num_heads", "mamba_n_heads"]) {
        mamba2(keys, ranks)
    } else if keys.has(&["mamba_d_state", "state_size"]) {
        mamba1(keys, ranks)
    } else if keys.has(&["conv_L_cache"]) {
        let kept = keys.size(&["conv_L_cache"])? - 1;
        let width = keys.size(&HIDDEN)?.div_ceil(ranks);
        Ok(Elements { convolution: u128::from(width) * u128::from(kept), recurrent: 0 })
    } else {
        let found = "layers without attention are there, and no key that says how large their state is (looked for \
                     `linear_num_value_heads`, `mamba_num_heads`, `mamba_n_heads`, `mamba_d_state`, `state_size`, \
                     `conv_L_cache`, `lru_width`)";
        Err(ConfigError::new(keys.file, found, "give --state-bytes BYTES, of all such layers of one sequence"))
    }
}

/// Gated delta rule (Qwen3-Next): a convolution over queries, keys and values, and a matrix a value head.
fn delta_net(keys: &Keys<'_>, ranks: u64) -> Result<Elements, ConfigError> {
    let key_heads = u128::from(keys.size(&["linear_num_key_heads"])?.div_ceil(ranks));
    let value_heads = u128::from(keys.size(&["linear_num_value_heads"])?.div_ceil(ranks));
    let key_dim = u128::from(keys.size(&["linear_key_head_dim"])?);
    let value_dim = u128::from(keys.size(&["linear_value_head_dim"])?);
    let kept = u128::from(keys.size(&["linear_conv_kernel_dim"])? - 1);
    let wide = bounded(keys, 2 * key_heads * key_dim + value_heads * value_dim)?;
    Ok(Elements { convolution: wide * kept, recurrent: bounded(keys, value_heads * key_dim)? * value_dim })
}

/// Kimi Linear: as many key heads as value heads, all of one dimension; the matrices in 32 bits.
fn kimi_delta(config: &Keys<'_>, ranks: u64) -> Result<Elements, ConfigError> {
    let heads = u128::from(config.size(&["num_heads"])?.div_ceil(ranks));
    let dim = u128::from(config.size(&["head_dim"])?);
    let kept = u128::from(config.size(&["short_conv_kernel_size"])? - 1);
    let wide = bounded(config, heads * dim)?;
    Ok(Elements { convolution: bounded(config, 3 * wide)? * kept, recurrent: wide * dim })
}

/// The second Mamba (Bamba, Nemotron-H, Granite 4, Falcon-H1): heads with a state each, groups that share B and C.
fn mamba2(keys: &Keys<'_>, ranks: u64) -> Result<Elements, ConfigError> {
    let heads = keys.size(&["mamba_num_heads", "mamba_n_heads"])?;
    let head_dim = match keys.find(&["mamba_head_dim", "mamba_d_head"]) {
        // As Bamba has it: the widened model by its heads.
        Some((_, value)) if value.as_str() == Some("auto") => {
            u64::try_from(widened(keys)? / u128::from(heads)).unwrap_or(u64::MAX).max(1)
        }
        _ => keys.size(&["mamba_head_dim", "mamba_d_head"])?,
    };
    let groups = keys.size(&["n_groups", "mamba_n_groups", "mamba_num_groups"])?.div_ceil(ranks);
    let state = u128::from(keys.size(&["ssm_state_size", "mamba_d_state", "state_size"])?);
    let kept = u128::from(keys.size(&["conv_kernel", "mamba_d_conv"])? - 1);
    let inner = bounded(keys, u128::from(heads.div_ceil(ranks)) * u128::from(head_dim))?;
    let wide = bounded(keys, inner + 2 * u128::from(groups) * state)?;
    Ok(Elements { convolution: wide * kept, recurrent: inner * state })
}

/// The first Mamba (Jamba).
fn mamba1(keys: &Keys<'_>, ranks: u64) -> Result<Elements, ConfigError> {
    let inner = bounded(keys, widened(keys)?.div_ceil(u128::from(ranks)))?;
    let state = u128::from(keys.size(&["mamba_d_state", "state_size"])?);
    let kept = u128::from(keys.size(&["mamba_d_conv", "conv_kernel"])? - 1);
    Ok(Elements { convolution: inner * kept, recurrent: inner * state })
}

/// RecurrentGemma: one number a channel, in 32 bits.
fn gated_recurrence(keys: &Keys<'_>, ranks: u64) -> Result<Elements, ConfigError> {
    let width = u128::from(keys.size(&["lru_width"])?.div_ceil(ranks));
    let kept = u128::from(keys.size(&["conv1d_width"])? - 1);
    Ok(Elements { convolution: width * kept, recurrent: width })
}

/// The width inside a Mamba block.
pub fn widened(keys: &Keys<'_>) -> Result<u128, ConfigError> {
    let expand = keys.size(&["mamba_expand", "expand"])?;
    Ok(u128::from(expand) * u128::from(keys.size(&HIDDEN)?))
}

/// Keeps products of two further factors inside 128 bits.
fn bounded(keys: &Keys<'_>, elements: u128) -> Result<u128, ConfigError> {
    if elements > u128::from(u64::MAX) {
        return Err(ConfigError::overflow(keys.file, "the elements of a sequence's state"));
    }
    Ok(elements)
}
