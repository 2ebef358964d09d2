//! `kvledger bench` as a user runs it. What it measures is not tested (that would be a timed test): only that every
//! figure is there, and that the flags mean what they say.

use serde_json::Value;
use std::process::{Command, Output};

fn bench(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kvledger")).arg("bench").args(args).output().expect("the command starts")
}

#[test]
fn every_candidate_has_a_figure_for_every_load() {
    let output = bench(&["--only", "allocators", "--rounds", "1", "--slice-ms", "1", "--json", "-"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let cells = report["allocators"].as_array().expect("an array");
    assert_eq!(cells.len(), 12);
    for cell in cells {
        let figures = cell["figures"].as_array().expect("an array");
        assert_eq!(figures.len(), 6);
        for figure in figures {
            assert!(figure["best_ns"].as_f64().expect("a number") > 0.0, "{cell}");
            assert!(figure["side"] != "ours" || figure["failures"] == 0, "{cell}");
        }
    }
    assert!(report["step"].is_null() && report["replay"].is_null());
    assert!(!report["goals"].as_array().expect("an array").is_empty());
}

#[test]
fn parts_are_measured_by_themselves() {
    let output = bench(&["--only", "step,replay", "--rounds", "1", "--steps", "20"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let table = String::from_utf8(output.stdout).expect("text");
    for part in [
        "advance_many",
        "requests",
        "Goals: ",
        "commit ",
        "compare-exchange",
        "not judged on the sample",
        "a whole turn",
    ] {
        assert!(table.contains(part), "{part} is missing in:\n{table}");
    }
    assert!(!table.contains("ArrayQueue"), "{table}");
}

#[test]
fn what_cannot_be_used_is_said() {
    for (args, said) in [
        (&["--rounds", "0"][..], "--rounds"),
        (&["--only", "everything"], "everything"),
        (&["--trace", "no/such/file"], "no/such/file"),
        (&["--time-scale", "0/1"], "--time-scale"),
    ] {
        let output = bench(args);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
        assert!(message.contains(said), "{args:?}: {message}");
    }
}
