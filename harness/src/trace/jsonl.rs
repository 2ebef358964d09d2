//! One JSON object a line. Values are kept as they are written: times are decimals (see [`super::decimal`]), and a
//! message should show what stands in the file.

use super::error::{Place, TraceError, excerpt};
use super::field::Field;
use super::lines::Lines;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

/// Whether `"key"` stands in `text` in front of a colon.
pub fn mentions_key(text: &str, key: &str) -> bool {
    let quoted = format!("\"{key}\"");
    text.match_indices(&quoted).any(|(at, _)| text[at + quoted.len()..].trim_start().starts_with(':'))
}

/// The values of an object by their keys; `None` where a key is there twice.
#[derive(Debug)]
struct Values<'a>(HashMap<Cow<'a, str>, Option<&'a RawValue>>);

impl<'de> Deserialize<'de> for Values<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Values<'de>, D::Error> {
        deserializer.deserialize_map(Values(HashMap::new()))
    }
}

impl<'de> Visitor<'de> for Values<'de> {
    type Value = Values<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Values<'de>, A::Error> {
        while let Some((key, value)) = map.next_entry()? {
            self.0.entry(key).and_modify(|value| *value = None).or_insert(Some(value));
        }
        Ok(self)
    }
}

/// One line.
#[derive(Debug)]
pub struct Object<'a> {
    place: Place<'a>,
    values: Values<'a>,
}

impl<'a> Object<'a> {
    fn parse(place: Place<'a>, line: &'a str) -> Result<Object<'a>, TraceError> {
        match serde_json::from_str::<Values<'a>>(line) {
            Ok(values) => Ok(Object { place, values }),
            Err(error) if error.is_eof() => {
                let found = format!("the JSON object is cut off: {}", excerpt(line));
                Err(TraceError::new(place, found, "complete the line, or take it out"))
            }
            Err(error) => {
                let found = format!("found {} ({error})", excerpt(line));
                Err(TraceError::new(place, found, "give one JSON object a line"))
            }
        }
    }

    /// Where it stands.
    pub fn place(&self) -> Place<'a> {
        self.place
    }

    /// The value under `name`, if there is one and it is not null. Errors: there are several.
    pub fn optional(&self, name: &'static str) -> Result<Option<Field<'a>>, TraceError> {
        let Some(value) = self.values.0.get(name) else { return Ok(None) };
        let Some(value) = value else {
            let found = format!("there are several keys `{name}` in the object");
            return Err(TraceError::new(self.place, found, "keep one of them"));
        };
        let text = value.get();
        Ok((text != "null").then_some(Field { place: self.place, name, text }))
    }

    /// The value under `name`. Errors: there is none, or there are several.
    pub fn field(&self, name: &'static str) -> Result<Field<'a>, TraceError> {
        self.optional(name)?
            .ok_or_else(|| TraceError::new(self.place, format!("there is no `{name}`"), "give it in every line"))
    }
}

/// Calls `each` with every line that is not blank, in order.
pub fn objects(
    mut lines: Lines,
    mut each: impl FnMut(&Object<'_>) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    let file = lines.name().to_string();
    while let Some((line, text)) = lines.next()? {
        each(&Object::parse(Place { file: &file, line }, text)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::*;

    fn only(line: &str) -> Result<u64, TraceError> {
        let mut found = 0;
        objects(Source::of_text("t.jsonl", line)?.lines(), |object| {
            found += object.field("n")?.whole(10)?;
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn a_line_may_have_more_than_is_asked_for() {
        assert_eq!(only("{\"x\": [1, {}], \"n\": 3}\n\n{\"n\":4}"), Ok(7));
        assert_eq!(only("{\"x\": 1, \"n\": 3, \"x\": 2}"), Ok(3), "and it may have that twice");
    }

    #[test]
    fn messages_name_the_line_and_what_is_wrong_with_it() {
        let cases = [
            ("{\"n\": 1}\n{\"n\": ", "t.jsonl, line 2: the JSON object is cut off: `{\"n\": `; complete"),
            ("{\"n\": 1}\n[1]", "t.jsonl, line 2: found `[1]` ("),
            ("{\"m\": 1}", "t.jsonl, line 1: there is no `n`; give it in every line"),
            ("{\"n\": null}", "t.jsonl, line 1: there is no `n`; "),
            ("{\"n\": -4}", "t.jsonl, line 1: field `n`: found `-4`; give a whole number from 0 to 10"),
            ("{\"n\": 4, \"n\": 4}", "t.jsonl, line 1: there are several keys `n` in the object; keep one of them"),
            ("{\"n\": 4, \"\\u006e\": null}", "t.jsonl, line 1: there are several keys `n` in"),
            ("{\"n\": \"4\"}", "t.jsonl, line 1: field `n`: found `\"4\"`; "),
        ];
        for (text, start) in cases {
            let message = only(text).expect_err(text).to_string();
            assert!(message.starts_with(start), "{message}");
        }
    }

    #[test]
    fn a_key_is_only_a_key_in_front_of_a_colon() {
        assert!(mentions_key("{\"a\" : 1}", "a"));
        assert!(!mentions_key("{\"b\": \"a\"}", "a"));
    }
}
