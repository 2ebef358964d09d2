//! Time in the model: the outstanding epochs of each stream, in a list.

use crate::answer::{Argument, Refusal};
use crate::ids::{Epoch, Stream, StreamSet};
use std::vec;
use std::vec::Vec;

#[derive(Clone, Debug)]
pub(super) struct Time {
    outstanding: Vec<Vec<u64>>,
    newest: u64,
    epochs_max: usize,
    /// The epochs that failed, in the order in which that was said.
    pub(super) failed_epochs: Vec<Epoch>,
    /// How many that were.
    pub(super) failed: u64,
}

impl Time {
    pub(super) fn new(streams: u32, epochs_max: u32) -> Time {
        Time {
            outstanding: vec![Vec::new(); streams as usize],
            newest: 0,
            epochs_max: epochs_max as usize,
            failed_epochs: Vec::new(),
            failed: 0,
        }
    }

    pub(super) fn known(&self, set: StreamSet) -> Result<StreamSet, Refusal> {
        let known = (0..self.outstanding.len() as u32).filter(|stream| set.0 >> stream & 1 == 1);
        match known.map(|stream| 1u64 << stream).sum() {
            0 => Err(Refusal::Invalid { argument: Argument::Stream }),
            some => Ok(StreamSet(some)),
        }
    }

    pub(super) fn submit(&mut self, stream: Stream) -> Result<Epoch, Refusal> {
        let epochs_max = self.epochs_max;
        let newest = self.newest + 1;
        let list = self.stream(stream)?;
        if list.len() == epochs_max {
            return Err(Refusal::Full);
        }
        list.push(newest);
        self.newest = newest;
        Ok(Epoch(newest))
    }

    pub(super) fn complete(&mut self, stream: Stream, epoch: Epoch, failed: bool) -> Result<(), Refusal> {
        let list = self.stream(stream)?;
        if !list.contains(&epoch.0) {
            return Err(Refusal::Stale);
        }
        list.retain(|&other| other > epoch.0);
        self.failed += u64::from(failed);
        Ok(())
    }

    pub(super) fn abandon(&mut self, stream: Stream) -> Result<(), Refusal> {
        let list = self.stream(stream)?;
        let lost = list.len() as u64;
        list.clear();
        self.failed += lost;
        Ok(())
    }

    pub(super) fn outstanding(&self, stream: Stream) -> Vec<Epoch> {
        self.outstanding.get(stream.0 as usize).into_iter().flatten().map(|&epoch| Epoch(epoch)).collect()
    }

    pub(super) fn newest(&self) -> Epoch {
        Epoch(self.newest)
    }

    pub(super) fn frontier(&self) -> Epoch {
        let oldest = self.outstanding.iter().flatten().min();
        Epoch(oldest.map_or(self.newest, |oldest| oldest - 1))
    }

    /// The newest epoch outstanding on the streams of `set`.
    pub(super) fn tag(&self, set: StreamSet) -> Option<Epoch> {
        self.on(set).max().map(Epoch)
    }

    pub(super) fn is_over(&self, tag: Epoch, set: StreamSet) -> bool {
        self.on(set).all(|epoch| epoch > tag.0)
    }

    fn on(&self, set: StreamSet) -> impl Iterator<Item = u64> + '_ {
        let streams = self.outstanding.iter().enumerate().filter(move |(stream, _)| set.0 >> stream & 1 == 1);
        streams.flat_map(|(_, list)| list.iter().copied())
    }

    fn stream(&mut self, stream: Stream) -> Result<&mut Vec<u64>, Refusal> {
        self.outstanding.get_mut(stream.0 as usize).ok_or(Refusal::Invalid { argument: Argument::Stream })
    }
}
