//! What could not be done, and why: values, that say how to mend it.

use crate::device::{Address, Space};
use crate::launch::Refusal;
use core::fmt;

/// An operation that failed. Nothing of it was done, but where it says that the device is lost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Error {
    /// A method of [`Device`](crate::Device), or the kernel of a launch.
    pub operation: &'static str,
    /// Why it failed.
    pub reason: Reason,
}

/// Why an operation failed.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// This program was compiled without kernels for CUDA.
    NotBuilt,
    /// The kernels of this program were compiled for other GPUs.
    Unfit {
        /// What this one is: 90 for 9.0.
        compute: u32,
    },
    /// No driver, or one that is too old for the runtime that was compiled in.
    NoDriver,
    /// Devices are numbered from 0 up to this count.
    NoDevice {
        /// How many there are.
        count: u32,
    },
    /// So much memory is not there.
    Memory {
        /// Where it was to be.
        space: Space,
        /// What was asked for.
        bytes: usize,
    },
    /// More bytes than there are from the address to the end of its allocation.
    Range {
        /// Where the operation was to begin.
        address: Address,
        /// What it needs.
        bytes: usize,
        /// What there is.
        available: usize,
    },
    /// A copy between ranges that share bytes: what comes of it would be chance.
    Overlap {
        /// Where it was to write.
        to: Address,
        /// Where it was to read.
        from: Address,
    },
    /// An address in no allocation of this device.
    Foreign(Address),
    /// Memory in the other space than the operation works on.
    Elsewhere(Space),
    /// A stream or an event that was closed, or is another device's.
    Handle,
    /// The parameters of a launch.
    Refused(Refusal),
    /// As it was asked of the CPU device: nothing was done, and the next try may succeed.
    Injected,
    /// Work that was enqueued before has failed; the device has to be opened anew. With CUDA most failures of work lose it
    /// for the whole process, which then has to be started again.
    Lost(Loss),
    /// The device's own.
    Number {
        /// Its number.
        number: u32,
        /// What it says about it.
        text: &'static str,
    },
}

/// What lost a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loss {
    /// The operation whose work failed; empty where the device does not say.
    pub operation: &'static str,
    /// The device's number of what happened.
    pub number: u32,
    /// What it says about it.
    pub text: &'static str,
    /// The thread block and the thread in it, on the CPU device.
    pub at: Option<(u32, u32)>,
}

impl Error {
    /// An operation and its reason.
    pub const fn new(operation: &'static str, reason: Reason) -> Error {
        Error { operation, reason }
    }

    /// Whether the device is lost.
    pub const fn is_loss(&self) -> bool {
        matches!(self.reason, Reason::Lost(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.operation, self.reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NotBuilt => f.write_str(
                "no kernels for CUDA were built: build again where there is a CUDA toolkit, and without KVL_CUDA=off",
            ),
            Reason::Unfit { compute } => write!(
                f,
                "the kernels that were built are for other GPUs than one of {}.{}: build again with \
                 KVLEDGER_CUDA_ARCHS={compute}",
                compute / 10,
                compute % 10,
            ),
            Reason::NoDriver => {
                f.write_str("no CUDA driver, or one older than the runtime of this program: `kvledger doctor` looks")
            }
            Reason::NoDevice { count: 0 } => f.write_str("there is no CUDA device: `kvledger doctor` looks"),
            Reason::NoDevice { count } => write!(f, "there are {count} devices: their numbers are below that"),
            Reason::Memory { space, bytes } => write!(f, "{bytes} bytes of {space} are not there"),
            Reason::Range { address, bytes, available } => {
                write!(f, "{bytes} bytes from {address} on, and its allocation ends after {available}")
            }
            Reason::Overlap { to, from } => {
                write!(f, "what is copied to {to} overlaps what is copied from {from}: copy it by way of other memory")
            }
            Reason::Foreign(address) => {
                write!(f, "{address} is in no allocation of this device: host memory goes through `write` and `read`")
            }
            Reason::Elsewhere(space) => write!(f, "memory is in {space}: this works on the other kind"),
            Reason::Handle => f.write_str("this stream or event was closed, or is another device's"),
            Reason::Refused(refusal) => refusal.fmt(f),
            Reason::Injected => f.write_str("a failure that was asked for: nothing was done"),
            Reason::Lost(loss) => write!(f, "the device is lost, open it anew: {loss}"),
            Reason::Number { number, text } => write!(f, "{text} (error {number} of the device)"),
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.operation.is_empty() {
            write!(f, "{}: ", self.operation)?;
        }
        write!(f, "{} (error {} of the device)", self.text, self.number)?;
        match self.at {
            Some((block, thread)) => write!(f, " in thread block {block}, thread {thread}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Space::Device => "device memory",
            Space::Pinned => "pinned memory",
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl std::error::Error for Error {}

impl From<Refusal> for Reason {
    fn from(refusal: Refusal) -> Reason {
        Reason::Refused(refusal)
    }
}
