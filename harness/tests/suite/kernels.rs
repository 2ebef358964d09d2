//! `kvledger verify --device` as a user runs it. That it finds a wrong kernel is shown with kernels that make mistakes on
//! purpose (`.ci/run`), because no flag can plant one.

use serde_json::Value;
use std::process::{Command, Output};

fn verify(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kvledger"));
    command.args(["verify", "--device", "cpu"]).args(args).env_remove("COLUMNS").output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What every change must pass: all kernels, every published fault, and some hundred random cases.
#[test]
fn every_kernel_is_right_on_the_cpu_device() {
    let output = verify(&["--seed", "1"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}{}", text(&output.stderr));
    assert!(output.stderr.is_empty(), "quiet in a pipe");
    let mut lines = said.lines();
    let first = lines.next().expect("a line");
    assert!(first.starts_with("verify: 1,5") && first.contains(" cases on CPU device, seed 1, "), "{first}");
    for kernel in ["append", "attend", "merge", "merge_two", "gather", "copy_blocks", "fill", "checksum", "rewrite"] {
        let line = said.lines().find(|line| line.starts_with(&format!("{kernel} "))).expect(kernel);
        assert!(line.ends_with(" 0"), "{line}");
    }
}

#[test]
fn a_kernel_and_a_seed_can_be_asked_for() {
    let output = verify(&["--kernel", "rewrite,fill", "--cases", "3", "--seed", "9", "--threads", "1", "--json", "-"]);
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{}", text(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&document["device"], &document["seed"], &document["right"]), (&"cpu".into(), &9.into(), &true.into()));
    let kernels = document["kernels"].as_array().expect("an array");
    let names: Vec<_> = kernels.iter().map(|kernel| kernel["kernel"].as_str()).collect();
    assert_eq!(names, [Some("fill"), Some("rewrite")]);
    assert!(kernels.iter().all(|kernel| kernel["cases"] == 3 && kernel["wrong"] == serde_json::json!([])));
}

#[test]
fn only_published_faults_are_run_where_no_case_is_asked_for() {
    let output = verify(&["--cases", "0", "--json", "-"]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let kernels = document["kernels"].as_array().expect("an array");
    let sum = |name: &str| kernels.iter().filter_map(|kernel| kernel[name].as_u64()).sum::<u64>();
    assert_eq!((sum("cases"), sum("reports")), (13, 13));
}

#[test]
fn a_table_fits_a_narrow_terminal() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kvledger"));
    let args = ["verify", "--device", "cpu", "--kernel", "fill", "--cases", "1", "--seed", "1"];
    let output = command.args(args).env("COLUMNS", "40").output().expect("the command starts");
    let said = text(&output.stdout);
    assert!(said.lines().skip(1).all(|line| line.chars().count() <= 40), "{said}");
}

#[test]
fn flags_that_do_not_go_together_are_refused() {
    let refused = |args: &[&str], names: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_kvledger")).arg("verify").args(args).output().expect("it starts");
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(names), "{args:?}: {said}");
    };
    refused(&["--device", "cpu", "--operations", "5"], "--operations");
    refused(&["--device", "cpu", "--record", "x.kvl"], "--record");
    refused(&["--kernel", "fill"], "--device");
    refused(&["--cases", "5"], "--device");
    refused(&["--device", "cpu", "--kernel", "decode"], "give some of append, attend");
    refused(&["--device", "cpu", "--kernel", "fill,merge", "--cases", "0"], "--cases 0");
    refused(&["--device", "tpu"], "cpu, cuda");
    refused(&["--device", "cpu", "--json", "no/such/folder/x.json"], "give a file in a folder that is there");
}

fn profile(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kvledger"));
    command.arg("profile").args(args).env_remove("COLUMNS").output().expect("the command starts")
}

/// The counts are exact: no bank conflict, at most two barriers a tile, keys and values read once.
#[test]
fn what_kernels_move_is_within_its_limits() {
    let output = profile(&["--json", "-"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let shapes = document["shapes"].as_array().expect("an array");
    assert!(shapes.len() > 20 && document["copy_bytes_per_second"].is_null());
    for shape in shapes {
        let counted = &shape["counted"];
        assert_eq!(counted["bank_conflicts"], 0, "{shape}");
        assert!(counted["loaded_bytes"].as_u64().is_some() && shape["faults"] == serde_json::json!([]), "{shape}");
        if shape["kernel"] == "attend" {
            assert!(counted["matrix_loads"].as_u64() > Some(0) || shape["shape"] == "decode-fp8", "{shape}");
            assert!(
                counted["barriers_per_tile"].as_f64().is_some_and(|number| number > 0.9 && number <= 2.0),
                "{shape}"
            );
        }
    }
    assert_eq!(output.stdout, profile(&["--json", "-"]).stdout, "exact, so the same every time");
}

#[test]
fn shapes_are_listed_chosen_and_launched_once() {
    let list = text(&profile(&["--shape", "list"]).stdout);
    assert!(list.contains("decode-32x4k") && list.contains("checksum-256x2m"), "{list}");
    let output = profile(&["--shape", "append-64,decode-1x1k"]);
    let said = text(&output.stdout);
    assert!(output.status.success() && said.contains("append-64") && !said.contains("copy-64x2m"), "{said}");
    let once = profile(&["--shape", "decode-ragged", "--once"]);
    assert_eq!((once.status.code(), once.stdout.len(), once.stderr.len()), (Some(0), 0, 0));
    let narrow = Command::new(env!("CARGO_BIN_EXE_kvledger"))
        .args(["profile", "--kernel", "fill"])
        .env("COLUMNS", "40")
        .output()
        .expect("it starts");
    assert!(text(&narrow.stdout).lines().all(|line| line.chars().count() <= 40), "{}", text(&narrow.stdout));
}

#[test]
fn what_cannot_be_profiled_is_refused() {
    for (args, names) in [
        (&["--shape", "decode-9x9"][..], "--shape list"),
        (&["--kernel", "rewrite"], "it has no shape"),
        (&["--once"], "--shape"),
        (&["--shape", "append-64,append-8k", "--once"], "give one --shape"),
        (&["--json", "no/such/folder/x.json"], "give a file in a folder that is there"),
    ] {
        let output = profile(args);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(names), "{args:?}: {said}");
    }
    if kvledger_cuda::Cuda::open(0).is_err() {
        for command in ["profile", "verify"] {
            let output = Command::new(env!("CARGO_BIN_EXE_kvledger"))
                .args([command, "--device", "cuda"])
                .output()
                .expect("it starts");
            assert_eq!(output.status.code(), Some(2));
            assert!(text(&output.stderr).contains("--device cuda: "), "{}", text(&output.stderr));
        }
    }
}

fn replay(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kvledger"));
    command.args(["replay", "--device", "cpu"]).args(args).env_remove("COLUMNS").output().expect("the command starts")
}

/// Real keys, values and attention over the pool's rows, two streams at their own pace, blocks that change hands.
#[test]
fn a_trace_is_served_on_the_cpu_device_and_every_result_is_right() {
    let output = replay(&["--first", "12", "--device-output", "6", "--sharing", "live", "--json", "-"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let number = |name: &str| document[name].as_u64().unwrap_or_else(|| panic!("{name} in {document}"));
    assert_eq!((number("requests"), number("rejected"), &document["sharing"]), (12, 0, &"live".into()));
    assert!(number("compared_rows") >= 12 * 6 * 3 && document["error_share"].as_f64().is_some_and(|share| share < 1.0));
    assert!(number("blocks_taken") > number("blocks_distinct") && number("blocks_retired") > 0, "{document}");
    let said = text(&replay(&["--first", "3", "--device-output", "2"]).stdout);
    assert!(said.contains("rows compared, all right") && said.contains("the sample, served by"), "{said}");
}

#[test]
fn what_cannot_be_served_is_refused() {
    for (args, names) in [
        (&["--policy", "incremental"][..], "give `full`"),
        (&["--sharing", "off,live"], "one value each"),
        (&["--audit"], "--audit"),
        (&["--pool", "2"], "--pool"),
        (&["no/such/trace.jsonl"], "no/such/trace.jsonl"),
        (&["--json", "no/such/folder/x.json"], "give a file in a folder that is there"),
    ] {
        let output = replay(args);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(names), "{args:?}: {said}");
    }
    let alone = Command::new(env!("CARGO_BIN_EXE_kvledger")).args(["replay", "--device-output", "3"]).output();
    assert_eq!(alone.expect("it starts").status.code(), Some(2));
}

/// `harness/device.sh` where there is no GPU: the same steps, so that it works when somebody has one.
#[cfg(unix)]
#[test]
fn the_script_for_a_gpu_machine_runs_dry() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/device.sh");
    let out = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("device-results");
    let peers = out.join("peers");
    std::fs::create_dir_all(&peers).expect("a folder for the test");
    for (name, text) in [("writes", "#!/bin/sh\necho '{}' > \"$1\"\n"), ("fails", "#!/bin/sh\necho no; exit 3\n")] {
        use std::os::unix::fs::PermissionsExt;
        let file = peers.join(format!("{name}.sh"));
        std::fs::write(&file, text).expect("a file for the test");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    let run = |args: &[&str], peers: Option<&std::path::Path>| {
        let mut command = Command::new("bash");
        command.arg(script).args(args).env("KVLEDGER", env!("CARGO_BIN_EXE_kvledger")).env("OUT", &out);
        peers.map(|peers| command.env("KVL_PEERS", peers));
        command.env_remove("COLUMNS").output().expect("bash starts")
    };
    let output = run(&["--dry-run"], None);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    for name in ["verify.json", "profile.json"] {
        let document: Value = serde_json::from_slice(&std::fs::read(out.join(name)).expect(name)).expect("JSON");
        assert_eq!(document["device"], "cpu");
    }
    // A step that fails is told, and the others are done all the same.
    let output = run(&["--dry-run"], Some(&peers));
    let said = text(&output.stdout);
    assert!(output.status.code() == Some(1) && said.contains("failed (3): no"), "{said}");
    assert!(out.join("peer-writes.json").exists() && said.contains("append-64"), "{said}");
    assert_eq!(run(&["--dry"], None).status.code(), Some(2));
}
