//! What a model's cache is made of: for each span a kind of block with bytes of its own, and a state for each sequence.
//!
//! Layers that keep every token and layers that keep a window are different pools, because their sequences hold different
//! numbers of blocks. Layers of one span whose shapes differ share a pool: a block has all their bytes.

use super::problem::Problem;
use crate::model_config::{ConfigError, ModelConfig, Span, Stored};
use kvledger_core::Refusal;
use kvledger_core::plan::{Element, Geometry, Grain, Scales, paged};
use std::collections::BTreeMap;

/// How a cache is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Storage {
    /// The type of its elements.
    pub element: Element,
    /// The scales beside them.
    pub scales: Scales,
    /// B.
    pub block_tokens: u32,
    /// Ranks among which heads are divided.
    pub ranks: u32,
    /// d, steps of a sequence that are in flight when the next is prepared: a window holds what they add as well.
    pub steps_in_flight: u32,
    /// The most tokens that a step adds to a sequence.
    pub step_tokens: u32,
    /// Windows are kept whole, as if they had no end.
    pub keeps_windows: bool,
}

/// Layers of one span on one rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kind {
    /// How far back they look.
    pub span: Span,
    /// How many they are.
    pub layers: u32,
    /// One geometry for each shape.
    pub geometries: Vec<Geometry>,
    /// Bytes of a token.
    pub token_bytes: u64,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Most blocks of one sequence, however long it is; `None` without a window.
    pub blocks_max: Option<u64>,
}

impl Kind {
    /// Blocks that a sequence of so many tokens holds at most.
    pub fn blocks(&self, tokens: u64) -> u64 {
        let first = self.geometries.first();
        let whole = tokens.div_ceil(first.map_or(1, |geometry| u64::from(geometry.block_tokens)));
        self.blocks_max.map_or(whole, |most| whole.min(most))
    }

    /// What it is called.
    pub fn name(&self) -> String {
        match self.span {
            Span::Full => "full".to_string(),
            Span::Window(tokens) => format!("window {tokens}"),
        }
    }
}

/// The cache of a model on one rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cache {
    /// The full layers first, then windows from the narrowest on.
    pub kinds: Vec<Kind>,
    /// Layers without a cache of their own.
    pub layers_without: u32,
    /// Layers with a state.
    pub layers_with_state: u32,
    /// Bytes of a sequence's state.
    pub state_bytes: u64,
    /// KV heads are fewer than the ranks, so that some are kept twice.
    pub repeated: bool,
}

impl Cache {
    /// The cache of `model`. `state_bytes` replaces what the config says of states.
    pub fn new(model: &ModelConfig, storage: &Storage, state_bytes: Option<u64>) -> Result<Cache, Problem> {
        let layers = model.layers()?;
        check_ranks(model, storage.ranks)?;
        let mut shapes: BTreeMap<Span, BTreeMap<Shape, u32>> = BTreeMap::new();
        for (span, stored) in layers.iter().filter_map(|layer| layer.keeps) {
            let span = if storage.keeps_windows { Span::Full } else { span };
            *shapes.entry(span).or_default().entry(Shape::from(stored)).or_default() += 1;
        }
        let with_state = layers.iter().filter(|layer| layer.has_state).count() as u32;
        let state_bytes = match state_bytes {
            Some(bytes) => bytes,
            None => model.state_bytes(u64::from(storage.ranks))?,
        };
        let of = |(&span, shapes): (&Span, &BTreeMap<Shape, u32>)| kind(model, storage, span, shapes);
        let kinds: Vec<Kind> = shapes.iter().map(of).collect::<Result<_, _>>()?;
        if kinds.is_empty() && state_bytes == 0 {
            return Err(Problem::of(
                model,
                "no layer keeps anything of a token",
                "give the config of a decoder with attention",
            ));
        }
        let repeats = |shape: &Shape| shape.is_latent() || shape.kv_heads < u64::from(storage.ranks);
        Ok(Cache {
            layers_without: layers.iter().filter(|layer| layer.keeps.is_none() && !layer.has_state).count() as u32,
            layers_with_state: with_state,
            state_bytes,
            repeated: storage.ranks > 1 && shapes.values().flat_map(BTreeMap::keys).any(repeats),
            kinds,
        })
    }

    /// Bytes of a token in all kinds together.
    pub fn token_bytes(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.token_bytes).fold(0, u64::saturating_add)
    }
}

/// A [`Stored`] that has an order, so that equal configs give equal caches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Shape {
    kv_heads: u64,
    key_dim: u64,
    value_dim: u64,
    index_dim: u64,
}

impl Shape {
    const fn is_latent(&self) -> bool {
        self.value_dim == 0
    }
}

impl From<Stored> for Shape {
    fn from(stored: Stored) -> Shape {
        let Stored { kv_heads, key_dim, value_dim, index_dim } = stored;
        Shape { kv_heads, key_dim, value_dim, index_dim }
    }
}

/// Query heads are divided evenly, or nothing is.
fn check_ranks(model: &ModelConfig, ranks: u32) -> Result<(), Problem> {
    match model.query_heads()? {
        Some(heads) if !heads.is_multiple_of(u64::from(ranks)) => Err(Problem::usage(format!(
            "--tensor-parallel {ranks}: the model has {heads} query heads; give a number that divides them"
        ))),
        _ => Ok(()),
    }
}

fn kind(model: &ModelConfig, storage: &Storage, span: Span, shapes: &BTreeMap<Shape, u32>) -> Result<Kind, Problem> {
    let (ranks, mut geometries) = (u64::from(storage.ranks), Vec::new());
    for (shape, &layers) in shapes {
        if !shape.is_latent() && !shape.kv_heads.is_multiple_of(ranks) && !ranks.is_multiple_of(shape.kv_heads) {
            return Err(Problem::usage(format!(
                "--tensor-parallel {ranks}: the model has {} KV heads a layer; give a number that divides them, or a multiple of them",
                shape.kv_heads
            )));
        }
        let geometry = Geometry {
            layers,
            kv_heads: narrow(shape.kv_heads.div_ceil(if shape.is_latent() { 1 } else { ranks })),
            key_dim: narrow(shape.key_dim),
            value_dim: narrow(shape.value_dim),
            block_tokens: storage.block_tokens,
            block_align_bytes: 16,
            element: storage.element,
            scales: storage.scales,
        };
        geometries.push(geometry);
        if shape.index_dim > 0 {
            // One key a token for the indexer, with its own scale (vLLM's layout for DeepSeek-V3.2: 128 + 4 bytes).
            let scales = Scales { grain: Grain::Token, bytes: 4, group: 0 };
            let key_dim = narrow(shape.index_dim);
            geometries.push(Geometry {
                kv_heads: 1,
                key_dim,
                value_dim: 0,
                element: Element::E4m3,
                scales,
                ..geometry
            });
        }
    }
    let sum = |of: fn(&Geometry) -> Result<u64, Refusal>| {
        let add = |sum: u64, geometry| sum.checked_add(of(geometry).ok()?);
        let overflow = || Problem::from(ConfigError::overflow(model.file(), "the bytes of a token or block"));
        geometries.iter().try_fold(0u64, add).ok_or_else(overflow)
    };
    let (token_bytes, block_bytes) = (sum(Geometry::token_bytes)?, sum(Geometry::block_bytes)?);
    let blocks_max = match span {
        Span::Full => None,
        Span::Window(tokens) => {
            let (in_flight, chunk) = (storage.steps_in_flight, storage.step_tokens);
            Some(paged::window_blocks(tokens, in_flight, chunk, storage.block_tokens).map_err(Problem::refused)?)
        }
    };
    let layers = shapes.values().sum();
    Ok(Kind { span, layers, geometries, token_bytes, block_bytes, blocks_max })
}

/// Sizes of a config are below 2^32.
fn narrow(size: u64) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}
