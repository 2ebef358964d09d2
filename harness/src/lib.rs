//! The harness of kvledger: what proves, replays and measures it.
//!
//! - [`answers`]: the words of answers.
//! - [`cache`]: what a cache of prefixes would hit, by several orders of eviction.
//! - [`census`]: what is in a trace, without replaying it.
//! - [`prefix`]: which requests begin with the same tokens, and may share the blocks of them.
//! - [`trace`]: serving traces in the formats in which they are published.
//! - [`replay`]: a trace through the real pool, by rules whose integers can be compared with any other implementation.
//! - [`lab`]: the arithmetic, to be tried by hand.
//! - [`recording`]: what a pool was asked, kept in files and made again.
//! - [`report`]: what came of it, for people and for programs.
//! - [`sample`]: a small trace that is always at hand.
//! - [`verify`]: random operations against the pool and its model.
//! - [`mod@bench`]: what it costs on this machine, beside what others use.
//! - [`model_config`]: what the config of a model says about memory.
//! - [`planning`]: sizing a pool for a model and a device.
//! - [`doctor`]: what this build is, what this machine has, and how to get what is missing.
//! - [`cli`]: the command `kvledger`.

pub mod answers;
pub mod bench;
pub mod cache;
pub mod census;
pub mod cli;
pub mod doctor;
pub mod kernels;
pub mod lab;
pub mod model_config;
pub mod planning;
pub mod prefix;
pub mod recording;
pub mod replay;
pub mod report;
pub mod sample;
pub mod trace;
pub mod verify;
