//! `kvledger verify` as a user runs it. That it finds a wrong model, and how it says so, is tested beside it
//! (`src/cli/verify.rs`), because no flag can plant one.

use std::io::Read;
use std::process::{Command, Output, Stdio};

fn verify(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kvledger")).arg("verify").args(args).output().expect("the command starts")
}

/// What it prints after its first line.
fn tally(args: &[&str]) -> String {
    let output = verify(args);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "quiet in a pipe");
    let text = String::from_utf8(output.stdout).expect("text");
    let (first, rest) = text.split_once('\n').expect("lines");
    assert!(first.starts_with("verify: 5,500 operations, seed "), "{first}");
    rest.to_string()
}

#[test]
fn the_same_seed_gives_the_same_answers_on_any_number_of_threads() {
    let arguments = ["--operations", "5500", "--seed", "77"];
    let two = tally(&[&arguments[..], &["--threads", "2"]].concat());
    assert!(two.starts_with("pool and model agree after each of 5,500 operations"), "{two}");
    for operation in ["open", "admit", "advance", "cancel", "complete", "close_account"] {
        assert!(two.contains(&format!("\n  {operation} ")), "{operation} in {two}");
    }
    assert_eq!(two, tally(&[&arguments[..], &["--threads", "1"]].concat()));
    assert_ne!(two, tally(&["--operations", "5500", "--seed", "78"]));
}

#[test]
fn the_seed_is_said_and_drawn_anew_without_one() {
    let first_line = |args: &[&str]| {
        let output = verify(args);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text").lines().next().expect("a line").to_string()
    };
    let arguments = ["--operations", "1", "--threads", "1"];
    assert_eq!(first_line(&[&arguments[..], &["--seed", "9"]].concat()), "verify: 1 operations, seed 9, 1 threads");
    assert_ne!(first_line(&arguments), first_line(&arguments), "drawn from the clock");
}

#[test]
fn json_is_all_that_is_on_standard_output() {
    let output = verify(&["--operations", "1500", "--seed", "5", "--threads", "2", "--json", "-"]);
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for (key, value) in [("seed", 5), ("threads", 2), ("operations", 1500)] {
        assert_eq!(document[key], value, "{document}");
    }
    assert_eq!(document["agree"], true);
    assert!(document["answers"]["open"]["OK"].as_u64() > Some(0), "{document}");
    assert!(document["failure"].is_null() && document["episode"].is_null(), "{document}");
}

#[test]
fn help_has_examples_and_exit_codes() {
    let output = verify(&["--help"]);
    let help = String::from_utf8(output.stdout).expect("text");
    assert!(help.contains("Examples:\n  kvledger verify ") && help.contains("Exit codes: 0"), "{help}");
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kvledger"))
        .args(["verify", "--operations", "60000", "--seed", "3"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let mut message = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut message).expect("text");
    assert_eq!((child.wait().expect("it ends").code(), message.as_str()), (Some(0), ""));
}

#[test]
fn what_cannot_be_used_is_said() {
    for (args, said) in [
        (&["--operations", "0"][..], "--operations"),
        (&["--operations", "-1"], "-1"),
        (&["--threads", "0"], "--threads"),
        (&["--threads", "2000"], "--threads"),
        (&["--json", "/no/such/folder/x"], "--json"),
        (&["--json", "x.kvl", "--record", "./x.kvl"], "--json"),
        (&["--seed", "many"], "--seed"),
    ] {
        let output = verify(args);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
        assert!(message.contains(said), "{args:?}: {message}");
    }
}
