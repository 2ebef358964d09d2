//! When which sequence needs a turn. A ring of buckets, one a step, with a bit for each bucket that is not empty: finding
//! the next step with a turn is a few word operations, however many steps lie between.
//!
//! Only turns fewer than a ring's length ahead are in it. A turn further off is entered at the last step that the ring
//! covers and moved on from there, which changes nothing but the time it takes.
//!
//! A turn is never taken out before its step. One whose sequence has left or was admitted anew is recognised by its
//! admission number and passed over.

/// A turn: who, and by which admission. Ordered by admission, which is the order of turns within a step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Turn(u64);

/// Bits of a slot: a pool has at most 2^20 sequences. That leaves 2^44 admissions.
const SLOT_BITS: u32 = 20;

impl Turn {
    /// The turn of the sequence in `slot`, admitted as number `admission`.
    pub const fn new(admission: u64, slot: u32) -> Turn {
        Turn(admission << SLOT_BITS | slot as u64)
    }

    /// Its slot.
    pub const fn slot(self) -> u32 {
        (self.0 & ((1 << SLOT_BITS) - 1)) as u32
    }

    /// The number of its admission.
    pub const fn admission(self) -> u64 {
        self.0 >> SLOT_BITS
    }
}

const WORD_BITS: u64 = 64;
const RING_MAX: u64 = 1 << 16;

/// The ring.
#[derive(Debug)]
pub struct Calendar {
    buckets: Vec<Vec<Turn>>,
    occupied: Vec<u64>,
    /// Ring length − 1; the length is a power of two.
    mask: u64,
}

impl Calendar {
    /// A ring that covers turns up to `steps_ahead` ahead, or as many as a ring may have.
    pub fn new(steps_ahead: u64) -> Calendar {
        let len = (steps_ahead.min(RING_MAX - 1) + 1).next_power_of_two().max(WORD_BITS);
        Calendar {
            buckets: vec![Vec::new(); len as usize],
            occupied: vec![0; (len / WORD_BITS) as usize],
            mask: len - 1,
        }
    }

    /// Enters a turn for step `at`, or for the last step that the ring covers from `now` on.
    #[inline]
    pub fn enter(&mut self, now: u64, at: u64, turn: Turn) {
        debug_assert!(at >= now);
        let position = at.min(now + self.mask) & self.mask;
        self.occupied[(position / WORD_BITS) as usize] |= 1 << (position % WORD_BITS);
        self.buckets[position as usize].push(turn);
    }

    /// The first step from `from` on that has a turn. Every turn must lie in `from ..= from + mask`.
    #[inline]
    pub fn next(&self, from: u64) -> Option<u64> {
        let position = from & self.mask;
        let (word, bit) = ((position / WORD_BITS) as usize, position % WORD_BITS);
        let words = self.occupied.len();
        // The first word twice: its upper bits first, its lower bits after all others.
        for round in 0..=words {
            let index = (word + round) % words;
            let mut bits = self.occupied[index];
            if round == 0 {
                bits &= u64::MAX << bit;
            } else if round == words {
                bits &= !(u64::MAX << bit);
            }
            if bits != 0 {
                let found = index as u64 * WORD_BITS + u64::from(bits.trailing_zeros());
                return Some(from + (found.wrapping_sub(position) & self.mask));
            }
        }
        None
    }

    /// Moves the turns of `step` into `turns`, which is empty, in order of admission.
    #[inline]
    pub fn take(&mut self, step: u64, turns: &mut Vec<Turn>) {
        debug_assert!(turns.is_empty());
        let position = step & self.mask;
        self.occupied[(position / WORD_BITS) as usize] &= !(1 << (position % WORD_BITS));
        // The two buffers change places, so that none is ever thrown away.
        std::mem::swap(&mut self.buckets[position as usize], turns);
        turns.sort_unstable();
    }

    /// Forgets all turns.
    pub fn clear(&mut self) {
        if self.occupied.iter().any(|&word| word != 0) {
            self.occupied.fill(0);
            self.buckets.iter_mut().for_each(Vec::clear);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvledger_core::model::Random;

    #[test]
    fn a_turn_keeps_its_slot_and_sorts_by_admission() {
        let turn = Turn::new((1 << 44) - 1, (1 << 20) - 1);
        assert_eq!((turn.admission(), turn.slot()), ((1 << 44) - 1, (1 << 20) - 1));
        assert!(Turn::new(3, 9) < Turn::new(4, 1));
    }

    #[test]
    fn the_ring_finds_what_a_sorted_list_finds() {
        for steps_ahead in [1, 63, 64, 200, 1000] {
            let (mut ring, mut list) = (Calendar::new(steps_ahead.into()), Vec::new());
            let (mut now, mut random) = (5u64, Random::new(steps_ahead.into()));
            for number in 0..5000 {
                let at = now + 1 + u64::from(random.below(steps_ahead));
                ring.enter(now, at, Turn::new(number, 0));
                list.push((at, number));
                if random.below(3) == 0 {
                    list.sort_unstable();
                    let step = ring.next(now + 1).expect("there is a turn");
                    assert_eq!(step, list[0].0);
                    let mut turns = Vec::new();
                    ring.take(step, &mut turns);
                    let want: Vec<_> = list.extract_if(.., |entry| entry.0 == step).map(|entry| entry.1).collect();
                    assert_eq!(turns.iter().map(|turn| turn.admission()).collect::<Vec<_>>(), want);
                    now = step;
                }
            }
        }
    }

    #[test]
    fn what_is_too_far_off_is_entered_at_the_horizon() {
        let mut ring = Calendar::new(10);
        ring.enter(100, 100_000, Turn::new(1, 1));
        assert_eq!(ring.next(101), Some(100 + 63));
        ring.clear();
        assert_eq!(ring.next(101), None);
    }
}
