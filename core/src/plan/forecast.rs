//! How many of n independent trials succeed: the binomial distribution, with + − × ÷ only.
//!
//! The use is a warning. A forecast that one request exceeds with p = 0.05 is exceeded by at least one of twenty with
//! p = 0.64: a percentile is not a bound, and a promise below the hard maximum needs an exceedance policy. The numbers
//! hold for *independent* trials with one fixed p. Requests of one workload are often correlated (the same prompt
//! template, the same hour), and then the true figure can be anything up to certainty: say so wherever one is shown.
//!
//! How: neighbouring probabilities have a simple ratio, P(k+1)/P(k) = (n−k)/(k+1) · p/(1−p). Weights are walked from
//! the mode, where the weight is 1, to both ends, and divided by their sum. So nothing underflows that matters, no
//! power, logarithm or factorial is needed, and every rounding is relative to its own term.

/// Most trials. Bounds the walk: a call does at most so many steps.
pub const TRIALS_MAX: u32 = 1 << 20;

/// n independent trials, each a success with probability p.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Binomial {
    trials: u32,
    probability: f64,
}

impl Binomial {
    /// `None` if there are more than [`TRIALS_MAX`] trials, or `probability` is not in 0 ..= 1.
    pub const fn new(trials: u32, probability: f64) -> Option<Binomial> {
        if trials > TRIALS_MAX || !(probability >= 0.0 && probability <= 1.0) {
            return None;
        }
        Some(Binomial { trials, probability })
    }

    /// P(exactly `successes`). Cost: one pass over 0..=n.
    pub const fn pmf(&self, successes: u32) -> f64 {
        self.share(successes, successes)
    }

    /// P(at least `successes`), summed from that side, so that a small tail keeps its digits. Cost: one pass.
    pub const fn tail(&self, successes: u32) -> f64 {
        self.share(successes, u32::MAX)
    }

    /// n·p.
    pub const fn mean(&self) -> f64 {
        self.trials as f64 * self.probability
    }

    /// n·p·(1−p).
    pub const fn variance(&self) -> f64 {
        self.mean() * (1.0 - self.probability)
    }

    /// P(`first` ..= `last`).
    const fn share(&self, first: u32, last: u32) -> f64 {
        let mode = self.mode();
        let mut all = 0.0;
        let mut part = 0.0;
        // Up from the mode, the mode included, then down from below it.
        let mut weight = 1.0;
        let mut k = mode;
        while k <= self.trials {
            all += weight;
            if first <= k && k <= last {
                part += weight;
            }
            weight *= self.ratio(k);
            k += 1;
        }
        let mut weight = 1.0;
        let mut k = mode;
        while k > 0 {
            k -= 1;
            weight /= self.ratio(k);
            all += weight;
            if first <= k && k <= last {
                part += weight;
            }
        }
        part / all
    }

    /// P(k+1)/P(k). Infinite at p = 1, where the mode is n and every weight below it is 1/∞ = 0.
    const fn ratio(&self, k: u32) -> f64 {
        let odds = self.probability / (1.0 - self.probability);
        // The cast is exact: both are at most TRIALS_MAX + 1.
        (self.trials.saturating_sub(k) as f64) / (k as f64 + 1.0) * odds
    }

    /// A most likely count: ⌊(n+1)·p⌋, at most n.
    const fn mode(&self) -> u32 {
        let floor = ((self.trials as f64 + 1.0) * self.probability) as u32;
        if floor < self.trials { floor } else { self.trials }
    }
}
