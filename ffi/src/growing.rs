//! The structs that can grow, what `sizeof` was in their first versions, and whether a reserved word fills them up. The
//! sizes stay when fields are added: callers that were compiled then give them. All other structs never change.

use crate::admission::KvlAdmission;
use crate::identity::KvlDomain;
use crate::plan::KvlGeometry;
use crate::prefix::KvlPrefix;
use crate::sized::Grows;
use crate::split::KvlSplitBatch;
use kvledger_core::split::{Split, SplitCounts, SplitLayout};
use kvledger_core::{AccountSnapshot, GroupSnapshot, PoolConfig, SequenceSnapshot, Snapshot};

macro_rules! grow {
    ($($fields:ty: $first_bytes:literal, $reserved:ty;)*) => {
        $(
            // SAFETY: `repr(C)`, of integers and of pointers that nobody follows before he has looked at them. That the size
            // and these are one struct of C, and that it has no padding: `tests/header.rs`.
            unsafe impl Grows for $fields {
                const FIRST_BYTES: usize = $first_bytes;
                type Reserved = $reserved;
            }
        )*
    };
}

grow! {
    PoolConfig: 72, u32;
    KvlAdmission: 72, ();
    Snapshot: 112, ();
    SequenceSnapshot: 48, ();
    GroupSnapshot: 32, u32;
    AccountSnapshot: 24, u32;
    KvlDomain: 48, ();
    KvlPrefix: 48, ();
    KvlGeometry: 48, ();
    Split: 56, u32;
    KvlSplitBatch: 56, ();
    SplitLayout: 64, ();
    SplitCounts: 40, ();
}
