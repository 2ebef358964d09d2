//! The device interface, the checked launches and the epochs, on the CPU device.

mod common;
mod device;
mod epochs;
mod failures;
mod gpu;
mod interleavings;
mod kernels;
mod movers;
mod refusals;
mod refusals_of_attend;
mod refusals_of_lists;
