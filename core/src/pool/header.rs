//! The first line of a pool's memory: what it is, so that another process can attach to it. The magic is written last
//! (O8 release) and read first (O8 acquire): who sees it sees the rest.

use crate::answer::{Argument, Refusal};
use crate::arena::Cells;
use crate::config::PoolConfig;
use core::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// Cells of the header.
pub(super) const CELLS: usize = 8;

/// "kvledger", little-endian.
const READY: u64 = u64::from_le_bytes(*b"kvledger");
/// The same, while the memory is being initialized.
const UNDER_WAY: u64 = u64::from_le_bytes(*b"kvl_init");
/// The version of the layout in memory: changes whenever a region does. Pools are attached to by the version that made
/// them only.
pub const LAYOUT_VERSION: u64 = 3;

const MAGIC: usize = 0;
const VERSION: usize = 1;
const BYTES: usize = 2;
/// number | blocks, safety | block tokens, sequences | width, rows | accounts | groups | events, streams | cache |
/// token check | transfers | epochs.
const FIELDS: usize = 3;

/// The fields of a configuration in five cells. `safety` may change later; the header keeps what it was at init.
pub(crate) const fn pack(config: &PoolConfig) -> [u64; 5] {
    [
        config.number as u64 | (config.blocks as u64) << 32,
        config.safety as u64 | (config.block_tokens as u64) << 32,
        config.sequences as u64 | (config.table_width as u64) << 32,
        // Accounts and groups are at most 2^20, rows at most 2; events are 0 or a power of two.
        config.rows as u64
            | (config.accounts as u64) << 8
            | (config.groups as u64) << 32
            | ((u32::BITS - config.events.leading_zeros()) as u64) << 56,
        config.streams as u64
            | (config.cache as u64) << 8
            | (config.token_check as u64) << 12
            | (config.transfers as u64) << 16
            | (config.epochs as u64) << 32,
    ]
}

pub(crate) const fn unpack(cells: [u64; 5]) -> PoolConfig {
    let [a, b, c, d, e] = cells;
    PoolConfig {
        number: a as u32,
        blocks: (a >> 32) as u32,
        safety: b as u32,
        block_tokens: (b >> 32) as u32,
        sequences: c as u32,
        table_width: (c >> 32) as u32,
        rows: (d & 0xff) as u32,
        accounts: (d >> 8) as u32 & 0xff_ffff,
        groups: (d >> 32) as u32 & 0xff_ffff,
        streams: (e & 0xff) as u32,
        epochs: (e >> 32) as u32,
        cache: (e >> 8) as u32 & 0xf,
        token_check: (e >> 12) as u32 & 0xf,
        transfers: (e >> 16) as u32 & 0xffff,
        events: match (d >> 56) as u32 {
            0 => 0,
            bits => 1 << ((bits - 1) & 31),
        },
    }
}

/// Initialization begins: nobody attaches from now on.
pub(super) fn begin(header: &Cells<'_, AtomicU64>) {
    header.at(MAGIC).store(UNDER_WAY, Release);
}

/// Initialization is done.
pub(super) fn finish(header: &Cells<'_, AtomicU64>, config: &PoolConfig, bytes: usize) {
    header.at(VERSION).store(LAYOUT_VERSION, Relaxed);
    header.at(BYTES).store(bytes as u64, Relaxed);
    for (index, field) in pack(config).into_iter().enumerate() {
        header.at(FIELDS + index).store(field, Relaxed);
    }
    // O8 release, pairs with O8 acquire in `read`.
    header.at(MAGIC).store(READY, Release);
}

/// What the header says, checked: `BUSY` while the memory is being initialized, `INVALID(Header)` if it is no pool of
/// this version, or one of a configuration that no pool has.
pub(super) fn read(header: &Cells<'_, AtomicU64>) -> Result<(PoolConfig, u64), Refusal> {
    // O8 acquire.
    match header.at(MAGIC).load(Acquire) {
        READY => {}
        UNDER_WAY => return Err(Refusal::Busy),
        _ => return Err(Refusal::invalid(Argument::Header)),
    }
    if header.at(VERSION).load(Relaxed) != LAYOUT_VERSION {
        return Err(Refusal::invalid(Argument::Header));
    }
    let mut cells = [0; 5];
    for (index, cell) in cells.iter_mut().enumerate() {
        *cell = header.at(FIELDS + index).load(Relaxed);
    }
    let config = unpack(cells);
    config.check().map_err(|_| Refusal::invalid(Argument::Header))?;
    Ok((config, header.at(BYTES).load(Relaxed)))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_survives_the_header() {
        let config = PoolConfig {
            number: 7,
            blocks: (1 << 31) - 2,
            safety: 3,
            block_tokens: 16,
            sequences: 1 << 20,
            table_width: 9,
            rows: 2,
            accounts: 1 << 20,
            groups: 1 << 20,
            streams: 64,
            epochs: 1 << 16,
            cache: 3,
            token_check: 1,
            transfers: 1 << 10,
            events: 1 << 20,
        };
        assert_eq!(unpack(pack(&config)), config);
    }
}
