//! Comma-separated rows under a header line. Cells may stand in quotes, inside which a comma, a doubled quote and a line
//! end are taken as they are; LF and CRLF, blank lines and a byte order mark do not matter.

use super::error::{Place, TraceError, excerpt};
use super::field::Field;
use super::lines::Lines;
use std::borrow::Cow;

/// A quoted cell has at most so many lines: a quote that is never closed must not swallow the file.
const RECORD_LINES_MAX: usize = 1000;

/// The names of the columns.
#[derive(Debug)]
pub struct Header {
    names: Vec<String>,
}

/// The cells of a record, without their quotes.
fn cells(record: &str) -> Vec<Cow<'_, str>> {
    let (mut cells, mut begin, mut quoted) = (Vec::new(), 0, false);
    for (at, byte) in record.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b',' if !quoted => {
                cells.push(cell(&record[begin..at]));
                begin = at + 1;
            }
            _ => {}
        }
    }
    cells.push(cell(&record[begin..]));
    cells
}

fn cell(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(inner) if inner.contains('"') => Cow::Owned(inner.replace("\"\"", "\"")),
        Some(inner) => Cow::Borrowed(inner.trim()),
        None => Cow::Borrowed(text),
    }
}

fn has_open_quote(text: &str) -> bool {
    !text.bytes().filter(|&byte| byte == b'"').count().is_multiple_of(2)
}

impl Header {
    /// The header in a line.
    pub fn of(line: &str) -> Header {
        Header { names: cells(line).into_iter().map(Cow::into_owned).collect() }
    }

    /// Whether there is a column of this name.
    pub fn has(&self, name: &str) -> bool {
        self.column(name).is_some()
    }

    /// The number of a column.
    fn column(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|have| have == name)
    }
}

/// One row.
#[derive(Debug)]
pub struct Row<'a> {
    place: Place<'a>,
    header: &'a Header,
    cells: Vec<Cow<'a, str>>,
}

impl<'a> Row<'a> {
    /// Where it stands.
    pub fn place(&self) -> Place<'a> {
        self.place
    }

    /// The value in column `name`; `None` if there is no such column.
    pub fn optional(&self, name: &'static str) -> Option<Field<'_>> {
        let text = self.cells.get(self.header.column(name)?)?;
        Some(Field { place: self.place, name, text })
    }

    /// The value in column `name`.
    pub fn field(&self, name: &'static str) -> Result<Field<'_>, TraceError> {
        self.optional(name).ok_or_else(|| {
            TraceError::new(self.place, format!("there is no column `{name}`"), "name it in the header line")
        })
    }
}

/// Calls `each` with every row, in order.
pub fn rows(mut lines: Lines, mut each: impl FnMut(&Row<'_>) -> Result<(), TraceError>) -> Result<(), TraceError> {
    let file = lines.name().to_string();
    let Some((_, first)) = lines.next()? else { return Ok(()) };
    let header = Header::of(first);
    let mut record = String::new();
    while let Some((line, text)) = lines.next()? {
        let place = Place { file: &file, line };
        record.clear();
        record.push_str(text);
        if has_open_quote(&record) {
            close_quote(place, &mut record, &mut lines)?;
        }
        let cells = cells(&record);
        if cells.len() != header.names.len() {
            return Err(wrong_width(place, &record, cells.len(), header.names.len()));
        }
        each(&Row { place, header: &header, cells })?;
    }
    Ok(())
}

/// Adds lines to a record until the quote that is open in it is closed.
fn close_quote(place: Place<'_>, record: &mut String, lines: &mut Lines) -> Result<(), TraceError> {
    for _ in 0..RECORD_LINES_MAX {
        let Some((_, text)) = lines.next()? else { break };
        record.push('\n');
        record.push_str(text);
        if has_open_quote(text) {
            return Ok(());
        }
    }
    let found = format!("a quote is never closed in {}", excerpt(record));
    Err(TraceError::new(place, found, "close it, or double a quote that is part of a cell"))
}

fn wrong_width(place: Place<'_>, record: &str, found: usize, want: usize) -> TraceError {
    let found = format!("found {found} of {want} cells in {}", excerpt(record));
    TraceError::new(place, found, "give as many cells as the header has (a last line that is cut off: take it out)")
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::*;

    fn sums(text: &str) -> Result<Vec<u64>, TraceError> {
        let mut sums = Vec::new();
        rows(Source::of_text("t.csv", text)?.lines(), |row| {
            sums.push(row.field("a")?.whole(100)? + row.field("b")?.whole(100)?);
            Ok(())
        })?;
        Ok(sums)
    }

    #[test]
    fn columns_go_by_name_and_line_ends_do_not_matter() {
        assert_eq!(sums("b,x,a\r\n1,9,2\r\n\r\n\"3\",9, 4\r\n"), Ok(vec![3, 7]));
    }

    #[test]
    fn quotes_hold_commas_quotes_and_line_ends() {
        let text = "a,\"te,xt\",b\n1,\"one, two\",2\n3,\"he said \"\"no\"\", twice\",4\n5,\"first\nsecond, \n\nlast\",6\n7,,8\n";
        assert_eq!(sums(text), Ok(vec![3, 7, 11, 15]));
        assert_eq!(cells("\"he said \"\"no\"\"\",b"), ["he said \"no\"", "b"]);
    }

    #[test]
    fn a_quote_that_is_never_closed_is_refused_at_its_line() {
        let message = sums("a,b\n1,2\n\"3,4\n5,6\n").expect_err("open").to_string();
        assert!(message.starts_with("t.csv, line 3: a quote is never closed in `\"3,4 5,6`; "), "{message}");
        let long = format!("a,b\n\"1,2\n{}", "3,4\n".repeat(RECORD_LINES_MAX + 10));
        assert!(sums(&long).is_err());
    }

    #[test]
    fn a_line_that_is_cut_off_is_refused_with_its_number() {
        let message = sums("a,b\n1,2\n\n3").expect_err("cut off").to_string();
        assert!(message.starts_with("t.csv, line 4: found 1 of 2 cells in `3`; "), "{message}");
    }
}
