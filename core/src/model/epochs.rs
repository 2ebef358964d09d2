//! Time passes in the model: what ends with an epoch.

use super::pool::Model;
use crate::answer::Refusal;
use crate::ids::{Epoch, Stream};

impl Model {
    pub(super) fn submit(&mut self, stream: Stream) -> Result<Epoch, Refusal> {
        self.time.submit(stream)
    }

    pub(super) fn complete(&mut self, stream: Stream, epoch: Epoch, failed: bool) -> Result<Epoch, Refusal> {
        if failed && self.time.outstanding(stream).contains(&epoch) {
            self.fail(epoch);
        }
        self.time.complete(stream, epoch, failed)?;
        self.reclaim();
        Ok(self.time.frontier())
    }

    pub(super) fn abandon(&mut self, stream: Stream) -> Result<Epoch, Refusal> {
        for epoch in self.time.outstanding(stream) {
            self.fail(epoch);
        }
        self.time.abandon(stream)?;
        self.reclaim();
        Ok(self.time.frontier())
    }
}
