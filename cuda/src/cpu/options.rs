//! What a CPU device is opened with.

use core::time::Duration;

/// How it behaves. The default is a device as GPUs are: work is done by threads of its own, later, at no fixed time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Options {
    /// Who does the work of streams, and when.
    pub pace: Pace,
    /// The order in which threads of a block run, until a stream is given another.
    pub order: Order,
    /// What goes wrong, and how often.
    pub trouble: Trouble,
    /// What the device says it has.
    pub multiprocessors: u32,
}

/// Who does the work of streams, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// A thread a stream, with pauses.
    Threads(Pauses),
    /// The calling thread, before the call returns. For sanitizers, which then see one thread, and for counting.
    AtOnce,
    /// The calling thread, when it asks for it: [`Cpu::advance`](crate::Cpu::advance). Waiting advances all streams, in
    /// turn, so far as is needed.
    ByHand,
}

/// Pauses of a stream's thread: how long and how often is random, from the seed and the number of the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pauses {
    /// Where they begin.
    pub seed: u64,
    /// Before one operation of so many; 0: never.
    pub one_in: u32,
    /// The longest.
    pub most: Duration,
}

/// The order in which threads of a block run, each until it waits for others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// By number.
    Ascending,
    /// The other way round.
    Descending,
    /// Random: another order for each launch and each of its blocks, and the same ones for the same seed.
    Random(u64),
}

/// What goes wrong: each with a chance of so many in 65,536 operations of its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Trouble {
    /// Where the numbers that decide begin.
    pub seed: u64,
    /// `allocate` says that there is no memory.
    pub allocate: u16,
    /// A launch, copy or `set` is refused, and nothing was enqueued.
    pub enqueue: u16,
    /// Work that is done loses the device.
    pub lose: u16,
}

impl Default for Options {
    fn default() -> Options {
        let pauses = Pauses { seed: 0, one_in: 0, most: Duration::ZERO };
        Options {
            pace: Pace::Threads(pauses),
            order: Order::Ascending,
            trouble: Trouble::default(),
            multiprocessors: 4,
        }
    }
}
