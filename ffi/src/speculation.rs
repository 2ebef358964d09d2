//! Tokens that are proposed first and accepted later: `speculate`, `accept`.

use crate::answer::KvlRefusal;
use crate::claim::{In, Out};
use crate::handle::{KvlPool, ask, view};
use kvledger_core::{Advanced, Released, Sequence};

/// `Pool::speculate`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_speculate(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    tokens: u32,
    advanced: Out<'_, Advanced>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, advanced, refusal, || view(pool)?.speculate(sequence, tokens))
}

/// `Pool::accept`; `give_back` is 0 or not.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_accept(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    tokens: u32,
    give_back: u32,
    released: Out<'_, Released>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, released, refusal, || view(pool)?.accept(sequence, tokens, give_back != 0))
}
