//! Reading configs: which layers keep what under each family's keys, and what is said of a config that cannot be used.

use kvledger_core::model::Random;
use kvledger_core::plan::{Element, Scales};
use kvledger_harness::model_config::{ModelConfig, Setting, Span};
use kvledger_harness::planning::{Cache, Kind, Storage};

const STORAGE: Storage = Storage {
    element: Element::F16,
    scales: Scales::NONE,
    block_tokens: 16,
    ranks: 1,
    steps_in_flight: 1,
    step_tokens: 1,
    keeps_windows: false,
};

/// A small decoder, and more keys: 6 layers, 4 heads of 8, 2 of them for keys and values.
fn config(more: &str) -> String {
    format!(
        r#"{{"num_hidden_layers": 6, "hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2,
        "torch_dtype": "float16"{more}}}"#
    )
}

fn parsed(text: &str) -> ModelConfig {
    ModelConfig::parse("config.json", text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn cache(text: &str) -> Cache {
    Cache::new(&parsed(text), &STORAGE, None).unwrap_or_else(|problem| panic!("{text}: {problem}"))
}

/// One letter a layer: f for every token, w or a window, s for a state, b for both, - for none.
fn letters(text: &str) -> String {
    let layers = parsed(text).layers().unwrap_or_else(|error| panic!("{text}: {error}"));
    let letter = |layer: &kvledger_harness::model_config::Layer| match (layer.keeps, layer.has_state) {
        (Some((Span::Full, _)), false) => 'f',
        (Some((Span::Window(_), _)), false) => 'w',
        (Some(_), true) => 'b',
        (None, true) => 's',
        (None, false) => '-',
    };
    layers.iter().map(letter).collect()
}

#[test]
fn each_family_says_in_its_own_way_which_layers_keep_what() {
    let delta = r#", "linear_num_value_heads": 2, "linear_num_key_heads": 2, "linear_key_head_dim": 4,
        "linear_value_head_dim": 4, "linear_conv_kernel_dim": 4"#;
    for (more, expected) in [
        ("", "ffffff"),
        // Mistral v0.1, Phi-3: a window in all layers. Null, or switched off: in none.
        (r#", "sliding_window": 8"#, "wwwwww"),
        (r#", "sliding_window": null"#, "ffffff"),
        // Qwen2.
        (r#", "sliding_window": 8, "use_sliding_window": false, "max_window_layers": 2"#, "ffffff"),
        (r#", "sliding_window": 8, "use_sliding_window": true, "max_window_layers": 2"#, "ffwwww"),
        (r#", "sliding_window": 8, "use_sliding_window": true, "max_window_layers": 0"#, "wwwwww"),
        // Gemma 2 and gpt-oss, Gemma 3, Cohere 2, Exaone 4: the pattern is the class's, a number, or a text.
        (r#", "model_type": "gemma2", "sliding_window": 8"#, "wfwfwf"),
        (r#", "model_type": "gpt_oss", "sliding_window": 8"#, "wfwfwf"),
        (r#", "model_type": "gemma3_text", "sliding_window": 8"#, "wwwwwf"),
        (r#", "model_type": "gemma3_text", "sliding_window": 8, "sliding_window_pattern": 3"#, "wwfwwf"),
        (r#", "model_type": "cohere2", "sliding_window": 8"#, "wwwfww"),
        (r#", "sliding_window": 8, "sliding_window_pattern": "LLG""#, "wwfwwf"),
        // A list beats everything else.
        (
            r#", "model_type": "gemma2", "sliding_window": 8, "layer_types": ["full_attention", "full_attention",
            "sliding_attention", "full_attention", "full_attention", "sliding_attention"]"#,
            "ffwffw",
        ),
        // Gemma 3n: the last layers use the cache of earlier ones. Hunyuan: every second layer does.
        (r#", "model_type": "gemma3n_text", "sliding_window": 8, "num_kv_shared_layers": 2"#, "wwww--"),
        (r#", "model_type": "gemma3n_text", "sliding_window": 8, "num_kv_shared_layers": 1"#, "wwwwf-"),
        (r#", "use_cla": true, "cla_share_factor": 2"#, "f-f-f-"),
        // Llama 4.
        (r#", "model_type": "llama4_text", "attention_chunk_size": 8"#, "wwwfww"),
        (r#", "model_type": "llama4_text", "attention_chunk_size": 8, "no_rope_layers": [1, 1, 0, 1, 1, 0]"#, "wwfwwf"),
        // Jamba, Bamba, Qwen3-Next, Nemotron-H, MiniMax, LFM2, Kimi Linear, RecurrentGemma, Falcon-H1, Zamba 2.
        (r#", "attn_layer_period": 3, "attn_layer_offset": 1"#, "sfssfs"),
        (r#", "attn_layer_indices": [0, 5]"#, "fssssf"),
        (r#", "full_attention_interval": 3"#, "ssfssf"),
        (r#", "hybrid_override_pattern": "M-M*-E""#, "s-sf--"),
        (r#", "attn_type_list": [0, 0, 1, 0, 0, 1]"#, "ssfssf"),
        (r#", "full_attn_idxs": [2]"#, "ssfsss"),
        (r#", "linear_attn_config": {"full_attn_layers": [3]}"#, "ssfsss"),
        (r#", "block_types": ["recurrent", "recurrent", "attention"], "attention_window_size": 8"#, "sswssw"),
        (r#", "model_type": "falcon_h1""#, "bbbbbb"),
        (r#", "layers_block_type": ["mamba", "hybrid", "mamba", "mamba", "hybrid", "mamba"]"#, "sbssbs"),
        // Blocks without attention, and layers with heads of their own.
        (
            r#", "block_configs": [{"attention": {"n_heads_in_group": 4}}, {"attention": {"no_op": true,
            "n_heads_in_group": null}}, {}, {"attention": {"n_heads_in_group": 2}}, {}, {}]"#,
            "f--f--",
        ),
    ] {
        assert_eq!(letters(&config(&format!("{delta}{more}"))), expected, "{more}");
    }
}

#[test]
fn heads_have_many_names() {
    let bytes = |text: &str| cache(text).token_bytes();
    let all = 6 * 2 * 8 * 2;
    assert_eq!(bytes(&config("")), all * 2);
    assert_eq!(bytes(&config(r#", "head_dim": 16"#)), all * 4, "given, not 32 / 4");
    assert_eq!(bytes(&config(r#", "multi_query": true"#)), all, "one KV head");
    assert_eq!(bytes(&config(r#", "multi_query": true, "new_decoder_architecture": true"#)), all * 2);
    assert_eq!(bytes(&config(r#", "kv_lora_rank": 20, "qk_rope_head_dim": 4"#)), 6 * 24 * 2, "once, without heads");
    assert_eq!(bytes(&config(r#", "v_head_dim": 4"#)), 6 * 2 * (8 + 4) * 2);
    assert_eq!(bytes(&config(r#", "attn_config": {"kv_n_heads": 1}"#)), all);
    assert_eq!(bytes(&config(r#", "num_key_value_heads_per_layer": [1, 1, 2, 2, 4, 4]"#)), 14 * 2 * 8 * 2);
    // DeepSeek-V3.2: the indexer keeps a key of eight bits and a scale of four bytes besides.
    let sparse = r#", "kv_lora_rank": 20, "qk_rope_head_dim": 4, "index_topk": 64, "index_head_dim": 16"#;
    assert_eq!(bytes(&config(sparse)), 6 * (24 * 2 + 16 + 4));
    let gpt = r#"{"n_layer": 6, "n_embd": 32, "n_head": 4, "n_head_kv": 2, "dtype": "float16"}"#;
    assert_eq!(bytes(gpt), all * 2);
    let alone = r#"{"n_layer": 6, "n_embd": 32, "n_head": 4}"#;
    assert_eq!(bytes(alone), all * 4, "each query head has its own");
    let chat = r#"{"num_layers": 6, "hidden_size": 32, "num_attention_heads": 4, "kv_channels": 8, "multi_query_group_num": 2}"#;
    assert_eq!(bytes(chat), all * 2);
    // Gemma 4: layers that keep every token have other heads.
    let two = cache(&config(
        r#", "sliding_window": 8, "sliding_window_pattern": 6, "global_head_dim": 16,
        "num_global_key_value_heads": 1"#,
    ));
    let of = |kind: &Kind| (kind.layers, kind.token_bytes);
    assert_eq!(two.kinds.iter().map(of).collect::<Vec<_>>(), [(1, 2 * 16 * 2), (5, 5 * 2 * 2 * 8 * 2)]);
}

#[test]
fn the_part_about_text_is_found_inside() {
    let inner = config(r#", "sliding_window": 8"#);
    for name in ["text_config", "llm_config", "language_config"] {
        let text =
            format!(r#"{{"model_type": "outer", "vision_config": {{"num_hidden_layers": 99}}, "{name}": {inner}}}"#);
        assert_eq!(letters(&text), "wwwwww");
        let settings = [r#"sliding_window=null"#.parse::<Setting>().expect("a setting")];
        let set = ModelConfig::parse("config.json", &text, &settings).expect("a config");
        assert!(set.layers().expect("layers").iter().all(|layer| matches!(layer.keeps, Some((Span::Full, _)))));
        let parameters = set.parameters(1).expect_err("what else is there is not counted").to_string();
        assert!(parameters.contains("vision_config") && parameters.contains("--parameters"), "{parameters}");
    }
    let deep = format!(r#"{{"thinker_config": {{"text_config": {inner}}}, "dtype": "float16"}}"#);
    assert_eq!(letters(&deep), "wwwwww");
    // The type may stand outside.
    let outside = r#"{"torch_dtype": "bfloat16", "text_config": {"num_hidden_layers": 1}}"#;
    assert_eq!(parsed(outside).cache_element().map(|(element, _)| element), Ok(Element::Bf16));
}

#[test]
fn the_cache_has_the_type_that_the_config_says() {
    let element = |more: &str| parsed(&config(more)).cache_element();
    assert_eq!(element(""), Ok((Element::F16, "dtype")));
    for (scheme, expected) in [
        (r#""kv_cache_scheme": {"num_bits": 8, "type": "float"}"#, Element::E4m3),
        (r#""kv_cache_scheme": {"num_bits": 8, "type": "int", "symmetric": true}"#, Element::Int8),
        (r#""kv_cache_quant_algo": "FP8""#, Element::E4m3),
        (r#""kv_cache_scheme": null, "kv_cache_quant_algo": null"#, Element::F16),
    ] {
        let found = element(&format!(r#", "quantization_config": {{{scheme}}}"#)).map(|(element, _)| element);
        assert_eq!(found, Ok(expected), "{scheme}");
    }
    let odd = r#", "quantization_config": {"kv_cache_scheme": {"num_bits": 3, "type": "int"}}"#;
    assert!(element(odd).expect_err("three bits").to_string().contains("--kv-type"));
}

#[test]
fn weights_have_the_bits_that_the_config_says() {
    let of = |quantization: &str| {
        let text = config(&format!(r#", "quantization_config": {{{quantization}}}"#));
        parsed(&text).weights_type().map(|weights| (weights.matrices, weights.rest.bits))
    };
    let bits = |quantization: &str| {
        let (format, rest) = of(quantization).unwrap_or_else(|error| panic!("{error}"));
        (format.bits, format.group, format.scale_bits, rest)
    };
    assert_eq!(bits(r#""quant_method": "fp8", "weight_block_size": [128, 128]"#), (8, 16_384, 32, 16));
    assert_eq!(bits(r#""quant_method": "fp8""#), (8, 0, 0, 16));
    assert_eq!(bits(r#""quant_method": "gptq", "bits": 4, "group_size": 128"#), (4, 128, 20, 16));
    assert_eq!(bits(r#""quant_method": "gptq", "bits": 8, "group_size": -1"#), (8, 0, 24, 16));
    assert_eq!(bits(r#""quant_method": "awq", "bits": 4, "group_size": 64, "zero_point": true"#), (4, 64, 20, 16));
    assert_eq!(bits(r#""quant_method": "bitsandbytes", "load_in_4bit": true"#), (4, 64, 32, 16));
    assert_eq!(bits(r#""quant_method": "bitsandbytes", "load_in_8bit": true"#), (8, 0, 0, 16));
    assert_eq!(bits(r#""quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"]"#), (4, 16, 8, 16));
    let qwen = r#""quant_method": "fp8", "weight_block_size": [128, 128], "modules_to_not_convert": ["lm_head",
        "model.layers.0.input_layernorm", "model.layers.0.mlp.gate", "model.norm"]"#;
    assert_eq!(bits(qwen), (8, 16_384, 32, 16));
    let groups = r#""quant_method": "compressed-tensors", "ignore": ["lm_head"], "config_groups": {"group_0": {"weights":
        {"num_bits": 8, "type": "float", "strategy": "channel"}}}"#;
    assert_eq!(bits(groups), (8, 0, 16, 16));
    for (quantization, word) in [
        (r#""bits": 4"#, "quant_method"),
        (r#""quant_method": "magic""#, "magic"),
        (r#""quant_method": "gptq", "bits": 0, "group_size": 128"#, "bits"),
        (r#""quant_method": "gptq", "bits": 64, "group_size": 128"#, "64"),
        (r#""quant_method": "bitsandbytes""#, "load_in_8bit"),
        (r#""quant_method": "compressed-tensors""#, "config_groups"),
        (r#""quant_method": "fp8", "modules_to_not_convert": ["model.layers.0.mlp.gate_proj"]"#, "gate_proj"),
        (r#""quant_method": "fp8", "weight_block_size": [2147483647, 2147483647, 2147483647]"#, "64 bits"),
    ] {
        let message = of(quantization).expect_err(quantization).to_string();
        assert!(message.contains(word) && message.contains("config.json"), "{word} in {message}");
    }
}

/// What is wrong is named: the file, the key, what stands there, and the mend.
#[test]
fn configs_that_cannot_be_used_say_why() {
    let six = |key: &str, value: &str| config(&format!(r#", "{key}": {value}"#));
    let without = |key: &str| config("").replace(&format!("\"{key}\""), "\"another_key\"");
    let cases: Vec<(String, &[&str])> = vec![
        ("".into(), &["no JSON"]),
        ("[1]".into(), &["no object"]),
        ("{\"num_hidden_layers\": ".into(), &["no JSON", "line 1"]),
        ("{}".into(), &["`num_hidden_layers` is missing", "`n_layer`", "--set num_hidden_layers=N"]),
        (without("num_hidden_layers"), &["`num_hidden_layers` is missing"]),
        (without("hidden_size"), &["`hidden_size` is missing", "`n_embd`", "--set hidden_size=N"]),
        (
            r#"{"num_hidden_layers": 2, "hidden_size": 32}"#.into(),
            &["`num_attention_heads` is missing", "`n_head`", "--set num_attention_heads=N"],
        ),
        (six("num_hidden_layers", "null"), &["`num_hidden_layers` is null"]),
        (six("num_hidden_layers", "0"), &["found `0`", "from 1 to 2147483647"]),
        (six("num_hidden_layers", "-3"), &["found `-3`"]),
        (six("num_hidden_layers", "1.5"), &["found `1.5`"]),
        (six("num_hidden_layers", "\"6\""), &["found `\"6\"`"]),
        (six("num_hidden_layers", "65537"), &["at most 65536"]),
        (six("num_hidden_layers", "18446744073709551616"), &["num_hidden_layers"]),
        (six("num_key_value_heads", "1, \"num_attention_heads\": 3"), &["no multiple", "--set head_dim=N"]),
        (six("num_key_value_heads", "0"), &["`num_key_value_heads`", "found `0`"]),
        (six("num_key_value_heads", "3"), &["`num_attention_heads` is 4", "key `num_key_value_heads`, 3", "--set"]),
        (six("num_key_value_heads", "8"), &["`num_attention_heads` is 4", "key `num_key_value_heads`, 8"]),
        (six("num_global_key_value_heads", "3"), &["`num_attention_heads` is 4", "`num_global_key_value_heads`, 3"]),
        (six("attn_config", "{\"kv_n_heads\": 8}"), &["`num_attention_heads` is 4", "`attn_config.kv_n_heads`, 8"]),
        (six("num_key_value_heads_per_layer", "[1, 1, 2, 2, 4, 3]"), &["is 4", "`num_key_value_heads_per_layer`, 3"]),
        (six("num_key_value_heads", "[2]"), &["found `[2]`"]),
        (six("head_dim", "true"), &["`head_dim`", "found `true`"]),
        (six("head_dim", "2147483648"), &["2147483647"]),
        (six("kv_lora_rank", "4"), &["`qk_rope_head_dim` is missing", "--set qk_rope_head_dim=N"]),
        (six("multi_query", "1"), &["`multi_query`", "true or false"]),
        (six("layer_types", "[]"), &["0 entries", "`num_hidden_layers` is 6"]),
        (six("layer_types", "[\"sparse\"]"), &["found `\"sparse\"`", "sliding_attention"]),
        (six("layer_types", "\"full\""), &["give a list"]),
        (
            six("layer_types", &format!("[{}]", ["\"sliding_attention\""; 6].join(", "))),
            &["`sliding_window` is missing", "--set sliding_window=N"],
        ),
        (six("hybrid_override_pattern", "\"M*x\""), &["found `\"M*x\"`"]),
        (six("hybrid_override_pattern", "\"M*\""), &["2 entries"]),
        (six("num_kv_shared_layers", "6"), &["fewer than there are layers"]),
        (six("full_attention_interval", "2"), &["no key that says how large their state is", "--state-bytes"]),
        (six("is_encoder_decoder", "true"), &["encoder"]),
        (six("compress_ratios", "[1, 4]"), &["--set compress_ratios=null"]),
        (six("quantization_config", "4"), &["`quantization_config`", "give an object"]),
        (six("torch_dtype", "7"), &["`torch_dtype`", "text in quotes"]),
        (six("torch_dtype", "\"int5\""), &["int5", "--kv-type"]),
        (six("text_config", "4").replace("num_hidden_layers", "layers"), &["num_hidden_layers"]),
        (six("num_key_value_heads_per_layer", "[1]"), &["1 entries"]),
        (six("hybrid_override_pattern", "\"------\""), &["no layer keeps anything"]),
    ];
    for (text, words) in cases {
        let found =
            ModelConfig::parse("dir/config.json", &text, &[]).map_err(|error| error.to_string()).and_then(|config| {
                Cache::new(&config, &STORAGE, None).map_err(|problem| problem.to_string())?;
                config.cache_element().map_err(|error| error.to_string())
            });
        let Err(message) = found else { panic!("accepted: {text}") };
        assert!(message.starts_with("dir/config.json: "), "{message}");
        for word in words {
            assert!(message.contains(word), "{word} in {message} of {text}");
        }
    }
}

#[test]
fn parameters_that_cannot_be_counted_say_what_replaces_them() {
    for (more, words) in [
        ("", &["`model_type` is missing", "--parameters", "--region weights="][..]),
        (r#", "model_type": "rwkv""#, &["`rwkv`", "--parameters", "llama"]),
        (r#", "model_type": "llama""#, &["`vocab_size` is missing", "--set vocab_size=N"]),
        (r#", "model_type": "llama", "vocab_size": 10"#, &["`intermediate_size` is missing"]),
        (
            r#", "model_type": "deepseek_v3", "vocab_size": 2147483647, "kv_lora_rank": 2147483647, "qk_rope_head_dim": 1,
            "qk_nope_head_dim": 2147483647, "v_head_dim": 2147483647, "intermediate_size": 2147483647"#,
            &["64 bits"],
        ),
    ] {
        let message = parsed(&config(more)).parameters(1).expect_err(more).to_string();
        for word in words {
            assert!(message.contains(word), "{word} in {message}");
        }
    }
}

const KEYS: [&str; 40] = [
    "num_hidden_layers",
    "hidden_size",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "multi_query",
    "new_decoder_architecture",
    "kv_lora_rank",
    "qk_rope_head_dim",
    "qk_nope_head_dim",
    "v_head_dim",
    "q_lora_rank",
    "sliding_window",
    "use_sliding_window",
    "max_window_layers",
    "sliding_window_pattern",
    "layer_types",
    "attn_layer_period",
    "attn_layer_offset",
    "full_attention_interval",
    "num_kv_shared_layers",
    "linear_num_value_heads",
    "linear_num_key_heads",
    "linear_key_head_dim",
    "linear_value_head_dim",
    "linear_conv_kernel_dim",
    "mamba_num_heads",
    "mamba_head_dim",
    "n_groups",
    "ssm_state_size",
    "conv_kernel",
    "model_type",
    "torch_dtype",
    "vocab_size",
    "intermediate_size",
    "num_experts",
    "moe_intermediate_size",
    "tie_word_embeddings",
    "quantization_config",
    "block_types",
];

const NEARLY_ALWAYS: [&str; 4] = ["torch_dtype", "model_type", "vocab_size", "intermediate_size"];

const STATE: [&str; 7] = [
    "full_attention_interval",
    "mamba_num_heads",
    "mamba_head_dim",
    "n_groups",
    "ssm_state_size",
    "conv_kernel",
    "linear_conv_kernel_dim",
];

/// Mostly a size that could be, now and then anything at all.
fn value(random: &mut Random, key: &str) -> String {
    let sizes = ["1", "2", "4", "8", "64", "128"];
    let odd = [
        "0",
        "-1",
        "null",
        "true",
        "1.5",
        "\"x\"",
        "[]",
        "[1]",
        "{}",
        "2147483647",
        "4294967296",
        "18446744073709551615",
        "[\"full_attention\"]",
        "1e300",
    ];
    match (key, random.below(12)) {
        (_, 0) => odd[random.below(odd.len() as u32) as usize].to_string(),
        ("model_type", _) => {
            let types =
                ["llama", "gemma2", "qwen3_moe", "deepseek_v3", "qwen3_next", "nemotron_h", "falcon", "gpt_oss"];
            format!("\"{}\"", types[random.below(types.len() as u32) as usize])
        }
        ("torch_dtype", _) => "\"bfloat16\"".to_string(),
        ("multi_query" | "new_decoder_architecture" | "use_sliding_window" | "tie_word_embeddings", pick) => {
            (pick % 2 == 0).to_string()
        }
        _ => sizes[random.below(sizes.len() as u32) as usize].to_string(),
    }
}

/// Any config is answered, never a panic, and what is answered hangs together.
#[test]
fn random_configs_are_answered_and_hang_together() {
    let (mut caches, mut counted, mut windows, mut states) = (0, 0, 0, 0);
    for seed in 1..=if cfg!(debug_assertions) { 20_000 } else { 100_000 } {
        let mut random = Random::new(seed);
        let mut lines = Vec::new();
        let (stateful, windowed) = (random.below(4) == 0, random.below(4) == 0);
        for (place, key) in KEYS.into_iter().enumerate() {
            // The keys that everything needs are nearly always there, those of a state together or hardly ever.
            let wanted = place < 4
                || windowed && key == "sliding_window"
                || NEARLY_ALWAYS.contains(&key)
                || stateful && STATE.contains(&key);
            if random.below(16) < if wanted { 15 } else { 2 } {
                lines.push(format!("\"{key}\": {}", value(&mut random, key)));
            }
        }
        let text = format!("{{{}}}", lines.join(", "));
        let model = parsed(&text);
        let (one, ranks) = (model.parameters(1), 1 << random.below(4));
        if let (Ok(one), Ok(several)) = (&one, model.parameters(ranks)) {
            counted += 1;
            assert_eq!(one.total(), one.on_rank(), "{text}");
            assert_eq!(one.total(), several.total(), "{text}");
            assert!(several.on_rank() <= one.total() && several.on_rank() >= one.total() / ranks, "{text}");
        }
        let _ = (model.weights_type(), model.cache_element(), model.context());
        let storage = Storage { ranks: ranks as u32, block_tokens: 1 + random.below(64), ..STORAGE };
        let Ok(cache) = Cache::new(&model, &storage, None) else { continue };
        caches += 1;
        windows += u32::from(cache.kinds.iter().any(|kind| kind.blocks_max.is_some()));
        states += u32::from(cache.state_bytes > 0);
        let layers = model.layers().expect("they were read");
        let keeping = layers.iter().filter(|layer| layer.keeps.is_some()).count() as u32;
        assert_eq!(cache.kinds.iter().map(|kind| kind.layers).sum::<u32>(), keeping, "{text}");
        for kind in &cache.kinds {
            let block = u64::from(storage.block_tokens);
            let tokens = kind.token_bytes.checked_mul(block).expect("blocks were counted in 64 bits");
            assert!(
                kind.block_bytes >= tokens && kind.block_bytes < tokens + 16 * kind.geometries.len() as u64,
                "{text}"
            );
            let at = |tokens| kind.blocks(tokens);
            assert!(at(0) == 0 && at(1) == 1 && at(100) <= at(101) && at(u64::MAX) >= at(1 << 40), "{text}");
            assert!(kind.blocks_max.is_none_or(|most| at(u64::MAX) == most && at(1) <= most), "{text}");
        }
        let kept =
            Cache::new(&model, &Storage { keeps_windows: true, ..storage }, None).expect("the same without windows");
        assert_eq!(kept.token_bytes(), cache.token_bytes(), "{text}");
        assert!(kept.kinds.len() <= 1, "{text}");
    }
    for (what, times) in [("caches", caches), ("counts", counted), ("windows", windows), ("states", states)] {
        assert!(times > 200, "only {times} {what}: the configs are too odd to say anything");
    }
}
