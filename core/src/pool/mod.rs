//! The pool: the one object that callers use. It composes the ledger, the free list, the block words, the sequences,
//! the streams and the table, each of which knows nothing of the others, in the order that the supply argument asks for
//! (`ledger.rs`): the word grows before blocks are taken and shrinks after they are back.
//!
//! The life of a request, and the file that has each call:
//!
//! 1. `open`, `cancel`, `end`, `preempt`, `use_streams` (`sequences.rs`): a handle, and everything given back (`leave.rs`).
//! 2. `admit`, `admit_prefix`, `extend`, `shrink`, `draw_safety` (`admit.rs`, `charge.rs`): promises.
//! 3. `advance`, `advance_growing`, `materialize`, `advance_many` (`advance.rs`, `batch.rs`, `take.rs`): blocks taken from
//!    promises, which is never refused for blocks.
//! 4. `submit`, `complete`, `abandon`, `reclaim` (`epochs.rs`, `reclaim.rs`): when blocks may be used again.
//! 5. `row`, `export_row`, `export_csr`, `launch_row` (`rows.rs`): what kernels read.
//! 6. `open_account`, `set_account_total`, `close_account` (`shared.rs`), `set_safety`, `set_quota` (`limits.rs`).
//! 7. `recording`, `dump` (`recording.rs`): what was asked and answered.
//! 8. `counts`, `snapshot` and its kin, `events` (`observe.rs`), `validate` (`audit.rs`).
//!
//! What is shared, and what outlives its holder:
//!
//! 9. `lookup`, `pin`, `unpin` (`prefix.rs`), and the hits of `admit_prefix` (`hits.rs`): blocks found by name.
//! 10. `publish`, `withdraw` (`publish.rs`), `evict` (`evict.rs`), `reset` (`reset.rs`): how names come and go.
//! 11. `fork`, `copy_order`, `copy_submitted` (`fork.rs`): sharing of what was written, and copies before a write.
//! 12. `speculate`, `accept` (`speculation.rs`), blocks that leave a window (`window.rs`), `release`, `release_tokens` (`release.rs`),
//!     `trim` (`trim.rs`): parts of a sequence go home before the rest.
//! 13. `hold`, `hold_blocks`, `complete_transfer`, `revoke`, `quarantine` (`transfers.rs`), `offload` (`offload.rs`).
//! 14. `admit_together` (`together.rs`): one request in several pools.
//!
//! Threads: every call may be made from any thread at any time. One sequence is driven by one thread at a time (a second
//! one gets `BUSY`), except for `cancel`. A thread that is stopped anywhere, for ever, stops nobody else: it keeps what
//! it has claimed (charged in A), its sequence is `BUSY`, and everything else goes on.

mod admit;
mod advance;
mod audit;
mod batch;
#[cfg(all(test, feature = "model", not(loom)))]
mod burst_tests;
mod charge;
#[cfg(all(test, not(loom)))]
mod corrupt_tests;
mod epochs;
mod evict;
mod fork;
#[cfg(all(test, not(loom)))]
mod freeze_tests;
pub(crate) mod header;
mod hits;
mod layout;
mod leave;
mod limits;
#[cfg(all(test, loom))]
mod loom_sharing_tests;
#[cfg(all(test, loom))]
mod loom_tests;
mod memory;
mod observe;
mod offload;
#[cfg(all(test, not(loom)))]
mod paused_tests;
mod prefix;
mod publish;
mod reclaim;
mod recorded;
#[cfg(feature = "recorder")]
mod recording;
mod release;
mod reset;
mod rows;
mod sequences;
mod shared;
mod speculation;
mod take;
mod together;
mod transfers;
mod trim;
mod window;

pub use audit::Fault;
pub use header::LAYOUT_VERSION;
pub(crate) use layout::Layout;
pub use memory::{Storage, entries, lines};
pub use rows::RowView;
pub use together::{Joint, admit_together};

use crate::accounts::{Accounts, Credit};
use crate::answer::{Argument, Refusal};
use crate::arena::Cells;
use crate::blocks::Blocks;
use crate::cache::{Index, Order};
use crate::config::PoolConfig;
use crate::events::Events;
use crate::failures::Failures;
use crate::freelist::{Cursor, FreeList};
use crate::group::GroupWord;
use crate::ids::Group;
use crate::ledger::Ledger;
use crate::names::Names;
use crate::recorder::Recorder;
use crate::retire::Retiring;
use crate::sequence::Sequences;
use crate::streams::Streams;
use crate::sync::{AcqRel, Acquire, AtomicU64, Relaxed, Release};
use crate::table::{Row, Table};
use crate::transfers::Transfers;
use core::num::NonZeroU32;

/// A pool in the caller's memory. A value of this type is a view: it may be copied to every thread that uses the pool.
#[derive(Clone, Copy)]
pub struct Pool<'m> {
    ledger: Ledger<'m>,
    counters: Cells<'m, AtomicU64>,
    cursors: Cells<'m, AtomicU64>,
    groups: Cells<'m, AtomicU64>,
    accounts: Accounts<'m>,
    sequences: Sequences<'m>,
    streams: Streams<'m>,
    table: Table<'m>,
    blocks: Blocks<'m>,
    free: FreeList<'m>,
    retiring: Retiring<'m>,
    names: Names<'m>,
    index: Index<'m>,
    order: Order<'m>,
    resets: Cells<'m, AtomicU64>,
    failures: Failures<'m>,
    transfers: Transfers<'m>,
    events: Events<'m>,
    config: PoolConfig,
    block_tokens: NonZeroU32,
    pub(crate) recorder: Recorder<'m>,
}

/// Numbers beside the ledger word, a line each.
#[derive(Clone, Copy)]
enum Counter {
    /// The release number.
    Returns = 0,
    /// S: the balance of account 0.
    Safety = 1,
    /// Blocks out of circulation; counted in A.
    Quarantined = 2,
    /// Epochs reported as failed.
    Failed = 3,
    /// Places given out in the order of all records.
    #[cfg_attr(not(feature = "recorder"), expect(dead_code, reason = "only rings draw tickets"))]
    Tickets = 4,
    /// E: idle blocks with a live name.
    Idle = 5,
    /// Second copies of identities.
    Copies = 6,
    /// Retiring blocks in the grip of transfers, but for the next.
    Gripped = 7,
    /// Retiring blocks in the grip of a quarantined transfer.
    Doubted = 8,
    /// Not 0 once a block may have been known to others than its holder: then rows do not count distinct blocks.
    Shared = 9,
}

impl Counter {
    const COUNT: usize = 10;
}

impl<'m> Pool<'m> {
    /// What the pool was made of. `safety` is what it was at `init`. Never fails.
    pub fn config(&self) -> PoolConfig {
        self.config
    }

    #[inline(always)]
    fn counter(&self, which: Counter) -> &'m AtomicU64 {
        self.counters.at(which as usize * layout::LINE_CELLS)
    }

    /// Blocks or promises came back: who was refused may ask again (I9). After the words, so that who sees the new
    /// number sees the room (O9 release, pairs with O9 acquire in `release_number`).
    #[inline(always)]
    fn returned(&self) {
        self.counter(Counter::Returns).fetch_add(1, AcqRel);
    }

    /// S at this moment.
    #[inline(always)]
    fn safety(&self) -> u32 {
        self.counter(Counter::Safety).load(Acquire) as u32
    }

    #[inline(always)]
    fn group_word(&self, group: Group) -> GroupWord<'m> {
        GroupWord(self.groups.at(group.0 as usize))
    }

    /// The holder of a block lets others know it, if none does so far.
    fn begin_sharing(&self, id: u32, group: Group, credit: Credit) {
        let shared = self.counter(Counter::Shared);
        if shared.load(Relaxed) == 0 {
            shared.store(1, Release);
        }
        self.blocks.begin_sharing(id, group, credit);
    }

    fn check_group(&self, group: Group) -> Result<(), Refusal> {
        if group.0 < self.config.groups { Ok(()) } else { Err(Refusal::invalid(Argument::Group)) }
    }

    #[inline(always)]
    fn cursor(&self, slot: u32) -> Cursor<'m> {
        Cursor::new(self.cursors.at(slot as usize % layout::CURSORS * layout::LINE_CELLS))
    }

    /// ⌈tokens / B⌉.
    #[inline(always)]
    fn blocks_for(&self, tokens: u32) -> u32 {
        tokens.div_ceil(self.block_tokens.get())
    }

    /// The most blocks that `group` could ever be given: N − S, or its quota. A sequence is also bound by its row.
    fn ceiling(&self, group: Group) -> u32 {
        self.config.blocks.saturating_sub(self.safety()).min(self.group_word(group).load().quota)
    }
}
