//! Shared accounts.

use crate::answer::KvlRefusal;
use crate::claim::{In, Out};
use crate::handle::{KvlPool, ask, tell, view};
use kvledger_core::{Account, Group};

/// `Pool::open_account`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_open_account(
    pool: In<'_, KvlPool>,
    group: u32,
    total: u32,
    watermark: u32,
    account: Out<'_, Account>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, account, refusal, || view(pool)?.open_account(Group(group), total, watermark))
}

/// `Pool::set_account_total`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_set_account_total(
    pool: In<'_, KvlPool>,
    account: Account,
    total: u32,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    tell(pool, refusal, || view(pool)?.set_account_total(account, total))
}

/// `Pool::close_account`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_close_account(pool: In<'_, KvlPool>, account: Account, refusal: Out<'_, KvlRefusal>) -> u32 {
    tell(pool, refusal, || view(pool)?.close_account(account))
}
