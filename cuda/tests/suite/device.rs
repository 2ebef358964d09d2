//! Memory, streams, events and copies, whoever does the work and whenever.

use crate::common::{by_hand, late, open, paces, pattern};
use kvledger_cuda::cpu::{Options, Step};
use kvledger_cuda::{Address, Cpu, Device, Error, Event, EventId, Extent, Memory, Reason, Space, Stream, StreamId};
use std::sync::Arc;
use std::thread;

#[test]
fn what_was_written_is_read() {
    for options in paces() {
        let (device, stream) = open(options);
        for space in [Space::Device, Space::Pinned] {
            let memory = Memory::allocate(&device, space, 1000).unwrap();
            assert_eq!(memory.address().0 % 16, 0);
            let poison: Vec<u8> = memory.values(&stream, 0, 1000).unwrap();
            assert!(poison.iter().all(|byte| *byte == 0xFF), "{options:?}");
            memory.write(&stream, 8, &[1u64, u64::MAX, 3]).unwrap();
            assert_eq!(memory.values::<u64>(&stream, 16, 2).unwrap(), [u64::MAX, 3]);
            assert_eq!(memory.values::<u8>(&stream, 31, 2).unwrap(), [0, 0xFF], "the last of 3, and poison");
        }
    }
}

#[test]
fn copies_go_from_any_space_to_any_space_in_the_order_of_the_stream() {
    for options in paces() {
        let (device, stream) = open(options);
        let memories: Vec<Memory> = [Space::Device, Space::Pinned, Space::Device, Space::Pinned]
            .map(|space| Memory::allocate(&device, space, 4096).unwrap())
            .into();
        let data = pattern(4096, 1);
        memories[0].write(&stream, 0, &data).unwrap();
        for two in memories.windows(2) {
            stream.copy((&two[1], 0), (&two[0], 0), 4096).unwrap();
        }
        stream.set((&memories[0], 1), 7, 2).unwrap();
        stream.copy((&memories[3], 100), (&memories[0], 0), 4).unwrap();
        let mut expected = data.clone();
        expected[100..104].copy_from_slice(&[data[0], 7, 7, data[3]]);
        assert_eq!(memories[3].values::<u8>(&stream, 0, 4096).unwrap(), expected, "{options:?}");
    }
}

#[test]
fn copies_are_done_later_and_read_what_is_there_then() {
    let (device, stream) = open(by_hand());
    let cpu = device.as_cpu().unwrap();
    let (from, to) =
        (Memory::allocate(&device, Space::Pinned, 16).unwrap(), Memory::holding(&stream, &[0u8; 16]).unwrap());
    stream.copy((&to, 0), (&from, 0), 16).unwrap();
    assert!(!stream.is_idle().unwrap());
    // SAFETY: pinned memory of this test, on a device that does nothing by itself.
    unsafe { from.host_pointer().unwrap().write_bytes(9, 16) };
    assert_eq!(cpu.advance(stream.id()).unwrap(), Step::Done);
    assert_eq!(cpu.advance(stream.id()).unwrap(), Step::Idle);
    assert!(stream.is_idle().unwrap());
    assert_eq!(to.values::<u8>(&stream, 0, 16).unwrap(), [9; 16]);
}

#[test]
fn work_keeps_the_memory_that_it_needs() {
    for options in paces() {
        let (device, stream) = open(options);
        let to = Memory::allocate(&device, Space::Device, 1 << 20).unwrap();
        let from = Memory::holding(&stream, &pattern(1 << 20, 3)).unwrap();
        stream.copy((&to, 0), (&from, 0), 1 << 20).unwrap();
        let address = from.address();
        drop(from);
        assert_eq!(device.extent(address), None, "it is given back, for everybody else");
        assert_eq!(to.values::<u8>(&stream, 0, 1 << 20).unwrap(), pattern(1 << 20, 3), "{options:?}");
    }
}

#[test]
fn events_are_over_when_the_work_before_them_is() {
    for options in paces() {
        let (device, stream) = open(options);
        let (event, memory) = (Event::open(&device).unwrap(), Memory::allocate(&device, Space::Pinned, 64).unwrap());
        assert!(event.is_complete().unwrap(), "never recorded");
        event.synchronize().unwrap();
        for round in 0..20u8 {
            stream.set((&memory, 0), round, 64).unwrap();
            stream.record(&event).unwrap();
            event.synchronize().unwrap();
            assert!(event.is_complete().unwrap());
            // SAFETY: pinned memory, whose last use is over.
            let found = unsafe { memory.host_pointer().unwrap().cast::<[u8; 64]>().read() };
            assert_eq!(found, [round; 64], "{options:?}");
        }
    }
}

#[test]
fn a_stream_that_follows_an_event_waits_for_it() {
    for seed in 0..20 {
        let (device, first) = open(late(seed));
        let (second, event) = (Stream::open(&device).unwrap(), Event::open(&device).unwrap());
        let memory = Memory::holding(&first, &[0u32; 1024]).unwrap();
        let copy = Memory::holding(&first, &[1u32; 1024]).unwrap();
        first.set((&memory, 0), 5, 4096).unwrap();
        first.record(&event).unwrap();
        second.wait_event(&event).unwrap();
        second.copy((&copy, 0), (&memory, 0), 4096).unwrap();
        assert_eq!(copy.values::<u32>(&second, 0, 1024).unwrap(), [0x0505_0505; 1024], "seed {seed}");
    }
}

#[test]
fn an_event_that_is_recorded_again_means_the_newer_mark_for_who_comes_later() {
    let (device, first) = open(by_hand());
    let cpu = device.as_cpu().unwrap();
    let (second, event) = (Stream::open(&device).unwrap(), Event::open(&device).unwrap());
    let memory = Memory::holding(&first, &[0u8; 16]).unwrap();
    first.record(&event).unwrap();
    second.wait_event(&event).unwrap();
    first.set((&memory, 0), 1, 1).unwrap();
    first.record(&event).unwrap();
    assert_eq!(cpu.advance(second.id()).unwrap(), Step::Waits);
    assert_eq!(cpu.advance(first.id()).unwrap(), Step::Done);
    assert!(!event.is_complete().unwrap(), "the newer mark is not reached");
    assert_eq!(cpu.advance(second.id()).unwrap(), Step::Done, "the older one is, which is what it waits for");
    assert_eq!(cpu.advance(first.id()).unwrap(), Step::Done);
    assert_eq!(cpu.advance(first.id()).unwrap(), Step::Done);
    assert!(event.is_complete().unwrap());
}

#[test]
fn what_is_out_of_range_is_refused_before_anything_is_enqueued() {
    for options in paces() {
        let (device, stream) = open(options);
        let memory = Memory::holding(&stream, &pattern(64, 0)).unwrap();
        let range = |address: Address, bytes, available| Reason::Range { address, bytes, available };
        let at = |offset| Address(memory.address().0 + offset);
        let reason = |result: Result<(), Error>| result.unwrap_err().reason;
        assert_eq!(reason(stream.copy((&memory, 60), (&memory, 0), 5)), range(at(60), 5, 4));
        assert_eq!(reason(stream.set((&memory, 65), 0, 0)), range(at(65), 0, 0));
        assert_eq!(reason(memory.write(&stream, 0, &[0u8; 65])), range(at(0), 65, 64));
        assert_eq!(reason(memory.read(&stream, 56, &mut [0u64; 2])), range(at(56), 16, 8));
        assert_eq!(reason(device.copy(stream.id(), at(0), at(32), 33)), range(at(32), 33, 32));
        let overlap = |to: u64, from: u64| Reason::Overlap { to: at(to), from: at(from) };
        assert_eq!(reason(device.copy(stream.id(), at(0), at(15), 16)), overlap(0, 15));
        assert_eq!(reason(device.copy(stream.id(), at(15), at(0), 16)), overlap(15, 0));
        device.copy(stream.id(), at(0), at(0), 0).unwrap();
        let host = [0u8; 64];
        let foreign = Address(host.as_ptr() as usize as u64);
        assert_eq!(reason(device.copy(stream.id(), at(0), foreign, 1)), Reason::Foreign(foreign));
        assert_eq!(memory.host_pointer().unwrap_err().reason, Reason::Elsewhere(Space::Device));
        assert_eq!(memory.values::<u8>(&stream, 0, 64).unwrap(), pattern(64, 0));
    }
}

#[test]
fn addresses_of_device_memory_are_no_addresses_of_the_host() {
    let (device, _) = open(Options::default());
    let (own, pinned) = (device.allocate(Space::Device, 100).unwrap(), device.allocate(Space::Pinned, 100).unwrap());
    assert_eq!(own.0 >> 55, 1, "no program has such an address: it faults");
    assert_eq!(pinned.0 >> 48, 0);
    assert_eq!(device.extent(own), Some(Extent { space: Space::Device, bytes: 100 }));
    assert_eq!(device.extent(Address(pinned.0 + 30)), Some(Extent { space: Space::Pinned, bytes: 70 }));
    assert!(device.free(own) && !device.free(own));
    assert_eq!(device.extent(own), None);
}

#[test]
fn handles_that_were_closed_or_are_foreign_are_refused() {
    for options in paces() {
        let (device, stream) = open(options);
        let (other, _keep) = open(options);
        let (gone, event) = (device.open_stream().unwrap(), device.open_event().unwrap());
        assert!(device.close_stream(gone) && !device.close_stream(gone));
        assert!(device.close_event(event) && !device.close_event(event));
        let handle = |operation| Err(Error::new(operation, Reason::Handle));
        assert_eq!(device.synchronize_stream(gone), handle("synchronize_stream"));
        assert_eq!(device.query_stream(StreamId(99)).map(|_| ()), handle("query_stream"));
        assert_eq!(device.record_event(event, stream.id()), handle("record_event"));
        assert_eq!(device.query_event(EventId(99)).map(|_| ()), handle("query_event"));
        assert_eq!(device.wait_event(gone, event), handle("wait_event"));
        let memory = Memory::allocate(&other, Space::Device, 16).unwrap();
        let refused = device.copy(stream.id(), memory.address(), memory.address(), 1).unwrap_err();
        assert_eq!(refused.reason, Reason::Foreign(memory.address()));
    }
}

/// A stream that one thread closes while another marks it: the mark is refused, or reached. Nobody waits for ever, neither
/// the host nor a stream that was told to wait for it.
#[test]
fn a_mark_in_a_stream_that_is_being_closed_is_reached_or_refused() {
    for options in paces() {
        let (device, waiting) = open(options);
        let event = device.open_event().unwrap();
        for _ in 0..200 {
            let closing = device.open_stream().unwrap();
            thread::scope(|scope| {
                scope.spawn(|| while device.record_event(event, closing).is_ok() {});
                scope.spawn(|| assert!(device.close_stream(closing)));
                scope.spawn(|| device.wait_event(waiting.id(), event).unwrap());
            });
            device.synchronize_event(event).unwrap();
            waiting.synchronize().unwrap();
        }
    }
}

/// A stream that waits for its own mark, which another thread enqueues: the mark it waits for is before it.
#[test]
fn no_stream_waits_for_a_mark_behind_its_wait() {
    for options in paces() {
        let (device, stream) = open(options);
        let event = device.open_event().unwrap();
        for _ in 0..100 {
            thread::scope(|scope| {
                scope.spawn(|| (0..50).for_each(|_| device.record_event(event, stream.id()).unwrap()));
                scope.spawn(|| (0..50).for_each(|_| device.wait_event(stream.id(), event).unwrap()));
            });
            stream.synchronize().unwrap();
        }
    }
}

/// Streams and events of the same place in another device: nothing is done there in their stead.
#[test]
fn handles_of_another_device_are_refused() {
    let ((here, stream), (there, other)) = (open(by_hand()), open(by_hand()));
    let (event, elsewhere) = (Event::open(&here).unwrap(), Event::open(&there).unwrap());
    let refused = |operation, answer: Result<(), Error>| assert_eq!(answer, Err(Error::new(operation, Reason::Handle)));
    refused("record_event", stream.record(&elsewhere));
    refused("wait_event", other.wait_event(&event));
    let memory = Memory::allocate(&there, Space::Device, 64).unwrap();
    refused("synchronize_stream", memory.write(&stream, 0, &[1u8; 4]));
    refused("synchronize_stream", memory.read(&stream, 0, &mut [1u8; 4]));
    assert!(other.is_idle().unwrap() && elsewhere.is_complete().unwrap() && event.is_complete().unwrap());
}

#[test]
fn an_allocation_that_nobody_can_have_is_refused() {
    let (device, _) = open(Options::default());
    for bytes in [usize::MAX, usize::MAX / 2, 1 << 50] {
        let refused = device.allocate(Space::Device, bytes).unwrap_err();
        assert_eq!(refused, Error::new("allocate", Reason::Memory { space: Space::Device, bytes }));
    }
    let nothing = device.allocate(Space::Device, 0).unwrap();
    assert_eq!(device.extent(nothing), Some(Extent { space: Space::Device, bytes: 0 }));
}

#[test]
fn a_device_that_is_dropped_first_stays_for_what_it_gave() {
    let cpu = Cpu::open(late(1));
    let device: Arc<dyn Device> = cpu;
    let stream = Stream::open(&device).unwrap();
    let memory = Memory::holding(&stream, &[4u32; 100]).unwrap();
    drop(device);
    assert_eq!(memory.values::<u32>(&stream, 0, 100).unwrap(), [4; 100]);
}
