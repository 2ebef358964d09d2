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

#[test]
fn every_invariant_is_named_in_code_and_in_a_test() {
    let (code, tests) = (sources("src"), sources("tests"));
    let all: String = code.values().chain(tests.values()).cloned().collect();
    let code: String = code.iter().filter(|(name, _)| !name.contains("tests")).map(|(_, text)| text.as_str()).collect();
    let stated: BTreeSet<u32> = (1..=13).collect();
    let rows = architecture().lines().filter(|line| line.starts_with("| I")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        rows.iter().flat_map(|row| labels(row.split('|').nth(1).unwrap_or(""), 'I')).collect::<BTreeSet<_>>(),
        stated
    );
    for number in stated {
        // I6 enters with identities; its row says so.
        if number == 6 {
            assert!(rows.iter().any(|row| row.starts_with("| I6") && row.contains("No identity is stored yet")));
            continue;
        }
        assert!(labels(&code, 'I').contains(&number), "I{number} is not named in src");
        assert!(all.contains(&format!("fn i{number}_")), "no test is named i{number}_…");
    }
}

/// Each ordering label stands at two places of the code at least, and in the table; and no other does.
#[test]
fn every_ordering_is_a_pair() {
    let code = sources("src");
    let mut places: BTreeMap<u32, u32> = BTreeMap::new();
    for text in code.iter().filter(|(name, _)| !name.contains("tests")).map(|(_, text)| text) {
        for line in text.lines().filter(|line| line.trim_start().starts_with("//")) {
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
        "pool/header.rs",
        "pool/layout.rs",
        "pool/memory.rs",
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
