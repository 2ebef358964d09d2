//! From paths to a trace.

use super::error::{TraceError, excerpt};
use super::format::{Format, KNOWN};
use super::normalise::Normalise;
use super::origin::{IdTokensFrom, Origin};
use super::rows::Rows;
use super::source::Source;
use super::{Trace, azure, bailian, burstgpt, generic, lengths, mooncake, servegen, tokens, weka};
use std::fs;
use std::path::{Path, PathBuf};

/// How paths are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Loading {
    /// The format, if it is named; otherwise it is found.
    pub format: Option<Format>,
    /// How many tokens an id covers, if neither the format nor the file says so.
    pub id_tokens: Option<u32>,
    /// What is made of the rows.
    pub normalise: Normalise,
}

/// What a Git LFS pointer, which stands where a large file should be, begins with.
const LFS_POINTER: &str = "version https://git-lfs";

/// [`load_with`], the format found by itself.
pub fn load(paths: &[PathBuf], id_tokens: Option<u32>, normalise: Normalise) -> Result<Trace, TraceError> {
    load_with(paths, &Loading { format: None, id_tokens, normalise })
}

/// Reads `paths` as one trace: files of one format, one after another, packed with gzip or not, `-` for standard input, or
/// folders of agent sessions. Errors: a file that is missing, is not text, is empty, is cut off, is of no known format or of
/// another one than the first, or has a row that cannot be read.
pub fn load_with(paths: &[PathBuf], loading: &Loading) -> Result<Trace, TraceError> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() { list_folder(path, &mut files)? } else { files.push(path.clone()) }
    }
    let name = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
    let Some(first) = files.first() else {
        return Err(TraceError::new("no file", "nothing to read", "give at least one"));
    };
    let mut collector = Collector::new(Source::open(first)?, loading)?;
    if collector.format == Format::Weka {
        // N5: the number of a session is its place among the file names.
        files.sort_by(|a, b| file_name(a).cmp(file_name(b)));
    }
    for file in &files {
        collector.open(file)?;
    }
    collector.into_trace(&name)
}

/// Reads a text as if it were a file named `name`.
pub fn load_text(name: &str, text: &str, id_tokens: Option<u32>, normalise: Normalise) -> Result<Trace, TraceError> {
    let loading = Loading { format: None, id_tokens, normalise };
    let mut collector = Collector::new(Source::of_text(name, text)?, &loading)?;
    collector.open(Path::new(name))?;
    collector.into_trace(name)
}

/// Files of one format, becoming a trace.
struct Collector<'a> {
    loading: &'a Loading,
    format: Format,
    /// The first file, which had to be opened to see the format. Standard input cannot be opened twice.
    opened: Option<Source>,
    rows: Rows,
    origin: Origin,
    azure_zero: Option<i64>,
    sessions: u64,
}

impl<'a> Collector<'a> {
    fn new(first: Source, loading: &'a Loading) -> Result<Collector<'a>, TraceError> {
        let format = format_of(&first, loading)?;
        let origin = Origin { format_named: loading.format.is_some(), ..Origin::default() };
        Ok(Collector {
            loading,
            format,
            opened: Some(first),
            rows: Rows::default(),
            origin,
            azure_zero: None,
            sessions: 0,
        })
    }

    fn open(&mut self, path: &Path) -> Result<(), TraceError> {
        let is_first = |first: &mut Source| first.is_at(path);
        let source = match self.opened.take_if(is_first) {
            Some(first) => first,
            None => {
                let source = Source::open(path)?;
                let format = format_of(&source, self.loading)?;
                if format != self.format {
                    let clash = format!("the format is {format}, that of the first file is {}", self.format);
                    return Err(TraceError::new(source.name(), clash, "give files of one format"));
                }
                source
            }
        };
        let gzip = source.is_gzip();
        self.read(source).map_err(|refusal| cause(refusal, path, gzip))
    }

    fn read(&mut self, source: Source) -> Result<(), TraceError> {
        self.origin.files += 1;
        self.origin.gzip_files += usize::from(source.is_gzip());
        let rows = &mut self.rows;
        match self.format {
            Format::Mooncake => mooncake::read(source.lines(), rows),
            Format::Bailian => bailian::read(source.lines(), rows),
            Format::Azure => azure::read(source.lines(), &mut self.azure_zero, rows),
            Format::BurstGpt => burstgpt::read(source.lines(), rows),
            Format::Lengths => lengths::read(source.lines(), rows),
            Format::Tokens => tokens::read(source.lines(), rows),
            Format::Weka => {
                self.sessions = weka::read(source, self.sessions, self.loading.id_tokens, rows)?;
                Ok(())
            }
            Format::ServeGen => servegen::read(source.lines(), rows),
            Format::GenericCsv => generic::read_csv(source.lines(), rows),
            Format::GenericJsonl => generic::read_jsonl(source.lines(), rows),
        }
    }

    fn into_trace(self, name: &str) -> Result<Trace, TraceError> {
        let (id_tokens, id_tokens_from) = self.tokens_of_an_id(name)?;
        let origin = Origin { id_tokens_from, ..self.origin };
        self.rows.finish(name, self.format, id_tokens, origin, self.loading.normalise)
    }

    /// What the file says, or else the flag, or else the format. Errors: two of them disagree.
    fn tokens_of_an_id(&self, name: &str) -> Result<(u32, IdTokensFrom), TraceError> {
        let by_format = match self.format {
            Format::Mooncake => mooncake::ID_TOKENS,
            Format::Bailian => bailian::ID_TOKENS,
            Format::GenericCsv | Format::GenericJsonl => generic::ID_TOKENS,
            Format::Weka => weka::ID_TOKENS,
            Format::Tokens => tokens::ID_TOKENS,
            Format::Azure | Format::BurstGpt | Format::Lengths | Format::ServeGen => 1,
        };
        let fixed = match (self.rows.declared(), self.format) {
            (Some((tokens, place)), _) => Some((tokens, IdTokensFrom::File, format!("{place} says"))),
            (None, Format::Tokens) => Some((by_format, IdTokensFrom::Format, "the format has".to_string())),
            _ => None,
        };
        match (fixed, self.loading.id_tokens) {
            (Some((tokens, _, says)), Some(chosen)) if tokens != chosen => Err(TraceError::new(
                name,
                format!("{says} {tokens} tokens an id, --ids-block-tokens {chosen}"),
                "leave --ids-block-tokens out",
            )),
            (Some((tokens, from, _)), _) => Ok((tokens, from)),
            (None, Some(chosen)) if self.format.has_ids() => Ok((chosen, IdTokensFrom::Flag)),
            (None, _) => Ok((by_format, IdTokensFrom::Format)),
        }
    }
}

/// Why a row was refused: damaged gzip data become rows that nobody wrote, long before their checksum is read.
fn cause(refusal: TraceError, path: &Path, gzip: bool) -> TraceError {
    // Standard input is gone by now.
    if !gzip || !path.is_file() {
        return refusal;
    }
    Source::open(path).and_then(Source::check).err().unwrap_or(refusal)
}

fn format_of(source: &Source, loading: &Loading) -> Result<Format, TraceError> {
    let head = source.head();
    if head.trim().is_empty() && source.is_all_head() {
        return Err(TraceError::new(source.name(), "the file is empty", "give a file with a request in it"));
    }
    if head.starts_with(LFS_POINTER) {
        let found = "this is a pointer of Git LFS, not the trace";
        return Err(TraceError::new(source.name(), found, "fetch the file itself with `git lfs pull`"));
    }
    if let Some(named) = loading.format {
        return Ok(named.named(head));
    }
    Format::detect(head).ok_or_else(|| {
        let first = head.trim_start().lines().next().unwrap_or_default();
        TraceError::new(source.name(), format!("the format is unknown: it begins with {}", excerpt(first)), KNOWN)
    })
}

/// The part of a path after the last separator, without `.gz`: packing a session does not move it.
fn file_name(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.strip_suffix(".gz").unwrap_or(name)
}

fn list_folder(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), TraceError> {
    let shown = folder.display();
    let cannot = |error| TraceError::new(shown.to_string(), format!("cannot be listed: {error}"), "check the path");
    let before = files.len();
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        // A folder also has its checksums and its licence: only documents count.
        if path.is_file() && Path::new(file_name(&path)).extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files[before..].sort();
    if files.len() == before {
        return Err(TraceError::new(
            shown,
            "the folder has no .json or .json.gz file",
            "give a folder of agent sessions, or name the files",
        ));
    }
    Ok(())
}
