//! `kvledger record` and `kvledger rerun` as a user runs them.

use kvledger_core::recorder::HEADER_WORDS;
use kvledger_core::{Admission, Line, Pool, PoolConfig, Step, Stream, entries, lines};
use kvledger_harness::recording;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of this test's own, removed when it is done.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("kvledger-record-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Folder(folder)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn kvledger(args: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } =
        Command::new(env!("CARGO_BIN_EXE_kvledger")).args(args).output().expect("the command starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (status.code().expect("an exit code"), text(stdout), text(stderr))
}

fn json(args: &[&str]) -> serde_json::Value {
    let (code, out, error) = kvledger(args);
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    serde_json::from_str(&out).expect("JSON")
}

#[test]
fn a_replay_made_again_is_the_same_under_every_policy() {
    let folder = Folder::new("policies");
    for (policy, more) in [
        ("full", &["--pool", "400"][..]),
        ("contig", &["--pool", "4000"]),
        ("incremental", &["--pool", "150", "--safety", "2"]),
        ("percentile", &["--pool", "150", "--percentile-tokens", "p50", "--exceed", "preempt_youngest"]),
    ] {
        let file = folder.file(policy);
        let record = [&["record", "--out", &file, "--policy", policy, "--json", "-"], more].concat();
        let recorded = json(&record);
        assert_eq!((&recorded["overwritten_bytes"], &recorded["lost_calls"]), (&0.into(), &0.into()));
        let again = json(&["rerun", &file, "--json", "-"]);
        assert_eq!((&again["differing"], &again["calls"]), (&0.into(), &recorded["calls"]), "{policy}");
        assert!(again["answers"]["admit"]["0"].as_u64().expect("a count") > 50, "{again}");
        // The replay itself is what it is without a ring.
        let plain = json(&[&["replay", "--policy", policy, "--json", "-"], more].concat());
        assert_eq!(plain["sim"][0]["per_request_sha256"], recorded["per_request_sha256"], "{policy}");
    }
}

#[test]
fn a_small_ring_keeps_the_last_calls_for_a_list() {
    let folder = Folder::new("ring");
    let (file, whole) = (folder.file("last"), folder.file("all"));
    let (code, out, error) = kvledger(&["record", "--out", &file, "--ring-kib", "4"]);
    assert_eq!((code, error.as_str()), (0, ""));
    assert!(out.contains("4,096 bytes") && out.contains("--list"), "{out}");
    let (code, _, error) = kvledger(&["rerun", &file]);
    assert!(code == 2 && error.contains("overwritten") && error.contains("--list"), "{error}");
    kvledger(&["record", "--out", &whole]);
    let lines = |file: &str| {
        let (code, out, error) = kvledger(&["rerun", "--list", "--last", "20", file]);
        assert_eq!((code, error.as_str()), (0, ""));
        out.lines().skip(1).map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(lines(&file), lines(&whole));
    assert_eq!(lines(&file).len(), 20);
}

#[test]
fn the_model_is_asked_as_well() {
    let folder = Folder::new("model");
    let file = folder.file("small");
    kvledger(&["record", "--out", &file, "--pool", "200", "--first", "12"]);
    let (code, out, error) = kvledger(&["rerun", "--model", &file]);
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    assert!(out.contains("the model agrees after each"), "{out}");
}

/// Two threads' rings of one pool, used in turn, so that their history is one that there was.
#[test]
fn rings_of_two_threads_are_merged() {
    let folder = Folder::new("merge");
    let config = PoolConfig::new(64, 16, 8, 16);
    let (mut memory, mut table) = (vec![Line::ZERO; lines(&config)], vec![0; entries(&config)]);
    let mut rings = [vec![Line::ZERO; 256], vec![Line::ZERO; 256]];
    {
        let pool = Pool::init(&mut memory, &mut table, &config).expect("valid");
        let handles = rings.each_mut().map(|ring| pool.recording(ring).expect("room"));
        for round in 0..10 {
            let [mine, other] = [&handles[round % 2], &handles[1 - round % 2]];
            let sequence = mine.open().expect("a slot");
            other.admit(sequence, &Admission::full(40, 40)).expect("room");
            let steps = [Step { sequence, tokens: 40 }];
            mine.advance_many(&steps, &mut [0], &mut [0]).expect("long enough");
            let epoch = other.submit(Stream(0)).expect("room");
            mine.end(sequence).expect("mine");
            other.complete(Stream(0), epoch, false).expect("submitted");
        }
    }
    let files = [folder.file("0"), folder.file("1")];
    for (file, ring) in files.iter().zip(&rings) {
        recording::write(Path::new(file), &recording::words(ring)).expect("a file");
    }
    let (code, out, error) = kvledger(&["rerun", "--model", &files[0], &files[1]]);
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    assert!(out.contains("60 calls made again: answers and block ids are the same"), "{out}");
    let (code, _, error) = kvledger(&["rerun", &files[0]]);
    assert!(code == 2 && error.contains("are in none of the dumps"), "{error}");
    let (code, out, error) = kvledger(&["rerun", "--partial", &files[0]]);
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    assert!(out.contains("made again up to where it is whole: 1 calls from ticket 1"), "{out}");
    let (code, _, error) = kvledger(&["rerun", &files[0], &files[1], &files[0]]);
    assert!(code == 2 && error.contains("give each record once"), "{error}");
}

/// Prefixes and publications are in a record, and made again they come to the same.
#[test]
fn a_replay_that_shares_can_be_made_again() {
    let folder = Folder::new("shared");
    for sharing in ["live", "retain"] {
        let file = folder.file(sharing);
        let args = ["--policy", "incremental", "--pool", "1024", "--first", "150", "--group", "idx:2"];
        let (code, _, error) = kvledger(&[&["record", "--out", &file, "--sharing", sharing][..], &args].concat());
        assert_eq!((code, error.as_str()), (0, ""));
        let (code, out, error) = kvledger(&["rerun", &file]);
        assert_eq!((code, error.as_str()), (0, ""), "{out}");
        assert!(out.contains("calls made again: answers and block ids are the same"), "{out}");
        let (_, out, _) = kvledger(&["rerun", "--list", &file]);
        assert!(out.contains(" found\n") && out.contains(" names under epoch "), "{out}");
    }
}

/// Where a dump says how many words were ever written.
const WRITTEN_AT: usize = 16;

#[test]
fn a_changed_answer_is_shown_and_fails() {
    let folder = Folder::new("changed");
    let file = folder.file("record");
    kvledger(&["record", "--out", &file, "--first", "5"]);
    let mut words = recording::read(Path::new(&file)).expect("a file");
    // The promise of the first admission, that is, of the second call: its answer is three words before its footer, and the
    // promise the first half of the first of them.
    let footers = |words: &[u64]| {
        // The ring is as long as the records, up to a line.
        let mut ends = vec![HEADER_WORDS + words[WRITTEN_AT] as usize];
        while let Some(&end) = ends.last().filter(|&&end| end > HEADER_WORDS) {
            ends.push(end - (words[end - 1] >> 32) as usize);
        }
        ends
    };
    let ends = footers(&words);
    let admit = ends[ends.len() - 3..].iter().copied().find(|&end| words[end - 1] as u8 == 2).expect("an admission");
    words[admit - 4] += 1;
    recording::write(Path::new(&file), &words).expect("a file");
    let (code, out, error) = kvledger(&["rerun", &file]);
    assert_eq!(code, 1);
    assert!(out.contains("admit sequence 0/1") && out.contains("now -> OK, "), "{out}");
    assert!(error.contains("1 of ") && error.contains("came to something else"), "{error}");
}

#[test]
fn what_follows_a_record_and_a_record_of_nothing_are_not_passed_over() {
    let folder = Folder::new("joined");
    let (file, joined, empty) = (folder.file("one"), folder.file("two"), folder.file("none"));
    kvledger(&["record", "--out", &file, "--first", "5"]);
    let words = recording::read(Path::new(&file)).expect("a file");
    recording::write(Path::new(&joined), &[words.clone(), words.clone()].concat()).expect("a file");
    let (code, _, error) = kvledger(&["rerun", &joined]);
    assert!(code == 2 && error.contains("bytes follow the record"), "{error}");
    // No word was written yet.
    let mut nothing = words;
    nothing[WRITTEN_AT] = 0;
    recording::write(Path::new(&empty), &nothing).expect("a file");
    let (code, _, error) = kvledger(&["rerun", &empty]);
    assert!(code == 1 && error.contains("nothing is shown"), "{error}");
}

#[test]
fn wrong_flags_and_files_are_refused_before_anything_is_done() {
    let folder = Folder::new("wrong");
    let (out, text) = (folder.file("out"), folder.file("text"));
    std::fs::write(&text, "no record, only text that is longer than a header of a ring would be ".repeat(9))
        .expect("a file");
    for (args, says) in [
        (&["record"][..], "--out"),
        (&["record", "--out", &out, "--policy", "all"], "possible values: contig, full, incremental, percentile]"),
        (&["record", "--out", &out, "--policy", "percentile"], "--percentile-tokens"),
        (&["record", "--out", &out, "--sharing", "off,live"], "one value each"),
        (&["record", "--out", &out, "--group", "one,solo"], "one value each"),
        (&["record", "--out", "-"], "give a file"),
        (&["record", "--out", &out, "--json", &out], "--json"),
        (&["record", "--out", "/no/such/folder/x"], "--out /no/such/folder/x"),
        (&["record", "--out", &text, &text], "overwrite"),
        (&["record", "--out", &out, "--ring-kib", "0"], "--ring-kib"),
        (&["rerun"], "FILE"),
        (&["rerun", &out], "cannot be read"),
        (&["rerun", &text], "no whole record"),
        (&["rerun", "--last", "3", &text], "--list"),
        (&["rerun", "--json", &text, &text], "overwrite"),
        (&["rerun", "--json", "/no/such/folder/x", &text], "--json /no/such/folder/x"),
        (&["verify", "--record", "-"], "--record -"),
        (&["verify", "--record", "/no/such/folder/x"], "--record /no/such/folder/x"),
    ] {
        let (code, stdout, error) = kvledger(args);
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}: {error}");
        assert!(error.contains(says), "{args:?}: {error}");
        assert!(!Path::new(&out).exists(), "{args:?} wrote something");
    }
}
