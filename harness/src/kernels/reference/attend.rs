//! Attention in binary64: a loop over tokens, heads and keys, each score by its definition, one softmax over all of them.

use crate::kernels::case::Attend;
use crate::kernels::numbers::Element;
use crate::kernels::table::Found;
use kvledger_cuda::raw::{KVK_FAULT_BLOCK, KVK_FAULT_CLAMPED, KVK_FAULT_TABLE};

/// What a launch must come to.
#[derive(Clone, PartialEq, Debug)]
pub struct Attended {
    /// `[query tokens][query_heads][head_dim]`.
    pub output: Vec<f64>,
    /// `[query tokens][query_heads]`, natural logarithms.
    pub lse: Vec<f64>,
    /// What is reported.
    pub report: Report,
}

/// A `kvk_status`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// `KVK_FAULT_…`, or-ed.
    pub faults: u32,
    /// Row and index of the first one; all ones: none.
    pub first: u64,
}

impl Report {
    /// Nothing was wrong.
    pub const NOTHING: Report = Report { faults: 0, first: u64::MAX };

    /// One more.
    pub fn add(&mut self, fault: u32, row: u32, index: u32) {
        self.faults |= fault;
        self.first = self.first.min(u64::from(row) << 32 | u64::from(index));
    }
}

/// The largest number of binary16, which queries of another type are held to where products are of that type.
const F16_MAX: f64 = 65_504.0;

/// What a batch comes to. Cost: O(query tokens · query heads · keys · head dimension).
pub fn attend(case: &Attend) -> Attended {
    let (heads, head_dim) = (case.query_heads as usize, case.pool.shape.head_dim as usize);
    let rows = case.query_tokens() * heads;
    let mut report = Report::NOTHING;
    let mut attended = Attended { output: vec![0.0; rows * head_dim], lse: vec![0.0; rows], report };
    for sequence in 0..case.lengths.len() {
        for head in 0..case.pool.shape.heads {
            let keys = Keys::of(case, sequence, head, &mut report);
            for token in case.tokens_of(sequence) {
                let group = heads / case.pool.shape.heads as usize;
                for query_head in head as usize * group..(head as usize + 1) * group {
                    let row = token * heads + query_head;
                    let output = &mut attended.output[row * head_dim..(row + 1) * head_dim];
                    attended.lse[row] = keys.row(case, (sequence, token, query_head), output);
                }
            }
        }
        clamped(case, sequence, &mut report);
    }
    attended.report = report;
    attended
}

/// Keys and values of one sequence and head that some query sees, as numbers; `None` where the table has no block.
struct Keys {
    pairs: Vec<(u32, [Vec<f64>; 2])>,
}

impl Keys {
    fn of(case: &Attend, sequence: usize, head: u32, report: &mut Report) -> Keys {
        let (pool, mut pairs) = (&case.pool, Vec::new());
        let positions: Vec<i64> = case.tokens_of(sequence).map(|token| case.position(sequence, token)).collect();
        for key in 0..case.lengths[sequence] {
            if !positions.iter().any(|position| case.sees(sequence, *position, key)) {
                continue;
            }
            match case.table.find(&pool.shape, sequence as u32, key) {
                Found::At { .. } => {
                    let at = case.table.place(&pool.shape, sequence as u32, key, head).expect("it was found");
                    let pair = pool.read(at);
                    let [key_scale, value_scale] = pool.scales_of(pair);
                    pairs.push((key, [pool.values(&pair.key, key_scale), pool.values(&pair.value, value_scale)]));
                }
                Found::NoBlock => report.add(KVK_FAULT_BLOCK, sequence as u32, key),
                Found::Beyond => report.add(KVK_FAULT_TABLE, sequence as u32, key),
            }
        }
        Keys { pairs }
    }

    /// One row: its output, and its LSE.
    fn row(&self, case: &Attend, (sequence, token, head): (usize, usize, usize), output: &mut [f64]) -> f64 {
        let position = case.position(sequence, token);
        let query = query(case, token, head);
        let seen: Vec<_> = self.pairs.iter().filter(|(key, _)| case.sees(sequence, position, *key)).collect();
        let scores: Vec<f64> = seen
            .iter()
            .map(|(key, [values, _])| score(case, head, position - i64::from(*key), &query, values))
            .collect();
        let sink = case.options.sinks.get(head).map(|sink| f64::from(*sink));
        let peak = scores.iter().copied().chain(sink).fold(f64::NEG_INFINITY, f64::max);
        if peak == f64::NEG_INFINITY && !scores.iter().any(|score| score.is_nan()) {
            output.fill(0.0);
            return f64::NEG_INFINITY;
        }
        let mass: f64 = scores.iter().copied().chain(sink).map(|score| (score - peak).exp()).sum();
        output.fill(0.0);
        for (score, (_, [_, values])) in scores.iter().zip(&seen) {
            let weight = (score - peak).exp() / mass;
            output.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
        }
        peak + mass.ln()
    }
}

/// scale · q · k, capped, then sloped: the order of the contract.
fn score(case: &Attend, head: usize, distance: i64, query: &[f64], key: &[f64]) -> f64 {
    let options = &case.options;
    let product: f64 = query.iter().zip(key).map(|(query, key)| query * key).sum();
    let mut score = product * f64::from(options.scale);
    if options.soft_cap != 0.0 {
        let cap = f64::from(options.soft_cap);
        score = cap * (score / cap).tanh();
    }
    score - options.slopes.get(head).map_or(0.0, |slope| f64::from(*slope)) * distance as f64
}

fn query(case: &Attend, token: usize, head: usize) -> Vec<f64> {
    let head_dim = case.pool.shape.head_dim as usize;
    let row = (token * case.query_heads as usize + head) * head_dim;
    let held = |value: f64| if is_held(case) { value.clamp(-F16_MAX, F16_MAX) } else { value };
    case.queries[row..row + head_dim].iter().map(|bits| held(case.element.value(*bits))).collect()
}

/// Eight-bit caches are multiplied as binary16.
fn is_held(case: &Attend) -> bool {
    !case.pool.shape.element.is_wide() && case.element == Element::Bf16
}

/// Queries that do not fit are reported with the first row of their tile.
fn clamped(case: &Attend, sequence: usize, report: &mut Report) {
    if !is_held(case) {
        return;
    }
    let (heads, head_dim) = (case.query_heads as usize, case.pool.shape.head_dim as usize);
    let group = heads / case.pool.shape.heads as usize;
    let tokens = case.tokens_of(sequence);
    for token in tokens.clone() {
        for head in 0..heads {
            let row = (token * heads + head) * head_dim;
            let is_beyond = |bits: &u16| case.element.value(*bits).abs() > F16_MAX;
            if case.queries[row..row + head_dim].iter().any(is_beyond) {
                let place = (token - tokens.start) * group + head % group;
                let first_row = place as u32 / case.split.tile_rows * case.split.tile_rows;
                report.add(KVK_FAULT_CLAMPED, sequence as u32, first_row);
            }
        }
    }
}
