//! What one token leaves in one layer: KV heads and their dimensions, or one joint latent.
//!
//! Multi-head, grouped and multi-query attention differ in the number of KV heads only. Multi-head latent attention keeps
//! one vector of `kv_lora_rank` + `qk_rope_head_dim` elements a token, once: no head, and not once more for values
//! (DeepSeek-V2, arXiv 2405.04434, section 2.1). Sparse attention with an indexer keeps that indexer's keys as well.

use super::error::ConfigError;
use super::keys::Keys;

/// What a layer keeps of a token.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Stored {
    /// KV heads of the whole model's layer; 1 for a latent.
    pub kv_heads: u64,
    /// Elements of a key.
    pub key_dim: u64,
    /// Elements of a value; 0 for a latent.
    pub value_dim: u64,
    /// Elements of the indexer's key, kept in eight bits with a scale of four bytes; 0 without one.
    pub index_dim: u64,
}

impl Stored {
    /// Whether it is a joint latent, which cannot be divided by heads: each rank has all of it.
    pub const fn is_latent(&self) -> bool {
        self.value_dim == 0
    }
}

/// Keys for the width of the model.
pub const HIDDEN: [&str; 4] = ["hidden_size", "n_embd", "d_model", "model_dim"];
/// Keys for the number of query heads.
pub const QUERY_HEADS: [&str; 4] = ["num_attention_heads", "n_head", "n_heads", "num_heads"];
/// Keys for the number of KV heads.
const KV_HEADS: [&str; 4] = ["num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num"];
/// Keys for the dimension of a head.
const HEAD_DIM: [&str; 3] = ["head_dim", "attention_head_dim", "kv_channels"];

/// Query heads, if they are needed.
pub fn query_heads(keys: &Keys<'_>) -> Result<u64, ConfigError> {
    keys.size(&QUERY_HEADS)
}

/// Elements of a head: what is given, or the model's width by its heads.
pub fn head_dim(keys: &Keys<'_>) -> Result<u64, ConfigError> {
    if let Some(dim) = keys.size_if_there(&HEAD_DIM)? {
        return Ok(dim);
    }
    let (hidden, heads) = (keys.size(&HIDDEN)?, query_heads(keys)?);
    if !hidden.is_multiple_of(heads) {
        return Err(ConfigError::new(
            keys.file,
            format!(
                "key `head_dim` is missing, and `hidden_size` {hidden} is no multiple of `num_attention_heads` {heads}"
            ),
            "add head_dim, or give --set head_dim=N",
        ));
    }
    Ok(hidden / heads)
}

/// KV heads that the config names for every layer. Without any, every query head has its own.
pub fn kv_heads(keys: &Keys<'_>) -> Result<u64, ConfigError> {
    // Falcon's newer architecture says `multi_query` all the same, and means its KV heads.
    let grouped = keys.flag(&["new_decoder_architecture"])? == Some(true);
    let multi_query = keys.flag(&["multi_query"])? == Some(true);
    if multi_query && !grouped {
        return Ok(1);
    }
    if let Some(config) = keys.inner("attn_config")?
        && let Some(heads) = config.size_if_there(&["kv_n_heads"])?
    {
        return divides_as(keys, "attn_config.kv_n_heads", heads, &QUERY_HEADS);
    }
    match keys.size_if_there(&KV_HEADS)? {
        Some(heads) => divides(keys, &KV_HEADS, heads),
        None => query_heads(keys),
    }
}

/// `heads`, that were found under the first of `wanted` that is there, if they divide the query heads.
fn divides(keys: &Keys<'_>, wanted: &[&str], heads: u64) -> Result<u64, ConfigError> {
    let name = keys.find(wanted).map_or("", |(name, _)| name);
    divides_as(keys, name, heads, &QUERY_HEADS)
}

/// `heads`, that were found under `name`, if they divide the query heads under `queries`: each KV head is read by equally
/// many of these. Where each layer has its own number of query heads, or none is given, nothing is known about them.
fn divides_as(keys: &Keys<'_>, name: &str, heads: u64, queries: &[&str]) -> Result<u64, ConfigError> {
    let Some((query_name, value)) = keys.find(queries) else { return Ok(heads) };
    if keys.has(&["num_attention_heads_per_layer"]) || value.is_array() {
        return Ok(heads);
    }
    let query_heads = keys.number_of(query_name, value, 1)?;
    if query_heads.is_multiple_of(heads) {
        return Ok(heads);
    }
    let found = format!("key `{query_name}` is {query_heads}, which is no multiple of key `{name}`, {heads}");
    let mend = format!("check both, or give --set {query_name}=N or --set {name}=N");
    Err(ConfigError::new(keys.file, found, mend))
}

/// Whether the config says how many KV heads there are, or keeps none.
pub fn names_kv_heads(keys: &Keys<'_>) -> bool {
    let others = ["multi_query", "attn_config", "num_key_value_heads_per_layer", "block_configs", "kv_lora_rank"];
    keys.has(&KV_HEADS) || keys.has(&others)
}

/// KV heads of each layer, where layers differ: a list, or blocks whose attention groups differ. 0 for a block without.
pub fn kv_heads_by_layer(keys: &Keys<'_>) -> Result<Option<Vec<u64>>, ConfigError> {
    if let Some((name, list)) = keys.list(&["num_key_value_heads_per_layer"])? {
        let heads = |value: &serde_json::Value| match keys.number_of(&name, value, 0)? {
            0 => Ok(0),
            heads => divides_as(keys, &name, heads, &QUERY_HEADS),
        };
        return list.iter().map(heads).collect::<Result<_, _>>().map(Some);
    }
    let Some((name, blocks)) = keys.list(&["block_configs"])? else { return Ok(None) };
    let group = |block: &serde_json::Value| match block.pointer("/attention/n_heads_in_group") {
        None | Some(serde_json::Value::Null) => Ok(0),
        Some(group) => {
            let group = keys.number_of(&name, group, 1)?;
            Ok(query_heads(keys)? / divides_as(keys, "block_configs.attention.n_heads_in_group", group, &QUERY_HEADS)?)
        }
    };
    blocks.iter().map(group).collect::<Result<_, _>>().map(Some)
}

/// The latent of a token, if the model keeps one.
pub fn latent(keys: &Keys<'_>) -> Result<Option<Stored>, ConfigError> {
    let Some(rank) = keys.size_if_there(&["kv_lora_rank"])? else { return Ok(None) };
    let rope = keys.size(&["qk_rope_head_dim"])?;
    let index_dim = if keys.has(&["index_topk"]) { keys.size(&["index_head_dim"])? } else { 0 };
    Ok(Some(Stored { kv_heads: 1, key_dim: rank + rope, value_dim: 0, index_dim }))
}

/// What a layer keeps that looks back without a limit.
pub fn full(keys: &Keys<'_>) -> Result<Stored, ConfigError> {
    if let Some(latent) = latent(keys)? {
        return Ok(latent);
    }
    let kv_heads = match keys.size_if_there(&["num_global_key_value_heads"])? {
        Some(heads) => divides(keys, &["num_global_key_value_heads"], heads)?,
        None => kv_heads(keys)?,
    };
    let key_dim = match keys.size_if_there(&["global_head_dim"])? {
        Some(dim) => dim,
        None => head_dim(keys)?,
    };
    let value_dim = keys.size_if_there(&["v_head_dim"])?.unwrap_or(key_dim);
    Ok(Stored { kv_heads, key_dim, value_dim, index_dim: 0 })
}

/// What a layer keeps that looks back through a window.
pub fn windowed(keys: &Keys<'_>) -> Result<Stored, ConfigError> {
    if let Some(latent) = latent(keys)? {
        return Ok(latent);
    }
    let kv_heads = match keys.size_if_there(&["swa_num_key_value_heads"])? {
        // Layers with windows may have query heads of their own as well.
        Some(heads) => {
            let own = ["swa_num_attention_heads"];
            let queries = if keys.has(&own) { &own[..] } else { &QUERY_HEADS[..] };
            divides_as(keys, "swa_num_key_value_heads", heads, queries)?
        }
        None => kv_heads(keys)?,
    };
    let key_dim = match keys.size_if_there(&["swa_head_dim"])? {
        Some(dim) => dim,
        None => head_dim(keys)?,
    };
    let value_dim = keys.size_if_there(&["swa_v_head_dim", "v_head_dim"])?.unwrap_or(key_dim);
    Ok(Stored { kv_heads, key_dim, value_dim, index_dim: 0 })
}
