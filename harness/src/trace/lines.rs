//! A text line by line, one line in memory at a time: a trace may have millions of them.

use super::error::{Place, TraceError};
use super::source::{LINE_BYTES_MAX, broken, not_utf8};
use std::io::{BufRead, Read};

const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// The lines of a file that are still to come.
pub struct Lines {
    name: String,
    gzip: bool,
    reader: Box<dyn BufRead>,
    line: usize,
    bytes: u64,
    buffer: Vec<u8>,
}

impl Lines {
    /// The lines that `reader` gives. `gzip`: they were packed, for messages.
    pub(super) fn new(name: String, gzip: bool, reader: Box<dyn BufRead>) -> Lines {
        Lines { name, gzip, reader, line: 0, bytes: 0, buffer: Vec::new() }
    }

    /// The file, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The next line that is not blank, with its number from 1, without its end and without a byte order mark. Errors: it
    /// cannot be read or unpacked, is no UTF-8, or is too long.
    pub fn next(&mut self) -> Result<Option<(usize, &str)>, TraceError> {
        loop {
            if !self.read()? {
                return Ok(None);
            }
            if !self.content().iter().all(u8::is_ascii_whitespace) {
                break;
            }
        }
        let place = Place { file: &self.name, line: self.line };
        let text = std::str::from_utf8(self.content()).map_err(|_| not_utf8(place))?;
        let text = text.strip_suffix('\n').unwrap_or(text);
        Ok(Some((self.line, text.strip_suffix('\r').unwrap_or(text))))
    }

    /// Passes over a line, whatever is in it; false if there is none.
    pub fn skip(&mut self) -> Result<bool, TraceError> {
        self.read()
    }

    /// The line in the buffer, without the byte order mark that a file may begin with.
    fn content(&self) -> &[u8] {
        match self.line {
            1 => self.buffer.strip_prefix(&BYTE_ORDER_MARK).unwrap_or(&self.buffer),
            _ => &self.buffer,
        }
    }

    /// Fills the buffer with the next line; false if there is none.
    fn read(&mut self) -> Result<bool, TraceError> {
        self.line += 1;
        self.buffer.clear();
        let read = self.reader.by_ref().take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut self.buffer);
        let count = self.buffer.len() as u64;
        self.bytes += count;
        let place = Place { file: &self.name, line: self.line };
        read.map_err(|error| broken(place, self.gzip, self.bytes, &error))?;
        if count > LINE_BYTES_MAX {
            let found = format!("the line is longer than {LINE_BYTES_MAX} bytes");
            return Err(TraceError::new(place, found, "give one request, or one session, a line"));
        }
        Ok(count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::*;

    fn lines(text: &str) -> Result<Vec<(usize, String)>, TraceError> {
        let mut lines = Source::of_text("t", text)?.lines();
        let mut found = Vec::new();
        while let Some((number, line)) = lines.next()? {
            found.push((number, line.to_string()));
        }
        Ok(found)
    }

    #[test]
    fn ends_marks_and_blank_lines_do_not_matter() {
        let found = lines("\u{feff}a \r\n\r\n \n b\nc").expect("lines");
        let found: Vec<_> = found.iter().map(|(number, line)| (*number, line.as_str())).collect();
        assert_eq!(found, [(1, "a "), (4, " b"), (5, "c")]);
        assert_eq!(lines(""), Ok(vec![]));
        assert_eq!(lines("\n\n"), Ok(vec![]));
        assert_eq!(lines("\u{feff}\r\na"), Ok(vec![(2, "a".to_string())]));
    }

    #[test]
    fn what_is_no_text_is_named_by_line() {
        let bytes = Box::new(std::io::Cursor::new(b"a\nb\xff\n".to_vec()));
        let mut lines = Lines::new("t".to_string(), false, bytes);
        assert!(lines.next().expect("the first").is_some());
        let message = lines.next().expect_err("the second").to_string();
        assert_eq!(message, "t, line 2: found bytes that are not UTF-8; give a text file");
    }
}
