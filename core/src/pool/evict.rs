//! Idle blocks become somebody's: for a call that needs blocks and finds none free, and on purpose (`evict`).
//!
//! An idle block is claimed by its word: from that exchange on nobody can hit it (I7), and it is its claimer's, at once. So
//! a block is never in between, where neither a hit nor a promise finds it.
//!
//! ```text
//!   evict                            hit
//!   word: idle, version 7            word: idle, version 7; its name is right
//!   exchange: held, version 8
//!                                    exchange from version 7 fails           ✓ a miss
//! ```
//!
//! Order is a preference. Dead names first, then the order of the cache; who does not get its lock takes any idle block.

use super::{Counter, Pool};
use crate::answer::Refusal;
use crate::bits::{mask_of, word_of};
use crate::block::{Flag, Kind, Word};
use crate::cache::Look;
use crate::ledger::Need;
use crate::recorder::Call;
use crate::sync::{AcqRel, Plant, planted, point};

/// Blocks that are looked at side by side. A thread that stops has so many at most out of the order of eviction.
const AT_ONCE: usize = 16;

impl Pool<'_> {
    /// Give up to `blocks` idle blocks back to the free list, the first in the order of eviction; how many it was. Room for
    /// admissions it does not make: idle blocks are capacity already. Each is admitted for the moment in which it is nobody's,
    /// so that it is not taken from under a promise.
    ///
    /// Errors: `WOULD_BLOCK` or `RETRY_AFTER` if A + R + S leaves no room even for one. Threads: any. Lock-free. Cost:
    /// O(blocks evicted); O(N) for each while another thread keeps the order.
    pub fn evict(&self, blocks: u32) -> Result<u32, Refusal> {
        self.recorded(Call::Evict { blocks }, |pool| {
            let mut evicted = 0;
            while evicted < blocks && pool.idle() > 0 {
                if !planted(Plant::EvictUncharged) && !pool.charge_for_eviction(evicted)? {
                    break;
                }
                point("evict: charged");
                let mut found = None;
                pool.take_named(1, &mut |id| found = Some(id));
                if let Some(id) = found {
                    pool.blocks.give_back(id);
                    pool.free.put_mask(word_of(id), mask_of(id));
                    evicted += 1;
                }
                pool.ledger.release(1, 0);
                pool.returned();
                if found.is_none() {
                    break;
                }
            }
            Ok(evicted)
        })
    }

    /// One block of the headroom. `Ok(false)`: none is left, after some were evicted.
    fn charge_for_eviction(&self, evicted: u32) -> Result<bool, Refusal> {
        match self.charge(None, Need::committed(1), 0) {
            Ok(()) => Ok(true),
            Err(_) if evicted > 0 => Ok(false),
            Err(refusal) => Err(refusal),
        }
    }

    /// E: idle blocks with a live name.
    pub(super) fn idle(&self) -> u32 {
        self.count_of(Counter::Idle) as u32
    }

    /// Take up to `count` idle blocks, which are charged in A already; each is held and private when `sink` gets it. Fewer
    /// only if none was idle at some moment. Lock-free.
    pub(super) fn take_idle(&self, count: u32, sink: &mut impl FnMut(u32)) -> u32 {
        let mut taken = self.take_dead(count, sink);
        if taken < count {
            taken += self.take_in_order(count - taken, sink);
        }
        if taken == 0 { self.take_any_idle(count, |_| true, sink) } else { taken }
    }

    /// The same of idle blocks with a live name.
    fn take_named(&self, count: u32, sink: &mut impl FnMut(u32)) -> u32 {
        match self.take_in_order(count, sink) {
            0 => self.take_any_idle(count, |word| word.has(Flag::Named), sink),
            taken => taken,
        }
    }

    /// A few at a time: first whose turn it is, then what is known of each, then the claims. The lines of a few blocks come
    /// side by side that way, and one after another if each is claimed before the next is looked at.
    fn take_in_order(&self, count: u32, sink: &mut impl FnMut(u32)) -> u32 {
        let Some(mut order) = self.order.lock_soon() else { return 0 };
        order.adopt();
        let (mut taken, mut candidates) = (0, [0; AT_ONCE]);
        while taken < count {
            let wanted = (count - taken).min(AT_ONCE as u32);
            let mut found = 0;
            for (place, _) in candidates.iter_mut().zip(0..wanted) {
                let Some(id) = order.pop(|id| self.look_at(id)) else { break };
                *place = id;
                found += 1;
            }
            if found == 0 {
                break;
            }
            let candidates = candidates.iter().take(found);
            self.index.fetch(candidates.clone().map(|&id| self.names.get(id).identity));
            let (mut claimed, mut named) = (0, 0);
            for was_named in candidates.filter_map(|&id| self.claim_idle(id, sink)) {
                claimed += 1;
                named += u64::from(was_named);
            }
            self.counter(Counter::Idle).fetch_sub(named, AcqRel);
            taken += claimed;
        }
        taken
    }

    /// The same of idle blocks with a dead name.
    pub(super) fn take_dead(&self, count: u32, sink: &mut impl FnMut(u32)) -> u32 {
        let mut taken = 0;
        while taken < count
            && let Some(id) = self.order.take_dead()
        {
            taken += u32::from(self.claim_dead(id, sink));
        }
        taken
    }

    /// Whether a block may go, at its turn.
    fn look_at(&self, id: u32) -> Look {
        let word = self.blocks.word(id);
        match word.kind() {
            Some(Kind::Idle) if word.has(Flag::Named) => Look::Take,
            Some(Kind::Retiring | Kind::Reclaiming) => Look::Skip,
            Some(Kind::Held) => Look::Held,
            _ => Look::Drop,
        }
    }

    /// Somebody has the order for longer, or a block is in no order yet: any idle block will do.
    fn take_any_idle(&self, count: u32, will_do: impl Fn(Word) -> bool, sink: &mut impl FnMut(u32)) -> u32 {
        let mut taken = 0;
        for id in 1..=self.config.blocks {
            if taken == count {
                break;
            }
            let word = self.blocks.word(id);
            if word.is(Kind::Idle) && will_do(word) {
                taken += u32::from(self.claim_counted(id, sink));
            }
        }
        taken
    }

    /// A block of which it was said that it is idle and dead.
    fn claim_dead(&self, id: u32, sink: &mut impl FnMut(u32)) -> bool {
        !self.blocks.word(id).has(Flag::Named) && self.claim_counted(id, sink)
    }

    /// As [`Pool::claim_idle`], and E is told.
    fn claim_counted(&self, id: u32, sink: &mut impl FnMut(u32)) -> bool {
        let claimed = self.claim_idle(id, sink);
        if claimed == Some(true) {
            self.counter(Counter::Idle).fetch_sub(1, AcqRel);
        }
        claimed.is_some()
    }

    /// One more private block for the caller, unless it is idle no more; whether it had a live name, which E still counts.
    #[inline]
    fn claim_idle(&self, id: u32, sink: &mut impl FnMut(u32)) -> Option<bool> {
        let word = self.blocks.word(id);
        let (name, group) = (self.names_if(word, id), self.blocks.group(id));
        let next = word.evict()?;
        point("evict: looked");
        if !self.exchange_evicted(id, word, next) {
            return None;
        }
        if let Some(name) = &name {
            self.forget_copy(word);
            self.forget_name(id, group, name);
        }
        sink(id);
        Some(name.is_some())
    }

    fn exchange_evicted(&self, id: u32, word: Word, next: Word) -> bool {
        if planted(Plant::EvictByStore) {
            return self.blocks.alone(id, |_| Some(next));
        }
        self.blocks.exchange(id, word, next).is_ok()
    }

    /// One copy of an identity fewer, if it was a second one.
    pub(super) fn forget_copy(&self, word: Word) {
        if word.has(Flag::Spare) {
            self.counter(Counter::Copies).fetch_sub(1, AcqRel);
        }
    }
}
