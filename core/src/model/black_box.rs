//! A ring that a test gives to the pool it tries, and that leaves a file behind when the test fails.

use crate::arena::Line;
use std::format;
use std::path::PathBuf;
use std::string::String;
use std::vec;
use std::vec::Vec;

/// A ring. If it is dropped by a panic its words go to a file, which is said on standard error.
pub struct BlackBox {
    name: String,
    ring: Vec<Line>,
}

impl BlackBox {
    /// A ring of so many lines. The file has `name` and the number of the process in its own.
    pub fn new(name: &str, lines: usize) -> BlackBox {
        BlackBox { name: name.into(), ring: vec![Line::ZERO; lines] }
    }

    /// Where to record.
    pub fn ring(&mut self) -> &mut [Line] {
        &mut self.ring
    }

    /// Writes the words to a file in the folder of temporary files now.
    pub fn leave(&self) -> std::io::Result<PathBuf> {
        let file = std::env::temp_dir().join(format!("kvledger-{}-{}.kvl", self.name, std::process::id()));
        let words = self.ring.iter().flat_map(Line::words);
        std::fs::write(&file, words.flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())?;
        Ok(file)
    }
}

impl Drop for BlackBox {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        match self.leave() {
            Ok(file) => std::eprintln!("the calls that led here: kvledger rerun {}", file.display()),
            Err(error) => std::eprintln!("the calls that led here cannot be written: {error}"),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::config::PoolConfig;
    use crate::pool::{Pool, entries, lines};
    use crate::recorder::Dump;
    use core::panic::AssertUnwindSafe;
    use std::fs;

    #[test]
    fn a_test_that_fails_leaves_its_calls_and_one_that_passes_nothing() {
        let run = |fails: bool| {
            let name = format!("black-box-{fails}");
            let file = std::env::temp_dir().join(format!("kvledger-{name}-{}.kvl", std::process::id()));
            let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| {
                let mut black_box = BlackBox::new(&name, 32);
                let config = PoolConfig::new(4, 1, 1, 4);
                let (mut memory, mut table) = (vec![Line::ZERO; lines(&config)], vec![0; entries(&config)]);
                let pool = Pool::init(&mut memory, &mut table, &config).expect("valid");
                pool.recording(black_box.ring()).expect("room").open().expect("a slot");
                assert!(!fails, "on purpose");
            }));
            assert_eq!(outcome.is_err(), fails);
            let bytes = fs::read(&file).ok();
            let _ = fs::remove_file(&file);
            bytes
        };
        assert_eq!(run(false), None);
        let bytes = run(true).expect("a file");
        let mut words: Vec<u64> = bytes.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect();
        let dump = Dump::read(&mut words).expect("a dump");
        let calls: Vec<_> = dump.newest_first().map(|record| record.expect("whole").call.name()).collect();
        assert_eq!(calls, ["open"]);
    }
}
