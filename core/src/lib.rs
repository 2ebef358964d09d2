//! `kvledger-core`: a lock-free paged KV-cache block pool and admission ledger. `no_std`, no heap, the caller's memory.
//!
//! A server that generates text keeps keys and values of every token of every running request in a fixed pool of device
//! blocks. A request that fits now can exhaust the pool when its next tokens arrive, and a block that is freed while a
//! kernel still reads it corrupts somebody's answer. This crate makes admission a promise that can be kept: it counts
//! blocks in categories that never overlap (committed A, promised R, safety S, with A + R + S ≤ N decided by one atomic
//! word), moves each obligation exactly once, and gives a block back only when no submitted work can touch it.
//!
//! ```
//! use kvledger_core::{Admission, Pool, PoolConfig, Line, Stream, lines, entries};
//!
//! // 256 blocks of 16 tokens, up to 8 sequences of up to 145 blocks, in memory that is ours.
//! let config = PoolConfig::new(256, 16, 8, 145);
//! let (mut memory, mut table) = (vec![Line::ZERO; lines(&config)], vec![0; entries(&config)]);
//! let pool = Pool::init(&mut memory, &mut table, &config)?;
//!
//! // A 2,048-token prompt that may generate 257 more: 145 blocks are promised, none is taken.
//! let sequence = pool.open()?;
//! assert_eq!(pool.admit(sequence, &Admission::full(2048, 257))?.promised, 145);
//!
//! // The prompt takes 128 of them; the sum A + R stays 145.
//! assert_eq!(pool.advance(sequence, 2048)?.taken, 128);
//! assert_eq!((pool.counts().committed, pool.counts().headroom), (128, 111));
//!
//! // A step is in flight when the request is cancelled: the promise is free at once, the blocks after the step.
//! let step = pool.submit(Stream(0))?;
//! pool.cancel(sequence)?;
//! assert_eq!((pool.counts().committed, pool.counts().headroom), (128, 128));
//! pool.end(sequence)?;
//! pool.complete(Stream(0), step, false)?;
//! assert_eq!(pool.counts().headroom, 256);
//! # Ok::<(), kvledger_core::Refusal>(())
//! ```
//!
//! Requests whose prompts begin alike share blocks: [`Pool::admit_prefix`] holds what is found by the names of their full
//! blocks ([`identity`]), [`Pool::publish`] makes blocks findable, [`Pool::fork`] shares what was written. What nobody holds
//! stays idle until it is needed. Transfers ([`Pool::hold`]), several pools ([`admit_together`]) and several processes
//! ([`ranks`]) build on that.
//!
//! Read `ARCHITECTURE.md` beside this crate's manifest for the invariants (I1 to I13), the memory orderings in pairs
//! (O1 …), the progress of every call, and the arithmetic of widths and wraps.

#![no_std]

#[cfg(any(test, feature = "model", loom))]
extern crate std;

/// The Rust of the project's README is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

#[cfg(not(target_has_atomic = "64"))]
compile_error!("kvledger needs 64-bit atomics");
#[cfg(not(target_pointer_width = "64"))]
compile_error!("kvledger needs a 64-bit address space: sizes of pools are computed in it");

mod accounts;
mod answer;
mod arena;
mod balance;
mod bits;
mod block;
mod blocks;
mod cache;
mod calls;
mod config;
mod events;
mod failures;
mod freelist;
mod group;
pub mod identity;
mod ids;
mod ledger;
#[cfg(any(test, feature = "model"))]
pub mod model;
mod names;
pub mod plan;
mod pool;
#[cfg(all(test, loom))]
mod race;
pub mod ranks;
pub mod recorder;
mod retire;
mod sequence;
mod slots;
mod snapshot;
pub mod split;
mod streams;
mod sync;
mod table;
mod transfers;
mod version;

pub use answer::{Argument, Place, Refusal, Scope};
pub use arena::Line;
pub use calls::{
    Admission, Admitted, Advanced, Batch, CopyOrder, Counts, Forked, Found, Offloaded, Prefix, Promise, Published,
    Released, Step, Window,
};
pub use config::{BLOCKS_MAX, Cache, EPOCHS_MAX, EVENTS_MAX, PoolConfig, SLOTS_MAX, STREAMS_MAX, TRANSFERS_MAX};
pub use events::{Event, EventCursor, EventKind, EventsRead};
pub use freelist::{FreeBlocks, FreeCursor, GivenTwice, Hint};
pub use ids::{Account, BlockId, Epoch, Group, Sequence, Stream, StreamSet, Transfer};
pub use pool::{Fault, Joint, LAYOUT_VERSION, Pool, RowView, Storage, admit_together, entries, lines};
pub use snapshot::{AccountSnapshot, GroupSnapshot, SequenceSnapshot, Snapshot};
pub use transfers::Access;
pub use version::version;
