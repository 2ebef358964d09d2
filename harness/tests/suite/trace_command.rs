//! `kvledger trace` as its users see it.

use super::command::{Scratch, text};
use super::packed_traces::gzip;
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs `kvledger trace` with `arguments`, `columns` wide, `input` on standard input.
fn run(arguments: &[&str], columns: &str, input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kvledger"));
    command.arg("trace").args(arguments).env("COLUMNS", columns);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    // Who refuses its flags does not read.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("the command ends")
}

fn shown(arguments: &[&str]) -> String {
    let output = run(arguments, "80", b"");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "", "quiet in a pipe");
    text(&output.stdout).to_string()
}

fn refusal(arguments: &[&str]) -> String {
    let output = run(arguments, "80", b"");
    let message = text(&output.stderr).to_string();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert!(output.stdout.is_empty(), "{arguments:?}: {}", text(&output.stdout));
    message
}

fn has(message: &str, words: &[&str]) {
    for word in words {
        assert!(message.contains(word), "{word} in {message}");
    }
}

/// The first line of a table that begins with `name`, without spaces in a row.
fn line(table: &str, name: &str) -> String {
    let line = table.lines().find(|line| line.trim_start().starts_with(name));
    line.unwrap_or_else(|| panic!("{name} in {table}")).split_whitespace().collect::<Vec<_>>().join(" ")
}

const EXAMPLE: &str = "\
{\"timestamp\": 0, \"input_length\": 10, \"output_length\": 7, \"hash_ids\": [1, 2, 3], \"block_size\": 4}
{\"timestamp\": 0, \"input_length\": 9, \"output_length\": 9, \"hash_ids\": [1, 2, 4]}
{\"timestamp\": 5, \"input_length\": 3, \"output_length\": 0, \"hash_ids\": [1]}
{\"timestamp\": 10, \"input_length\": 5, \"output_length\": 3, \"hash_ids\": [1, 5]}
{\"timestamp\": 2060, \"input_length\": 8, \"output_length\": 2, \"hash_ids\": [6, 7]}
";

#[test]
fn the_tables_have_every_figure() {
    let trace = Scratch::new(EXAMPLE.as_bytes());
    let table = shown(&[trace.path(), "--block-tokens", "4", "--group", "one,solo", "--max-context", "16"]);
    has(
        &table.split_whitespace().collect::<Vec<_>>().join(" "),
        &[
            "mooncake (by keys timestamp, input_length, output_length)",
            "5 rows, 4 requests",
            "dropped: 1 with no output tokens",
            "line 3",
            "arrivals: 2.060 s from first to last, 1.46 a second, busiest second 3",
            "ids: 7 different ones, 4 tokens each (by block_size in the file)",
            "equal ids are equal prefixes",
        ],
    );
    assert_eq!(line(&table, "p50"), "p50 8 3 10 0.010");
    assert_eq!(line(&table, "p100"), "p100 10 9 18 2.050");
    assert_eq!(line(&table, "mean"), "mean 8 5 13 0.687");
    assert_eq!(line(&table, "of prompts"), "of prompts 10");
    assert_eq!(line(&table, "by growth"), "by growth 5");
    assert_eq!(line(&table, "padding, tokens"), "padding, tokens 7");
    assert_eq!(line(&table, "of slots"), "of slots 60");
    assert_eq!(line(&table, "that is"), "that is 11.7 %");
    assert_eq!(line(&table, "identified"), "identified 7 7");
    assert_eq!(line(&table, "distinct"), "distinct 4 7");
    assert_eq!(line(&table, "hits"), "hits 3 0");
    assert_eq!(line(&table, "requests with hits"), "requests with hits 2 0");
}

#[test]
fn json_has_the_same_figures_and_nothing_else_is_on_standard_output() {
    let trace = Scratch::new(EXAMPLE.as_bytes());
    let arguments = [trace.path(), "--block-tokens", "4", "--group", "one,idx:2", "--json", "-"];
    let figures: Value = serde_json::from_str(&shown(&arguments)).expect("JSON");
    let at = |path: &str| figures.pointer(path).unwrap_or_else(|| panic!("{path} in {figures}"));
    assert_eq!((at("/path"), at("/format"), at("/block")), (&trace.path().into(), &"mooncake".into(), &4.into()));
    assert_eq!((at("/rows"), at("/requests"), at("/dropped_rows")), (&5.into(), &4.into(), &1.into()));
    assert_eq!(at("/dropped/0/reason"), "no output tokens");
    assert_eq!((at("/arrivals/span_us"), at("/arrivals/gap_us/p100")), (&2_060_000.into(), &2_050_000.into()));
    assert_eq!((at("/prompt/p50"), at("/total/p100"), at("/output/mean")), (&8.into(), &18.into(), &5.25.into()));
    assert_eq!((at("/static/total_blocks"), at("/static/paged_slack_tokens")), (&15.into(), &7.into()));
    assert_eq!((at("/prefix/one/distinct_blocks"), at("/prefix/idx:2/distinct_blocks")), (&4.into(), &6.into()));
    assert_eq!((at("/ids/tokens"), at("/ids/several_parents")), (&4.into(), &0.into()));
    assert_eq!(at("/histograms/prompt_tokens/0"), &serde_json::json!({"from": 4, "to": 7, "requests": 1}));
    assert_eq!((at("/tenants"), at("/sessions")), (&1.into(), &0.into()));
}

#[test]
fn a_picture_is_drawn_beside_the_tables_or_in_their_place() {
    let (trace, svg) = (Scratch::new(EXAMPLE.as_bytes()), Scratch::new(b""));
    assert!(shown(&[trace.path(), "--svg", svg.path()]).contains("arrivals:"));
    let picture = std::fs::read_to_string(svg.path()).expect("the picture");
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{picture}");
    has(&picture, &["4 requests", "prompts: p50 8, p90 10", "outputs: p50 3", "Arrivals", "<polyline", "<circle"]);
    assert_eq!(picture.matches("<polyline").count(), 2);
    assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
    assert_eq!(shown(&[trace.path(), "--svg", "-"]), picture.replace(svg.path(), trace.path()));
}

/// One request: no span, no gap, lengths that are all the same.
#[test]
fn the_smallest_trace_has_figures_and_a_picture() {
    let trace = Scratch::new(b"arrival_us,prompt_tokens,output_tokens\n7,1,1\n");
    let table = shown(&[trace.path()]);
    has(&table, &["1 row, 1 request\n", "all at once", "No ids: nothing is known about equal prefixes."]);
    let picture = shown(&[trace.path(), "--svg", "-"]);
    assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
}

#[test]
fn without_a_path_it_is_the_sample_and_standard_input_is_a_path() {
    has(&shown(&[]), &["the sample: mooncake", "480 requests"]);
    let output = run(&["-", "--json", "-"], "80", EXAMPLE.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let figures: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&figures["path"], &figures["requests"]), (&"-".into(), &4.into()));
    let output = run(&["-"], "80", b"what is this\n");
    assert_eq!(output.status.code(), Some(2));
    has(text(&output.stderr), &["standard input: the format is unknown"]);
}

#[test]
fn a_narrow_terminal_is_not_left() {
    let trace = Scratch::new(EXAMPLE.as_bytes());
    for columns in ["40", "60", "200"] {
        let width: usize = columns.parse().expect("a number");
        let arguments = [trace.path(), "--group", "one,solo,tenant,idx:3", "--block-tokens", "4"];
        let output = run(&arguments, columns, b"");
        for line in text(&output.stdout).lines().filter(|line| !line.contains(trace.path())) {
            assert!(line.chars().count() <= width, "{columns}: {line}");
            assert!(line.is_ascii(), "plain characters: {line}");
        }
    }
    assert_eq!(run(&[trace.path()], "none", b"").status.code(), Some(0));
}

#[test]
fn a_wrong_size_of_ids_is_noted() {
    let trace = Scratch::new(EXAMPLE.replace(", \"block_size\": 4", "").as_bytes());
    has(&shown(&[trace.path()]), &["have more ids than tokens for them", "--ids-block-tokens"]);
    has(&shown(&[trace.path(), "--id-tokens", "2"]), &["do not name to the end"]);
    let shared = Scratch::new(
        b"{\"timestamp\": 0, \"input_length\": 2, \"output_length\": 1, \"hash_ids\": [1, 2], \"block_size\": 1}\n\
          {\"timestamp\": 0, \"input_length\": 2, \"output_length\": 1, \"hash_ids\": [3, 2]}\n",
    );
    has(&shown(&[shared.path()]), &["1 ids (33.3 %) follow several: an id is not a prefix."]);
}

#[test]
fn flags_that_cannot_be_right_are_refused_before_anything_is_done() {
    let trace = Scratch::new(EXAMPLE.as_bytes());
    let path = trace.path();
    let inside = format!("{path}/out.json");
    let cases: &[(&[&str], &[&str])] = &[
        (&["--block-tokens", "0"], &["--block-tokens", "from 1 to"]),
        (&["--group", "one,two"], &["--group", "seg1:K"]),
        (&["--format", "excel"], &["--format", "burstgpt"]),
        (&["--ids-block-tokens", "0"], &["--ids-block-tokens", "from 1 to"]),
        (&["--ids-block-tokens", "16"], &["says 4 tokens an id", "leave --ids-block-tokens out"]),
        (&["--first", "0"], &["--first"]),
        (&["--time-scale", "0"], &["--time-scale"]),
        (&["--json", path], &["--json", "overwrite the input"]),
        (&["--svg", path], &["--svg", "overwrite the input"]),
        (&["--svg", &inside], &["--svg", "folder that is there"]),
        (&["--json", "-", "--svg", "-"], &["--json and --svg", "two files"]),
        (&["no/such/file"], &["no/such/file", "cannot be read"]),
    ];
    for (arguments, words) in cases {
        has(&refusal(&[&[path][..], arguments].concat()), words);
    }
    assert_eq!(std::fs::read_to_string(path).expect("it is still there"), EXAMPLE);
}

#[test]
fn one_of_a_thing_is_called_so() {
    let trace = Scratch::new(b"arrival_us,prompt_tokens,output_tokens\n1,20,3\n");
    has(&shown(&[trace.path()]), &["\n1 row, 1 request\n"]);
    let session = Scratch::new(br#"{"requests": [{"t": 0, "in": 8, "out": 1, "hash_ids": [1]}]}"#);
    has(&shown(&[session.path()]), &["1 row, 1 request\n", "1 session has 1 request, at most 1 in one"]);
}

#[test]
fn a_stray_quote_costs_no_row() {
    let text = "arrival_us,prompt_tokens,output_tokens,note\n1,20,3,5\" screen\n2,30,4,6\" screen\n3,40,5,ok\n";
    has(&shown(&[Scratch::new(text.as_bytes()).path()]), &["3 rows, 3 requests"]);
}

/// A line of a hundred bytes that names 134 million blocks by one id takes no room for them.
#[test]
fn an_id_may_cover_a_whole_prompt() {
    let line = "{\"timestamp\": 0, \"input_length\": 2147483647, \"output_length\": 1, \"hash_ids\": [1], \
                \"block_size\": 2147483647}\n";
    let trace = Scratch::new(line.repeat(2).as_bytes());
    has(&shown(&[trace.path()]), &["268,435,454", "134,217,727"]);
}

#[test]
fn help_tells_formats_examples_and_exit_codes() {
    let help = shown(&["--help"]);
    has(&help, &["Usage: kvledger trace", "BurstGPT", "Bailian", "kvledger trace - --format burstgpt", "Exit codes"]);
}

/// `replay` reads through the same door: packed files, standard input, a format by name.
#[test]
fn replay_reads_what_trace_reads() {
    let (plain, packed) = (Scratch::new(EXAMPLE.as_bytes()), Scratch::new(&gzip(EXAMPLE)));
    let sim = |arguments: &[&str], input: &[u8]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kvledger"));
        command.args(["replay", "--json", "-"]).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command starts");
        child.stdin.take().expect("a pipe").write_all(input).expect("the command reads");
        let output = child.wait_with_output().expect("the command ends");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let figures: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        figures["sim"].clone()
    };
    let want = sim(&[plain.path()], b"");
    assert_eq!(sim(&[packed.path()], b""), want);
    assert_eq!(sim(&["-", "--format", "mooncake"], &gzip(EXAMPLE)), want);
}

/// Who stops reading early has had enough.
#[test]
fn a_closed_pipe_is_no_failure() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kvledger"));
    let child = command.arg("trace").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("the command starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
}
