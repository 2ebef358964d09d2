//! From bytes to a pool: `PoolConfig`, `Pool::init`, `Pool::attach`.

use crate::answer::{KvlRefusal, POINTER, fill, fill_apart, invalid, run};
use crate::array::{apart, array_mut, refuse_impossible, span};
use crate::claim::{In, InSized, Out, OutSized, Output};
use crate::handle::{KvlPool, ask, view};
use core::ffi::c_void;
use core::mem::size_of;
use kvledger_core::{Argument, Line, Pool, PoolConfig, Refusal};

/// `PoolConfig::new`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_config_new(
    blocks: u32,
    block_tokens: u32,
    sequences: u32,
    table_width: u32,
    config: OutSized<'_, PoolConfig>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(config, refusal, || Ok(PoolConfig::new(blocks, block_tokens, sequences, table_width)))
}

/// `PoolConfig::check`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_config_check(config: InSized<'_, PoolConfig>, refusal: Out<'_, KvlRefusal>) -> u32 {
    run(refusal, || config.given()?.check())
}

/// `PoolConfig::bytes`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_config_bytes(
    config: InSized<'_, PoolConfig>,
    bytes: Out<'_, usize>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(bytes, refusal, || config.given()?.bytes())
}

/// `PoolConfig::table_entries`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_config_table_entries(
    config: InSized<'_, PoolConfig>,
    entries: Out<'_, usize>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(entries, refusal, || config.given()?.table_entries())
}

/// `Pool::init`.
///
/// # Safety
/// `memory` and `table` are NULL or valid for as many bytes and entries, and the pool's alone from now on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_init(
    memory: *mut c_void,
    memory_bytes: usize,
    table: *mut u32,
    table_entries: usize,
    config: InSized<'_, PoolConfig>,
    pool: Out<'_, KvlPool>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    let written = [span(memory.cast::<u8>(), memory_bytes), span(table, table_entries)];
    fill_apart(pool, refusal, &written, &[config.range()], || {
        let config = config.given()?;
        // SAFETY: the caller's promise.
        let memory = unsafe { memory_lines(memory, memory_bytes) }?;
        // SAFETY: the caller's promise.
        let table = unsafe { array_mut(table, table_entries) }?;
        Ok(KvlPool::new(Pool::init(memory, table, &config)?))
    })
}

/// `Pool::attach`.
///
/// # Safety
/// `memory` and `table` are NULL or valid for as many bytes and entries while the view is used, and written to by pools
/// only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_attach(
    memory: *mut c_void,
    memory_bytes: usize,
    table: *mut u32,
    table_entries: usize,
    pool: Out<'_, KvlPool>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    // The table may be a part of the memory that is said to be there.
    let (answer, shared) = (pool.range(), [span(memory.cast::<u8>(), memory_bytes), span(table, table_entries)]);
    if apart(&[refusal.range()], &shared).is_err() {
        return POINTER.code();
    }
    fill(pool, refusal, || {
        apart(&[answer], &shared)?;
        let memory = first_line(memory, memory_bytes)?;
        refuse_impossible(table, table_entries)?;
        // SAFETY: the caller's promise.
        let attached = unsafe { Pool::attach(memory, memory_bytes / size_of::<Line>(), table, table_entries) };
        Ok(KvlPool::new(attached?))
    })
}

/// `Pool::config`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_config(
    pool: In<'_, KvlPool>,
    config: OutSized<'_, PoolConfig>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, config, refusal, || Ok(view(pool)?.config()))
}

/// Memory of C as lines; a part of a line at the end is left out. `INVALID(Pointer)` for NULL, and for more than an address
/// space; `INVALID(Memory)` unless it is aligned to a line.
///
/// # Safety
/// `memory` is NULL or valid for `bytes` bytes for `'m`, and nobody else touches them.
pub(crate) unsafe fn memory_lines<'m>(memory: *mut c_void, bytes: usize) -> Result<&'m mut [Line], Refusal> {
    let first = first_line(memory, bytes)?;
    // SAFETY: the caller's promise.
    unsafe { array_mut(first, bytes / size_of::<Line>()) }
}

fn first_line(memory: *mut c_void, bytes: usize) -> Result<*mut Line, Refusal> {
    refuse_impossible(memory.cast::<u8>(), bytes)?;
    let first = memory.cast::<Line>();
    if first.is_aligned() { Ok(first) } else { Err(invalid(Argument::Memory)) }
}
