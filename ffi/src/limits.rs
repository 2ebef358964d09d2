//! What may be changed at run time.

use crate::answer::KvlRefusal;
use crate::claim::{In, Out};
use crate::handle::{KvlPool, tell, view};
use kvledger_core::Group;

/// `Pool::set_safety`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_set_safety(pool: In<'_, KvlPool>, blocks: u32, refusal: Out<'_, KvlRefusal>) -> u32 {
    tell(pool, refusal, || view(pool)?.set_safety(blocks))
}

/// `Pool::set_quota`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_set_quota(pool: In<'_, KvlPool>, group: u32, blocks: u32, refusal: Out<'_, KvlRefusal>) -> u32 {
    tell(pool, refusal, || view(pool)?.set_quota(Group(group), blocks))
}
