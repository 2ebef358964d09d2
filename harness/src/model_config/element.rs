//! In what type numbers are kept: what `dtype` says, and what a quantised cache says instead.

use super::error::ConfigError;
use super::keys::Keys;
use kvledger_core::plan::Element;

/// The keys that name the type of a model's numbers.
const DTYPE: [&str; 2] = ["dtype", "torch_dtype"];

/// The element of a name as PyTorch writes it.
fn named(name: &str) -> Option<Element> {
    Some(match name.strip_prefix("torch.").unwrap_or(name) {
        "bfloat16" => Element::Bf16,
        "float16" | "half" => Element::F16,
        "float32" | "float" => Element::F32,
        "float8_e4m3fn" => Element::E4m3,
        "float8_e5m2" => Element::E5m2,
        _ => return None,
    })
}

/// What people call an element.
pub fn name(element: Element) -> &'static str {
    match element {
        Element::F32 => "fp32",
        Element::F16 => "fp16",
        Element::Bf16 => "bf16",
        Element::E4m3 => "fp8 (e4m3)",
        Element::E5m2 => "fp8 (e5m2)",
        Element::Int8 => "int8",
        Element::Int4 => "int4",
        _ => "another type",
    }
}

/// The type that the model computes in. `flag` is what can be given instead.
pub fn of_model(keys: &Keys<'_>, flag: &str) -> Result<Element, ConfigError> {
    let Some(text) = keys.text(&DTYPE)? else {
        let found = "keys `dtype` and `torch_dtype` are missing";
        return Err(ConfigError::new(keys.file, found, format!("add one, or give {flag}")));
    };
    named(text).ok_or_else(|| {
        let found = format!("key `dtype`: found `{text}`");
        ConfigError::new(keys.file, found, format!("give bfloat16, float16 or float32, or {flag}"))
    })
}

/// The type that `wanted` names, if it is there, else that of the model.
pub fn of_key(keys: &Keys<'_>, wanted: &[&str], flag: &str) -> Result<Element, ConfigError> {
    match keys.text(wanted)? {
        Some(text) if text != "auto" => named(text).ok_or_else(|| {
            let found = format!("key `{}`: found `{text}`", wanted.first().copied().unwrap_or_default());
            ConfigError::new(keys.file, found, format!("give bfloat16, float16 or float32, or {flag}"))
        }),
        _ => of_model(keys, flag),
    }
}

/// What the cache is kept in, and the key that says so.
pub fn of_cache(keys: &Keys<'_>, quantization: Option<&Keys<'_>>) -> Result<(Element, &'static str), ConfigError> {
    let flag = "--kv-type";
    let Some(quantization) = quantization else { return Ok((of_model(keys, flag)?, "dtype")) };
    if let Some(scheme) = quantization.inner("kv_cache_scheme")? {
        let bits = scheme.size(&["num_bits"])?;
        return match (scheme.text(&["type"])?.unwrap_or("int"), bits) {
            ("float", 8) => Ok((Element::E4m3, "kv_cache_scheme")),
            ("int", 8) => Ok((Element::Int8, "kv_cache_scheme")),
            ("int", 4) => Ok((Element::Int4, "kv_cache_scheme")),
            (kind, bits) => {
                let found = format!("key `quantization_config.kv_cache_scheme`: found type `{kind}` of {bits} bits");
                Err(ConfigError::new(keys.file, found, format!("give {flag}")))
            }
        };
    }
    match quantization.text(&["kv_cache_quant_algo"])?.map(str::to_ascii_lowercase).as_deref() {
        None | Some("none") => Ok((of_model(keys, flag)?, "dtype")),
        Some("fp8") => Ok((Element::E4m3, "kv_cache_quant_algo")),
        Some("int8") => Ok((Element::Int8, "kv_cache_quant_algo")),
        Some(other) => {
            let found = format!("key `quantization_config.kv_cache_quant_algo`: found `{other}`");
            Err(ConfigError::new(keys.file, found, format!("give {flag}")))
        }
    }
}
