//! Figures in columns, for a terminal of any width: columns that do not fit beside one another follow below.

use std::fmt::Write;

/// Between two columns.
const GAP: usize = 2;

/// A table: names down the side, columns with a title each, everything but the names to the right.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    names: Vec<String>,
    columns: Vec<Column>,
}

#[derive(Clone, Debug)]
struct Column {
    title: String,
    cells: Vec<String>,
    to_the_left: bool,
}

impl Column {
    fn width(&self) -> usize {
        self.cells.iter().chain([&self.title]).map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

impl Columns {
    /// A table with these names down its side.
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>) -> Columns {
        Columns { names: names.into_iter().map(Into::into).collect(), columns: Vec::new() }
    }

    /// Adds a column of figures, one for each name.
    pub fn column(mut self, title: &str, cells: impl IntoIterator<Item = String>) -> Columns {
        let cells = cells.into_iter().collect();
        self.columns.push(Column { title: title.to_string(), cells, to_the_left: false });
        self
    }

    /// Adds a column of texts, which begin on the left.
    pub fn texts(mut self, title: &str, cells: impl IntoIterator<Item = String>) -> Columns {
        let cells = cells.into_iter().collect();
        self.columns.push(Column { title: title.to_string(), cells, to_the_left: true });
        self
    }

    /// The table in lines of at most `width` characters, unless a name and one column are longer. Ends in a line end.
    pub fn render(&self, width: usize) -> String {
        let side = self.names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let mut out = String::new();
        let mut rest = &self.columns[..];
        while !rest.is_empty() {
            let mut used = side;
            let fits = |column: &&Column| {
                used += GAP + column.width();
                used <= width
            };
            let count = rest.iter().take_while(fits).count().max(1);
            let (now, later) = rest.split_at(count);
            self.part(&mut out, side, now);
            rest = later;
        }
        out
    }

    fn part(&self, out: &mut String, side: usize, columns: &[Column]) {
        let mut line = |name: &str, cell: &dyn Fn(&Column) -> String| {
            let mut line = format!("{name:side$}");
            for column in columns {
                let (text, width) = (cell(column), column.width());
                let _ = match column.to_the_left {
                    true => write!(line, "{:GAP$}{text:<width$}", ""),
                    false => write!(line, "{:GAP$}{text:>width$}", ""),
                };
            }
            out.push_str(line.trim_end());
            out.push('\n');
        };
        line("", &|column| column.title.clone());
        for (row, name) in self.names.iter().enumerate() {
            line(name, &|column| column.cells.get(row).cloned().unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Columns {
        let cells = |cells: [&str; 2]| cells.map(str::to_string);
        Columns::new(["first", "b"])
            .column("one", cells(["1", "2,000"]))
            .texts("bar", cells(["##", "#"]))
            .column("last", cells(["3", "4"]))
    }

    #[test]
    fn wide_enough_is_one_table() {
        assert_eq!(table().render(80), "         one  bar  last\nfirst      1  ##      3\nb      2,000  #       4\n");
    }

    #[test]
    fn columns_that_do_not_fit_follow_below() {
        let narrow = table().render(18);
        assert_eq!(
            narrow,
            "         one  bar\nfirst      1  ##\nb      2,000  #\n       last\nfirst     3\nb         4\n"
        );
        assert_eq!(table().render(0).lines().count(), 9, "one column each");
    }
}
