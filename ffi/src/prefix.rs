//! Prefixes that are shared: `admit_prefix`, `lookup`, `publish`, `withdraw`, `pin`, `unpin`.

use crate::admission::KvlAdmission;
use crate::answer::{KvlRefusal, fill, fill_apart};
use crate::array::{Span, apart, array, array_mut, span};
use crate::claim::{In, InSized, Out, OutSized};
use crate::handle::{KvlPool, ask, view};
use core::ptr::null;
use kvledger_core::identity::Identity;
use kvledger_core::{
    Admitted, BlockId, Epoch, Found, Group, Prefix, Published, Refusal, Released, Sequence, StreamSet,
};

/// [`Prefix`], with its arrays as pointers and counts.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KvlPrefix {
    /// The names of the blocks; NULL if there are none.
    pub identities: *const Identity,
    /// How many.
    pub count: usize,
    /// The tokens of these blocks; NULL if they are not to be compared.
    pub tokens: *const u32,
    /// How many: 0, or B for each name.
    pub token_count: usize,
    /// Not 0: blocks that are still being written are hits too.
    pub unfinished: u32,
    /// Most blocks to take.
    pub blocks_max: u32,
}

impl KvlPrefix {
    /// No names.
    pub(crate) const NONE: KvlPrefix =
        KvlPrefix { identities: null(), count: 0, tokens: null(), token_count: 0, unfinished: 0, blocks_max: 0 };

    /// Where its arrays are.
    pub(crate) fn spans(&self) -> [Span; 2] {
        [span(self.identities, self.count), span(self.tokens, self.token_count)]
    }

    /// `INVALID(Pointer)` for an array that is none.
    ///
    /// # Safety
    /// Both arrays are NULL or valid for as many entries for `'a`.
    pub(crate) unsafe fn prefix<'a>(&self) -> Result<Prefix<'a>, Refusal> {
        // SAFETY: the caller's promise.
        let identities = unsafe { array(self.identities, self.count) }?;
        // SAFETY: the caller's promise.
        let tokens = unsafe { array(self.tokens, self.token_count) }?;
        Ok(Prefix { identities, tokens, unfinished: self.unfinished != 0, blocks_max: self.blocks_max })
    }
}

/// `Prefix::of`. The array is not read.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_prefix_of(
    identities: *const Identity,
    count: usize,
    prefix: OutSized<'_, KvlPrefix>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(prefix, refusal, || {
        let Prefix { unfinished, blocks_max, .. } = Prefix::of(&[]);
        Ok(KvlPrefix { identities, count, unfinished: unfinished.into(), blocks_max, ..KvlPrefix::NONE })
    })
}

/// `Pool::admit_prefix`.
///
/// # Safety
/// The arrays of `prefix` are NULL or valid for as many entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_admit_prefix(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    admission: InSized<'_, KvlAdmission>,
    prefix: InSized<'_, KvlPrefix>,
    admitted: Out<'_, Admitted>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, admitted, refusal, || {
        let pool = view(pool)?;
        let admission = admission.given()?;
        // SAFETY: the caller's promise.
        let prefix = unsafe { prefix.given()?.prefix() }?;
        pool.admit_prefix(sequence, &admission.admission()?, &prefix)
    })
}

/// `Pool::lookup`.
///
/// # Safety
/// As [`kvl_admit_prefix`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_lookup(
    pool: In<'_, KvlPool>,
    group: u32,
    prefix: InSized<'_, KvlPrefix>,
    window_tokens: u32,
    found: Out<'_, Found>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, found, refusal, || {
        let pool = view(pool)?;
        // SAFETY: the caller's promise.
        let prefix = unsafe { prefix.given()?.prefix() }?;
        pool.lookup(Group(group), &prefix, window_tokens)
    })
}

/// `Pool::publish`; `keep` is 0 or not.
///
/// # Safety
/// As [`kvl_admit_prefix`]; `found` is NULL or valid for `found_max` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_publish(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    first: u32,
    prefix: InSized<'_, KvlPrefix>,
    epoch: u64,
    keep: u32,
    found: *mut BlockId,
    found_max: usize,
    published: Out<'_, Published>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    let written = [span(found, found_max)];
    fill_apart(published, refusal, &written, &[pool.range(), prefix.range()], || {
        let (pool, prefix) = (view(pool)?, prefix.given()?);
        apart(&written, &prefix.spans())?;
        // SAFETY: the caller's promise.
        let prefix = unsafe { prefix.prefix() }?;
        // SAFETY: the caller's promise.
        let found = unsafe { array_mut(found, found_max) }?;
        pool.publish(sequence, first, &prefix, Epoch(epoch), keep != 0, found)
    })
}

/// `Pool::withdraw`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_withdraw(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    first: u32,
    count: u32,
    withdrawn: Out<'_, u32>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, withdrawn, refusal, || view(pool)?.withdraw(sequence, first, count))
}

/// `Pool::pin`.
///
/// # Safety
/// As [`kvl_admit_prefix`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_pin(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    group: u32,
    streams: u64,
    prefix: InSized<'_, KvlPrefix>,
    watermark: u32,
    admitted: Out<'_, Admitted>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, admitted, refusal, || {
        let pool = view(pool)?;
        // SAFETY: the caller's promise.
        let prefix = unsafe { prefix.given()?.prefix() }?;
        pool.pin(sequence, Group(group), StreamSet(streams), &prefix, watermark)
    })
}

/// `Pool::withdraw_admission`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_withdraw_admission(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    released: Out<'_, Released>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, released, refusal, || view(pool)?.withdraw_admission(sequence))
}

/// `Pool::unpin`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_unpin(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    released: Out<'_, Released>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, released, refusal, || view(pool)?.unpin(sequence))
}
