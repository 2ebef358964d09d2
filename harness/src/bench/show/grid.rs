//! A table: for a terminal, or for a page of Markdown.

use crate::report::Columns;
use std::fmt::Write;

/// Rows of cells under headings; the first column is names.
pub struct Grid {
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// A cell that is longer is words, which begin on the left.
const PROSE: usize = 24;

impl Grid {
    /// With these headings and no rows.
    pub fn new(headings: impl IntoIterator<Item = String>) -> Grid {
        Grid { headings: headings.into_iter().collect(), rows: Vec::new() }
    }

    /// One more row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table in lines of at most `width` characters: columns that do not fit follow below.
    pub fn render(&self, width: usize) -> String {
        let names = self.rows.iter().map(|row| row.first().cloned().unwrap_or_default());
        let mut columns = Columns::new(names);
        for (index, heading) in self.headings.iter().enumerate().skip(1) {
            let cell = |row: &Vec<String>| row.get(index).cloned().unwrap_or_default();
            columns = columns.column(heading, self.rows.iter().map(cell));
        }
        columns.render(width)
    }

    /// The same in Markdown.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "| {} |", self.headings.join(" | "));
        let is_prose =
            |column: usize| self.rows.iter().filter_map(|row| row.get(column)).any(|cell| cell.len() > PROSE);
        let sides = (0..self.headings.len()).map(|column| if column == 0 || is_prose(column) { "---" } else { "---:" });
        let _ = writeln!(out, "| {} |", sides.collect::<Vec<_>>().join(" | "));
        for row in &self.rows {
            let _ = writeln!(out, "| {} |", row.join(" | "));
        }
        out
    }
}

/// Words in lines of at most `width`, and at most 120.
pub fn wrapped(words: &str, width: usize) -> String {
    let width = width.min(120);
    let (mut out, mut used) = (String::new(), 0);
    for word in words.split_whitespace() {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            out.push('\n');
            used = 0;
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += length;
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_for_a_terminal_or_for_a_page() {
        let mut grid = Grid::new(["", "a", "b"].map(String::from));
        grid.row(["one", "1.0", "22"].map(String::from));
        assert_eq!(grid.render(80), "       a   b\none  1.0  22\n");
        assert_eq!(grid.markdown(), "|  | a | b |\n| --- | ---: | ---: |\n| one | 1.0 | 22 |\n");
    }

    #[test]
    fn prose_is_wrapped_between_words() {
        assert_eq!(wrapped("one two three", 7), "one two\nthree\n");
        assert_eq!(wrapped("longer-than-that", 7), "longer-than-that\n");
    }
}
