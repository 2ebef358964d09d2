//! JSON as Python writes it: `NaN`, `Infinity` and `-Infinity` stand for numbers in published configs (Mamba's
//! `time_step_limit` ends at infinity), and no JSON has them. No size is ever one of them, so they are read as null.

/// The text with those three words made `null`, outside of strings.
pub fn without_infinities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let plain = rest.find('"').unwrap_or(rest.len());
        let (outside, from_quote) = rest.split_at(plain);
        out.push_str(&outside.replace("-Infinity", "null").replace("Infinity", "null").replace("NaN", "null"));
        let string = string_length(from_quote);
        out.push_str(&from_quote[..string]);
        rest = &from_quote[string..];
    }
    out
}

/// Bytes of the string that `text` begins with, both quotes included; all of it if it never ends.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_strings_stay() {
        assert_eq!(without_infinities(r#"{"a": [0.0, Infinity], "b": NaN}"#), r#"{"a": [0.0, null], "b": null}"#);
        assert_eq!(without_infinities(r#"{"NaN": "-Infinity \" NaN", "c": -Infinity}"#), {
            r#"{"NaN": "-Infinity \" NaN", "c": null}"#
        });
        for whole in ["", "\"", "\"\\", "\"é NaN", "{}", "\\\""] {
            assert_eq!(without_infinities(whole), whole);
        }
    }
}
