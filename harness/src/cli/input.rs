//! The trace that a command is about: the files that were named, or the sample.

use super::Stop;
use crate::sample;
use crate::trace::{self, Normalise, Trace};
use std::path::PathBuf;

/// Reads `paths`, or the sample if there are none. `id_tokens`: tokens that an id covers where the format does not say.
pub fn read(paths: &[PathBuf], id_tokens: Option<u32>, normalise: Normalise) -> Result<Trace, Stop> {
    let trace = if paths.is_empty() {
        trace::load_text(sample::NAME, sample::TEXT, id_tokens.or(Some(sample::ID_TOKENS)), normalise)
    } else {
        trace::load(paths, id_tokens, normalise)
    };
    trace.map_err(|error| Stop::Usage(error.to_string()))
}

/// What figures call it: the first path, or the sample's name.
pub fn name(paths: &[PathBuf]) -> String {
    paths.first().map_or_else(|| sample::NAME.to_string(), |path| path.display().to_string())
}
