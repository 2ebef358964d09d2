//! Arithmetic before anything exists: from a model's shape and a device's bytes to blocks and requests.
//!
//! The problem: every number that a server is sized with (bytes a token, blocks a request, requests a pool) is a short
//! formula, and each has a place where it is got wrong: rounding, a sharer counted twice, a product that wraps, a
//! waste that is quoted without its denominator. So each formula is written once, here, and the pool, the C ABI, the
//! harness and the kernels' launchers ask for it.
//!
//! 1. [`Geometry`]: what one token and one block cost in bytes.
//! 2. [`Budget`]: what the device's memory is for, by name, and that it fits before anything is allocated.
//! 3. [`paged`], [`contiguous`]: what requests need in blocks, or would need in contiguous regions.
//! 4. [`Binomial`]: how often something exceeds a forecast, if the trials are independent, which requests may not be.
//!
//! Everything is a pure function of its arguments: no atomics, no memory, no unsafe, no panic. Integers are `u64` and
//! checked: what does not fit is [`Argument::Overflow`], never a wrapped number.

use crate::answer::{Argument, Refusal};

/// `?` for a `const fn`.
macro_rules! attempt {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(refusal) => return Err(refusal),
        }
    };
}

mod budget;
pub mod contiguous;
mod element;
mod forecast;
mod geometry;
pub mod paged;
mod ratio;

pub use budget::{Budget, REGIONS, Region, Usage};
pub use element::{Element, Grain, Scales};
pub use forecast::{Binomial, TRIALS_MAX};
pub use geometry::Geometry;
pub use ratio::Ratio;

const fn sum(a: u64, b: u64) -> Result<u64, Refusal> {
    match a.checked_add(b) {
        Some(sum) => Ok(sum),
        None => Err(Refusal::invalid(Argument::Overflow)),
    }
}

const fn product(a: u64, b: u64) -> Result<u64, Refusal> {
    match a.checked_mul(b) {
        Some(product) => Ok(product),
        None => Err(Refusal::invalid(Argument::Overflow)),
    }
}
