//! Pages that are 0xFF until they are written.

use super::mapping::page;
use std::io;
use std::sync::OnceLock;

const POISON: u8 = 0xFF;
/// Below this pages are written at once; above it they are pages of the file.
const FILE_BYTES: usize = 8 << 20;

/// Makes pages that are mapped usable, and full of poison.
pub fn cover(start: usize, bytes: usize) -> io::Result<()> {
    if bytes < FILE_BYTES {
        return write(start, bytes);
    }
    let Some(file) = file() else { return write(start, bytes) };
    let mut at = 0;
    while at < bytes {
        let length = FILE_BYTES.min(bytes - at);
        let flags = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE;
        // SAFETY: inside of the mapping that the caller has just made, which nobody else knows; the file is as long.
        let mapped = unsafe { libc::mmap((start + at) as *mut _, length, USABLE, flags, file, 0) };
        if mapped == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        at += length;
    }
    Ok(())
}

const USABLE: libc::c_int = libc::PROT_READ | libc::PROT_WRITE;

fn write(start: usize, bytes: usize) -> io::Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: pages of the mapping that the caller has just made.
    if unsafe { libc::mprotect(start as *mut _, bytes, USABLE) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the pages are usable now, and nobody else knows them.
    unsafe { (start as *mut u8).write_bytes(POISON, bytes) };
    Ok(())
}

/// The file, made when it is first needed; none where the system has no files without a name.
fn file() -> Option<libc::c_int> {
    static FILE: OnceLock<Option<libc::c_int>> = OnceLock::new();
    *FILE.get_or_init(make)
}

#[cfg(target_os = "linux")]
fn make() -> Option<libc::c_int> {
    // SAFETY: a name, and no more.
    let file = unsafe { libc::memfd_create(c"kvledger-poison".as_ptr(), libc::MFD_CLOEXEC) };
    if file < 0 {
        return None;
    }
    let chunk = vec![POISON; page()];
    for _ in 0..FILE_BYTES / chunk.len() {
        // SAFETY: the bytes are there for the length of the call.
        if unsafe { libc::write(file, chunk.as_ptr().cast(), chunk.len()) } != chunk.len() as isize {
            // SAFETY: opened above, and not handed out.
            unsafe { libc::close(file) };
            return None;
        }
    }
    Some(file)
}

#[cfg(not(target_os = "linux"))]
fn make() -> Option<libc::c_int> {
    None
}
