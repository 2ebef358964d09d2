//! Reading keys: one thing under several names, as the families of models have them. All readers of a config take their
//! values through here, so that each refuses the same things with the same words. A null counts as absent, as it does for
//! everybody who reads these files.

use super::error::{ConfigError, excerpt, names};
use serde_json::{Map, Value};

/// Largest size that is believed: 2^31 − 1. Every product of three fits in 128 bits with room to spare.
pub const SIZE_MAX: u64 = (1 << 31) - 1;

/// The keys of one object of a config.
#[derive(Clone, Debug)]
pub struct Keys<'a> {
    /// The file, as the user named it.
    pub file: &'a str,
    /// Where the object is in it: empty, or a name and a dot.
    path: String,
    object: &'a Map<String, Value>,
    /// The object around it, for keys that a model of several parts has once for all.
    around: Option<&'a Map<String, Value>>,
}

impl<'a> Keys<'a> {
    /// The keys of the file's own object.
    pub fn new(file: &'a str, object: &'a Map<String, Value>) -> Keys<'a> {
        Keys { file, path: String::new(), object, around: None }
    }

    /// The keys of the object that is the value of `name`; `None` if there is none.
    pub fn inner(&self, name: &str) -> Result<Option<Keys<'a>>, ConfigError> {
        match self.object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(object)) => {
                let path = format!("{}{name}.", self.path);
                Ok(Some(Keys { file: self.file, path, object, around: Some(self.object) }))
            }
            Some(other) => Err(self.refuse(name, other, "give an object")),
        }
    }

    /// The names of all keys here.
    pub fn all(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.object.keys().map(String::as_str)
    }

    /// The first of `wanted` that is there and not null.
    pub fn find<'n>(&self, wanted: &[&'n str]) -> Option<(&'n str, &'a Value)> {
        let there = |name: &&'n str| Some((*name, self.object.get(*name)?)).filter(|(_, value)| !value.is_null());
        wanted.iter().find_map(there)
    }

    /// Whether one of `wanted` is there and not null.
    pub fn has(&self, wanted: &[&str]) -> bool {
        self.find(wanted).is_some()
    }

    /// A size, 1 to [`SIZE_MAX`], that must be there.
    pub fn size(&self, wanted: &[&str]) -> Result<u64, ConfigError> {
        self.size_if_there(wanted)?.ok_or_else(|| self.missing(wanted, "N"))
    }

    /// A size, 1 to [`SIZE_MAX`], if it is there.
    pub fn size_if_there(&self, wanted: &[&str]) -> Result<Option<u64>, ConfigError> {
        self.number(wanted, 1)
    }

    /// A number, 0 to [`SIZE_MAX`], if it is there.
    pub fn count_if_there(&self, wanted: &[&str]) -> Result<Option<u64>, ConfigError> {
        self.number(wanted, 0)
    }

    fn number(&self, wanted: &[&str], least: u64) -> Result<Option<u64>, ConfigError> {
        let Some((name, value)) = self.find(wanted) else { return Ok(None) };
        self.number_of(name, value, least).map(Some)
    }

    /// `value`, that was found under `name`, as a number from `least` to [`SIZE_MAX`].
    pub fn number_of(&self, name: &str, value: &Value, least: u64) -> Result<u64, ConfigError> {
        let number = value.as_u64().filter(|number| (least..=SIZE_MAX).contains(number));
        number.ok_or_else(|| self.refuse(name, value, &format!("give a whole number from {least} to {SIZE_MAX}")))
    }

    /// A yes or no, if it is there.
    pub fn flag(&self, wanted: &[&str]) -> Result<Option<bool>, ConfigError> {
        let Some((name, value)) = self.find(wanted) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| self.refuse(name, value, "give true or false"))
    }

    /// A text, if it is there; also in the object around.
    pub fn text(&self, wanted: &[&str]) -> Result<Option<&'a str>, ConfigError> {
        let around = || {
            let outer = Keys { file: self.file, path: String::new(), object: self.around?, around: None };
            outer.find(wanted)
        };
        let Some((name, value)) = self.find(wanted).or_else(around) else { return Ok(None) };
        value.as_str().map(Some).ok_or_else(|| self.refuse(name, value, "give a text in quotes"))
    }

    /// A list, if it is there.
    pub fn list(&self, wanted: &[&str]) -> Result<Option<(String, &'a [Value])>, ConfigError> {
        let Some((name, value)) = self.find(wanted) else { return Ok(None) };
        match value {
            Value::Array(list) => Ok(Some((name.to_string(), list))),
            other => Err(self.refuse(name, other, "give a list")),
        }
    }

    /// What to answer when a value is not what `want` says.
    pub fn refuse(&self, name: &str, value: &Value, want: &str) -> ConfigError {
        ConfigError::new(self.file, format!("key `{}{name}`: found {}", self.path, excerpt(value)), want)
    }

    /// What to answer when none of `wanted` is there; `example` stands for a value.
    pub fn missing(&self, wanted: &[&str], example: &str) -> ConfigError {
        let first = wanted.first().copied().unwrap_or_default();
        let state = if self.object.contains_key(first) { "is null" } else { "is missing" };
        let others = match wanted.get(1..) {
            None | Some([]) => String::new(),
            Some(others) => format!(" (looked for {} as well)", names(others)),
        };
        ConfigError::new(
            self.file,
            format!("key `{}{first}` {state}{others}", self.path),
            format!("add it, or give --set {first}={example}"),
        )
    }
}
