//! The epochs that failed last: what is published under one of them after the fact must not be found.
//!
//! A fixed number of them is remembered. Of older ones only the newest is: a publication under an epoch that is not newer
//! is refused, because nobody knows any more how it ended.

use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Cells, Span};
use crate::ids::Epoch;
use crate::sync::{AcqRel, Acquire, AtomicU64};

/// Failed epochs that are remembered. A power of two.
const REMEMBERED: usize = 64;
/// How many have failed.
const COUNT: usize = REMEMBERED;
/// The newest that is forgotten.
const FORGOTTEN: usize = REMEMBERED + 1;

/// Where they are.
pub(crate) type Layout = Span<AtomicU64>;

/// The failed epochs.
#[derive(Clone, Copy)]
pub(crate) struct Failures<'m>(Cells<'m, AtomicU64>);

impl<'m> Failures<'m> {
    pub(crate) const fn layout(carve: &mut Carve) -> Layout {
        carve.region(REMEMBERED + 2)
    }

    pub(crate) fn view(arena: &mut Arena<'m>, layout: Layout) -> Result<Self, Refusal> {
        arena.cells(layout).map(Failures)
    }

    /// An epoch has failed.
    pub(crate) fn note(&self, epoch: Epoch) {
        let place = self.0.at(COUNT).fetch_add(1, AcqRel) as usize & (REMEMBERED - 1);
        let before = self.0.at(place).swap(epoch.0, AcqRel);
        self.0.at(FORGOTTEN).fetch_max(before, AcqRel);
    }

    /// Whether an epoch failed, as far as is remembered.
    pub(crate) fn has(&self, epoch: Epoch) -> bool {
        self.0.at(COUNT).load(Acquire) != 0 && (0..REMEMBERED).any(|place| self.0.at(place).load(Acquire) == epoch.0)
    }

    /// Whether nobody knows how an epoch ended that is over: it is not newer than one that is forgotten.
    pub(crate) fn are_forgotten(&self, epoch: Epoch) -> bool {
        epoch.0 <= self.0.at(FORGOTTEN).load(Acquire)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::arena::Line;
    use std::vec;

    #[test]
    fn the_last_ones_are_remembered_and_older_ones_are_unknown() {
        let mut carve = Carve::new();
        let layout = Failures::layout(&mut carve);
        let mut memory = vec![Line::ZERO; carve.bytes() / size_of::<Line>()];
        let failures = Failures::view(&mut Arena::fresh(&mut memory), layout).expect("the memory is as long as stated");
        assert!(!failures.has(Epoch(1)) && !failures.are_forgotten(Epoch(1)));
        for epoch in 1..=100 {
            failures.note(Epoch(2 * epoch));
        }
        assert!(failures.has(Epoch(200)) && failures.has(Epoch(74)) && !failures.has(Epoch(199)));
        assert!(failures.are_forgotten(Epoch(72)) && !failures.are_forgotten(Epoch(73)));
    }
}
