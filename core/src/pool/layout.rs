//! How the caller's memory is carved. The order here is the order in which `open_memory` takes the regions.
//!
//! ```text
//! ┌────────┬────────┬──────────┬─────────┬────────┬──────────┬───────────┬─────────┬────────┬───────────┬─────────┐
//! │ header │ ledger │ counters │ cursors │ groups │ accounts │ sequences │ streams │ blocks │ free list │ buckets │
//! ├────────┼────────┼──────────┼─────────┼────────┴──┬───────┴───┬───────┴─────────┴────────┴───────────┴─────────┘
//! │ names  │ index  │ order    │ resets  │ failures  │ transfers │ events
//! └────────┴────────┴──────────┴─────────┴───────────┴───────────┴────────
//! ```
//!
//! Every region starts on a cache line; no region holds an address, so the memory may be mapped anywhere.

use super::header;
use super::{Counter, Pool};
use crate::accounts::{self, Accounts};
use crate::answer::{Argument, Refusal};
use crate::arena::{Arena, Carve, Cells, Span};
use crate::blocks::{self, Blocks};
use crate::cache::{self, Index, Order, Policy};
use crate::config::{Cache, PoolConfig};
use crate::events::{self, Events};
use crate::failures::{self, Failures};
use crate::freelist::{FreeList, FreeListLayout};
use crate::ledger::Ledger;
use crate::names::{self, Names};
use crate::recorder::Recorder;
use crate::retire::{self, Retiring};
use crate::sequence;
use crate::streams::{self, Streams};
use crate::sync::AtomicU64;
use crate::table::Table;
use crate::transfers::{self, Transfers};
use core::num::NonZeroU32;
use core::sync::atomic::{AtomicU32, AtomicU64 as Plain};

/// Cells in a cache line, natively.
pub(super) const LINE_CELLS: usize = 8;
/// Where drivers look for free blocks first: one line each; a sequence's slot says which.
pub(super) const CURSORS: usize = 8;

/// Where every part of a pool is.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    pub(super) header: Span<Plain>,
    ledger: Span<AtomicU64>,
    counters: Span<AtomicU64>,
    cursors: Span<AtomicU64>,
    groups: Span<AtomicU64>,
    accounts: accounts::Layout,
    sequences: sequence::Layout,
    streams: streams::Layout,
    in_flight: Span<Plain>,
    blocks: blocks::Layout,
    free: FreeListLayout,
    retiring: retire::Layout,
    names: names::Layout,
    index: cache::IndexLayout,
    order: cache::OrderLayout,
    resets: Span<AtomicU64>,
    failures: failures::Layout,
    transfers: transfers::Layout,
    events: events::EventsLayout,
    bytes: usize,
}

impl Layout {
    /// Of a configuration that was checked.
    pub(crate) const fn new(config: &PoolConfig) -> Layout {
        let mut carve = Carve::new();
        let header = carve.region(header::CELLS);
        let ledger = carve.region(1);
        let counters = carve.region(Counter::COUNT * LINE_CELLS);
        let cursors = carve.region(CURSORS * LINE_CELLS);
        let groups = carve.region(config.groups as usize);
        let accounts = Accounts::layout(&mut carve, config.accounts);
        let sequences = sequence::Sequences::layout(&mut carve, config.sequences);
        let streams = Streams::layout(&mut carve, config);
        let in_flight = Table::layout(&mut carve, config);
        let blocks = Blocks::layout(&mut carve, config.blocks);
        let free = FreeList::layout(&mut carve, config.blocks);
        let retiring = Retiring::layout(&mut carve, config.blocks);
        let names = Names::layout(&mut carve, config);
        // A pool that shares no prefixes has the least of each.
        let cached = if config.cache == 0 { 1 } else { config.blocks };
        let index = Index::layout(&mut carve, cached);
        let order = Order::layout(&mut carve, cached, policy(config));
        let resets = carve.region(config.groups as usize + 1);
        let failures = Failures::layout(&mut carve);
        let transfers = Transfers::layout(&mut carve, config.transfers, config.blocks);
        let events = Events::layout(&mut carve, config.events);
        Layout {
            header,
            ledger,
            counters,
            cursors,
            groups,
            accounts,
            sequences,
            streams,
            in_flight,
            blocks,
            free,
            retiring,
            names,
            index,
            order,
            resets,
            failures,
            transfers,
            events,
            bytes: carve.bytes(),
        }
    }

    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The order of eviction that a configuration asks for.
const fn policy(config: &PoolConfig) -> Policy {
    match Cache::from_number(config.cache) {
        Some(Cache::Sieve) => Policy::Sieve,
        Some(Cache::S3Fifo) => Policy::S3Fifo,
        _ => Policy::Lru,
    }
}

/// Take every region out of the arena, in order. The header is the caller's: he has taken it already.
pub(super) fn open_memory<'m>(
    arena: &mut Arena<'m>,
    layout: &Layout,
    table: Cells<'m, AtomicU32>,
    config: &PoolConfig,
) -> Result<Pool<'m>, Refusal> {
    let block_tokens = NonZeroU32::new(config.block_tokens).ok_or(Refusal::invalid(Argument::BlockTokens))?;
    Ok(Pool {
        ledger: Ledger::new(arena.cells(layout.ledger)?.at(0), config.blocks),
        counters: arena.cells(layout.counters)?,
        cursors: arena.cells(layout.cursors)?,
        groups: arena.cells(layout.groups)?,
        accounts: Accounts::view(arena, &layout.accounts, config.accounts, config.number)?,
        sequences: sequence::Sequences::view(arena, &layout.sequences, config.sequences, config.number)?,
        streams: Streams::view(arena, &layout.streams, config)?,
        table: Table::view(arena, layout.in_flight, table, config)?,
        blocks: Blocks::view(arena, &layout.blocks, config.blocks)?,
        free: FreeList::view(arena, &layout.free)?,
        retiring: Retiring::view(arena, &layout.retiring)?,
        names: Names::view(arena, &layout.names, config)?,
        index: Index::view(arena, &layout.index)?,
        order: Order::view(arena, &layout.order)?,
        resets: arena.cells(layout.resets)?,
        failures: Failures::view(arena, layout.failures)?,
        transfers: Transfers::view(arena, &layout.transfers, config.transfers, config.blocks, config.number)?,
        events: Events::view(arena, &layout.events, config.events)?,
        config: *config,
        block_tokens,
        recorder: Recorder::OFF,
    })
}
