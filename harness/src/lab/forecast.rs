//! How many of n requests exceed a forecast that each exceeds with probability p.

use super::bar::bar;
use crate::report::{Columns, prose};
use kvledger_core::plan::Binomial;
use serde::Serialize;

/// Most rows of bars; more counts than that are drawn together.
const ROWS_MAX: u32 = 21;
/// Shares of the weight of one common cause that are shown.
const SHARED_CAUSE: [f64; 4] = [0.0, 0.1, 0.5, 1.0];

/// The answers for n and p.
#[derive(Clone, Debug, Serialize)]
pub struct Forecast {
    /// n.
    pub requests: u32,
    /// p.
    pub probability: f64,
    /// n·p.
    pub mean: f64,
    /// n·p·(1 − p).
    pub variance: f64,
    /// P(K ≥ 1).
    pub at_least_one: f64,
    /// k of the next line.
    pub count: u32,
    /// P(K = k).
    pub exactly: f64,
    /// P(K ≥ k).
    pub at_least: f64,
    /// The sum of all probabilities, added up: 1, but for rounding.
    pub total: f64,
    /// P(first ≤ K ≤ last), for each row of the picture.
    pub rows: Vec<Row>,
    /// What dependence does.
    pub dependence: Vec<Dependence>,
}

/// Neighbouring counts.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Row {
    /// From.
    pub first: u32,
    /// To, included.
    pub last: u32,
    /// Their probability together.
    pub probability: f64,
}

/// The same n and p, but with probability `shared` one draw decides for all requests at once, and else each draws alone.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Dependence {
    /// The probability of the common draw.
    pub shared: f64,
    /// n·p, whatever `shared` is.
    pub mean: f64,
    /// n·p·(1 − p)·(1 + shared·(n − 1)).
    pub variance: f64,
    /// P(K ≥ 1) = (1 − shared)·(1 − (1 − p)^n) + shared·p.
    pub at_least_one: f64,
    /// P(K = n) = (1 − shared)·p^n + shared·p.
    pub all: f64,
}

impl Forecast {
    /// For `requests` independent ones that exceed with `probability`, and `count` of them. `None`: no such numbers
    /// ([`Binomial::new`]), or a count above `requests`.
    pub fn new(requests: u32, probability: f64, count: u32) -> Option<Forecast> {
        let independent = Binomial::new(requests, probability)?;
        if count > requests {
            return None;
        }
        let rows = rows(&independent, requests);
        Some(Forecast {
            requests,
            probability,
            mean: independent.mean(),
            variance: independent.variance(),
            at_least_one: independent.tail(1),
            count,
            exactly: independent.pmf(count),
            at_least: independent.tail(count),
            total: rows.iter().map(|row| row.probability).sum(),
            dependence: SHARED_CAUSE.map(|shared| depend(&independent, requests, probability, shared)).into(),
            rows,
        })
    }

    /// In words, on lines of `width` characters.
    pub fn text(&self, width: usize) -> String {
        let Forecast { requests, probability, count, .. } = self;
        let title = format!("{requests} independent requests, each exceeds its forecast with p = {probability}");
        let mut text = prose(&title, width, 0);
        text += &format!(
            "\nmean n·p                {}\nvariance n·p·(1-p)      {}\nP(at least one)         {}\n\
             P(exactly {count})            {}\nP(at least {count})           {}\ntotal probability       {}\n\n",
            number(self.mean),
            number(self.variance),
            number(self.at_least_one),
            number(self.exactly),
            number(self.at_least),
            number(self.total),
        );
        let name = |row: &Row| match row.first == row.last {
            true => row.first.to_string(),
            false => format!("{}..{}", row.first, row.last),
        };
        let most = self.rows.iter().map(|row| row.probability).fold(0.0, f64::max);
        let room = width.saturating_sub(24).clamp(4, 50);
        text += &prose("how many exceed it, and how probable that is", width, 0);
        text += &Columns::new(self.rows.iter().map(name))
            .column("P", self.rows.iter().map(|row| number(row.probability)))
            .texts("", self.rows.iter().map(|row| bar(row.probability, most, room)))
            .render(width);
        text + "\n" + &self.dependence_text(width)
    }

    fn dependence_text(&self, width: usize) -> String {
        let title =
            "What dependence does: with this share of probability one draw decides for all, and else each draws alone.";
        let mut text = prose(title, width, 0);
        let column = |of: fn(&Dependence) -> f64| self.dependence.iter().map(move |row| number(of(row)));
        text += &Columns::new(self.dependence.iter().map(|row| row.shared.to_string()))
            .column("mean", column(|row| row.mean))
            .column("variance", column(|row| row.variance))
            .column("P(at least one)", column(|row| row.at_least_one))
            .column("P(all)", column(|row| row.all))
            .render(width);
        let note = "Requests of one workload are seldom independent: the same mean, and anything up to all at once. A \
                    percentile is no bound: whoever promises less than the hard maximum says what happens beyond it.";
        text + &prose(note, width, 0)
    }
}

/// Four digits behind the point, or as many as a small number needs to be seen.
fn number(value: f64) -> String {
    if value == 0.0 || value.abs() >= 0.000_05 { format!("{value:.4}") } else { format!("{value:.1e}") }
}

/// The counts that matter, in at most [`ROWS_MAX`] rows, and what is left at both ends.
fn rows(independent: &Binomial, requests: u32) -> Vec<Row> {
    let spread = 5.0 * independent.variance().sqrt() + 5.0;
    let first = (independent.mean() - spread).floor().max(0.0) as u32;
    let last = ((independent.mean() + spread).ceil() as u32).min(requests);
    let step = (last - first + 1).div_ceil(ROWS_MAX - 2);
    let mut rows = Vec::new();
    let mut push = |first: u32, last: u32| {
        // From the side on which it is small, so that a small share keeps its digits.
        let probability = if first == last {
            independent.pmf(first)
        } else {
            (independent.tail(first) - if last < requests { independent.tail(last + 1) } else { 0.0 }).max(0.0)
        };
        rows.push(Row { first, last, probability });
    };
    if first > 0 {
        push(0, first - 1);
    }
    let mut from = first;
    while from <= last {
        let to = from.saturating_add(step - 1).min(last);
        push(from, to);
        from = to + 1;
    }
    if last < requests {
        push(last + 1, requests);
    }
    rows
}

fn depend(independent: &Binomial, requests: u32, probability: f64, shared: f64) -> Dependence {
    let alone = 1.0 - shared;
    // Of no requests nobody exceeds, and all do.
    let common = |of_none: f64| if requests == 0 { of_none } else { probability };
    Dependence {
        shared,
        mean: independent.mean(),
        variance: independent.variance() * (1.0 + shared * (f64::from(requests) - 1.0)).max(0.0),
        at_least_one: alone * independent.tail(1) + shared * common(0.0),
        all: alone * independent.pmf(requests) + shared * common(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 5e-5, "{value} is not {expected}");
    }

    /// The numbers of the contract.
    #[test]
    fn twenty_and_ten() {
        near(Forecast::new(20, 0.05, 1).expect("valid").at_least_one, 0.6415);
        near(Forecast::new(20, 0.1, 1).expect("valid").at_least_one, 0.8784);
        let coin = Forecast::new(10, 0.5, 5).expect("valid");
        assert_eq!((coin.mean, coin.variance), (5.0, 2.5));
        near(coin.total, 1.0);
        near(coin.exactly, 252.0 / 1024.0);
        assert!(coin.text(80).contains("total probability       1.0000"), "{}", coin.text(80));
    }

    #[test]
    fn rows_add_up_for_any_n_and_p() {
        for requests in [0, 1, 2, 7, 20, 21, 22, 100, 4_096, 1 << 20] {
            for probability in [0.0, 1e-9, 0.05, 0.5, 0.93, 1.0] {
                let forecast = Forecast::new(requests, probability, 0).expect("valid");
                assert!((forecast.total - 1.0).abs() < 1e-9, "n {requests}, p {probability}: {}", forecast.total);
                assert!(forecast.rows.len() <= ROWS_MAX as usize + 1, "{:?}", forecast.rows);
                assert_eq!(forecast.rows.first().map(|row| row.first), Some(0));
                assert_eq!(forecast.rows.last().map(|row| row.last), Some(requests));
                assert!(forecast.rows.windows(2).all(|pair| pair[0].last + 1 == pair[1].first));
                assert!(forecast.dependence.iter().all(|row| (0.0..=1.0 + 1e-12).contains(&row.at_least_one)));
            }
        }
    }

    /// By hand: n = 2, p = 1/4. Half the time both draw together.
    #[test]
    fn dependence_keeps_the_mean_and_widens_the_rest() {
        let forecast = Forecast::new(2, 0.25, 1).expect("valid");
        let half = forecast.dependence[2];
        // Independent: 1/16 both, 6/16 one. Together: 1/4 both.
        near(half.all, 0.5 / 16.0 + 0.5 * 0.25);
        near(half.at_least_one, 0.5 * 7.0 / 16.0 + 0.5 * 0.25);
        let (mean, square) = (half.mean, 4.0 * half.all + (half.at_least_one - half.all));
        near(mean, 0.5);
        near(half.variance, square - mean * mean);
    }

    #[test]
    fn numbers_that_there_are_not_are_refused() {
        assert!(Forecast::new(20, 1.5, 1).is_none() && Forecast::new(20, f64::NAN, 1).is_none());
        assert!(Forecast::new((1 << 20) + 1, 0.5, 1).is_none() && Forecast::new(3, 0.5, 4).is_none());
    }
}
