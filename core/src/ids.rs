//! The names that cross the API: block ids, handles, epochs, streams, groups. Each is a type of its own, so that an
//! id, a count and a size cannot be taken for one another. Sequences and accounts are named by *handles*: slot and
//! generation together, so that a name that outlived its owner is recognised (I12).

/// A block of the pool, `1..=N`. Id 0 is the null block: it exists in device memory, pads every table row and is
/// never handed out.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct BlockId(pub u32);

impl BlockId {
    /// The null block.
    pub const NULL: BlockId = BlockId(0);
}

/// Names one sequence from `open` to `end`. Late, repeated or foreign handles are answered `STALE` (I12).
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Sequence {
    /// The slot, which is also the table row (or the pair of rows) of the sequence.
    pub slot: u32,
    /// The number of the pool that opened it.
    pub pool: u32,
    /// Counts the uses of the slot; 0 is never used, so a zeroed handle is `STALE`.
    pub generation: u64,
}

/// Names one shared account from `open_account` to `close_account`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Account {
    /// The slot of the account.
    pub slot: u32,
    /// The number of the pool that opened it.
    pub pool: u32,
    /// Counts the uses of the slot; 0 is never used and means "no shared account".
    pub generation: u64,
}

impl Account {
    /// No shared account: the sequence has its own.
    pub const NONE: Account = Account { slot: 0, pool: 0, generation: 0 };

    /// Whether this is [`Account::NONE`].
    pub const fn is_none(self) -> bool {
        self.generation == 0
    }
}

/// Names one transfer, a grip on blocks, from its start to its completion or revocation. Late, repeated or foreign handles
/// are answered `STALE` (I12).
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Transfer {
    /// The slot of the transfer.
    pub slot: u32,
    /// The number of the pool that started it.
    pub pool: u32,
    /// Counts the uses of the slot; 0 is never used, so a zeroed handle is `STALE`.
    pub generation: u64,
}

/// A unit of submitted work, pool-wide and increasing. 0 is no epoch.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Epoch(pub u64);

impl Epoch {
    /// No epoch.
    pub const NONE: Epoch = Epoch(0);
}

/// A queue of device work whose epochs complete in order: a CUDA stream, a copy engine, a peer. `0..streams`.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Stream(pub u32);

/// A set of streams, one bit each.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct StreamSet(pub u64);

impl StreamSet {
    /// Every stream of the pool: what a caller says who does not want to think about it.
    pub const ALL: StreamSet = StreamSet(u64::MAX);

    /// The set of one stream; empty if the number is 64 or more.
    pub const fn one(stream: Stream) -> StreamSet {
        StreamSet(if stream.0 < 64 { 1 << stream.0 } else { 0 })
    }

    /// Both sets together.
    pub const fn with(self, other: StreamSet) -> StreamSet {
        StreamSet(self.0 | other.0)
    }
}

/// A trust group: the unit of isolation and of quota. `0..groups`.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Group(pub u32);
