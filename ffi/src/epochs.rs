//! Time, and what comes back with it.

use crate::answer::KvlRefusal;
use crate::claim::{In, Out};
use crate::handle::{KvlPool, ask, view};
use kvledger_core::{Epoch, Stream};

/// `Pool::submit`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_submit(
    pool: In<'_, KvlPool>,
    stream: u32,
    epoch: Out<'_, Epoch>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, epoch, refusal, || view(pool)?.submit(Stream(stream)))
}

/// `Pool::complete`; `failed` is 0 or not.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_complete(
    pool: In<'_, KvlPool>,
    stream: u32,
    epoch: u64,
    failed: u32,
    frontier: Out<'_, Epoch>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, frontier, refusal, || view(pool)?.complete(Stream(stream), Epoch(epoch), failed != 0))
}

/// `Pool::abandon`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_abandon(
    pool: In<'_, KvlPool>,
    stream: u32,
    frontier: Out<'_, Epoch>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, frontier, refusal, || view(pool)?.abandon(Stream(stream)))
}

/// `Pool::frontier`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_frontier(pool: In<'_, KvlPool>, frontier: Out<'_, Epoch>, refusal: Out<'_, KvlRefusal>) -> u32 {
    ask(pool, frontier, refusal, || Ok(view(pool)?.frontier()))
}

/// `Pool::newest_epoch`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_newest_epoch(pool: In<'_, KvlPool>, newest: Out<'_, Epoch>, refusal: Out<'_, KvlRefusal>) -> u32 {
    ask(pool, newest, refusal, || Ok(view(pool)?.newest_epoch()))
}

/// `Pool::reclaim`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_reclaim(
    pool: In<'_, KvlPool>,
    blocks_max: u32,
    freed: Out<'_, u32>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, freed, refusal, || Ok(view(pool)?.reclaim(blocks_max)))
}
