//! Parameters of one layer's feed-forward block: dense, or experts with their router.

use super::super::error::ConfigError;
use super::super::heads::HIDDEN;
use super::super::keys::Keys;
use super::family::{AttentionKind, Experts, Family};
use super::{Part, Tally};

/// Keys for the number of experts.
const EXPERTS: [&str; 3] = ["num_local_experts", "num_experts", "n_routed_experts"];
/// Keys for the width of a dense block.
const WIDTH: [&str; 3] = ["intermediate_size", "ffn_hidden_size", "n_inner"];

/// Adds the block of layer `index`.
pub fn add(tally: &mut Tally, keys: &Keys<'_>, family: &Family, index: u64) -> Result<(), ConfigError> {
    let hidden = u128::from(keys.size(&HIDDEN)?);
    if has_experts(keys, family, index)? {
        return experts(tally, keys, family, hidden);
    }
    let width = match keys.size_if_there(&WIDTH)? {
        Some(width) => u128::from(width),
        // What GPT-2 and Falcon mean by leaving it out.
        None if !family.gated => 4 * hidden,
        None => u128::from(keys.size(&WIDTH)?),
    };
    tally.divided(Part::FeedForward, matrices(family) * hidden * width);
    if family.mlp_bias.is_there(keys)? {
        tally.divided(Part::Bias, (matrices(family) - 1) * width);
        tally.on_each(Part::Bias, hidden);
    }
    Ok(())
}

/// Into the block (twice, if one of the two is a gate) and out of it.
const fn matrices(family: &Family) -> u128 {
    if family.gated { 3 } else { 2 }
}

fn has_experts(keys: &Keys<'_>, family: &Family, index: u64) -> Result<bool, ConfigError> {
    let number = |name: &str, default: u64| Ok::<u64, ConfigError>(keys.count_if_there(&[name])?.unwrap_or(default));
    Ok(match family.experts {
        Experts::None => false,
        Experts::All => true,
        Experts::AfterDense => {
            let every = number("moe_layer_freq", 1)?.max(1);
            keys.has(&EXPERTS) && index >= number("first_k_dense_replace", 0)? && index.is_multiple_of(every)
        }
        Experts::Sparse => {
            let dense = match keys.list(&["mlp_only_layers"])? {
                Some((_, list)) => list.iter().any(|layer| layer.as_u64() == Some(index)),
                None => false,
            };
            let step = number("decoder_sparse_step", 1)?.max(1);
            !dense && number("num_experts", 0)? > 0 && (index + 1).is_multiple_of(step)
        }
        Experts::Period => {
            let (period, offset) = (number("expert_layer_period", 2)?.max(1), number("expert_layer_offset", 1)?);
            number("num_experts", 16)? > 1 && index % period == offset
        }
    })
}

fn experts(tally: &mut Tally, keys: &Keys<'_>, family: &Family, hidden: u128) -> Result<(), ConfigError> {
    let count = u128::from(keys.size(&EXPERTS)?);
    let width = u128::from(keys.size(&["moe_intermediate_size", "intermediate_size"])?);
    // One expert at a time keeps each product one of three sizes.
    let expert = matrices(family) * hidden * width;
    tally.divided(Part::Experts, count * expert);
    tally.on_each(Part::Router, hidden * count);
    if family.attention == AttentionKind::Sinks {
        // gpt-oss: biases of experts and of the router.
        tally.divided(Part::Bias, count * (2 * width + hidden));
        tally.on_each(Part::Bias, count);
    }
    if keys.text(&["topk_method"])? == Some("noaux_tc") {
        // DeepSeek-V3: a correction for each expert, by which it is chosen.
        tally.on_each(Part::Bias, count);
    }
    if let Some(shared) = keys.count_if_there(&["n_shared_experts"])? {
        tally.divided(Part::FeedForward, 3 * hidden * width * u128::from(shared));
    }
    if let Some(shared) = keys.size_if_there(&["shared_expert_intermediate_size"])? {
        tally.divided(Part::FeedForward, 3 * hidden * u128::from(shared));
        tally.on_each(Part::Router, hidden);
    }
    Ok(())
}
