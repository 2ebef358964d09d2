//! Races between streams, as ThreadSanitizer sees them: none where an event orders two streams, and one where it was
//! forgotten. A program of its own, because the test harness of Rust is not watched and so is full of reports.
//!
//! It does something where kernels are compiled with that sanitizer: `KVL_SANITIZE=thread cargo test -p kvledger-cuda --test
//! races`.

use kvledger_cuda::cpu::{Options, Pace, Pauses};
use kvledger_cuda::raw::kvk_shape;
use kvledger_cuda::{BlockPool, Cpu, Device, Error, Event, Memory, Mover, Space, Stream};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

/// Few: the sanitizer takes a millisecond for each thread of a thread block.
const ALL: [u32; 2] = [1, 2];

/// One stream fills blocks that another one sums up, again and again.
fn two_streams(seed: u64, has_events: bool) -> Result<(), Error> {
    let pauses = Pauses { seed, one_in: 2, most: Duration::from_micros(200) };
    let device: Arc<dyn Device> = Cpu::open(Options { pace: Pace::Threads(pauses), ..Options::default() });
    let (writer, reader) = (Stream::open(&device)?, Stream::open(&device)?);
    let (written, read) = (Event::open(&device)?, Event::open(&device)?);
    let shape = kvk_shape { block_stride: 256, piece_stride: 256, token_bytes: 16, pieces: 1, block_tokens: 16 };
    let memory = Memory::allocate(&device, Space::Device, 256 * (ALL.len() + 1))?;
    let pool = BlockPool::new(memory, shape, ALL.len() as u32).expect("it is long enough");
    let sums = Memory::allocate(&device, Space::Device, 8 * ALL.len())?;
    let mut mover = Mover::new(&device, ALL.len())?;
    for pattern in 0..4 {
        if has_events {
            writer.wait_event(&read)?;
        }
        mover.fill(&writer, &pool, &ALL, pattern)?;
        writer.record(&written)?;
        if has_events {
            reader.wait_event(&written)?;
        }
        mover.checksum(&reader, &pool, &ALL, &sums)?;
        reader.record(&read)?;
    }
    writer.synchronize()?;
    let found: Vec<u64> = sums.values(&reader, 0, ALL.len())?;
    assert!(!has_events || found.iter().all(|sum| *sum == found[0]), "{found:?}");
    Ok(())
}

/// What this program answers when it is started with an argument, under the sanitizer's usual options.
fn reports(argument: &str) -> bool {
    let program = std::env::current_exe().expect("it has a path");
    let output = Command::new(program).arg(argument).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    let is_report = said.contains("WARNING: ThreadSanitizer: data race");
    assert_eq!(is_report, !output.status.success(), "{argument}: {}\n{said}", output.status);
    if is_report {
        assert!(said.contains("kvk"), "a report of something else:\n{said}");
    }
    is_report
}

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("with-events") => (0..3).for_each(|seed| two_streams(seed, true).expect("it is not lost")),
        Some("without-events") => two_streams(0, false).expect("it is not lost"),
        _ if !cfg!(kvl_sanitized = "thread") => println!("races: not watched, skipped: set KVL_SANITIZE=thread"),
        _ => {
            assert!(!reports("with-events"), "events order streams");
            assert!(reports("without-events"), "a forgotten event is not seen");
            println!("races: none with events, a report without");
        }
    }
    ExitCode::SUCCESS
}
