//! Comma-separated rows under a header line, as RFC 4180 has them. A cell that begins with a quote ends with one, and in
//! between a comma, a doubled quote and a line end are taken as they are. In any other cell a quote is a character like
//! others. LF and CRLF, blank lines and a byte order mark do not matter.

use super::error::{Place, TraceError, excerpt};
use super::field::Field;
use super::lines::Lines;
use super::source::LINE_BYTES_MAX;
use std::borrow::Cow;

/// A quoted cell has at most so many lines: a quote that is never closed must not swallow the file.
const RECORD_LINES_MAX: usize = 1000;

/// The names of the columns.
#[derive(Debug)]
pub struct Header {
    names: Vec<String>,
}

/// What the next byte of a record stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    /// Where a cell begins: only here does a quote open one.
    Begin,
    /// A cell without quotes.
    Plain,
    /// Between the quotes of a cell.
    Quoted,
    /// Behind a quote in there: a second one makes it a character, anything else says that it closed the cell.
    Quote,
    /// Behind a closed cell, where only spaces are.
    Closed,
    /// Something else stood there.
    Broken,
}

impl At {
    fn after(self, byte: u8) -> At {
        match (self, byte) {
            (At::Begin, b'"') => At::Quoted,
            (At::Begin | At::Plain | At::Quote | At::Closed, b',') => At::Begin,
            (At::Begin | At::Plain, _) => At::Plain,
            (At::Quoted, b'"') => At::Quote,
            (At::Quoted, _) => At::Quoted,
            (At::Quote, b'"') => At::Quoted,
            (At::Quote | At::Closed, byte) if byte.is_ascii_whitespace() => At::Closed,
            (At::Quote | At::Closed | At::Broken, _) => At::Broken,
        }
    }

    /// Where a line leaves off that begins here.
    fn after_line(self, line: &str) -> At {
        line.bytes().fold(self, At::after)
    }
}

/// The cells of a record, without their quotes. Errors: the place where it leaves off, if that is no end.
fn cells(record: &str) -> Result<Vec<Cow<'_, str>>, At> {
    let (mut cells, mut begin, mut at) = (Vec::new(), 0, At::Begin);
    for (index, byte) in record.bytes().enumerate() {
        at = at.after(byte);
        if byte == b',' && at == At::Begin {
            cells.push(cell(&record[begin..index]));
            begin = index + 1;
        }
    }
    cells.push(cell(&record[begin..]));
    if matches!(at, At::Quoted | At::Broken) { Err(at) } else { Ok(cells) }
}

fn cell(text: &str) -> Cow<'_, str> {
    let quoted = text.strip_prefix('"').and_then(|text| text.trim_end().strip_suffix('"'));
    match quoted {
        Some(inner) if inner.contains('"') => Cow::Owned(inner.replace("\"\"", "\"")),
        Some(inner) => Cow::Borrowed(inner.trim()),
        None => Cow::Borrowed(text.trim()),
    }
}

/// What is wrong with the quotes of a record that leaves off at `at`.
fn wrong_quotes(place: Place<'_>, record: &str, at: At) -> TraceError {
    let (found, mend) = match at {
        At::Quoted => ("a quote is never closed", "close it, or double a quote that is part of a cell"),
        _ => ("something stands behind a closing quote", "double a quote that is part of a cell"),
    };
    TraceError::new(place, format!("{found} in {}", excerpt(record)), mend)
}

impl Header {
    /// The header in a line; `None` if its quotes are wrong.
    pub fn of(line: &str) -> Option<Header> {
        Some(Header { names: cells(line).ok()?.into_iter().map(Cow::into_owned).collect() })
    }

    /// Whether there is a column of this name.
    pub fn has(&self, name: &str) -> bool {
        self.columns(name).next().is_some()
    }

    /// The numbers of the columns of this name.
    fn columns(&self, name: &str) -> impl Iterator<Item = usize> {
        self.names.iter().enumerate().filter(move |(_, have)| *have == name).map(|(column, _)| column)
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

    /// The value in column `name`; `None` if there is no such column. Errors: there are several.
    pub fn optional(&self, name: &'static str) -> Result<Option<Field<'_>>, TraceError> {
        let mut columns = self.header.columns(name);
        let (column, other) = (columns.next(), columns.next());
        if other.is_some() {
            let found = format!("there are several columns `{name}` in the header line");
            return Err(TraceError::new(self.place, found, "keep one of them"));
        }
        let text = column.and_then(|column| self.cells.get(column));
        Ok(text.map(|text| Field { place: self.place, name, text }))
    }

    /// The value in column `name`. Errors: there is none, or there are several.
    pub fn field(&self, name: &'static str) -> Result<Field<'_>, TraceError> {
        self.optional(name)?.ok_or_else(|| {
            TraceError::new(self.place, format!("there is no column `{name}`"), "name it in the header line")
        })
    }
}

/// Calls `each` with every row, in order.
pub fn rows(mut lines: Lines, mut each: impl FnMut(&Row<'_>) -> Result<(), TraceError>) -> Result<(), TraceError> {
    let file = lines.name().to_string();
    let Some((line, first)) = lines.next()? else { return Ok(()) };
    let header = Header::of(first).ok_or_else(|| wrong_quotes(Place { file: &file, line }, first, At::Broken))?;
    let mut record = String::new();
    while let Some((line, text)) = lines.next()? {
        let place = Place { file: &file, line };
        record.clear();
        record.push_str(text);
        if At::Begin.after_line(&record) == At::Quoted {
            close_quote(place, &mut record, &mut lines)?;
        }
        let cells = cells(&record).map_err(|at| wrong_quotes(place, &record, at))?;
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
        if (record.len() + text.len()) as u64 > LINE_BYTES_MAX {
            let found = format!("the row is longer than {LINE_BYTES_MAX} bytes");
            return Err(TraceError::new(place, found, "close its quotes, or give shorter cells"));
        }
        record.push('\n');
        record.push_str(text);
        if At::Quoted.after_line(text) != At::Quoted {
            return Ok(());
        }
    }
    Err(wrong_quotes(place, record, At::Quoted))
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
        assert_eq!(cells("\"he said \"\"no\"\"\",b"), Ok(vec!["he said \"no\"".into(), "b".into()]));
    }

    #[test]
    fn a_quote_inside_a_cell_without_quotes_is_a_character() {
        let text = "a,note,b\n1,5\" screen,2\n3,6\" screen,4\n5,\"\",6\n7,a\"b,c\"\n7, \" ,8\n9,\"x, \"\"y\"\"\" ,1\n";
        let message = sums(text).expect_err("c\" is no number").to_string();
        assert!(message.starts_with("t.csv, line 5: field `b`: found `c\"`"), "{message}");
        assert_eq!(sums(&text.replace(",c\"", ",8")), Ok(vec![3, 7, 11, 15, 15, 10]));
        let message = sums("a,b\n1,2\n\"3\"x,4\n5,6\n").expect_err("behind the quote").to_string();
        assert!(
            message.starts_with("t.csv, line 3: something stands behind a closing quote in `\"3\"x,4`"),
            "{message}"
        );
        for cut in ["a,\"b\n1,2\n", "a,\"b\"c\n1,2\n"] {
            assert!(sums(cut).expect_err(cut).to_string().starts_with("t.csv, line 1: "), "{cut}");
        }
    }

    #[test]
    fn a_column_that_is_read_is_there_once() {
        let message = sums("a,b,a\n1,2,3\n").expect_err("twice").to_string();
        assert_eq!(message, "t.csv, line 2: there are several columns `a` in the header line; keep one of them");
        assert_eq!(sums("a,x,b,x,,\n1,2,3,4,,\n"), Ok(vec![4]), "others may be called as they like");
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
