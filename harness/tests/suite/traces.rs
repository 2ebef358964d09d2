//! Trace formats as they are published, with marks and quotes, with ids of any size: good rows and bad ones.

use super::packed_traces::gzip;
use kvledger_harness::trace::{
    Format, IdTokensFrom, Loading, Normalise, Reason, Trace, TraceError, load, load_text, load_with,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that is gone when the test is.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new() -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("kvledger-traces-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    pub(super) fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).expect("a file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Gone already is just as well.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(super) fn read(path: &Path) -> Result<Trace, TraceError> {
    load(&[path.to_path_buf()], None, Normalise::default())
}

pub(super) fn parse(text: &str) -> Result<Trace, TraceError> {
    load_text("t", text, None, Normalise::default())
}

/// `(arrival_us, prompt, output)` of each request.
pub(super) fn rows(trace: &Trace) -> Vec<(u64, u32, u32)> {
    trace.requests.iter().map(|request| (request.arrival_us, request.prompt, request.output)).collect()
}

fn refused(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

pub(super) fn has(message: &str, words: &[&str]) {
    for word in words {
        assert!(message.contains(word), "{word} in {message}");
    }
}

const AZURE: &str = "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00.009930+00:00,2162,5\n\
                     2024-05-10 00:00:01+00:00,2399,6\n2024-05-10 02:00:01.5+02:00,76,15\n";
pub(super) const BURSTGPT: &str = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n\
                        19440110.0,a-1,43,GPT-4,906,446,1352,Conversation log\n\
                        19440110.5,,2,ChatGPT,36,0,36,API log\n\
                        19440111.25,a-2,2,ChatGPT,36,29,65,Conversation log\n\
                        19440112.0,a-1,8,GPT-4,1779,123,1902,Conversation log\n";
pub(super) const BAILIAN: &str = "\
{\"chat_id\": 159, \"parent_chat_id\": -1, \"timestamp\": 61.114, \"input_length\": 33, \"output_length\": 1, \
\"type\": \"text\", \"turn\": 1, \"hash_ids\": [7, 8, 9]}
{\"chat_id\": 160, \"parent_chat_id\": -1, \"timestamp\": 61.2, \"input_length\": 5, \"output_length\": 2, \"hash_ids\": [1]}
{\"chat_id\": 161, \"parent_chat_id\": 159, \"timestamp\": 70, \"input_length\": 49, \"output_length\": 3, \
\"turn\": 2, \"hash_ids\": [7, 8, 10, 11]}
{\"chat_id\": 162, \"parent_chat_id\": 161, \"timestamp\": 80.0, \"input_length\": 16, \"output_length\": 4, \"hash_ids\": [7]}
";

#[test]
fn azure_of_2024_has_offsets_and_other_digits() {
    let trace = parse(AZURE).expect("a trace");
    assert_eq!(trace.format, Format::Azure);
    assert_eq!(rows(&trace), [(0, 2162, 5), (990_070, 2399, 6), (1_490_070, 76, 15)]);
    has(
        &refused("TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00+25:00,1,1\n"),
        &["line 2", "`TIMESTAMP`"],
    );
}

#[test]
fn burstgpt_drops_failures_and_knows_sessions() {
    let trace = parse(BURSTGPT).expect("a trace");
    assert_eq!(trace.format, Format::BurstGpt);
    let times = [19_440_110_000_000, 19_440_111_250_000, 19_440_112_000_000];
    assert_eq!(rows(&trace), [(times[0], 906, 446), (times[1], 36, 29), (times[2], 1779, 123)]);
    let sessions: Vec<_> = trace.requests.iter().map(|request| request.session).collect();
    assert_eq!(sessions, [Some(0), Some(1), Some(0)]);
    let dropped = &trace.origin.dropped;
    assert_eq!((dropped.len(), dropped[0].reason, dropped[0].rows), (1, Reason::NoOutput, 1));
    assert_eq!((dropped[0].first.as_str(), trace.origin.rows), ("t, line 3", 4));
    let old = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,API log\n";
    assert_eq!(rows(&parse(old).expect("a trace")), [(5_000_000, 472, 18)]);
    has(&refused(&old.replace("472", "many")), &["t, line 2", "`Request tokens`", "`many`"]);
}

#[test]
fn bailian_has_seconds_ids_of_16_and_chats() {
    let trace = parse(BAILIAN).expect("a trace");
    assert_eq!((trace.format, trace.id_tokens), (Format::Bailian, 16));
    assert_eq!(rows(&trace)[..2], [(61_114_000, 33, 1), (61_200_000, 5, 2)]);
    let sessions: Vec<_> = trace.requests.iter().map(|request| request.session).collect();
    assert_eq!(sessions, [Some(0), Some(1), Some(0), Some(0)], "a reply to a reply is of the same session");
    assert_eq!(trace.ids(&trace.requests[2]), [7, 8, 10, 11]);
    has(
        &refused(&BAILIAN.replace("\"parent_chat_id\": 159", "\"parent_chat_id\": -2")),
        &["line 3", "`parent_chat_id`"],
    );
    // Children of one parent that was cut away are one conversation.
    let cut: String = BAILIAN.lines().skip(2).map(|line| format!("{line}\n")).collect();
    assert_eq!(parse(&cut).expect("a trace").requests[1].session, Some(0));
}

#[test]
fn tokens_come_as_lists_as_lengths_or_as_both_that_agree() {
    let line = |rest: &str| format!("{{\"arrival_time_ns\": 1999, {rest}}}\n");
    let both = line("\"input_toks\": 3, \"output_toks\": 2, \"input_tok_ids\": [5, 6, 5], \"output_tok_ids\": [1, 1]");
    let trace = parse(&(both.clone() + &line("\"input_tok_ids\": [5, 6], \"output_toks\": 4"))).expect("a trace");
    assert_eq!((trace.format, trace.id_tokens), (Format::Tokens, 1));
    assert_eq!(rows(&trace), [(1, 3, 2), (1, 2, 4)]);
    assert_eq!(trace.ids(&trace.requests[0]), [5, 6, 5]);
    assert_eq!(rows(&parse(&line("\"input_toks\": 3, \"output_toks\": 2")).expect("a trace")), [(1, 3, 2)]);
    let message = refused(&(both.clone() + &both.replace("\"input_toks\": 3", "\"input_toks\": 4")));
    has(&message, &["t, line 2", "field `input_toks`: found `4`, but `input_tok_ids` has 3 ids; give as many ids"]);
    has(&refused(&both.replace("[1, 1]", "[1]")), &["t, line 1", "`output_toks`: found `2`", "`output_tok_ids` has 1"]);
    has(&refused(&line("\"input_tok_ids\": [5]")), &["there is no `output_toks`"]);
    has(&refused(&line("\"input_tok_ids\": [5, -1], \"output_toks\": 1")), &["`input_tok_ids`", "`-1`"]);
    assert_eq!(
        parse(&line("\"input_tok_ids\": [], \"output_toks\": 1"))
            .expect_err("no prompt")
            .to_string()
            .matches("1 without")
            .count(),
        1
    );
}

#[test]
fn sessions_say_the_size_of_their_ids_and_keep_them_apart() {
    let session = |size: &str, ids: &str| {
        format!("{{{size} \"requests\": [{{\"t\": 1.5, \"in\": 100, \"out\": 9, \"hash_ids\": {ids}}}]}}\n")
    };
    let usual = parse(&session("", "[1, 2]")).expect("a trace");
    assert_eq!((usual.id_tokens, usual.ids(&usual.requests[0])), (64, &[1][..]), "only ids that are whole");
    let fine = parse(&session("\"block_size\": 32,", "[1, 2, 3, 4]")).expect("a trace");
    assert_eq!((fine.id_tokens, fine.origin.id_tokens_from), (32, IdTokensFrom::File));
    assert_eq!(fine.ids(&fine.requests[0]), [1, 2, 3]);
    // Several documents in one file are several sessions.
    let two = parse(&(session("", "[1]") + &session("", "[1]"))).expect("a trace");
    assert_eq!(two.ids(&two.requests[1]), [(1 << 32) + 1]);
    assert_eq!((two.requests[1].tenant, two.requests[1].arrival_us), (1, 31_500_000));
    let mixed = session("\"block_size\": 32,", "[1]") + &session("\"block_size\": 64,", "[1]");
    has(&refused(&mixed), &["t, line 2", "`block_size`", "`64`", "t, line 1 says 32"]);
    has(&refused(&session("", "[4294967296]")), &["`hash_ids`", "below 2^32"]);
    has(&refused(&session("\"hash_id_scope\": \"global\",", "[1]")), &["`hash_id_scope`", "local"]);
    has(&refused("{\"requests\": [{\"t\": 0, \"in\": 4}]}"), &["no `out`"]);
}

#[test]
fn an_unknown_format_says_what_was_looked_for_and_how_to_name_one() {
    let message = refused("time,in,out\n1,2,3\n");
    has(&message, &["t: the format is unknown: it begins with `time,in,out`", "--format", "Timestamp,Request tokens"]);
    let unknown = "{\"timestamp\": 4, \"input_length\": 1}\n";
    has(&refused(unknown), &["the format is unknown", "chat_id"]);
    let named = |format: &str, text: &str| {
        let folder = Folder::new();
        let loading = Loading { format: Some(format.parse().expect(format)), ..Loading::default() };
        load_with(&[folder.file("t", text.as_bytes())], &loading)
    };
    // Named, its rows are read as such, and say what they lack.
    has(&named("mooncake", unknown).expect_err("no output").to_string(), &["line 1: there is no `output_length`"]);
    has(&named("burstgpt", "a,b\n1,2\n").expect_err("no column").to_string(), &["there is no column `Timestamp`"]);
    has(&named("tokens", "a,b\n1,2\n").expect_err("no JSON").to_string(), &["line 1", "give one JSON object a line"]);
    // Bailian's lines without chats are Mooncake's by their names, but not by their times.
    let line = "{\"timestamp\": 4, \"input_length\": 1, \"output_length\": 1, \"chat_id\": 3}\n";
    assert_eq!(rows(&named("mooncake", line).expect("a trace")), [(4_000, 1, 1)]);
    assert!(named("mooncake", line).expect("a trace").origin.format_named);
    let (csv, jsonl) = (
        "arrival_s,prompt_tokens,output_tokens\n1,2,3\n",
        "{\"arrival_s\": 1, \"prompt_tokens\": 2, \"output_tokens\": 3}\n",
    );
    for text in [csv, jsonl] {
        assert_eq!(rows(&named("generic", text).expect("a trace")), [(1_000_000, 2, 3)]);
    }
}

#[test]
fn ids_cover_what_the_file_the_flag_or_the_format_says() {
    let text = |size: &str| {
        format!("{{\"timestamp\": 0, \"input_length\": 40, \"output_length\": 1, \"hash_ids\": [1, 2, 3]{size}}}\n")
    };
    let sized = |text: &str, flag| load_text("t", text, flag, Normalise::default());
    let found = |text: &str, flag| sized(text, flag).map(|trace| (trace.id_tokens, trace.origin.id_tokens_from));
    assert_eq!(found(&text(""), None), Ok((512, IdTokensFrom::Format)));
    assert_eq!(found(&text(""), Some(16)), Ok((16, IdTokensFrom::Flag)));
    assert_eq!(found(&text(", \"block_size\": 16"), None), Ok((16, IdTokensFrom::File)));
    assert_eq!(found(&text(", \"block_size\": 16"), Some(16)), Ok((16, IdTokensFrom::File)));
    let message = found(&text(", \"block_size\": 16"), Some(64)).expect_err("both").to_string();
    has(&message, &["t, line 1 says 16 tokens an id, --ids-block-tokens 64", "leave --ids-block-tokens out"]);
    let message = found(&(text(", \"block_size\": 16") + &text(", \"block_size\": 32")), None).expect_err("two");
    has(&message.to_string(), &["line 2", "`block_size`", "`32`", "line 1 says 16"]);
    let csv = "arrival_us,prompt_tokens,output_tokens,ids,block_size\n0,40,1,1 2,\n1,40,1,3 4,20\n";
    assert_eq!(found(csv, None), Ok((20, IdTokensFrom::File)));
    let tokens = "{\"arrival_time_ns\": 1, \"input_tok_ids\": [1], \"output_toks\": 1}\n";
    has(&found(tokens, Some(16)).expect_err("tokens").to_string(), &["the format has 1 tokens an id"]);
    // A wrong size shows in how ids and prompts go together.
    let ids = |flag| sized(&text(""), flag).expect("a trace").origin.ids;
    assert_eq!((ids(Some(16)).too_many, ids(Some(16)).too_few), (0, 0));
    assert_eq!((ids(None).too_many, ids(Some(8)).too_few), (1, 1));
    assert_eq!(sized(&text(""), None).expect("a trace").ids(&parse(&text("")).expect("a trace").requests[0]), [1]);
}

#[test]
fn generic_columns_stand_in_any_order_with_marks_quotes_and_blank_ends() {
    let plain = "arrival_us,prompt_tokens,output_tokens,ids,tenant\n5,10,2,1 2,3\n7,11,3,,\n";
    let odd = "\u{feff}\"tenant\",\"text\",\"output_tokens\",\"ids\",prompt_tokens,arrival_us\r\n\
               3,\"a, \"\"b\"\"\r\nc\",2,\"1 2\", 10 ,5\r\n,,3,,\"11\",7\r\n\r\n  \r\n";
    let (plain, odd) = (parse(plain).expect("plain"), parse(odd).expect("odd"));
    assert_eq!(plain.requests, odd.requests);
    assert_eq!(plain.ids(&plain.requests[0]), odd.ids(&odd.requests[0]));
    has(&refused("arrival_us,prompt_tokens,output_tokens\n5,\"10,2\n"), &["line 2", "a quote is never closed"]);
    let two = "{\"arrival_us\": 1, \"prompt_tokens\": 1, \"output_tokens\": 1}\n\
               {\"arrival_us\": 1, \"arrival_s\": 1, \"prompt_tokens\": 1, \"output_tokens\": 1}\n";
    has(&refused(two), &["line 2", "`arrival_s`", "`arrival_us` as well"]);
    has(
        &refused("{\"arrival_us\": 1, \"prompt_tokens\": 1, \"output_tokens\": 1}\n{}\n"),
        &["line 2", "no `arrival_us`"],
    );
}

#[test]
fn files_of_one_format_are_one_trace_packed_or_not() {
    let folder = Folder::new();
    let line = |time: u32| format!("{{\"timestamp\": {time}, \"input_length\": 4, \"output_length\": 1}}\n");
    let (first, second) = (folder.file("1", line(9).as_bytes()), folder.file("2", &gzip(&line(3))));
    let trace = load(&[first.clone(), second], None, Normalise::default()).expect("a trace");
    assert_eq!(rows(&trace), [(3_000, 4, 1), (9_000, 4, 1)]);
    assert_eq!((trace.origin.files, trace.origin.gzip_files), (2, 1));
    let other = folder.file("3", BURSTGPT.as_bytes());
    let message = load(&[first, other.clone()], None, Normalise::default()).expect_err("two formats").to_string();
    has(&message, &[other.to_str().expect("UTF-8"), "burstgpt", "mooncake", "one format"]);
    // What was dropped is said with the first file that it was in.
    let dropped = folder.file("4", b"num_prefill_tokens,num_decode_tokens\n5,0\n1,1\n0,0\n0,9\n9,0\n");
    let trace = read(&dropped).expect("a trace");
    let found: Vec<_> = trace.origin.dropped.iter().map(|found| (found.reason, found.rows)).collect();
    assert_eq!(found, [(Reason::NoPrompt, 1), (Reason::NoOutput, 2), (Reason::NoTokens, 1)]);
    assert_eq!(trace.origin.dropped[1].first, format!("{}, line 2", dropped.display()));
    assert_eq!((trace.dropped_rows, trace.origin.rows), (4, 5));
}
