//! What comes back to a windowed sequence, and which of two rows a sequence writes to, in the model.

use super::leaving::Why;
use super::pool::{Entry, Life, Model, invalid};
use crate::answer::{Argument, Refusal};
use crate::calls::Window;
use crate::ids::{Epoch, Sequence, StreamSet};

impl Model {
    /// The most blocks that a windowed sequence holds: ⌈(W − 1 + (d + 1) · chunk)/B⌉ + 1.
    pub(super) fn window_bound(&self, window: &Window) -> Result<u32, Refusal> {
        if window.tokens == 0 {
            return Ok(u32::MAX);
        }
        if window.chunk_tokens == 0 {
            return Err(invalid(Argument::Window));
        }
        let steps = (u64::from(window.steps_in_flight) + 1) * u64::from(window.chunk_tokens);
        let tokens = u64::from(window.tokens) - 1 + steps;
        Ok(u32::try_from(tokens.div_ceil(u64::from(self.config.block_tokens)) + 1).unwrap_or(u32::MAX))
    }

    /// Blocks that no later token looks back to come back. Their entries keep their numbers until what may read them is
    /// over.
    pub(super) fn recycle(&mut self, slot: usize) {
        let seq = &self.sequences[slot];
        if !seq.is_windowed() {
            return;
        }
        let unseen = (u64::from(seq.tokens) + 1).saturating_sub(u64::from(seq.window.tokens));
        let out = ((unseen / u64::from(self.config.block_tokens)) as usize).min(seq.row.len());
        if out > seq.recycled {
            let recycled = seq.recycled;
            if let Some(order) = self.sequences[slot].order.take_if(|order| order.place < out) {
                self.let_go_of(order.source);
            }
            self.leave(slot, Why::Recycle, recycled..out);
            let at = self.time.tag(self.sequences[slot].streams).unwrap_or(Epoch::NONE);
            let seq = &mut self.sequences[slot];
            (seq.recycled, seq.recycled_at) = (out, at);
        }
        let seq = &self.sequences[slot];
        if self.time.is_over(seq.recycled_at, seq.streams) {
            let seq = &mut self.sequences[slot];
            let recycled = seq.recycled;
            seq.row[..recycled].fill(Entry::default());
        }
    }

    pub(super) fn use_streams(&mut self, sequence: Sequence, streams: StreamSet) -> Result<(), Refusal> {
        let streams = self.time.known(streams)?;
        let slot = self.drive(sequence, Life::Admitted)?;
        self.sequences[slot].streams = self.sequences[slot].streams.with(streams);
        Ok(())
    }

    pub(super) fn launch_row(&mut self, sequence: Sequence, epoch: Epoch) -> Result<(), Refusal> {
        if epoch == Epoch::NONE || epoch > self.time.newest() {
            return Err(invalid(Argument::Epoch));
        }
        let slot = self.drive(sequence, Life::Admitted)?;
        let seq = &mut self.sequences[slot];
        let (newest, streams) = &mut seq.in_flight[seq.turn];
        *newest = epoch.max(*newest);
        *streams = streams.with(seq.streams);
        Ok(())
    }

    /// The row that an admission writes to.
    pub(super) fn free_turn(&self, slot: usize) -> Result<usize, Refusal> {
        let seq = &self.sequences[slot];
        if self.config.rows == 1 {
            return Ok(seq.turn);
        }
        let over = |&turn: &usize| self.time.is_over(seq.in_flight[turn].0, seq.in_flight[turn].1);
        [seq.turn, 1 - seq.turn].into_iter().find(over).ok_or(Refusal::Busy)
    }

    /// A row of which an entry is to be replaced.
    pub(super) fn writable_row(&mut self, slot: usize) -> Result<(), Refusal> {
        let turn = self.free_turn(slot)?;
        let seq = &mut self.sequences[slot];
        if turn != seq.turn {
            seq.turn = turn;
            seq.in_flight[turn] = Default::default();
        }
        Ok(())
    }
}
