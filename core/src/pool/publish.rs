//! Names of blocks: `publish`, `withdraw`; how a name dies.
//!
//! A block is found from the moment its word says that it is named; before that its name is written, after that its
//! entry is in the index (which is only a hint). A name dies with a change of the word (I7): withdrawn, evicted, not kept by
//! the last holder, written under an epoch that failed, reset, or replaced by a newer copy. The entry is tidied after.
//!
//! Of one identity there may be several held blocks: each keeps its own name, and one of them is found. When the last holder
//! of a copy leaves, the copy stays idle only if no other one is held.

use super::{Counter, Pool};
use crate::answer::{Argument, Refusal};
use crate::block::{Flag, Kind, Word};
use crate::calls::{Prefix, Published};
use crate::events::{Event as CacheEvent, EventKind};
use crate::identity::Identity;
use crate::ids::{BlockId, Epoch, Group, Sequence};
use crate::names::Name;
use crate::recorder::{Call, Named};
use crate::sequence::{Driver, Event};
use crate::sync::{AcqRel, Acquire, Relaxed, full_fence, point};

/// Names whose buckets are fetched side by side.
const AT_ONCE: u32 = 16;

/// What is published, checked.
struct Edition<'a> {
    first: u32,
    prefix: &'a Prefix<'a>,
    written: Epoch,
    stamp: u64,
    group: Group,
    keep: bool,
}

impl<'m> Pool<'m> {
    /// Give names to full blocks of a sequence, from its `first` on: who asks for a prefix by these names may share them.
    /// They are written under `epoch`, which `submit` opened before; until it is over a hit has to wait for it, or is none, as
    /// the asker wants. If it fails, the names die. `keep`: the block stays, idle, when its last holder leaves, and may
    /// be evicted; else the name dies with the last holder.
    ///
    /// A name that another block has already: if that one is idle or retiring, this one takes its place; if it is held, it
    /// is the one that is found, and both stay with their holders. `found[i]` (as long as the names, or empty) gets the
    /// block that is found from now on. A row never changes by it. What was published by the same sequence before stays.
    /// After a `reset` a sequence that was admitted before it publishes nothing: `OK` with nothing stored. `unfinished` and
    /// `blocks_max` of the prefix are not looked at.
    ///
    /// Errors: `INVALID` (`Cache`: the pool has none; `Identity`: a block has another name already; `Block`: not full, or
    /// out of the window; `Tokens`: given, but not B for each name; `Epoch`: not one that was submitted; `Output`;
    /// `Sequence`), `BUSY` for a shared writable tail, `STALE` (sequence; or an epoch that failed, or is over and too long
    /// ago to know), `CANCELLED`. Then nothing was published. Threads: its driver. Lock-free. Cost: O(names).
    pub fn publish(
        &self,
        sequence: Sequence,
        first: u32,
        prefix: &Prefix<'_>,
        epoch: Epoch,
        keep: bool,
        found: &mut [BlockId],
    ) -> Result<Published, Refusal> {
        let call = Call::Publish { sequence, first, prefix: Named::of(prefix), epoch, keep };
        self.recorded(call, |pool| pool.publish_one(sequence, first, prefix, epoch, keep, found))
    }

    fn publish_one(
        &self,
        sequence: Sequence,
        first: u32,
        prefix: &Prefix<'_>,
        epoch: Epoch,
        keep: bool,
        found: &mut [BlockId],
    ) -> Result<Published, Refusal> {
        if self.config.cache == 0 {
            return Err(Refusal::invalid(Argument::Cache));
        }
        self.check_prefix(prefix)?;
        if !found.is_empty() && found.len() < prefix.identities.len() {
            return Err(Refusal::invalid(Argument::Output));
        }
        if epoch == Epoch::NONE || epoch > self.streams.newest() {
            return Err(Refusal::invalid(Argument::Epoch));
        }
        let driver = self.sequences.drive(sequence, Event::Use)?;
        let record = driver.record;
        let edition =
            Edition { first, prefix, written: epoch, stamp: record.stamp(), group: self.group_of(&driver), keep };
        self.check_edition(&driver, &edition)?;
        if edition.stamp != self.stamp(edition.group) {
            return Ok(Published::default());
        }
        let row = self.row_of(&driver);
        let mut published = Published::default();
        for (place, &identity) in (0..).zip(prefix.identities) {
            if place % AT_ONCE == 0 {
                let next = prefix.identities.iter().skip(place as usize).take(AT_ONCE as usize);
                self.index.fetch(next.copied());
            }
            let id = row.at((first + place) as usize).load(Relaxed);
            self.publish_block(&driver, &edition, place, identity, id, &mut published);
        }
        // O26, pairs with O26 in `fail_names`: either who failed the epoch sees these names, or we see that it failed.
        full_fence();
        if self.failures.has(epoch) {
            // What was published before, under other epochs, stays.
            let names = prefix.identities.len() as u32;
            self.withdraw_blocks(&driver, first, names, |id| self.names.get(id).written == epoch);
            return Err(Refusal::Stale);
        }
        for ((place, identity), found) in (first..).zip(prefix.identities).zip(found) {
            let id = row.at(place as usize).load(Relaxed);
            *found = BlockId(self.known(edition.group, *identity, 0).unwrap_or(id));
        }
        Ok(published)
    }

    fn check_edition(&self, driver: &Driver<'_>, edition: &Edition<'_>) -> Result<(), Refusal> {
        let (record, count) = (driver.record, edition.prefix.identities.len() as u64);
        let accepted = record.extent().tokens.saturating_sub(record.unaccepted()) / self.block_tokens;
        let last = u64::from(edition.first) + count;
        if last > u64::from(accepted) || (count > 0 && edition.first < record.holes().recycled) {
            return Err(Refusal::invalid(Argument::Block));
        }
        let row = self.row_of(driver);
        for (place, &identity) in (0..).zip(edition.prefix.identities) {
            let id = row.at((edition.first + place) as usize).load(Relaxed);
            let word = self.blocks.word(id);
            if id == 0 || !word.is(Kind::Held) {
                return Err(Refusal::invalid(Argument::Block));
            }
            if word.is_tail() {
                return Err(Refusal::Busy);
            }
            if word.has(Flag::Named) && self.names.get(id).identity != identity {
                return Err(Refusal::invalid(Argument::Identity));
            }
        }
        let unknown = self.failures.are_forgotten(edition.written) && edition.written <= self.streams.frontier();
        if unknown || self.failures.has(edition.written) { Err(Refusal::Stale) } else { Ok(()) }
    }

    /// Publish one block.
    fn publish_block(
        &self,
        driver: &Driver<'_>,
        edition: &Edition<'_>,
        place: u32,
        identity: Identity,
        id: u32,
        published: &mut Published,
    ) {
        if self.blocks.word(id).has(Flag::Named) {
            // By this sequence before, or by who shared it.
            return;
        }
        let (spare, replaces) = self.make_way(edition, identity, id);
        self.begin_sharing(id, edition.group, driver.record.shared());
        // O24: before the exchange that publishes it.
        self.names.set(id, &Name { identity, written: edition.written, stamp: edition.stamp });
        self.names.set_tokens(id, self.tokens_of(edition.prefix.tokens, place));
        if spare {
            self.counter(Counter::Copies).fetch_add(1, AcqRel);
        }
        self.order.published(id, identity);
        // By logical presence: who takes the place of another copy stores nothing new.
        let ticket = if spare || replaces { 0 } else { self.events.ticket() };
        let publish = |word: Word| word.publish(edition.keep, spare);
        let done = if self.blocks.word(id).is_private() {
            // Nobody else can change it. (What was shared once may be taken hold of by its id, by anybody.)
            self.blocks.alone(id, publish)
        } else {
            self.blocks.change(id, publish).is_some()
        };
        point("publish: named");
        self.said(ticket, done.then_some(EventKind::Stored), id, edition.group, identity);
        if !done {
            self.counter(Counter::Copies).fetch_sub(u64::from(spare), AcqRel);
            return;
        }
        published.stored += 1;
        published.known += u32::from(spare);
        self.index.insert(identity, id, |other| self.name_of(other));
    }

    /// Whether a held block is found under a name, and is from now on; and whether one that nobody holds gave up its name to
    /// `id`.
    fn make_way(&self, edition: &Edition<'_>, identity: Identity, id: u32) -> (bool, bool) {
        let mut replaces = false;
        loop {
            let Some(other) = self.known(edition.group, identity, id) else { return (false, replaces) };
            let word = self.blocks.word(other);
            if word.is(Kind::Held) {
                let Some(first) = word.come_first().filter(|_| word.has(Flag::Named)) else {
                    return (true, replaces);
                };
                // The last of several copies, or the lowest: it is said to be the one that is found.
                if self.blocks.exchange(other, word, first).is_ok() {
                    self.forget_copy(word);
                    return (true, replaces);
                }
                continue;
            }
            // It loses its name to the newer copy; the identity stays.
            if self.kill(other, word) {
                self.index.remove(identity, other);
                replaces = true;
            } else if self.blocks.word(other) == word {
                // A reclaimer has it.
                return (true, replaces);
            }
        }
    }

    /// The name of a block dies by a change of its word. An idle block is then as good as free: the first taken.
    pub(super) fn kill(&self, id: u32, word: Word) -> bool {
        let Some(next) = word.unname() else { return false };
        if word.is(Kind::Reclaiming) || self.blocks.exchange(id, word, next).is_err() {
            return false;
        }
        self.forget_copy(word);
        if word.is(Kind::Idle) {
            // It is among the dead before it is not among the idle: whoever needs it finds it by one of the two counts.
            self.order.put_dead(id);
            self.counter(Counter::Idle).fetch_sub(1, AcqRel);
        }
        true
    }

    /// The name of a block dies, and whoever has to know is told.
    pub(super) fn unname(&self, id: u32, word: Word) -> bool {
        let (name, group) = (self.names.get(id), self.blocks.group(id));
        let killed = self.kill(id, word);
        if killed {
            self.forget_name(id, group, &name);
        }
        killed
    }

    /// A name is gone from a block: its entry is tidied, and if no other block has it, that is an event.
    pub(super) fn forget_name(&self, id: u32, group: Group, name: &Name) {
        self.index.remove(name.identity, id);
        // Who takes the last of several copies away will look again, after that.
        if !self.events.is_on() || self.known(group, name.identity, id).is_some() {
            return;
        }
        let ticket = self.events.ticket();
        let gone = ticket != 0 && self.known(group, name.identity, id).is_none();
        self.said(ticket, gone.then_some(EventKind::Removed), id, group, name.identity);
    }

    /// What became of a ticket for an event.
    pub(super) fn said(&self, ticket: u64, kind: Option<EventKind>, id: u32, group: Group, identity: Identity) {
        match kind {
            Some(kind) => self.events.fill(&CacheEvent { number: ticket, kind, block: BlockId(id), group, identity }),
            None => self.events.void(ticket),
        }
    }

    /// Under which name a block should be found.
    fn name_of(&self, id: u32) -> Option<Identity> {
        let named = self.blocks.exists(id) && self.blocks.word(id).has(Flag::Named);
        named.then(|| self.names.get(id).identity)
    }

    /// The name of a block, if it has one.
    pub(super) fn names_if(&self, word: Word, id: u32) -> Option<Name> {
        word.has(Flag::Named).then(|| self.names.get(id))
    }

    /// Another block than `id` (0: any) with this live name: a held one if there is one, of several the one that is found.
    pub(super) fn known(&self, group: Group, identity: Identity, id: u32) -> Option<u32> {
        let stamp = self.stamp(group);
        let (mut best, mut spare) = (None, None);
        self.index.find(identity, |other| {
            if other == id || !self.blocks.exists(other) {
                return false;
            }
            let (word, name) = (self.blocks.word(other), self.names.get(other));
            let has_it = word.has(Flag::Named) && name.identity == identity && name.stamp == stamp;
            if !has_it || self.blocks.group(other) != group {
                return false;
            }
            if word.has(Flag::Spare) {
                spare = Some(spare.map_or(other, |before: u32| before.min(other)));
                return false;
            }
            best = Some(other);
            true
        });
        best.or(spare)
    }

    /// Whether a kept name may outlive the last holder: it is of this time, and no other block is found under it.
    pub(super) fn may_rest(&self, id: u32) -> bool {
        let (name, group) = (self.names.get(id), self.blocks.group(id));
        if name.stamp != self.stamp(group) {
            return false;
        }
        if self.counter(Counter::Copies).load(Acquire) == 0 {
            return true;
        }
        self.known(group, name.identity, id).is_none()
    }

    /// Take back the names of `count` blocks from `first` on: the step that was to write them is not launched. Who has
    /// found one of them meanwhile keeps it, and the caller has to tell him. How many names died.
    ///
    /// Errors: `INVALID` (`Block`: beyond the row; `Sequence`), `STALE`, `BUSY`, `CANCELLED`. Threads: its driver. Lock-free.
    /// Cost: O(count).
    pub fn withdraw(&self, sequence: Sequence, first: u32, count: u32) -> Result<u32, Refusal> {
        self.recorded(Call::Withdraw { sequence, first, count }, |pool| {
            let driver = pool.sequences.drive(sequence, Event::Use)?;
            let held = driver.record.extent().held;
            if u64::from(first) + u64::from(count) > u64::from(held) || first < driver.record.holes().recycled {
                return Err(Refusal::invalid(Argument::Block));
            }
            Ok(pool.withdraw_blocks(&driver, first, count, |_| true))
        })
    }

    fn withdraw_blocks(&self, driver: &Driver<'_>, first: u32, count: u32, which: impl Fn(u32) -> bool) -> u32 {
        let row = self.row_of(driver);
        let mut withdrawn = 0;
        for place in first..first.saturating_add(count) {
            let id = row.at(place as usize).load(Relaxed);
            if id == 0 || !self.blocks.exists(id) || !which(id) {
                continue;
            }
            withdrawn += u32::from(self.unname_now(id));
        }
        withdrawn
    }

    /// The name of a block that the caller holds or grips dies, if it has one: whether it had. (No reclaimer has such a
    /// block, so each turn of the loop is another's transition.)
    pub(super) fn unname_now(&self, id: u32) -> bool {
        let mut word = self.blocks.word(id);
        while word.has(Flag::Named) && !self.unname(id, word) {
            word = self.blocks.word(id);
        }
        word.has(Flag::Named)
    }
}
