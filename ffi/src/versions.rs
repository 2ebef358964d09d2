//! The structs that can grow, and what `sizeof` was in their first versions. These numbers stay when fields are added:
//! callers that were compiled then give these sizes. All other structs never change.

use crate::admission::KvlAdmission;
use crate::identity::KvlDomain;
use crate::plan::KvlGeometry;
use crate::sized::Grows;
use crate::split::KvlSplitBatch;
use kvledger_core::split::{Split, SplitCounts, SplitLayout};
use kvledger_core::{AccountSnapshot, GroupSnapshot, PoolConfig, SequenceSnapshot, Snapshot};

macro_rules! grow {
    ($($fields:ty: $first_bytes:literal,)*) => {
        $(
            // SAFETY: `repr(C)`, of integers and of pointers that nobody follows before he has looked at them; there are no
            // fields after the first version's yet. That the size and these are one struct of C: `tests/header.rs`.
            unsafe impl Grows for $fields {
                const FIRST_BYTES: usize = $first_bytes;
            }
        )*
    };
}

grow! {
    PoolConfig: 72,
    KvlAdmission: 72,
    Snapshot: 120,
    SequenceSnapshot: 48,
    GroupSnapshot: 32,
    AccountSnapshot: 24,
    KvlDomain: 48,
    KvlGeometry: 48,
    Split: 56,
    KvlSplitBatch: 56,
    SplitLayout: 64,
    SplitCounts: 40,
}
