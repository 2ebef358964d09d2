//! `ARCHITECTURE.md` says what the code says: every invariant and every ordering is in both, files stay small, atomics
//! come through one file, and unsafe code is where it is said to be.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file below a folder, by its path from there.
fn sources(folder: &str) -> BTreeMap<String, String> {
    let root = here().join(folder);
    let (mut found, mut folders) = (BTreeMap::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of this crate").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(&root).expect("below it").display().to_string();
                found.insert(name, fs::read_to_string(&path).expect("text"));
            }
        }
    }
    assert!(!found.is_empty());
    found
}

fn architecture() -> String {
    fs::read_to_string(here().join("ARCHITECTURE.md")).expect("it is beside the manifest")
}

/// Labels of one letter and a number, as words of their own: `I5`, `O12`.
fn labels(text: &str, letter: char) -> BTreeSet<u32> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(|c| !is_word(c)).filter_map(|word| word.strip_prefix(letter)?.parse().ok()).collect()
}

/// Names in backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Every invariant is named in the code, its owners and the places that hold it exist, and so do the tests that it names.
#[test]
fn every_invariant_is_held_and_tested_where_it_says() {
    let (code, tests) = (sources("src"), sources("tests"));
    let is_code = |name: &str| !name.contains("tests") && !name.starts_with("model");
    let text: String = code.iter().filter(|(name, _)| is_code(name)).map(|(_, text)| text.as_str()).collect();
    let lines: String = text.lines().filter(|line| !line.trim_start().starts_with("//!")).collect();
    let all: String = code.values().chain(tests.values()).cloned().collect();
    let architecture = architecture();
    let rows: Vec<Vec<&str>> = architecture
        .lines()
        .filter(|line| line.starts_with("| I"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let stated: Vec<_> = rows.iter().map(|row| row[1].to_owned()).collect();
    assert_eq!(stated, (1..=13).map(|number| format!("I{number}")).collect::<Vec<_>>());
    for (number, row) in (1..).zip(&rows) {
        let [_, label, _, owners, places, by, ..] = row.as_slice() else { panic!("{row:?}") };
        assert!(labels(&lines, 'I').contains(&number), "{label} is not named in src");
        for owner in quoted(owners) {
            assert!(code.keys().any(|name| name.starts_with(owner)), "{label}: {owner} is no file");
        }
        let held: Vec<_> = quoted(places).into_iter().map(|place| place.rsplit("::").next().unwrap_or(place)).collect();
        assert!(!held.is_empty() && held.iter().all(|name| text.contains(&format!("fn {name}"))), "{label}: {held:?}");
        let named: Vec<_> = quoted(by).into_iter().filter(|name| name.starts_with(&format!("i{number}_"))).collect();
        assert!(!named.is_empty(), "{label} names no test of its own");
        for test in named {
            assert!(all.contains(&format!("fn {test}()")), "{label}: no test is named {test}");
        }
    }
}

/// Every public call of the pool and of the free list has its progress class.
#[test]
fn every_public_call_has_its_progress_class() {
    let architecture = architecture();
    let table = architecture.split("## Progress").nth(1).and_then(|rest| rest.split("## ").next()).expect("a section");
    let stated: BTreeSet<_> =
        quoted(table).into_iter().map(|name| name.rsplit("::").next().unwrap_or(name).to_owned()).collect();
    for (file, text) in sources("src") {
        if !(file.starts_with("pool/") || file == "freelist/free_blocks.rs") {
            continue;
        }
        for line in text.lines().map(str::trim_start) {
            let call = line.strip_prefix("pub fn ").or_else(|| line.strip_prefix("pub unsafe fn "));
            if let Some(name) = call.and_then(|rest| rest.split(['(', '<']).next()) {
                assert!(stated.contains(name), "{file}: `{name}` has no progress class in ARCHITECTURE.md");
            }
        }
    }
}

/// Each ordering label stands at two places of the code at least, and in the table; and no other does.
#[test]
fn every_ordering_is_a_pair() {
    let code = sources("src");
    let mut places: BTreeMap<u32, u32> = BTreeMap::new();
    for text in code.iter().filter(|(name, _)| !name.contains("tests")).map(|(_, text)| text) {
        let is_site = |line: &&str| line.contains("// O") || (line.contains("// ") && !line.contains("//!"));
        for line in text.lines().filter(is_site) {
            for label in labels(line, 'O') {
                *places.entry(label).or_default() += 1;
            }
        }
    }
    let table: String =
        architecture().lines().filter(|line| line.starts_with("| O")).map(|line| line.to_owned() + "\n").collect();
    assert_eq!(places.keys().copied().collect::<BTreeSet<_>>(), labels(&table, 'O'));
    for (label, count) in places {
        assert!(count >= 2, "O{label} stands at one place only: where is its partner?");
    }
}

#[test]
fn files_stay_small() {
    for folder in ["src", "tests"] {
        for (name, text) in sources(folder) {
            let lines = text.lines().count();
            assert!(lines <= 500, "{folder}/{name} has {lines} lines: which second noun wants a file of its own?");
        }
    }
}

/// Besides the seam, atomics are named only where cells are guarded by a driver, by a claim, or by the caller's memory.
#[test]
fn atomics_come_through_one_file() {
    let allowed = [
        "arena.rs",
        "blocks.rs",
        "names.rs",
        "pool/header.rs",
        "pool/layout.rs",
        "pool/memory.rs",
        "recorder/ring.rs",
        "recorder/steps.rs",
        "recorder/words.rs",
        "sequence/record.rs",
        "sync.rs",
        "table.rs",
        "freelist/summary.rs",
    ];
    let named: Vec<_> = sources("src")
        .into_iter()
        .filter(|(name, text)| text.contains("sync::atomic") && !name.contains("tests"))
        .map(|(name, _)| name)
        .collect();
    for name in &named {
        assert!(allowed.contains(&name.as_str()), "{name} names atomics: take them from `sync`");
    }
}

#[test]
fn unsafe_code_is_where_it_is_said_to_be() {
    let has_unsafe = |text: &str| {
        text.lines().any(|line| {
            let code = line.split("//").next().unwrap_or("");
            code.contains("unsafe {")
                || code.contains("unsafe fn")
                || code.contains("unsafe impl")
                || code.contains("unsafe trait")
        })
    };
    let named: BTreeSet<_> = sources("src")
        .into_iter()
        .filter(|(name, text)| !name.contains("tests") && has_unsafe(text))
        .map(|(name, _)| name)
        .collect();
    let said: BTreeSet<_> = ["arena.rs", "pool/memory.rs", "sequence/record.rs"].map(str::to_owned).into();
    assert_eq!(named, said);
    for file in &said {
        assert!(architecture().contains(&format!("`{file}`")));
    }
}

/// Every file is in the code map, by itself or by its folder.
#[test]
fn the_code_map_is_complete() {
    let map: String =
        architecture().lines().filter(|line| line.starts_with("| `")).map(|line| line.to_owned() + "\n").collect();
    for name in sources("src").into_keys().filter(|name| name != "lib.rs" && !name.contains("tests")) {
        let folder = Path::new(&name).parent().map(|parent| parent.display().to_string()).unwrap_or_default();
        let stated = if folder.is_empty() { format!("`{name}`") } else { format!("`{folder}/`") };
        assert!(map.contains(&stated), "{name} is not in the code map");
    }
}
