//! What comes of blocks that are taken and given back, in the replay's own books: new blocks may evict, and blocks that are
//! given back stay with who else holds them, become free, or are kept.

use super::engine::Engine;
use super::failure::Failure;
use super::roster::Run;
use super::settings::Sharing;
use kvledger_core::{Epoch, Refusal, Released};

impl Engine<'_> {
    /// `count` new blocks are taken: free ones, and for each that is missing one that is kept.
    #[inline]
    pub(super) fn take_new(&mut self, count: u32) {
        let (count, mirror) = (u64::from(count), &mut self.mirror);
        let free = self.blocks.saturating_sub(mirror.held + mirror.cached);
        let evicted = count.saturating_sub(free).min(mirror.cached);
        mirror.cached -= evicted;
        mirror.held += count;
        self.counters.evictions += evicted;
        self.counters.blocks_allocated += count;
    }

    /// What `run` gave back must be what it had, at once: no epoch is outstanding when anybody leaves. All its blocks leave
    /// A but those that somebody else holds, which can only be shared ones.
    pub(super) fn given_back(
        &mut self,
        call: &'static str,
        released: Result<Released, Refusal>,
        run: &Run,
    ) -> Result<(), Failure> {
        let found = self.answered(call, released)?;
        // Whoever runs holds all blocks of its prompt, so all of them that have names.
        let shared = self.names.count(run.request);
        let private = run.held.saturating_sub(shared);
        let want = Released { promised: run.promised - run.held, free: found.free, retiring: 0, after: Epoch::NONE };
        if found != want || !(private..=run.held).contains(&found.free) {
            let want = Released { free: run.held, ..want };
            let but = if shared > 0 { format!(", or up to {shared} blocks fewer") } else { String::new() };
            return Err(self.differs(format!("{call} gave back {found:?} instead of {want:?}{but}")));
        }
        self.mirror.held -= u64::from(found.free);
        if self.settings.sharing == Sharing::Retain {
            self.mirror.cached += u64::from(found.free - private);
        }
        Ok(())
    }
}
