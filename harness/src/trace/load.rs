//! From paths to a trace.

use super::error::{TraceError, excerpt};
use super::format::{Format, KNOWN};
use super::normalise::{Normalise, Rows};
use super::{Trace, azure, generic, lengths, mooncake, servegen, tokens, weka};
use std::fs;
use std::path::{Path, PathBuf};

/// A file that has been read.
struct Source {
    name: String,
    text: String,
}

/// Reads `paths` as one trace: files of one format, one after another, or folders of agent sessions. `id_tokens` is how
/// many tokens an id covers where the format does not fix it. Errors: a file that is missing, is not text, is empty, is of
/// no known format or of another one than the first, or has a row that cannot be read.
pub fn load(paths: &[PathBuf], id_tokens: Option<u32>, normalise: Normalise) -> Result<Trace, TraceError> {
    let mut sources = Vec::new();
    for path in paths {
        if path.is_dir() { read_folder(path, &mut sources)? } else { sources.push(read_file(path)?) }
    }
    let name = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
    collect(&name, sources, id_tokens, normalise)
}

/// Reads a text as if it were a file named `name`.
pub fn load_text(name: &str, text: &str, id_tokens: Option<u32>, normalise: Normalise) -> Result<Trace, TraceError> {
    collect(name, vec![Source { name: name.to_string(), text: text.to_string() }], id_tokens, normalise)
}

fn collect(
    name: &str,
    mut sources: Vec<Source>,
    id_tokens: Option<u32>,
    normalise: Normalise,
) -> Result<Trace, TraceError> {
    let format = common_format(&sources)?;
    if format == Format::Weka {
        // N5: the number of a session is its place among the file names.
        sources.sort_by(|a, b| file_name(&a.name).cmp(file_name(&b.name)));
    }
    let (mut rows, mut zero) = (Rows::default(), None);
    for (number, source) in sources.iter().enumerate() {
        let (file, text) = (source.name.as_str(), source.text.as_str());
        match format {
            Format::Mooncake => mooncake::read(file, text, &mut rows)?,
            Format::Azure => azure::read(file, text, &mut zero, &mut rows)?,
            Format::Lengths => lengths::read(file, text, &mut rows)?,
            Format::Tokens => tokens::read(file, text, &mut rows)?,
            Format::Weka => weka::read(file, text, number as u64, &mut rows)?,
            Format::ServeGen => servegen::read(file, text, &mut rows)?,
            Format::GenericCsv => generic::read_csv(file, text, &mut rows)?,
            Format::GenericJsonl => generic::read_jsonl(file, text, &mut rows)?,
        }
    }
    rows.into_trace(name, format, tokens_of_an_id(format, id_tokens), normalise)
}

fn tokens_of_an_id(format: Format, chosen: Option<u32>) -> u32 {
    match format {
        Format::Mooncake => chosen.unwrap_or(mooncake::ID_TOKENS),
        Format::GenericCsv | Format::GenericJsonl => chosen.unwrap_or(generic::ID_TOKENS),
        Format::Weka => weka::ID_TOKENS,
        Format::Tokens => tokens::ID_TOKENS,
        Format::Azure | Format::Lengths | Format::ServeGen => 1,
    }
}

/// The part of a path after the last separator.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn common_format(sources: &[Source]) -> Result<Format, TraceError> {
    let mut common: Option<Format> = None;
    for source in sources {
        let found = detect(source)?;
        let first = *common.get_or_insert(found);
        if found != first {
            let clash = format!("the format is {found}, that of the files before it is {first}");
            return Err(TraceError::new(&source.name, clash, "give files of one format"));
        }
    }
    common.ok_or_else(|| TraceError::new("no file", "nothing to read", "give at least one"))
}

fn detect(source: &Source) -> Result<Format, TraceError> {
    if source.text.trim().is_empty() {
        return Err(TraceError::new(&source.name, "the file is empty", "give a file with a request in it"));
    }
    Format::detect(&source.text).ok_or_else(|| {
        let first = source.text.trim_start().lines().next().unwrap_or_default();
        TraceError::new(&source.name, format!("the format is unknown: it begins with {}", excerpt(first)), KNOWN)
    })
}

fn read_folder(folder: &Path, sources: &mut Vec<Source>) -> Result<(), TraceError> {
    let shown = folder.display();
    let entries = fs::read_dir(folder)
        .map_err(|error| TraceError::new(shown.to_string(), format!("cannot be listed: {error}"), "check the path"))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| entry.ok()).map(|entry| entry.path()).collect();
    // A folder also has its checksums and its licence: only documents count.
    files.retain(|path| path.is_file() && path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    if files.is_empty() {
        return Err(TraceError::new(
            shown,
            "the folder has no .json file",
            "give a folder of agent sessions, or name the files",
        ));
    }
    for file in files {
        sources.push(read_file(&file)?);
    }
    Ok(())
}

fn read_file(path: &Path) -> Result<Source, TraceError> {
    let name = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| {
        TraceError::new(&name, format!("cannot be read: {error}"), "check the path and its permissions")
    })?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source { name, text: text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text) }),
        Err(error) => {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + valid.iter().filter(|&&byte| byte == b'\n').count();
            Err(TraceError::new(format!("{name}, line {line}"), "found bytes that are not UTF-8", "give a text file"))
        }
    }
}
