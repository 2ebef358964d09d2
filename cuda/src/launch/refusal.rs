//! What is wrong with the parameters of a launch: which of them, how, and what it should be.

use core::fmt;

/// A parameter that a kernel cannot be given. Nothing was enqueued.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Refusal {
    /// The field, as the C header names it, or the argument that stands for what is in device memory.
    pub field: &'static str,
    /// What is wrong with it.
    pub wrong: Wrong,
}

/// What can be wrong with a parameter.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Wrong {
    /// A pointer that is needed is NULL.
    Null,
    /// A pointer that must be NULL here, because the other one is, or because nothing reads it.
    NotNull,
    /// An address that is not a multiple of so many bytes.
    Misaligned(u64),
    /// A pointer into no allocation of the device: host memory, or memory that was given back.
    Foreign,
    /// A pointer into pinned memory, where a kernel needs the device's own.
    Pinned,
    /// A pointer with too few bytes behind it.
    Short {
        /// Up to the last element that may be touched.
        needed: u64,
        /// Up to the end of the allocation.
        available: u64,
    },
    /// A stride below 0.
    Negative(i64),
    /// A stride in elements that is not a multiple of so many.
    Stride {
        /// The stride.
        stride: i64,
        /// What it must be a multiple of.
        multiple: u64,
    },
    /// A stride that is smaller than what it steps over, so that two elements would share memory.
    Overlapping {
        /// The stride.
        stride: i64,
        /// What it steps over.
        extent: u64,
    },
    /// An array that ends beyond what 63 bits address.
    Overflow,
    /// A number that must be above 0.
    Zero,
    /// A number above what there is, or may be.
    Above {
        /// The number.
        value: u64,
        /// The largest that is allowed.
        most: u64,
    },
    /// A number that must be another one here.
    Not {
        /// The number.
        value: u64,
        /// What it must be.
        must: u64,
    },
    /// A type that this array cannot be of.
    Type(u32),
    /// Queries of another 16-bit type than the cache: the cache's one is given.
    TypeOfCache(u32),
    /// A head dimension that is not a multiple of 16 from 16 to 256.
    HeadDim(u32),
    /// A tile of rows that there are no kernels for.
    TileRows(u32),
    /// Query heads that are not a multiple of key-value heads.
    Heads {
        /// Query heads.
        query_heads: u32,
        /// Key-value heads.
        heads: u32,
    },
    /// A number that must be finite and above 0.
    NotPositive(f32),
    /// A number that is divided by, and so small that 1 over it is infinite.
    Tiny(f32),
    /// A number whose product with another one is infinite.
    Product(f32, &'static str),
    /// A scale of a cache that has none: it must be 1.
    NotOne(f32),
    /// A number that must be finite and at least 0.
    NotFinite(f32),
    /// A window below −1.
    Window(i32),
    /// A table that ends before the longest sequence.
    Columns {
        /// Its columns.
        columns: u32,
        /// What the longest sequence needs.
        needed: u64,
    },
    /// Numbers that there are no plans for.
    Split,
    /// Words that are no plan of these numbers, or were changed.
    Plan,
    /// Too little room for a plan, or for what it leaves between two launches.
    Room {
        /// The room there is.
        room: u64,
        /// What plans of these maxima need.
        needed: u64,
    },
    /// A list with another length than the parameters say.
    Count {
        /// Its length.
        count: u64,
        /// What they say.
        must: u64,
    },
    /// An entry of a list that names no block of the pool, or the null block.
    Block {
        /// Its place in the list.
        entry: usize,
        /// What it names.
        block: u32,
        /// Ids are 1 to this.
        blocks: u32,
    },
    /// An entry of a list with a number above what is allowed.
    Entry {
        /// Its place in the list.
        entry: usize,
        /// Its number.
        value: u64,
        /// The largest that is allowed.
        most: u64,
    },
    /// An entry of a list that is below the one before it.
    Descending {
        /// Its place in the list.
        entry: usize,
    },
    /// Two entries of a list that write to the same place.
    Twice {
        /// The place of the earlier one.
        first: usize,
        /// The place of the later one.
        second: usize,
    },
    /// An entry that writes what another one reads.
    Ordered {
        /// The place of the one that writes.
        writer: usize,
        /// The place of the one that reads.
        reader: usize,
    },
    /// Entries that read what each other write, and no spare block to keep one of them in.
    Cycle {
        /// The place of one of them.
        writer: usize,
        /// The place of the one that reads what it writes.
        reader: usize,
    },
    /// An entry that names the spare block, which nobody may use.
    Spare {
        /// Its place in the list.
        entry: usize,
        /// The spare block.
        block: u32,
    },
    /// A pool whose blocks are not each one piece of memory, right after each other.
    Scattered,
    /// A pointer that two parameters share and may not.
    Shared(&'static str),
}

impl Refusal {
    /// A field, and what is wrong with it.
    pub const fn new(field: &'static str, wrong: Wrong) -> Refusal {
        Refusal { field, wrong }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.wrong)
    }
}

impl std::error::Error for Refusal {}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Null => f.write_str("is NULL: it is needed here"),
            Wrong::NotNull => f.write_str("must be NULL here: nothing would read it"),
            Wrong::Misaligned(bytes) => write!(f, "is not aligned to {bytes} bytes: begin it at a multiple of them"),
            Wrong::Foreign => f.write_str("points into no allocation of this device: copy host memory to it first"),
            Wrong::Pinned => f.write_str("points to pinned memory: this has to be in the device's own"),
            Wrong::Short { needed, available } => write!(
                f,
                "needs {needed} bytes, and its allocation ends after {available}: allocate more, or mend shape and strides"
            ),
            Wrong::Negative(stride) => write!(f, "is {stride}: strides are not negative"),
            Wrong::Stride { stride, multiple } => {
                write!(f, "is {stride}: it must be a multiple of {multiple} elements, so that rows are aligned")
            }
            Wrong::Overlapping { stride, extent } => {
                write!(f, "is {stride}, and steps over {extent}: elements would share memory")
            }
            Wrong::Overflow => f.write_str("makes an array that 63 bits do not address"),
            Wrong::Zero => f.write_str("is 0: it must be above"),
            Wrong::Above { value, most } => write!(f, "is {value}: at most {most} is possible here"),
            Wrong::Not { value, must } => write!(f, "is {value}: here it must be {must}"),
            Wrong::Type(value) => write!(f, "is {value}: caches are KVK_F16 to KVK_INT8, all else KVK_F16 or KVK_BF16"),
            Wrong::TypeOfCache(cache) => {
                write!(f, "is not that of the cache, {cache}: a 16-bit cache is multiplied as it is")
            }
            Wrong::HeadDim(dim) => write!(f, "is {dim}: there are kernels for multiples of 16 from 16 to 256"),
            Wrong::TileRows(rows) => {
                write!(f, "is {rows}: KVK_DECODE_ROWS or KVK_PREFILL_ROWS, as the plan was made for")
            }
            Wrong::Heads { query_heads, heads } => {
                write!(f, "is {query_heads}: it must be a multiple of the {heads} key-value heads")
            }
            Wrong::NotPositive(value) => write!(f, "is {value}: it must be finite and above 0"),
            Wrong::Tiny(value) => {
                write!(f, "is {value:e}: 1 over it is more than a float holds; give one above 2^-128")
            }
            Wrong::Product(value, other) => write!(f, "is {value:e}: times {other} it is more than a float holds"),
            Wrong::NotOne(value) => write!(f, "is {value}: 16-bit caches have no scale, it must be 1"),
            Wrong::NotFinite(value) => write!(f, "is {value}: it must be finite and not below 0, which means none"),
            Wrong::Window(value) => write!(f, "is {value}: the largest distance that is seen, or -1 for all"),
            Wrong::Columns { columns, needed } => {
                write!(f, "is {columns}: the longest sequence needs {needed} entries of its row; export a wider table")
            }
            Wrong::Split => f.write_str("has numbers that there are no plans for: `Split::check` says which"),
            Wrong::Plan => f.write_str("is no plan of this `Split`, or was changed: is its buffer written too early?"),
            Wrong::Room { room, needed } => {
                write!(f, "is {room}: plans of these maxima need {needed}; allocate by the layout of the plan")
            }
            Wrong::Count { count, must } => write!(f, "has {count} entries, and the parameters say {must}"),
            Wrong::Block { entry, block, blocks } => {
                write!(f, "entry {entry} names block {block}: blocks of the pool are 1 to {blocks}")
            }
            Wrong::Entry { entry, value, most } => write!(f, "entry {entry} is {value}: at most {most} is possible"),
            Wrong::Descending { entry } => write!(f, "entry {entry} is below the one before it"),
            Wrong::Twice { first, second } => {
                write!(f, "entries {first} and {second} write to the same place: which one stays would be chance")
            }
            Wrong::Ordered { writer, reader } => {
                write!(f, "entry {writer} writes what entry {reader} reads: `Mover::copy` puts them in order")
            }
            Wrong::Cycle { writer, reader } => write!(
                f,
                "entry {writer} writes what entry {reader} reads, in a cycle: give a spare block, that nobody uses"
            ),
            Wrong::Spare { entry, block } => write!(f, "entry {entry} names block {block}, which is the spare one"),
            Wrong::Scattered => f.write_str("has blocks in pieces: this works on blocks that are one piece of memory"),
            Wrong::Shared(other) => write!(f, "is the same memory as {other}: one would overwrite the other"),
        }
    }
}
