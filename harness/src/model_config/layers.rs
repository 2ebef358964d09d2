//! Which layer keeps what: every token, the last ones, a state, or nothing.
//!
//! Files say it in a dozen ways: a list of types, a pattern, a period, an interval, a first layer. The rules are those of
//! the models' own classes in Hugging Face transformers; where a file leaves the pattern to the class, the class is known
//! here by `model_type`.

use super::error::ConfigError;
use super::heads::{self, Stored};
use super::keys::Keys;
use serde_json::Value;

/// Most layers that are believed.
pub const LAYERS_MAX: u64 = 1 << 16;
/// Keys for the number of layers.
pub const LAYERS: [&str; 4] = ["num_hidden_layers", "n_layer", "n_layers", "num_layers"];
/// Keys for the width of a window.
const WINDOW: [&str; 4] = ["sliding_window", "sliding_window_size", "attention_window_size", "window_size"];

/// How far back a layer looks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Span {
    /// To the first token.
    Full,
    /// So many tokens, itself included.
    Window(u32),
}

/// One layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Layer {
    /// What it keeps of each token and how long; `None` if it has no attention, or uses another layer's.
    pub keeps: Option<(Span, Stored)>,
    /// Whether it has a state of a fixed size for each sequence.
    pub has_state: bool,
}

/// What kind a layer is, before sizes are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Attention to everything.
    Full,
    /// Attention through a sliding window.
    Sliding,
    /// Attention inside a chunk.
    Chunked,
    /// A recurrent state or linear attention.
    State,
    /// Both at once.
    FullAndState,
    /// Neither: a feed-forward block that is counted as a layer.
    Neither,
}

impl Kind {
    const fn named(name: &str) -> Option<Kind> {
        Some(match name.as_bytes() {
            b"full_attention" | b"attention" => Kind::Full,
            b"sliding_attention" => Kind::Sliding,
            b"chunked_attention" => Kind::Chunked,
            b"linear_attention" | b"mamba" | b"mamba2" | b"conv" | b"recurrent" => Kind::State,
            b"hybrid" => Kind::FullAndState,
            b"mlp" | b"moe" => Kind::Neither,
            _ => return None,
        })
    }
}

/// Number of layers.
pub fn count(keys: &Keys<'_>) -> Result<u64, ConfigError> {
    let count = keys.size(&LAYERS)?;
    if count > LAYERS_MAX {
        let value = Value::from(count);
        return Err(keys.refuse("num_hidden_layers", &value, &format!("give at most {LAYERS_MAX}")));
    }
    Ok(count)
}

/// All layers.
pub fn read(keys: &Keys<'_>) -> Result<Vec<Layer>, ConfigError> {
    refuse_what_is_not_known(keys)?;
    let kinds = kinds(keys)?;
    let shared = keys.count_if_there(&["num_kv_shared_layers"])?.unwrap_or(0) as usize;
    if shared >= kinds.len() && shared > 0 {
        let value = Value::from(shared);
        return Err(keys.refuse("num_kv_shared_layers", &value, "give fewer than there are layers"));
    }
    let every = match keys.flag(&["use_cla"])? {
        Some(true) => keys.size(&["cla_share_factor"])? as usize,
        _ => 1,
    };
    let by_layer = heads::kv_heads_by_layer(keys)?;
    if let Some(list) = &by_layer
        && list.len() != kinds.len()
    {
        return Err(wrong_length(keys, "num_key_value_heads_per_layer", list.len(), kinds.len()));
    }
    let sizes = Sizes::read(keys, &kinds)?;
    let own = kinds.len() - shared;
    let layer = |(index, kind): (usize, &Kind)| {
        let keeps = sizes.of(*kind).filter(|_| index < own && index.is_multiple_of(every));
        let keeps = match (&by_layer, keeps) {
            (Some(list), Some((span, stored))) => {
                list.get(index).filter(|&&heads| heads > 0).map(|&kv_heads| (span, Stored { kv_heads, ..stored }))
            }
            (_, keeps) => keeps,
        };
        Layer { keeps, has_state: matches!(kind, Kind::State | Kind::FullAndState) }
    };
    Ok(kinds.iter().enumerate().map(layer).collect())
}

/// What the layers of each kind keep.
struct Sizes {
    full: Option<(Span, Stored)>,
    sliding: Option<(Span, Stored)>,
    chunked: Option<(Span, Stored)>,
}

impl Sizes {
    fn read(keys: &Keys<'_>, kinds: &[Kind]) -> Result<Sizes, ConfigError> {
        let mut sizes = Sizes { full: None, sliding: None, chunked: None };
        if kinds.iter().any(|kind| matches!(kind, Kind::Full | Kind::FullAndState)) {
            sizes.full = Some((Span::Full, heads::full(keys)?));
        }
        if kinds.contains(&Kind::Sliding) {
            sizes.sliding = Some((Span::Window(keys.size(&WINDOW)? as u32), heads::windowed(keys)?));
        }
        if kinds.contains(&Kind::Chunked) {
            let chunk = keys.size(&["attention_chunk_size"])? as u32;
            sizes.chunked = Some((Span::Window(chunk), heads::windowed(keys)?));
        }
        Ok(sizes)
    }

    const fn of(&self, kind: Kind) -> Option<(Span, Stored)> {
        match kind {
            Kind::Full | Kind::FullAndState => self.full,
            Kind::Sliding => self.sliding,
            Kind::Chunked => self.chunked,
            Kind::State | Kind::Neither => None,
        }
    }
}

/// Caches that no rule here describes.
fn refuse_what_is_not_known(keys: &Keys<'_>) -> Result<(), ConfigError> {
    if keys.flag(&["is_encoder_decoder"])? == Some(true) {
        let found = "`is_encoder_decoder` is true: what a request keeps of its encoder is not counted here";
        return Err(ConfigError::new(keys.file, found, "give the config of a decoder"));
    }
    if keys.has(&["compress_ratios"]) {
        let found = "`compress_ratios` is there: a cache that compresses tokens together is not known here";
        let mend =
            "give --set compress_ratios=null to count every token as if it were not, which is more than it takes";
        return Err(ConfigError::new(keys.file, found, mend));
    }
    Ok(())
}

/// The kind of each layer.
pub fn kinds(keys: &Keys<'_>) -> Result<Vec<Kind>, ConfigError> {
    let count = count(keys)? as usize;
    if let Some(kinds) = listed(keys, count)? {
        return Ok(kinds);
    }
    let all = 0..count;
    let attention_or_state = |attends: bool| if attends { Kind::Full } else { Kind::State };
    if let Some(indices) = indices(keys, &["attn_layer_indices", "full_attn_idxs"])? {
        return Ok(all.map(|index| attention_or_state(indices.contains(&(index as u64)))).collect());
    }
    if let Some(period) = keys.size_if_there(&["attn_layer_period"])? {
        let offset = keys.count_if_there(&["attn_layer_offset"])?.unwrap_or(0);
        return Ok(all.map(|index| attention_or_state(index as u64 % period == offset)).collect());
    }
    if let Some(interval) = keys.size_if_there(&["full_attention_interval"])? {
        return Ok(all.map(|index| attention_or_state((index as u64 + 1).is_multiple_of(interval))).collect());
    }
    if let Some(config) = keys.inner("linear_attn_config")?
        && let Some(indices) = indices(&config, &["full_attn_layers"])?
    {
        // Kimi Linear counts its layers from 1.
        return Ok(all.map(|index| attention_or_state(indices.contains(&(index as u64 + 1)))).collect());
    }
    if keys.text(&["model_type"])? == Some("falcon_h1") {
        return Ok(vec![Kind::FullAndState; count]);
    }
    windows(keys, count)
}

/// The kinds, if the file lists them one by one.
fn listed(keys: &Keys<'_>, count: usize) -> Result<Option<Vec<Kind>>, ConfigError> {
    if let Some((name, list)) = keys.list(&["layer_types", "layers_block_type"])? {
        let kind = |value: &Value| {
            let kind = value.as_str().and_then(Kind::named);
            kind.ok_or_else(|| keys.refuse(&name, value, "give full_attention, sliding_attention, chunked_attention, linear_attention, mamba or conv for each layer"))
        };
        let kinds = list.iter().map(kind).collect::<Result<Vec<_>, _>>()?;
        return if kinds.len() == count { Ok(Some(kinds)) } else { Err(wrong_length(keys, &name, kinds.len(), count)) };
    }
    if let Some(pattern) = keys.text(&["hybrid_override_pattern"])? {
        let kind = |letter: char| {
            Ok(match letter {
                '*' => Kind::Full,
                'M' => Kind::State,
                '-' | 'E' => Kind::Neither,
                _ => {
                    return Err(keys.refuse(
                        "hybrid_override_pattern",
                        &Value::from(pattern),
                        "give M, *, - or E for each layer",
                    ));
                }
            })
        };
        let kinds = pattern.chars().map(kind).collect::<Result<Vec<_>, _>>()?;
        let name = "hybrid_override_pattern";
        return if kinds.len() == count { Ok(Some(kinds)) } else { Err(wrong_length(keys, name, kinds.len(), count)) };
    }
    if let Some((name, list)) = keys.list(&["block_types"])? {
        let kind = |value: &Value| match value.as_str() {
            Some("recurrent") => Ok(Kind::State),
            Some("attention") => Ok(Kind::Sliding),
            _ => Err(keys.refuse(&name, value, "give recurrent or attention")),
        };
        let kinds = list.iter().map(kind).collect::<Result<Vec<_>, _>>()?;
        return if kinds.is_empty() { Ok(None) } else { Ok(Some(kinds.into_iter().cycle().take(count).collect())) };
    }
    if let Some((name, list)) = keys.list(&["attn_type_list"])? {
        let kind = |value: &Value| Ok(if keys.number_of(&name, value, 0)? == 1 { Kind::Full } else { Kind::State });
        let kinds = list.iter().map(kind).collect::<Result<Vec<_>, _>>()?;
        return if kinds.len() == count { Ok(Some(kinds)) } else { Err(wrong_length(keys, &name, kinds.len(), count)) };
    }
    Ok(None)
}

fn indices(keys: &Keys<'_>, wanted: &[&str]) -> Result<Option<Vec<u64>>, ConfigError> {
    let Some((name, list)) = keys.list(wanted)? else { return Ok(None) };
    list.iter().map(|index| keys.number_of(&name, index, 0)).collect::<Result<Vec<_>, _>>().map(Some)
}

/// Attention in all layers: which of them through a window or inside a chunk?
fn windows(keys: &Keys<'_>, count: usize) -> Result<Vec<Kind>, ConfigError> {
    let model_type = keys.text(&["model_type"])?.unwrap_or_default();
    let full_each = |period: u64, other: Kind| {
        let kind = |index: usize| if (index as u64 + 1).is_multiple_of(period) { Kind::Full } else { other };
        (0..count).map(kind).collect()
    };
    if model_type.starts_with("llama4") && keys.has(&["attention_chunk_size"]) {
        let interval = keys.size_if_there(&["no_rope_layer_interval"])?.unwrap_or(4);
        return match indices(keys, &["no_rope_layers"])? {
            Some(list) if !list.is_empty() => {
                if list.len() != count {
                    return Err(wrong_length(keys, "no_rope_layers", list.len(), count));
                }
                Ok(list.iter().map(|&rope| if rope == 0 { Kind::Full } else { Kind::Chunked }).collect())
            }
            _ => Ok(full_each(interval, Kind::Chunked)),
        };
    }
    let switch = keys.flag(&["use_sliding_window"])?;
    if switch == Some(false) || keys.size_if_there(&WINDOW)?.is_none() {
        return Ok(vec![Kind::Full; count]);
    }
    if let Some((name, value)) = keys.find(&["sliding_window_pattern", "_sliding_window_pattern"]) {
        return match value.as_str() {
            Some(pattern) if !pattern.is_empty() => {
                let kind = |letter| if letter == 'G' { Kind::Full } else { Kind::Sliding };
                Ok(pattern.chars().cycle().take(count).map(kind).collect())
            }
            _ => Ok(full_each(keys.number_of(name, value, 1)?, Kind::Sliding)),
        };
    }
    if let Some(first) = keys.count_if_there(&["max_window_layers"])?.filter(|_| switch == Some(true)) {
        let kind = |index: usize| if (index as u64) < first { Kind::Full } else { Kind::Sliding };
        return Ok((0..count).map(kind).collect());
    }
    let period = match model_type {
        "gemma2" | "gpt_oss" => 2,
        "cohere2" | "olmo3" | "exaone4" => 4,
        "gemma3n_text" | "gemma3n" => 5,
        "gemma3_text" | "gemma3" => 6,
        _ => return Ok(vec![Kind::Sliding; count]),
    };
    Ok(full_each(period, Kind::Sliding))
}

fn wrong_length(keys: &Keys<'_>, name: &str, found: usize, layers: usize) -> ConfigError {
    let found = format!("key `{name}` has {found} entries, `num_hidden_layers` is {layers}");
    ConfigError::new(keys.file, found, "make them the same")
}
