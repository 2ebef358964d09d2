//! What decisions have made of a pool, in a few numbers that are the same on all ranks.

/// Only what decisions alone determine: not which blocks, not what is cached or retiring, not N, and not what a vote has
/// reserved that is not decided.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Digest {
    /// The newest number that was decided.
    pub number: u64,
    /// Blocks in the rows of all sequences, a shared one in each.
    pub held: u64,
    /// R: promised and not materialized.
    pub promised: u64,
    /// S: the safety margin.
    pub safety: u64,
}

/// In what two ranks differ.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Difference {
    /// One of them has carried out more decisions: nothing else can be compared yet.
    Number = 1,
    /// They hold different numbers of blocks: one has advanced, ended or preempted what the other has not.
    Held = 2,
    /// They have promised different numbers of blocks.
    Promised = 3,
    /// Their safety margins differ.
    Safety = 4,
}

impl Digest {
    /// The first difference, in the order of the fields; nothing if they are equal. Never fails.
    pub const fn difference(&self, other: &Digest) -> Option<Difference> {
        if self.number != other.number {
            Some(Difference::Number)
        } else if self.held != other.held {
            Some(Difference::Held)
        } else if self.promised != other.promised {
            Some(Difference::Promised)
        } else if self.safety != other.safety {
            Some(Difference::Safety)
        } else {
            None
        }
    }
}
