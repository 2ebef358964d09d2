//! The life of a sequence as one table.
//!
//! ```text
//!             open               admit                        end
//!   Vacant ─────────▶ Opened ─────────────▶ Admitted ────────────────▶ Vacant
//!                       ▲                      │  advance, extend, …
//!                       └────── preempt ───────┘
//! ```
//!
//! Cancellation is beside the table: it closes the account from any thread at any moment, and from then on every event
//! but `End` is answered `CANCELLED`.

use crate::answer::{Argument, Refusal};

/// Where a sequence is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum State {
    /// The slot is nobody's.
    Vacant = 0,
    /// It has a handle, and neither promise nor blocks.
    Opened = 1,
    /// It has a promise, and the blocks it took from it.
    Admitted = 2,
}

/// What a driver may ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// A promise.
    Admit,
    /// Tokens or blocks; a larger or smaller promise; a look at its row.
    Use,
    /// Give everything back, keep the handle.
    Preempt,
    /// Give everything back, the handle too.
    End,
}

/// The table: the state after the event, or the refusal.
pub(crate) const fn next(state: State, event: Event) -> Result<State, Refusal> {
    const WRONG_STATE: Refusal = Refusal::invalid(Argument::Sequence);
    match (state, event) {
        (State::Vacant, _) => Err(Refusal::Stale),
        (State::Opened, Event::Admit) => Ok(State::Admitted),
        (State::Opened, Event::Use | Event::Preempt) => Err(WRONG_STATE),
        (State::Admitted, Event::Admit) => Err(WRONG_STATE),
        (State::Admitted, Event::Use) => Ok(State::Admitted),
        (State::Admitted, Event::Preempt) => Ok(State::Opened),
        (State::Opened | State::Admitted, Event::End) => Ok(State::Vacant),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_whole_table() {
        use Event::{Admit, End, Preempt, Use};
        use State::{Admitted, Opened, Vacant};
        let wrong = Err(Refusal::Invalid { argument: Argument::Sequence });
        let stale = Err(Refusal::Stale);
        let table = [
            (Vacant, [stale, stale, stale, stale]),
            (Opened, [Ok(Admitted), wrong, wrong, Ok(Vacant)]),
            (Admitted, [wrong, Ok(Admitted), Ok(Opened), Ok(Vacant)]),
        ];
        for (state, row) in table {
            assert_eq!([Admit, Use, Preempt, End].map(|event| next(state, event)), row, "{state:?}");
        }
    }
}
