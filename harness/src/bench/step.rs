//! A scheduler step: every running sequence makes one token, and about one in sixteen needs a block for it.

use super::{median, quantile};
use kvledger_core::model::Random;
use kvledger_core::{Admission, Line, Pool, PoolConfig, Sequence, Step, Stream, entries, lines};
use serde::Serialize;
use std::time::Instant;

/// Sequences that run.
const RUNNING: u32 = 1024;

/// B.
const BLOCK_TOKENS: u32 = 16;

/// Longest prompt and longest output; both are uniform from 1 on.
const PROMPT_TOKENS_MAX: u32 = 2048;
const OUTPUT_TOKENS_MAX: u32 = 512;

/// Blocks of the longest sequence.
const WIDTH: u32 = (PROMPT_TOKENS_MAX + OUTPUT_TOKENS_MAX).div_ceil(BLOCK_TOKENS);

/// Steps before the first that counts, so that the sequences are at all ages.
const WARM_STEPS: u32 = 2 * OUTPUT_TOKENS_MAX;

/// What steps took.
#[derive(Clone, Debug, Serialize)]
pub struct StepFigures {
    /// Running sequences.
    pub sequences: u32,
    /// B.
    pub block_tokens: u32,
    /// Steps that were timed.
    pub steps: u32,
    /// Blocks that a step took, on average.
    pub blocks_mean: f64,
    /// `advance_many` over all sequences, in µs: the middle step.
    pub advance_median_us: f64,
    /// The same; one step in a hundred took longer.
    pub advance_p99_us: f64,
    /// With `submit` and `complete`, and with the sequences that ended in it replaced (`end`, `open`, `admit`, and
    /// `advance` by the prompt): the middle step.
    pub turn_median_us: f64,
    /// Sequences that were replaced in a step, on average.
    pub replaced_mean: f64,
}

/// A server's inner loop without the model.
struct Server<'m> {
    pool: Pool<'m>,
    random: Random,
    steps: Vec<Step>,
    /// Tokens that each still makes.
    left: Vec<u32>,
    answers: Vec<u32>,
    changed: Vec<u32>,
}

impl<'m> Server<'m> {
    fn new(pool: Pool<'m>) -> Server<'m> {
        let rows = RUNNING as usize;
        let mut server = Server {
            pool,
            random: Random::new(1),
            steps: Vec::with_capacity(rows),
            left: Vec::with_capacity(rows),
            answers: vec![0; rows],
            changed: vec![0; rows],
        };
        for _ in 0..rows {
            let (sequence, output) = server.start();
            server.steps.push(Step { sequence, tokens: 1 });
            server.left.push(output);
        }
        server
    }

    fn start(&mut self) -> (Sequence, u32) {
        let prompt = 1 + self.random.below(PROMPT_TOKENS_MAX);
        let output = 1 + self.random.below(OUTPUT_TOKENS_MAX);
        let sequence = self.pool.open().expect("there are as many slots as sequences");
        self.pool
            .admit(sequence, &Admission::full(prompt, output))
            .expect("the pool holds every sequence at its longest");
        self.pool.advance(sequence, prompt).expect("what was promised is there");
        (sequence, output)
    }

    /// One token each. Blocks taken.
    fn advance(&mut self) -> u32 {
        let batch = self.pool.advance_many(&self.steps, &mut self.answers, &mut self.changed);
        let batch = batch.expect("the arrays are long enough");
        assert_eq!(batch.advanced, RUNNING, "what was promised is there");
        batch.taken
    }

    /// Replaces who is through. How many.
    fn replace(&mut self) -> u32 {
        let mut replaced = 0;
        for row in 0..self.steps.len() {
            self.left[row] -= 1;
            if self.left[row] == 0 {
                self.pool.end(self.steps[row].sequence).expect("it runs");
                (self.steps[row].sequence, self.left[row]) = self.start();
                replaced += 1;
            }
        }
        replaced
    }

    /// A whole step: submitted, advanced, replaced, completed.
    fn turn(&mut self) -> Turn {
        let begin = Instant::now();
        let epoch = self.pool.submit(Stream(0)).expect("one epoch is outstanding at a time");
        let before = Instant::now();
        let taken = self.advance();
        let advance_us = before.elapsed().as_secs_f64() * 1e6;
        let replaced = self.replace();
        self.pool.complete(Stream(0), epoch, false).expect("it was submitted");
        Turn { taken, replaced, advance_us, turn_us: begin.elapsed().as_secs_f64() * 1e6 }
    }
}

struct Turn {
    taken: u32,
    replaced: u32,
    advance_us: f64,
    turn_us: f64,
}

/// Times `steps` steps, each by itself.
pub fn measure(steps: u32) -> StepFigures {
    let config = PoolConfig::new(RUNNING * WIDTH * 2, BLOCK_TOKENS, RUNNING, WIDTH);
    let (mut memory, mut table) = (vec![Line::ZERO; lines(&config)], vec![0; entries(&config)]);
    let pool = Pool::init(&mut memory, &mut table, &config).expect("the memory is as long as the pool says");
    let mut server = Server::new(pool);
    for _ in 0..WARM_STEPS {
        server.turn();
    }
    let turns: Vec<Turn> = (0..steps).map(|_| server.turn()).collect();
    let mean =
        |of: fn(&Turn) -> u32| turns.iter().map(|turn| f64::from(of(turn))).sum::<f64>() / f64::from(steps.max(1));
    let advances: Vec<f64> = turns.iter().map(|turn| turn.advance_us).collect();
    let whole: Vec<f64> = turns.iter().map(|turn| turn.turn_us).collect();
    StepFigures {
        sequences: RUNNING,
        block_tokens: BLOCK_TOKENS,
        steps,
        blocks_mean: mean(|turn| turn.taken),
        advance_median_us: median(&advances),
        advance_p99_us: quantile(&advances, 0.99),
        turn_median_us: median(&whole),
        replaced_mean: mean(|turn| turn.replaced),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_takes_about_a_block_for_sixteen_sequences() {
        let figures = measure(64);
        let expected = f64::from(RUNNING / BLOCK_TOKENS);
        assert!((figures.blocks_mean - expected).abs() < expected / 4.0, "{figures:?}");
        assert!(figures.advance_median_us > 0.0 && figures.turn_median_us >= figures.advance_median_us, "{figures:?}");
    }
}
