//! How many parameters a model has, from its dimensions: exactly, for the architectures that are known here by
//! `model_type`, and not at all for others. A guess would be believed.
//!
//! 1. [`family`] says what the class of a model has that its config does not: biases, norms, gates.
//! 2. [`attention`], [`feed_forward`] and [`recurrent`] add the terms of a layer to a [`Tally`].
//! 3. [`count`] walks the layers and answers with the sum, whole and of one rank.
//!
//! A matrix is divided among the ranks; norms, routers and what leads into a latent are on each. KV heads that are fewer
//! than the ranks are repeated.

mod attention;
mod family;
mod feed_forward;
mod recurrent;

use super::error::ConfigError;
use super::heads::HIDDEN;
use super::keys::Keys;
use super::layers::{self, Kind};
use super::quantization::WeightsType;
use family::Family;

/// What a parameter belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    /// Token embeddings (and positions, where they are learnt).
    Embedding,
    /// The output head, unless it is the embeddings again.
    Head,
    /// Projections of attention.
    Attention,
    /// Dense feed-forward blocks, and experts that everybody shares.
    FeedForward,
    /// Experts that are chosen.
    Experts,
    /// Recurrent blocks and linear attention.
    Recurrent,
    /// Routers.
    Router,
    /// Norms.
    Norm,
    /// Biases of all of these.
    Bias,
}

impl Part {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Part; 9] = [
        Part::Embedding,
        Part::Head,
        Part::Attention,
        Part::FeedForward,
        Part::Experts,
        Part::Recurrent,
        Part::Router,
        Part::Norm,
        Part::Bias,
    ];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Part::Embedding => "embeddings",
            Part::Head => "output head",
            Part::Attention => "attention",
            Part::FeedForward => "feed-forward",
            Part::Experts => "experts",
            Part::Recurrent => "recurrent",
            Part::Router => "routers",
            Part::Norm => "norms",
            Part::Bias => "biases",
        }
    }
}

/// Parameters of the whole model, and those that one rank has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Share {
    /// All.
    pub all: u64,
    /// Of one rank.
    pub on_rank: u64,
}

/// Parameters, by what they belong to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// In the order of [`Part::ALL`].
    parts: [Share; Part::ALL.len()],
    /// What was left out, in words.
    pub left_out: Vec<&'static str>,
}

impl Parameters {
    /// Those of a part.
    pub const fn of(&self, part: Part) -> Share {
        self.parts[part as usize]
    }

    /// All parameters of the model. The sum was checked when it was counted.
    pub fn total(&self) -> u64 {
        self.parts.iter().map(|share| share.all).sum()
    }

    /// All parameters of one rank.
    pub fn on_rank(&self) -> u64 {
        self.parts.iter().map(|share| share.on_rank).sum()
    }

    /// Bytes of one rank's parameters; `None` if they do not fit in 64 bits.
    pub fn bytes_on_rank(&self, weights: &WeightsType) -> Option<u64> {
        let bytes = |part: Part| {
            let format = match part {
                Part::Attention | Part::FeedForward | Part::Recurrent => weights.matrices,
                Part::Experts => weights.experts,
                Part::Embedding | Part::Head | Part::Router | Part::Norm | Part::Bias => weights.rest,
            };
            format.bytes(self.of(part).on_rank)
        };
        u64::try_from(Part::ALL.into_iter().map(bytes).sum::<u128>()).ok()
    }
}

/// Sums in 128 bits: every term is a product of at most three sizes below 2^31, and there are fewer than 2^24 of them.
pub struct Tally {
    ranks: u128,
    all: [u128; Part::ALL.len()],
    on_rank: [u128; Part::ALL.len()],
}

impl Tally {
    fn new(ranks: u64) -> Tally {
        Tally { ranks: u128::from(ranks), all: [0; Part::ALL.len()], on_rank: [0; Part::ALL.len()] }
    }

    /// Parameters that are divided among the ranks.
    fn divided(&mut self, part: Part, count: u128) {
        self.all[part as usize] += count;
        self.on_rank[part as usize] += count.div_ceil(self.ranks);
    }

    /// Parameters that every rank has.
    fn on_each(&mut self, part: Part, count: u128) {
        self.all[part as usize] += count;
        self.on_rank[part as usize] += count;
    }

    /// Parameters of so many heads, which are repeated where they are fewer than the ranks.
    fn by_heads(&mut self, part: Part, heads: u64, of_head: u128) {
        let heads = u128::from(heads);
        self.all[part as usize] += heads * of_head;
        self.on_rank[part as usize] += heads.div_ceil(self.ranks) * of_head;
    }

    fn finish(self, keys: &Keys<'_>, left_out: Vec<&'static str>) -> Result<Parameters, ConfigError> {
        let fits = |sums: &[u128; Part::ALL.len()]| u64::try_from(sums.iter().sum::<u128>()).is_ok();
        if !fits(&self.all) || !fits(&self.on_rank) {
            return Err(ConfigError::overflow(keys.file, "the parameters"));
        }
        let mut parts = [Share::default(); Part::ALL.len()];
        for (share, (all, on_rank)) in parts.iter_mut().zip(self.all.into_iter().zip(self.on_rank)) {
            *share = Share { all: all as u64, on_rank: on_rank as u64 };
        }
        Ok(Parameters { parts, left_out })
    }
}

/// Counts the parameters of a model that runs on so many ranks.
pub fn count(keys: &Keys<'_>, ranks: u64) -> Result<Parameters, ConfigError> {
    let family = Family::of(keys)?;
    let hidden = u128::from(keys.size(&HIDDEN)?);
    let mut tally = Tally::new(ranks);
    embeddings(&mut tally, keys, &family, hidden)?;
    let kinds = layers::kinds(keys)?;
    for (index, &kind) in kinds.iter().enumerate() {
        match kind {
            Kind::Full | Kind::Sliding | Kind::Chunked => attention::add(&mut tally, keys, &family)?,
            Kind::State => recurrent::add(&mut tally, keys)?,
            Kind::FullAndState => return Err(family::not_known(keys)),
            Kind::Neither => {}
        }
        if family.has_feed_forward(kind) {
            feed_forward::add(&mut tally, keys, &family, index as u64)?;
        }
        tally.on_each(Part::Norm, u128::from(family.norms) * hidden * family.norm_width());
    }
    tally.on_each(Part::Norm, hidden * family.norm_width());
    let mut left_out = Vec::new();
    if keys.count_if_there(&["num_nextn_predict_layers", "mtp_num_hidden_layers"])?.unwrap_or(0) > 0 {
        left_out.push("layers that predict further tokens (num_nextn_predict_layers)");
    }
    tally.finish(keys, left_out)
}

fn embeddings(tally: &mut Tally, keys: &Keys<'_>, family: &Family, hidden: u128) -> Result<(), ConfigError> {
    let vocabulary = u128::from(keys.size(&["vocab_size"])?);
    tally.divided(Part::Embedding, vocabulary * hidden);
    if family.learnt_positions {
        tally.on_each(Part::Embedding, u128::from(keys.size(&["n_positions", "max_position_embeddings"])?) * hidden);
    }
    if !keys.flag(&["tie_word_embeddings"])?.unwrap_or(family.tied) {
        tally.divided(Part::Head, vocabulary * hidden);
    }
    Ok(())
}
