//! The ring of a handle. Three lines of header, then words in which the oldest records are overwritten:
//!
//! ```text
//! line 0  magic, version, words of records, configuration of the pool (5)    written once
//! line 1  in use, lost                                                       shared
//! line 2  words written so far, place of the next one, digest, first block,  of who has the ring
//!         words that the call under way may write, its number, begun late
//!         records …
//! record  ticket, arguments, answer, [digest and first block], footer (shape, and length in words)
//! ```
//!
//! A record ends with its length, so that the ring is read backwards from the newest, and what was overwritten in part
//! is where reading stops.
//!
//! The memory may be looked at in the middle of a call: by a signal handler, in a core file, from another process. So the
//! call says first how many words it may write, then its arguments, and the count of words written goes up last: who reads
//! meanwhile leaves out the oldest words, which may be changing, and sees which call is under way.

#![cfg_attr(not(feature = "recorder"), allow(dead_code, reason = "nobody makes a ring then"))]

use super::call::{Call, Stamp};
use super::outcome::{Answer, Outcome};
use super::steps::Steps;
use super::words::{Pen, Put};
use crate::answer::{Argument, Refusal};
use crate::arena::{Arena, Carve, Cells, Line};
use crate::config::PoolConfig;
use crate::pool::header;
use crate::sync::{Acquire, AtomicU64, Plant, Relaxed, Release, planted, point};
use core::sync::atomic::{AtomicU64 as Plain, fence};

/// "kvl_ring", little-endian.
pub(super) const MAGIC: u64 = u64::from_le_bytes(*b"kvl_ring");
/// The version of dumps: changes whenever the header or a record does.
pub const DUMP_VERSION: u64 = 2;
/// Cells of a line.
const LINE: usize = 8;
/// Words before the records.
pub(super) const HEADER: usize = 3 * LINE;
/// Where they stand in a dump.
pub(super) const CAPACITY_AT: usize = 2;
pub(super) const CONFIG_AT: usize = 3;
const LOST: usize = 1;
pub(super) const LOST_AT: usize = LINE + LOST;
const WRITTEN: usize = 0;
pub(super) const WRITTEN_AT: usize = 2 * LINE + WRITTEN;
const IN_USE: usize = 0;
pub(super) const IN_USE_AT: usize = LINE + IN_USE;
const NEXT: usize = 1;
const DIGEST: usize = 2;
const FIRST_BLOCK: usize = 3;
const DIRTY: usize = 4;
pub(super) const DIRTY_AT: usize = 2 * LINE + DIRTY;
const UNDER_WAY: usize = 5;
pub(super) const UNDER_WAY_AT: usize = 2 * LINE + UNDER_WAY;
const LATE: usize = 6;
pub(super) const LATE_AT: usize = 2 * LINE + LATE;
/// Words that are enough for any record but the rows of a batch: the longest is a refused admission.
const RECORD_MAX: usize = 24;
/// Fewest words of records: a few whole calls.
const CAPACITY_MIN: usize = 4 * RECORD_MAX;

/// Fewest lines of a ring.
pub const RING_LINES_MIN: usize = 3 + CAPACITY_MIN.div_ceil(LINE);

/// Where a ticket belongs that is drawn when the call is over.
const NO_TICKET: u64 = u64::MAX;

/// Flags of a footer.
pub(super) const WIDE: u64 = 1;
pub(super) const HAS_DIGEST: u64 = 2;
/// Where the parts of a footer are: number of the call, status, shape of the answer, flags, words in all.
pub(super) const STATUS_SHIFT: u32 = 8;
pub(super) const SHAPE_SHIFT: u32 = 16;
pub(super) const FLAGS_SHIFT: u32 = 24;
pub(super) const WORDS_SHIFT: u32 = 32;

/// What a ring has in it.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RingState {
    /// Words that were ever written.
    pub written: u64,
    /// Words that it holds: what was written before the last so many is gone.
    pub capacity: u64,
    /// Calls that were not recorded: another thread had the ring, or its lists (rows of a batch, names, ids) were longer than it.
    pub lost: u64,
    /// Words of a dump of it.
    pub dump_words: u64,
}

/// A ring in the caller's memory.
#[derive(Clone, Copy)]
pub(crate) struct Ring<'m> {
    identity: Cells<'m, Plain>,
    shared: Cells<'m, AtomicU64>,
    own: Cells<'m, Plain>,
    records: Cells<'m, Plain>,
    /// The pool's: the order of all records of all rings.
    tickets: &'m AtomicU64,
}

impl<'m> Ring<'m> {
    /// An empty ring. `late`: the pool has been used, and nobody recorded it. `INVALID(Memory)` if there is no room for a
    /// few records.
    pub(crate) fn new(
        memory: &'m mut [Line],
        config: &PoolConfig,
        tickets: &'m AtomicU64,
        late: bool,
    ) -> Result<Ring<'m>, Refusal> {
        let mut carve = Carve::new();
        let (identity, shared, own) = (carve.region(LINE), carve.region(LINE), carve.region(LINE));
        let left = core::mem::size_of_val(memory).saturating_sub(carve.bytes()) / size_of::<u64>();
        if left < CAPACITY_MIN {
            return Err(Refusal::invalid(Argument::Memory));
        }
        let records = carve.region(left);
        let mut arena = Arena::fresh(memory);
        let ring = Ring {
            identity: arena.cells(identity)?,
            shared: arena.cells(shared)?,
            own: arena.cells(own)?,
            records: arena.cells(records)?,
            tickets,
        };
        let words = [MAGIC, DUMP_VERSION, left as u64].into_iter().chain(header::pack(config));
        for (cell, word) in ring.identity.all().iter().zip(words) {
            cell.store(word, Relaxed);
        }
        ring.own.at(LATE).store(u64::from(late), Relaxed);
        Ok(ring)
    }

    /// A call goes unrecorded.
    #[cold]
    pub(crate) fn lose(&self) {
        self.shared.at(LOST).fetch_add(1, Relaxed);
    }

    /// Take the ring. `None`: another thread has it. Wait-free.
    #[inline(always)]
    pub(crate) fn take(&self) -> Option<Hold<'_, 'm>> {
        let in_use = self.shared.at(IN_USE);
        // O22 acquire, pairs with O22 release in `drop`: who has the ring sees what was written before.
        let taken = if planted(Plant::RingInTwoSteps) {
            let free = in_use.load(Acquire) == 0;
            in_use.store(1, Relaxed);
            free
        } else {
            in_use.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
        };
        // Lazily: a hold that is made and dropped lets go of the ring.
        taken.then(|| Hold { ring: self })
    }

    /// The next place in the order of all records. Relaxed will do: if one call saw what another did, the two tickets
    /// were drawn in that order.
    #[inline(always)]
    fn ticket(&self) -> u64 {
        self.tickets.fetch_add(1, Relaxed)
    }

    /// The call that has the ring took the blocks of a run.
    #[inline(always)]
    pub(crate) fn note_taken(&self, start: u32, len: u32) {
        if self.note(start, len) == 0 {
            self.own.at(FIRST_BLOCK).store(u64::from(start), Relaxed);
        }
    }

    /// The call that has the ring refused a row of its batch.
    #[cold]
    pub(crate) fn note_refused(&self, row: u32, status: u32) {
        self.note(row, status);
    }

    /// What the digest was before. The product is not of the digest, so that it need not wait for the one before.
    #[inline(always)]
    fn note(&self, low: u32, high: u32) -> u64 {
        /// Odd, with its bits well spread: 2^64 / φ.
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        let digest = self.own.at(DIGEST);
        let (before, noted) = (digest.load(Relaxed), u64::from(low) | u64::from(high) << 32);
        digest.store(before.rotate_left(5).wrapping_add(noted.wrapping_mul(SPREAD)), Relaxed);
        before
    }

    /// Digest and first block of the last call.
    #[cfg(any(test, feature = "model"))]
    pub(crate) fn noted(&self) -> (u32, u32) {
        ((self.own.at(DIGEST).load(Relaxed) >> 32) as u32, self.own.at(FIRST_BLOCK).load(Relaxed) as u32)
    }

    pub(crate) fn state(&self) -> RingState {
        RingState {
            written: self.own.at(WRITTEN).load(Relaxed),
            capacity: self.records.len() as u64,
            lost: self.shared.at(LOST).load(Relaxed),
            dump_words: (HEADER + self.records.len()) as u64,
        }
    }

    /// The memory as somebody else sees it, also in the middle of a call.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn image(&self) -> std::vec::Vec<u64> {
        let shared = self.shared.all().iter().map(|cell| cell.load(Relaxed));
        let rest = self.own.all().iter().chain(self.records.all()).map(|cell| cell.load(Relaxed));
        self.identity.all().iter().map(|cell| cell.load(Relaxed)).chain(shared).chain(rest).collect()
    }

    /// All words of the ring, as in its memory.
    fn copy(&self, out: &mut [u64]) {
        let head = self.identity.all().iter().map(|cell| cell.load(Relaxed));
        let shared = [0, self.shared.at(LOST).load(Relaxed), 0, 0, 0, 0, 0, 0];
        let rest = self.own.all().iter().chain(self.records.all()).map(|cell| cell.load(Relaxed));
        for (to, word) in out.iter_mut().zip(head.chain(shared).chain(rest)) {
            *to = word;
        }
    }
}

/// A ring that the calling thread has to itself.
pub(crate) struct Hold<'r, 'm> {
    ring: &'r Ring<'m>,
}

impl Drop for Hold<'_, '_> {
    #[inline(always)]
    fn drop(&mut self) {
        // O22 release.
        self.ring.shared.at(IN_USE).store(0, Release);
    }
}

impl<'r, 'm> Hold<'r, 'm> {
    /// A record of `call` begins. `None`: its lists are too long for the ring.
    #[inline(always)]
    pub(crate) fn begin<'c>(self, call: Call<'c>, stamp: Stamp) -> Option<Entry<'r, 'm, 'c>> {
        let ring = self.ring;
        let room = call.list_words().saturating_add(RECORD_MAX);
        if room > ring.records.len() {
            return None;
        }
        let own = &ring.own;
        own.at(DIGEST).store(0, Relaxed);
        own.at(FIRST_BLOCK).store(0, Relaxed);
        own.at(DIRTY).store(room as u64, Relaxed);
        // O23 fence, pairs with the reader of a memory that is stopped: what may change is said before it does.
        fence(Release);
        let mut pen = Pen { records: ring.records, next: own.at(NEXT).load(Relaxed) as usize, words: 0 };
        let stamp = if planted(Plant::StampLate) { Stamp::Last } else { stamp };
        pen.word(if stamp == Stamp::First { ring.ticket() } else { NO_TICKET });
        call.put(&mut pen);
        own.at(UNDER_WAY).store(u64::from(call.number()), Release);
        point("recorder: has the ring");
        Some(Entry { hold: self, call, stamp, pen, answer: Ok(Answer::Unfinished) })
    }

    /// Copy the ring to `out`. `INVALID(Output)` if that is shorter than `RingState::dump_words`.
    pub(crate) fn copy(&self, out: &mut [u64]) -> Result<usize, Refusal> {
        let words = HEADER + self.ring.records.len();
        let out = out.get_mut(..words).ok_or(Refusal::invalid(Argument::Output))?;
        self.ring.copy(out);
        Ok(words)
    }
}

/// A call under way. Its record is finished when it goes: with the answer, or, if the call was unwound, without.
pub(crate) struct Entry<'r, 'm, 'c> {
    hold: Hold<'r, 'm>,
    call: Call<'c>,
    stamp: Stamp,
    /// Behind the arguments.
    pen: Pen<'m>,
    answer: Result<Answer, Refusal>,
}

impl Entry<'_, '_, '_> {
    /// The call is over.
    #[inline(always)]
    pub(crate) fn finish(mut self, answer: Result<Answer, Refusal>) {
        self.answer = answer;
    }
}

impl Drop for Entry<'_, '_, '_> {
    #[inline(always)]
    fn drop(&mut self) {
        let ring = self.hold.ring;
        if self.stamp == Stamp::Last {
            let begin = ring.own.at(NEXT).load(Relaxed) as usize;
            ring.records.at(begin).store(ring.ticket(), Relaxed);
        }
        ring.finish(&self.call, &self.answer, &mut self.pen);
    }
}

impl Ring<'_> {
    /// The rest of a record, after the arguments; then it is there.
    fn finish(&self, call: &Call<'_>, answer: &Result<Answer, Refusal>, pen: &mut Pen<'_>) {
        let mut flags = 0;
        if let Call::AdvanceMany { steps, .. } = call
            && !put_rows(steps, answer, pen)
        {
            flags |= WIDE;
        }
        Outcome::put(answer, pen);
        let digest = self.own.at(DIGEST).load(Relaxed);
        if digest != 0 {
            pen.pair((digest >> 32) as u32, self.own.at(FIRST_BLOCK).load(Relaxed) as u32);
            flags |= HAS_DIGEST;
        }
        let (status, shape) = Outcome::numbers(answer);
        let shapes = u64::from(call.number()) | u64::from(status) << STATUS_SHIFT | u64::from(shape) << SHAPE_SHIFT;
        pen.word(shapes | flags << FLAGS_SHIFT | (pen.words + 1) << WORDS_SHIFT);
        let written = self.own.at(WRITTEN);
        self.own.at(UNDER_WAY).store(0, Relaxed);
        // O23 release: a record is counted when all of it is there.
        written.store(written.load(Relaxed) + pen.words, Release);
        self.own.at(NEXT).store(pen.next as u64, Relaxed);
    }
}

/// The rows of a batch: by slot if they all advanced, which is the answer, or else as they were given.
#[inline]
fn put_rows(steps: &Steps<'_>, answer: &Result<Answer, Refusal>, pen: &mut Pen<'_>) -> bool {
    let (next, words) = (pen.next, pen.words);
    let all_advanced = matches!(answer, Ok(Answer::Batch(batch)) if batch.refused == 0);
    if all_advanced && steps.put_slots(pen) {
        return true;
    }
    (pen.next, pen.words) = (next, words);
    steps.put_wide(pen);
    false
}
