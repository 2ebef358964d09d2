//! The binomial distribution. C passes its two parameters with each call.

use crate::answer::{KvlRefusal, fill, invalid};
use crate::claim::Out;
use kvledger_core::plan::{Binomial, TRIALS_MAX};
use kvledger_core::{Argument, Refusal};

/// `INVALID(Trials)` for more than the most, `INVALID(Probability)` for one that is not in 0 ..= 1.
fn binomial(trials: u32, probability: f64) -> Result<Binomial, Refusal> {
    let wrong = if trials > TRIALS_MAX { Argument::Trials } else { Argument::Probability };
    Binomial::new(trials, probability).ok_or(invalid(wrong))
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
