//! From bytes to a pool: `init` and `attach`, and static storage.

use super::layout::{Layout, open_memory};
use super::{Counter, Pool, header};
use crate::answer::{Argument, Refusal};
use crate::arena::{Arena, Line, table_cells, table_cells_raw};
use crate::config::PoolConfig;
use crate::group::{NO_QUOTA, Use};
use crate::ids::Group;
use crate::ledger::Need;
use crate::sync::Release;
use core::mem::size_of;
use core::ptr::NonNull;

impl<'m> Pool<'m> {
    /// Make a pool of `memory`, with its block table in `table`.
    ///
    /// `memory` must be at least `config.bytes()` long; `table` at least `config.table_entries()`. Whatever was in them
    /// is overwritten: all blocks are free, the table is all null blocks.
    ///
    /// Errors: `INVALID` with the first wrong field of `config`, `Memory` or `Table`. Cost: O(memory). Panics: never.
    /// The pool is never freed; the memory is the caller's again when every copy of the view is gone.
    pub fn init(memory: &'m mut [Line], table: &'m mut [u32], config: &PoolConfig) -> Result<Pool<'m>, Refusal> {
        let (bytes, entries) = (config.bytes()?, config.table_entries()?);
        if core::mem::size_of_val(memory) < bytes {
            return Err(Refusal::invalid(Argument::Memory));
        }
        if table.len() < entries {
            return Err(Refusal::invalid(Argument::Table));
        }
        let table = table_cells(table).ok_or(Refusal::invalid(Argument::Table))?;
        Pool::build(Arena::fresh(memory), table, config, bytes)
    }

    fn build(
        mut arena: Arena<'m>,
        table: crate::arena::Cells<'m, core::sync::atomic::AtomicU32>,
        config: &PoolConfig,
        bytes: usize,
    ) -> Result<Pool<'m>, Refusal> {
        let layout = Layout::new(config);
        let header_cells = arena.integers(layout.header)?;
        header::begin(&header_cells);
        let pool = open_memory(&mut arena, &layout, table, config)?;
        pool.table.clear();
        pool.free.fill();
        pool.sequences.fill();
        pool.accounts.fill();
        pool.transfers.fill();
        for group in 0..config.groups {
            pool.group_word(Group(group)).0.store(Use { used: 0, quota: NO_QUOTA }.pack(), Release);
        }
        for index in 0..super::layout::CURSORS as u32 {
            // Apart from one another, so that drivers of different slots meet late.
            let start = u64::from(index) * u64::from(config.blocks) / super::layout::CURSORS as u64;
            pool.cursor(index).aim(start as u32 & !63);
        }
        // S is a promise to nobody: its admission is the first.
        if config.safety > 0 {
            pool.ledger.admit(Need::promised(config.safety), 0).map_err(|_| Refusal::invalid(Argument::Safety))?;
        }
        pool.counter(Counter::Safety).store(u64::from(config.safety), Release);
        header::finish(&header_cells, config, bytes);
        Ok(pool)
    }

    /// A view of a pool that somebody has initialized in memory that is shared with him, mapped at whatever address.
    ///
    /// Errors: `BUSY` while it is being initialized; `INVALID`: `Header` (no pool of this version, or the header
    /// contradicts itself), `Memory` (NULL, not aligned to 64 bytes, or shorter than the header says), `Table`.
    /// Cost: O(1). Panics: never.
    ///
    /// # Safety
    /// `memory` is valid for `lines` lines and `table` for `entries` entries for `'m`; nobody writes to them in `'m`
    /// but through pools that were attached or initialized there by this version of this library.
    pub unsafe fn attach(
        memory: *mut Line,
        lines: usize,
        table: *mut u32,
        entries: usize,
    ) -> Result<Pool<'m>, Refusal> {
        let base = NonNull::new(memory).filter(|base| base.is_aligned() && lines > 0);
        let base = base.ok_or(Refusal::invalid(Argument::Memory))?;
        let table = NonNull::new(table).filter(|table| table.is_aligned());
        let table = table.ok_or(Refusal::invalid(Argument::Table))?;
        let bytes = lines.checked_mul(size_of::<Line>()).ok_or(Refusal::invalid(Argument::Memory))?;
        // SAFETY: aligned, and valid for `bytes` by the caller's promise; the cells are those that `init` made there.
        let mut arena = unsafe { Arena::existing(base.cast(), bytes) };
        // The header stands first whatever the configuration is.
        let mut carve = crate::arena::Carve::new();
        let (config, stated) = header::read(&arena.cells(carve.region(header::CELLS))?)?;
        let layout = Layout::new(&config);
        if stated != layout.bytes() as u64 {
            return Err(Refusal::invalid(Argument::Header));
        }
        if bytes < layout.bytes() {
            return Err(Refusal::invalid(Argument::Memory));
        }
        if entries < config.table_entries()? {
            return Err(Refusal::invalid(Argument::Table));
        }
        // SAFETY: aligned and valid for `entries` by the caller's promise, and accessed by pools only.
        let table = unsafe { table_cells_raw(table, entries) }.ok_or(Refusal::invalid(Argument::Table))?;
        open_memory(&mut arena, &layout, table, &config)
    }
}

/// Memory for a pool whose configuration is a constant: a `static`, or a field of something static.
///
/// ```
/// use kvledger_core::{Pool, PoolConfig, Storage, lines, entries};
/// const CONFIG: PoolConfig = PoolConfig::new(256, 16, 8, 32);
/// let mut storage = Storage::<{ lines(&CONFIG) }, { entries(&CONFIG) }>::new();
/// let pool = storage.init(&CONFIG).expect("the storage is made for this configuration");
/// assert_eq!(pool.counts().headroom, 256);
/// ```
#[repr(C)]
pub struct Storage<const LINES: usize, const ENTRIES: usize> {
    memory: [Line; LINES],
    table: [u32; ENTRIES],
}

impl<const LINES: usize, const ENTRIES: usize> Storage<LINES, ENTRIES> {
    /// Zeroed.
    pub const fn new() -> Self {
        Storage { memory: [Line::ZERO; LINES], table: [0; ENTRIES] }
    }

    /// Make a pool in it. Errors: as [`Pool::init`].
    pub fn init(&mut self, config: &PoolConfig) -> Result<Pool<'_>, Refusal> {
        Pool::init(&mut self.memory, &mut self.table, config)
    }
}

impl<const LINES: usize, const ENTRIES: usize> Default for Storage<LINES, ENTRIES> {
    fn default() -> Self {
        Self::new()
    }
}

/// Lines of memory for a configuration, in constants: 0 if it is not valid, and `init` then says what is wrong.
pub const fn lines(config: &PoolConfig) -> usize {
    match config.bytes() {
        Ok(bytes) => bytes / size_of::<Line>(),
        Err(_) => 0,
    }
}

/// Table entries for a configuration, in constants: 0 if it is not valid, and `init` then says what is wrong.
pub const fn entries(config: &PoolConfig) -> usize {
    match config.table_entries() {
        Ok(entries) => entries,
        Err(_) => 0,
    }
}
