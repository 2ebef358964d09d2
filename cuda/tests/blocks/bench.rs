//! A CPU device to try kernels on, and what tests compare with.

#[cfg(kvl_plants)]
use kvledger_cuda::cpu;
use kvledger_cuda::cpu::{Options, Order, Pace};
use kvledger_cuda::launch::Launch;
use kvledger_cuda::raw::kvk_counters;
use kvledger_cuda::{Cpu, Device, Memory, Plain, Space, Stream};
use std::fmt::Debug;
use std::sync::{Arc, RwLock, RwLockReadGuard};

/// What a check found: where and what, or nothing.
pub type Found = Result<(), String>;

const ORDERS: [Order; 4] = [Order::Ascending, Order::Descending, Order::Random(1), Order::Random(2)];

/// Mistakes are planted for the whole process: tests of kernels without one wait while there is one.
static PLANTED: RwLock<()> = RwLock::new(());

/// A device that does its work at once, and one stream of it.
pub struct Bench {
    cpu: Arc<Cpu>,
    pub stream: Stream,
}

impl Bench {
    fn open(order: Order) -> Bench {
        let cpu = Cpu::open(Options { pace: Pace::AtOnce, order, ..Options::default() });
        let device: Arc<dyn Device> = cpu.clone();
        Bench { stream: Stream::open(&device).unwrap(), cpu }
    }

    pub fn holding<T: Plain>(&self, data: &[T]) -> Memory {
        Memory::holding(&self.stream, data).unwrap()
    }

    pub fn allocate(&self, space: Space, bytes: usize) -> Memory {
        Memory::allocate(self.stream.device(), space, bytes).unwrap()
    }

    pub fn values<T: Plain + Default>(&self, memory: &Memory) -> Vec<T> {
        memory.values(&self.stream, 0, memory.bytes() / size_of::<T>()).unwrap()
    }

    /// Runs a kernel, and says what it counted.
    pub fn run(&self, launch: &Launch) -> kvk_counters {
        self.cpu.take_counters(self.stream.id()).unwrap();
        // SAFETY: the tests give lists whose entries are blocks of the memory that they give.
        unsafe { self.stream.launch(launch) }.unwrap();
        self.stream.synchronize().unwrap();
        self.cpu.take_counters(self.stream.id()).unwrap()
    }
}

/// Does the check in every order of threads, with no mistake planted.
pub fn each_order(check: impl Fn(&Bench) -> Found) {
    let _unplanted: RwLockReadGuard<'_, ()> = PLANTED.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    for order in ORDERS {
        if let Err(found) = check(&Bench::open(order)) {
            panic!("{order:?}: {found}");
        }
    }
}

/// What the check finds in some order while kernels make this mistake.
#[cfg(kvl_plants)]
pub fn found_with(mistake: &str, check: impl Fn(&Bench) -> Found) -> Option<String> {
    let _planted = PLANTED.write().unwrap_or_else(|poisoned| poisoned.into_inner());
    assert!(cpu::plant(Some(mistake)), "{mistake}: no such mistake");
    let found = ORDERS.into_iter().find_map(|order| check(&Bench::open(order)).err());
    cpu::plant(None);
    found
}

/// Whether two lists are the same; else where they first are not.
pub fn same<T: PartialEq + Debug>(what: &str, is: &[T], wanted: &[T]) -> Found {
    if is.len() != wanted.len() {
        return Err(format!("{what}: {} values, not {}", is.len(), wanted.len()));
    }
    match (0..is.len()).find(|&at| is[at] != wanted[at]) {
        Some(at) => Err(format!("{what}: number {at} is {:?}, not {:?}", is[at], wanted[at])),
        None => Ok(()),
    }
}

/// Numbers that look random: SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Below `end`, which is above 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }

    /// 0..count, shuffled.
    pub fn order(&mut self, count: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..count as u32).collect();
        for at in (1..count).rev() {
            order.swap(at, self.below(at + 1));
        }
        order
    }
}
