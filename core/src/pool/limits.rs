//! What may be changed at run time: the safety margin and the quotas.

use super::{Counter, Pool};
use crate::answer::{Argument, Refusal};
use crate::ids::Group;
use crate::ledger::Need;
use crate::recorder::Call;
use crate::sync::{AcqRel, Acquire, Plant, planted, point};

impl Pool<'_> {
    /// Set S. Raising it is an admission of the difference, lowering it a shrink: the same compare-exchange decides, so
    /// I1 holds at every moment.
    ///
    /// Errors: `INVALID(Safety)` if it is not below N; `WOULD_BLOCK`, `RETRY_AFTER`. Threads: any. Lock-free.
    pub fn set_safety(&self, blocks: u32) -> Result<(), Refusal> {
        let stamp = self.stamp_if(|| blocks < self.safety());
        self.recorded_as(stamp, Call::SetSafety { blocks }, |pool| pool.change_safety(blocks))
    }

    fn change_safety(&self, blocks: u32) -> Result<(), Refusal> {
        if blocks >= self.config.blocks {
            return Err(Refusal::invalid(Argument::Safety));
        }
        let safety = self.counter(Counter::Safety);
        loop {
            let now = safety.load(Acquire);
            let (raised, lowered) = (blocks.saturating_sub(now as u32), (now as u32).saturating_sub(blocks));
            // Growth: word first. I2 in its form for promises: what S says is always spoken for in the word.
            if raised > 0 && !planted(Plant::SafetyInTwoSteps) {
                self.charge(None, Need::promised(raised), 0)?;
            }
            point("safety: charged");
            if safety.compare_exchange(now, u64::from(blocks), AcqRel, Acquire).is_ok() {
                if planted(Plant::SafetyInTwoSteps) {
                    self.charge(None, Need::promised(raised), 0)?;
                }
                self.release_pool(lowered);
                return Ok(());
            }
            self.release_pool(raised);
        }
    }

    /// Set the quota of a group: the most that its A + R may be. Below what it uses, it admits nothing until its use
    /// has fallen; nothing that was promised is taken away. Raising it advances the release number.
    ///
    /// Errors: `INVALID(Group)`. Threads: any. Lock-free. Cost: O(1).
    pub fn set_quota(&self, group: Group, blocks: u32) -> Result<(), Refusal> {
        let stamp = self.stamp_if(|| self.check_group(group).is_ok() && self.group_word(group).load().quota < blocks);
        self.recorded_as(stamp, Call::SetQuota { group, blocks }, |pool| {
            pool.check_group(group)?;
            if blocks > pool.group_word(group).set_quota(blocks) {
                pool.returned();
            }
            Ok(())
        })
    }

    fn release_pool(&self, count: u32) {
        if count > 0 {
            self.ledger.release(0, count);
            self.returned();
        }
    }
}
