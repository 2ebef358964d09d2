//! Sentences, for a terminal of any width.

/// `text` in lines of at most `width` characters, unless a word is longer. The first line begins as the text does, empty
/// lines before it included, the others with `indent` spaces. Ends in a line end.
pub fn prose(text: &str, width: usize, indent: usize) -> String {
    let line = text.trim_start_matches('\n');
    let at = line.chars().take_while(|&c| c == ' ').count();
    let mut out = text[..text.len() - line.len()].to_string() + &" ".repeat(at);
    go_on(&mut out, line, width, indent, at);
    out
}

/// The same for a `text` that goes on where `out` ends, which is `at` characters into a line.
pub fn go_on(out: &mut String, text: &str, width: usize, indent: usize, mut at: usize) {
    for (index, word) in text.split_whitespace().enumerate() {
        let length = word.chars().count();
        if index > 0 && at + 1 + length > width {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            at = indent;
        } else if index > 0 {
            out.push(' ');
            at += 1;
        }
        out.push_str(word);
        at += length;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_long_as_they_may_be() {
        assert_eq!(prose("one two three", 80, 2), "one two three\n");
        assert_eq!(prose("one two three", 7, 2), "one two\n  three\n");
        assert_eq!(prose("one  incomprehensible two", 4, 0), "one\nincomprehensible\ntwo\n");
        assert_eq!(prose("  one two", 5, 4), "  one\n    two\n");
        assert_eq!(prose("\n  one two", 5, 4), "\n  one\n    two\n");
        assert_eq!(prose("", 4, 0), "\n");
    }

    #[test]
    fn a_line_that_has_begun_is_filled() {
        let mut out = "name: ".to_string();
        go_on(&mut out, "one two three", 13, 6, 6);
        assert_eq!(out, "name: one two\n      three\n");
    }
}
