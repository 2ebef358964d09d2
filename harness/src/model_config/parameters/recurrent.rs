//! Parameters of one layer with a state instead of attention.

use super::super::error::ConfigError;
use super::super::heads::HIDDEN;
use super::super::keys::Keys;
use super::super::state;
use super::{Part, Tally, family};

/// Adds a layer.
pub fn add(tally: &mut Tally, keys: &Keys<'_>) -> Result<(), ConfigError> {
    match keys.text(&["model_type"])? {
        Some("qwen3_next") => delta_net(tally, keys),
        Some("jamba") => mamba1(tally, keys),
        Some("nemotron_h") => mamba2(tally, keys),
        _ => Err(family::not_known(keys)),
    }
}

/// Queries, keys, values and a gate; two numbers a value head; a convolution; decay, step and norm; the way out.
fn delta_net(tally: &mut Tally, keys: &Keys<'_>) -> Result<(), ConfigError> {
    let size = |name: &str| keys.size(&[name]).map(u128::from);
    let hidden = u128::from(keys.size(&HIDDEN)?);
    let (key_heads, value_heads) = (size("linear_num_key_heads")?, size("linear_num_value_heads")?);
    let value_dim = size("linear_value_head_dim")?;
    let (keys_wide, values_wide) = (key_heads * size("linear_key_head_dim")?, value_heads * value_dim);
    tally.divided(Part::Recurrent, hidden * 2 * (keys_wide + values_wide));
    tally.divided(Part::Recurrent, hidden * 2 * value_heads);
    tally.divided(Part::Recurrent, (2 * keys_wide + values_wide) * size("linear_conv_kernel_dim")?);
    tally.divided(Part::Recurrent, 2 * value_heads);
    tally.on_each(Part::Norm, value_dim);
    tally.divided(Part::Recurrent, values_wide * hidden);
    Ok(())
}

/// In, convolution with its bias, step and state projections with their norms, decay and skip, out.
fn mamba1(tally: &mut Tally, keys: &Keys<'_>) -> Result<(), ConfigError> {
    let hidden = u128::from(keys.size(&HIDDEN)?);
    let inner = small(keys, state::widened(keys)?)?;
    let states = u128::from(keys.size(&["mamba_d_state"])?);
    let kernel = u128::from(keys.size(&["mamba_d_conv"])?);
    let steps = match keys.find(&["mamba_dt_rank"]) {
        Some((_, value)) if value.as_str() != Some("auto") => u128::from(keys.size(&["mamba_dt_rank"])?),
        _ => hidden.div_ceil(16),
    };
    let bias = u128::from(keys.flag(&["mamba_conv_bias"])?.unwrap_or(true));
    tally.divided(Part::Recurrent, hidden * 2 * inner);
    tally.divided(Part::Recurrent, inner * (kernel + bias));
    tally.divided(Part::Recurrent, inner * (steps + 2 * states));
    tally.divided(Part::Recurrent, (steps + 1) * inner);
    tally.divided(Part::Recurrent, inner * states + inner);
    tally.on_each(Part::Norm, steps + 2 * states);
    tally.divided(Part::Recurrent, inner * hidden);
    if keys.flag(&["mamba_proj_bias"])? == Some(true) {
        tally.divided(Part::Bias, 2 * inner);
        tally.on_each(Part::Bias, hidden);
    }
    Ok(())
}

/// One way in for everything, a convolution, three numbers a head, a norm, the way out.
fn mamba2(tally: &mut Tally, keys: &Keys<'_>) -> Result<(), ConfigError> {
    let size = |wanted: &[&str]| keys.size(wanted).map(u128::from);
    let hidden = size(&HIDDEN)?;
    let heads = size(&["mamba_num_heads"])?;
    let inner = small(keys, heads * size(&["mamba_head_dim"])?)?;
    let grouped = 2 * small(keys, size(&["n_groups"])? * size(&["ssm_state_size"])?)?;
    let bias = u128::from(keys.flag(&["use_conv_bias"])?.unwrap_or(true));
    tally.divided(Part::Recurrent, hidden * (2 * inner + grouped + heads));
    tally.divided(Part::Recurrent, (inner + grouped) * (size(&["conv_kernel"])? + bias));
    tally.divided(Part::Recurrent, 3 * heads);
    tally.on_each(Part::Norm, inner);
    tally.divided(Part::Recurrent, inner * hidden);
    Ok(())
}

/// A product that is used as a size: below 2^63.
fn small(keys: &Keys<'_>, product: u128) -> Result<u128, ConfigError> {
    if product > u128::from(u64::MAX >> 1) {
        return Err(ConfigError::overflow(keys.file, "the parameters of a recurrent block"));
    }
    Ok(product)
}
