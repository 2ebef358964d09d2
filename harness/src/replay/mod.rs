//! The replay: a trace through the real pool and ledger, by a deliberately simple service model. One token a step for
//! every running sequence; prompts cost no step; requests are admitted in order of arrival and nobody overtakes. The
//! model makes accounting comparable; it does not predict latency.
//!
//! 1. [`Settings`] say which policy, which pool and which limits.
//! 2. [`Prepared`] names the blocks that may be shared (`names`), sizes a pool for the trace (`sizing`), and owns its
//!    memory.
//! 3. [`Prepared::run`] opens, admits, advances, preempts and ends sequences in that pool, step after step (`engine`),
//!    and counts ([`Counters`]). What the figures say about blocks is read from the pool.
//! 4. [`Replayed`] has the counters, the record of each request, and the digests.
//!
//! The rules, the names of its counters and the labels in comments (G, K, P1 to P4, X) are those of `harness/RULES.md`.
//!
//! The output length of a request is known here, never to the policy, except where it is said to reserve it.

mod admission;
mod audit;
mod calendar;
mod cases;
mod counters;
mod decode;
mod digest;
mod engine;
mod failure;
mod given_back;
mod names;
mod prepared;
mod promise;
mod roster;
pub mod served;
mod settings;
mod sizing;
mod statics;

pub use cases::replay_all;
pub use counters::{Counters, Outcome, Record};
pub use digest::{Digests, digests};
pub use failure::Failure;
pub use prepared::{Prepared, Replayed, rejections};
pub use settings::{Exceed, Policy, PoolSize, Settings, Sharing};
pub use statics::{Contiguous, Percentiles, Ranked, Statics, statics, usual_context};
