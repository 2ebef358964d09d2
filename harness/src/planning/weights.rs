//! What the weights take on one device, and how that is known.

use super::problem::Problem;
use super::size::Amount;
use crate::model_config::{ModelConfig, Parameters, WeightsType};

/// Where the bytes of the weights come from.
#[derive(Clone, PartialEq, Debug)]
pub enum Weights {
    /// `--region weights=`.
    Given(Amount),
    /// `--parameters`, and a type.
    Stated {
        /// All parameters.
        parameters: u64,
        /// How they are stored.
        weights_type: WeightsType,
        /// Bytes of one rank.
        bytes: u64,
    },
    /// Counted from the config.
    Counted {
        /// By what they belong to.
        parameters: Parameters,
        /// How they are stored.
        weights_type: WeightsType,
        /// Bytes of one rank.
        bytes: u64,
    },
}

/// What was given about weights.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// `--region weights=`.
    pub region: Option<Amount>,
    /// `--parameters`.
    pub parameters: Option<u64>,
    /// `--weights-type`.
    pub weights_type: Option<WeightsType>,
}

impl Weights {
    /// The weights of `model` on one of `ranks`.
    pub fn new(model: &ModelConfig, said: &Said, ranks: u32) -> Result<Weights, Problem> {
        if let Some(amount) = said.region {
            if said.parameters.is_some() || said.weights_type.is_some() {
                let message = "--region weights=... says it all; leave out --parameters and --weights-type";
                return Err(Problem::usage(message));
            }
            return Ok(Weights::Given(amount));
        }
        let weights_type = match &said.weights_type {
            Some(weights_type) => weights_type.clone(),
            None => model.weights_type()?,
        };
        if let Some(parameters) = said.parameters {
            // Nothing is known of their parts: all are taken for matrices.
            let bytes = weights_type.matrices.bytes(parameters.div_ceil(u64::from(ranks)));
            let bytes = u64::try_from(bytes).map_err(|_| Problem::overflow("the bytes of the weights"))?;
            return Ok(Weights::Stated { parameters, weights_type, bytes });
        }
        let parameters = model.parameters(u64::from(ranks))?;
        let bytes = parameters.bytes_on_rank(&weights_type);
        let bytes = bytes.ok_or_else(|| Problem::overflow("the bytes of the weights"))?;
        Ok(Weights::Counted { parameters, weights_type, bytes })
    }

    /// How much of a device they take.
    pub const fn amount(&self) -> Amount {
        match self {
            Weights::Given(amount) => *amount,
            Weights::Stated { bytes, .. } | Weights::Counted { bytes, .. } => Amount::Bytes(*bytes),
        }
    }
}
