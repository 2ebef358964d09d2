//! The life of a sequence as one table.
//!
//! ```text
//!             open               admit                        end
//!   Vacant ─────────▶ Opened ─────────────▶ Admitted ────────────────▶ Vacant
//!                      ▲ │ ▲                   │  advance, extend, …      ▲
//!                      │ │ └────── preempt ────┘                          │
//!                unpin │ │ pin                                            │
//!                      │ ▼                     end                        │
//!                     Pinned ─────────────────────────────────────────────┘
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
    /// It holds blocks of a prefix, and has no promise: nothing is added to it.
    Pinned = 3,
}

/// What a driver may ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// A promise.
    Admit,
    /// Tokens or blocks; a larger or smaller promise; a look at its row.
    Use,
    /// A look at its row.
    Look,
    /// Hold the blocks of a prefix.
    Pin,
    /// Let them go, keep the handle.
    Unpin,
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
        (State::Opened, Event::Pin) => Ok(State::Pinned),
        (State::Pinned, Event::Unpin) => Ok(State::Opened),
        (State::Admitted, Event::Use | Event::Look) => Ok(State::Admitted),
        (State::Pinned, Event::Look) => Ok(State::Pinned),
        (State::Admitted, Event::Preempt) => Ok(State::Opened),
        (State::Opened | State::Admitted | State::Pinned, Event::End) => Ok(State::Vacant),
        (State::Opened | State::Admitted | State::Pinned, _) => Err(WRONG_STATE),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_whole_table() {
        use Event::{Admit, End, Look, Pin, Preempt, Unpin, Use};
        use State::{Admitted, Opened, Pinned, Vacant};
        let wrong = Err(Refusal::Invalid { argument: Argument::Sequence });
        let stale = Err(Refusal::Stale);
        let table = [
            (Vacant, [stale; 7]),
            (Opened, [Ok(Admitted), wrong, wrong, wrong, Ok(Pinned), wrong, Ok(Vacant)]),
            (Admitted, [wrong, Ok(Admitted), Ok(Admitted), Ok(Opened), wrong, wrong, Ok(Vacant)]),
            (Pinned, [wrong, wrong, Ok(Pinned), wrong, wrong, Ok(Opened), Ok(Vacant)]),
        ];
        for (state, row) in table {
            assert_eq!([Admit, Use, Look, Preempt, Pin, Unpin, End].map(|event| next(state, event)), row, "{state:?}");
        }
    }
}
