//! How many bits a parameter has: what `quantization_config` says of weights, by what it leaves alone.
//!
//! Embeddings, the output head, norms, routers and biases keep the model's own type in all methods that are known here. A list of
//! further modules to leave alone cannot be applied without the names of all modules: it is an error, not a guess.

use super::element;
use super::error::{ConfigError, excerpt};
use super::keys::Keys;
use serde_json::Value;

/// How one parameter is stored, and what scales it shares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Bits of a parameter.
    pub bits: u32,
    /// Parameters that share a scale; 0 where scales are too few to count (one a tensor, row or column).
    pub group: u64,
    /// Bits of a scale, its zero point included.
    pub scale_bits: u32,
}

impl Format {
    /// Without scales.
    pub const fn plain(bits: u32) -> Format {
        Format { bits, group: 0, scale_bits: 0 }
    }

    /// Bytes of so many parameters with their scales; both are rounded up to bytes.
    pub fn bytes(self, parameters: u64) -> u128 {
        let scales = match self.group {
            0 => 0,
            group => u128::from(parameters.div_ceil(group)) * u128::from(self.scale_bits),
        };
        (u128::from(parameters) * u128::from(self.bits)).div_ceil(8) + scales.div_ceil(8)
    }
}

/// How the parameters of a model are stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WeightsType {
    /// What it is called.
    pub name: String,
    /// Embeddings, output head, norms, routers, biases.
    pub rest: Format,
    /// Matrices of attention, feed-forward and recurrent blocks.
    pub matrices: Format,
    /// Matrices of experts.
    pub experts: Format,
}

impl WeightsType {
    /// Every parameter the same.
    pub fn uniform(name: &str, bits: u32) -> WeightsType {
        let format = Format::plain(bits);
        WeightsType { name: name.to_string(), rest: format, matrices: format, experts: format }
    }
}

/// What can be given instead.
const FLAG: &str = "give --weights-type, or --region weights=SIZE";

/// The type of a model's weights.
pub fn of_weights(keys: &Keys<'_>, quantization: Option<&Keys<'_>>) -> Result<WeightsType, ConfigError> {
    let model = element::of_model(keys, "--weights-type")?;
    let mut weights = WeightsType::uniform(element::name(model), model.bits());
    let Some(quantization) = quantization else { return Ok(weights) };
    let method = method(quantization)?;
    let format = match method.as_str() {
        "fp8" => fp8(quantization)?,
        "gptq" | "awq" | "auto-round" => grouped(quantization)?,
        "mxfp4" => Format { bits: 4, group: 32, scale_bits: 8 },
        "bitsandbytes" => bitsandbytes(quantization)?,
        "compressed-tensors" | "compressed_tensors" => compressed(quantization)?,
        "modelopt" => modelopt(quantization)?,
        other => {
            let found = format!("key `quantization_config.quant_method`: found `{other}`, which is not known here");
            return Err(ConfigError::new(keys.file, found, FLAG));
        }
    };
    // As gpt-oss has it: experts only.
    if method != "mxfp4" {
        refuse_exceptions(quantization)?;
        weights.matrices = format;
    }
    weights.experts = format;
    weights.name = format!("{method}, {} bits, the rest {}", format.bits, weights.name);
    Ok(weights)
}

fn method(quantization: &Keys<'_>) -> Result<String, ConfigError> {
    match quantization.text(&["quant_method"])? {
        Some(method) => Ok(method.to_string()),
        None => Err(ConfigError::new(quantization.file, "key `quantization_config.quant_method` is missing", FLAG)),
    }
}

fn fp8(quantization: &Keys<'_>) -> Result<Format, ConfigError> {
    let Some((name, shape)) = quantization.list(&["weight_block_size"])? else { return Ok(Format::plain(8)) };
    let sides = shape.iter().map(|side| quantization.number_of(&name, side, 1)).collect::<Result<Vec<_>, _>>()?;
    let area = sides.iter().try_fold(1u64, |area, &side| area.checked_mul(side));
    let group = area.ok_or_else(|| ConfigError::overflow(quantization.file, "the sides of `weight_block_size`"))?;
    Ok(Format { bits: 8, group, scale_bits: 32 })
}

/// A 16-bit scale and a zero point of the weights' own width for each group; a group of −1 is a whole column.
fn grouped(quantization: &Keys<'_>) -> Result<Format, ConfigError> {
    let bits = bits(quantization, quantization.size(&["bits", "w_bit"])?)?;
    let names = ["group_size", "q_group_size"];
    let group = match quantization.find(&names) {
        Some((_, value)) if value.as_i64() == Some(-1) => 0,
        _ => quantization.size(&names)?,
    };
    Ok(Format { bits, group, scale_bits: 16 + bits })
}

/// Blocks of 64 with an absolute maximum of 32 bits each, of 8 when that is quantised again.
fn bitsandbytes(quantization: &Keys<'_>) -> Result<Format, ConfigError> {
    if quantization.flag(&["load_in_8bit", "_load_in_8bit"])? == Some(true) {
        return Ok(Format::plain(8));
    }
    if quantization.flag(&["load_in_4bit", "_load_in_4bit"])? != Some(true) {
        let found = "key `quantization_config`: neither `load_in_8bit` nor `load_in_4bit` is true";
        return Err(ConfigError::new(quantization.file, found, FLAG));
    }
    let twice = quantization.flag(&["bnb_4bit_use_double_quant"])? == Some(true);
    Ok(Format { bits: 4, group: 64, scale_bits: if twice { 8 } else { 32 } })
}

fn compressed(quantization: &Keys<'_>) -> Result<Format, ConfigError> {
    let Some(groups) = quantization.inner("config_groups")? else {
        return Err(ConfigError::new(quantization.file, "key `quantization_config.config_groups` is missing", FLAG));
    };
    let mut common: Option<Format> = None;
    for name in groups.all() {
        let Some(group) = groups.inner(name)? else { continue };
        let Some(weights) = group.inner("weights")? else { continue };
        let bits = bits(quantization, weights.size(&["num_bits"])?)?;
        let size = match weights.find(&["group_size"]) {
            Some((_, value)) if value.as_i64() == Some(-1) => 0,
            _ => weights.size_if_there(&["group_size"])?.unwrap_or(0),
        };
        let format = Format { bits, group: size, scale_bits: 16 };
        if *common.get_or_insert(format) != format {
            let found = "key `quantization_config.config_groups`: groups of different widths";
            return Err(ConfigError::new(quantization.file, found, FLAG));
        }
    }
    common
        .ok_or_else(|| ConfigError::new(quantization.file, "key `quantization_config.config_groups`: no weights", FLAG))
}

fn modelopt(quantization: &Keys<'_>) -> Result<Format, ConfigError> {
    match quantization.text(&["quant_algo"])? {
        Some("FP8") => Ok(Format::plain(8)),
        Some("NVFP4") => Ok(Format { bits: 4, group: 16, scale_bits: 8 }),
        other => {
            let found = format!("key `quantization_config.quant_algo`: found `{}`", other.unwrap_or("null"));
            Err(ConfigError::new(quantization.file, found, FLAG))
        }
    }
}

fn bits(quantization: &Keys<'_>, bits: u64) -> Result<u32, ConfigError> {
    match u32::try_from(bits) {
        Ok(bits) if bits <= 32 => Ok(bits),
        _ => Err(ConfigError::new(quantization.file, format!("a weight of {bits} bits"), FLAG)),
    }
}

/// Names of modules that keep the model's type anyway.
const LEFT_ALONE: [&str; 5] = ["lm_head", "embed", "gate", "router", "norm"];

fn refuse_exceptions(quantization: &Keys<'_>) -> Result<(), ConfigError> {
    let lists = ["modules_to_not_convert", "ignore", "exclude_modules", "ignored_layers"];
    let Some((name, list)) = quantization.list(&lists)? else { return Ok(()) };
    // `gate_proj` is a matrix like any other; `gate` alone is a router.
    let known = |value: &&Value| {
        value.as_str().is_some_and(|name| !name.contains("_proj") && LEFT_ALONE.iter().any(|left| name.contains(left)))
    };
    match list.iter().find(|value| !known(value)) {
        None => Ok(()),
        Some(other) => {
            let found = format!(
                "key `quantization_config.{name}`: {} is left alone, how many parameters that is is not known here",
                excerpt(other)
            );
            Err(ConfigError::new(quantization.file, found, "give --region weights=SIZE, the size of the weight files"))
        }
    }
}
