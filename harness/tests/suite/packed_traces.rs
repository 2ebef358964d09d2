//! Traces packed with gzip, whole, cut off and damaged; and files that are packed with something else.

use super::traces::{BAILIAN, BURSTGPT, Folder, has, parse, read, rows};
use flate2::Compression;
use flate2::write::GzEncoder;
use kvledger_harness::trace::Format;
use std::io::Write;

pub(super) fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn a_folder_of_sessions_may_be_packed_in_part() {
    let session =
        |time: u32| format!("{{\"requests\": [{{\"t\": {time}, \"in\": 64, \"out\": 1, \"hash_ids\": [3]}}]}}");
    let (plain, packed) = (Folder::new(), Folder::new());
    for folder in [&plain, &packed] {
        folder.file("LICENSE", b"not a session");
        folder.file("b.json", session(2).as_bytes());
    }
    plain.file("a.json", session(1).as_bytes());
    plain.file("c.json", session(3).as_bytes());
    packed.file("a.json.gz", &gzip(&session(1)));
    packed.file("c.json.gz", &gzip(&session(3)));
    let (plain, packed) = (read(&plain.0).expect("a trace"), read(&packed.0).expect("a trace"));
    assert_eq!((&plain.requests, plain.origin.files), (&packed.requests, 3));
    assert_eq!((plain.origin.gzip_files, packed.origin.gzip_files), (0, 2));
    assert_eq!(rows(&plain), [(1_000_000, 64, 1), (32_000_000, 64, 1), (63_000_000, 64, 1)]);
    let empty = Folder::new();
    has(&read(&empty.0).expect_err("empty").to_string(), &["no .json or .json.gz file"]);
}

#[test]
fn gzip_is_known_by_what_is_in_it_and_may_have_several_members() {
    let folder = Folder::new();
    let want = parse(BAILIAN).expect("a trace").requests;
    let half = BAILIAN.len() / 2;
    let members = [gzip(&BAILIAN[..half]), gzip(""), gzip(&BAILIAN[half..])].concat();
    for (name, content) in [("t.jsonl.gz", gzip(BAILIAN)), ("t.csv", gzip(BAILIAN)), ("t", members)] {
        let trace = read(&folder.file(name, &content)).expect(name);
        assert_eq!((&trace.requests, trace.format, trace.origin.gzip_files), (&want, Format::Bailian, 1), "{name}");
    }
    let plain = read(&folder.file("plain.gz", BAILIAN.as_bytes())).expect("a name says nothing");
    assert_eq!((plain.requests, plain.origin.gzip_files), (want, 0));
    let marked = gzip(&format!("\u{feff}\r\n{}", BURSTGPT.replace('\n', "\r\n")));
    assert_eq!(read(&folder.file("marked", &marked)).expect("marked").requests.len(), 3);
    has(&read(&folder.file("none.gz", &gzip(""))).expect_err("empty").to_string(), &["the file is empty"]);
}

/// Rows that do not pack well, so that a byte of the packed file is a byte of few rows.
fn many_rows(count: u32) -> String {
    let mut random = kvledger_core::model::Random::new(5);
    let row = |time| format!("{time},{},{}\n", 1 + random.below(1 << 30), 1 + random.below(1 << 30));
    "arrival_us,prompt_tokens,output_tokens\n".to_string() + &(0..count).map(row).collect::<String>()
}

/// The line that a message names.
fn line_of(message: &str) -> usize {
    let (_, rest) = message.split_once(", line ").unwrap_or_else(|| panic!("a line in {message}"));
    rest.split_once(':').and_then(|(line, _)| line.parse().ok()).unwrap_or_else(|| panic!("a line in {message}"))
}

#[test]
fn gzip_that_is_cut_off_or_damaged_is_refused_where_it_ends() {
    let folder = Folder::new();
    let (text, rows) = (many_rows(20_000), 20_000);
    let packed = gzip(&text);
    let refused = |name: &str, content: &[u8]| {
        let path = folder.file(name, content);
        let message = read(&path).expect_err(name).to_string();
        has(&message, &[path.to_str().expect("UTF-8"), "gzip -t"]);
        message
    };
    for share in [2, 3, 4] {
        let message = refused("cut.csv.gz", &packed[..packed.len() / share]);
        has(&message, &["the gzip data is cut off, after ", " bytes of text"]);
        let (line, about) = (line_of(&message), rows / share);
        assert!((about / 2..=about * 2).contains(&line), "line {line} of about {about}");
    }
    // All of the text is there, but not the checksum behind it.
    has(&refused("tail.csv.gz", &packed[..packed.len() - 3]), &["cut off", &format!("line {}", rows + 2)]);
    has(&refused("head.csv.gz", &packed[..7]), &["cut off, after 0 bytes", "line 1"]);
    let mut flipped = packed.clone();
    let middle = flipped.len() / 2;
    flipped[middle..middle + 8].fill(0xff);
    let message = refused("flipped.csv.gz", &flipped);
    assert!(message.contains("damaged") || message.contains("cut off"), "{message}");
    let mut wrong_sum = packed.clone();
    let sum = wrong_sum.len() - 6;
    wrong_sum[sum] ^= 1;
    has(&refused("sum.csv.gz", &wrong_sum), &["damaged", "checksum"]);
    has(&refused("second.csv.gz", &[&packed[..], &packed[..20]].concat()), &["cut off"]);
    has(&refused("garbage.csv.gz", &[&packed[..], b"what is this"].concat()), &["damaged"]);
}

#[test]
fn what_is_no_text_is_named() {
    let folder = Folder::new();
    let cases: &[(&[u8], &[&str])] = &[
        (&[0x28, 0xb5, 0x2f, 0xfd, 1, 2], &["zstd", "unpack it"]),
        (b"PK\x03\x04abc", &["zip"]),
        (b"PAR1abc", &["Parquet"]),
        (&[0xff, 0xfe, b'a', 0], &["UTF-16"]),
        (b"a,b\0c\n1,2\n", &["zero bytes"]),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:3d\nsize 132\n", &["Git LFS", "git lfs pull"]),
    ];
    for (content, words) in cases {
        has(&read(&folder.file("t", content)).expect_err("no text").to_string(), words);
    }
}
