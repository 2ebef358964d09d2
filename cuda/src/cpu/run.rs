//! How a kernel runs on the CPU device: on the thread that calls, to its end.

use super::options::Order;
use super::random::Random;
use crate::error::Loss;
use crate::launch::{Launch, dispatch};
use crate::raw::{self, kvk_counters, kvk_run};
use core::ffi::{CStr, c_void};
use core::ptr;

/// What launches of one stream are told, and what they count.
#[derive(Debug)]
pub struct Runner {
    order: Order,
    launches: u64,
    counters: kvk_counters,
}

const DESCENDING: u32 = 1;
const RANDOM: u32 = 2;

impl Runner {
    pub fn new(order: Order) -> Runner {
        Runner { order, launches: 0, counters: kvk_counters::default() }
    }

    /// From the next launch on.
    pub fn set_order(&mut self, order: Order) {
        self.order = order;
        self.launches = 0;
    }

    /// What was counted since the last time.
    pub fn take_counters(&mut self) -> kvk_counters {
        core::mem::take(&mut self.counters)
    }

    /// Runs a launch whose pointers are real ones.
    ///
    /// # Safety
    /// What they point to is there, as far as was looked up, and as [`Launch`] says of what is in it.
    pub unsafe fn run(&mut self, launch: &Launch) -> Result<(), Loss> {
        let (order, seed) = match self.order {
            Order::Ascending => (0, 0),
            Order::Descending => (DESCENDING, 0),
            Order::Random(seed) => (RANDOM, Random::new(seed ^ self.launches.rotate_right(16)).number()),
        };
        self.launches += 1;
        let mut run = kvk_run { seed, counters: &raw mut self.counters, order, ..kvk_run::default() };
        // SAFETY: the caller's promise; `run` and its counters are there for the length of the call.
        let number = unsafe { call(launch, (&raw mut run).cast()) };
        if number == 0 {
            return Ok(());
        }
        Err(Loss { operation: launch.name(), number, text: text(number), at: Some((run.block, run.thread)) })
    }
}

/// # Safety
/// As [`Runner::run`]; `run` is one.
unsafe fn call(launch: &Launch, run: *mut c_void) -> u32 {
    dispatch!(launch, run, {
        Append => raw::kvk_cpu_append,
        Attend => raw::kvk_cpu_attend,
        Merge => raw::kvk_cpu_merge,
        MergeTwo => raw::kvk_cpu_merge_two,
        CopyBlocks => raw::kvk_cpu_copy_blocks,
        Fill => raw::kvk_cpu_fill,
        Checksum => raw::kvk_cpu_checksum,
        Rewrite => raw::kvk_cpu_rewrite,
        Gather => raw::kvk_cpu_gather,
    })
}

fn text(number: u32) -> &'static str {
    if number == raw::KVK_UNSUPPORTED {
        return "there is no kernel for these parameters";
    }
    // SAFETY: takes any number.
    let text: *const core::ffi::c_char = unsafe { raw::kvk_cpu_error(number) };
    if ptr::eq(text, ptr::null()) {
        return "a number that is not the CPU device's";
    }
    // SAFETY: it answers with static text that ends in 0, or with NULL.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("text that is not UTF-8")
}
