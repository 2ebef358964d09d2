//! The words of all blocks and the tags beside them: who may apply which transition, and with which atomics.
//!
//! A word is changed with plain stores by whoever has the block alone: who claimed its free-list bit (`take`), the one
//! holder of a private block (`give_back`, its first publication), a reclaimer after its claim. Everywhere
//! else it is a compare-exchange, and losing one means that the block is no longer in the state that was assumed.
//!
//! The tag of a retiring block (until when, which streams, whose group, whose credit) is written before the transition
//! to retiring publishes it (O6 release) and trusted only after a claim (O6 acquire). A tag that is merely looked at
//! may be of an earlier retirement; the version in the word tells. From its first sharing on, a block's tag gathers what
//! each holder leaves behind, the newest epoch and all streams, before that holder leaves: the last one retires it
//! with all of it.

use crate::accounts::Credit;
use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Cells, Span};
use crate::block::{Kind, Word};
use crate::ids::{Epoch, Group, StreamSet};
use crate::sync::{AcqRel, Acquire, AtomicU64, Plant, Relaxed, Release, planted};
use core::sync::atomic::{AtomicU32 as Guarded32, AtomicU64 as Guarded};

/// Where the parts are.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    words: Span<AtomicU64>,
    epochs: Span<AtomicU64>,
    streams: Span<Guarded>,
    credits: Span<Guarded>,
    groups: Span<Guarded32>,
}

/// What is known about a retiring block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tag {
    /// The newest epoch that may touch it.
    pub(crate) epoch: Epoch,
    /// The streams that may.
    pub(crate) streams: StreamSet,
    /// The group that it counts for.
    pub(crate) group: Group,
    /// The account that gets it back.
    pub(crate) credit: Credit,
}

/// All blocks of a pool.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<'m> {
    words: Cells<'m, AtomicU64>,
    epochs: Cells<'m, AtomicU64>,
    streams: Cells<'m, Guarded>,
    credits: Cells<'m, Guarded>,
    groups: Cells<'m, Guarded32>,
    count: u32,
}

impl<'m> Blocks<'m> {
    pub(crate) const fn layout(carve: &mut Carve, blocks: u32) -> Layout {
        let cells = blocks as usize + 1;
        Layout {
            words: carve.region(cells),
            epochs: carve.region(cells),
            streams: carve.region(cells),
            credits: carve.region(cells),
            groups: carve.region(cells),
        }
    }

    pub(crate) fn view(arena: &mut Arena<'m>, layout: &Layout, blocks: u32) -> Result<Self, Refusal> {
        Ok(Blocks {
            words: arena.cells(layout.words)?,
            epochs: arena.cells(layout.epochs)?,
            streams: arena.cells(layout.streams)?,
            credits: arena.cells(layout.credits)?,
            groups: arena.cells(layout.groups)?,
            count: blocks,
        })
    }

    /// Whether `id` names a usable block.
    #[inline(always)]
    pub(crate) fn exists(&self, id: u32) -> bool {
        id >= 1 && id <= self.count
    }

    #[inline(always)]
    pub(crate) fn word(&self, id: u32) -> Word {
        Word(self.words.at(id as usize).load(Acquire))
    }

    /// The words of the `len` blocks from `start` on, to be walked beside the row that the ids go to.
    #[inline(always)]
    pub(crate) fn run(&self, start: u32, len: u32) -> &'m [AtomicU64] {
        self.words.part(start as usize, len as usize).all()
    }

    /// Give the block of this word its first holder. The caller has just claimed its free-list bit. False if it was not
    /// free.
    #[inline(always)]
    pub(crate) fn take_word(word: &AtomicU64) -> bool {
        alone(word, Word::take)
    }

    /// The one holder of a private block gives it back; its free-list bit is set by the caller, after this.
    #[inline(always)]
    pub(crate) fn give_back(&self, id: u32) -> bool {
        self.alone(id, Word::give_back)
    }

    /// The holder leaves a private block that work in flight may still touch. False if it is not private to a holder.
    pub(crate) fn retire(&self, id: u32, tag: &Tag) -> bool {
        if planted(Plant::RetireTwice) && self.word(id).is(Kind::Retiring) {
            return true;
        }
        if !self.word(id).is_private() {
            return false;
        }
        self.set_tag(id, tag);
        // O6 release, pairs with O6 acquire in `claim`: the tag is written.
        self.shared(id, Word::retire)
    }

    /// The one holder of a private block lets others know it: its tag is live from here on, with nothing in it yet.
    /// Before the transition that shares it.
    pub(crate) fn begin_sharing(&self, id: u32, group: Group, credit: Credit) {
        if self.word(id).is_private() {
            self.set_tag(id, &Tag { epoch: Epoch::NONE, streams: StreamSet(0), group, credit });
        }
    }

    /// What a holder leaves behind in a shared block, before it leaves: work up to `epoch` on `streams`.
    pub(crate) fn leave_behind(&self, id: u32, epoch: Epoch, streams: StreamSet) {
        if epoch != Epoch::NONE && !planted(Plant::OnlyTheLastTag) {
            self.streams.at(id as usize).fetch_or(streams.0, AcqRel);
            self.epochs.at(id as usize).fetch_max(epoch.0, AcqRel);
        }
    }

    /// Whom the block pays when it leaves A. Only by its last holder, before it leaves.
    pub(crate) fn set_credit(&self, id: u32, credit: Credit) {
        self.credits.at(id as usize).store(credit.raw(), Relaxed);
    }

    /// Take a retiring block to look at it. False if it is no longer retiring: another reclaimer has it, or it was hit.
    pub(crate) fn claim(&self, id: u32) -> bool {
        if planted(Plant::ClaimByStore) {
            return self.alone(id, Word::claim);
        }
        // O6 acquire.
        self.shared(id, Word::claim)
    }

    /// Back to retiring; the caller sets its bucket bit again, after this.
    pub(crate) fn unclaim(&self, id: u32) -> bool {
        self.alone(id, Word::unclaim)
    }

    /// A claimed block is free; the caller sets its free-list bit, after this.
    pub(crate) fn free(&self, id: u32) -> bool {
        self.alone(id, Word::free)
    }

    /// A claimed block rests: it can be found, and it can be evicted.
    pub(crate) fn rest(&self, id: u32) -> bool {
        self.alone(id, Word::rest)
    }

    /// Out of circulation, whatever it was.
    pub(crate) fn quarantine(&self, id: u32) {
        self.words.at(id as usize).store(self.word(id).quarantine().0, Release);
    }

    /// The tag. Trusted only by who claimed the block.
    pub(crate) fn tag(&self, id: u32) -> Tag {
        let index = id as usize;
        Tag {
            epoch: Epoch(self.epochs.at(index).load(Relaxed)),
            streams: StreamSet(self.streams.at(index).load(Relaxed)),
            credit: Credit::from_raw(self.credits.at(index).load(Relaxed)),
            group: Group(self.groups.at(index).load(Relaxed)),
        }
    }

    /// The group that a shared block belongs to.
    #[inline(always)]
    pub(crate) fn group(&self, id: u32) -> Group {
        Group(self.groups.at(id as usize).load(Relaxed))
    }

    /// Whether nobody has left anything behind in a shared block, and it pays nobody.
    #[inline(always)]
    pub(crate) fn is_untouched(&self, id: u32) -> bool {
        self.epochs.at(id as usize).load(Relaxed) == 0 && self.credits.at(id as usize).load(Relaxed) == 0
    }

    fn set_tag(&self, id: u32, tag: &Tag) {
        let index = id as usize;
        self.epochs.at(index).store(tag.epoch.0, Relaxed);
        self.streams.at(index).store(tag.streams.0, Relaxed);
        self.credits.at(index).store(tag.credit.raw(), Relaxed);
        self.groups.at(index).store(tag.group.0, Relaxed);
    }

    /// `word`, which was read before, becomes `next`; or what it is by now.
    #[inline(always)]
    pub(crate) fn exchange(&self, id: u32, word: Word, next: Word) -> Result<(), Word> {
        let cell = self.words.at(id as usize);
        cell.compare_exchange(word.0, next.0, AcqRel, Acquire).map(drop).map_err(Word)
    }

    /// A transition that others may try at the same time: the word before it and after it. Lock-free: a failure is
    /// another's transition.
    pub(crate) fn change(&self, id: u32, transition: impl Fn(Word) -> Option<Word>) -> Option<(Word, Word)> {
        let mut word = self.word(id);
        loop {
            let next = transition(word)?;
            match self.exchange(id, word, next) {
                Ok(()) => return Some((word, next)),
                Err(now) => word = now,
            }
        }
    }

    fn shared(&self, id: u32, transition: impl Fn(Word) -> Option<Word>) -> bool {
        self.change(id, transition).is_some()
    }

    /// A transition by who has the block alone.
    #[inline(always)]
    pub(crate) fn alone(&self, id: u32, transition: impl Fn(Word) -> Option<Word>) -> bool {
        alone(self.words.at(id as usize), transition)
    }
}

/// A transition by who has the block alone.
#[inline(always)]
fn alone(cell: &AtomicU64, transition: impl Fn(Word) -> Option<Word>) -> bool {
    match transition(Word(cell.load(Relaxed))) {
        Some(next) => {
            cell.store(next.0, Release);
            true
        }
        None => false,
    }
}
