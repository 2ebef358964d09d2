//! Names that left the cache not long ago: fingerprints in a table of fixed size.
//!
//! A line has eight of them, and the fingerprint says which line. The number of the departure is stored with each, so
//! that one which is too old counts as forgotten; the oldest of a line gives way to a new one. Everything here is relaxed:
//! only who has the lock of the order comes here.

use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Cells, Span};
use crate::sync::{AtomicU64, Relaxed};

/// Fingerprints of a line.
const PER_LINE: u32 = 8;

/// Where the fingerprint begins; the number of the departure is below.
const FINGERPRINT_SHIFT: u32 = 32;

/// Where the table lies.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    lines: Span<[AtomicU64; 8]>,
    departures: Span<AtomicU64>,
    remembered: u32,
}

/// The table. A copy of this is another view of the same table.
#[derive(Clone, Copy)]
pub(super) struct Ghosts<'m> {
    /// A power of two of them.
    lines: Cells<'m, [AtomicU64; 8]>,
    departures: Cells<'m, AtomicU64>,
    remembered: u32,
}

impl<'m> Ghosts<'m> {
    /// Room for the last `remembered` names, but for what is crowded out where lines are unevenly full.
    pub(super) const fn layout(carve: &mut Carve, remembered: u32) -> Layout {
        let lines = remembered.div_ceil(PER_LINE).next_power_of_two() as usize;
        Layout { lines: carve.region(lines), departures: carve.region(1), remembered }
    }

    /// Empty if the arena is fresh.
    pub(super) fn view(arena: &mut Arena<'m>, layout: &Layout) -> Result<Self, Refusal> {
        let lines = arena.cells(layout.lines)?;
        Ok(Ghosts { lines, departures: arena.cells(layout.departures)?, remembered: layout.remembered })
    }

    /// A name left.
    pub(super) fn put(&self, fingerprint: u32) {
        // Never 0, which is an empty place.
        let now = match self.now().wrapping_add(1) {
            0 => 1,
            now => now,
        };
        self.departures.at(0).store(u64::from(now), Relaxed);
        let age = |place: &&AtomicU64| match place.load(Relaxed) {
            0 => u32::MAX,
            ghost => now.wrapping_sub(ghost as u32),
        };
        if let Some(place) = self.line(fingerprint).iter().max_by_key(age) {
            place.store(u64::from(fingerprint) << FINGERPRINT_SHIFT | u64::from(now), Relaxed);
        }
    }

    /// Whether a name left not long ago. It is forgotten: it is back.
    pub(super) fn take(&self, fingerprint: u32) -> bool {
        let now = self.now();
        let is_it = |ghost: u64| {
            ghost != 0
                && ghost >> FINGERPRINT_SHIFT == u64::from(fingerprint)
                && now.wrapping_sub(ghost as u32) < self.remembered
        };
        let found = self.line(fingerprint).iter().find(|place| is_it(place.load(Relaxed)));
        found.inspect(|place| place.store(0, Relaxed)).is_some()
    }

    /// The number of the last departure.
    fn now(&self) -> u32 {
        self.departures.at(0).load(Relaxed) as u32
    }

    fn line(&self, fingerprint: u32) -> &'m [AtomicU64; 8] {
        self.lines.at(fingerprint as usize & (self.lines.len() - 1))
    }
}
