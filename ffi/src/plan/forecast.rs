//! The binomial distribution. C passes its two parameters with each call.

use crate::answer::{KvlRefusal, fill, invalid};
use crate::claim::Out;
use kvledger_core::plan::Binomial;
use kvledger_core::{Argument, Refusal};

/// `INVALID(Length)` for more trials than the most, or a probability that is not in 0 ..= 1.
fn binomial(trials: u32, probability: f64) -> Result<Binomial, Refusal> {
    Binomial::new(trials, probability).ok_or(invalid(Argument::Length))
}

/// `Binomial::pmf`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_binomial_pmf(
    trials: u32,
    probability: f64,
    successes: u32,
    mass: Out<'_, f64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(mass, refusal, || Ok(binomial(trials, probability)?.pmf(successes)))
}

/// `Binomial::tail`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_binomial_tail(
    trials: u32,
    probability: f64,
    successes: u32,
    tail: Out<'_, f64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(tail, refusal, || Ok(binomial(trials, probability)?.tail(successes)))
}

/// `Binomial::mean`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_binomial_mean(
    trials: u32,
    probability: f64,
    mean: Out<'_, f64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(mean, refusal, || Ok(binomial(trials, probability)?.mean()))
}

/// `Binomial::variance`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_binomial_variance(
    trials: u32,
    probability: f64,
    variance: Out<'_, f64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(variance, refusal, || Ok(binomial(trials, probability)?.variance()))
}
