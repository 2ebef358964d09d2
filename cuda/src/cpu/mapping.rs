//! Memory of the CPU device: pages of its own, that nothing else can be taken for.
//!
//! ```text
//!   guard page │ slack, less than a page │ the allocation │ guard page
//!                                        ▲ aligned to 16  ▲ its end, rounded up to 16
//! ```
//!
//! One byte too far faults. All of it is 0xFF at first, which is NaN in every type of float, without a page being
//! touched where there is much: pages of one file that holds nothing else are mapped again and again, and copied when
//! they are written. So a pool of many gigabytes costs what is used of it.

use super::poison;
use std::io;
use std::ptr;

/// What allocations are aligned to: no more, so that who needs more is found out.
const ALIGN: usize = 16;

/// Pages, from guard to guard.
#[derive(Debug)]
pub struct Mapping {
    base: *mut libc::c_void,
    /// With both guards.
    length: usize,
    /// Where the allocation begins.
    start: usize,
    bytes: usize,
}

// SAFETY: addresses of memory that is this value's alone. Rust never refers to it: it is copied from and to, by who has
// checked the range, and used by kernels, which are C.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// For so many bytes. `None` if there is no room for them.
    pub fn of(bytes: usize) -> Option<Mapping> {
        let page = page();
        let rounded = bytes.checked_next_multiple_of(ALIGN)?;
        let inner = rounded.checked_next_multiple_of(page)?;
        let length = inner.checked_add(2 * page)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping, at an address that the system chooses.
        let base = unsafe { libc::mmap(ptr::null_mut(), length, libc::PROT_NONE, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return None;
        }
        let start = base as usize + page + inner - rounded;
        let mapping = Mapping { base, length, start, bytes };
        // From here on the value gives the pages back, whatever happens.
        poison::cover(base as usize + page, inner).ok()?;
        Some(mapping)
    }

    /// Where the allocation begins, for who may touch it.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Its length.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping that `of` made, whole; who holds an address into it holds this value.
        let done = unsafe { libc::munmap(self.base, self.length) };
        debug_assert_eq!(done, 0, "{}", io::Error::last_os_error());
    }
}

/// Bytes of a page of this system.
pub fn page() -> usize {
    // SAFETY: asks for a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(page).unwrap_or(4096)
}
