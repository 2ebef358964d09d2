//! From bytes to a pool: `PoolConfig`, `Pool::init`, `Pool::attach`.

use crate::answer::{In, KvlRefusal, Out, fill, given, invalid, run};
use crate::array::array_mut;
use crate::handle::{KvlPool, view};
use core::ffi::c_void;
use core::mem::size_of;
use kvledger_core::{Argument, Line, Pool, PoolConfig};

/// `PoolConfig::new`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_config_new(
    blocks: u32,
    block_tokens: u32,
    sequences: u32,
    table_width: u32,
    config: Out<'_, PoolConfig>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(config, refusal, || Ok(PoolConfig::new(blocks, block_tokens, sequences, table_width)))
}

/// `PoolConfig::check`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_config_check(config: In<'_, PoolConfig>, refusal: Out<'_, KvlRefusal>) -> u32 {
    run(refusal, || given(config)?.check())
}

/// `PoolConfig::bytes`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_config_bytes(
    config: In<'_, PoolConfig>,
    bytes: Out<'_, usize>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(bytes, refusal, || given(config)?.bytes())
}

/// `PoolConfig::table_entries`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_config_table_entries(
    config: In<'_, PoolConfig>,
    entries: Out<'_, usize>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(entries, refusal, || given(config)?.table_entries())
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
    config: In<'_, PoolConfig>,
    pool: Out<'_, KvlPool>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(pool, refusal, || {
        let config = given(config)?;
        let memory = lines(memory)?;
        // SAFETY: the caller's promise; a part of a line at the end is left out.
        let memory = unsafe { array_mut(memory, memory_bytes / size_of::<Line>()) }?;
        // SAFETY: the caller's promise.
        let table = unsafe { array_mut(table, table_entries) }?;
        Ok(KvlPool::new(Pool::init(memory, table, config)?))
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
    fill(pool, refusal, || {
        let memory = lines(memory)?;
        // SAFETY: the caller's promise.
        let attached = unsafe { Pool::attach(memory, memory_bytes / size_of::<Line>(), table, table_entries) };
        Ok(KvlPool::new(attached?))
    })
}

/// `Pool::config`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_config(pool: In<'_, KvlPool>, config: Out<'_, PoolConfig>, refusal: Out<'_, KvlRefusal>) -> u32 {
    fill(config, refusal, || Ok(view(pool)?.config()))
}

/// `INVALID(Memory)` unless it is aligned to a line.
fn lines(memory: *mut c_void) -> Result<*mut Line, kvledger_core::Refusal> {
    let lines = memory.cast::<Line>();
    if lines.is_aligned() { Ok(lines) } else { Err(invalid(Argument::Memory)) }
}
