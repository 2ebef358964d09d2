//! Copies by others: `hold`, `hold_blocks`, `complete_transfer`, `revoke`, `quarantine`.

use crate::answer::{KvlRefusal, invalid};
use crate::array::array;
use crate::claim::{In, Out};
use crate::handle::{KvlPool, ask, tell, view};
use kvledger_core::{Access, Argument, BlockId, Refusal, Sequence, Transfer};

/// `INVALID(Access)` for a number that names no access.
fn access(number: u32) -> Result<Access, Refusal> {
    let known = [Access::Read, Access::Write].into_iter().find(|&access| access as u32 == number);
    known.ok_or(invalid(Argument::Access))
}

/// `Pool::hold`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_hold(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    first: u32,
    count: u32,
    access_number: u32,
    transfer: Out<'_, Transfer>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, transfer, refusal, || view(pool)?.hold(sequence, first, count, access(access_number)?))
}

/// `Pool::hold_blocks`.
///
/// # Safety
/// `blocks` is NULL or valid for `count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_hold_blocks(
    pool: In<'_, KvlPool>,
    blocks: *const BlockId,
    count: usize,
    access_number: u32,
    transfer: Out<'_, Transfer>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, transfer, refusal, || {
        let pool = view(pool)?;
        // SAFETY: the caller's promise.
        let blocks = unsafe { array(blocks, count) }?;
        pool.hold_blocks(blocks, access(access_number)?)
    })
}

/// `Pool::complete_transfer`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_complete_transfer(
    pool: In<'_, KvlPool>,
    transfer: Transfer,
    blocks: Out<'_, u32>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, blocks, refusal, || view(pool)?.complete_transfer(transfer))
}

/// `Pool::revoke`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_revoke(
    pool: In<'_, KvlPool>,
    transfer: Transfer,
    blocks: Out<'_, u32>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, blocks, refusal, || view(pool)?.revoke(transfer))
}

/// `Pool::quarantine`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_quarantine(pool: In<'_, KvlPool>, transfer: Transfer, refusal: Out<'_, KvlRefusal>) -> u32 {
    tell(pool, refusal, || view(pool)?.quarantine(transfer))
}
