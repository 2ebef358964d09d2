//! What the pool says about itself.

use crate::answer::{KvlRefusal, fill};
use crate::claim::{In, InSized, Out, OutSized};
use crate::handle::{KvlPool, ask, view};
use kvledger_core::{
    Account, AccountSnapshot, Counts, Fault, Group, GroupSnapshot, Sequence, SequenceSnapshot, Snapshot,
};

/// Bytes of [`KvlFault::what`], the NUL included.
pub const FAULT_TEXT_BYTES: usize = 64;

/// What `kvl_validate` found.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KvlFault {
    /// The invariant that is broken; 0 if none is.
    pub invariant: u32,
    /// What does not agree: text, ended by NUL, cut if it is longer.
    pub what: [u8; FAULT_TEXT_BYTES],
    /// What it should be.
    pub expected: u64,
    /// What it is.
    pub found: u64,
}

impl KvlFault {
    const NONE: KvlFault = KvlFault { invariant: 0, what: [0; FAULT_TEXT_BYTES], expected: 0, found: 0 };
}

impl From<Fault> for KvlFault {
    fn from(fault: Fault) -> KvlFault {
        let Fault { invariant, what, expected, found } = fault;
        KvlFault { invariant, what: text(what), expected, found }
    }
}

/// Text for C: ended by NUL, and cut if it is longer.
pub(crate) fn text(what: &str) -> [u8; FAULT_TEXT_BYTES] {
    let mut bytes = [0; FAULT_TEXT_BYTES];
    // The last byte stays NUL.
    for (to, from) in bytes.iter_mut().take(FAULT_TEXT_BYTES - 1).zip(what.bytes()) {
        *to = from;
    }
    bytes
}

/// `Pool::counts`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_counts(pool: In<'_, KvlPool>, counts: Out<'_, Counts>, refusal: Out<'_, KvlRefusal>) -> u32 {
    ask(pool, counts, refusal, || Ok(view(pool)?.counts()))
}

/// `Pool::release_number`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_release_number(pool: In<'_, KvlPool>, number: Out<'_, u64>, refusal: Out<'_, KvlRefusal>) -> u32 {
    ask(pool, number, refusal, || Ok(view(pool)?.release_number()))
}

/// `Pool::snapshot`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_snapshot(
    pool: In<'_, KvlPool>,
    snapshot: OutSized<'_, Snapshot>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, snapshot, refusal, || Ok(view(pool)?.snapshot()))
}

/// `Snapshot::holds`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_snapshot_holds(
    snapshot: InSized<'_, Snapshot>,
    holds: Out<'_, u32>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(holds, refusal, || Ok(snapshot.given()?.holds().into()))
}

/// `Pool::sequence_snapshot`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_sequence_snapshot(
    pool: In<'_, KvlPool>,
    sequence: Sequence,
    snapshot: OutSized<'_, SequenceSnapshot>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, snapshot, refusal, || view(pool)?.sequence_snapshot(sequence))
}

/// `Pool::group_snapshot`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_group_snapshot(
    pool: In<'_, KvlPool>,
    group: u32,
    snapshot: OutSized<'_, GroupSnapshot>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, snapshot, refusal, || view(pool)?.group_snapshot(Group(group)))
}

/// `Pool::account_snapshot`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_account_snapshot(
    pool: In<'_, KvlPool>,
    account: Account,
    snapshot: OutSized<'_, AccountSnapshot>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    ask(pool, snapshot, refusal, || view(pool)?.account_snapshot(account))
}

/// `Pool::validate`. A fault is a finding, not a refusal: the status is 0 and `fault.invariant` says which.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_validate(pool: In<'_, KvlPool>, fault: Out<'_, KvlFault>, refusal: Out<'_, KvlRefusal>) -> u32 {
    ask(pool, fault, refusal, || Ok(view(pool)?.validate().map_or_else(KvlFault::from, |()| KvlFault::NONE)))
}
