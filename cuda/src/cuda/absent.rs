//! In place of GPUs, in a program without kernels for them.

use crate::device::Device;
use crate::error::{Error, Reason};
use std::sync::Arc;

pub fn count() -> Result<u32, Error> {
    Err(Error::new("open", Reason::NotBuilt))
}

pub fn open(_number: u32) -> Result<Arc<dyn Device>, Error> {
    Err(Error::new("open", Reason::NotBuilt))
}
