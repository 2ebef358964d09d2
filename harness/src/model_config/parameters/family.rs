//! What a model's class has that its config does not say, by `model_type`, as Hugging Face transformers has it.

use super::super::error::ConfigError;
use super::super::keys::Keys;
use super::super::layers::Kind;

/// Whether a bias is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bias {
    /// Never.
    None,
    /// Always.
    Always,
    /// As this key says, false where it is absent.
    Key(&'static str),
    /// As this key says, true where it is absent.
    KeyOrAlways(&'static str),
}

impl Bias {
    /// Whether it is there in this config.
    pub fn is_there(self, keys: &Keys<'_>) -> Result<bool, ConfigError> {
        Ok(match self {
            Bias::None => false,
            Bias::Always => true,
            Bias::Key(key) => keys.flag(&[key])?.unwrap_or(false),
            Bias::KeyOrAlways(key) => keys.flag(&[key])?.unwrap_or(true),
        })
    }
}

/// Norms of queries and keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeadNorm {
    /// None.
    None,
    /// Of one head's dimension, for queries and for keys.
    OfHead,
    /// Of all heads together.
    OfAll,
}

/// How attention is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttentionKind {
    /// Queries, keys, values, output.
    Plain,
    /// With a gate beside the queries, as wide as they are.
    Gated,
    /// With one learnt sink a head.
    Sinks,
    /// Through latents.
    Latent,
}

/// Which layers have experts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Experts {
    /// None has.
    None,
    /// All have.
    All,
    /// All but the first `first_k_dense_replace`, one in `moe_layer_freq`.
    AfterDense,
    /// One in `decoder_sparse_step`, without `mlp_only_layers`.
    Sparse,
    /// One in `expert_layer_period`, from `expert_layer_offset` on.
    Period,
}

/// What a class has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Family {
    /// Biases of queries, keys and values.
    pub qkv_bias: Bias,
    /// Bias of the output projection.
    pub output_bias: Bias,
    /// Biases of feed-forward matrices.
    pub mlp_bias: Bias,
    /// Three matrices instead of two.
    pub gated: bool,
    /// Norms of queries and keys.
    pub head_norm: HeadNorm,
    /// How attention is built.
    pub attention: AttentionKind,
    /// Norms of a layer, each as wide as the model.
    pub norms: u8,
    /// Norms have a bias.
    pub norm_bias: bool,
    /// Embeddings are the output head where the config does not say.
    pub tied: bool,
    /// Positions are learnt.
    pub learnt_positions: bool,
    /// Which layers have experts.
    pub experts: Experts,
    /// A feed-forward block is a layer of its own.
    pub apart: bool,
}

/// Llama, and what others are told apart from.
const LLAMA: Family = Family {
    qkv_bias: Bias::Key("attention_bias"),
    output_bias: Bias::Key("attention_bias"),
    mlp_bias: Bias::Key("mlp_bias"),
    gated: true,
    head_norm: HeadNorm::None,
    attention: AttentionKind::Plain,
    norms: 2,
    norm_bias: false,
    tied: false,
    learnt_positions: false,
    experts: Experts::None,
    apart: false,
};
const PLAIN: Family = Family { qkv_bias: Bias::None, output_bias: Bias::None, mlp_bias: Bias::None, ..LLAMA };
const QWEN2: Family = Family { qkv_bias: Bias::Always, ..PLAIN };
const QWEN3: Family = Family { mlp_bias: Bias::None, head_norm: HeadNorm::OfHead, ..LLAMA };
const GEMMA: Family = Family { mlp_bias: Bias::None, tied: true, ..LLAMA };
const BIASED: Family = Family {
    qkv_bias: Bias::Always,
    output_bias: Bias::Always,
    mlp_bias: Bias::Always,
    gated: false,
    norm_bias: true,
    tied: true,
    ..LLAMA
};

/// Those that are counted here.
pub const KNOWN: &str = "llama, mistral, mixtral, qwen2, qwen2_moe, qwen3, qwen3_moe, qwen3_next, gemma, gemma2, gemma3_text, \
                         olmo2, smollm3, phi3, granite, falcon, gpt2, gpt_oss, deepseek_v2, deepseek_v3, kimi_k2, \
                         jamba, nemotron_h";

impl Family {
    /// The family of a config.
    pub fn of(keys: &Keys<'_>) -> Result<Family, ConfigError> {
        let Some(model_type) = keys.text(&["model_type"])? else {
            let found = "key `model_type` is missing, without which parameters cannot be counted";
            return Err(ConfigError::new(keys.file, found, "add it, or give --parameters, or --region weights=SIZE"));
        };
        Ok(match model_type {
            "llama" | "granite" => LLAMA,
            "smollm3" => Family { tied: true, ..LLAMA },
            "mistral" | "phi3" => PLAIN,
            "mixtral" => Family { experts: Experts::All, ..PLAIN },
            "qwen2" => QWEN2,
            "qwen2_moe" => Family { experts: Experts::Sparse, ..QWEN2 },
            "qwen3" => QWEN3,
            "qwen3_moe" => Family { experts: Experts::Sparse, ..QWEN3 },
            "qwen3_next" => Family { experts: Experts::Sparse, attention: AttentionKind::Gated, ..QWEN3 },
            "gemma" => GEMMA,
            "gemma2" => Family { norms: 4, ..GEMMA },
            "gemma3_text" => Family { norms: 4, head_norm: HeadNorm::OfHead, ..GEMMA },
            "olmo2" => Family { mlp_bias: Bias::None, head_norm: HeadNorm::OfAll, ..LLAMA },
            "gpt2" => Family { learnt_positions: true, ..BIASED },
            "falcon" => falcon(keys)?,
            "gpt_oss" => Family {
                attention: AttentionKind::Sinks,
                qkv_bias: Bias::KeyOrAlways("attention_bias"),
                output_bias: Bias::KeyOrAlways("attention_bias"),
                mlp_bias: Bias::Always,
                experts: Experts::All,
                ..PLAIN
            },
            "deepseek_v2" | "deepseek_v3" | "kimi_k2" => {
                Family { attention: AttentionKind::Latent, experts: Experts::AfterDense, mlp_bias: Bias::None, ..LLAMA }
            }
            "jamba" => Family { experts: Experts::Period, ..PLAIN },
            "nemotron_h" => Family { gated: false, norms: 1, apart: true, ..LLAMA },
            _ => return Err(not_known(keys)),
        })
    }

    /// Numbers of a norm for each element of the model's width.
    pub const fn norm_width(&self) -> u128 {
        if self.norm_bias { 2 } else { 1 }
    }

    /// Whether a layer of this kind has a feed-forward block.
    pub const fn has_feed_forward(&self, kind: Kind) -> bool {
        match kind {
            Kind::Neither => true,
            _ => !self.apart,
        }
    }
}

/// One norm where attention and feed-forward run side by side, two in the newer architecture unless it says one.
fn falcon(keys: &Keys<'_>) -> Result<Family, ConfigError> {
    let newer = keys.flag(&["new_decoder_architecture"])?.unwrap_or(false);
    let parallel = keys.flag(&["parallel_attn"])?.unwrap_or(true);
    let norms = match (newer, parallel) {
        (true, _) => keys.size_if_there(&["num_ln_in_parallel_attn"])?.unwrap_or(2).min(2) as u8,
        (false, true) => 1,
        (false, false) => 2,
    };
    let bias = Bias::Key("bias");
    Ok(Family { qkv_bias: bias, output_bias: bias, mlp_bias: bias, norms, ..BIASED })
}

/// What to answer of an architecture that is not counted here.
pub fn not_known(keys: &Keys<'_>) -> ConfigError {
    let model_type = keys.text(&["model_type"]).ok().flatten().unwrap_or_default();
    let found = format!("key `model_type`: the parameters of `{model_type}` are not counted here (known: {KNOWN})");
    ConfigError::new(keys.file, found, "give --parameters, or --region weights=SIZE")
}
