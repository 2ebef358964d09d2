//! Cache events: `events`, `events_now`.

use crate::answer::{KvlRefusal, fill_apart};
use crate::array::{array_mut, span};
use crate::claim::{In, InOut, Out};
use crate::handle::{KvlPool, ask, view};
use core::mem::MaybeUninit;
use kvledger_core::identity::Identity;
use kvledger_core::{BlockId, Event, EventCursor, EventsRead};

/// [`Event`], with its kind as a number: C's array is not initialized, and not every number is a kind.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KvlEvent {
    /// Its place in the order of all events of the pool.
    pub number: u64,
    /// What happened.
    pub kind: u32,
    /// The block that holds the copy.
    pub block: BlockId,
    /// The trust group.
    pub group: u32,
    /// The identity.
    pub identity: Identity,
}

impl From<Event> for KvlEvent {
    fn from(event: Event) -> KvlEvent {
        let Event { number, block, identity, .. } = event;
        KvlEvent { number, kind: event.kind as u32, block, group: event.group.0, identity }
    }
}

/// Events that are read at a time, on the stack.
const CHUNK: usize = 16;

/// `Pool::events`.
///
/// # Safety
/// `events` is NULL or valid for `events_max` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_events(
    pool: In<'_, KvlPool>,
    cursor: InOut<'_, EventCursor>,
    events: *mut KvlEvent,
    events_max: usize,
    read: Out<'_, EventsRead>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    let written = [span(events, events_max), cursor.range()];
    fill_apart(read, refusal, &written, &[pool.range()], || {
        let (pool, cursor) = (view(pool)?, cursor.given()?);
        // SAFETY: the caller's promise; nothing is said of what is in the entries.
        let out = unsafe { array_mut(events.cast::<MaybeUninit<KvlEvent>>(), events_max) }?;
        let (mut places, mut read) = (out.iter_mut(), EventsRead::default());
        // Also without room: then what was dropped is counted.
        loop {
            let mut chunk = [Event::NONE; CHUNK];
            let asked = places.len().min(CHUNK);
            let got = pool.events(cursor, chunk.get_mut(..asked).unwrap_or_default());
            for event in chunk.iter().take(got.count as usize) {
                if let Some(place) = places.next() {
                    place.write((*event).into());
                }
            }
            read.count = read.count.saturating_add(got.count);
            read.dropped = read.dropped.saturating_add(got.dropped);
            if (got.count as usize) < asked || places.len() == 0 {
                break;
            }
        }
        Ok(read)
    })
}

/// `Pool::events_now`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_events_now(
    pool: In<'_, KvlPool>,
    cursor: Out<'_, EventCursor>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, cursor, refusal, || Ok(view(pool)?.events_now()))
}
