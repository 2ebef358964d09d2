//! The command itself: exit codes, what goes where, and what a message says.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// Runs `kvledger replay` with `arguments` and no terminal.
fn replay(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kvledger")).arg("replay").args(arguments).output().expect("the command starts")
}

/// A file that is gone when the test is.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new(content: &[u8]) -> Scratch {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("kvledger-test-{}-{number}", std::process::id()));
        std::fs::write(&path, content).expect("a file");
        Scratch(path)
    }

    pub(super) fn path(&self) -> &str {
        self.0.to_str().expect("a path in UTF-8")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Gone already is just as well.
        let _ = std::fs::remove_file(&self.0);
    }
}

pub(super) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

/// The message of a command that must stop with `code` and say nothing on standard output.
fn refusal(arguments: &[&str], code: i32) -> String {
    let output = replay(arguments);
    let message = text(&output.stderr).to_string();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
    assert!(output.stdout.is_empty(), "{arguments:?}: {}", text(&output.stdout));
    message
}

fn figures(arguments: &[&str]) -> Value {
    let output = replay(&[arguments, &["--json", "-"]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("nothing but JSON on standard output")
}

const LENGTHS: &[u8] = b"num_prefill_tokens,num_decode_tokens\n10,7\n9,9\n5,3\n0,4\n8,2\n";

#[test]
fn without_a_path_the_sample_is_replayed_with_all_four_policies() {
    let output = replay(&[]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stderr), "", "quiet in a pipe");
    let table = text(&output.stdout);
    for word in
        ["contig", "full", "incremental", "p95/preempt_self", "utilisation", "best case", "padding", "in-sample"]
    {
        assert!(table.contains(word), "{word} in {table}");
    }
    let widths: Vec<usize> =
        table.lines().filter(|line| line.starts_with('─')).map(|line| line.chars().count()).collect();
    assert!(widths.windows(2).all(|pair| pair[0] == pair[1]) && widths[0] <= 120, "{widths:?}");
}

#[test]
fn the_sample_tells_the_four_policies_apart() {
    let figures = figures(&[]);
    let sim = figures["sim"].as_array().expect("a list");
    let of = |policy: &str| sim.iter().find(|case| case["policy"] == policy).expect(policy);
    let number = |policy: &str, key: &str| of(policy)[key].as_u64().expect(key);
    assert!(number("contig", "sum_wait") > 4 * number("full", "sum_wait"));
    assert!(number("full", "sum_wait") > number("incremental", "sum_wait"));
    assert!(number("incremental", "preemptions") > 0 && number("full", "preemptions") == 0);
    assert!(number("percentile", "exceed_requests") > 0);
    assert!(sim.iter().all(|case| case["completed"] == figures["static"]["requests"]));
}

#[test]
fn figures_have_the_keys_that_others_compare() {
    let scratch = Scratch::new(LENGTHS);
    let figures = figures(&[scratch.path(), "--policy", "percentile", "--percentile-tokens", "p50", "--pool", "9"]);
    assert_eq!(figures["static"]["requests"], 4);
    assert_eq!(figures["dropped_rows"], 1);
    assert_eq!(
        (&figures["format"], &figures["prefix"], &figures["lru"]),
        (&"lengths".into(), &serde_json::json!({}), &serde_json::json!([]))
    );
    let case = &figures["sim"][0];
    assert_eq!(
        (&case["label"], &case["q_tokens"], &case["exceed"]),
        (&"p50/preempt_self".into(), &3.into(), &"preempt_self".into())
    );
    assert_eq!(
        (&case["pool"], &case["safety"], &case["share"], &case["group"]),
        (&9.into(), &0.into(), &"off".into(), &Value::Null)
    );
    for digest in ["per_request_sha256", "schedule_sha256"] {
        assert_eq!(case[digest].as_str().map(str::len), Some(64), "{digest}");
    }
}

#[test]
fn json_goes_to_a_file_beside_the_table() {
    let (trace, json) = (Scratch::new(LENGTHS), Scratch::new(b""));
    let output = replay(&[trace.path(), "--json", json.path()]);
    assert!(text(&output.stdout).contains("utilisation"));
    let figures: Value = serde_json::from_slice(&std::fs::read(json.path()).expect("the file")).expect("JSON");
    assert_eq!(figures["sim"].as_array().map(Vec::len), Some(4));
    let folder = Path::new(json.path()).join("no-such-folder").join("out.json");
    let output = replay(&[trace.path(), "--json", folder.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--json"), "{}", text(&output.stderr));
}

#[test]
fn an_audit_says_that_it_found_nothing() {
    let output = replay(&["--first", "60", "--pool", "600", "--audit"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("counts, rows and promises agreed (I1, I2, I4, I8)"));
}

#[test]
fn unlimited_is_a_real_pool_that_is_large_enough() {
    let figures = figures(&["--pool", "unlimited"]);
    for case in figures["sim"].as_array().expect("a list") {
        assert_eq!(
            (&case["pool"], &case["safety"], &case["sum_wait"], &case["preemptions"]),
            (&0.into(), &0.into(), &0.into(), &0.into())
        );
        assert!(case["label"].as_str().expect("text").starts_with("unlimited/"));
    }
}

#[test]
fn sharing_is_shown_beside_what_it_saves_and_what_isolation_costs() {
    let args = ["--policy", "contig,full", "--pool", "4096", "--sharing", "off,live,retain", "--group", "one,solo"];
    let figures = figures(&args);
    let sim = figures["sim"].as_array().expect("a list");
    let labels: Vec<&str> = sim.iter().map(|case| case["label"].as_str().expect("text")).collect();
    assert_eq!(
        labels,
        ["contig", "full", "full/live/one", "full/live/solo", "full/retain/one", "full/retain/solo"],
        "contig never shares, and without sharing groups mean nothing"
    );
    let number = |case: usize, key: &str| sim[case][key].as_u64().expect(key);
    assert!(number(4, "hit_first") > number(2, "hit_first") && number(2, "hit_first") > 0);
    assert_eq!((number(3, "hit_first"), number(5, "hit_first")), (0, 0));
    assert!(number(4, "blocks_allocated") + number(4, "hit_first") == number(1, "blocks_allocated"));
    assert!(number(4, "evictions") > 0 && number(2, "evictions") == 0);
    assert_eq!(
        (&sim[1]["group"], &sim[3]["group"], &sim[4]["share"]),
        (&Value::Null, &"solo".into(), &"retain".into())
    );
    let prefix = figures["prefix"].as_object().expect("an object");
    assert_eq!(prefix.keys().collect::<Vec<_>>(), ["one", "one, block 32", "one, block 64", "solo"]);
    assert_eq!(prefix["one"]["identified_blocks"], sim[2]["lookup_first"]);
    let lru = figures["lru"].as_array().expect("a list");
    assert_eq!(lru[5]["hits"], prefix["one"]["hits_unlimited"], "the last one never forgets");
    let output = replay(&args);
    let table = text(&output.stdout);
    for words in ["of all prompt tokens", "against no sharing, blocks", "isolation: tokens found", "evictions"] {
        assert!(table.contains(words), "{words} in {table}");
    }
}

/// Cases that do not fit beside one another follow below.
#[test]
fn a_narrow_terminal_gets_a_long_table() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kvledger"));
    let output =
        command.args(["replay", "--first", "40", "--policy", "full,incremental"]).env("COLUMNS", "60").output();
    let output = output.expect("the command starts");
    let table = text(&output.stdout);
    assert_eq!(table.matches("completed").count(), 2, "{table}");
    let figures = table.lines().filter(|line| line.starts_with("  ") || line.starts_with('─'));
    assert!(figures.map(|line| line.chars().count()).all(|wide| wide <= 60), "{table}");
}

#[test]
fn who_can_never_fit_is_counted_and_not_waited_for() {
    let scratch = Scratch::new(b"num_prefill_tokens,num_decode_tokens\n100,10\n1000,10\n20,5\n400,400\n");
    let figures =
        figures(&[scratch.path(), "--pool", "20", "--safety", "2", "--policy", "full", "--max-context", "1005"]);
    let case = &figures["sim"][0];
    assert_eq!((&case["completed"], &case["rejected_ctx"], &case["rejected_pool"]), (&2.into(), &1.into(), &1.into()));
}

#[test]
fn flags_that_cannot_be_right_are_refused_by_name() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["--pool", "0"], &["--pool", "unlimited"]),
        (&["--pool", "-5"], &["--pool"]),
        (&["--pool", "64", "--safety", "64"], &["--safety 64", "--pool 64"]),
        (&["--safety", "-1"], &["--safety", "from 0 to 4294967295"]),
        (&["--block-tokens", "0"], &["--block-tokens", "from 1 to 4294967295"]),
        (&["--block-tokens", "4294967296"], &["--block-tokens", "from 1 to 4294967295"]),
        (&["--first", "0"], &["--first", "from 1 to"]),
        (&["--step-us", "0"], &["--step-us", "from 1 to"]),
        (&["--step-us", "1e9"], &["--step-us", "from 1 to"]),
        (&["--time-scale", "1/0"], &["--time-scale", "1/8"]),
        (&["--time-scale", "fast"], &["--time-scale", "1/8"]),
        (&["--policy", "best"], &["--policy", "incremental"]),
        (&["--policy", "percentile"], &["--percentile-tokens", "p95"]),
        (&["--percentile-tokens", "p101"], &["--percentile-tokens", "p100"]),
        (&["--exceed", "pause"], &["--exceed", "truncate"]),
        (&["--policy", "contig", "--max-context", "0"], &["--max-context", "contig"]),
        (&["--policy", "contig", "--pool", "100"], &["--pool 100", "--max-context 8192"]),
        (&["--policy", "full", "--max-context", "3"], &["--max-context 3", "longer"]),
        (&["--sharing", "some"], &["--sharing", "retain"]),
        (&["--group", "one,seg1:0"], &["--group", "seg1:K"]),
        (&["--group", "seg1:0"], &["--group", "seg1:K"]),
        (&["--threads", "0"], &["--threads", "from 1 to"]),
        (&["--ids-block-tokens", "0"], &["--ids-block-tokens", "from 1 to"]),
        (&["--no-such-flag"], &["--no-such-flag"]),
    ];
    for (arguments, words) in cases {
        let message = refusal(arguments, 2);
        for word in *words {
            assert!(message.contains(word), "{word} in {message}");
        }
    }
}

#[test]
fn figures_are_not_written_over_the_trace() {
    let trace = "prompt_tokens,arrival_ms,output_tokens\n100,0,50\n";
    let file = Scratch::new(trace.as_bytes());
    let path = file.0.to_str().expect("a plain name");
    let message = refusal(&[path, "--json", path], 2);
    assert!(message.contains("--json") && message.contains("another file"), "{message}");
    assert_eq!(std::fs::read_to_string(path).expect("it is still there"), trace);
}

#[test]
fn traces_that_cannot_be_right_are_refused_with_file_and_line() {
    let mooncake = |line: &str| format!("{{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1}}\n{line}\n");
    let cases: &[(String, &[&str])] = &[
        (String::new(), &["the file is empty"]),
        ("\n \n".into(), &["the file is empty"]),
        ("what is this\n1 2 3\n".into(), &["the format is unknown", "`what is this`", "Mooncake"]),
        (mooncake("{\"timestamp\": 5, \"input_le"), &["line 2", "cut off"]),
        (
            mooncake("{\"timestamp\": 5, \"input_length\": -3, \"output_length\": 1}"),
            &["line 2", "`input_length`", "`-3`"],
        ),
        (
            mooncake("{\"timestamp\": 5, \"input_length\": 3, \"output_length\": 3000000000}"),
            &["line 2", "`output_length`", "2147483647"],
        ),
        (
            mooncake("{\"timestamp\": -1, \"input_length\": 3, \"output_length\": 3}"),
            &["line 2", "`timestamp`", "`-1`", "milliseconds"],
        ),
        (mooncake("{\"timestamp\": 1, \"input_length\": 3}"), &["line 2", "`output_length`"]),
        (mooncake("{\"timestamp\": 1, \"input_length\": 3, \"output_length\": 3, \"hash_ids\": [1, x]}"), &["line 2"]),
        (
            "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808\n".into(),
            &["line 2", "2 of 3 cells"],
        ),
        (
            "TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,4808,1\n".into(),
            &["line 2", "`TIMESTAMP`", "`yesterday`"],
        ),
        ("num_prefill_tokens,num_decode_tokens\n5,many\n".into(), &["line 2", "`num_decode_tokens`", "`many`"]),
        ("num_prefill_tokens,num_decode_tokens\n".into(), &["no request left"]),
        ("num_prefill_tokens,num_decode_tokens\n0,1\n1,0\n".into(), &["no request left", "2 without"]),
        ("arrival_s,prompt_tokens,output_tokens\n1e30,1,1\n".into(), &["line 2", "`arrival_s`", "seconds"]),
        ("{\"requests\": [{\"t\": 0.5, \"in\": 4,\n \"out\": -1}]}".into(), &["line 2", "`out`", "`-1`"]),
        ("{\"requests\": [{\"t\": 0.5, \"in\": 4".into(), &["cut off"]),
    ];
    for (content, words) in cases {
        let scratch = Scratch::new(content.as_bytes());
        let message = refusal(&[scratch.path()], 2);
        for word in words.iter().chain(&[scratch.path()]) {
            assert!(message.contains(word), "{word} in {message}");
        }
    }
}

#[test]
fn files_that_cannot_be_read_are_named() {
    assert!(refusal(&["no/such/file.jsonl"], 2).contains("no/such/file.jsonl"));
    let bytes = Scratch::new(b"num_prefill_tokens,num_decode_tokens\n1,\xff\n");
    assert!(refusal(&[bytes.path()], 2).contains("line 2: found bytes that are not UTF-8"));
    let (lengths, other) =
        (Scratch::new(LENGTHS), Scratch::new(b"arrival_us,client,input_tokens,output_tokens\n0,1,1,1\n"));
    let message = refusal(&[lengths.path(), other.path()], 2);
    assert!(message.contains(other.path()) && message.contains("servegen"), "{message}");
}

#[test]
fn the_same_requests_in_every_generic_form_give_the_same_figures() {
    let csv = Scratch::new(b"prompt_tokens,arrival_ms,note,output_tokens\n100,0,x,50\n200,1.5,y,60\n30,40,z,7\n");
    let jsonl = Scratch::new(
        b"{\"arrival_s\": 0.04, \"prompt_tokens\": 30, \"output_tokens\": 7, \"ids\": [5]}\n\
          {\"arrival_s\": 0, \"prompt_tokens\": 100, \"output_tokens\": 50}\n\
          {\"arrival_s\": 0.0015, \"prompt_tokens\": 200, \"output_tokens\": 60, \"tenant\": 3}\n",
    );
    let sim = |path: &str| {
        figures(&[path, "--pool", "30", "--safety", "1", "--max-context", "400", "--step-us", "1000"])["sim"].clone()
    };
    assert_eq!(sim(csv.path()), sim(jsonl.path()));
}

#[test]
fn policies_keep_their_order_and_one_thread_gives_the_same() {
    let arguments = ["--policy", "incremental,contig,incremental", "--first", "100"];
    let two = figures(&arguments);
    let labels: Vec<_> = two["sim"].as_array().expect("a list").iter().map(|case| case["label"].clone()).collect();
    assert_eq!(labels, ["incremental", "contig"]);
    assert_eq!(two, figures(&[&arguments[..], &["--threads", "1"]].concat()));
}

#[test]
fn times_are_shown_when_asked_for_and_a_path_is_no_number_of_runs() {
    let scratch = Scratch::new(LENGTHS);
    for flag in ["--time", "--time=3"] {
        let output = replay(&[flag, scratch.path()]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("requests a second"));
    }
    assert!(refusal(&["--time=0"], 2).contains("--time"));
}

#[test]
fn help_tells_the_formats_and_the_exit_codes() {
    let output = replay(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    for word in ["Mooncake", "arrival_ms", "--percentile-tokens", "Exit codes"] {
        assert!(text(&output.stdout).contains(word), "{word}");
    }
    let nothing = Command::new(env!("CARGO_BIN_EXE_kvledger")).output().expect("the command starts");
    assert_eq!(nothing.status.code(), Some(2));
}
