//! By hand, every order of two streams' work is a test: what an event orders stays in order, and what nothing orders does
//! not.

use crate::common::{by_hand, open};
use kvledger_cuda::cpu::Step;
use kvledger_cuda::{Event, Memory, Stream, StreamId};
use std::collections::BTreeSet;

/// Runs two streams to their end, the choices of which one goes on being the bits of `order`.
fn run(order: u32, has_event: bool) -> u8 {
    let (device, writer) = open(by_hand());
    let cpu = device.as_cpu().unwrap();
    let (reader, event) = (Stream::open(&device).unwrap(), Event::open(&device).unwrap());
    let memory = Memory::holding(&writer, &[0u8; 16]).unwrap();
    let seen = Memory::holding(&writer, &[0u8; 16]).unwrap();
    writer.set((&memory, 0), 1, 1).unwrap();
    writer.set((&memory, 0), 2, 1).unwrap();
    if has_event {
        writer.record(&event).unwrap();
        reader.wait_event(&event).unwrap();
    }
    reader.copy((&seen, 0), (&memory, 0), 1).unwrap();
    let turn = |at: u32| -> StreamId { if order >> (at % 8) & 1 == 0 { writer.id() } else { reader.id() } };
    let mut at = 0;
    while !(writer.is_idle().unwrap() && reader.is_idle().unwrap()) {
        if cpu.advance(turn(at)).unwrap() != Step::Done {
            // Its end is reached, or it waits: then it is the other one's turn.
            let other = if turn(at) == writer.id() { reader.id() } else { writer.id() };
            assert_eq!(cpu.advance(other).unwrap(), Step::Done, "order {order:#b}");
        }
        at += 1;
    }
    seen.values::<u8>(&writer, 0, 1).unwrap()[0]
}

#[test]
fn an_event_holds_in_every_order() {
    for order in 0..256 {
        assert_eq!(run(order, true), 2, "order {order:#b}");
    }
}

#[test]
fn without_an_event_every_outcome_is_found() {
    let found: BTreeSet<u8> = (0..256).map(|order| run(order, false)).collect();
    assert_eq!(found, BTreeSet::from([0, 1, 2]));
}
