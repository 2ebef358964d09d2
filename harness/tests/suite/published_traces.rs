//! Published traces against figures from an independent implementation of the rules, counter by counter and digest by
//! digest: every case.
//!
//! `KVLEDGER_TRACES` names a folder with `traces/` and `replay-expected/`. Without it the test says that it is skipped; in
//! CI (`CI=true`) it fails.

use kvledger_harness::bench::Subject;
use kvledger_harness::bench::workload::{Shape, measure};
use kvledger_harness::prefix::GroupRule;
use kvledger_harness::replay::{Exceed, Policy, PoolSize, Prepared, Ranked, Settings, Sharing, replay_all, statics};
use kvledger_harness::report::{Case, label};
use kvledger_harness::trace::{Normalise, Trace, load};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

pub(super) fn folder() -> Option<PathBuf> {
    match std::env::var_os("KVLEDGER_TRACES") {
        Some(folder) => Some(PathBuf::from(folder)),
        None if std::env::var("CI").is_ok_and(|ci| ci == "true") => {
            panic!("KVLEDGER_TRACES is not set: CI must name the folder that has traces/ and replay-expected/")
        }
        None => {
            // Not eprintln!, which the test harness keeps to itself when a test passes.
            let aloud = b"SKIPPED: set KVLEDGER_TRACES to the folder that has traces/ and replay-expected/\n";
            std::io::stderr().write_all(aloud).expect("standard error");
            None
        }
    }
}

pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("`{key}` is text in {value}"))
}

pub(super) fn number(value: &Value, key: &str) -> u32 {
    let number = value[key].as_u64().unwrap_or_else(|| panic!("`{key}` is a number in {value}"));
    number.try_into().expect("32 bits")
}

fn settings(expected: &Value, case: &Value) -> Settings {
    let policy = match text(case, "policy") {
        "contig" => Policy::Contig,
        "full" => Policy::Full,
        "incremental" => Policy::Incremental,
        "percentile" => Policy::Percentile {
            q_tokens: number(case, "q_tokens"),
            exceed: match text(case, "exceed") {
                "preempt_self" => Exceed::PreemptSelf,
                "preempt_youngest" => Exceed::PreemptYoungest,
                "truncate" => Exceed::Truncate,
                other => panic!("no such action: {other}"),
            },
        },
        other => panic!("no such policy: {other}"),
    };
    let pool = match number(case, "pool") {
        0 => PoolSize::Unlimited,
        blocks => PoolSize::Blocks(blocks),
    };
    let sharing = match text(case, "share") {
        "off" => Sharing::Off,
        "live" => Sharing::Live,
        "retain" => Sharing::Retain,
        other => panic!("no such sharing: {other}"),
    };
    let group = case["group"].as_str().map_or(GroupRule::One, |rule| rule.parse().expect("a rule"));
    let settings = Settings {
        block_tokens: number(expected, "block"),
        step_us: number(expected, "tpot_us").into(),
        ..Settings::new(policy, pool, number(case, "safety"), number(expected, "max_ctx"))
    };
    settings.sharing(sharing, group)
}

/// Every key of `expected` must be in `found` with the same value.
pub(super) fn same(what: &str, expected: &Value, found: &Value) {
    for (key, value) in expected.as_object().expect("an object") {
        assert_eq!(found.get(key), Some(value), "{what}: `{key}`");
    }
}

/// The figures and the trace of one file of figures.
fn read(folder: &Path, name: &str) -> (Value, Trace) {
    let file = folder.join("replay-expected").join(format!("{name}.json"));
    let text_of = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let expected: Value = serde_json::from_str(&text_of).expect("JSON");
    let normalise = Normalise { first: None, time_scale: text(&expected, "time_scale").parse().expect("a fraction") };
    let path = folder.join("traces").join(text(&expected, "path"));
    let trace = load(&[path], None, normalise).expect("a trace");
    assert_eq!(trace.format.name(), text(&expected, "format"), "{name}");
    (expected, trace)
}

fn check(name: &str, cases: usize) {
    let Some(folder) = folder() else { return };
    let (expected, trace) = read(&folder, name);
    let (block, max_context) = (number(&expected, "block"), number(&expected, "max_ctx"));
    same(name, &expected["static"], &serde_json::to_value(statics(&trace, block, max_context)).expect("JSON"));

    let sim = expected["sim"].as_array().expect("a list");
    assert_eq!(sim.len(), cases, "{name}");
    let settings: Vec<Settings> = sim.iter().map(|case| settings(&expected, case)).collect();
    let through: Vec<AtomicU64> = settings.iter().map(|_| AtomicU64::new(0)).collect();
    let outputs = Ranked::outputs(&trace);
    for (case, replayed) in sim.iter().zip(replay_all(&trace, &settings, 2, 1, &through)) {
        let what = format!("{name}, {} of {} blocks", text(case, "label"), case["pool"]);
        let replayed = replayed.unwrap_or_else(|failure| panic!("{what}: {failure}"));
        let found = Case::new(label(&replayed.settings, &outputs, None), &replayed);
        same(&what, case, &serde_json::to_value(found).expect("JSON"));
    }
}

#[test]
fn azure_code() {
    check("azure_code", 23);
}

#[test]
fn sharegpt_8k_lengths() {
    check("sharegpt_8k_lengths", 23);
}

#[test]
fn mooncake_conversation() {
    check("mooncake_conversation", 40);
}

#[test]
fn weka_agent_sessions() {
    check("weka_a", 40);
}

/// Workload W on the trace for which it was written: its blocks and hits as other managers have them.
#[test]
fn workload_w_of_a_real_trace() {
    let Some(folder) = folder() else { return };
    let path = folder.join("traces/mooncake/conversation_trace.jsonl");
    let normalise = Normalise::default();
    let trace = load(&[path], None, normalise).expect("a trace");
    let name = "conversation".to_string();
    let subject = Subject { name, trace, is_sample: false, time_scale: normalise.time_scale };
    let figures =
        measure(&subject, &Shape::default(), &[1], 1, &|_, _| ()).expect("every manager does what the workload says");
    assert_eq!((figures.requests, figures.left_out), (12_031, 0));
    assert_eq!((figures.blocks, figures.hits), (9_312_854, 820_480));
}

/// The audited replay of a part of a real trace counts the same as the one that skips steps.
#[test]
fn an_audited_part_of_a_real_trace() {
    let Some(folder) = folder() else { return };
    let path = folder.join("traces/azure2023/AzureLLMInferenceTrace_code.csv");
    let normalise = Normalise { first: Some(120), time_scale: "1/64".parse().expect("a fraction") };
    let trace = load(&[path], None, normalise).expect("a trace");
    let exceed = Exceed::PreemptYoungest;
    for policy in [Policy::Contig, Policy::Full, Policy::Incremental, Policy::Percentile { q_tokens: 13, exceed }] {
        let settings = Settings::new(policy, PoolSize::Blocks(1024), 16, 8192);
        let run =
            |settings| Prepared::new(&trace, &settings).expect("a pool").run(&AtomicU64::new(0)).expect("a replay");
        let (skipping, audited) = (run(settings), run(Settings { audit: true, ..settings }));
        assert_eq!((skipping.counters, skipping.digests), (audited.counters, audited.digests), "{policy:?}");
    }
}

/// The same where blocks are shared and kept.
#[test]
fn an_audited_part_of_a_trace_with_prefixes() {
    let Some(folder) = folder() else { return };
    let path = folder.join("traces/mooncake/conversation_trace.jsonl");
    let normalise = Normalise { first: Some(60), time_scale: "1/4".parse().expect("a fraction") };
    let trace = load(&[path], None, normalise).expect("a trace");
    for (sharing, group) in [(Sharing::Live, GroupRule::One), (Sharing::Retain, GroupRule::Index(2))] {
        let settings = Settings::new(Policy::Incremental, PoolSize::Blocks(12_288), 128, 131_072);
        let settings = settings.sharing(sharing, group);
        let run =
            |settings| Prepared::new(&trace, &settings).expect("a pool").run(&AtomicU64::new(0)).expect("a replay");
        let (skipping, audited) = (run(settings), run(Settings { audit: true, ..settings }));
        assert_eq!((skipping.counters, skipping.digests), (audited.counters, audited.digests), "{sharing:?}");
        assert!(skipping.counters.hit_first > 0);
    }
}
