//! The plan for programs. Bytes are whole numbers; nothing is rounded that is not a count of blocks.

use super::demand::Load;
use super::device;
use super::fit::{Fit, Limit, exceeded};
use super::plan::{Plan, Question};
use super::pool::Pools;
use super::size::Amount;
use super::weights::Weights;
use crate::model_config::{ConfigError, ModelConfig, Part, Span, element_name};
use kvledger_core::plan::{Ratio, Region};
use serde::Serialize;
use std::collections::BTreeMap;

/// The plan.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Document {
    /// The config, as the user named it.
    pub model: String,
    /// `model_type`.
    pub model_type: Option<String>,
    /// Ranks among which the model is divided; everything below is of one of them.
    pub tensor_parallel: u32,
    /// What the cache is kept in.
    pub kv_type: String,
    /// The flag or key that says so.
    pub kv_type_from: String,
    /// B.
    pub block_tokens: u32,
    /// Bytes of a token in all layers that keep it.
    pub token_bytes: u64,
    /// Layers, by how far they look back.
    pub kinds: Vec<KindDocument>,
    /// Layers that keep nothing: feed-forward alone, or another layer's cache.
    pub layers_without: u32,
    /// Layers with a state.
    pub layers_with_state: u32,
    /// Bytes of a sequence's state.
    pub state_bytes: u64,
    /// States that there is room for; null without states or without a device.
    pub sequences: Option<u64>,
    /// The weights.
    pub weights: WeightsDocument,
    /// Bytes of the device.
    pub device_bytes: Option<u64>,
    /// Bytes by region.
    pub regions: BTreeMap<&'static str, u64>,
    /// Bytes of the KV pool that no block has.
    pub unused_bytes: Option<u64>,
    /// M.
    pub context: Option<u32>,
    /// The requests.
    pub load: Option<LoadDocument>,
    /// What fits, policy by policy.
    pub policies: Vec<FitDocument>,
    /// Requests of one trust group that share the prefix, under full-output reservation.
    pub sharing: Option<u64>,
    /// What is needed, policy by policy.
    pub needed: Vec<NeededDocument>,
    /// What was taken for granted.
    pub notes: Vec<&'static str>,
    /// Flags for the replay.
    pub replay: Option<String>,
}

/// Layers of one span.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct KindDocument {
    /// W; null: every token.
    pub window: Option<u32>,
    /// How many they are.
    pub layers: u32,
    /// Bytes of a token.
    pub token_bytes: u64,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Most blocks of a sequence; null without a window.
    pub sequence_blocks_max: Option<u64>,
    /// N.
    pub blocks: Option<u32>,
    /// S.
    pub safety: Option<u32>,
    /// Device bytes, the null block included.
    pub pool_bytes: Option<u64>,
    /// Token slots of the usable blocks.
    pub tokens: Option<u64>,
}

/// The weights.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct WeightsDocument {
    /// `region`, `parameters` or `config`.
    pub from: &'static str,
    /// All parameters.
    pub parameters: Option<u64>,
    /// Those of one rank.
    pub parameters_on_rank: Option<u64>,
    /// By what they belong to.
    pub parts: BTreeMap<&'static str, u64>,
    /// How they are stored.
    #[serde(rename = "type")]
    pub weights_type: Option<String>,
    /// Bytes on one rank; null if they are a share of a device that was not given.
    pub bytes: Option<u64>,
    /// What was not counted.
    pub left_out: Vec<&'static str>,
}

/// The requests.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LoadDocument {
    /// How many lengths.
    pub lengths: usize,
    /// Left out, because they are longer than the context.
    pub too_long: usize,
    /// Tokens of all prompts.
    pub prompt_tokens: u64,
    /// Tokens of all outputs.
    pub output_tokens: u64,
    /// Empty slots, and the slots of the blocks that they are in.
    pub slack: Option<[u64; 2]>,
    /// Empty slots, and the slots of the contiguous regions that they are in.
    pub waste: Option<[u64; 2]>,
}

/// What fits under a policy.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FitDocument {
    /// The policy.
    pub policy: &'static str,
    /// What it promises.
    pub promise: String,
    /// Requests.
    pub requests: u64,
    /// What stopped the next one.
    pub limited_by: String,
    /// Blocks promised, of each kind.
    pub promised_blocks: Vec<u128>,
    /// Blocks held when all are at their longest, of each kind.
    pub longest_blocks: Vec<u128>,
    /// Blocks missing then, of each kind.
    pub short_by: Vec<u128>,
    /// Lengths whose output exceeds the promise.
    pub exceeding: Option<usize>,
    /// The chance that at least one of the requests exceeds it, were they independent.
    pub exceeded_at_least_once_if_independent: Option<f64>,
}

/// What is needed under a policy.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct NeededDocument {
    /// The policy.
    pub policy: &'static str,
    /// N of each kind.
    pub blocks: Vec<u32>,
    /// Bytes of the pool.
    pub pool_bytes: u64,
    /// Bytes of the device.
    pub device_bytes: u64,
}

impl Document {
    /// Whether only one thing can stop admission: there is one kind of layer, and no states.
    pub const fn has_one_limit(&self) -> bool {
        self.kinds.len() == 1 && self.sequences.is_none()
    }

    /// The document of a plan. `kv_type_from`: the flag or key that decided the type of the cache.
    pub fn new(
        model: &ModelConfig,
        question: &Question,
        plan: &Plan,
        kv_type_from: &str,
    ) -> Result<Document, ConfigError> {
        let pools = plan.pools.as_ref();
        let region = |budget: &kvledger_core::plan::Budget| {
            Region::ALL.into_iter().map(|region| (device::name(region), budget.usage(region).bound)).collect()
        };
        let fit = |fit: &Fit| fit_document(question, pools, fit);
        Ok(Document {
            model: model.file().to_string(),
            model_type: model.model_type()?,
            tensor_parallel: question.storage.ranks,
            kv_type: element_name(question.storage.element).to_string(),
            kv_type_from: kv_type_from.to_string(),
            block_tokens: question.storage.block_tokens,
            token_bytes: plan.cache.token_bytes(),
            kinds: kinds(plan, question.storage.block_tokens),
            layers_without: plan.cache.layers_without,
            layers_with_state: plan.cache.layers_with_state,
            state_bytes: plan.cache.state_bytes,
            sequences: pools.and_then(|pools| pools.sequences),
            weights: weights(&plan.weights, question.device_bytes),
            device_bytes: question.device_bytes,
            regions: plan.budget.as_ref().map(region).unwrap_or_default(),
            unused_bytes: pools.map(|pools| pools.unused_bytes),
            context: question.context,
            load: question.load.as_ref().map(|load| load_document(load, plan)),
            policies: plan.fits.iter().map(fit).collect(),
            sharing: plan.sharing,
            needed: plan
                .needed
                .iter()
                .map(|(needed, device_bytes)| NeededDocument {
                    policy: needed.policy.name(),
                    blocks: needed.blocks.clone(),
                    pool_bytes: needed.pool_bytes,
                    device_bytes: *device_bytes,
                })
                .collect(),
            notes: notes(model, question, plan)?,
            replay: pools.and_then(|pools| replay(question, pools)),
        })
    }
}

fn notes(model: &ModelConfig, question: &Question, plan: &Plan) -> Result<Vec<&'static str>, ConfigError> {
    let mut notes = Vec::new();
    let mut note = |applies: bool, text| {
        if applies {
            notes.push(text);
        }
    };
    note(
        !plan.cache.kinds.is_empty() && !model.names_kv_heads()?,
        "No key says how many KV heads there are: each query head is taken to have its own.",
    );
    note(plan.cache.repeated, "There are more ranks than KV heads, or a latent: the same is kept on several ranks.");
    note(question.storage.keeps_windows, "Windows are kept whole.");
    note(
        matches!(plan.weights, Weights::Stated { .. }),
        "The parameters of --parameters are taken to have one type, and to be divided evenly among the ranks.",
    );
    note(
        plan.cache.kinds.len() > 1 && plan.pools.is_some(),
        "The flags for kvledger replay are of the first pool: it has one.",
    );
    Ok(notes)
}

fn kinds(plan: &Plan, block_tokens: u32) -> Vec<KindDocument> {
    let document = |(place, kind): (usize, &super::Kind)| {
        let pool = plan.pools.as_ref().and_then(|pools| pools.pools.get(place));
        KindDocument {
            window: match kind.span {
                Span::Full => None,
                Span::Window(tokens) => Some(tokens),
            },
            layers: kind.layers,
            token_bytes: kind.token_bytes,
            block_bytes: kind.block_bytes,
            sequence_blocks_max: kind.blocks_max,
            blocks: pool.map(|pool| pool.blocks),
            safety: pool.map(|pool| pool.safety),
            // A pool is part of a region of 64-bit size.
            pool_bytes: pool.map(|pool| pool.bytes() as u64),
            tokens: pool.map(|pool| u64::from(pool.blocks) * u64::from(block_tokens)),
        }
    };
    plan.cache.kinds.iter().enumerate().map(document).collect()
}

fn weights(weights: &Weights, device_bytes: Option<u64>) -> WeightsDocument {
    let mut document = WeightsDocument {
        from: "region",
        parameters: None,
        parameters_on_rank: None,
        parts: BTreeMap::new(),
        weights_type: None,
        bytes: None,
        left_out: Vec::new(),
    };
    match weights {
        Weights::Given(amount) => {
            document.bytes = match amount {
                Amount::Bytes(bytes) => Some(*bytes),
                Amount::Share(_) => device_bytes.map(|device| amount.of(device)),
            };
        }
        Weights::Stated { parameters, weights_type, bytes } => {
            document.from = "parameters";
            document.parameters = Some(*parameters);
            document.weights_type = Some(weights_type.name.clone());
            document.bytes = Some(*bytes);
        }
        Weights::Counted { parameters, weights_type, bytes } => {
            document.from = "config";
            document.parameters = Some(parameters.total());
            document.parameters_on_rank = Some(parameters.on_rank());
            let part = |part: Part| (part.name(), parameters.of(part).all);
            document.parts = Part::ALL.into_iter().map(part).filter(|&(_, count)| count > 0).collect();
            document.weights_type = Some(weights_type.name.clone());
            document.bytes = Some(*bytes);
            document.left_out.clone_from(&parameters.left_out);
        }
    }
    document
}

fn load_document(load: &Load, plan: &Plan) -> LoadDocument {
    let sum = |of: fn(&super::Request) -> u32| load.requests.iter().map(|request| u64::from(of(request))).sum();
    let pair = |ratio: Ratio| [ratio.numerator, ratio.denominator];
    LoadDocument {
        lengths: load.requests.len(),
        too_long: load.too_long,
        prompt_tokens: sum(|request| request.prompt),
        output_tokens: sum(|request| request.output),
        slack: plan.slack.map(pair),
        waste: plan.waste.map(pair),
    }
}

fn fit_document(question: &Question, pools: Option<&Pools>, fit: &Fit) -> FitDocument {
    let exceeding = match (fit.policy, &question.load) {
        (super::Policy::Percentile { tokens, .. }, Some(load)) => Some((load, load.exceeding(tokens))),
        _ => None,
    };
    let short = |pools: &Pools| (0..fit.longest.len()).map(|place| fit.short_by(pools, place)).collect();
    FitDocument {
        policy: fit.policy.name(),
        promise: fit.policy.promise(),
        requests: fit.requests,
        limited_by: match fit.limit {
            Limit::Sequences => "states".to_string(),
            Limit::Pool(place) => {
                let pool = pools.and_then(|pools| pools.pools.get(place));
                pool.map(|pool| format!("{} layers", pool.kind.name())).unwrap_or_default()
            }
        },
        promised_blocks: fit.promised.clone(),
        longest_blocks: fit.longest.clone(),
        short_by: pools.map(short).unwrap_or_default(),
        exceeding: exceeding.map(|(_, count)| count),
        exceeded_at_least_once_if_independent: exceeding.and_then(|(load, count)| exceeded(load, fit.requests, count)),
    }
}

/// The first pool, as the replay takes it: it has one.
fn replay(question: &Question, pools: &Pools) -> Option<String> {
    let pool = pools.pools.first()?;
    let context = question.context.map(|context| format!(" --max-context {context}")).unwrap_or_default();
    let (blocks, block, safety) = (pool.blocks, question.storage.block_tokens, pool.safety);
    Some(format!("kvledger replay --pool {blocks} --block-tokens {block} --safety {safety}{context}"))
}
