//! Published traces and the figures that they are compared with: whether `KVLEDGER_TRACES` names a folder laid out as
//! the tests expect it. Files of figures are read for the path of their trace; of traces only whether they are there.

use super::check::{Check, Need, Section, State};
use super::files::Files;
use serde::Deserialize;
use std::env;
use std::path::{Component, Path};

/// Files of figures that the tests read, without `.json`.
pub const FIGURES: [&str; 4] = ["azure_code", "sharegpt_8k_lengths", "mooncake_conversation", "weka_a"];
const VARIABLE: &str = "KVLEDGER_TRACES";
const SET: &str = "export KVLEDGER_TRACES=FOLDER   # the one with traces/ and replay-expected/";
/// `test` passes without them, and says what it left out.
const NEEDS: [Need; 2] = [Need::Traces, Need::Checks];

/// What a file of figures says of its trace.
#[derive(Deserialize)]
struct Figures {
    path: String,
}

/// The folder, and each pair of figures and trace.
pub fn traces() -> Vec<Check> {
    let Some(folder) = env::var_os(VARIABLE).filter(|folder| !folder.is_empty()) else {
        return vec![check(
            VARIABLE,
            State::Missing,
            "not set: tests that compare published traces are skipped, aloud",
        )];
    };
    in_folder(Path::new(&folder))
}

fn check(name: &str, state: State, found: impl Into<String>) -> Check {
    Check::new(Section::Traces, name, state, found).needed_for(&NEEDS).skipping(&["replay"]).mended_by(SET)
}

fn in_folder(folder: &Path) -> Vec<Check> {
    let lacks = |name: &&str| !folder.join(name).is_dir();
    let lacking: Vec<&str> = ["traces", "replay-expected"].into_iter().filter(lacks).collect();
    let (state, found) = if !folder.is_dir() {
        (State::Unusable, "not a folder".to_string())
    } else if lacking.is_empty() {
        (State::Ok, "has traces/ and replay-expected/".to_string())
    } else {
        (State::Unusable, format!("has no folder {}", lacking.join(", and none ")))
    };
    let whole = Check { at: Some(folder.to_path_buf()), ..check(VARIABLE, state, found) };
    let each = whole.is_usable().then(|| FIGURES.map(|name| pair(folder, name)));
    [whole].into_iter().chain(each.into_iter().flatten()).collect()
}

/// The figures `name`, and their trace.
fn pair(folder: &Path, name: &str) -> Check {
    let figures = format!("replay-expected/{name}.json");
    let Some(text) = Files::below(folder).text(&figures) else {
        return check(name, State::Missing, format!("no {figures}"));
    };
    let path = match serde_json::from_str::<Figures>(&text) {
        Ok(Figures { path }) if is_below(&path) => path,
        Ok(Figures { path }) => {
            return check(name, State::Unusable, format!("{figures}: `path` leads outside: {path}"));
        }
        Err(error) => return check(name, State::Unusable, format!("{figures}: {error}")),
    };
    if folder.join("traces").join(&path).exists() {
        check(name, State::Ok, format!("traces/{path}"))
    } else {
        check(name, State::Missing, format!("no traces/{path}"))
    }
}

fn is_below(path: &str) -> bool {
    Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::super::files::Root;
    use super::*;

    fn states(root: &Root) -> Vec<(String, State)> {
        in_folder(&root.0).into_iter().map(|check| (check.name, check.state)).collect()
    }

    #[test]
    fn each_pair_is_looked_for() {
        let root = Root::with(&[
            ("replay-expected/azure_code.json", r#"{"path": "a/b.csv", "block": 16}"#),
            ("traces/a/b.csv", ""),
            ("replay-expected/sharegpt_8k_lengths.json", r#"{"path": "gone.csv"}"#),
            ("replay-expected/mooncake_conversation.json", r#"{"path": "../outside"}"#),
        ]);
        let found: Vec<State> = states(&root).into_iter().map(|(_, state)| state).collect();
        assert_eq!(found, [State::Ok, State::Ok, State::Missing, State::Unusable, State::Missing]);
    }

    #[test]
    fn a_folder_that_is_laid_out_otherwise_is_told() {
        let root = Root::with(&[("traces/x", "")]);
        assert_eq!(states(&root), [(VARIABLE.to_string(), State::Unusable)]);
        let [whole] = &in_folder(&root.0)[..] else { panic!("one check") };
        assert!(whole.found.contains("replay-expected") && whole.mend.is_some(), "{whole:?}");
        assert!(in_folder(&root.0.join("traces/x"))[0].found.contains("not a folder"));
    }

    /// The list is that of the tests.
    #[test]
    fn the_tests_read_the_same_figures() {
        let tests = include_str!("../../tests/suite/published_traces.rs");
        let read: Vec<&str> = tests.split("check(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(read, FIGURES);
    }
}
