//! `kvledger doctor` with nothing, with tools that are not what they seem, and with what was required.

use super::command::text;
use kvledger_core::LAYOUT_VERSION;
use kvledger_core::recorder::DUMP_VERSION;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of a test's own, removed when it is done.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("kvledger-doctor-suite-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        Folder(folder)
    }

    fn file(&self, name: &str, text: &str) {
        let file = self.0.join(name);
        fs::create_dir_all(file.parent().expect("below the folder")).expect("a folder");
        fs::write(file, text).expect("a file");
    }

    /// A shell script that can be run. Another process writes it: one that this process has open for writing cannot be run
    /// while any child that was forked meanwhile has not yet become its program.
    fn program(&self, name: &str, script: &str) {
        self.file(&format!("{name}.text"), &format!("#!/bin/sh\n{script}\n"));
        let (from, to) = (self.0.join(format!("{name}.text")), self.0.join(name));
        let mut copy = Command::new("/bin/sh");
        copy.args(["-c", "cat \"$0\" > \"$1\" && chmod 755 \"$1\""]).args([from, to]);
        assert!(copy.status().expect("a shell").success());
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("a path in UTF-8")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The command with only these variables. A toolkit that this machine may have is left alone.
fn doctor(variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kvledger"));
    command.arg("doctor").args(arguments).env_clear().env("KVL_CUDA", "off").envs(variables.iter().copied());
    command.stdin(Stdio::null()).output().expect("the command starts")
}

/// Its report, and the exit code.
fn report(variables: &[(&str, &str)], arguments: &[&str]) -> (Value, Option<i32>) {
    let output = doctor(variables, &[arguments, &["--json", "-"]].concat());
    (serde_json::from_slice(&output.stdout).expect("nothing but JSON on standard output"), output.status.code())
}

fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().expect("a list");
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no check {name}"))
}

fn found<'a>(report: &'a Value, name: &str) -> (&'a str, &'a str) {
    let check = check(report, name);
    (check["state"].as_str().expect("a state"), check["found"].as_str().expect("text"))
}

#[test]
fn with_nothing_at_all_the_report_is_whole() {
    let nothing = Folder::new();
    for path in ["", nothing.path(), "relative:."] {
        let output = doctor(&[("PATH", path)], &[]);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "{path}");
        let page = text(&output.stdout);
        for says in ["  cc              missing: not in PATH; fails in .ci/run: ", "self-test       ok: ", "not set: "]
        {
            assert!(page.contains(says), "{says} in {page}");
        }
        assert!(page.contains("not possible here: build, archive, c, checks, traces, cuda"), "{page}");
    }
    let (report, code) = report(&[], &[]);
    assert_eq!((code, found(&report, "rustc").0), (Some(0), "missing"));
}

#[test]
fn what_is_missing_says_how_to_get_it() {
    let (report, _) = report(&[], &[]);
    let mut names = BTreeSet::new();
    for check in report["checks"].as_array().expect("a list") {
        let is_usable = ["ok", "note"].contains(&check["state"].as_str().expect("a state"));
        assert_eq!(check["mend"].is_null(), is_usable, "{check}");
        assert!(names.insert(check["name"].as_str().expect("a name").to_string()), "{check}");
    }
    assert!(names.len() > 25, "{names:?}");
}

#[test]
fn programs_have_the_fields_that_they_look_for() {
    let (report, _) = report(&[], &["--require", "cuda,traces", "--require", "c"]);
    let keys = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<BTreeSet<_>>();
    let are = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<BTreeSet<_>>();
    assert_eq!(keys(&report), are(&["kvledger", "machine", "checks", "possible", "required", "lacking"]));
    let built = "version commit rustc target profile opt_level debug_assertions layout_version record_version";
    assert_eq!(keys(&report["kvledger"]), built.split_whitespace().map(str::to_string).collect());
    let check = "name section state found at details needed_for stages is_skipped mend";
    for each in report["checks"].as_array().expect("a list") {
        assert_eq!(keys(each), check.split_whitespace().map(str::to_string).collect());
    }
    assert_eq!(report["required"], serde_json::json!(["cuda", "traces", "c"]));
    let built = &report["kvledger"];
    assert_eq!(built["version"], env!("CARGO_PKG_VERSION"));
    assert!(built["rustc"].as_str().is_some_and(|rustc| rustc.starts_with("rustc ")), "{built}");
    assert!(built["layout_version"] == LAYOUT_VERSION && built["record_version"] == DUMP_VERSION, "{built}");
    assert_eq!(built["debug_assertions"], cfg!(debug_assertions));
    assert!(report["machine"]["cores"].as_u64() >= Some(1));
}

#[test]
fn what_was_required_decides_the_exit_code() {
    for (require, says) in [
        ("cuda", "failed: --require cuda: not usable: "),
        ("traces", "failed: --require traces: not usable: KVLEDGER_TRACES"),
        ("c,traces", "; --require traces: not usable: "),
        ("build", "rustc, cargo, cc, c++"),
        ("checks", "valgrind"),
    ] {
        let output = doctor(&[], &["--require", require]);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{require}: {message}");
        assert!(message.contains(says) && message.lines().count() == 1, "{require}: {message}");
        assert!(text(&output.stdout).contains("self-test"), "the page is there all the same");
    }
    let (report, code) = report(&[], &["--require", "traces"]);
    assert_eq!((code, &report["lacking"]), (Some(1), &serde_json::json!(["KVLEDGER_TRACES"])));
}

#[test]
fn wrong_use_is_told_before_anything_is_done() {
    for (arguments, says) in [
        (&["--require", "all"][..], "possible values: build, archive, c, checks, traces, cuda, gpu"),
        (&["--require"], "--require"),
        (&["--tool-seconds", "0"], "--tool-seconds"),
        (&["--json", "/no/such/folder/file"], "--json /no/such/folder/file: cannot be written"),
        (&["extra"], "extra"),
    ] {
        let output = doctor(&[], arguments);
        let message = text(&output.stderr);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""), "{arguments:?}: {message}");
        assert!(message.contains(says), "{arguments:?}: {message}");
    }
}

#[test]
fn a_json_file_stands_beside_the_page() {
    let folder = Folder::new();
    let file = folder.0.join("report.json");
    let output = doctor(&[], &["--json", file.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(0));
    let written: Value = serde_json::from_str(&fs::read_to_string(file).expect("a file")).expect("JSON");
    assert!(text(&output.stdout).starts_with("kvledger\n") && written["kvledger"].is_object());
}

#[test]
fn tools_are_what_they_say_and_what_they_do() {
    let tools = Folder::new();
    tools.program("gcc", "echo; echo 'gcc (Fake) 99.1'; echo more");
    tools.program("g++", "echo on standard error >&2");
    tools.program("ld", "echo 'cannot open' >&2; exit 3");
    tools.program("ar", "");
    tools.program("git", "printf '\\033[31mred\\007 %0300d\\n' 1");
    tools.program("rustc", "echo 'rustc 1.94.0 (abc 2025-01-01)'");
    tools.program("cargo", "echo 'cargo 9.0.0'");
    tools.program("readelf", "echo \"$1 from $PWD in $LC_ALL\"");
    tools.program("odd", "echo odd");
    tools.file("cc", "not executable");
    let (report, code) = report(&[("PATH", tools.path()), ("CXX", "odd -O3")], &["--tool-seconds", "300"]);
    assert_eq!(code, Some(0));
    assert_eq!(found(&report, "gcc"), ("ok", "gcc (Fake) 99.1"));
    assert_eq!(check(&report, "gcc")["at"], tools.0.join("gcc").to_str().expect("UTF-8"));
    assert_eq!(found(&report, "g++"), ("ok", "on standard error"));
    assert_eq!(found(&report, "ld"), ("unusable", "fails with 3: cannot open"));
    assert_eq!(found(&report, "ar"), ("unusable", "prints nothing"));
    assert_eq!(found(&report, "readelf"), ("ok", "--version from / in C"));
    assert_eq!(found(&report, "cc").0, "missing");
    assert_eq!(found(&report, "c++"), ("ok", "odd"));
    let (state, said) = found(&report, "git");
    assert!(state == "ok" && said.starts_with("[31mred 000") && said.len() == 100, "{said}");
    let (state, said) = found(&report, "rustc");
    assert!(state == "unusable" && said.contains("or newer is needed"), "{said}");
    assert_eq!(found(&report, "cargo").0, "ok");
}

#[test]
fn a_tool_that_hangs_is_given_up() {
    let tools = Folder::new();
    tools.program("objcopy", "exec /bin/sleep 600");
    let (report, code) = report(&[("PATH", tools.path())], &["--tool-seconds", "1", "--require", "archive"]);
    assert_eq!((code, found(&report, "objcopy")), (Some(1), ("unusable", "did not answer within 1 s")));
}

#[test]
fn a_compiler_that_a_variable_names_must_be_there() {
    let (report, _) = report(&[("CXX", "no-such-compiler")], &[]);
    assert_eq!(found(&report, "c++"), ("missing", "CXX names no-such-compiler, which is not in PATH"));
    assert_eq!(check(&report, "c++")["mend"], "unset CXX");
}

#[test]
fn a_toolkit_is_found_where_a_build_would_find_it() {
    let (tools, toolkit) = (Folder::new(), Folder::new());
    for name in ["rustc", "cargo", "cc", "c++"] {
        tools.program(name, "echo 2.0.0");
    }
    fs::create_dir(toolkit.0.join("bin")).expect("a folder");
    toolkit.program("bin/nvcc", "echo copyright; echo 'tools, release 13.0, V13.0.88'; echo build");
    let require = ["--require", "cuda", "--tool-seconds", "300"];
    let with = |more: &[(&str, &str)]| report(&[&[("PATH", tools.path())], more].concat(), &require);
    let home = ("CUDA_HOME", toolkit.path());
    // Not yet a toolkit: the runtime is missing. (This machine may have another one, which is then found.)
    let (before, _) = with(&[home, ("KVL_CUDA", "")]);
    assert_ne!(check(&before, "nvcc")["at"], toolkit.0.join("bin/nvcc").to_str().expect("UTF-8"));
    toolkit.file("lib64/libcudart_static.a", "");
    let (after, code) = with(&[home, ("KVL_CUDA", "")]);
    assert_eq!((code, found(&after, "nvcc")), (Some(0), ("ok", "tools, release 13.0, V13.0.88 (by CUDA_HOME)")));
    assert!(after["possible"].as_array().expect("a list").contains(&"cuda".into()), "{}", after["possible"]);
    let (off, code) = with(&[home]);
    assert_eq!((code, check(&off, "nvcc")["mend"].as_str()), (Some(1), Some("unset KVL_CUDA")));
}

#[test]
fn traces_are_looked_for_in_the_layout_of_the_tests() {
    let folder = Folder::new();
    let at = [("KVLEDGER_TRACES", folder.path())];
    let (report_of_none, _) = report(&at, &[]);
    assert_eq!(found(&report_of_none, "KVLEDGER_TRACES").0, "unusable");
    for name in kvledger_harness::doctor::FIGURES {
        folder.file(&format!("replay-expected/{name}.json"), &format!("{{\"path\": \"{name}/t.csv\"}}"));
        folder.file(&format!("traces/{name}/t.csv"), "");
    }
    let (whole, code) = report(&at, &["--require", "traces"]);
    assert_eq!((code, found(&whole, "weka_a")), (Some(0), ("ok", "traces/weka_a/t.csv")));
    fs::remove_dir_all(folder.0.join("traces/weka_a")).expect("it was there");
    let (lacking, code) = report(&at, &["--require", "traces"]);
    assert_eq!((code, &lacking["lacking"]), (Some(1), &serde_json::json!(["weka_a"])));
}

/// Lines are as narrow as is asked for, but for commands, which are to be copied, and single words.
#[test]
fn a_narrow_page_is_narrow() {
    for columns in [30, 40, 60, 100] {
        let output = doctor(&[("COLUMNS", &columns.to_string())], &[]);
        let page = text(&output.stdout);
        assert!(page.contains("self-test"));
        assert!(!page.contains('\u{1b}') && !page.contains(" \n"), "{page}");
        for line in page.lines().filter(|line| line.chars().count() > columns) {
            let line = line.trim_start();
            assert!(line.starts_with("$ ") || !line.contains(' '), "{columns}: {line}");
        }
    }
}

/// Every stage that a check names is one of `.ci/run`, and every stage there needs something.
#[test]
fn stages_are_those_of_the_script() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../.ci/run");
    let script = fs::read_to_string(script).expect("the project's checks");
    let (report, _) = report(&[], &[]);
    let checks = report["checks"].as_array().expect("a list");
    let lists = checks.iter().filter_map(|check| check["stages"].as_array());
    let named: BTreeSet<&str> = lists.flatten().map(|stage| stage.as_str().expect("a name")).collect();
    let functions = script.lines().filter_map(|line| line.strip_prefix("stage_")?.split_once("() {"));
    let stages: BTreeSet<&str> = functions.map(|(name, _)| name).collect();
    assert_eq!(named, stages);
}
