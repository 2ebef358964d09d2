//! Devices: opened, named by a number, closed.

use crate::claim;
use crate::error::{Failure, KvlDeviceError, answer, answer_apart, span};
use crate::sized::{self, Grows, WithSize};
use kvledger_cuda::cpu::{Options, Order, Pace, Pauses, Trouble};
use kvledger_cuda::{Cpu, Cuda, Device, Error, Reason};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

const NAME_BYTES: usize = 64;

/// `kvl_device`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KvlDevice {
    /// 0 is none.
    pub id: u64,
}

/// `kvl_cpu_options`, behind its size.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct KvlCpuOptions {
    /// Of everything that is random.
    pub seed: u64,
    /// Not 0: the calling thread does the work.
    pub at_once: u32,
    /// 0 ascending, 1 descending, 2 random.
    pub order: u32,
    /// A pause before one operation of so many; 0: never.
    pub pause_one_in: u32,
    /// The longest, in microseconds.
    pub pause_most_us: u32,
    /// Chances in 65,536.
    pub fail_allocate: u32,
    /// Chances in 65,536.
    pub fail_enqueue: u32,
    /// Chances in 65,536.
    pub fail_work: u32,
    /// 0.
    pub reserved: u32,
}

/// `kvl_device_facts`, behind its size.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KvlDeviceFacts {
    /// As its maker calls it, with a NUL at its end.
    pub name: [u8; NAME_BYTES],
    /// 0: no end of its own.
    pub memory_bytes: u64,
    /// 90 for 9.0; 0: the CPU device.
    pub compute: u32,
    /// Thread blocks at once, times those that one holds.
    pub multiprocessors: u32,
    /// Most of one thread block.
    pub shared_bytes: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: integers, laid out as C does it.
unsafe impl Grows for KvlCpuOptions {
    const FIRST_BYTES: usize = 48;
    type Reserved = ();
}

// SAFETY: as above.
unsafe impl Grows for KvlDeviceFacts {
    const FIRST_BYTES: usize = 96;
    type Reserved = ();
}

/// Those that are open, and the number of the next one.
struct Open {
    devices: BTreeMap<u64, Arc<dyn Device>>,
    next: u64,
}

static OPEN: RwLock<Open> = RwLock::new(Open { devices: BTreeMap::new(), next: 1 });

/// The device of a handle. It stays while the call lasts, whoever closes it meanwhile.
pub(crate) fn device(handle: KvlDevice) -> Result<Arc<dyn Device>, Failure> {
    let open = OPEN.read().unwrap_or_else(PoisonError::into_inner);
    open.devices.get(&handle.id).cloned().ok_or(Failure::Closed)
}

fn keep(device: Arc<dyn Device>) -> KvlDevice {
    let mut open = OPEN.write().unwrap_or_else(PoisonError::into_inner);
    let id = open.next;
    open.next += 1;
    open.devices.insert(id, device);
    KvlDevice { id }
}

impl KvlCpuOptions {
    fn options(&self) -> Result<Options, Failure> {
        let order = match self.order {
            0 => Order::Ascending,
            1 => Order::Descending,
            2 => Order::Random(self.seed),
            _ => return Err(Failure::Argument { name: "options.order", must: "0, 1 or 2" }),
        };
        if self.reserved != 0 {
            return Err(Failure::Argument { name: "options.reserved", must: "0" });
        }
        let chance =
            |name, value: u32| u16::try_from(value).map_err(|_| Failure::Argument { name, must: "below 65,536" });
        let trouble = Trouble {
            seed: self.seed,
            allocate: chance("options.fail_allocate", self.fail_allocate)?,
            enqueue: chance("options.fail_enqueue", self.fail_enqueue)?,
            lose: chance("options.fail_work", self.fail_work)?,
        };
        let most = Duration::from_micros(self.pause_most_us.into());
        let pauses = Pauses { seed: self.seed, one_in: self.pause_one_in, most };
        let pace = if self.at_once != 0 { Pace::AtOnce } else { Pace::Threads(pauses) };
        Ok(Options { pace, order, trouble, ..Options::default() })
    }
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_open_cpu(
    options: *const WithSize<KvlCpuOptions>,
    out: *mut KvlDevice,
    error: *mut KvlDeviceError,
) -> u32 {
    let open = || {
        claim::output("device", out)?;
        let options = if options.is_null() {
            KvlCpuOptions::default()
        } else {
            // SAFETY: promised.
            unsafe { claim::sized_input("options", options) }?
        };
        let cpu = Cpu::open(options.options()?);
        // SAFETY: neither NULL nor misaligned, and promised.
        unsafe { out.write(keep(cpu)) };
        Ok(())
    };
    answer_apart(span(out), error, open)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_open_cuda(number: u32, out: *mut KvlDevice, error: *mut KvlDeviceError) -> u32 {
    let open = || {
        claim::output("device", out)?;
        let cuda = Cuda::open(number)?;
        // SAFETY: neither NULL nor misaligned, and promised.
        unsafe { out.write(keep(cuda)) };
        Ok(())
    };
    answer_apart(span(out), error, open)
}

fn any() -> Result<Arc<dyn Device>, Error> {
    match Cuda::open(0) {
        Err(Error {
            reason: Reason::NotBuilt | Reason::Unfit { .. } | Reason::NoDriver | Reason::NoDevice { .. },
            ..
        }) => Ok(Cpu::open(Options::default())),
        opened => opened,
    }
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_open_any(out: *mut KvlDevice, error: *mut KvlDeviceError) -> u32 {
    let open = || {
        claim::output("device", out)?;
        let device = any()?;
        // SAFETY: neither NULL nor misaligned, and promised.
        unsafe { out.write(keep(device)) };
        Ok(())
    };
    answer_apart(span(out), error, open)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_close(device: KvlDevice, error: *mut KvlDeviceError) -> u32 {
    let close = || {
        let mut open = OPEN.write().unwrap_or_else(PoisonError::into_inner);
        let closed = open.devices.remove(&device.id);
        // The last of it goes without the lock: it waits for its work.
        drop(open);
        closed.map(drop).ok_or(Failure::Closed)
    };
    answer(error, close)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_get_facts(
    handle: KvlDevice,
    out: *mut WithSize<KvlDeviceFacts>,
    error: *mut KvlDeviceError,
) -> u32 {
    let get = || {
        // SAFETY: promised.
        unsafe { claim::sized_output("facts", out) }?;
        let device = device(handle)?;
        let facts = device.facts();
        let mut name = [0; NAME_BYTES];
        for (to, from) in name[..NAME_BYTES - 1].iter_mut().zip(facts.name.bytes()) {
            *to = from;
        }
        let written = KvlDeviceFacts {
            name,
            memory_bytes: facts.memory_bytes,
            compute: facts.compute,
            multiprocessors: facts.multiprocessors,
            shared_bytes: facts.shared_bytes,
            reserved: 0,
        };
        // SAFETY: promised.
        unsafe { sized::write(out, written) };
        Ok(())
    };
    // SAFETY: promised.
    answer_apart(unsafe { sized::range(out) }, error, get)
}

/// # Safety
/// As the header says of the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_device_check(handle: KvlDevice, error: *mut KvlDeviceError) -> u32 {
    let check = || match device(handle)?.loss() {
        None => Ok(()),
        Some(loss) => Err(Error::new("check", Reason::Lost(loss)).into()),
    };
    answer(error, check)
}
