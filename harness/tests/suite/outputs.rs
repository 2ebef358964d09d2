//! What a command writes: never over what it reads, and never twice to one file, by whatever names.

use super::command::text;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

const TRACE: &str = "num_prefill_tokens,num_decode_tokens\n10,7\n9,9\n";
const CONFIG: &str =
    r#"{"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "torch_dtype": "float16"}"#;
const SESSION: &str = r#"{"block_size": 4, "requests": [{"t": 0, "in": 8, "out": 1, "hash_ids": [1, 2]}]}"#;

/// A folder that is gone when the test is.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("kvledger-outputs-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(folder.join("sessions")).expect("a folder");
        fs::write(folder.join("t.csv"), TRACE).expect("a trace");
        fs::write(folder.join("config.json"), CONFIG).expect("a config");
        fs::write(folder.join("sessions/a.json"), SESSION).expect("a session");
        for (file, name) in [("t.csv", "hard"), ("config.json", "hard.json"), ("sessions/a.json", "hard-session")] {
            fs::hard_link(folder.join(file), folder.join(name)).expect("a hard link");
        }
        symlink("t.csv", folder.join("soft")).expect("a link");
        symlink("new", folder.join("to-new")).expect("a link");
        Folder(folder)
    }

    /// Exit code and message of `kvledger` with `arguments`, run there with `t.csv` on standard input.
    fn run(&self, arguments: &str) -> (Option<i32>, String) {
        let input = fs::File::open(self.0.join("t.csv")).expect("the trace");
        let output = Command::new(env!("CARGO_BIN_EXE_kvledger"))
            .args(arguments.split(' '))
            .current_dir(&self.0)
            .stdin(Stdio::from(input))
            .output()
            .expect("it starts");
        (output.status.code(), text(&output.stderr).to_string())
    }

    fn has(&self, name: &str) -> bool {
        self.0.join(name).exists()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Gone already is just as well.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn an_input_is_overwritten_by_none_of_its_names() {
    let folder = Folder::new();
    for arguments in [
        "trace t.csv --json t.csv",
        "trace t.csv --json ./sessions/../t.csv",
        "trace t.csv --svg soft",
        "trace t.csv --json hard",
        "trace hard --svg t.csv",
        "trace - --json hard",
        "trace - --json t.csv",
        "trace sessions --json sessions/a.json",
        "trace sessions --json hard-session",
        "replay t.csv --policy full --json hard",
        "record t.csv --policy full --out hard",
        "plan --model config.json --gpu-memory 1GiB --json hard.json",
        "plan --model . --gpu-memory 1GiB --json ./config.json",
        "plan --model . --gpu-memory 1GiB --trace t.csv --json hard",
        "bench report t.csv --svg hard",
        "bench report missing --against t.csv --svg hard",
    ] {
        let (code, message) = folder.run(arguments);
        assert_eq!(code, Some(2), "{arguments}: {message}");
        assert!(message.contains("that would overwrite the input"), "{arguments}: {message}");
    }
    for (name, want) in [("t.csv", TRACE), ("config.json", CONFIG), ("sessions/a.json", SESSION)] {
        assert_eq!(fs::read_to_string(folder.0.join(name)).expect("it is there"), want);
    }
}

/// A device without an end is given up; a pipe is read.
#[test]
fn a_config_is_read_up_to_a_length() {
    let folder = Folder::new();
    let (code, message) = folder.run("plan --model /dev/zero --gpu-memory 1GiB");
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("/dev/zero: is longer than 67108864 bytes; give a model's config.json"), "{message}");
    let (code, message) = folder.run("plan --model /dev/stdin --gpu-memory 1GiB");
    assert_eq!((code, message.contains("no JSON")), (Some(2), true), "what comes from there is read: {message}");
}

#[test]
fn two_outputs_are_two_files() {
    let folder = Folder::new();
    for (one, other) in
        [("-", "-"), ("o", "o"), ("o", "./o"), ("sessions/../o", "o"), ("new", "to-new"), ("hard", "soft")]
    {
        let (code, message) = folder.run(&format!("trace --json {one} --svg {other}"));
        assert_eq!(code, Some(2), "{one} {other}: {message}");
        assert!(message.contains("--json and --svg: both are"), "{message}");
    }
    let (code, message) = folder.run("bench report missing --svg o --into ./o");
    assert_eq!((code, message.contains("--svg and --into: both are")), (Some(2), true), "{message}");
    assert!(!folder.has("o") && !folder.has("new"), "nothing is done before all flags are valid");
    for (one, other) in [("o", "sessions/o"), ("-", "o"), ("/dev/null", "/dev/null"), ("to-new", "o"), ("new", "hard")]
    {
        assert_eq!(folder.run(&format!("trace --json {one} --svg {other}")), (Some(0), String::new()));
    }
    assert!(Path::new(&folder.0.join("new")).is_file());
}
