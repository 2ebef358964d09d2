//! `kvledger bench` as a user runs it. What it measures is not tested (that would be a timed test): only that every
//! figure is there, that the flags mean what they say, and that what is shown is made of the file.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn bench(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kvledger"));
    command.arg("bench").args(args).env_remove("COLUMNS").output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A few cells, quickly: what they measure is noise.
const FEW: [&str; 12] =
    ["--rounds", "2", "--slice-ms", "1", "--pools", "2048", "--steps", "20", "--stops", "3", "--threads", "1,2"];

fn few(more: &[&str]) -> Output {
    bench(&[&FEW[..], more].concat())
}

/// A file of figures in a folder of its own.
fn figures(name: &str, more: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder for the test");
    let file = folder.join("figures.json");
    let output = few(&[&["--json", &file.display().to_string()], more].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(output.stderr.is_empty(), "nothing is drawn where nobody watches: {}", text(&output.stderr));
    file
}

#[test]
fn every_candidate_has_a_figure_for_every_load() {
    let output = few(&["--only", "allocators,runs,admission", "--occupancies", "99.9", "--json", "-"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let cells = report["allocators"].as_array().expect("an array");
    // 5 loads, 2 numbers of threads, in a pool in which each thread holds two batches of 256.
    assert_eq!(cells.len(), 10);
    for cell in cells {
        let figures = cell["figures"].as_array().expect("an array");
        assert_eq!(figures.len(), 16);
        for figure in figures {
            let rounds = figure["rounds_ns"].as_array().expect("an array");
            assert!(rounds.len() == 2 && rounds.iter().all(|ns| ns.as_f64().is_some_and(|ns| ns > 0.0)), "{cell}");
            assert_eq!(figure["take_ns"].as_array().map(Vec::len), Some(3), "{cell}");
            let is_ours = ["free list", "ledger and pool"].iter().any(|ours| figure["name"] == *ours);
            assert!(!is_ours || figure["failures"] == 0, "{cell}");
        }
    }
    assert_eq!(report["neighbours"].as_array().map(Vec::len), Some(1));
    assert_eq!(report["admission"].as_array().map(Vec::len), Some(2));
    assert!(report["steps"].as_array().is_some_and(Vec::is_empty) && report["replay"].is_null());
    assert!(!report["goals"].as_array().expect("an array").is_empty());
}

#[test]
fn parts_are_measured_by_themselves() {
    let output = few(&["--only", "step,stopped,replay", "--peers", "mutex"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    for part in [
        "advance_many",
        "export of changed rows",
        "4,096 sequences",
        "stood still",
        "requests",
        "Goals: ",
        "commit ",
        "compare-exchange",
        "the sample was replayed",
        "whole turn",
    ] {
        assert!(table.contains(part), "{part} is missing in:\n{table}");
    }
    assert!(!table.contains("a batch") && !table.contains("ArrayQueue"), "{table}");
}

/// Counts only: what it took is noise.
#[test]
fn workload_w_runs_on_what_is_made_up_here() {
    let args = ["--only", "workload", "--made", "150", "--workload-live", "8", "--workload-pool", "2048"];
    let output = few(&[&args[..], &["--json", "-"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let workload = &report["workload"];
    assert_eq!(
        (&workload["requests"], &workload["live"], &workload["pool_blocks"]),
        (&150.into(), &8.into(), &2048.into())
    );
    let number = |value: &Value| value.as_u64().expect("a number");
    assert!(0 < number(&workload["hits"]) && number(&workload["hits"]) < number(&workload["identified_blocks"]));
    let runs = workload["runs"].as_array().expect("an array");
    assert_eq!(runs.iter().map(|run| number(&run["threads"])).collect::<Vec<_>>(), [1, 2]);
    for figure in runs.iter().flat_map(|run| run["figures"].as_array().expect("an array")) {
        let rounds = figure["rounds_per_second"].as_array().expect("an array");
        assert!(
            rounds.len() == 2 && rounds.iter().all(|rate| rate.as_f64().is_some_and(|rate| rate > 0.0)),
            "{figure}"
        );
    }
    for figure in runs[0]["figures"].as_array().expect("an array") {
        assert!(figure["rounds_hits"].as_array().expect("an array").iter().all(|hits| *hits == workload["hits"]));
    }
    let shown = text(&few(&args).stdout);
    for words in ["Workload W, 150 made-up requests", "ledger and pool", "HashMap, LRU list", "hits"] {
        assert!(shown.contains(words), "{words} in {shown}");
    }
}

#[test]
fn what_cannot_be_used_is_said() {
    for (args, said) in [
        (&["--rounds", "0"][..], "--rounds"),
        (&["--only", "everything"], "everything"),
        (&["--trace", "no/such/file"], "no/such/file"),
        (&["--time-scale", "0/1"], "--time-scale"),
        (&["--threads", "0"], "1 to 64 threads"),
        (&["--made", "0"], "1 to 1048576 requests"),
        (&["--made", "9", "--trace", "Cargo.toml"], "--made"),
        (&["--workload-live", "5000"], "1 to 4096 requests"),
        (&["--workload-pool", "0"], "64 to 1048576 blocks"),
        (&["--peers", "free-list"], "free-list"),
        (&["--loads", "2000"], "1 to 1024 blocks a batch"),
        (&["--pools", "5"], "64 to 1048576 blocks"),
        (&["--occupancies", "101"], "0.1 to 100"),
        (&["--pools", "64", "--loads", "145"], "smaller --loads"),
        (&["--json", "no/such/folder/f.json"], "--json no/such/folder/f.json"),
        (&["report", "no/such/file"], "no/such/file"),
        (&["report", "Cargo.toml"], "Cargo.toml"),
        (&["count", "everything"], "everything"),
    ] {
        let output = bench(args);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
        assert!(message.contains(said), "{args:?}: {message}");
        assert!(output.stdout.is_empty(), "{args:?}: nothing was measured");
    }
}

#[test]
fn what_is_shown_is_made_of_the_file() {
    let file =
        figures("bench_report", &["--only", "allocators,step", "--loads", "17,growing", "--peers", "mutex,treiber"]);
    let name = file.display().to_string();
    let shown = bench(&["report", &name]);
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    for part in ["Mutex<Vec>", "Treiber", "17 a batch", "advance_many", "2,048 blocks"] {
        assert!(text(&shown.stdout).contains(part), "{part} in {}", text(&shown.stdout));
    }
    let markdown = text(&bench(&["report", &name, "--markdown"]).stdout);
    assert!(markdown.contains("| **free list** |") && markdown.contains("does not notice a double free"), "{markdown}");
    let against = text(&bench(&["report", &name, "--against", &name]).stdout);
    assert!(against.contains("free list, 17 a batch") && against.contains("1.00"), "{against}");
    let svg = file.with_file_name("figures.svg");
    let drawn = bench(&["report", &name, "--svg", &svg.display().to_string()]);
    assert!(drawn.status.success() && drawn.stdout.is_empty(), "{}", text(&drawn.stderr));
    let picture = fs::read_to_string(&svg).expect("the picture");
    // 2 panels of 3 candidates.
    assert_eq!(picture.matches("<polyline").count(), 6);
    let over = bench(&["report", &name, "--svg", &name]);
    assert_eq!(over.status.code(), Some(2), "figures are not overwritten");
}

#[test]
fn a_readme_gets_the_figures_that_its_mark_names() {
    let file = figures("bench_into", &["--only", "allocators", "--loads", "1", "--peers", "mutex"]);
    let (page, name) = (file.with_file_name("README.md"), file.display().to_string());
    let into = || bench(&["report", &name, "--into", &page.display().to_string()]);
    for (before, said) in [
        ("no marks", "<!-- figures: "),
        ("<!-- figures: other.json -->\n<!-- end of figures -->\n", "other.json"),
        ("<!-- figures: figures.json -->\n", "end of figures"),
    ] {
        fs::write(&page, before).expect("a page");
        let output = into();
        assert_eq!(output.status.code(), Some(2), "{before}");
        assert!(text(&output.stderr).contains(said), "{}", text(&output.stderr));
        assert_eq!(fs::read_to_string(&page).expect("the page"), before, "it is left alone");
    }
    fs::write(&page, "above\n<!-- figures: figures.json -->\nold\n<!-- end of figures -->\nbelow\n").expect("a page");
    assert!(into().status.success());
    let made = fs::read_to_string(&page).expect("the page");
    assert!(made.starts_with("above\n") && made.ends_with("below\n") && !made.contains("old\n"), "{made}");
    assert!(made.contains("| Mutex&lt;Vec> |") && made.contains("[data](figures.json)"), "{made}");
}

/// The tables of the project's README are those of the file that it names, and no others.
#[test]
fn the_readme_and_the_results_agree() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let page = fs::read_to_string(root.join("README.md")).expect("the README");
    let again = kvledger_harness::bench::show::put_between_marks(&page, |path| {
        let file = fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))?;
        let report = kvledger_harness::bench::Report::parse(&file)?;
        Ok(kvledger_harness::bench::show::markdown(&report, path))
    });
    let again = again.expect("the README names a file of figures");
    assert!(page == again, "README.md is not what its figures say: `kvledger bench report FIGURES --into README.md`");
}

/// Files of the repository that a help text names are there.
#[test]
fn files_that_the_help_names_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut found = 0;
    for command in [&["--help"][..], &["report", "--help"], &["cache", "--help"], &["count", "--help"]] {
        let help = text(&bench(command).stdout);
        assert!(help.contains("Exit codes: 0 ") && help.contains("Example"), "{command:?}: {help}");
        let words = help.split_whitespace().map(|word| word.trim_matches(|c: char| "`.,;:()".contains(c)));
        for word in words.filter(|word| word.starts_with("harness/") || *word == "README.md") {
            found += 1;
            assert!(root.join(word).is_file(), "{command:?} names {word}, which is not there");
        }
    }
    assert!(found >= 4, "{found}");
}

#[test]
fn a_case_to_count_says_how_often_it_was_done() {
    let list = text(&bench(&["count"]).stdout);
    assert!(list.lines().count() >= 10 && list.contains("take-give-17"), "{list}");
    assert_eq!(text(&bench(&["count", "advance"]).stdout), "4000\n");
}

#[test]
fn hits_of_a_cache_are_those_of_the_rule_and_nobody_beats_the_future() {
    let cache = |args: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_kvledger"))
            .args(["bench", "cache"])
            .args(args)
            .output()
            .expect("the command starts");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let text = cache(&["--capacity", "64,512"]);
    assert!(text.contains("LRU") && text.contains("Belady") && text.contains("512 blocks"), "{text}");
    let document: serde_json::Value =
        serde_json::from_str(&cache(&["--capacity", "64,512,4096", "--json", "-"])).expect("JSON");
    let hits = |policy: usize, capacity: usize| {
        document["policies"][policy]["capacities"][capacity]["hits"].as_u64().expect("a count")
    };
    for capacity in 0..3 {
        assert!((0..3).all(|policy| hits(policy, capacity) <= hits(3, capacity)), "{document}");
    }
    assert!(hits(0, 0) < hits(3, 0), "there is something to lose: {document}");
}
