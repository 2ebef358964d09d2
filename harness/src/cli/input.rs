//! The trace that a command is about: the files that were named, or the sample.

use super::Stop;
use crate::sample;
use crate::trace::{self, Loading, Normalise, Trace};
use std::path::PathBuf;

/// What commands that read a trace say about formats. A macro, so that they can put more behind it.
macro_rules! formats {
    () => {
        "\
Trace formats, recognised by what is in the file, packed with gzip or not:
  Mooncake JSONL    timestamp (ms), input_length, output_length, hash_ids (512 tokens each; optional)
  Bailian JSONL     the same with timestamp in s and ids of 16 tokens; chat_id, parent_chat_id
  Azure CSV         TIMESTAMP (date, up to 7 decimals, offset of the zone), ContextTokens, GeneratedTokens
  BurstGPT CSV      Timestamp (s), Request tokens, Response tokens, Session ID (optional)
  lengths CSV       num_prefill_tokens, num_decode_tokens (request i arrives at i * 100 ms)
  token JSONL       arrival_time_ns, input_toks, output_toks, input_tok_ids (1 token each), output_tok_ids; a list may
                    stand in place of its length
  ServeGen CSV      arrival_us, client, input_tokens, output_tokens
  agent sessions    a folder of .json or .json.gz, 64 MiB of text each at most, with requests[]: t (s), in, out, hash_ids;
                    block_size (64)
  generic           CSV with a header, or JSONL, with the same names: prompt_tokens, output_tokens, and one of
                    arrival_s, arrival_ms, arrival_us, arrival_ns (decimals); optional: ids (JSON list, or separated
                    by spaces in CSV; 512 tokens each), tenant (whole number)
Ids cover as many tokens as --ids-block-tokens says, or block_size in lines of Mooncake, Bailian and generic traces.
Columns and keys may stand in any order, others are passed over, and CSV cells may be quoted. Token counts are whole
numbers from 0 to 2147483647; rows without prompt or output tokens are dropped and counted."
    };
}
pub(super) use formats;

/// Reads `paths`, or the sample if there are none. `id_tokens`: tokens that an id covers where the format does not say.
pub fn read(paths: &[PathBuf], id_tokens: Option<u32>, normalise: Normalise) -> Result<Trace, Stop> {
    read_as(paths, &Loading { format: None, id_tokens, normalise })
}

/// The same, by all that can be chosen.
pub fn read_as(paths: &[PathBuf], loading: &Loading) -> Result<Trace, Stop> {
    let trace = if paths.is_empty() {
        let id_tokens = loading.id_tokens.or(Some(sample::ID_TOKENS));
        trace::load_text(sample::NAME, sample::TEXT, id_tokens, loading.normalise)
    } else {
        trace::load_with(paths, loading)
    };
    trace.map_err(|error| Stop::Usage(error.to_string()))
}

/// What figures call it: the first path, or the sample's name.
pub fn name(paths: &[PathBuf]) -> String {
    paths.first().map_or_else(|| sample::NAME.to_string(), |path| path.display().to_string())
}
