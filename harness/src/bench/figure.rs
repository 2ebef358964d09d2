//! One candidate's figures under one load, and how two are compared: by pairs of the same round, because what the machine
//! does meanwhile falls on both.

use super::histogram::Quantiles;
use super::load::{Batches, Load, Occupancy};
use super::median;
use serde::{Deserialize, Serialize};

/// A load and what it took each candidate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// N.
    pub blocks: u32,
    /// How large batches are.
    pub batches: Batches,
    /// Threads.
    pub threads: u32,
    /// Thousandths of N that are held.
    pub occupancy: Occupancy,
    /// Measurements that were done again, because the kernel gave the core to somebody else meanwhile.
    pub repeated: u32,
    /// One a candidate.
    pub figures: Vec<Figure>,
}

/// Core time of one take, with what was given back for it; the load's own is in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// The candidate.
    pub name: String,
    /// Nanoseconds of a core, by round.
    pub rounds_ns: Vec<f64>,
    /// Takes that were refused, though there was room. Over all rounds.
    #[serde(default)]
    pub failures: u64,
    /// Time of a single take, clock included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub take_ns: Option<Quantiles>,
    /// Time of a single return of a batch, clock included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub give_ns: Option<Quantiles>,
}

impl Figure {
    /// Of a candidate, with nothing measured yet.
    pub fn new(name: &str) -> Figure {
        Figure { name: name.to_string(), rounds_ns: Vec::new(), failures: 0, take_ns: None, give_ns: None }
    }

    /// In the best round.
    pub fn best_ns(&self) -> f64 {
        self.rounds_ns.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// In the middle round.
    pub fn median_ns(&self) -> f64 {
        median(&self.rounds_ns)
    }

    /// How many times as long as `other`: the middle of the ratios of each round.
    pub fn ratio_to(&self, other: &Figure) -> f64 {
        let ratios: Vec<f64> =
            self.rounds_ns.iter().zip(&other.rounds_ns).map(|(mine, theirs)| mine / theirs).collect();
        median(&ratios)
    }
}

impl Cell {
    /// Of a load, with nothing measured yet.
    pub fn new(load: &Load, names: impl Iterator<Item = &'static str>) -> Cell {
        let Load { blocks, batches, threads, occupancy } = *load;
        Cell { blocks, batches, threads, occupancy, repeated: 0, figures: names.map(Figure::new).collect() }
    }

    /// The figure of a candidate.
    pub fn of(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    /// Whether the load is the same but for the threads.
    pub fn is_like(&self, other: &Cell) -> bool {
        (self.blocks, self.batches, self.occupancy) == (other.blocks, other.batches, other.occupancy)
    }

    /// The load in words.
    pub fn load(&self) -> String {
        let threads = if self.threads == 1 { "1 thread".to_string() } else { format!("{} threads", self.threads) };
        format!("{} a batch, {} of {} held, {threads}", self.batches, self.occupancy, self.blocks)
    }
}

/// Figures are kept to a hundredth: more digits are noise, and make files long.
pub fn tidy(figure: f64) -> f64 {
    (figure * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_compared_by_round() {
        let figure = |rounds: [f64; 3]| Figure { rounds_ns: rounds.to_vec(), ..Figure::new("a") };
        let (slow_machine, other) = (figure([10.0, 100.0, 10.0]), figure([20.0, 200.0, 5.0]));
        assert_eq!(slow_machine.ratio_to(&other), 0.5);
        assert_eq!((slow_machine.best_ns(), slow_machine.median_ns()), (10.0, 10.0));
    }
}
