//! What a sequence's keys and values must be, kept by the host, and what attention over them must come to.

use super::model::{HEAD_DIM, QUERY_HEADS, SCALE, Side, Token, numbers};
use kvledger_core::identity::Identity;

/// One sequence.
#[derive(Clone, Debug)]
pub struct Shadow {
    request: u32,
    block_tokens: u32,
    /// Names of the blocks of its prompt, from the first on.
    prefix: Vec<Identity>,
    keys: Vec<f32>,
    values: Vec<f32>,
}

/// One row of results.
#[derive(Clone, PartialEq, Debug)]
pub struct Expected {
    /// `[query heads][head dimension]`.
    pub output: Vec<f64>,
    /// `[query heads]`.
    pub lse: Vec<f64>,
}

impl Shadow {
    /// A sequence without tokens.
    pub fn new(request: u32, block_tokens: u32, prefix: Vec<Identity>) -> Shadow {
        Shadow { request, block_tokens, prefix, keys: Vec::new(), values: Vec::new() }
    }

    /// Tokens that it has.
    pub fn tokens(&self) -> u32 {
        self.keys.len() as u32 / HEAD_DIM
    }

    /// Goes on to so many tokens.
    pub fn extend_to(&mut self, tokens: u32) {
        for position in self.tokens()..tokens {
            let token = self.token(position);
            self.keys.extend(numbers(token, Side::Key));
            self.values.extend(numbers(token, Side::Value));
        }
    }

    /// The key, and the value, of a position that it has.
    pub fn pair(&self, position: u32) -> [&[f32]; 2] {
        let range = (position * HEAD_DIM) as usize..((position + 1) * HEAD_DIM) as usize;
        [&self.keys[range.clone()], &self.values[range]]
    }

    /// The queries of its last token.
    pub fn queries(&self) -> Vec<f32> {
        numbers(self.token(self.tokens() - 1), Side::Query)
    }

    /// What attention of these queries over all that it has must come to.
    pub fn expected(&self, queries: &[f32]) -> Expected {
        let mut expected = Expected { output: Vec::new(), lse: Vec::new() };
        for query in queries.chunks_exact(HEAD_DIM as usize) {
            let (output, lse) = self.row(query);
            expected.output.extend(output);
            expected.lse.push(lse);
        }
        debug_assert_eq!(expected.lse.len(), QUERY_HEADS as usize);
        expected
    }

    fn row(&self, query: &[f32]) -> (Vec<f64>, f64) {
        let dim = HEAD_DIM as usize;
        let score = |key: &[f32]| {
            // Products of these numbers are exact in binary32, their sums nearly so in binary64.
            f64::from(SCALE) * query.iter().zip(key).map(|(a, b)| f64::from(a * b)).sum::<f64>()
        };
        let scores: Vec<f64> = self.keys.chunks_exact(dim).map(score).collect();
        let peak = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut mass, mut output) = (0.0, vec![0.0; dim]);
        for (score, value) in scores.iter().zip(self.values.chunks_exact(dim)) {
            let weight = (score - peak).exp();
            mass += weight;
            output.iter_mut().zip(value).for_each(|(sum, value)| *sum += weight * f64::from(*value));
        }
        output.iter_mut().for_each(|sum| *sum /= mass);
        (output, peak + mass.ln())
    }

    fn token(&self, position: u32) -> Token {
        match self.prefix.get((position / self.block_tokens) as usize) {
            Some(identity) => Token::Named(*identity, position % self.block_tokens),
            None => Token::Own(self.request, position),
        }
    }
}
