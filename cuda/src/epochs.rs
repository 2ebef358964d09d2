//! The epochs of a pool's stream, ended by what a device's stream has done.
//!
//! The problem: a block comes back when the epochs that could touch it are over, and only the device knows when that is.
//! So every step of the caller is one epoch: opened in the ledger before the step reads rows, followed by an event when
//! its work is enqueued, and completed in the ledger when the event is over.
//!
//! 1. [`Epochs::begin`] opens an epoch. The step enqueues its work on [`Step::stream`].
//! 2. [`Step::end`] records the event. A step that was dropped without it has failed.
//! 3. [`Epochs::poll`] completes what is over, in order. When the device is lost, everything is abandoned, after the last
//!    work has stopped touching memory.

use crate::error::Error;
use crate::stream::{Event, Stream};
use core::fmt;
use kvledger_core::{Epoch, Pool, Refusal};
use std::collections::VecDeque;

/// One stream of a pool and the stream of the device that it stands for.
pub struct Epochs<'pool> {
    pool: Pool<'pool>,
    number: kvledger_core::Stream,
    stream: Stream,
    /// In the order of the stream.
    running: VecDeque<Running>,
    /// Events that are over, for later epochs.
    spare: Vec<Event>,
}

#[derive(Debug)]
struct Running {
    epoch: Epoch,
    event: Event,
    failed: bool,
}

/// An epoch that is being launched.
#[derive(Debug)]
pub struct Step<'epochs, 'pool> {
    epochs: &'epochs mut Epochs<'pool>,
    epoch: Epoch,
    event: Option<Event>,
}

/// Why an epoch was not opened or ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum EpochError {
    /// The pool refused.
    Pool(Refusal),
    /// The device failed. If it is lost, all epochs of this stream were abandoned.
    Device(Error),
}

impl<'pool> Epochs<'pool> {
    /// For stream `number` of the pool, on which nobody else submits.
    pub fn new(pool: Pool<'pool>, number: kvledger_core::Stream, stream: Stream) -> Epochs<'pool> {
        Epochs { pool, number, stream, running: VecDeque::new(), spare: Vec::new() }
    }

    /// The stream of the device.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Epochs that were launched, and are not known to be over.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// Opens an epoch: before rows are read for its work. Errors: those of [`Pool::submit`] (`FULL`: poll, or wait);
    /// those of [`Event::open`].
    pub fn begin(&mut self) -> Result<Step<'_, 'pool>, EpochError> {
        let event = self.spare_event()?;
        match self.pool.submit(self.number) {
            Ok(epoch) => Ok(Step { epochs: self, epoch, event: Some(event) }),
            Err(refusal) => {
                self.spare.push(event);
                Err(EpochError::Pool(refusal))
            }
        }
    }

    /// The same, waiting for the oldest epoch where there are as many as the pool lets a stream have.
    pub fn begin_waiting(&mut self) -> Result<Step<'_, 'pool>, EpochError> {
        let event = self.spare_event()?;
        loop {
            match self.pool.submit(self.number) {
                Ok(epoch) => return Ok(Step { epochs: self, epoch, event: Some(event) }),
                Err(Refusal::Full) if !self.running.is_empty() => self.wait_oldest()?,
                Err(refusal) => return Err(EpochError::Pool(refusal)),
            }
        }
    }

    fn spare_event(&mut self) -> Result<Event, EpochError> {
        match self.spare.pop() {
            Some(event) => Ok(event),
            None => Event::open(self.stream.device()).map_err(|error| self.failed(error)),
        }
    }

    /// Completes the epochs that are over. Returns the frontier. Errors: `Lost`, after everything was abandoned.
    pub fn poll(&mut self) -> Result<Epoch, EpochError> {
        while let Some(oldest) = self.running.front() {
            match oldest.event.is_complete() {
                Ok(true) => self.complete_oldest()?,
                Ok(false) => break,
                Err(error) => return Err(self.failed(error)),
            }
        }
        Ok(self.pool.frontier())
    }

    /// Waits until all that was launched is over, and completes it. Returns the frontier. Errors: as `poll`.
    pub fn wait(&mut self) -> Result<Epoch, EpochError> {
        while !self.running.is_empty() {
            self.wait_oldest()?;
        }
        Ok(self.pool.frontier())
    }

    fn wait_oldest(&mut self) -> Result<(), EpochError> {
        let Some(oldest) = self.running.front() else { return Ok(()) };
        if let Err(error) = oldest.event.synchronize() {
            return Err(self.failed(error));
        }
        self.complete_oldest()
    }

    fn complete_oldest(&mut self) -> Result<(), EpochError> {
        let Some(Running { epoch, event, failed }) = self.running.pop_front() else { return Ok(()) };
        self.spare.push(event);
        self.pool.complete(self.number, epoch, failed).map(|_| ()).map_err(EpochError::Pool)
    }

    /// After a failure of the device. A lost one has stopped when its stream says so: until then a kernel that had begun
    /// may still write.
    fn failed(&mut self, error: Error) -> EpochError {
        if error.is_loss() {
            let _ = self.stream.synchronize();
            self.running.clear();
            self.spare.clear();
            if let Err(refusal) = self.pool.abandon(self.number) {
                return EpochError::Pool(refusal);
            }
        }
        EpochError::Device(error)
    }
}

impl Drop for Epochs<'_> {
    /// What was launched is waited for. Where a device that is not lost does not say that work is over, its epoch stays open:
    /// the blocks may still be touched, and are given to nobody.
    fn drop(&mut self) {
        let _ = self.wait();
    }
}

impl Step<'_, '_> {
    /// The epoch: for `publish`, `copy_submitted`, and whoever has to wait for this step.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Where its work goes.
    pub fn stream(&self) -> &Stream {
        self.epochs.stream()
    }

    /// All its work is enqueued. `failed`: some of it could not be, or what was is of no use; what it published dies when
    /// the epoch is over. Errors: `Lost`, after everything was abandoned.
    pub fn end(mut self, failed: bool) -> Result<Epoch, EpochError> {
        self.launched(failed)
    }

    fn launched(&mut self, failed: bool) -> Result<Epoch, EpochError> {
        let Some(event) = self.event.take() else { return Ok(self.epoch) };
        match self.epochs.stream.record(&event) {
            Ok(()) => {
                self.epochs.running.push_back(Running { epoch: self.epoch, event, failed });
                Ok(self.epoch)
            }
            Err(error) => Err(self.without_event(error)),
        }
    }

    /// There is no mark to wait for: the whole stream is waited for. If that cannot be, the epoch stays open, as above.
    fn without_event(&mut self, error: Error) -> EpochError {
        if error.is_loss() {
            return self.epochs.failed(error);
        }
        if let Err(error) = self.epochs.stream.synchronize() {
            return self.epochs.failed(error);
        }
        if let Err(error) = self.epochs.wait() {
            return error;
        }
        match self.epochs.pool.complete(self.epochs.number, self.epoch, true) {
            Ok(_) => EpochError::Device(error),
            Err(refusal) => EpochError::Pool(refusal),
        }
    }
}

impl Drop for Step<'_, '_> {
    fn drop(&mut self) {
        let _ = self.launched(true);
    }
}

impl fmt::Debug for Epochs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Epochs").field("number", &self.number).field("running", &self.running).finish_non_exhaustive()
    }
}

impl fmt::Display for EpochError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EpochError::Pool(refusal) => write!(f, "the ledger: {refusal}"),
            EpochError::Device(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for EpochError {}
