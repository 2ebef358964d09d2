//! `kvledger plan` as a user runs it: the figures of the specification, exit codes, what goes where, and what a message
//! says.

use kvledger_core::model::Random;
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// The decoder of the specification, section 6: 32 layers, 8 KV heads of 128, 16 bits.
const DECODER: &str = r#"{"num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
    "num_key_value_heads": 8, "torch_dtype": "bfloat16", "max_position_embeddings": 4096}"#;

/// A config in a folder of its own, gone when the test is.
struct Folder(PathBuf);

impl Folder {
    fn new(config: &str) -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("kvledger-plan-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        std::fs::write(path.join("config.json"), config).expect("a file");
        Folder(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("a path in UTF-8")
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a path in UTF-8").to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Gone already is just as well.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kvledger"));
    command.arg("plan").args(arguments).env_remove("COLUMNS");
    command
}

fn plan(config: &str, arguments: &[&str]) -> Output {
    let folder = Folder::new(config);
    command(&[&["--model", folder.path()], arguments].concat()).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

/// The figures of a command that must succeed.
fn figures(config: &str, arguments: &[&str]) -> Value {
    let output = plan(config, &[arguments, &["--json", "-"]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("nothing but JSON on standard output")
}

/// The message of a command that must stop with `code`.
fn refusal(config: &str, arguments: &[&str], code: i32) -> String {
    let output = plan(config, arguments);
    let message = text(&output.stderr).to_string();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}{}", text(&output.stdout));
    message
}

fn policy<'a>(figures: &'a Value, name: &str) -> &'a Value {
    let policies = figures["policies"].as_array().expect("a list");
    policies.iter().find(|fit| fit["policy"] == name).unwrap_or_else(|| panic!("{name} in {figures}"))
}

/// A device with nothing on it but the pool.
const BARE: [&str; 2] = ["--region", "weights=0"];

#[test]
fn the_decoder_of_the_specification_has_its_figures() {
    let arguments =
        ["--gpu-memory", "514MiB", "--safety", "0", "--prompt", "2048", "--output", "257", "--shared-prefix", "2048"];
    let figures = figures(DECODER, &[&BARE[..], &arguments].concat());
    assert_eq!(figures["token_bytes"], 131_072);
    let pool = &figures["kinds"][0];
    assert_eq!((&pool["block_bytes"], &pool["blocks"]), (&(2 << 20).into(), &256.into()));
    assert_eq!((&pool["tokens"], &pool["pool_bytes"]), (&4_096.into(), &(514u64 << 20).into()));
    assert_eq!((&figures["unused_bytes"], &figures["regions"]["kv-pool"]), (&0.into(), &(514u64 << 20).into()));
    // 145 blocks with the output, 128 without; seven share the prefix.
    assert_eq!(policy(&figures, "full")["requests"], 1);
    assert_eq!(policy(&figures, "full")["promised_blocks"][0], 145);
    assert_eq!(policy(&figures, "incremental")["requests"], 2);
    assert_eq!(policy(&figures, "incremental")["promised_blocks"][0], 256);
    assert_eq!(
        (&policy(&figures, "incremental")["longest_blocks"][0], &policy(&figures, "incremental")["short_by"][0]),
        (&290.into(), &34.into())
    );
    assert_eq!(policy(&figures, "contig")["requests"], 1);
    assert_eq!(figures["sharing"], 7);
    assert_eq!(figures["load"]["slack"], serde_json::json!([15, 2_320]));
    assert_eq!(figures["load"]["waste"], serde_json::json!([1_791, 4_096]));
}

#[test]
fn the_null_block_takes_a_block_of_memory() {
    let blocks =
        |memory| figures(DECODER, &[&BARE[..], &["--gpu-memory", memory]].concat())["kinds"][0]["blocks"].clone();
    assert_eq!([blocks("512MiB"), blocks("514MiB"), blocks("515MiB")], [255, 256, 256]);
    let page = plan(DECODER, &[&BARE[..], &["--gpu-memory", "512MiB"]].concat());
    assert!(text(&page.stdout).contains("null block, id 0     2 MiB (2,097,152 bytes)"), "{}", text(&page.stdout));
}

#[test]
fn memory_for_so_many_requests_is_memory_in_which_they_fit() {
    let load = ["--lengths", "100:20,3000:200,17:4000", "--percentile-tokens", "p50", "--max-context", "4096"];
    let asked = figures(DECODER, &[&BARE[..], &load, &["--region", "outside=10%", "--requests", "10"]].concat());
    for needed in asked["needed"].as_array().expect("a list") {
        let memory = needed["device_bytes"].to_string();
        let with = |memory: &str| {
            let arguments = ["--gpu-memory", memory, "--region", "outside=10%"];
            let figures = figures(DECODER, &[&BARE[..], &load, &arguments].concat());
            policy(&figures, needed["policy"].as_str().expect("text"))["requests"].as_u64().expect("a count")
        };
        assert_eq!(with(&memory), 10, "{needed}");
        let block = 10 * (2 << 20) / 9 + 2;
        let less = needed["device_bytes"].as_u64().expect("bytes") - block;
        assert!(with(&less.to_string()) < 10, "{needed}");
    }
}

#[test]
fn a_device_that_is_too_small_says_which_region_to_shrink() {
    let llama = r#"{"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "torch_dtype": "bfloat16"}"#;
    let fits = figures(llama, &["--gpu-memory", "24GiB", "--region", "workspace=2GiB", "--region", "outside=0.05"]);
    assert_eq!(fits["regions"]["weights"], 8_030_261_248u64 * 2);
    assert_eq!(fits["regions"]["outside"], (24u64 << 30) / 20);
    let sum: u64 =
        fits["regions"].as_object().expect("regions").values().map(|bytes| bytes.as_u64().expect("bytes")).sum();
    assert_eq!(sum, 24 << 30, "nothing is left over");
    let message = refusal(llama, &["--gpu-memory", "14GiB"], 1);
    assert!(message.contains("shrink weights") && message.contains("--tensor-parallel"), "{message}");
    let message = refusal(llama, &["--gpu-memory", "24GiB", "--region", "workspace=20GiB"], 1);
    assert!(message.contains("shrink workspace: give at most --region workspace="), "{message}");
    let message = refusal(DECODER, &[&BARE[..], &["--gpu-memory", "3MiB"]].concat(), 1);
    assert!(message.contains("not even one block") && message.contains("4 MiB"), "{message}");
    let message = refusal(
        DECODER,
        &[&BARE[..], &["--gpu-memory", "1GiB", "--requests", "50", "--prompt", "100", "--output", "100"]].concat(),
        1,
    );
    assert!(message.contains("--requests 50: only 38 fit") && message.contains("--gpu-memory"), "{message}");
    let int4 = figures(llama, &["--gpu-memory", "14GiB", "--weights-type", "int4"]);
    assert_eq!(int4["weights"]["bytes"], 8_030_261_248u64 / 2);
    let stated = figures(llama, &["--gpu-memory", "24GiB", "--parameters", "8.03B"]);
    assert_eq!(
        (&stated["weights"]["from"], &stated["weights"]["bytes"]),
        (&"parameters".into(), &16_060_000_000u64.into())
    );
}

#[test]
fn windows_and_states_have_pools_of_their_own() {
    let gemma = r#"{"model_type": "gemma3_text", "num_hidden_layers": 6, "hidden_size": 64, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 16, "sliding_window": 64, "torch_dtype": "bfloat16"}"#;
    let arguments =
        ["--gpu-memory", "64MiB", "--prompt", "1000", "--output", "24", "--step-tokens", "16", "--max-context", "0"];
    let arguments = [&BARE[..], &arguments].concat();
    let split = figures(gemma, &arguments);
    // ⌈(63 + 2 · 16)/16⌉ + 1
    assert_eq!(split["kinds"][1]["sequence_blocks_max"], 7);
    let full = policy(&split, "full");
    let requests = full["requests"].as_u64().expect("a count");
    assert_eq!(full["promised_blocks"], serde_json::json!([64 * requests, 7 * requests]));
    assert!((0..2).all(|place| split["kinds"][place]["window"].is_null() == (place == 0)), "{split}");
    let kept = figures(gemma, &[&arguments[..], &["--keep-windows"]].concat());
    assert_eq!(kept["token_bytes"], split["token_bytes"]);
    let kept_requests = policy(&kept, "full")["requests"].as_u64().expect("a count");
    assert!(requests > 3 * kept_requests, "{requests} and {kept_requests}");
    let hybrid = r#"{"num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4, "torch_dtype": "bfloat16",
        "attn_layer_period": 4, "attn_layer_offset": 3}"#;
    let message = refusal(hybrid, &arguments, 2);
    assert!(message.contains("--state-bytes"), "{message}");
    let states = figures(hybrid, &[&arguments[..], &["--state-bytes", "65536"]].concat());
    assert_eq!((&states["state_bytes"], &states["layers_with_state"]), (&65_536.into(), &3.into()));
    assert!(states["sequences"].as_u64() >= policy(&states, "full")["requests"].as_u64(), "{states}");
}

#[test]
fn scales_and_types_are_in_the_bytes() {
    let bytes = |arguments: &[&str]| {
        let kinds = &figures(DECODER, &[&BARE[..], &["--gpu-memory", "1GiB"], arguments].concat())["kinds"];
        (kinds[0]["token_bytes"].as_u64().expect("bytes"), kinds[0]["block_bytes"].as_u64().expect("bytes"))
    };
    assert_eq!(bytes(&["--kv-type", "fp8"]), (65_536, 1 << 20));
    assert_eq!(bytes(&["--kv-type", "int4"]), (32_768, 1 << 19));
    assert_eq!(bytes(&["--kv-type", "fp8", "--kv-scales", "token-head:4"]).0, 65_536 + 32 * 8 * 2 * 4);
    assert_eq!(bytes(&["--kv-type", "int4", "--kv-scales", "group-32:2"]).0, 32_768 + 32 * 8 * 2 * 4 * 2);
    assert_eq!(bytes(&["--kv-type", "fp8", "--kv-scales", "block-head:4"]), (65_536, (1 << 20) + 32 * 8 * 2 * 4));
    assert_eq!(bytes(&["--set", "num_key_value_heads=4", "--block-tokens", "32"]), (65_536, 2 << 20));
    assert_eq!(bytes(&["--tensor-parallel", "4"]), (32_768, 1 << 19));
}

#[test]
fn what_was_taken_for_granted_is_said() {
    let notes = |config: &str, arguments: &[&str]| {
        let figures = figures(config, &[&BARE[..1], &["weights=0", "--gpu-memory", "1GiB"], arguments].concat());
        figures["notes"].as_array().expect("a list").iter().map(|note| note.to_string()).collect::<String>()
    };
    assert_eq!(notes(DECODER, &[]), "");
    assert_eq!(notes(DECODER, &["--tensor-parallel", "8"]), "");
    assert!(notes(DECODER, &["--tensor-parallel", "16"]).contains("more ranks than KV heads"));
    assert!(notes(DECODER, &["--keep-windows"]).contains("kept whole"));
    assert!(notes(&DECODER.replace("num_key_value_heads", "other"), &[]).contains("each query head"));
    let windows = ["--set", "sliding_window=64", "--set", "sliding_window_pattern=2"];
    assert!(notes(DECODER, &windows).contains("of the first pool"));
    let page = plan(DECODER, &[&BARE[..], &["--gpu-memory", "1GiB", "--tensor-parallel", "16"]].concat());
    assert!(text(&page.stdout).contains("more ranks than KV heads"), "{}", text(&page.stdout));
}

#[test]
fn lengths_come_from_a_trace_as_well() {
    let folder = Folder::new(DECODER);
    let trace = folder.file("trace.csv");
    std::fs::write(&trace, "num_prefill_tokens,num_decode_tokens\n10,7\n9,9\n5,3\n5000,4\n8,2\n").expect("a file");
    let arguments = [&["--model", folder.path(), "--gpu-memory", "1GiB", "--json", "-"], &BARE[..]].concat();
    let run = |more: &[&str]| {
        let output = command(&[&arguments[..], more].concat()).output().expect("the command starts");
        serde_json::from_slice::<Value>(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
    };
    let (traced, listed) = (run(&["--trace", &trace]), run(&["--lengths", "10:7,9:9,5:3,5000:4,8:2"]));
    assert_eq!(traced, listed);
    assert_eq!((&traced["load"]["lengths"], &traced["load"]["too_long"]), (&4.into(), &1.into()), "longer than 4,096");
    let percentile = policy(&traced, "percentile");
    assert_eq!((&percentile["promise"], &percentile["exceeding"]), (&"prompt and 9 tokens".into(), &0.into()));
    let half = run(&["--trace", &trace, "--percentile-tokens", "p50"]);
    let percentile = policy(&half, "percentile");
    assert_eq!((&percentile["promise"], &percentile["exceeding"]), (&"prompt and 3 tokens".into(), &2.into()));
    assert!(percentile["exceeded_at_least_once_if_independent"].as_f64() > Some(0.99), "{percentile}");
}

#[test]
fn the_last_line_can_be_run() {
    let output = plan(DECODER, &[&BARE[..], &["--gpu-memory", "1GiB", "--prompt", "100", "--output", "50"]].concat());
    let page = text(&output.stdout);
    let line = page.lines().last().expect("a line");
    assert_eq!(line, "kvledger replay --pool 511 --block-tokens 16 --safety 7 --max-context 4096");
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    let replay = Command::new(env!("CARGO_BIN_EXE_kvledger")).args(words).output().expect("the command starts");
    assert_eq!(replay.status.code(), Some(0), "{}", text(&replay.stderr));
}

#[test]
fn json_goes_to_a_file_beside_the_page_and_never_over_an_input() {
    let folder = Folder::new(DECODER);
    let (json, config) = (folder.file("plan.json"), folder.file("config.json"));
    let model = [&["--model", folder.path(), "--gpu-memory", "1GiB"], &BARE[..]].concat();
    for _ in ["a new file", "the same file again"] {
        let output = command(&[&model[..], &["--json", &json]].concat()).output().expect("the command starts");
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "quiet in a pipe");
        assert!(text(&output.stdout).contains("usable blocks"), "{}", text(&output.stdout));
        let figures: Value = serde_json::from_slice(&std::fs::read(&json).expect("the file")).expect("JSON");
        assert_eq!(figures["token_bytes"], 131_072);
    }
    let output = command(&[&model[..], &["--json", &config]].concat()).output().expect("the command starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("another file"), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_to_string(&config).expect("it is still there"), DECODER);
}

#[test]
fn a_narrow_terminal_has_short_lines() {
    let folder = Folder::new(DECODER);
    let arguments = ["--gpu-memory", "1GiB", "--lengths", "100:50,3000:900", "--requests", "3"];
    let arguments = [&["--model", "config.json"], &BARE[..], &arguments].concat();
    for (columns, most) in [("40", 40), ("72", 72), ("100", 100), ("1000", 110), ("wide", 80)] {
        let output =
            command(&arguments).current_dir(folder.path()).env("COLUMNS", columns).output().expect("it starts");
        let page = text(&output.stdout).to_string();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let lines = page.lines().filter(|line| !line.starts_with("kvledger replay"));
        for line in lines {
            let width = line.chars().count();
            assert!(width <= most && !line.ends_with(' '), "{columns}: {width} in `{line}`");
        }
        assert!(!page.contains('\x1b'), "no colours");
    }
}

#[test]
fn who_stops_reading_stops_the_command() {
    let folder = Folder::new(DECODER);
    let arguments = [&["--model", folder.path(), "--gpu-memory", "1GiB"], &BARE[..]].concat();
    let mut child = command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
}

#[test]
fn flags_that_cannot_be_right_are_refused_by_name() {
    let memory = ["--gpu-memory", "1GiB"];
    let lengths = ["--prompt", "10", "--output", "5"];
    let cases: &[(&[&str], &[&str])] = &[
        (&[], &["--gpu-memory"]),
        (&["--gpu-memory", "80G"], &["--gpu-memory", "GiB"]),
        (&["--gpu-memory", "-1"], &["--gpu-memory"]),
        (&["--gpu-memory", "lots"], &["--gpu-memory", "GiB"]),
        (&[&memory[..], &["--region", "kv=5GiB"]].concat(), &["--region", "kv-pool"]),
        (&[&memory[..], &["--region", "workspace"]].concat(), &["--region", "NAME=AMOUNT"]),
        (&[&memory[..], &["--region", "workspace=120%"]].concat(), &["--region", "at most 1.0"]),
        (&[&memory[..], &["--region", "outside=1%", "--region", "outside=2%"]].concat(), &["outside: given twice"]),
        (&[&memory[..], &["--block-tokens", "0"]].concat(), &["--block-tokens", "from 1 to"]),
        (&[&memory[..], &["--kv-type", "fp7"]].concat(), &["--kv-type", "int4"]),
        (&[&memory[..], &["--kv-scales", "head:4"]].concat(), &["--kv-scales", "token-head"]),
        (&[&memory[..], &["--kv-scales", "group-0:4"]].concat(), &["--kv-scales", "group-N"]),
        (&[&memory[..], &["--parameters", "8 billion"]].concat(), &["--parameters", "8.03B"]),
        (&[&memory[..], &["--parameters", "8B"]].concat(), &["leave out --parameters"]),
        (&[&memory[..], &["--set", "num_layers"]].concat(), &["--set", "KEY=VALUE"]),
        (&[&memory[..], &["--set", "head_dim=0"]].concat(), &["head_dim", "found `0`"]),
        (&[&memory[..], &["--tensor-parallel", "0"]].concat(), &["--tensor-parallel"]),
        (&[&memory[..], &["--tensor-parallel", "3"]].concat(), &["--tensor-parallel 3", "32 query heads"]),
        (&[&memory[..], &["--prompt", "10"]].concat(), &["--output"]),
        (&[&memory[..], &["--prompt", "0", "--output", "5"]].concat(), &["--prompt 0"]),
        (&[&memory[..], &["--prompt", "3000000000", "--output", "5"]].concat(), &["--prompt", "2147483647"]),
        (&[&memory[..], &["--lengths", "10:5:3"]].concat(), &["--lengths", "PROMPT:OUTPUT"]),
        (&[&memory[..], &lengths, &["--lengths", "10:5"]].concat(), &["--lengths", "cannot be used with"]),
        (&[&memory[..], &["--trace", "no/such/trace"]].concat(), &["no/such/trace"]),
        (&[&memory[..], &["--requests", "5"]].concat(), &["--requests: give lengths as well"]),
        (&["--requests", "0"], &["--requests", "from 1 to"]),
        (&[&memory[..], &["--percentile-tokens", "p95"]].concat(), &["--percentile-tokens: give lengths"]),
        (&[&memory[..], &lengths, &["--percentile-tokens", "p0"]].concat(), &["--percentile-tokens", "p100"]),
        (&[&memory[..], &lengths, &["--max-context", "14"]].concat(), &["--max-context 14", "longer"]),
        (&[&memory[..], &lengths, &["--safety", "511"]].concat(), &["--safety 511", "511 blocks"]),
        (&[&memory[..], &lengths, &["--shared-prefix", "11"]].concat(), &["--shared-prefix 11", "10 tokens"]),
        (
            &[&memory[..], &["--lengths", "9:1,9:2", "--shared-prefix", "4"]].concat(),
            &["--shared-prefix: works for one"],
        ),
        (&[&memory[..], &["--json", "no/such/folder/x.json"]].concat(), &["--json", "folder that is there"]),
    ];
    for (arguments, words) in cases {
        let message = refusal(DECODER, &[&BARE[..], arguments].concat(), 2);
        for word in *words {
            assert!(message.contains(word), "{word} in {message} of {arguments:?}");
        }
    }
    let missing = command(&["--model", "no/such/config.json", "--gpu-memory", "1GiB"]).output().expect("it starts");
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("no/such/config.json: cannot be read"), "{}", text(&missing.stderr));
    let message = refusal(DECODER, &["--gpu-memory", "1GiB"], 2);
    assert!(message.contains("`model_type` is missing") && message.contains("--region weights=SIZE"), "{message}");
}

#[test]
fn help_has_examples_regions_and_exit_codes() {
    let output = command(&["--help"]).output().expect("the command starts");
    assert_eq!(output.status.code(), Some(0));
    for word in ["Examples:", "kv-pool", "--gpu-memory 80GiB", "Exit codes", "--tensor-parallel", "--percentile-tokens"]
    {
        assert!(text(&output.stdout).contains(word), "{word}");
    }
}

/// Whatever is asked of whatever size, there is an answer, and what it says of memory adds up.
#[test]
fn no_question_is_too_large() {
    let sizes = ["1", "16", "4096", "1000000", "2147483647", "4294967295", "4294967296", "18446744073709551615"];
    let lengths = ["1:0", "2147483647:2147483647", "16:1,1:16,2147483647:0"];
    let models = [
        DECODER.to_string(),
        DECODER.replace("4096,", "2147483647,").replace("\"num_attention_heads\": 32", "\"num_attention_heads\": 1"),
        DECODER.replace('}', r#", "sliding_window": 2147483647, "sliding_window_pattern": 2}"#),
        DECODER.replace('}', r#", "full_attention_interval": 2}"#),
    ];
    let folders: Vec<Folder> = models.iter().map(|model| Folder::new(model)).collect();
    let (mut answered, mut refused) = (0, 0);
    for seed in 1..=300 {
        let mut random = Random::new(seed);
        let mut one_of = |list: &[&'static str]| list[random.below(list.len() as u32) as usize];
        let mut arguments: Vec<String> = vec!["--state-bytes".into(), one_of(&sizes).into()];
        for flag in [
            "--gpu-memory",
            "--block-tokens",
            "--step-tokens",
            "--steps-in-flight",
            "--safety",
            "--watermark",
            "--requests",
            "--percentile-tokens",
        ] {
            if one_of(&["yes", "no", "no"]) == "yes" || flag == "--gpu-memory" {
                arguments.extend([flag.into(), one_of(&sizes).into()]);
            }
        }
        arguments.extend([
            "--lengths".into(),
            one_of(&lengths).into(),
            "--max-context".into(),
            one_of(&["0", "4294967295"]).into(),
        ]);
        arguments.extend(["--region".into(), format!("weights={}", one_of(&["0", "0", "50%", "1.0"]))]);
        let folder = &folders[(seed % 4) as usize];
        let given: Vec<&str> =
            ["--model", folder.path(), "--json", "-"].into_iter().chain(arguments.iter().map(String::as_str)).collect();
        let output = command(&given).output().expect("the command starts");
        let message = text(&output.stderr);
        assert!(
            matches!(output.status.code(), Some(0..=2)) && !message.contains("panicked"),
            "{arguments:?}: {message}"
        );
        if output.stdout.is_empty() {
            assert!(message.len() > 20 && message.contains(';') || message.contains("give"), "{message}");
            refused += 1;
            continue;
        }
        let figures: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let pools: u128 = figures["kinds"]
            .as_array()
            .expect("kinds")
            .iter()
            .map(|kind| u128::from(kind["pool_bytes"].as_u64().expect("bytes")))
            .sum();
        let states = u128::from(figures["sequences"].as_u64().unwrap_or(0))
            * u128::from(figures["state_bytes"].as_u64().expect("bytes"));
        let unused = u128::from(figures["unused_bytes"].as_u64().expect("bytes"));
        assert_eq!(
            pools + states + unused,
            u128::from(figures["regions"]["kv-pool"].as_u64().expect("bytes")),
            "{arguments:?}"
        );
        answered += 1;
    }
    assert!(answered > 20 && refused > 20, "{answered} answered, {refused} refused");
}
