//! Why a plan could not be made: what was given cannot be used, or it does not fit.

use crate::model_config::{ConfigError, ModelConfig};
use kvledger_core::Refusal;
use std::fmt;

/// Why there is no plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    /// The flags or the config cannot be used.
    Usage(String),
    /// They can, and what was asked for does not fit.
    DoesNotFit(String),
}

impl Problem {
    /// What was given cannot be used.
    pub fn usage(message: impl Into<String>) -> Problem {
        Problem::Usage(message.into())
    }

    /// Something about a model.
    pub fn of(model: &ModelConfig, found: &str, mend: &str) -> Problem {
        Problem::Usage(format!("{}: {found}; {mend}", model.file()))
    }

    /// An answer of the core that only absurd sizes get.
    pub fn refused(refusal: Refusal) -> Problem {
        Problem::Usage(format!("the sizes are too large to be counted ({refusal}); check the flags and the config"))
    }

    /// Bytes or blocks that do not fit in 64 bits.
    pub fn overflow(what: &str) -> Problem {
        Problem::Usage(format!("{what} do not fit in 64 bits; check the lengths and counts that were given"))
    }
}

impl From<ConfigError> for Problem {
    fn from(error: ConfigError) -> Problem {
        Problem::Usage(error.to_string())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Usage(message) | Problem::DoesNotFit(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Problem {}
