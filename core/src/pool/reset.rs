//! Everything cached is forgotten at once: `reset`, `reset_all`.
//!
//! A name carries the reset number of its time, and is looked for with the number of now. So a reset is one addition;
//! what it made worthless is tidied after, and until then an idle block with a dead name is as good as free.

use super::Pool;
use crate::answer::Refusal;
use crate::block::Flag;
use crate::events::EventKind;
use crate::identity::Identity;
use crate::ids::Group;
use crate::recorder::Call;
use crate::sync::{AcqRel, Plant, planted, point};

impl Pool<'_> {
    /// Forget everything that is cached for `group`, with whatever work is pending: no later admission, and none that is
    /// under way, hits what was published before. Sequences that were admitted before publish nothing any more; held blocks
    /// stay with their holders.
    ///
    /// Errors: `INVALID(Group)`. Threads: any. Lock-free. It has happened after the first few instructions; the rest is
    /// tidying: O(N).
    pub fn reset(&self, group: Group) -> Result<(), Refusal> {
        self.recorded(Call::Reset { group: Some(group) }, |pool| {
            pool.check_group(group)?;
            pool.advance_reset(group.0 as usize + 1);
            pool.told_cleared(group);
            pool.sweep();
            Ok(())
        })
    }

    /// The same for all groups; one event, of group 2^32 − 1. Never fails.
    pub fn reset_all(&self) {
        let all = self.recorded(Call::Reset { group: None }, |pool| {
            pool.advance_reset(0);
            pool.told_cleared(Group(u32::MAX));
            pool.sweep();
            Ok(())
        });
        debug_assert!(all.is_ok(), "nothing refuses it");
    }

    fn advance_reset(&self, which: usize) {
        // O25 release, pairs with O25 acquire in `stamp`.
        self.resets.at(which).fetch_add(1, AcqRel);
        point("reset: done");
    }

    fn told_cleared(&self, group: Group) {
        let ticket = self.events.ticket();
        self.said(ticket, Some(EventKind::Cleared), 0, group, Identity::NONE);
    }

    /// Names of another time die. No event: `cleared` has said it.
    fn sweep(&self) {
        if self.config.cache == 0 || planted(Plant::OldNames) {
            return;
        }
        for id in 1..=self.config.blocks {
            let mut word = self.blocks.word(id);
            while word.has(Flag::Named) && self.names.get(id).stamp != self.stamp(self.blocks.group(id)) {
                let identity = self.names.get(id).identity;
                if self.kill(id, word) {
                    self.index.remove(identity, id);
                    break;
                }
                let now = self.blocks.word(id);
                if now == word {
                    // A reclaimer has it, and will see for itself.
                    break;
                }
                word = now;
            }
        }
    }
}
