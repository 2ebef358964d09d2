//! A model's `config.json`, as Hugging Face publishes it, and what it says about memory: which layers keep what of a
//! token, how large the state of a sequence is, and how many parameters there are in what type.
//!
//! The problem: every family of models has its own names and leaves its own things to its class, and a wrong reading is a
//! plausible number. So each question has one file here, each answer names the keys that it looked for, and what is not
//! known is an error that says which flag replaces it.
//!
//! 1. [`ModelConfig::read`] reads the file, applies `--set`, and finds the part about text.
//! 2. [`layers`](ModelConfig::layers): what each layer keeps ([`Layer`]), [`state_bytes`](ModelConfig::state_bytes).
//! 3. [`cache_element`](ModelConfig::cache_element): the type that the cache is kept in.
//! 4. [`parameters`](ModelConfig::parameters), [`weights_type`](ModelConfig::weights_type): for the weights.

mod element;
mod error;
mod heads;
mod json;
mod keys;
mod layers;
mod parameters;
mod quantization;
mod state;

pub use element::name as element_name;
pub use error::ConfigError;
pub use heads::Stored;
pub use keys::SIZE_MAX;
pub use layers::{LAYERS_MAX, Layer, Span};
pub use parameters::{Parameters, Part, Share};
pub use quantization::{Format, WeightsType};

use keys::Keys;
use kvledger_core::plan::Element;
use serde_json::{Map, Value};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Longest config: 64 MiB. Published ones have up to some 100 KB.
const BYTES_MAX: u64 = 1 << 26;
/// Where a model of several parts keeps the one about text.
const TEXT_PARTS: [&str; 4] = ["text_config", "llm_config", "language_config", "thinker_config"];
/// Parts whose parameters are not counted.
const OTHER_PARTS: [&str; 3] = ["vision_config", "audio_config", "visual"];

/// A key and the value that it is to have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    /// The key.
    pub key: String,
    /// What it is set to.
    pub value: Value,
}

impl std::str::FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Setting, String> {
        let (key, value) = text.split_once('=').filter(|(key, _)| !key.trim().is_empty()).ok_or("give KEY=VALUE")?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        Ok(Setting { key: key.trim().to_string(), value })
    }
}

/// A config.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelConfig {
    file: String,
    root: Map<String, Value>,
    /// Names from the root to the part about text.
    text: Vec<&'static str>,
}

impl ModelConfig {
    /// The file that a path means: itself, or `config.json` in a folder.
    pub fn file_of(path: &Path) -> PathBuf {
        if path.is_dir() { path.join("config.json") } else { path.to_path_buf() }
    }

    /// Reads a file, or `config.json` in a folder.
    pub fn read(path: &Path, settings: &[Setting]) -> Result<ModelConfig, ConfigError> {
        let file = ModelConfig::file_of(path);
        let name = file.display().to_string();
        let mend = "give a model's config.json, or its folder";
        let mut bytes = Vec::new();
        // One byte more than is allowed, to see that there is more. A pipe may be read, and so may a device that ends.
        let read = std::fs::File::open(&file).and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut bytes));
        read.map_err(|error| ConfigError::new(&name, format!("cannot be read: {error}"), mend))?;
        if bytes.len() as u64 > BYTES_MAX {
            return Err(ConfigError::new(&name, format!("is longer than {BYTES_MAX} bytes"), mend));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| ConfigError::new(&name, "found bytes that are not UTF-8", "give a text file"))?;
        ModelConfig::parse(&name, &text, settings)
    }

    /// The same from a text, which messages call `name`.
    pub fn parse(name: &str, text: &str, settings: &[Setting]) -> Result<ModelConfig, ConfigError> {
        let text = json::without_infinities(text.strip_prefix('\u{feff}').unwrap_or(text));
        let value: Value = serde_json::from_str(&text)
            .map_err(|error| ConfigError::new(name, format!("no JSON: {error}"), "give a model's config.json"))?;
        let Value::Object(root) = value else {
            return Err(ConfigError::new(name, "found no object", "give a model's config.json"));
        };
        let mut config = ModelConfig { file: name.to_string(), text: text_part(&root), root };
        // The path was found in the root: it is there.
        if let Some(part) =
            config.text.iter().try_fold(&mut config.root, |part, step| part.get_mut(*step)?.as_object_mut())
        {
            for setting in settings {
                part.insert(setting.key.clone(), setting.value.clone());
            }
        }
        Ok(config)
    }

    /// The keys of the part about text.
    fn keys(&self) -> Result<Keys<'_>, ConfigError> {
        let mut keys = Keys::new(&self.file, &self.root);
        for step in &self.text {
            if let Some(inner) = keys.inner(step)? {
                keys = inner;
            }
        }
        Ok(keys)
    }

    /// How its numbers are quantised, if they are: said of the text, or once for all.
    fn quantization(&self) -> Result<Option<Keys<'_>>, ConfigError> {
        let outer = Keys::new(&self.file, &self.root);
        match self.keys()?.inner("quantization_config")? {
            Some(inner) => Ok(Some(inner)),
            None => outer.inner("quantization_config"),
        }
    }

    /// The file, as the user named it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// `model_type`, if it says.
    pub fn model_type(&self) -> Result<Option<String>, ConfigError> {
        Ok(self.keys()?.text(&["model_type"])?.map(str::to_string))
    }

    /// The longest context that the model was made for, if it says.
    pub fn context(&self) -> Result<Option<u32>, ConfigError> {
        let names =
            ["max_position_embeddings", "n_positions", "n_ctx", "seq_length", "max_seq_len", "model_max_length"];
        Ok(self.keys()?.size_if_there(&names)?.map(|tokens| tokens as u32))
    }

    /// What each layer keeps.
    pub fn layers(&self) -> Result<Vec<Layer>, ConfigError> {
        layers::read(&self.keys()?)
    }

    /// Query heads, if it says.
    pub fn query_heads(&self) -> Result<Option<u64>, ConfigError> {
        self.keys()?.size_if_there(&heads::QUERY_HEADS)
    }

    /// Whether it says how many KV heads there are. If not, each query head is taken to have its own.
    pub fn names_kv_heads(&self) -> Result<bool, ConfigError> {
        Ok(heads::names_kv_heads(&self.keys()?))
    }

    /// Bytes of the state that all layers together keep of one sequence on one of `ranks`; 0 if there is none.
    pub fn state_bytes(&self, ranks: u64) -> Result<u64, ConfigError> {
        let count = self.layers()?.iter().filter(|layer| layer.has_state).count() as u64;
        if count == 0 {
            return Ok(0);
        }
        let bytes = state::bytes(&self.keys()?, ranks)?.checked_mul(count);
        bytes.ok_or_else(|| ConfigError::overflow(&self.file, "the bytes of a sequence's state"))
    }

    /// The type that the cache is kept in, and the key that says so.
    pub fn cache_element(&self) -> Result<(Element, &'static str), ConfigError> {
        element::of_cache(&self.keys()?, self.quantization()?.as_ref())
    }

    /// The type of the weights.
    pub fn weights_type(&self) -> Result<WeightsType, ConfigError> {
        quantization::of_weights(&self.keys()?, self.quantization()?.as_ref())
    }

    /// The parameters, whole and on one of `ranks`.
    pub fn parameters(&self, ranks: u64) -> Result<Parameters, ConfigError> {
        if let Some(part) = OTHER_PARTS.into_iter().find(|part| self.root.get(*part).is_some_and(Value::is_object)) {
            let found = format!("key `{part}` is there: only parameters of the part about text are counted");
            return Err(ConfigError::new(&self.file, found, "give --parameters, or --region weights=SIZE"));
        }
        parameters::count(&self.keys()?, ranks)
    }
}

/// Names from the root to the part about text: none if the root itself has layers.
fn text_part(root: &Map<String, Value>) -> Vec<&'static str> {
    let (mut part, mut path) = (root, Vec::new());
    while !layers::LAYERS.iter().any(|name| part.contains_key(*name)) {
        let inner = TEXT_PARTS.into_iter().find_map(|name| Some((name, part.get(name)?.as_object()?)));
        let Some((name, object)) = inner else { break };
        path.push(name);
        part = object;
    }
    path
}
