//! The binomial facts that the specification states, and the distribution against exact integer arithmetic.

use kvledger_core::plan::{Binomial, TRIALS_MAX};

fn close(a: f64, b: f64, relative: f64) -> bool {
    (a - b).abs() <= relative * b.abs()
}

/// C(n, k), exact.
fn choose(n: u32, k: u32) -> u128 {
    (0..k).fold(1u128, |product, i| product * u128::from(n - i) / u128::from(i + 1))
}

#[test]
fn at_least_one_of_twenty_exceeds() {
    let rounded = |p| (Binomial::new(20, p).unwrap().tail(1) * 10_000.0).round() / 10_000.0;
    assert_eq!(rounded(0.05), 0.6415);
    assert_eq!(rounded(0.1), 0.8784);
    assert!(close(Binomial::new(20, 0.05).unwrap().tail(1), 1.0 - 0.95f64.powi(20), 1e-14));
}

#[test]
fn ten_fair_trials_have_mean_5_variance_2_5_and_total_1() {
    let fair = Binomial::new(10, 0.5).unwrap();
    assert_eq!(fair.mean(), 5.0);
    assert_eq!(fair.variance(), 2.5);
    let masses: Vec<f64> = (0..=10).map(|k| fair.pmf(k)).collect();
    assert_eq!(masses.iter().sum::<f64>(), 1.0);
    let mean: f64 = (0u32..).zip(&masses).map(|(k, mass)| f64::from(k) * mass).sum();
    let variance: f64 = (0u32..).zip(&masses).map(|(k, mass)| (f64::from(k) - 5.0).powi(2) * mass).sum();
    assert!(close(mean, 5.0, 1e-15) && close(variance, 2.5, 1e-15));
}

#[test]
fn the_masses_are_those_of_exact_integers() {
    // p = 3/8, so that p, 1 − p and their powers are exact: P(k) = C(n,k) · 3^k · 5^(n−k) / 8^n.
    for n in [1u32, 2, 7, 20, 36] {
        let binomial = Binomial::new(n, 0.375).unwrap();
        for k in 0..=n {
            let exact = (choose(n, k) * 3u128.pow(k)) as f64 * 5f64.powi((n - k) as i32) / 8f64.powi(n as i32);
            assert!(close(binomial.pmf(k), exact, 1e-13), "n {n} k {k}: {} {exact}", binomial.pmf(k));
        }
    }
}

#[test]
fn tails_are_sums_of_masses() {
    let binomial = Binomial::new(36, 0.375).unwrap();
    for k in 0..=36 {
        let sum: f64 = (k..=36).map(|k| binomial.pmf(k)).sum();
        assert!(close(binomial.tail(k), sum, 1e-13), "k {k}");
    }
    assert_eq!(binomial.tail(0), 1.0);
    assert_eq!(binomial.tail(37), 0.0);
    assert_eq!(binomial.pmf(37), 0.0);
}

#[test]
fn a_small_tail_keeps_its_digits() {
    let binomial = Binomial::new(20, 0.001).unwrap();
    assert!(close(binomial.tail(20), 1e-60, 1e-12), "{}", binomial.tail(20));
}

#[test]
fn many_trials_do_not_underflow() {
    let many = Binomial::new(TRIALS_MAX, 0.5).unwrap();
    let half = f64::from(TRIALS_MAX / 2);
    // Stirling: the largest mass is 1/sqrt(pi·n/2), less a part in 4n.
    assert!(close(many.pmf(TRIALS_MAX / 2), (std::f64::consts::PI * half).sqrt().recip(), 1e-6));
    let above = many.tail(TRIALS_MAX / 2 + 1);
    assert!(close(above, 0.5 - many.pmf(TRIALS_MAX / 2) / 2.0, 1e-9), "{above}");
}

#[test]
fn certain_and_impossible_trials() {
    let never = Binomial::new(20, 0.0).unwrap();
    assert_eq!((never.pmf(0), never.tail(1), never.mean(), never.variance()), (1.0, 0.0, 0.0, 0.0));
    let always = Binomial::new(20, 1.0).unwrap();
    assert_eq!((always.pmf(20), always.pmf(19), always.tail(20), always.variance()), (1.0, 0.0, 1.0, 0.0));
    let nothing = Binomial::new(0, 0.3).unwrap();
    assert_eq!((nothing.pmf(0), nothing.tail(0), nothing.tail(1)), (1.0, 1.0, 0.0));
    let tiny = Binomial::new(20, f64::MIN_POSITIVE).unwrap();
    assert_eq!((tiny.pmf(0), tiny.tail(1) > 0.0), (1.0, true));
}

#[test]
fn what_is_no_probability_is_refused() {
    for p in [-0.1, 1.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Binomial::new(20, p), None, "{p}");
    }
    assert_eq!(Binomial::new(TRIALS_MAX + 1, 0.5), None);
}
