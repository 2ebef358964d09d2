//! The life of a sequence: `open`, `admit`, `cancel`, `end`, `preempt`.

use crate::admission::KvlAdmission;
use crate::answer::KvlRefusal;
use crate::claim::{In, InSized, Out};
use crate::handle::{KvlPool, ask, tell, view};
use kvledger_core::{Admitted, Released, Sequence, StreamSet};

/// `Pool::open`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_open(pool: In<'_, KvlPool>, sequence: Out<'_, Sequence>, refusal: Out<'_, KvlRefusal>) -> u32 {
    ask(pool, sequence, refusal, || view(pool)?.open())
}

/// `Pool::admit`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_admit(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    admission: InSized<'_, KvlAdmission>,
    admitted: Out<'_, Admitted>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, admitted, refusal, || view(pool)?.admit(sequence, &admission.given()?.admission()?))
}

/// `Pool::cancel`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_cancel(pool: In<'_, KvlPool>, sequence: Sequence, refusal: Out<'_, KvlRefusal>) -> u32 {
    tell(pool, refusal, || view(pool)?.cancel(sequence))
}

/// `Pool::end`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_end(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    released: Out<'_, Released>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, released, refusal, || view(pool)?.end(sequence))
}

/// `Pool::preempt`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_preempt(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    released: Out<'_, Released>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, released, refusal, || view(pool)?.preempt(sequence))
}

/// `Pool::use_streams`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_use_streams(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    streams: u64,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    tell(pool, refusal, || view(pool)?.use_streams(sequence, StreamSet(streams)))
}
