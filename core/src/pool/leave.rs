//! The road home of blocks: their holder leaves, and they go to the free list, to the bucket of an epoch, or to the idle
//! cache. Children before parents: the end of the row first.
//!
//! A private block is its holder's alone and goes by plain stores. Any other one has a word that others change too:
//!
//! 1. What the leaver's streams may still touch is left behind in the tag, before it leaves: whoever is last
//!    retires the block with all of it.
//! 2. One of several holders just leaves. A promise that stood behind it goes back, or, if the block was to come back to
//!    the leaver (a *recycled* one), to its account.
//! 3. The last holder decides where it goes, in the same exchange: to a bucket if something may still touch it, else to the
//!    idle cache if its name is kept, else to the free list.
//!
//! ```text
//!   fork or hit                    last holder leaves
//!                                  holders = 1: I am the last
//!   holders 1 → 2
//!                                  exchange fails: 2 holders       ✓ one of several (a store would free what is held)
//! ```

use super::{Counter, Pool, Row};
use crate::accounts::Credit;
use crate::bits::{mask_of, word_of};
use crate::block::{Flag, Kind, Word};
use crate::blocks::Tag;
use crate::cache::OrderGuard;
use crate::calls::Released;
use crate::freelist::Gather;
use crate::ids::{Epoch, Group, StreamSet};
use crate::sequence::Driver;
use crate::sync::{AcqRel, Acquire, Plant, Relaxed, full_fence, planted, point};

/// Blocks of a row that are looked at side by side.
const AT_ONCE: usize = 16;

/// Why a holder leaves its blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// It ends, is preempted, or gives blocks away.
    End,
    /// The blocks come back to it: out of its window.
    Recycle,
    /// The blocks come back to it: it took them for tokens that were not accepted.
    RollBack,
    /// It never launched work on them: what was left behind before stays, and nothing is added.
    Unpin,
}

impl Why {
    fn comes_back(self) -> bool {
        matches!(self, Why::Recycle | Why::RollBack)
    }
}

/// Who leaves.
struct Leaver {
    why: Why,
    /// What its work may still touch; `NONE`: nothing.
    epoch: Epoch,
    streams: StreamSet,
    group: Group,
    /// Whom private blocks pay: the shared account, or the own one if they come back.
    credit: Credit,
    own: Credit,
}

/// The order of eviction, for who may come to need it: it is asked for once, not for each block.
#[derive(Default)]
struct Turn<'a, 'm> {
    order: Option<OrderGuard<'a, 'm>>,
    asked: bool,
}

/// What became of the blocks.
#[derive(Clone, Copy, Default)]
pub(super) struct Gone {
    /// Free or idle now, and paid to nobody: the caller lowers A by so many.
    pub(super) free: u32,
    /// Waiting for an epoch, or in the grip of a transfer.
    pub(super) retiring: u32,
    /// The newest epoch that one of them waits for.
    pub(super) after: Epoch,
    /// Entries that named no block that the sequence can hold.
    pub(super) lost: u32,
    /// Entries that were null blocks.
    pub(super) nulls: u32,
    /// Promises that stood behind blocks and are behind them no more.
    pub(super) promises: u32,
    /// Free or idle now, and paid to an account.
    pub(super) paid: u32,
    /// Free or idle now, and not paid yet: `settle_gone` pays them all at once, and then they are `free` or `paid`.
    paying: u32,
    /// Of all of these, idle ones, which E has to be told of.
    idle: u32,
}

impl Gone {
    /// The same for who asked, with `promised` promises that went back besides.
    pub(super) fn released(&self, promised: u32) -> Released {
        Released {
            promised: promised + self.promises,
            free: self.free + self.paid,
            retiring: self.retiring,
            after: if self.retiring > 0 { self.after } else { Epoch::NONE },
        }
    }

    pub(super) fn add(&mut self, other: &Gone) {
        self.free += other.free;
        self.retiring += other.retiring;
        self.after = self.after.max(other.after);
        self.lost += other.lost;
        self.promises += other.promises;
        self.paid += other.paid;
    }
}

impl<'m> Pool<'m> {
    pub(super) fn row_of(&self, driver: &Driver<'_>) -> Row<'m> {
        self.table.row(self.table.row_number(driver.slot, driver.record.turn()))
    }

    /// The sequence leaves the `count` entries of its row from `from` on, but for holes. The caller lowers A by `Gone::free`
    /// after that (O1), and mends the row.
    pub(super) fn leave(&self, driver: &Driver<'_>, why: Why, from: u32, count: u32) -> Gone {
        if count == 0 {
            return Gone::default();
        }
        let record = driver.record;
        let (shared, own) = (record.shared(), Credit::own(driver.slot, driver.generation));
        let streams = if why == Why::Unpin { StreamSet(0) } else { record.streams() };
        let leaver = Leaver {
            why,
            epoch: if why == Why::Unpin { Epoch::NONE } else { self.streams.tag(streams) },
            streams,
            group: self.group_of(driver),
            credit: if shared.is_none() && why.comes_back() { own } else { shared },
            own,
        };
        let mut gone = Gone::default();
        self.leave_entries(driver, &leaver, from, count, &mut gone);
        self.settle_gone(&leaver, &mut gone);
        gone
    }

    fn leave_entries(&self, driver: &Driver<'_>, leaver: &Leaver, from: u32, count: u32, gone: &mut Gone) {
        let entries = self.row_of(driver).part(from as usize, count as usize).all();
        let tag = Tag { epoch: leaver.epoch, streams: leaver.streams, group: leaver.group, credit: leaver.credit };
        let mut free = self.free.gather();
        let mut bucket = Gather::new(|word, mask| self.retiring.push(tag.epoch, word, mask));
        let mut turn = Turn::default();
        let stamp = self.stamp(leaver.group);
        let usual = leaver.epoch == Epoch::NONE && self.counter(Counter::Copies).load(Acquire) == 0;
        for (place, entry) in entries.iter().rev().enumerate() {
            if usual && self.config.cache != 0 && place % AT_ONCE == 0 {
                self.fetch(entries.iter().rev().skip(place).take(AT_ONCE).map(|entry| entry.load(Relaxed)));
            }
            let id = entry.load(Relaxed);
            if id == 0 {
                gone.nulls += 1;
                continue;
            }
            if !self.blocks.exists(id) {
                gone.lost += 1;
                continue;
            }
            let word = self.blocks.word(id);
            if !word.is_private() {
                let rests = usual && self.rest_at_once(id, word, stamp);
                if rests {
                    gone.idle += 1;
                    gone.free += 1;
                    self.place(id, &mut turn);
                } else {
                    self.leave_shared(id, leaver, gone, &mut turn, &mut |id| free.push(id));
                }
            } else if tag.epoch == Epoch::NONE && self.blocks.give_back(id) {
                free.push(id);
                gone.paying += 1;
            } else if self.blocks.retire(id, &tag) {
                bucket.push(id);
                gone.retiring += 1;
                gone.after = gone.after.max(tag.epoch);
            } else {
                gone.lost += 1;
            }
        }
        point("let go: holders are gone");
        // A bit that was set already is a block that is there twice: its word said held, so nobody took it.
        let twice = (free.finish() as u32, bucket.finish() as u32);
        gone.lost += twice.0 + twice.1;
        gone.paying -= twice.0.min(gone.paying);
        gone.retiring -= twice.1.min(gone.retiring);
        drop(turn);
        if let Some(first) = entries.first().map(|entry| entry.load(Relaxed)).filter(|&id| self.blocks.exists(id))
            && gone.paying > 0
        {
            // The next sequence begins where this one was: its words are warm.
            self.cursor(driver.slot).aim(first);
        }
    }

    /// Bring what is known of a few blocks near: the exchanges that follow wait for nothing then.
    #[inline]
    fn fetch(&self, ids: impl Iterator<Item = u32>) {
        let known = ids.filter(|&id| self.blocks.exists(id));
        let seen = known.fold(0, |seen, id| {
            seen ^ self.blocks.word(id).0 ^ self.names.stamp(id) ^ u64::from(self.blocks.is_untouched(id))
        });
        core::hint::black_box(seen);
    }

    /// Bits first, then the words (O1).
    fn settle_gone(&self, leaver: &Leaver, gone: &mut Gone) {
        point("let go: blocks are back");
        if gone.idle > 0 {
            self.counter(Counter::Idle).fetch_add(u64::from(gone.idle), AcqRel);
        }
        if gone.lost > 0 {
            self.counter(Counter::Quarantined).fetch_add(u64::from(gone.lost), AcqRel);
        }
        if leaver.credit.is_none() {
            gone.free += core::mem::take(&mut gone.paying);
        } else {
            self.settle(leaver.group, leaver.credit, gone.paying);
            gone.paid += core::mem::take(&mut gone.paying);
        }
        if gone.retiring > 0 {
            // The late push (`retire.rs`): what completed between the tag and the push may have drained without these.
            // O20, pairs with O20 in `reclaim`: either the reclaimer sees the bits, or we see what completed.
            full_fence();
            if self.streams.is_over(gone.after, leaver.streams) {
                self.look_again(gone.after);
            }
        }
    }

    /// The usual end of a cached block: its only holder leaves, and nothing is in flight. One exchange.
    #[inline(always)]
    fn rest_at_once(&self, id: u32, word: Word, stamp: u64) -> bool {
        let Some(next) = word.rest_at_once() else { return false };
        if self.names.stamp(id) != stamp || !self.blocks.is_untouched(id) {
            return false;
        }
        point("leave: rests");
        if planted(Plant::LastByStore) {
            return self.blocks.alone(id, |_| Some(next));
        }
        self.blocks.exchange(id, word, next).is_ok()
    }

    /// A holder leaves a block that others may know.
    fn leave_shared<'a>(
        &'a self,
        id: u32,
        leaver: &Leaver,
        gone: &mut Gone,
        turn: &mut Turn<'a, 'm>,
        free: &mut impl FnMut(u32),
    ) {
        self.blocks.leave_behind(id, leaver.epoch, leaver.streams);
        let mut word = self.blocks.word(id);
        loop {
            let left = if word.holders() > 1 {
                self.leave_others(id, word, leaver, gone)
            } else if word.is(Kind::Held) {
                self.leave_last(id, word, leaver, gone, turn, free)
            } else {
                gone.lost += 1;
                return;
            };
            match left {
                Ok(()) => return,
                Err(now) => word = now,
            }
        }
    }

    /// One of several holders leaves.
    fn leave_others(&self, id: u32, word: Word, leaver: &Leaver, gone: &mut Gone) -> Result<(), Word> {
        let Some(next) = word.leave() else { return Err(self.blocks.word(id)) };
        point("leave: one of several");
        if planted(Plant::LeaveByStore) {
            self.blocks.alone(id, |_| Some(next));
        } else {
            self.blocks.exchange(id, word, next)?;
        }
        self.take_promises(word.promises() - next.promises(), word, leaver, gone);
        Ok(())
    }

    /// The last holder leaves.
    fn leave_last<'a>(
        &'a self,
        id: u32,
        word: Word,
        leaver: &Leaver,
        gone: &mut Gone,
        turn: &mut Turn<'a, 'm>,
        free: &mut impl FnMut(u32),
    ) -> Result<(), Word> {
        let tag = self.blocks.tag(id);
        let name = self.names_if(word, id);
        let keeps = word.has(Flag::Named) && word.has(Flag::Keep);
        if keeps && !self.may_rest(id) {
            self.unname(id, word);
            return Err(self.blocks.word(id));
        }
        let over = tag.epoch == Epoch::NONE || self.streams.is_over(tag.epoch, tag.streams);
        let to = match (word.holds() > 0 || !over, keeps) {
            (true, _) => Kind::Retiring,
            (false, true) => Kind::Idle,
            (false, false) => Kind::Free,
        };
        let Some(next) = word.leave_last(to) else { return Err(self.blocks.word(id)) };
        let recycled = leaver.why.comes_back() && word.has(Flag::Owed) && word.holds() == 0;
        // (With a shared account the block pays that, whatever it is.)
        let rolled_back = leaver.why == Why::RollBack && !word.has(Flag::Owed) && leaver.credit == leaver.own;
        let credit = if recycled || rolled_back { leaver.own } else { tag.credit };
        // Who is paid now is not paid again by who finds the block idle.
        self.blocks.set_credit(id, if to == Kind::Idle { Credit::NONE } else { credit });
        point("leave: the last");
        let left = if planted(Plant::LastByStore) {
            self.blocks.alone(id, |_| Some(next));
            Ok(())
        } else {
            self.blocks.exchange(id, word, next)
        };
        if let Err(now) = left {
            // Somebody joined: whom it pays is his to say, when he is the last.
            self.blocks.set_credit(id, tag.credit);
            return Err(now);
        }
        self.take_promises(word.promises(), word, leaver, gone);
        if let Some(name) = name.filter(|_| !keeps) {
            self.forget_copy(word);
            self.forget_name(id, leaver.group, &name);
        }
        if to != Kind::Free && keeps {
            self.place(id, turn);
        }
        match to {
            Kind::Retiring => self.retire_shared(id, word, &tag, over, gone),
            _ => self.leave_committed(id, to, credit, leaver, gone, free),
        }
        Ok(())
    }

    /// Where promises go that stood behind a block: to the account of the leaver if it was told that the block comes back
    /// to it, and others grip it still; else to everybody.
    fn take_promises(&self, promises: u32, word: Word, leaver: &Leaver, gone: &mut Gone) {
        let mut promises = promises;
        if promises > 0 && leaver.why.comes_back() && word.has(Flag::Owed) {
            let balance = self.balance_of(leaver.own);
            promises -= u32::from(balance.credit(leaver.own.generation(), 1));
        }
        if promises > 0 {
            self.uncharge(leaver.group, 0, promises);
        }
        gone.promises += promises;
    }

    /// A shared block waits: in a bucket, or in the grip of a transfer.
    fn retire_shared(&self, id: u32, word: Word, tag: &Tag, over: bool, gone: &mut Gone) {
        if word.holds() > 0 {
            self.counter(self.gripped_as(word)).fetch_add(1, AcqRel);
        } else {
            self.wait_in_bucket(id, tag);
        }
        gone.retiring += 1;
        if !over {
            gone.after = gone.after.max(tag.epoch);
        }
    }

    /// A block without a holder that waits for nothing leaves A: with the others, if they pay the same account.
    fn leave_committed(
        &self,
        id: u32,
        to: Kind,
        credit: Credit,
        leaver: &Leaver,
        gone: &mut Gone,
        free: &mut impl FnMut(u32),
    ) {
        gone.idle += u32::from(to == Kind::Idle);
        if credit.is_none() || credit == leaver.credit {
            if to == Kind::Free {
                free(id);
            }
            let count = if credit.is_none() { &mut gone.free } else { &mut gone.paying };
            *count += 1;
            return;
        }
        // Its bit is back before it is paid for.
        if to == Kind::Free && self.free.put_mask(word_of(id), mask_of(id)) != 0 {
            gone.lost += 1;
            return;
        }
        self.settle(leaver.group, credit, 1);
        gone.paid += 1;
    }

    /// A block with a kept name takes its place in the order of eviction: now if it is idle, and once it is if it waits.
    fn place<'a>(&'a self, id: u32, turn: &mut Turn<'a, 'm>) {
        if !core::mem::replace(&mut turn.asked, true) {
            turn.order = self.order.lock_soon();
        }
        match &mut turn.order {
            Some(order) => order.append(id),
            None => self.order.put_unordered(id),
        }
    }

    /// Which count has a retiring block that transfers grip.
    pub(super) fn gripped_as(&self, word: Word) -> Counter {
        if word.has(Flag::Doubt) { Counter::Doubted } else { Counter::Gripped }
    }
}
