//! Preemption that keeps what was computed: `offload`.

use crate::admission::KvlAdmission;
use crate::answer::{KvlRefusal, fill_apart};
use crate::array::{array_mut, span};
use crate::claim::{In, InSized, Out};
use crate::handle::{KvlPool, view};
use core::mem::{align_of, offset_of, size_of};
use kvledger_core::{BlockId, Offloaded, Sequence};

/// From which block to which to copy.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KvlBlockPair {
    /// The block to read, in the pool of the sequence.
    pub source: BlockId,
    /// The block to write, in the other pool.
    pub destination: BlockId,
}

// The core has a tuple, whose layout is whatever the compiler made it: here it is that of C, or this does not compile.
type Pair = (BlockId, BlockId);
const _: () = assert!(size_of::<Pair>() == size_of::<KvlBlockPair>());
const _: () = assert!(align_of::<Pair>() == align_of::<KvlBlockPair>());
const _: () = assert!(offset_of!(Pair, 0) == offset_of!(KvlBlockPair, source));
const _: () = assert!(offset_of!(Pair, 1) == offset_of!(KvlBlockPair, destination));

/// `Pool::offload`.
///
/// # Safety
/// `pairs` is NULL or valid for `pairs_max` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_offload(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    host: In<'_, KvlPool>,
    copy: Sequence,
    admission: InSized<'_, KvlAdmission>,
    pairs: *mut KvlBlockPair,
    pairs_max: usize,
    offloaded: Out<'_, Offloaded>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill_apart(offloaded, refusal, &[span(pairs, pairs_max)], &[pool.range(), host.range(), admission.range()], || {
        let (pool, host, admission) = (view(pool)?, view(host)?, admission.given()?);
        // SAFETY: the caller's promise; a pair has the same layout on both sides, as asserted above.
        let pairs = unsafe { array_mut(pairs.cast::<Pair>(), pairs_max) }?;
        pool.offload(sequence, host, copy, &admission.admission()?, pairs)
    })
}
