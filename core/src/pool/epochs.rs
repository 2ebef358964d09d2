//! Time, as the caller tells it.

use super::{Counter, Pool};
use crate::answer::Refusal;
use crate::block::Flag;
use crate::ids::{Epoch, Stream};
use crate::recorder::Call;
use crate::sync::{AcqRel, full_fence, point};

impl Pool<'_> {
    /// Open an epoch: before rows are read for the work that will be launched under it on `stream`.
    ///
    /// Errors: `INVALID(Stream)`; `FULL` when the stream has `epochs` outstanding; `BUSY` when another thread submits to
    /// the same stream. Threads: any. Progress: wait-free (one attempt). Cost: O(1).
    pub fn submit(&self, stream: Stream) -> Result<Epoch, Refusal> {
        self.recorded(Call::Submit { stream }, |pool| pool.streams.submit(stream))
    }

    /// The work of `epoch` on `stream` is over, and all older work of that stream with it: what a CUDA event says.
    /// Blocks that waited for it are freed. `failed`: the work did not do what it was for; it is counted, and names that
    /// were published under it die. Returns the frontier, the newest epoch such that no stream has it or an older one
    /// outstanding.
    ///
    /// Errors: `INVALID(Stream)`; `STALE` if the epoch is unknown there, or over already. Threads: any.
    /// Progress: lock-free. Cost: O(outstanding epochs of the stream + streams + words of retiring blocks); O(N) besides if
    /// it failed in a pool with a cache.
    pub fn complete(&self, stream: Stream, epoch: Epoch, failed: bool) -> Result<Epoch, Refusal> {
        self.recorded(Call::Complete { stream, epoch, failed }, |pool| {
            if failed && pool.streams.has_outstanding(stream, epoch) {
                // Before it is over: nobody takes for finished what was never written.
                pool.fail_names(epoch);
            }
            pool.streams.complete(stream, epoch)?;
            if failed {
                pool.counter(Counter::Failed).fetch_add(1, AcqRel);
            }
            pool.reclaim_up_to(u32::MAX);
            Ok(pool.streams.frontier())
        })
    }

    /// The device behind `stream` is lost: nothing that was submitted there touches memory any more. All its epochs are
    /// over, as failed. Returns the frontier. Errors: `INVALID(Stream)`. Threads, progress: as `complete`. Cost: as
    /// `complete`; in a pool with a cache O(N) for each outstanding epoch.
    pub fn abandon(&self, stream: Stream) -> Result<Epoch, Refusal> {
        self.recorded(Call::Abandon { stream }, |pool| {
            pool.fail_stream(stream);
            let failed = pool.streams.abandon(stream)?;
            pool.counter(Counter::Failed).fetch_add(failed, AcqRel);
            pool.reclaim_up_to(u32::MAX);
            Ok(pool.streams.frontier())
        })
    }

    /// The frontier. Never fails. Cost: O(streams).
    pub fn frontier(&self) -> Epoch {
        self.streams.frontier()
    }

    /// The newest epoch that was handed out. Never fails. Cost: O(1).
    pub fn newest_epoch(&self) -> Epoch {
        self.streams.newest()
    }

    /// The names written under an epoch that failed die. Epochs seldom fail.
    fn fail_names(&self, epoch: Epoch) {
        if self.config.cache == 0 {
            return;
        }
        self.failures.note(epoch);
        // O26, pairs with O26 in `publish`: either we see the names of a publication, or it sees that its epoch failed.
        full_fence();
        point("fail: noted");
        for id in 1..=self.config.blocks {
            let mut word = self.blocks.word(id);
            while word.has(Flag::Named) && self.names.get(id).written == epoch && !self.unname(id, word) {
                let now = self.blocks.word(id);
                if now == word {
                    // A reclaimer has it: its epoch was over, so it is not this one.
                    break;
                }
                word = now;
            }
        }
    }

    /// The same for everything that is outstanding on a stream.
    fn fail_stream(&self, stream: Stream) {
        self.streams.each_outstanding(stream, |epoch| self.fail_names(epoch));
    }
}
