//! The races of the ring of events, each with the mistake that must be noticed.

use super::{Event, EventCursor, EventKind, Events};
use crate::arena::{Arena, Carve, Line};
use crate::identity::Identity;
use crate::ids::{BlockId, Group};
use crate::race::holds_and_notices;
use crate::sync::Plant;
use loom::thread;
use std::boxed::Box;
use std::vec;

/// A ring of one slot: every event is a lap after the one before.
fn ring() -> Events<'static> {
    let layout = Events::layout(&mut Carve::new(), 1);
    // loom's cells are larger than words.
    let mut arena = Arena::fresh(Box::leak(vec![Line::ZERO; 64].into_boxed_slice()));
    Events::view(&mut arena, &layout, 1).expect("room")
}

/// All that it has is its number.
fn event(number: u64) -> Event {
    let identity = Identity { low: number, high: number };
    Event { number, kind: EventKind::Stored, block: BlockId(number as u32), group: Group(number as u32), identity }
}

/// What a reader gets now: whole events, in order; how many numbers he was told of.
fn read(ring: &Events<'_>, cursor: &mut EventCursor) -> u64 {
    let mut out = [event(0); 2];
    let answer = ring.read(cursor, &mut out);
    let got = &out[..answer.count as usize];
    assert!(got.iter().all(|got| *got == event(got.number)), "torn: {got:?}");
    assert!(got.is_sorted_by_key(|got| got.number));
    u64::from(answer.count) + answer.dropped
}

/// O34, O35: a producer writes over the event that a reader is reading.
#[test]
fn producer_against_reader() {
    holds_and_notices(None, &[Plant::NoSecondLookAtEvent], || {
        let ring = ring();
        ring.fill(&event(ring.ticket()));
        let producer = thread::spawn(move || ring.fill(&event(ring.ticket())));
        let mut cursor = EventCursor::START;
        let mut told = read(&ring, &mut cursor);
        producer.join().expect("no panic");
        told += read(&ring, &mut cursor);
        assert_eq!((told, cursor.next), (2, 3));
    });
}

/// Two producers a lap apart, and a reader: the older event is never put over the newer one, and the reader learns of
/// both numbers, whichever got through.
#[test]
fn producer_against_producer_of_the_same_slot() {
    holds_and_notices(None, &[Plant::EventOverNewer], || {
        let ring = ring();
        let (older, newer) = (ring.ticket(), ring.ticket());
        let late = thread::spawn(move || ring.fill(&event(older)));
        ring.fill(&event(newer));
        let mut cursor = EventCursor::START;
        let mut told = read(&ring, &mut cursor);
        late.join().expect("no panic");
        told += read(&ring, &mut cursor);
        assert_eq!((told, cursor.next), (2, 3));
    });
}
