//! The census of published traces against figures of an independent implementation: everything that needs no replay, the
//! prefixes that prompts share included. See `published_traces` for where the traces are.

use super::published_traces::{folder, number, same, text};
use kvledger_harness::cache::{Accesses, Lru, hits};
use kvledger_harness::census::{Census, Settings};
use kvledger_harness::prefix::GroupRule;
use kvledger_harness::trace::{Normalise, Trace, load};
use serde_json::Value;
use std::num::NonZeroU32;
use std::path::Path;

/// The trace of `expected`.
fn trace(folder: &Path, expected: &Value) -> Trace {
    let path = folder.join("traces").join(text(expected, "path"));
    let normalise = Normalise { first: None, time_scale: text(expected, "time_scale").parse().expect("a fraction") };
    load(&[path], None, normalise).expect("a trace")
}

/// The census of `trace` with blocks of `block_tokens`, as JSON.
fn census(trace: &Trace, max_context: u32, block_tokens: u32, groups: Vec<GroupRule>) -> Value {
    let block_tokens = NonZeroU32::new(block_tokens).expect("not 0");
    let settings = Settings { block_tokens, max_context: Some(max_context), groups };
    serde_json::to_value(Census::of(trace, &settings).expect("few blocks")).expect("JSON")
}

/// The rule and the size of blocks in a name such as `seg1:8` or `one, block 32`.
fn parts(name: &str, usual_block: u32) -> (GroupRule, u32) {
    let (rule, block) = match name.split_once(", block ") {
        Some((rule, block)) => (rule, block.parse().expect(name)),
        None => (name, usual_block),
    };
    (rule.parse().expect(name), block)
}

fn check(name: &str, prefixes: usize) {
    let Some(folder) = folder() else { return };
    let file = folder.join("replay-expected").join(format!("{name}.json"));
    let text_of = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let expected: Value = serde_json::from_str(&text_of).expect("JSON");
    let trace = trace(&folder, &expected);
    let (usual_block, max_context) = (number(&expected, "block"), number(&expected, "max_ctx"));
    let prefix = expected["prefix"].as_object().expect("an object");
    assert_eq!(prefix.len(), prefixes, "{name}");
    let mut blocks: Vec<u32> = prefix.keys().map(|name| parts(name, usual_block).1).chain([usual_block]).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let mut compared = 0;
    for block in blocks {
        let of_block: Vec<(&String, GroupRule)> = prefix
            .keys()
            .map(|name| (name, parts(name, usual_block)))
            .filter(|(_, (_, its_block))| *its_block == block)
            .map(|(name, (rule, _))| (name, rule))
            .collect();
        let groups = of_block.iter().map(|(_, rule)| *rule).collect();
        let found = census(&trace, max_context, block, groups);
        if block == usual_block {
            same(name, &expected["static"], &found["static"]);
        }
        for (key, rule) in of_block {
            same(&format!("{name}, {key}"), &prefix[key], &found["prefix"][rule.to_string()]);
            compared += 1;
        }
    }
    assert_eq!(compared, prefixes, "{name}");
    let block_tokens = NonZeroU32::new(usual_block).expect("not 0");
    let accesses = Accesses::new(&trace, block_tokens, GroupRule::One).expect("few blocks");
    for expected in expected["lru"].as_array().expect("a list") {
        let found = hits(&mut Lru::new(accesses.names()), &accesses, number(expected, "capacity") as usize);
        same(&format!("{name}, LRU"), expected, &serde_json::to_value(found).expect("JSON"));
    }
}

#[test]
fn azure_code() {
    check("azure_code", 0);
}

#[test]
fn sharegpt_8k_lengths() {
    check("sharegpt_8k_lengths", 0);
}

#[test]
fn mooncake_conversation() {
    check("mooncake_conversation", 5);
}

#[test]
fn weka_agent_sessions() {
    check("weka_a", 5);
}
