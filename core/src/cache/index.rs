//! From a name to the blocks that may have it: a hint, one cache line a look.
//!
//! Problem: names are found, stored and taken away by any number of threads at once, on the path of every block that is
//! published or evicted. So there is no lock, and in the common case no locked instruction and one line.
//!
//! 1. A *bucket* is a line: seven entries, and how many entries had to go from here to their second bucket. The name gives
//!    a first and a second bucket (`hash.rs`) and a fingerprint.
//! 2. [`Index::insert`] stores into an empty entry of the first bucket; if there is none, of the second, and raises the
//!    first one's count; if there is none, over an entry that is no good any more, or over one that can go to its own
//!    second bucket.
//! 3. [`Index::find`] asks the caller about each entry of the fingerprint. It looks into the second bucket only if the
//!    first one's count is not 0.
//! 4. [`Index::remove`] stores 0.
//!
//! ```text
//! entry   fingerprint 32 | in its second bucket 1 | block 31        0: empty
//! ```
//!
//! *A hint.* What is stored is never believed: the caller looks at the word and at the name of the block. In a first bucket
//! entries come and go with plain stores, so two threads that write there at once can lose an entry, or leave one behind
//! that is no good. Losing an identity is only a lost hit; an entry that is left behind is found out by the caller each
//! time, and gives way when its place is needed. With one writer at a time nothing is lost while there is room.
//!
//! *The count* is never too low, or entries would be hidden for good: it is raised before an entry goes to its second bucket
//! and lowered by whoever takes that entry away, and both kinds of change are compare-exchanges on the entry. (So the second
//! bucket's number is the first one's with bits of the fingerprint flipped: who finds an entry there knows where it is
//! counted.) A plain store that hits such an entry leaves the count one too high: misses of that bucket then cost a second
//! line, and that is all.
//!
//! *Room.* At least ⌈N/4⌉ buckets: N names are 4 of 7 entries on average, and about one in fifty is in its second bucket.
//! Both buckets of a name are full for one in 700, and one step of cuckoo hashing (Pagh, Rodler, 2001) finds room for it.
//! *Progress.* All of it is wait-free: a bucket or two are walked, and for an insertion that finds them full nine at most.

use super::hash::hash;
use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Cells, Span};
use crate::identity::Identity;
use crate::sync::{Acquire, AtomicU64, Plant, Relaxed, Release, planted};

/// A line: the count, then the entries.
type Bucket = [AtomicU64; 8];

/// Entries of a bucket.
type Entries = [AtomicU64; 7];

/// Names a bucket that there is room for on average.
const NAMES_PER_BUCKET: u32 = 4;

/// The block of an entry.
const BLOCK_MASK: u64 = (1 << 31) - 1;

/// Set if the entry is in its second bucket.
const SECOND: u64 = 1 << 31;

/// Where the fingerprint begins.
const FINGERPRINT_SHIFT: u32 = 32;

/// Where an index lies.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    buckets: Span<Bucket>,
}

/// The names. A copy of this is another view of the same names.
#[derive(Clone, Copy)]
pub(crate) struct Index<'m> {
    /// A power of two of them, two at least.
    buckets: Cells<'m, Bucket>,
}

/// Where a name goes.
#[derive(Clone, Copy)]
struct Place {
    first: u32,
    second: u32,
    /// An entry without its block, in the first bucket.
    mark: u64,
}

impl<'m> Index<'m> {
    /// Room for one name of each of `blocks` blocks.
    pub(crate) const fn layout(carve: &mut Carve, blocks: u32) -> Layout {
        let buckets = blocks.div_ceil(NAMES_PER_BUCKET).next_power_of_two();
        // Two at least, so that a name's second bucket is another one than its first.
        Layout { buckets: carve.region(if buckets < 2 { 2 } else { buckets as usize }) }
    }

    /// Empty if the arena is fresh.
    pub(crate) fn view(arena: &mut Arena<'m>, layout: &Layout) -> Result<Self, Refusal> {
        Ok(Index { buckets: arena.cells(layout.buckets)? })
    }

    /// The first block that has the fingerprint of `name` and of which `is` says that it is the one.
    #[inline]
    pub(crate) fn find(&self, name: Identity, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        let place = self.place(name);
        let (overflowed, entries) = self.bucket(place.first);
        let found = candidate(entries, place.mark, &mut is);
        if found.is_some() || overflowed.load(Relaxed) == 0 {
            return found;
        }
        candidate(self.bucket(place.second).1, place.mark | SECOND, &mut is)
    }

    /// Bring the buckets of a few names near: their lines come side by side, and are there when each is needed.
    #[inline]
    pub(crate) fn fetch(&self, names: impl Iterator<Item = Identity>) {
        let seen = names.fold(0, |seen, name| seen ^ self.bucket(self.place(name).first).0.load(Relaxed));
        core::hint::black_box(seen);
    }

    /// All blocks that have the fingerprint of `name`. One may come twice.
    #[cfg(test)]
    pub(super) fn each(&self, name: Identity, mut block: impl FnMut(u32)) {
        self.find(name, |id| {
            block(id);
            false
        });
    }

    /// Block `id` (not 0) is found under `name` from now on. `name_of` says under which name a block should be found at
    /// present, if any; it is asked when both buckets are full. False: no room, and nothing is changed.
    #[inline]
    pub(crate) fn insert(&self, name: Identity, id: u32, name_of: impl Fn(u32) -> Option<Identity>) -> bool {
        debug_assert!(id != 0 && u64::from(id) <= BLOCK_MASK, "block {id} has no place in an entry");
        let place = self.place(name);
        let entry = place.mark | u64::from(id);
        let (_, entries) = self.bucket(place.first);
        match entries.iter().find(|slot| slot.load(Relaxed) == 0) {
            Some(slot) => {
                // O30 release: the name of the block and its word are written.
                slot.store(entry, if planted(Plant::RelaxedEntry) { Relaxed } else { Release });
                true
            }
            None => self.insert_crowded(place, entry, &name_of),
        }
    }

    /// Block `id` is not found under `name` any more. Whether it was.
    #[inline]
    pub(crate) fn remove(&self, name: Identity, id: u32) -> bool {
        let place = self.place(name);
        let entry = place.mark | u64::from(id);
        let (overflowed, entries) = self.bucket(place.first);
        match entries.iter().find(|slot| slot.load(Relaxed) == entry) {
            Some(slot) => {
                slot.store(0, Relaxed);
                true
            }
            None => overflowed.load(Relaxed) != 0 && self.change(place.second, 0, |seen| seen == entry | SECOND),
        }
    }

    /// The first bucket is full.
    #[cold]
    #[inline(never)]
    fn insert_crowded(&self, place: Place, entry: u64, name_of: &impl Fn(u32) -> Option<Identity>) -> bool {
        let Place { first, second, .. } = place;
        self.insert_second(first, second, entry, |seen| seen == 0)
            || self.change(first, entry, |seen| self.is_stale(first, seen, name_of))
            || self.insert_second(first, second, entry, |seen| self.is_stale(second, seen, name_of))
            || self.insert_moving(first, entry)
    }

    /// Put an entry into its first bucket, in place of one that moves from there to its own second bucket.
    fn insert_moving(&self, bucket: u32, entry: u64) -> bool {
        self.bucket(bucket).1.iter().any(|slot| {
            let moved = slot.load(Relaxed);
            let second = bucket ^ self.flip(moved);
            // In both buckets for a moment, rather than in none.
            if moved & SECOND != 0 || !self.insert_second(bucket, second, moved, |seen| seen == 0) {
                return false;
            }
            // O30 release.
            let done = slot.compare_exchange(moved, entry, Release, Relaxed).is_ok();
            if !done {
                // It was taken away meanwhile.
                self.change(second, 0, |seen| seen == moved | SECOND);
            }
            done
        })
    }

    /// Put an entry into its second bucket, over one that `gives_way`.
    fn insert_second(&self, first: u32, second: u32, entry: u64, gives_way: impl Fn(u64) -> bool) -> bool {
        // Before the entry is there: the count is never too low.
        self.bucket(first).0.fetch_add(1, Relaxed);
        let done = self.change(second, entry | SECOND, gives_way);
        if !done {
            self.bucket(first).0.fetch_sub(1, Relaxed);
        }
        done
    }

    /// Put `entry` over the first entry of a bucket that `gives_way`, and settle the count that had the old one. False if
    /// none does.
    fn change(&self, bucket: u32, entry: u64, gives_way: impl Fn(u64) -> bool) -> bool {
        self.bucket(bucket).1.iter().any(|slot| {
            let seen = slot.load(Relaxed);
            // O30 release.
            let changed = gives_way(seen)
                && (planted(Plant::ChangeInTwoSteps) && stored(slot, entry)
                    || slot.compare_exchange(seen, entry, Release, Relaxed).is_ok());
            if changed && seen & SECOND != 0 {
                self.bucket(bucket ^ self.flip(seen)).0.fetch_sub(1, Relaxed);
            }
            changed
        })
    }

    /// Whether an entry of a bucket leads nowhere: its block is found under no name, or under another one.
    fn is_stale(&self, bucket: u32, seen: u64, name_of: &impl Fn(u32) -> Option<Identity>) -> bool {
        let id = (seen & BLOCK_MASK) as u32;
        id == 0
            || name_of(id).is_none_or(|name| {
                let place = self.place(name);
                let (here, mark) = match seen & SECOND {
                    0 => (place.first, place.mark),
                    _ => (place.second, place.mark | SECOND),
                };
                here != bucket || mark != seen & !BLOCK_MASK
            })
    }

    #[inline(always)]
    fn place(&self, name: Identity) -> Place {
        let hash = hash(name);
        let first = hash as u32 & self.mask();
        // Not 0, so that an empty entry never looks like a candidate.
        let mark = (hash >> FINGERPRINT_SHIFT).max(1) << FINGERPRINT_SHIFT;
        Place { first, second: first ^ self.flip(mark), mark }
    }

    /// What is between the numbers of the two buckets of an entry. Not 0.
    #[inline(always)]
    fn flip(&self, entry: u64) -> u32 {
        ((entry >> FINGERPRINT_SHIFT) as u32 & self.mask()).max(1)
    }

    /// The bits of a bucket's number.
    #[inline(always)]
    fn mask(&self) -> u32 {
        (self.buckets.len() - 1) as u32
    }

    /// The count and the entries of a bucket.
    #[inline(always)]
    fn bucket(&self, number: u32) -> (&'m AtomicU64, &'m Entries) {
        let [overflowed, entries @ ..] = self.buckets.at(number as usize);
        (overflowed, entries)
    }

    /// Entries in first buckets, in second buckets, and what all counts say of the latter. For tests and audits, at rest.
    #[cfg(test)]
    pub(super) fn census(&self) -> (u64, u64, u64) {
        let (mut first, mut second, mut counted) = (0, 0, 0);
        for [overflowed, entries @ ..] in self.buckets.all() {
            counted += overflowed.load(Relaxed);
            for entry in entries.iter().map(|slot| slot.load(Relaxed)).filter(|entry| *entry != 0) {
                *(if entry & SECOND == 0 { &mut first } else { &mut second }) += 1;
            }
        }
        (first, second, counted)
    }
}

/// A mistake: whatever is there now.
fn stored(slot: &AtomicU64, entry: u64) -> bool {
    slot.store(entry, Release);
    true
}

/// The first entry with `mark` whose block `is` the one.
#[inline(always)]
fn candidate(entries: &Entries, mark: u64, is: &mut impl FnMut(u32) -> bool) -> Option<u32> {
    entries.iter().find_map(|slot| {
        // O30 acquire, pairs with O30 release in `insert` and `change`: the caller finds the block as it was published.
        let entry = slot.load(Acquire);
        let id = (entry & BLOCK_MASK) as u32;
        (entry & !BLOCK_MASK == mark && is(id)).then_some(id)
    })
}
