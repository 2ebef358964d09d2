//! What the driver itself says, asked by `cust`: beside the runtime, for who wants to know why that finds nothing.
//!
//! A program with this starts where there is no driver: what it calls is a stand-in that looks for one
//! (`cuda/build/libcuda.rs`). One risk stays: `cust` takes the driver's answers for one of the numbers that CUDA 11.4
//! knew, and a newer driver may have others. So nothing else in this crate goes through it.

use cust::CudaFlags;
use cust::device::{Device, DeviceAttribute};
use cust::error::CudaError;

/// A GPU, as the driver names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DriverDevice {
    /// As its maker calls it.
    pub name: String,
    /// Bytes of its memory.
    pub memory_bytes: usize,
    /// Of the cards and engines that copy: how many copies it does beside kernels.
    pub copy_engines: i32,
    /// Whether memory errors are corrected.
    pub has_ecc: bool,
}

/// The GPUs that the driver knows. Errors: in its words; where there is no driver that it is a stand-in.
pub fn driver_devices() -> Result<Vec<DriverDevice>, String> {
    cust::init(CudaFlags::empty()).map_err(said)?;
    Device::devices().map_err(said)?.map(|device| device.and_then(describe).map_err(said)).collect()
}

fn describe(device: Device) -> Result<DriverDevice, CudaError> {
    Ok(DriverDevice {
        name: device.name()?,
        memory_bytes: device.total_memory()?,
        copy_engines: device.get_attribute(DeviceAttribute::AsyncEngineCount)?,
        has_ecc: device.get_attribute(DeviceAttribute::EccEnabled)? != 0,
    })
}

fn said(error: CudaError) -> String {
    // The stand-in's number is newer than `cust`, which calls it unknown.
    format!("{error:?}: no driver (libcuda.so.1), or it refused")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_answers_or_it_is_said_that_there_is_none() {
        match driver_devices() {
            Ok(devices) => assert!(devices.iter().all(|device| device.memory_bytes > 0), "{devices:?}"),
            Err(said) => assert!(said.contains("no driver"), "{said}"),
        }
    }
}
