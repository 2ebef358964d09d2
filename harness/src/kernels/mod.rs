//! Kernels against references: cases by seed and by report, what they must come to, and whether they do, on any device.
//!
//! 1. [`case`]: what one launch is given, as plain data of the host.
//! 2. [`reference`](mod@reference): what it must come to, in binary64 or bit for bit.
//! 3. [`compare`]: whether it did, and where it is worst.
//! 4. [`run`](mod@run): a case on a device. [`make`] has cases by seed, [`known`] those of published faults; [`verify`] runs
//!    both.

pub mod case;
pub mod compare;
#[cfg(unix)]
mod guard;
pub mod known;
pub mod make;
pub mod numbers;
pub mod pool;
pub mod profile;
pub mod random;
pub mod reference;
pub mod run;
pub mod table;
pub mod verify;
