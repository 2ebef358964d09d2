//! Comma-separated rows under a header line, as far as traces need them: cells are numbers, times and lists of ids, so
//! a comma never stands inside one. LF and CRLF, quotes around a cell, blank lines and a byte order mark are taken.

use super::error::{Place, TraceError, excerpt};
use super::field::Field;

/// The names of the columns.
#[derive(Debug)]
pub struct Header<'a> {
    names: Vec<&'a str>,
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|cell| cell.trim().trim_matches('"'))
}

impl<'a> Header<'a> {
    /// The header in a line.
    pub fn of(line: &'a str) -> Header<'a> {
        Header { names: cells(line).collect() }
    }

    /// Whether there is a column of this name.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// The number of a column that is known to be there.
    fn column(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|&have| have == name)
    }
}

/// One row.
#[derive(Debug)]
pub struct Row<'a> {
    place: Place<'a>,
    header: &'a Header<'a>,
    cells: Vec<&'a str>,
}

impl<'a> Row<'a> {
    /// The value in column `name`; `None` if there is no such column.
    pub fn optional(&self, name: &'a str) -> Option<Field<'a>> {
        let column = self.header.column(name)?;
        Some(Field { place: self.place, name, text: self.cells[column] })
    }

    /// The value in column `name`.
    pub fn field(&self, name: &'a str) -> Result<Field<'a>, TraceError> {
        self.optional(name).ok_or_else(|| {
            TraceError::new(self.place, format!("there is no column `{name}`"), "name it in the header line")
        })
    }
}

/// Calls `each` with every row of `text`, in order.
pub fn rows(
    file: &str,
    text: &str,
    mut each: impl FnMut(&Row<'_>) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let Some((_, first)) = lines.next() else { return Ok(()) };
    let header = Header::of(first);
    for (index, line) in lines {
        let place = Place { file, line: index + 1 };
        let cells: Vec<&str> = cells(line).collect();
        if cells.len() != header.names.len() {
            return Err(wrong_width(place, line, cells.len(), header.names.len()));
        }
        each(&Row { place, header: &header, cells })?;
    }
    Ok(())
}

fn wrong_width(place: Place<'_>, line: &str, found: usize, want: usize) -> TraceError {
    let found = format!("found {found} of {want} cells in {}", excerpt(line));
    TraceError::new(place, found, "give as many cells as the header has (a last line that is cut off: take it out)")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(text: &str) -> Result<Vec<u64>, TraceError> {
        let mut sums = Vec::new();
        rows("t.csv", text, |row| {
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
    fn a_line_that_is_cut_off_is_refused_with_its_number() {
        let message = sums("a,b\n1,2\n\n3").expect_err("cut off").to_string();
        assert!(message.starts_with("t.csv, line 4: found 1 of 2 cells in `3`; "), "{message}");
    }
}
