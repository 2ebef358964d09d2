//! Rust's errors as numbers and words.

use kvledger_cuda::{Error, Reason};
use std::fmt::Write;

/// Bytes of the words, the NUL included.
pub const TEXT_BYTES: usize = 240;
pub(crate) const OK: u32 = 0;
const ARGUMENT: u32 = 13;

/// `kvl_device_error`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KvlDeviceError {
    /// Why nothing was done.
    pub status: u32,
    /// The device's own number, if it has one.
    pub number: u32,
    /// What is wrong and how to mend it, with a NUL at its end.
    pub text: [u8; TEXT_BYTES],
}

/// Why a call from C failed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Failure {
    /// The device says so.
    Device(Error),
    /// No device of this number is open.
    Closed,
    /// An argument that cannot be used.
    Argument {
        /// Its name in the header.
        name: &'static str,
        /// What it must be.
        must: &'static str,
    },
    /// A struct that can grow has no size, or something where this library has no fields.
    Size {
        /// The name of its argument in the header.
        name: &'static str,
    },
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Device(error)
    }
}

/// The number of a reason in the header; a number is never used again for something else.
pub fn status_of(reason: Reason) -> u32 {
    match reason {
        Reason::NotBuilt | Reason::Unfit { .. } => 1,
        Reason::NoDriver => 2,
        Reason::NoDevice { .. } => 3,
        Reason::Memory { .. } => 4,
        Reason::Range { .. } => 5,
        Reason::Foreign(_) => 6,
        Reason::Elsewhere(_) => 7,
        Reason::Handle => 8,
        Reason::Refused(_) => 9,
        Reason::Injected => 10,
        Reason::Lost(_) => 11,
        Reason::Overlap { .. } => 14,
        _ => 12,
    }
}

impl Failure {
    fn status(&self) -> u32 {
        match self {
            Failure::Device(error) => status_of(error.reason),
            Failure::Closed => 8,
            Failure::Argument { .. } | Failure::Size { .. } => ARGUMENT,
        }
    }

    fn number(&self) -> u32 {
        match self {
            Failure::Device(Error { reason: Reason::Number { number, .. }, .. }) => *number,
            Failure::Device(Error { reason: Reason::Lost(loss), .. }) => loss.number,
            _ => 0,
        }
    }

    fn describe(&self) -> KvlDeviceError {
        let mut words = Words { text: [0; TEXT_BYTES], used: 0 };
        // Words that are too long are cut off, which is no failure.
        let _ = match self {
            Failure::Device(error) => write!(words, "{error}"),
            Failure::Closed => write!(words, "device: it was closed, or never opened"),
            Failure::Argument { name, must } => write!(words, "{name}: must be {must}"),
            Failure::Size { name } => {
                let mend = "must be sizeof the struct, as KVL_SIZED makes it, and fields of newer versions than this library 0";
                write!(words, "{name}.size: {mend}")
            }
        };
        KvlDeviceError { status: self.status(), number: self.number(), text: words.text }
    }
}

/// Text of a fixed length, always with a NUL at its end, cut at a character.
struct Words {
    text: [u8; TEXT_BYTES],
    used: usize,
}

impl Write for Words {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        for character in part.chars() {
            let mut bytes = [0; 4];
            let bytes = character.encode_utf8(&mut bytes).as_bytes();
            let end = self.used + bytes.len();
            if end >= TEXT_BYTES {
                return Err(std::fmt::Error);
            }
            self.text[self.used..end].copy_from_slice(bytes);
            self.used = end;
        }
        Ok(())
    }
}

/// Where an output is: its address, and bytes.
pub(crate) type Span = (usize, usize);

/// The span of an output of its type's size.
pub(crate) fn span<T>(out: *mut T) -> Span {
    (out.addr(), size_of::<T>())
}

/// The status of a call that writes nothing but `error`, and that only if it fails and C wants it. One that is misaligned
/// fails the call before anything is done.
pub(crate) fn answer(error: *mut KvlDeviceError, call: impl FnOnce() -> Result<(), Failure>) -> u32 {
    answer_apart((0, 0), error, call)
}

/// The same of a call that writes `out` too, over which `error` must not lie: it would be written where nothing is to be.
pub(crate) fn answer_apart(out: Span, error: *mut KvlDeviceError, call: impl FnOnce() -> Result<(), Failure>) -> u32 {
    if !error.is_aligned() || overlap(out, span(error)) {
        return ARGUMENT;
    }
    match call() {
        Ok(()) => OK,
        Err(failure) => {
            if !error.is_null() {
                // SAFETY: neither NULL nor misaligned; else it is what the header says.
                unsafe { error.write(failure.describe()) };
            }
            failure.status()
        }
    }
}

/// Whether two ranges share a byte. None does with NULL, and none that has no bytes.
fn overlap(a: Span, b: Span) -> bool {
    let is_something = a.0 != 0 && b.0 != 0 && a.1 != 0 && b.1 != 0;
    is_something && a.0 < b.0.saturating_add(b.1) && b.0 < a.0.saturating_add(a.1)
}
