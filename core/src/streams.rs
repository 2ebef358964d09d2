//! Time: streams, epochs, and the frontier.
//!
//! Problem: a block whose last holder left may still be read by a kernel that was launched before. The pool cannot see
//! the device; it is told. Work is *submitted* on a stream under an epoch, a number of the whole pool, and the stream
//! *completes* its epochs in order.
//!
//! 1. `submit` opens an epoch on a stream: announce, stamp, record. One thread at a time a stream (others: `BUSY`);
//!    two threads that submit to one stream could not agree with the device on the order anyway.
//! 2. `complete` ends it and every older one of that stream. Any thread.
//! 3. The *frontier* is the newest epoch such that no stream has it or an older one outstanding. It never goes back.
//!
//! Why announce. Between the stamp and the record nobody would see the new epoch, and the frontier could pass it:
//!
//! ```text
//!   submit                          frontier
//!   next: 6 → 7 (mine is 7)
//!                                   next is 7, nothing outstanding ⇒ frontier 7   ✗ epoch 7 is about to be outstanding
//!   ring[head] = 7, head += 1
//! ```
//!
//! So `opening` holds a lower bound before the stamp is taken (O4 release), and the frontier reads `next` first (O4
//! acquire): an epoch that it can know of has been announced, and what has been recorded by then is in the ring (O5).
//!
//! Progress: `submit` is one compare-exchange or `BUSY`; `complete` and `frontier` are lock-free, a retry means that
//! another completion succeeded. A thread stopped inside `submit` holds the frontier and its own stream, as an epoch
//! that never completes would; other streams go on, and blocks wait only for the streams that their sequences used.
//! Widths: 64-bit epochs and counts; at a million submissions a second 2^63 last 292,000 years.

use crate::answer::{Argument, Refusal};
use crate::arena::{Arena, Carve, Cells, Span};
use crate::bits::Places;
use crate::config::PoolConfig;
use crate::ids::{Epoch, Stream, StreamSet};
use crate::sync::{AcqRel, Acquire, AtomicU64, PAIR_WRITE, Plant, Relaxed, Release, planted, point};
use core::num::NonZeroU64;

/// Cells of one stream: `head` (submitted, shifted by one; bit 0: a submitter is at work), `tail` (completed),
/// `opening` (an epoch not older than this is being opened; 0: none). A line each, so that streams do not meet.
const CELLS: usize = 8;
const HEAD: usize = 0;
const TAIL: usize = 1;
const OPENING: usize = 2;
const AT_WORK: u64 = 1;

/// Where the parts of the clock are.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    streams: Span<AtomicU64>,
    rings: Span<AtomicU64>,
    next: Span<AtomicU64>,
    frontier: Span<AtomicU64>,
}

/// All streams of a pool.
#[derive(Clone, Copy)]
pub(crate) struct Streams<'m> {
    streams: Cells<'m, AtomicU64>,
    rings: Cells<'m, AtomicU64>,
    next: &'m AtomicU64,
    frontier: &'m AtomicU64,
    count: u32,
    ring_len: NonZeroU64,
}

/// The outstanding epochs of one stream at a moment: positions in its ring.
struct Outstanding {
    tail: u64,
    head: u64,
}

impl<'m> Streams<'m> {
    pub(crate) const fn layout(carve: &mut Carve, config: &PoolConfig) -> Layout {
        Layout {
            streams: carve.region(config.streams as usize * CELLS),
            rings: carve.region(config.streams as usize * config.epochs as usize),
            next: carve.region(1),
            frontier: carve.region(1),
        }
    }

    pub(crate) fn view(arena: &mut Arena<'m>, layout: &Layout, config: &PoolConfig) -> Result<Self, Refusal> {
        Ok(Streams {
            streams: arena.cells(layout.streams)?,
            rings: arena.cells(layout.rings)?,
            next: arena.cells(layout.next)?.at(0),
            frontier: arena.cells(layout.frontier)?.at(0),
            count: config.streams,
            ring_len: NonZeroU64::new(config.epochs as u64).ok_or(Refusal::invalid(Argument::Epochs))?,
        })
    }

    /// The streams of `set` that exist, or `INVALID`.
    pub(crate) fn known(&self, set: StreamSet) -> Result<StreamSet, Refusal> {
        // The bounds of this `clamp` are constants that do not cross, so it has no panic path.
        let all = u64::MAX >> (64 - self.count.clamp(1, 64));
        match set.0 & all {
            0 => Err(Refusal::invalid(Argument::Stream)),
            known => Ok(StreamSet(known)),
        }
    }

    /// Open the next epoch on `stream`.
    pub(crate) fn submit(&self, stream: Stream) -> Result<Epoch, Refusal> {
        self.check(stream)?;
        let head = self.cell(stream.0, HEAD);
        let before = head.load(Acquire);
        if before & AT_WORK != 0 || head.compare_exchange(before, before | AT_WORK, AcqRel, Relaxed).is_err() {
            return Err(Refusal::Busy);
        }
        let position = before >> 1;
        if position.wrapping_sub(self.cell(stream.0, TAIL).load(Acquire)) >= self.ring_len.get() {
            head.store(before, Release);
            return Err(Refusal::Full);
        }
        let opening = self.cell(stream.0, OPENING);
        if !planted(Plant::NoAnnouncement) {
            opening.store(self.next.load(Acquire) + 1, Release);
        }
        point("submit: announced");
        // O4 release, pairs with O4 acquire in `frontier`: who reads a `next` that has this stamp sees the announcement.
        let epoch = self.next.fetch_add(1, AcqRel) + 1;
        point("submit: stamped");
        self.ring(stream.0, position).store(epoch, Release);
        // O5 release, pairs with O5 acquire in `outstanding`: the ring entry is seen before the count that covers it.
        head.store((position + 1) << 1, Release);
        opening.store(0, Release);
        Ok(Epoch(epoch))
    }

    /// End `epoch` and every older one of `stream`. `STALE` if it is not outstanding there.
    pub(crate) fn complete(&self, stream: Stream, epoch: Epoch) -> Result<(), Refusal> {
        self.check(stream)?;
        let tail = self.cell(stream.0, TAIL);
        loop {
            let seen = self.outstanding(stream.0);
            let position = self.position_of(stream.0, &seen, epoch).ok_or(Refusal::Stale)?;
            // O3 release, pairs with O3 acquire in `outstanding`: what the device finished is seen by who reuses a block.
            // O20 write: before the look at the buckets in `Pool::reclaim`.
            if tail.compare_exchange(seen.tail, position + 1, PAIR_WRITE, Relaxed).is_ok() {
                point("complete: recorded");
                return Ok(());
            }
        }
    }

    /// End everything that `stream` has outstanding; how many epochs that were.
    pub(crate) fn abandon(&self, stream: Stream) -> Result<u64, Refusal> {
        self.check(stream)?;
        let tail = self.cell(stream.0, TAIL);
        loop {
            let seen = self.outstanding(stream.0);
            // O20 write, as above.
            if tail.compare_exchange(seen.tail, seen.head, PAIR_WRITE, Relaxed).is_ok() {
                return Ok(seen.head.wrapping_sub(seen.tail));
            }
        }
    }

    /// The newest epoch handed out.
    pub(crate) fn newest(&self) -> Epoch {
        Epoch(self.next.load(Acquire))
    }

    /// The frontier as last computed: one load, at most too old.
    pub(crate) fn frontier_seen(&self) -> Epoch {
        Epoch(self.frontier.load(Acquire))
    }

    /// The frontier, computed. Cost: O(streams).
    pub(crate) fn frontier(&self) -> Epoch {
        // O4 acquire: first `next`, then the streams. An epoch that is not announced by now is newer than this.
        let mut reached = self.next.load(Acquire);
        for stream in 0..self.count {
            reached = reached.min(self.oldest(stream).wrapping_sub(1));
        }
        let before = self.frontier.load(Acquire);
        if reached <= before {
            return Epoch(before);
        }
        Epoch(self.frontier.fetch_max(reached, AcqRel).max(reached))
    }

    /// The tag of blocks that the streams of `set` may still touch: the newest epoch outstanding there; `NONE` if none.
    pub(crate) fn tag(&self, set: StreamSet) -> Epoch {
        let mut newest = 0;
        for stream in Places(set.0) {
            let seen = self.outstanding(stream);
            if seen.head != seen.tail {
                // An entry that is reused meanwhile makes the tag later than needed, never earlier.
                newest = newest.max(self.ring(stream, seen.head.wrapping_sub(1)).load(Acquire));
            }
        }
        Epoch(newest)
    }

    /// Whether nothing that the streams of `set` submitted up to `tag` is outstanding.
    pub(crate) fn is_over(&self, tag: Epoch, set: StreamSet) -> bool {
        tag <= self.frontier_seen() || Places(set.0).all(|stream| self.oldest(stream) > tag.0)
    }

    /// The oldest epoch that `stream` has outstanding, or a bound below the one it is opening; `u64::MAX` if none.
    fn oldest(&self, stream: u32) -> u64 {
        loop {
            // Before the counts: an announcement that is gone by now has become a recorded epoch.
            let opening = self.cell(stream, OPENING).load(Acquire);
            let seen = self.outstanding(stream);
            if seen.head == seen.tail {
                return if opening == 0 { u64::MAX } else { opening };
            }
            let epoch = self.ring(stream, seen.tail).load(Acquire);
            // The entry may have been reused if the tail moved; then a completion succeeded, and we look again.
            if self.cell(stream, TAIL).load(Acquire) == seen.tail {
                return epoch;
            }
        }
    }

    fn outstanding(&self, stream: u32) -> Outstanding {
        // O3 and O5 acquire. The tail first: it never passes the head, so head >= tail.
        let tail = self.cell(stream, TAIL).load(Acquire);
        let head = self.cell(stream, HEAD).load(Acquire) >> 1;
        Outstanding { tail, head }
    }

    /// The positions of the outstanding ones: at most the ring's length, also where `head` says more, because the tail moved
    /// between the two reads or memory was changed under the pool.
    fn positions(&self, seen: &Outstanding) -> core::ops::Range<u64> {
        seen.tail..seen.head.min(seen.tail.saturating_add(self.ring_len.get()))
    }

    /// Where `epoch` stands among the outstanding ones.
    fn position_of(&self, stream: u32, seen: &Outstanding, epoch: Epoch) -> Option<u64> {
        self.positions(seen).find(|&position| self.ring(stream, position).load(Acquire) == epoch.0)
    }

    /// Whether an epoch of a stream is not over.
    pub(crate) fn has_outstanding(&self, stream: Stream, epoch: Epoch) -> bool {
        self.check(stream).is_ok() && self.position_of(stream.0, &self.outstanding(stream.0), epoch).is_some()
    }

    /// The epochs of a stream that are not over, oldest first; none if there is no such stream.
    pub(crate) fn each_outstanding(&self, stream: Stream, mut each: impl FnMut(Epoch)) {
        if self.check(stream).is_ok() {
            let seen = self.outstanding(stream.0);
            self.positions(&seen).for_each(|position| each(Epoch(self.ring(stream.0, position).load(Acquire))));
        }
    }

    fn check(&self, stream: Stream) -> Result<(), Refusal> {
        if stream.0 < self.count { Ok(()) } else { Err(Refusal::invalid(Argument::Stream)) }
    }

    #[inline(always)]
    fn cell(&self, stream: u32, which: usize) -> &'m AtomicU64 {
        self.streams.at(stream as usize * CELLS + which)
    }

    #[inline(always)]
    fn ring(&self, stream: u32, position: u64) -> &'m AtomicU64 {
        self.rings.at((stream as u64 * self.ring_len.get() + position % self.ring_len) as usize)
    }
}

#[cfg(all(test, not(loom)))]
impl Streams<'_> {
    /// As memory that somebody else has written in: a stream that says it has `head` epochs behind `tail`.
    pub(crate) fn scramble(&self, stream: Stream, tail: u64, head: u64) {
        self.cell(stream.0, TAIL).store(tail, Release);
        self.cell(stream.0, HEAD).store(head << 1, Release);
    }
}
