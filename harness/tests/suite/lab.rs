//! `kvledger lab` as a user runs it: the numbers of the contract stand in what it prints.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

fn lab(columns: &str, args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_kvledger"))
        .env("COLUMNS", columns)
        .arg("lab")
        .args(args)
        .output()
        .expect("the command starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

fn said(args: &[&str]) -> String {
    let (code, out, error) = lab("80", args);
    assert_eq!((code, error.as_str()), (0, ""), "{args:?}");
    out
}

#[test]
fn the_numbers_of_the_contract_are_there() {
    for (args, numbers) in [
        (
            &["prefix"][..],
            &[
                "131,072 bytes a token",
                "2 MiB a block of 16",
                "256 blocks, 512 MiB",
                "has 145 blocks",
                "128 of them",
                "128 are shared",
                "17 are its own",
                "7 of 8 are admitted, 9 blocks are left",
                "264",
                "247",
                "1,160",
            ][..],
        ),
        (&["prefix", "--groups", "8"], &["1 of 8 are admitted, 111 blocks"]),
        (
            &["ledger"],
            &[
                "A 18, R 10, S 4, used 32, headroom 8",
                "A 18, R 15, S 4, used 37",
                "A 21, R 12, S 4, used 37",
                "A 21, R 8, S 4",
                "A 19, R 8, S 4, used 31",
            ],
        ),
        (
            &["contiguous", "--lengths", "17", "--block-tokens", "8", "--more", "10"],
            &["sequence 1      17       3      7                    4"],
        ),
        (&["contiguous"], &["300 reserved, 65 used, 235 idle", "235/300 = 78.33 %", "400 slots takes 1 more"]),
        (&["contiguous", "--lengths", "33"], &["48 slots in 3 blocks", "slack 15: 15/48 = 31.25 %"]),
        (&["forecast"], &["P(at least one)         0.6415"]),
        (&["forecast", "-p", "0.1"], &["P(at least one)         0.8784"]),
        (
            &["forecast", "-n", "10", "-p", "0.5"],
            &["n·p                5.0000", "(1-p)      2.5000", "total probability       1.0000"],
        ),
    ] {
        let text = said(args);
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for number in numbers {
            let number = number.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flat.contains(&number), "{args:?}: {number:?} in\n{text}");
        }
    }
}

#[test]
fn figures_come_as_json_and_nothing_else_does() {
    for args in [&["forecast"][..], &["ledger"], &["prefix"], &["contiguous"]] {
        let text = said(&[args, &["--json", "-"]].concat());
        let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert!(document.as_object().expect("an object").len() > 2, "{text}");
    }
    let forecast: serde_json::Value = serde_json::from_str(&said(&["forecast", "--json", "-"])).expect("JSON");
    assert!((forecast["at_least_one"].as_f64().expect("a number") - 0.641_514).abs() < 1e-6);
}

#[test]
fn no_line_is_longer_than_the_terminal() {
    for args in [&["forecast"][..], &["ledger"], &["prefix"], &["contiguous"]] {
        for columns in ["40", "80"] {
            let (code, out, _) = lab(columns, args);
            let width: usize = columns.parse().expect("a number");
            let long: Vec<_> = out.lines().filter(|line| line.chars().count() > width).collect();
            assert_eq!((code, long), (0, vec![]), "{args:?} on {columns}");
        }
    }
}

#[test]
fn a_script_of_ones_own_is_run() {
    let story = said(&["ledger", "--print"]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_kvledger"))
        .args(["lab", "ledger", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let script = story.replace("headroom=5", "headroom=6");
    child.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1), "an expectation does not hold");
    assert!(String::from_utf8_lossy(&output.stdout).contains("headroom is 5, not 6"));
}

#[test]
fn wrong_flags_and_scripts_are_named() {
    let file = std::env::temp_dir().join(format!("kvledger-lab-{}.script", std::process::id()));
    let script = file.display().to_string();
    std::fs::write(&file, "pool 9\nopen a\nadmitt a 3 4\n").expect("a file");
    for (args, says) in [
        (&["forecast", "-p", "1.5"][..], "--probability"),
        (&["forecast", "-p", "nan"], "--probability"),
        (&["forecast", "-n", "99999999"], "--requests"),
        (&["forecast", "-n", "3", "-k", "4"], "--count"),
        (&["ledger", "/no/such/script"], "/no/such/script"),
        (&["ledger", &script], "line 3: there is no `admitt`"),
        (&["ledger", &script, "--json", &script], "overwrite"),
        (&["prefix", "--prompt", "5"], "--prompt 5"),
        (&["prefix", "--requests", "5000"], "--requests"),
        (&["prefix", "--pool", "5", "--pool-memory", "1GiB"], "--pool"),
        (&["prefix", "--layers", "4294967295", "--head-dim", "4294967295"], "--layers"),
        (&["contiguous", "--lengths", "101"], "--max 100"),
        (&["contiguous", "--lengths", "0"], "--lengths"),
        (&["contiguous", "--lengths", "1,x"], "--lengths"),
        (&["contiguous", "--max", "0"], "--max"),
        (&["ledger", "--print", "--json", "-"], "--json: --print"),
        (&["forecast", "--json", "/no/such/folder/x"], "--json"),
    ] {
        let (code, out, error) = lab("80", args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {error}");
        assert!(error.contains(says), "{args:?}: {error}");
    }
    assert!(Path::new(&script).exists());
    let _ = std::fs::remove_file(&file);
}
