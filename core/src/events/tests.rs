//! The ring against a queue that forgets its front, and under threads.

use super::{Event, EventCursor, EventKind, Events, EventsRead};
use crate::arena::{Arena, Carve, Line};
use crate::identity::Identity;
use crate::ids::{BlockId, Group};
use std::boxed::Box;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::vec;
use std::vec::Vec;

fn ring(entries: u32) -> Events<'static> {
    let mut carve = Carve::new();
    let layout = Events::layout(&mut carve, entries);
    let memory = Box::leak(vec![Line::DIRTY; carve.bytes() / size_of::<Line>()].into_boxed_slice());
    Events::view(&mut Arena::fresh(memory), &layout, entries).expect("room for it")
}

/// All fields follow from the number.
fn event(number: u64) -> Event {
    let kind = [EventKind::Stored, EventKind::Removed, EventKind::Cleared][number as usize % 3];
    let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let identity = Identity { low: spread, high: !spread };
    Event { number, kind, block: BlockId(number as u32 ^ 7), group: Group(u32::MAX - number as u32), identity }
}

fn read(ring: &Events<'_>, cursor: &mut EventCursor, room: usize) -> (Vec<Event>, u64) {
    let mut out = vec![event(0); room];
    let EventsRead { count, dropped } = ring.read(cursor, &mut out);
    out.truncate(count as usize);
    (out, dropped)
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Tickets in any state, the last `capacity` of them: what a reader may see.
struct Model {
    capacity: u64,
    issued: u64,
    /// Filled numbers and what they were filled with.
    filled: BTreeMap<u64, Option<Event>>,
    open: VecDeque<u64>,
}

impl Model {
    /// The newest number of this slot whose producer has come.
    fn newest_in_slot(&self, number: u64) -> Option<u64> {
        self.filled.keys().rev().copied().find(|other| other % self.capacity == number % self.capacity)
    }

    fn fill(&mut self, number: u64, event: Option<Event>) {
        // Overtaken: it never shows.
        if self.newest_in_slot(number).is_none_or(|newest| newest < number) {
            self.filled.insert(number, event);
        }
    }

    fn read(&self, cursor: &mut EventCursor, room: usize) -> (Vec<Event>, u64) {
        let (mut out, mut dropped) = (Vec::new(), 0);
        while cursor.next <= self.issued {
            let newest = self.newest_in_slot(cursor.next);
            if cursor.next + self.capacity <= self.issued || newest.is_some_and(|newest| newest > cursor.next) {
                dropped += 1;
            } else if let Some(filled) = self.filled.get(&cursor.next) {
                if let Some(event) = filled {
                    if out.len() == room {
                        break;
                    }
                    out.push(*event);
                }
            } else {
                break;
            }
            cursor.next += 1;
        }
        (out, dropped)
    }
}

/// Tickets drawn and filled in any order, late by more than a lap too; three readers of different diligence.
#[test]
fn the_ring_is_a_queue_that_forgets_its_front() {
    for (seed, entries) in [(1, 1), (2, 2), (3, 3), (4, 8), (5, 64)] {
        let mut random = Random(seed);
        let ring = ring(entries);
        let capacity = u64::from(entries).next_power_of_two();
        let mut model = Model { capacity, issued: 0, filled: BTreeMap::new(), open: VecDeque::new() };
        let mut cursors = [EventCursor::START; 3];
        let (mut events, mut lost) = (0, 0);
        for _ in 0..4_000 {
            match random.below(8) {
                0..2 => {
                    model.issued += 1;
                    assert_eq!(ring.ticket(), model.issued);
                    model.open.push_back(model.issued);
                }
                2..5 => {
                    let which = random.below(3) as usize;
                    if let Some(number) = model.open.remove(which.min(model.open.len().saturating_sub(1))) {
                        let void = random.below(5) == 0;
                        if void {
                            ring.void(number)
                        } else {
                            ring.fill(&event(number))
                        }
                        model.fill(number, (!void).then(|| event(number)));
                    }
                }
                _ => {
                    let reader = [0, 0, 0, 1, 1, 2][random.below(6) as usize];
                    let room = random.below(6) as usize;
                    let mut expected = cursors[reader];
                    let got = read(&ring, &mut cursors[reader], room);
                    assert_eq!(got, model.read(&mut expected, room), "seed {seed}");
                    assert_eq!(cursors[reader], expected);
                    events += got.0.len();
                    lost += got.1;
                }
            }
        }
        assert!(events > 100 && lost > 0, "seed {seed}: {events} events, {lost} lost: too few to have tested anything");
    }
}

/// A producer that stopped in the middle of a slot costs that slot, and readers do not wait for who lost it.
#[test]
fn a_stopped_producer_stops_nobody() {
    let ring = ring(2);
    let [first, second] = [ring.ticket(), ring.ticket()];
    let stopped = thread::spawn(move || {
        crate::sync::freeze::stop_this_thread_at("events: claimed");
        ring.fill(&event(first));
    });
    while !crate::sync::freeze::is_frozen(stopped.thread().id()) {
        assert!(!stopped.is_finished(), "the point is not reached");
        thread::yield_now();
    }
    ring.fill(&event(second));
    let mut cursor = EventCursor::START;
    assert_eq!(read(&ring, &mut cursor, 4), (vec![], 0), "1 may still come");
    let third = ring.ticket();
    ring.fill(&event(third));
    assert_eq!(read(&ring, &mut cursor, 4), (vec![event(2)], 2), "1 has been lapped, and 3 found its slot taken");
    let fourth = ring.ticket();
    ring.fill(&event(fourth));
    assert_eq!(read(&ring, &mut cursor, 4), (vec![event(4)], 0));
}

#[test]
fn no_ring_costs_nothing_and_says_nothing() {
    let ring = ring(0);
    assert_eq!(ring.ticket(), 0);
    ring.fill(&event(0));
    ring.fill(&event(9));
    ring.void(3);
    let mut cursor = ring.now();
    assert_eq!((cursor, read(&ring, &mut cursor, 4)), (EventCursor::START, (vec![], 0)));
}

/// A cursor is the caller's memory: whatever is in it, a read ends.
#[test]
fn any_cursor_will_do() {
    let ring = ring(4);
    for _ in 0..9 {
        ring.fill(&event(ring.ticket()));
    }
    let mut zero = EventCursor { next: 0 };
    assert_eq!(read(&ring, &mut zero, 9), ((6..=9).map(event).collect(), 5));
    let mut beyond = EventCursor { next: u64::MAX };
    assert_eq!(read(&ring, &mut beyond, 9), (vec![], 0));
    assert_eq!(beyond.next, u64::MAX);
    let mut now = ring.now();
    assert_eq!((now.next, read(&ring, &mut now, 9)), (10, (vec![], 0)));
}

/// Producers in a hurry and readers of their own pace: each reader learns of every number once, event or not.
#[test]
fn many_producers_and_readers() {
    const EACH: u64 = 30_000;
    let ring = ring(64);
    let done = AtomicBool::new(false);
    let follow = |room: usize| {
        let (mut cursor, mut told, mut last) = (EventCursor::START, 0, 0);
        loop {
            let over = done.load(SeqCst);
            let (events, dropped) = read(&ring, &mut cursor, room);
            for got in &events {
                assert_eq!(*got, event(got.number), "torn");
                assert!(got.number > last, "{} after {last}", got.number);
                last = got.number;
            }
            told += events.len() as u64 + dropped;
            if over && cursor.next > 2 * EACH {
                return told;
            }
        }
    };
    thread::scope(|scope| {
        let readers = [1, 17].map(|room| scope.spawn(move || follow(room)));
        let producers = [0, 1].map(|_| scope.spawn(|| (0..EACH).for_each(|_| ring.fill(&event(ring.ticket())))));
        for producer in producers {
            producer.join().expect("no panic");
        }
        done.store(true, SeqCst);
        assert_eq!(readers.map(|reader| reader.join().expect("no panic")), [2 * EACH; 2]);
    });
}
