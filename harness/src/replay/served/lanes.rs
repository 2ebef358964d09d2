//! A lane: a stream of the device with a stream of the ledger, the sequences that run on it, and its steps that are not
//! over.

use super::desk::{Desk, Found, Lists, Results};
use super::failures::Step;
use super::model::{ELEMENT, HEAD_DIM, QUERY_HEADS};
use super::shadow::{Expected, Shadow};
use crate::kernels::compare::Numbers;
use crate::kernels::run::{LSE_TOLERANCE, tolerance};
use crate::replay::Failure;
use kvledger_core::Sequence;
use kvledger_cuda::{Epochs, Event};
use std::collections::VecDeque;

/// Streams.
pub const LANES: u32 = 2;
/// Most sequences of a lane.
pub const LANE_SEQUENCES: u32 = 8;

/// A request that runs.
#[derive(Debug)]
pub struct Running {
    /// Its place in the trace.
    pub request: u32,
    /// Its handle.
    pub sequence: Sequence,
    /// What is in its blocks.
    pub shadow: Shadow,
    /// P.
    pub prompt: u32,
    /// Prompt and all that it will make.
    pub tokens_in_all: u32,
    /// Tokens whose keys and values are in its blocks, or on their way.
    pub written: u32,
    /// Blocks that it shares from the beginning.
    pub hits: u32,
}

impl Running {
    /// Tokens of its next step, of at most `most`: a chunk of the prompt, or one.
    pub fn next_tokens(&self, most: u32) -> u32 {
        if self.written < self.prompt { (self.prompt - self.written).min(most) } else { 1 }
    }
}

/// A step that was enqueued.
#[derive(Debug)]
pub struct Pending {
    /// Behind all its work.
    pub event: Event,
    /// Where its results go.
    pub results: Results,
    /// What they must be, and of which request at how many tokens.
    pub expected: Vec<(u32, u32, Expected)>,
    /// Of its plan.
    pub generation: u32,
    /// When it was made.
    pub step: Step,
}

/// The lane.
pub struct Lane<'pool> {
    /// The ledger's stream, and the device's.
    pub epochs: Epochs<'pool>,
    /// Its buffers.
    pub desk: Desk,
    /// Its sequences.
    pub running: Vec<Running>,
    /// Its steps that were not compared, the oldest first.
    pub pending: VecDeque<Pending>,
    /// Memory for results, for later steps.
    pub spare: Vec<Results>,
    /// The lists of the step that is made.
    pub lists: Lists,
}

/// What a comparison has shown.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Compared {
    /// Rows.
    pub rows: u64,
    /// The largest error, as a share of what is allowed.
    pub share: f64,
}

impl Pending {
    /// Compares the results of a step that is over.
    pub fn compare(&self) -> Result<Compared, Failure> {
        let found = self.step.done(self.results.found(self.expected.len()))?;
        if found.generation != self.generation {
            return Err(self.step.differs(format!(
                "plan {} was made for the step, and the device has worked through plan {}",
                self.generation, found.generation
            )));
        }
        if found.status.faults != 0 {
            return Err(self.step.differs(format!(
                "a kernel reports faults {:#x}, the first at row {} index {}",
                found.status.faults,
                found.status.first >> 32,
                found.status.first as u32
            )));
        }
        self.rows(&found)
    }

    fn rows(&self, found: &Found) -> Result<Compared, Failure> {
        let name = |row: usize| {
            let (request, tokens, _) = self.expected[row / QUERY_HEADS as usize];
            format!("request {request} at {tokens} tokens, head {}", row % QUERY_HEADS as usize)
        };
        let output: Vec<f64> = self.expected.iter().flat_map(|(_, _, expected)| expected.output.clone()).collect();
        let lse: Vec<f64> = self.expected.iter().flat_map(|(_, _, expected)| expected.lse.clone()).collect();
        let found_output: Vec<f64> = found.output.iter().map(|bits| ELEMENT.value(*bits)).collect();
        let found_lse: Vec<f64> = found.lse.iter().map(|value| f64::from(*value)).collect();
        let tolerance = tolerance(ELEMENT, ELEMENT);
        let row = HEAD_DIM as usize;
        let output = Numbers {
            what: "output",
            expected: &output,
            found: &found_output,
            row,
            element: Some(ELEMENT),
            name: &name,
        };
        let lse = Numbers { what: "LSE", expected: &lse, found: &found_lse, row: 1, element: None, name: &name };
        let differs = |mismatch: crate::kernels::compare::Mismatch| self.step.differs(mismatch.to_string());
        let share = output.close(&tolerance).map_err(differs)?.share(&tolerance);
        let share = share.max(lse.each_close(LSE_TOLERANCE).map_err(differs)?);
        Ok(Compared { rows: found_lse.len() as u64, share })
    }
}
