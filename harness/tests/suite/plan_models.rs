//! Published models: what their cache takes a token, and how many parameters they have. The configs have only the keys
//! that these figures depend on; the figures are others', and each names where it stands.
//!
//! - paper: "Insights into DeepSeek-V3", arXiv 2505.09343, table 1 (kilobytes of 1,000 bytes, bf16).
//! - jamba: "Jamba: A Hybrid Transformer-Mamba Language Model", arXiv 2403.19887, table 1 (256 Ki tokens, 16 bits).
//! - hub: `safetensors.total` of the model on huggingface.co.
//! - report: the model's own technical report or card.

use kvledger_core::plan::{Element, Scales};
use kvledger_harness::model_config::{ModelConfig, Span};
use kvledger_harness::planning::{Cache, Storage};

/// A published model.
struct Model {
    name: &'static str,
    config: String,
    /// Bytes of a token in layers that keep every token, and in those that keep a window.
    token_bytes: [u64; 2],
    /// Bytes of a sequence's state.
    state_bytes: u64,
    /// 0: not published, or not counted here.
    parameters: u64,
    /// Where the figures stand.
    source: &'static str,
}

fn storage(model: &ModelConfig) -> Storage {
    Storage {
        element: model.cache_element().map_or(Element::F16, |(element, _)| element),
        scales: Scales::NONE,
        block_tokens: 16,
        ranks: 1,
        steps_in_flight: 1,
        step_tokens: 1,
        keeps_windows: false,
    }
}

fn parsed(name: &str, config: &str) -> ModelConfig {
    ModelConfig::parse(name, config, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// Bytes of a token: full layers, windows.
fn token_bytes(cache: &Cache) -> [u64; 2] {
    let sum = |windows: bool| {
        let of = |kind: &&kvledger_harness::planning::Kind| matches!(kind.span, Span::Window(_)) == windows;
        cache.kinds.iter().filter(of).map(|kind| kind.token_bytes).sum()
    };
    [sum(false), sum(true)]
}

fn llama(layers: u32, hidden: u32, heads: u32, kv_heads: u32, width: u32) -> String {
    format!(
        r#"{{"model_type": "llama", "num_hidden_layers": {layers}, "hidden_size": {hidden}, "num_attention_heads": {heads},
        "num_key_value_heads": {kv_heads}, "intermediate_size": {width}, "vocab_size": 128256, "torch_dtype": "bfloat16",
        "tie_word_embeddings": false}}"#
    )
}

fn dense() -> Vec<Model> {
    let plain = |name, config: &str, full, parameters, source| Model {
        name,
        config: config.to_string(),
        token_bytes: [full, 0],
        state_bytes: 0,
        parameters,
        source,
    };
    vec![
        plain("Llama-3.1-8B", &llama(32, 4096, 32, 8, 14336), 131_072, 8_030_261_248, "hub"),
        plain("Llama-3.1-70B", &llama(80, 8192, 64, 8, 28672), 327_680, 70_553_706_496, "hub"),
        plain("Llama-3.1-405B", &llama(126, 16384, 128, 8, 53248), 516_096, 405_853_388_800, "paper, 516.096 KB; hub"),
        plain(
            "Llama-2-7B",
            r#"{"num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, "torch_dtype": "float16"}"#,
            128 * 1024 * 1024 * 1024 / (256 * 1024),
            0,
            "jamba, 128 GB",
        ),
        plain(
            "Qwen2.5-7B",
            r#"{"model_type": "qwen2", "num_hidden_layers": 28, "hidden_size": 3584, "num_attention_heads": 28,
            "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064, "torch_dtype": "bfloat16",
            "tie_word_embeddings": false, "sliding_window": 131072, "use_sliding_window": false, "max_window_layers": 28}"#,
            57_344,
            7_615_616_512,
            "hub",
        ),
        plain(
            "Qwen2.5-72B",
            r#"{"model_type": "qwen2", "num_hidden_layers": 80, "hidden_size": 8192, "num_attention_heads": 64,
            "num_key_value_heads": 8, "intermediate_size": 29568, "vocab_size": 152064, "torch_dtype": "bfloat16",
            "tie_word_embeddings": false, "use_sliding_window": false, "sliding_window": 131072}"#,
            327_680,
            72_706_203_648,
            "paper, 327.680 KB; hub",
        ),
        plain(
            "OLMo-2-1124-7B",
            r#"{"model_type": "olmo2", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
            "num_key_value_heads": 32, "intermediate_size": 11008, "vocab_size": 100352, "torch_dtype": "float32"}"#,
            1_048_576,
            7_298_617_344,
            "hub",
        ),
        plain(
            "SmolLM3-3B-Base",
            r#"{"model_type": "smollm3", "num_hidden_layers": 36, "hidden_size": 2048, "num_attention_heads": 16,
            "num_key_value_heads": 4, "intermediate_size": 11008, "vocab_size": 128256, "torch_dtype": "bfloat16",
            "sliding_window": null, "use_sliding_window": false}"#,
            73_728,
            3_075_098_624,
            "hub",
        ),
        plain(
            "Qwen3-8B",
            r#"{"model_type": "qwen3", "num_hidden_layers": 36, "hidden_size": 4096, "num_attention_heads": 32,
            "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 12288, "vocab_size": 151936,
            "torch_dtype": "bfloat16", "tie_word_embeddings": false, "use_sliding_window": false}"#,
            147_456,
            8_190_735_360,
            "hub",
        ),
        plain(
            "gemma-2b",
            r#"{"model_type": "gemma", "num_hidden_layers": 18, "hidden_size": 2048, "num_attention_heads": 8,
            "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 16384, "vocab_size": 256000,
            "torch_dtype": "bfloat16"}"#,
            18_432,
            2_506_172_416,
            "hub",
        ),
        plain(
            "granite-3.3-8b-instruct",
            r#"{"model_type": "granite", "num_hidden_layers": 40, "hidden_size": 4096, "num_attention_heads": 32,
            "num_key_value_heads": 8, "intermediate_size": 12800, "vocab_size": 49159, "torch_dtype": "bfloat16",
            "tie_word_embeddings": true}"#,
            163_840,
            8_170_864_640,
            "hub",
        ),
        // Both matrices are in the files, though the model uses one.
        plain(
            "falcon-180B",
            r#"{"model_type": "falcon", "num_hidden_layers": 80, "hidden_size": 14848, "num_attention_heads": 232,
            "num_kv_heads": 8, "new_decoder_architecture": true, "multi_query": true, "parallel_attn": true, "bias": false,
            "vocab_size": 65024, "torch_dtype": "bfloat16", "tie_word_embeddings": false}"#,
            163_840,
            179_522_565_120,
            "hub",
        ),
        plain(
            "falcon-7b",
            r#"{"model_type": "falcon", "num_hidden_layers": 32, "hidden_size": 4544, "num_attention_heads": 71,
            "num_kv_heads": 71, "new_decoder_architecture": false, "multi_query": true, "parallel_attn": true,
            "bias": false, "vocab_size": 65024, "torch_dtype": "bfloat16", "tie_word_embeddings": false}"#,
            8_192,
            7_217_189_760,
            "hub",
        ),
        // No dtype in the file: kept in 16 bits here.
        plain(
            "gpt2",
            r#"{"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "n_ctx": 1024, "n_positions": 1024,
            "vocab_size": 50257}"#,
            36_864,
            124_439_808,
            "report",
        ),
    ]
}

fn experts_and_latents() -> Vec<Model> {
    vec![
        Model {
            name: "Mixtral-8x7B-v0.1",
            config:
                r#"{"model_type": "mixtral", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
            "num_key_value_heads": 8, "intermediate_size": 14336, "num_local_experts": 8, "num_experts_per_tok": 2,
            "vocab_size": 32000, "sliding_window": null, "torch_dtype": "bfloat16", "tie_word_embeddings": false}"#
                    .to_string(),
            token_bytes: [32 * 1024 * 1024 * 1024 / (256 * 1024), 0],
            state_bytes: 0,
            parameters: 46_702_792_704,
            source: "jamba, 32 GB; hub",
        },
        Model {
            name: "Qwen3-30B-A3B",
            config:
                r#"{"model_type": "qwen3_moe", "num_hidden_layers": 48, "hidden_size": 2048, "num_attention_heads": 32,
            "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 6144, "moe_intermediate_size": 768,
            "num_experts": 128, "decoder_sparse_step": 1, "mlp_only_layers": [], "vocab_size": 151936,
            "torch_dtype": "bfloat16", "attention_bias": false, "use_sliding_window": false,
            "tie_word_embeddings": false}"#
                    .to_string(),
            token_bytes: [98_304, 0],
            state_bytes: 0,
            parameters: 30_532_122_624,
            source: "hub",
        },
        Model {
            name: "DeepSeek-V3",
            config: r#"{"model_type": "deepseek_v3", "num_hidden_layers": 61, "hidden_size": 7168,
            "num_attention_heads": 128, "num_key_value_heads": 128, "kv_lora_rank": 512, "q_lora_rank": 1536,
            "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "intermediate_size": 18432,
            "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1, "first_k_dense_replace": 3,
            "moe_layer_freq": 1, "topk_method": "noaux_tc", "num_nextn_predict_layers": 1, "vocab_size": 129280,
            "torch_dtype": "bfloat16", "tie_word_embeddings": false}"#
                .to_string(),
            token_bytes: [70_272, 0],
            state_bytes: 0,
            parameters: 671_026_419_200,
            source: "paper, 70.272 KB; report, 671B, the tensors of the main model in the hub's files",
        },
        Model {
            name: "Kimi-K2-Instruct",
            config: r#"{"model_type": "kimi_k2", "num_hidden_layers": 61, "hidden_size": 7168,
            "num_attention_heads": 64, "num_key_value_heads": 64, "kv_lora_rank": 512, "q_lora_rank": 1536,
            "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "intermediate_size": 18432,
            "moe_intermediate_size": 2048, "n_routed_experts": 384, "n_shared_experts": 1, "first_k_dense_replace": 1,
            "moe_layer_freq": 1, "topk_method": "noaux_tc", "num_nextn_predict_layers": 0, "vocab_size": 163840,
            "torch_dtype": "bfloat16", "tie_word_embeddings": false}"#
                .to_string(),
            token_bytes: [70_272, 0],
            state_bytes: 0,
            parameters: 1_026_408_232_448,
            source: "hub",
        },
        Model {
            name: "Qwen1.5-MoE-A2.7B",
            config: r#"{"model_type": "qwen2_moe", "num_hidden_layers": 24, "hidden_size": 2048,
            "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 5632,
            "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632, "num_experts": 60,
            "decoder_sparse_step": 1, "vocab_size": 151936, "torch_dtype": "bfloat16", "use_sliding_window": false,
            "tie_word_embeddings": false}"#
                .to_string(),
            token_bytes: [196_608, 0],
            state_bytes: 0,
            parameters: 14_315_784_192,
            source: "hub",
        },
        Model {
            name: "DeepSeek-V2-Lite",
            config: r#"{"model_type": "deepseek_v2", "num_hidden_layers": 27, "hidden_size": 2048,
            "num_attention_heads": 16, "num_key_value_heads": 16, "kv_lora_rank": 512, "q_lora_rank": null,
            "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "intermediate_size": 10944,
            "moe_intermediate_size": 1408, "n_routed_experts": 64, "n_shared_experts": 2, "first_k_dense_replace": 1,
            "moe_layer_freq": 1, "topk_method": "greedy", "vocab_size": 102400, "torch_dtype": "bfloat16",
            "tie_word_embeddings": false}"#
                .to_string(),
            token_bytes: [31_104, 0],
            state_bytes: 0,
            parameters: 15_706_484_224,
            source: "hub",
        },
    ]
}

fn windows_and_states() -> Vec<Model> {
    vec![
        Model {
            name: "Mistral-7B-v0.1",
            config: r#"{"model_type": "mistral", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
            "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000, "sliding_window": 4096,
            "torch_dtype": "bfloat16", "tie_word_embeddings": false}"#
                .to_string(),
            token_bytes: [0, 131_072],
            state_bytes: 0,
            parameters: 7_241_732_096,
            source: "jamba, 32 GB with nothing let go; hub",
        },
        Model {
            name: "Phi-3-mini-4k-instruct",
            config: r#"{"model_type": "phi3", "num_hidden_layers": 32, "hidden_size": 3072, "num_attention_heads": 32,
            "num_key_value_heads": 32, "intermediate_size": 8192, "vocab_size": 32064, "sliding_window": 2047,
            "torch_dtype": "bfloat16", "tie_word_embeddings": false}"#
                .to_string(),
            token_bytes: [0, 393_216],
            state_bytes: 0,
            parameters: 3_821_079_552,
            source: "hub",
        },
        Model {
            name: "gemma-3-1b-it",
            config: r#"{"model_type": "gemma3_text", "num_hidden_layers": 26, "hidden_size": 1152,
            "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 6912,
            "vocab_size": 262144, "sliding_window": 512, "sliding_window_pattern": 6, "torch_dtype": "bfloat16"}"#
                .to_string(),
            // Layers 6, 12, 18 and 24 keep every token.
            token_bytes: [4 * 1_024, 22 * 1_024],
            state_bytes: 0,
            parameters: 999_885_952,
            source: "hub",
        },
        Model {
            name: "gemma-2-9b",
            config: r#"{"model_type": "gemma2", "num_hidden_layers": 42, "hidden_size": 3584, "num_attention_heads": 16,
            "num_key_value_heads": 8, "head_dim": 256, "intermediate_size": 14336, "vocab_size": 256000,
            "sliding_window": 4096, "torch_dtype": "float32"}"#
                .to_string(),
            token_bytes: [344_064, 344_064],
            state_bytes: 0,
            parameters: 9_241_705_984,
            source: "hub",
        },
        Model {
            name: "gpt-oss-20b",
            config: r#"{"model_type": "gpt_oss", "num_hidden_layers": 24, "hidden_size": 2880, "num_attention_heads": 64,
            "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880, "num_local_experts": 32,
            "vocab_size": 201088, "sliding_window": 128, "attention_bias": true, "torch_dtype": "bfloat16",
            "tie_word_embeddings": false}"#
                .to_string(),
            token_bytes: [24_576, 24_576],
            state_bytes: 0,
            parameters: 20_914_757_184,
            source: "report, 20.9B; hub",
        },
        Model {
            name: "Jamba-v0.1",
            config: r#"{"model_type": "jamba", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
            "num_key_value_heads": 8, "attn_layer_period": 8, "attn_layer_offset": 4, "mamba_d_state": 16,
            "mamba_d_conv": 4, "mamba_expand": 2, "mamba_dt_rank": 256, "mamba_conv_bias": true,
            "mamba_proj_bias": false, "intermediate_size": 14336, "num_experts": 16, "expert_layer_period": 2,
            "expert_layer_offset": 1, "vocab_size": 65536, "torch_dtype": "bfloat16", "tie_word_embeddings": false}"#
                .to_string(),
            token_bytes: [4 * 1024 * 1024 * 1024 / (256 * 1024), 0],
            // 28 layers, 8,192 channels: three inputs and sixteen states each.
            state_bytes: 28 * 8_192 * (3 + 16) * 2,
            parameters: 51_570_323_328,
            source: "jamba, 4 GB; hub",
        },
        Model {
            name: "Qwen3-Next-80B-A3B",
            config: r#"{"model_type": "qwen3_next", "num_hidden_layers": 48, "hidden_size": 2048,
            "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "intermediate_size": 5120,
            "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512, "num_experts": 512,
            "decoder_sparse_step": 1, "mlp_only_layers": [], "full_attention_interval": 4, "linear_conv_kernel_dim": 4,
            "linear_key_head_dim": 128, "linear_num_key_heads": 16, "linear_num_value_heads": 32,
            "linear_value_head_dim": 128, "vocab_size": 151936, "torch_dtype": "bfloat16", "attention_bias": false,
            "use_sliding_window": false, "tie_word_embeddings": false}"#
                .to_string(),
            token_bytes: [24_576, 0],
            // 36 layers: three inputs of 8,192 channels, 32 matrices of 128 by 128.
            state_bytes: 36 * (3 * 8_192 + 32 * 128 * 128) * 2,
            parameters: 79_674_391_296,
            source: "hub, Qwen3-Coder-Next, which is the same without a layer for further tokens",
        },
        Model {
            name: "Nemotron-H-8B-Base-8K",
            config: r#"{"model_type": "nemotron_h", "num_hidden_layers": 52, "hidden_size": 4096,
            "hybrid_override_pattern": "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-", "num_attention_heads": 32,
            "num_key_value_heads": 8, "attention_head_dim": 128, "ssm_state_size": 128, "mamba_num_heads": 128,
            "mamba_head_dim": 64, "n_groups": 8, "conv_kernel": 4, "expand": 2, "torch_dtype": "bfloat16",
            "time_step_limit": [0.0, Infinity]}"#
                .to_string(),
            token_bytes: [16_384, 0],
            // 24 layers: three inputs of 10,240 channels, 128 heads of 64 by 128.
            state_bytes: 24 * (3 * 10_240 + 128 * 64 * 128) * 2,
            parameters: 0,
            source: "report, arXiv 2504.03624: four attention layers; state as vLLM allocates it",
        },
        Model {
            name: "Nemotron-Nano-9B-v2",
            config: r#"{"model_type": "nemotron_h", "num_hidden_layers": 56, "hidden_size": 4480,
            "hybrid_override_pattern": "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-",
            "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 15680,
            "ssm_state_size": 128, "mamba_num_heads": 128, "mamba_head_dim": 80, "n_groups": 8, "conv_kernel": 4,
            "vocab_size": 131072, "torch_dtype": "bfloat16", "tie_word_embeddings": false}"#
                .to_string(),
            token_bytes: [16_384, 0],
            state_bytes: 27 * (3 * 12_288 + 128 * 80 * 128) * 2,
            parameters: 8_888_227_328,
            source: "hub",
        },
    ]
}

fn all() -> impl Iterator<Item = Model> {
    [dense(), experts_and_latents(), windows_and_states()].into_iter().flatten()
}

#[test]
fn published_models_have_their_published_figures() {
    for model in all() {
        let Model { name, source, .. } = model;
        let config = parsed(name, &model.config);
        let cache = Cache::new(&config, &storage(&config), None).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(token_bytes(&cache), model.token_bytes, "{name}, {source}");
        assert_eq!(cache.state_bytes, model.state_bytes, "{name}, {source}");
        if model.parameters > 0 {
            let parameters = config.parameters(1).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(parameters.total(), model.parameters, "{name}, {source}");
            assert_eq!(parameters.on_rank(), model.parameters, "{name}: one rank has all");
        }
    }
}

/// Whatever the message says is known has been compared with a published count.
#[test]
fn every_architecture_that_is_counted_has_been_compared() {
    let unknown =
        parsed("m", r#"{"model_type": "unheard_of"}"#).parameters(1).expect_err("it is not known").to_string();
    let known = unknown.split_once("(known: ").and_then(|(_, rest)| rest.split_once(')')).expect("a list").0;
    let compared: Vec<String> = all()
        .filter(|model| model.parameters > 0)
        .filter_map(|model| parsed(model.name, &model.config).model_type().expect("a text"))
        .collect();
    let known: Vec<&str> = known.split(", ").collect();
    assert!(known.len() > 20, "{known:?}");
    for model_type in known {
        assert!(compared.iter().any(|compared| compared == model_type), "{model_type} was never compared");
    }
}

/// Its files have 13,761,264,768 bytes of tensors (`metadata.total_size` of model.safetensors.index.json on the hub):
/// experts in four bits with a scale of eight for each 32, everything else in sixteen.
#[test]
fn the_files_of_gpt_oss_are_as_large_as_counted() {
    let models = windows_and_states();
    let gpt_oss = models.iter().find(|model| model.name == "gpt-oss-20b").expect("it is there");
    let quantised = gpt_oss.config.replacen(
        '{',
        r#"{"quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn"]}, "#,
        1,
    );
    let config = parsed("gpt-oss-20b", &quantised);
    let weights_type = config.weights_type().expect("it says");
    assert_eq!(weights_type.name, "mxfp4, 4 bits, the rest bf16");
    assert_eq!(config.parameters(1).expect("counted").bytes_on_rank(&weights_type), Some(13_761_264_768));
}

/// The net catches: each figure moves when a key that it depends on does.
#[test]
fn every_key_of_a_config_matters() {
    let deepseek = &experts_and_latents()[2].config;
    let count = |config: &str| parsed("m", config).parameters(1).expect("counted").total();
    for (from, to) in [
        ("\"hidden_size\": 7168", "\"hidden_size\": 7169"),
        ("\"num_hidden_layers\": 61", "\"num_hidden_layers\": 62"),
        ("\"num_attention_heads\": 128", "\"num_attention_heads\": 127"),
        ("\"kv_lora_rank\": 512", "\"kv_lora_rank\": 513"),
        ("\"q_lora_rank\": 1536", "\"q_lora_rank\": null"),
        ("\"qk_nope_head_dim\": 128", "\"qk_nope_head_dim\": 129"),
        ("\"qk_rope_head_dim\": 64", "\"qk_rope_head_dim\": 65"),
        ("\"v_head_dim\": 128", "\"v_head_dim\": 127"),
        ("\"intermediate_size\": 18432", "\"intermediate_size\": 18433"),
        ("\"moe_intermediate_size\": 2048", "\"moe_intermediate_size\": 2049"),
        ("\"n_routed_experts\": 256", "\"n_routed_experts\": 255"),
        ("\"n_shared_experts\": 1", "\"n_shared_experts\": 2"),
        ("\"first_k_dense_replace\": 3", "\"first_k_dense_replace\": 4"),
        ("noaux_tc", "greedy"),
        ("\"vocab_size\": 129280", "\"vocab_size\": 129281"),
        ("\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true"),
    ] {
        assert!(deepseek.contains(from), "{from}");
        assert_ne!(count(&deepseek.replace(from, to)), 671_026_419_200, "{from} -> {to}");
    }
}

#[test]
fn ranks_divide_heads_and_matrices_and_repeat_what_cannot_be_divided() {
    let config = parsed("Llama-3.1-8B", &llama(32, 4096, 32, 8, 14336));
    let on = |ranks: u32| {
        let cache = Cache::new(&config, &Storage { ranks, ..storage(&config) }, None).expect("a cache");
        (cache.token_bytes(), cache.repeated)
    };
    assert_eq!([on(1), on(8)], [(131_072, false), (16_384, false)]);
    assert_eq!(on(16), (16_384, true), "one KV head a layer at least");
    let whole = config.parameters(1).expect("counted").total();
    let norms = 65 * 4096;
    assert_eq!(config.parameters(8).expect("counted").on_rank(), (whole - norms) / 8 + norms);
    // With sixteen ranks each has one of the eight KV heads.
    let keys_and_values = 32 * 2 * 4096 * 1024;
    let divided = (whole - norms - keys_and_values) / 16;
    assert_eq!(config.parameters(16).expect("counted").on_rank(), divided + keys_and_values / 8 + norms);
    let latent = parsed("DeepSeek-V3", &experts_and_latents()[2].config);
    let cache = Cache::new(&latent, &Storage { ranks: 8, ..storage(&latent) }, None).expect("a cache");
    assert_eq!((cache.token_bytes(), cache.repeated), (70_272, true), "a latent is on every rank");
}
