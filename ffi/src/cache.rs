//! What is cached and nobody holds: `evict`, `reset`, `reset_all`.

use crate::answer::KvlRefusal;
use crate::claim::{In, Out};
use crate::handle::{KvlPool, ask, tell, view};
use kvledger_core::Group;

/// `Pool::evict`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_evict(
    pool: In<'_, KvlPool>,
    blocks: u32,
    evicted: Out<'_, u32>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, evicted, refusal, || view(pool)?.evict(blocks))
}

/// `Pool::reset`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_reset(pool: In<'_, KvlPool>, group: u32, refusal: Out<'_, KvlRefusal>) -> u32 {
    tell(pool, refusal, || view(pool)?.reset(Group(group)))
}

/// `Pool::reset_all`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_reset_all(pool: In<'_, KvlPool>, refusal: Out<'_, KvlRefusal>) -> u32 {
    tell(pool, refusal, || {
        view(pool)?.reset_all();
        Ok(())
    })
}
