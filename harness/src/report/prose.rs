//! Sentences, for a terminal of any width.

/// `text` in lines of at most `width` characters, unless a word is longer. The first line begins as the text does, the others
/// with `indent` spaces. Ends in a line end.
pub fn prose(text: &str, width: usize, indent: usize) -> String {
    let mut at = text.chars().take_while(|&c| c == ' ').count();
    let mut out = " ".repeat(at);
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
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::prose;

    #[test]
    fn lines_are_as_long_as_they_may_be() {
        assert_eq!(prose("one two three", 80, 2), "one two three\n");
        assert_eq!(prose("one two three", 7, 2), "one two\n  three\n");
        assert_eq!(prose("one  incomprehensible two", 4, 0), "one\nincomprehensible\ntwo\n");
        assert_eq!(prose("  one two", 5, 4), "  one\n    two\n");
        assert_eq!(prose("", 4, 0), "\n");
    }
}
