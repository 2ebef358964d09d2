//! A trace served on a device: real keys and values in the pool's blocks, real attention over the pool's rows, every result
//! compared with a shadow.
//!
//! The problem: a ledger may count everything right and still hand out a block that a kernel is reading. So requests of a
//! trace are served by a small model of one layer, on two streams at a time that go at their own pace, in a pool that is too
//! small for them. A sequence ends as soon as its last step is enqueued; its blocks are somebody else's as soon as the
//! ledger says so, and the ledger hears of an epoch's end from the device's event and from nothing else. What any of this
//! gets wrong is a number that differs.
//!
//! 1. Requests come at once, in order of arrival, and are admitted in that order with all that they may need (`lanes` take
//!    them in turn). Prompts are written in chunks; prefixes are shared where the settings say so.
//! 2. A step of a lane: every one of its sequences takes the blocks of its next tokens; the lane's epoch is opened; rows are
//!    exported and planned for; append, attend, merge and copies of the results are enqueued; the event is recorded; who has
//!    made the last token ends.
//! 3. What keys and values are is decided by what a token is (`model`), so that equal prefixes have equal ones. The
//!    expected result of each row is computed when the step is made, and compared when its event is over.
//!
//! It is no replay by the rules: a step here has other phases, because it does not wait for the device.

mod desk;
mod failures;
mod lanes;
mod model;
mod server;
mod settings;
mod shadow;
mod steps;
#[cfg(test)]
mod tests;
mod work;

pub use server::serve;
pub use settings::{Served, Settings};
