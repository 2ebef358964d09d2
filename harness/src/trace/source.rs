//! A file before it is a trace: opened, unpacked if it is gzip, and its beginning at hand so that the format can be seen
//! before a row is read.
//!
//! 1. [`Source::open`] looks at the first bytes, not at the name: gzip is unpacked, other packings are refused by name.
//! 2. [`Source::head`] is the beginning, at least one whole line of it.
//! 3. [`Source::lines`] or [`Source::text`] gives all of it, the beginning included.
//!
//! Nothing but the beginning and the line in hand is in memory, unless the whole text is asked for.

use super::error::{Place, TraceError};
use super::lines::Lines;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// The path that means standard input.
const STANDARD_INPUT: &str = "-";
/// How much of a text is looked at for the format; more if its first line is longer.
const HEAD_BYTES: usize = 1 << 16;
/// Longest line: 256 MiB, beyond any session or list of tokens. A file without line ends must not fill the memory.
pub(super) const LINE_BYTES_MAX: u64 = 1 << 28;
/// Longest text of a file of sessions, which is in memory as a whole, and ten times over when its values are small: 64 MiB.
/// Published sessions have up to 600 KB.
const TEXT_BYTES_MAX: u64 = 1 << 26;
const GZIP: [u8; 2] = [0x1f, 0x8b];
const MAGIC_BYTES: u64 = 6;

/// What begins like this is packed, and not with gzip.
const FOREIGN: [(&[u8], &str); 8] = [
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd"),
    (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xz"),
    (b"BZh", "bzip2"),
    (b"PK\x03\x04", "zip"),
    (b"7z\xbc\xaf", "7z"),
    (b"PAR1", "Parquet"),
    (&[0xff, 0xfe], "UTF-16"),
    (&[0xfe, 0xff], "UTF-16"),
];

/// An open file.
pub struct Source {
    path: PathBuf,
    name: String,
    gzip: bool,
    head: Vec<u8>,
    /// Nothing comes after the head.
    ended: bool,
    rest: Box<dyn BufRead>,
}

impl Source {
    /// Opens `path`; `-` is standard input. Errors: it cannot be read, is packed with anything but gzip, or is no text.
    pub fn open(path: &Path) -> Result<Source, TraceError> {
        if path == Path::new(STANDARD_INPUT) {
            return Source::new(path, "standard input".to_string(), Box::new(BufReader::new(io::stdin())));
        }
        let name = path.display().to_string();
        let cannot = |error| TraceError::new(&name, format!("cannot be read: {error}"), CHECK_PATH);
        // A folder can be opened, and read no byte of.
        let file = File::open(path).map_err(cannot)?;
        Source::new(path, name, Box::new(BufReader::new(file)))
    }

    /// A text that is at hand.
    pub fn of_text(name: &str, text: &str) -> Result<Source, TraceError> {
        Source::new(Path::new(name), name.to_string(), Box::new(Cursor::new(text.as_bytes().to_vec())))
    }

    fn new(path: &Path, name: String, mut packed: Box<dyn BufRead>) -> Result<Source, TraceError> {
        let mut magic = Vec::new();
        let first = packed.by_ref().take(MAGIC_BYTES).read_to_end(&mut magic);
        first.map_err(|error| TraceError::new(&name, format!("cannot be read: {error}"), CHECK_PATH))?;
        if let Some((_, packing)) = FOREIGN.iter().find(|(begin, _)| magic.starts_with(begin)) {
            return Err(TraceError::new(
                name,
                format!("this is {packing}, not text"),
                "unpack it to text in UTF-8, or to gzip of it, first",
            ));
        }
        let gzip = magic.starts_with(&GZIP);
        let whole = Cursor::new(magic).chain(packed);
        let mut rest: Box<dyn BufRead> =
            if gzip { Box::new(BufReader::new(MultiGzDecoder::new(whole))) } else { Box::new(whole) };
        let (head, ended) = head(&name, gzip, &mut rest)?;
        Ok(Source { path: path.to_path_buf(), name, gzip, head, ended, rest })
    }

    /// The file as the user named it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it was opened from `path`.
    pub fn is_at(&self, path: &Path) -> bool {
        self.path == path
    }

    /// Whether its beginning is all of it.
    pub fn is_all_head(&self) -> bool {
        self.ended
    }

    /// Whether it was packed.
    pub fn is_gzip(&self) -> bool {
        self.gzip
    }

    /// The beginning, without a byte order mark, as far as it is text; at least one line that is not blank, if there is one.
    pub fn head(&self) -> &str {
        let text = match std::str::from_utf8(&self.head) {
            Ok(text) => text,
            // What is cut in the middle of a character, or is no text at all, which reading it will say.
            Err(error) => std::str::from_utf8(&self.head[..error.valid_up_to()]).unwrap_or_default(),
        };
        text.strip_prefix('\u{feff}').unwrap_or(text)
    }

    /// All lines.
    pub fn lines(self) -> Lines {
        Lines::new(self.name, self.gzip, Box::new(Cursor::new(self.head).chain(self.rest)))
    }

    /// Reads to the end, and forgets what it reads. Errors: it cannot be unpacked.
    pub fn check(self) -> Result<(), TraceError> {
        let mut lines = self.lines();
        while lines.skip()? {}
        Ok(())
    }

    /// All of it. A session is one document, so that there is no reading it by lines. Errors: it cannot be read or unpacked,
    /// is no UTF-8, or is longer than 64 MiB when it is unpacked.
    pub fn text(self) -> Result<String, TraceError> {
        self.text_up_to(TEXT_BYTES_MAX)
    }

    fn text_up_to(self, most: u64) -> Result<String, TraceError> {
        let mut bytes = self.head;
        // One byte more than is allowed, to see that there is more.
        let mut rest = self.rest.take((most + 1).saturating_sub(bytes.len() as u64));
        if let Err(error) = rest.read_to_end(&mut bytes) {
            return Err(unreadable(&self.name, self.gzip, &bytes, &error));
        }
        if bytes.len() as u64 > most {
            let found = format!("the text of these sessions is longer than {most} bytes");
            return Err(TraceError::new(self.name, found, "give each session a file of its own"));
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text)),
            Err(error) => {
                let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                Err(not_utf8(Place { file: &self.name, line: 1 + newlines(valid) }))
            }
        }
    }
}

const CHECK_PATH: &str = "check the path and its permissions";

/// Reads until there is a line that is not blank and [`HEAD_BYTES`] altogether, or nothing more; true in the latter case.
fn head(name: &str, gzip: bool, rest: &mut Box<dyn BufRead>) -> Result<(Vec<u8>, bool), TraceError> {
    let mut head = Vec::new();
    loop {
        let before = head.len();
        // Twice as much each time, so that a first line of any length is looked through a few times only.
        let read = rest.by_ref().take(before.max(HEAD_BYTES) as u64).read_to_end(&mut head);
        if let Err(error) = read {
            return Err(unreadable(name, gzip, &head, &error));
        }
        let ended = head.len() == before;
        if head[before..].contains(&0) {
            return Err(TraceError::new(
                name,
                "this is no text: it has zero bytes",
                "give a text file, or gzip of one",
            ));
        }
        let whole_line = || {
            let begin = head.iter().position(|byte| !byte.is_ascii_whitespace());
            begin.is_some_and(|begin| head[begin..].contains(&b'\n'))
        };
        if ended || whole_line() || head.len() as u64 > LINE_BYTES_MAX {
            return Ok((head, ended));
        }
    }
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}

fn unreadable(name: &str, gzip: bool, read: &[u8], error: &io::Error) -> TraceError {
    broken(Place { file: name, line: 1 + newlines(read) }, gzip, read.len() as u64, error)
}

/// What is wrong when reading stops at `place`, after `bytes` of text.
pub(super) fn broken(place: Place<'_>, gzip: bool, bytes: u64, error: &io::Error) -> TraceError {
    if !gzip {
        return TraceError::new(place, format!("cannot be read on, after {bytes} bytes: {error}"), "check the file");
    }
    let found = match error.kind() {
        io::ErrorKind::UnexpectedEof => format!("the gzip data is cut off, after {bytes} bytes of text"),
        _ => format!("the gzip data is damaged, after {bytes} bytes of text ({error})"),
    };
    TraceError::new(place, found, "fetch the file again, and check it with `gzip -t`")
}

/// What is wrong with a line that is no text.
pub(super) fn not_utf8(place: Place<'_>) -> TraceError {
    TraceError::new(place, "found bytes that are not UTF-8", "give a text file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_a_longest_length() {
        let long = "x".repeat(3 * HEAD_BYTES);
        for length in [10, HEAD_BYTES + 1, 3 * HEAD_BYTES] {
            let source = || Source::of_text("t.json", &long[..length]).expect("a text");
            assert_eq!(source().text_up_to(length as u64).expect("as long as may be").len(), length);
            let message = source().text_up_to(length as u64 - 1).expect_err("longer").to_string();
            let want = format!("t.json: the text of these sessions is longer than {} bytes; give each", length - 1);
            assert!(message.starts_with(&want), "{message}");
        }
    }
}
