//! Results that are joined, in binary64: each by the exponential of its logarithm, none that has no key.

use crate::kernels::case::{Merge, MergeTwo};
use kvledger_core::split::SplitJoin;

/// What a launch must come to. Rows that it does not write are `None`.
#[derive(Clone, PartialEq, Debug)]
pub struct Joined {
    /// `[tokens][heads]` rows.
    pub rows: Vec<Option<Row>>,
}

/// One row.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// `[head_dim]`.
    pub output: Vec<f64>,
    /// Natural logarithm.
    pub lse: f64,
}

/// Joins of a plan.
pub fn merge(case: &Merge, joins: &[SplitJoin]) -> Joined {
    let tokens = case.query_starts.last().map_or(case.lengths.len(), |end| *end as usize);
    let mut joined = Joined { rows: vec![None; tokens * case.split.query_heads as usize] };
    for join in joins {
        for row in 0..case.split.tile_rows {
            if let Some(at) = target(case, join, join.first_row + row) {
                joined.rows[at] = Some(joined_row(case, join, row as usize, at % case.split.query_heads as usize));
            }
        }
    }
    joined
}

/// The row of the output that a row of a sequence and head is; `None` if there is no such token.
fn target(case: &Merge, join: &SplitJoin, row: u32) -> Option<usize> {
    let (sequence, group) = (join.sequence as usize, case.split.query_heads / case.split.heads);
    let tokens = match case.query_starts.as_slice() {
        [] => sequence as u32..sequence as u32 + 1,
        starts => starts[sequence]..starts[sequence + 1],
    };
    let token = Some(tokens.start + row / group).filter(|token| tokens.contains(token))?;
    Some((token * case.split.query_heads + join.head * group + row % group) as usize)
}

fn joined_row(case: &Merge, join: &SplitJoin, row: usize, head: usize) -> Row {
    let (tile_rows, head_dim) = (case.split.tile_rows as usize, case.head_dim as usize);
    let parts = (join.first_part..join.first_part + join.count).map(|part| part as usize * tile_rows + row);
    let states = parts.map(|at| {
        let output = case.parts.output[at * head_dim..(at + 1) * head_dim].iter().copied().map(f64::from).collect();
        Row { output, lse: f64::from(case.parts.logs[at]) * std::f64::consts::LN_2 }
    });
    let sink = case.sinks.get(head).map_or(f64::NEG_INFINITY, |sink| f64::from(*sink));
    join_all(&states.collect::<Vec<_>>(), sink, head_dim)
}

/// Two whole results.
pub fn merge_two(case: &MergeTwo) -> Joined {
    let head_dim = case.head_dim as usize;
    let rows = (case.tokens * case.heads) as usize;
    let state = |side: usize, row: usize| Row {
        output: case.outputs[side][row * head_dim..(row + 1) * head_dim]
            .iter()
            .map(|bits| case.element.value(*bits))
            .collect(),
        lse: f64::from(case.lse[side][row]),
    };
    let both = |row| join_all(&[state(0, row), state(1, row)], f64::NEG_INFINITY, head_dim);
    Joined { rows: (0..rows).map(|row| Some(both(row))).collect() }
}

/// All of them, and a score without a value. What has the logarithm −infinity is passed over: it may hold anything.
fn join_all(states: &[Row], sink: f64, head_dim: usize) -> Row {
    let some: Vec<_> = states.iter().filter(|state| state.lse != f64::NEG_INFINITY).collect();
    let peak = some.iter().map(|state| state.lse).fold(sink, f64::max);
    if peak == f64::NEG_INFINITY {
        return Row { output: vec![0.0; head_dim], lse: peak };
    }
    let mass = some.iter().map(|state| (state.lse - peak).exp()).sum::<f64>() + (sink - peak).exp();
    let mut output = vec![0.0; head_dim];
    for state in some {
        let weight = (state.lse - peak).exp() / mass;
        output.iter_mut().zip(&state.output).for_each(|(sum, value)| *sum += weight * value);
    }
    Row { output, lse: peak + mass.ln() }
}
