//! The rows of a batch. A step over a thousand sequences is one record, and nearly all that is in it are these.
//!
//! A row that was advanced names the sequence that has its slot: the generation follows from what was recorded before. So
//! if no row was refused, which is nearly always, half a word a row is enough, and a step costs little more recorded than
//! not. Else the rows are written as they were given, in three words each.

use super::words::{Put, halves};
use crate::calls::Step;
use crate::ids::Sequence;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Of half a word: the slot in 20 bits, tokens in 12.
const SLOT_BITS: u32 = 20;
const TOKENS_BITS: u32 = 12;
const _: () = assert!(crate::config::SLOTS_MAX <= 1 << SLOT_BITS && SLOT_BITS + TOKENS_BITS == 32);

/// Words of a row that is written as it was given.
const WIDE: usize = 3;

/// The rows of an `advance_many`: those of the caller, or those of a record.
#[derive(Clone, Copy, Debug)]
pub struct Steps<'a> {
    form: Form<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Form<'a> {
    Caller(&'a [Step]),
    /// So many rows by slot, in the pool of this number.
    Slots(&'a [u64], usize, u32),
    Wide(&'a [u64]),
}

impl<'a> Steps<'a> {
    /// The rows that a caller gave.
    pub const fn of(steps: &'a [Step]) -> Steps<'a> {
        Steps { form: Form::Caller(steps) }
    }

    /// `count` rows of a record of the pool of this number.
    pub(super) fn read(words: &'a [u64], count: usize, wide: bool, pool: u32) -> Steps<'a> {
        Steps { form: if wide { Form::Wide(words) } else { Form::Slots(words, count, pool) } }
    }

    /// Words that so many rows take.
    pub(super) const fn words(count: usize, wide: bool) -> usize {
        if wide { count.saturating_mul(WIDE) } else { count.div_ceil(2) }
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        match self.form {
            Form::Caller(steps) => steps.len(),
            Form::Slots(_, count, _) => count,
            Form::Wide(words) => words.len() / WIDE,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the rows are those of a record in which none was refused. Their handles then have generation 0, and stand
    /// for the sequence that has the slot.
    pub fn by_slot(&self) -> bool {
        matches!(self.form, Form::Slots(..))
    }

    /// The rows in order.
    pub fn iter(&self) -> impl Iterator<Item = Step> + use<'a> {
        let (mut caller, mut slots, mut wide): (&[Step], _, &[u64]) = (&[], (&[][..], 0, 0), &[]);
        match self.form {
            Form::Caller(steps) => caller = steps,
            Form::Slots(words, count, pool) => slots = (words, count, pool),
            Form::Wide(words) => wide = words,
        }
        let (words, count, pool) = slots;
        let halves_in_order = words.iter().flat_map(|&word| <[u32; 2]>::from(halves(word)));
        let by_slot = halves_in_order.take(count).map(move |half| unpack(half, pool));
        let wide = wide.chunks_exact(WIDE).filter_map(|row| match row {
            &[handle, generation, tokens] => {
                let (slot, pool) = halves(handle);
                Some(Step { sequence: Sequence { slot, pool, generation }, tokens: tokens as u32 })
            }
            _ => None,
        });
        caller.iter().copied().chain(by_slot).chain(wide)
    }

    /// Write the rows by slot. False: a row has too many tokens for that, and what was written is nothing.
    #[inline]
    pub(super) fn put_slots(&self, to: &mut impl Put) -> bool {
        let Form::Caller(steps) = self.form else { return false };
        let [places, rest] = to.places(Steps::words(steps.len(), false));
        let (steps, around) = steps.split_at_checked(2 * places.len()).unwrap_or((steps, &[]));
        pack_rows(steps, places) && pack_rows(around, rest)
    }

    /// Write the rows as they are.
    pub(super) fn put_wide(&self, to: &mut impl Put) {
        let Form::Caller(steps) = self.form else { return };
        for step in steps {
            to.sequence(step.sequence);
            to.word(u64::from(step.tokens));
        }
    }
}

/// Whether the tokens of all rows fit. One pass, without a branch: it is most of what recording a step costs.
#[inline]
fn pack_rows(steps: &[Step], places: &[AtomicU64]) -> bool {
    let mut tokens = 0;
    let (pairs, last) = steps.as_chunks::<2>();
    for ([first, second], place) in pairs.iter().zip(places) {
        place.store(u64::from(pack(first)) | u64::from(pack(second)) << 32, Relaxed);
        tokens |= first.tokens | second.tokens;
    }
    if let ([last], Some(place)) = (last, places.last()) {
        place.store(u64::from(pack(last)), Relaxed);
        tokens |= last.tokens;
    }
    tokens >> TOKENS_BITS == 0
}

#[inline(always)]
fn pack(step: &Step) -> u32 {
    step.sequence.slot | step.tokens << SLOT_BITS
}

fn unpack(half: u32, pool: u32) -> Step {
    let slot = half & ((1 << SLOT_BITS) - 1);
    Step { sequence: Sequence { slot, pool, generation: 0 }, tokens: half >> SLOT_BITS }
}
