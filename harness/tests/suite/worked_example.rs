//! The worked example of `RULES.md`, read from there: four requests, and for each case what happens to each of them and
//! every counter, worked out by hand.

use kvledger_harness::prefix::GroupRule;
use kvledger_harness::replay::{Counters, Exceed, Policy, PoolSize, Prepared, Record, Settings, Sharing};
use kvledger_harness::trace::{Normalise, Trace, load_text};
use serde_json::Value;
use std::sync::atomic::AtomicU64;

const RULES: &str = include_str!("../../RULES.md");

/// Counters of which the example says nothing.
const UNSAID: [&str; 5] = ["requests", "completed", "lookup_first", "max_wait", "lost_tokens"];

/// The block of the example that is fenced as `kind`.
pub(super) fn fenced(kind: &str) -> &'static str {
    let (_, example) = RULES.split_once("## The worked example").expect("the section");
    let (_, rest) = example.split_once(&format!("```{kind}\n")).unwrap_or_else(|| panic!("a block of {kind}"));
    rest.split_once("```").expect("its end").0
}

/// The value of `key=` among words of that form.
fn value_of<'a>(words: &'a str, key: &str) -> Option<&'a str> {
    words.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
}

fn number_of(words: &str, key: &str) -> u32 {
    let value = value_of(words, key).unwrap_or_else(|| panic!("{key}= in {words}"));
    value.parse().unwrap_or_else(|error| panic!("{key}={value}: {error}"))
}

fn policy(words: &str) -> Policy {
    match value_of(words, "policy") {
        Some("contig") => Policy::Contig,
        Some("full") => Policy::Full,
        Some("incremental") => Policy::Incremental,
        Some("percentile") => {
            let named = |exceed: &Exceed| Some(exceed.name()) == value_of(words, "exceed");
            let exceed = [Exceed::PreemptSelf, Exceed::PreemptYoungest, Exceed::Truncate].into_iter().find(named);
            Policy::Percentile { q_tokens: number_of(words, "q"), exceed: exceed.expect(words) }
        }
        other => panic!("{other:?} is no policy"),
    }
}

fn sharing(words: &str) -> (Sharing, GroupRule) {
    let name = value_of(words, "sharing").unwrap_or("off");
    let sharing = [Sharing::Off, Sharing::Live, Sharing::Retain].into_iter().find(|sharing| sharing.name() == name);
    (sharing.expect(words), value_of(words, "group").unwrap_or("one").parse().expect(words))
}

/// `admit finish preempts hits outcome` of a request.
fn fate(record: &Record) -> String {
    let step = |step: Option<u64>| step.map_or("-1".to_string(), |step| step.to_string());
    let Record { admit, finish, preempts, hits, outcome, .. } = *record;
    format!("{} {} {preempts} {hits} {}", step(admit), step(finish), outcome.name())
}

/// Every counter is what `expected` says; 0 if it says nothing.
fn same_counters(expected: &str, counters: &Counters, what: &str) {
    let found = serde_json::to_value(counters).expect("JSON");
    let names: Vec<&String> = found.as_object().expect("an object").keys().collect();
    for word in expected.split_whitespace() {
        let name = word.split('=').next().unwrap_or_default();
        assert!(names.iter().any(|known| *known == name), "{what}: no counter is called {name}");
    }
    for name in names.into_iter().filter(|name| !UNSAID.contains(&name.as_str())) {
        let value = value_of(expected, name).unwrap_or("0");
        assert_eq!(found[name], value.parse::<Value>().expect("a number"), "{what}: {name}");
    }
}

fn check(trace: &Trace, settings: &str, fates: &str, counters: &str) {
    for audit in [false, true] {
        let what = format!("{settings}, audit {audit}");
        let pool = PoolSize::Blocks(number_of(settings, "pool"));
        let (sharing, group) = sharing(settings);
        let settings = Settings::new(policy(settings), pool, number_of(settings, "safety"), 24).sharing(sharing, group);
        let mut prepared = Prepared::new(trace, &Settings { block_tokens: 4, audit, ..settings }).expect("a pool");
        let replayed = prepared.run(&AtomicU64::new(0)).expect("a replay");
        assert_eq!(replayed.records.iter().map(fate).collect::<Vec<_>>().join("; "), fates, "{what}");
        same_counters(counters, &replayed.counters, &what);
        let (requests, completed) = (replayed.counters.requests, replayed.counters.completed);
        assert_eq!((requests, completed), (4, 4 - replayed.counters.truncated), "{what}");
    }
}

#[test]
fn every_case_comes_out_as_by_hand() {
    let trace = load_text("the worked example", fenced("jsonl"), Some(4), Normalise::default()).expect("a trace");
    let mut shared = 0;
    let cases: Vec<&str> = fenced("text").split("\n\n").collect();
    for case in &cases {
        let [settings, fates, counters] = case.lines().collect::<Vec<_>>()[..] else { panic!("three lines: {case}") };
        check(&trace, settings, fates, counters);
        shared += u32::from(value_of(settings, "sharing").is_some());
    }
    assert_eq!((cases.len(), shared), (9, 3));
}
