//! A dump in a file: the words of a ring, little-endian, as they are in memory.

use kvledger_core::Line;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// The longest file that is read: more calls than anybody has patience for.
const BYTES_MAX: u64 = 16 << 30;

/// The words of a ring.
pub fn words(ring: &[Line]) -> Vec<u64> {
    ring.iter().flat_map(Line::words).copied().collect()
}

/// Writes `words` to `file`.
pub fn write(file: &Path, words: &[u64]) -> io::Result<()> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(file, bytes)
}

/// The words of `file`. What they say is for [`Dump::read`](kvledger_core::recorder::Dump::read) to find out. Bytes at the end that are no
/// whole word are left out. Errors: those of the system; a file of more than 16 GiB, or without an end.
pub fn read(file: &Path) -> io::Result<Vec<u64>> {
    let mut bytes = Vec::new();
    if fs::File::open(file)?.take(BYTES_MAX + 1).read_to_end(&mut bytes)? as u64 > BYTES_MAX {
        return Err(io::Error::other(format!("it is longer than {BYTES_MAX} bytes")));
    }
    Ok(bytes.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect())
}
