//! What the header lists of each function: the results that it can have. `told.py` holds that it lists some; this reads them,
//! so that every answer of a test can be looked up.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A status, and with `INVALID` the number of the argument, else 0.
type Answer = (u32, u32);

const INVALID: u32 = 7;

/// The answers of each function.
pub struct Listed {
    functions: BTreeMap<String, BTreeSet<Answer>>,
}

/// The names of a header that have numbers, and the sets that its first comment defines.
struct Names {
    numbers: BTreeMap<String, u32>,
    sets: BTreeMap<String, String>,
}

impl Listed {
    /// Reads `kvledger.h` and its parts.
    pub fn read() -> Listed {
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
        let text = |part: &str| std::fs::read_to_string(include.join(part)).expect("a header");
        let parts = std::fs::read_dir(include.join("kvledger")).expect("the header has parts");
        let parts: Vec<String> =
            parts.map(|part| std::fs::read_to_string(part.expect("a file").path()).expect("text")).collect();
        let names = Names { numbers: numbers(&text("kvledger/answer.h")), sets: sets(&text("kvledger.h")) };
        assert!(names.sets.len() > 5 && names.numbers.len() > 50, "the header is read wrongly");
        let functions = parts.iter().flat_map(|part| functions(part));
        Listed { functions: functions.map(|(name, clause)| (name, names.answers(&clause))).collect() }
    }

    /// Whether the header lists this answer of a function. Of pointers and sizes it lists none, so these are not asked for.
    pub fn has(&self, function: &str, status: u32, argument: u32) -> bool {
        let listed = self.functions.get(function).unwrap_or_else(|| panic!("{function} is not in the header"));
        status == 0 || listed.contains(&(status, argument))
    }
}

impl Names {
    /// The answers that a clause names: statuses, arguments, more of the same prefix (`_NAME`), and sets.
    fn answers(&self, clause: &str) -> BTreeSet<Answer> {
        let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let mut answers = BTreeSet::new();
        for word in clause.split(|character| !is_word(character)) {
            let argument =
                word.strip_prefix("KVL_ARGUMENT").or_else(|| Some(word).filter(|word| word.starts_with('_')));
            if let Some(rest) = argument {
                let number = self.numbers.get(&format!("KVL_ARGUMENT{rest}"));
                answers.insert((INVALID, *number.unwrap_or_else(|| panic!("{word} is no argument"))));
            } else if let Some(number) = self.numbers.get(word) {
                answers.insert((*number, 0));
            } else if let Some(set) = self.sets.get(word) {
                answers.extend(self.answers(set));
            }
        }
        answers
    }
}

/// Statuses and arguments, of `answer.h`.
fn numbers(header: &str) -> BTreeMap<String, u32> {
    let enumerators = header.lines().filter_map(|line| line.trim().strip_prefix("KVL_")?.split_once(" = "));
    let answers = enumerators.filter(|(name, _)| !name.starts_with("PLACE_") && !name.starts_with("SCOPE_"));
    let parse = |text: &str| text.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok();
    answers.filter_map(|(name, rest)| Some((format!("KVL_{name}"), parse(rest)?))).collect()
}

/// The lines ` *     NAME      text` of the comment that the header begins with.
fn sets(header: &str) -> BTreeMap<String, String> {
    let comment = header.split("*/").next().expect("a comment");
    let mut sets = BTreeMap::new();
    let mut last: Option<String> = None;
    for line in comment.lines() {
        let Some(text) = line.strip_prefix(" *     ") else {
            last = None;
            continue;
        };
        match text.split_once("  ") {
            Some((name, begin)) if !name.is_empty() && name.chars().all(|letter| letter.is_ascii_uppercase()) => {
                sets.insert(name.to_string(), begin.to_string());
                last = Some(name.to_string());
            }
            _ => {
                if let Some(set) = last.as_ref().and_then(|name| sets.get_mut(name)) {
                    set.push(' ');
                    set.push_str(text);
                }
            }
        }
    }
    sets
}

/// Each function of a part, with what stands behind `Results:` in the comment above it.
fn functions(part: &str) -> impl Iterator<Item = (String, String)> {
    let prototypes = part.match_indices("\nkvl_status ");
    prototypes.map(|(at, begin)| {
        let name: String = part[at + begin.len()..].chars().take_while(|&letter| letter != '(').collect();
        let comment = part[..at].rsplit("/*").next().expect("a comment");
        let clause = comment.split("Results:").nth(1).unwrap_or_else(|| panic!("{name} has no results"));
        let end = ["Cost:", "Threads:"].iter().filter_map(|word| clause.find(word)).min().unwrap_or(clause.len());
        (name, clause[..end].to_string())
    })
}
