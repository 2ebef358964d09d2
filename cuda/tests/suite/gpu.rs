//! The CUDA device where there is none: an error that says so. Where there is one, it is a device like the other.

use crate::common::pattern;
use kvledger_cuda::{Cuda, Event, HAS_CUDA, Memory, Reason, Space, Stream};

#[test]
fn a_gpu_is_opened_or_it_is_said_why_not() {
    let device = match Cuda::open(0) {
        Ok(device) => device,
        Err(error) => {
            let is_plain = matches!(error.reason, Reason::NoDriver | Reason::NoDevice { count: 0 });
            assert!(if HAS_CUDA { is_plain } else { error.reason == Reason::NotBuilt }, "{error}");
            assert_eq!(Cuda::count(), Err(error));
            println!("no GPU: {error}");
            return;
        }
    };
    let count = Cuda::count().expect("there is one");
    assert_eq!(Cuda::open(count).unwrap_err().reason, Reason::NoDevice { count });
    let stream = Stream::open(&device).unwrap();
    let (event, there) = (Event::open(&device).unwrap(), Memory::holding(&stream, &pattern(4096, 0)).unwrap());
    let here = Memory::allocate(&device, Space::Pinned, 4096).unwrap();
    stream.copy((&here, 0), (&there, 0), 4096).unwrap();
    stream.record(&event).unwrap();
    event.synchronize().unwrap();
    assert_eq!(here.values::<u8>(&stream, 0, 4096).unwrap(), pattern(4096, 0));
}
