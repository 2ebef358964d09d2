//! What goes wrong on purpose: refused work, no memory, a lost device.

use crate::common::{by_hand, dense, late, open, paces, pool};
use kvledger_cuda::cpu::{Options, Pace, Trouble};
use kvledger_cuda::{Address, Error, Event, Memory, Mover, Reason, Space, Stream};

fn reason<T>(result: Result<T, Error>) -> Option<Reason> {
    result.err().map(|error| error.reason)
}

#[test]
fn a_lost_device_answers_so_and_everything_can_be_given_back() {
    for options in paces() {
        let (device, stream) = open(options);
        let (event, memory) = (Event::open(&device).unwrap(), Memory::holding(&stream, &[3u8; 64]).unwrap());
        let pinned = Memory::allocate(&device, Space::Pinned, 64).unwrap();
        let mut mover = Mover::new(&device, 16).unwrap();
        let blocks = pool(&stream, Space::Device, dense(16, 1), 4, 0);
        assert_eq!(device.loss(), None);
        device.as_cpu().unwrap().lose();
        let loss = device.loss().expect("it is lost");
        let lost = Some(Reason::Lost(loss));
        assert_eq!(reason(device.allocate(Space::Device, 1)), lost);
        assert_eq!(reason(device.open_stream()), lost);
        assert_eq!(reason(device.open_event()), lost);
        assert_eq!(reason(stream.copy((&pinned, 0), (&memory, 0), 1)), lost);
        assert_eq!(reason(stream.set((&memory, 0), 0, 1)), lost);
        assert_eq!(reason(memory.write(&stream, 0, &[0u8])), lost);
        assert_eq!(reason(memory.values::<u8>(&stream, 0, 1)), lost);
        assert_eq!(reason(stream.record(&event)), lost);
        assert_eq!(reason(stream.wait_event(&event)), lost);
        assert_eq!(reason(event.is_complete()), lost);
        assert_eq!(reason(event.synchronize()), lost);
        assert_eq!(reason(stream.synchronize()), lost);
        assert_eq!(reason(stream.is_idle()), lost);
        assert_eq!(reason(mover.fill(&stream, &blocks, &[1], 0)), lost);
        assert_eq!(
            stream.synchronize().unwrap_err().to_string(),
            format!("synchronize_stream: the device is lost, open it anew: {loss}")
        );
        device.as_cpu().unwrap().lose();
        assert_eq!(device.loss(), Some(loss), "the first loss stays");
        // SAFETY: pinned memory of this test: the host may look at it still.
        unsafe { pinned.host_pointer().unwrap().read() };
        drop((pinned, memory, event, mover, blocks, stream));
        assert_eq!(device.extent(Address(0)), None);
    }
}

#[test]
fn work_that_was_enqueued_before_a_loss_touches_nothing() {
    let (device, stream) = open(by_hand());
    let pinned = Memory::allocate(&device, Space::Pinned, 8).unwrap();
    pinned.write(&stream, 0, &[5u64]).unwrap();
    stream.set((&pinned, 0), 0, 8).unwrap();
    device.as_cpu().unwrap().lose();
    assert!(stream.synchronize().is_err());
    // SAFETY: pinned memory of this test; the stream has ended.
    assert_eq!(unsafe { pinned.host_pointer().unwrap().cast::<u64>().read() }, 5);
}

#[test]
fn who_waits_is_woken_by_a_loss() {
    for seed in 0..50 {
        let trouble = Trouble { seed, lose: 30_000, ..Trouble::default() };
        let (device, first) = open(Options { trouble, ..late(seed) });
        let Ok(second) = Stream::open(&device) else { continue };
        let event = Event::open(&device).unwrap();
        let memory = Memory::allocate(&device, Space::Device, 64).unwrap();
        let mut done = 0;
        let error = loop {
            let round = || -> Result<(), Error> {
                first.set((&memory, 0), 1, 64)?;
                first.record(&event)?;
                second.wait_event(&event)?;
                second.set((&memory, 0), 2, 64)?;
                second.synchronize()?;
                event.synchronize()
            };
            match round() {
                Ok(()) => done += 1,
                Err(error) => break error,
            }
            assert!(done < 1000, "seed {seed}: a chance of one half does not strike");
        };
        assert!(error.is_loss(), "seed {seed}: {error}");
    }
}

/// What a caller that tries again does, until it is done; how often it was refused.
fn until_done(mut try_it: impl FnMut() -> Result<(), Error>) -> usize {
    let mut refused = 0;
    while let Err(error) = try_it() {
        assert!(matches!(error.reason, Reason::Injected | Reason::Memory { .. }), "{error}");
        refused += 1;
    }
    refused
}

#[test]
fn refused_work_was_not_done_and_can_be_tried_again() {
    for options in paces() {
        let trouble = Trouble { seed: 5, enqueue: 30_000, allocate: 30_000, lose: 0 };
        let (device, stream) = open(Options { trouble, ..options });
        let mut memory = None;
        let missed = until_done(|| Memory::allocate(&device, Space::Device, 64).map(|found| memory = Some(found)));
        let memory = memory.unwrap();
        memory.write(&stream, 0, &[0u8; 64]).unwrap();
        let mut refused = missed;
        for byte in 0..64 {
            refused += until_done(|| {
                let before: Vec<u8> = memory.values(&stream, 0, 64)?;
                let result = stream.set((&memory, byte), 1, 1);
                if result.is_err() {
                    assert_eq!(memory.values::<u8>(&stream, 0, 64)?, before);
                }
                result
            });
        }
        assert_eq!(memory.values::<u8>(&stream, 0, 64).unwrap(), [1; 64]);
        assert!(refused > 10, "{refused} of more than 65 operations");
    }
}

#[test]
fn the_same_seed_is_the_same_trouble() {
    let troubles = |seed| -> Vec<bool> {
        let trouble = Trouble { seed, enqueue: 20_000, ..Trouble::default() };
        let (device, stream) = open(Options { pace: Pace::AtOnce, trouble, ..Options::default() });
        let memory = Memory::allocate(&device, Space::Device, 16).unwrap();
        (0..100).map(|_| stream.set((&memory, 0), 1, 16).is_err()).collect()
    };
    assert_eq!(troubles(3), troubles(3));
    assert_ne!(troubles(3), troubles(4));
}
