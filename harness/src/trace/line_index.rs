//! On which line of a text a part of it begins, without counting from the start each time.

/// A part is looked through for its line, not what comes before it.
const PART_BYTES: usize = 1 << 12;

/// The lines of a text. Eight bytes for each [`PART_BYTES`] of it.
#[derive(Debug)]
pub struct LineIndex<'a> {
    text: &'a str,
    /// Line ends in front of each part.
    before: Vec<usize>,
}

fn line_ends(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}

impl<'a> LineIndex<'a> {
    /// Goes through `text` once.
    pub fn new(text: &'a str) -> LineIndex<'a> {
        let mut total = 0;
        let before = text.as_bytes().chunks(PART_BYTES).map(|part| {
            let before = total;
            total += line_ends(part);
            before
        });
        LineIndex { text, before: before.collect() }
    }

    /// The line, from 1 on, on which `part` begins, which is a part of the text. Looks at less than [`PART_BYTES`] of it.
    pub fn line_of(&self, part: &str) -> usize {
        let offset = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let bytes = self.text.as_bytes();
        let offset = offset.min(bytes.len());
        let begin = offset - offset % PART_BYTES;
        let before = self.before.get(offset / PART_BYTES).copied().unwrap_or_default();
        1 + before + line_ends(&bytes[begin..offset])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_that_counting_from_the_start_gives() {
        let text: String =
            (0..3 * PART_BYTES + 7).map(|at| if at % 7 == 3 || at % 4096 > 4090 { '\n' } else { 'x' }).collect();
        let index = LineIndex::new(&text);
        let mut line = 1;
        for (at, byte) in text.bytes().enumerate() {
            assert_eq!(index.line_of(&text[at..]), line, "byte {at}");
            line += usize::from(byte == b'\n');
        }
        assert_eq!(LineIndex::new("").line_of(""), 1);
    }
}
